//! [`HostFetch`]: an in-flight copy from a device to the host, in staging buffers.

use std::ptr;
use std::sync::{Arc, PoisonError};

use super::error::CudaError;
use super::event::Event;
use super::pinned::{Pinned, Staging};
use crate::codelet::Operand;
use crate::sync::Mutex;

/// A copy in flight: a device writes elements to the host's staging buffers.
#[derive(Debug)]
pub(crate) struct HostFetch {
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
    pub(crate) fn device(&self) -> Option<usize> {
        self.last_event().map(|event| event.stream().0)
    }

    /// Waits until all elements are there.
    pub(crate) fn wait(&self) -> Result<(), CudaError> {
        self.pieces.iter().try_for_each(|piece| piece.event.wait())
    }

    /// Whether all elements are there.
    pub(crate) fn is_passed(&self) -> Result<bool, CudaError> {
        self.last_event().map_or(Ok(true), Event::is_passed)
    }

    /// Copies the elements to where they lie at home. It has passed.
    ///
    /// # Safety
    /// The elements at home may be written, and are as many bytes as were fetched; in several pieces only if they are contiguous.
    pub(crate) unsafe fn copy_to(&self, home: &Operand) {
        if let [Piece { buffer: Some(buffer), .. }] = self.pieces.as_slice() {
            // SAFETY: the caller's; the staging buffer is the fetch's own, and the device has done with it.
            return unsafe { home.unpack_from(buffer.pointer()) };
        }
        let mut to = home.pointer.wrapping_add(home.layout.offset * home.element.size_bytes);
        for (buffer, bytes, _) in self.pieces() {
            // SAFETY: as above; the elements are contiguous, and the pieces follow each other.
            unsafe { ptr::copy_nonoverlapping(buffer.pointer(), to, bytes) };
            to = to.wrapping_add(bytes);
        }
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
