//! [`HostFetch`]: an in-flight copy from a device to the host, in staging buffers.

use std::ptr;
use std::sync::Arc;

use super::error::CudaError;
use super::event::Event;
use super::pinned::{Pinned, Staging};
use crate::codelet::Operand;

/// A copy in flight: a device writes elements to the host's staging buffers.
#[derive(Debug)]
pub(crate) struct HostFetch {
    pieces: Vec<Piece>,
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
        Self { pieces: Vec::new(), staging: Arc::clone(staging) }
    }

    pub(super) fn push(&mut self, buffer: Pinned, bytes: usize, event: Event) {
        self.pieces.push(Piece { buffer: Some(buffer), bytes, event });
    }

    /// When all elements are there; nothing if there are none.
    pub(super) fn last_event(&self) -> Option<&Event> {
        self.pieces.last().map(|piece| &piece.event)
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
        for Piece { buffer, bytes, .. } in &self.pieces {
            let from = buffer.as_ref().expect("buffers stay until the fetch is dropped").pointer();
            // SAFETY: as above; the elements are contiguous, and the pieces follow each other.
            unsafe { ptr::copy_nonoverlapping(from, to, *bytes) };
            to = to.wrapping_add(*bytes);
        }
    }
}

impl Drop for HostFetch {
    fn drop(&mut self) {
        for Piece { buffer, event, .. } in self.pieces.drain(..) {
            if let Some(buffer) = buffer {
                self.staging.give_back(buffer, event);
            }
        }
    }
}
