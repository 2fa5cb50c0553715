//! [`HostFetch`]: an in-flight copy from a device to the host, in staging buffers.

use std::sync::{Arc, Mutex, PoisonError};

use super::error::CudaError;
use super::event::Event;
use super::pinned::{Pinned, Staging};

/// A copy in flight: a device writes elements to the host's staging buffers.
#[derive(Debug)]
pub struct HostFetch {
    pieces: Vec<Piece>,
    /// Copies from the buffers to devices.
    reads: Mutex<Vec<Event>>,
    staging: Arc<Staging>,
}

/// Some of the elements, in order.
#[derive(Debug)]
struct Piece {
    /// There until the fetch is dropped.
    buffer: Option<Pinned>,
    bytes: usize,
    /// When they are there.
    event: Event,
}

impl HostFetch {
    pub(super) fn new(staging: &Arc<Staging>) -> Self {
        Self { pieces: Vec::new(), reads: Mutex::default(), staging: Arc::clone(staging) }
    }

    pub(super) fn push(&mut self, buffer: Pinned, bytes: usize, event: Event) {
        self.pieces.push(Piece { buffer: Some(buffer), bytes, event });
    }

    /// When all elements are there; nothing if there are none.
    pub(super) fn last_event(&self) -> Option<&Event> {
        self.pieces.last().map(|piece| &piece.event)
    }

    /// The staging buffers with the elements, in order: how many bytes are in each, and when they are there.
    pub(super) fn pieces(&self) -> impl Iterator<Item = (&Pinned, usize, &Event)> {
        self.pieces.iter().map(|Piece { buffer, bytes, event }| {
            (buffer.as_ref().expect("buffers stay until the fetch is dropped"), *bytes, event)
        })
    }

    /// Notes that a stream reads the buffers up to `event`.
    pub(super) fn note_read(&self, event: &Event) {
        self.reads.lock().unwrap_or_else(PoisonError::into_inner).push(event.clone());
    }

    /// The device from which the elements come; nothing if there are none.
    pub fn device(&self) -> Option<usize> {
        self.last_event().map(|event| event.stream().0)
    }

    /// Waits until all elements are there.
    pub fn wait(&self) -> Result<(), CudaError> {
        self.pieces.iter().try_for_each(|piece| piece.event.wait())
    }

    /// Whether all elements are there.
    pub fn is_passed(&self) -> Result<bool, CudaError> {
        self.last_event().map_or(Ok(true), Event::is_passed)
    }

    /// Waits until all elements are there, and hands them on piece by piece: `read` is given where among all bytes each piece
    /// begins, and its bytes.
    pub fn read(&self, mut read: impl FnMut(usize, &[u8])) -> Result<(), CudaError> {
        self.wait()?;
        let mut start = 0;
        for Piece { buffer, bytes, .. } in &self.pieces {
            let buffer = buffer.as_ref().expect("buffers stay until the fetch is dropped");
            // SAFETY: a piece is no longer than its buffer (`Allocation::fetch`), which is the fetch's own, and the device has
            // done with it: its event has passed.
            read(start, unsafe { buffer.bytes(*bytes) });
            start += bytes;
        }
        Ok(())
    }
}

impl Drop for HostFetch {
    fn drop(&mut self) {
        let reads = std::mem::take(&mut *self.reads.lock().unwrap_or_else(PoisonError::into_inner));
        for Piece { buffer, event, .. } in self.pieces.drain(..) {
            if let Some(buffer) = buffer {
                self.staging.give_back_read(buffer, event, reads.clone());
            }
        }
    }
}
