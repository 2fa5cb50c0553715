//! [`Landing`]: elements on their way from a device to the host, in staging buffers.

use std::ptr;
use std::sync::Arc;

use super::error::CudaError;
use super::mark::Mark;
use super::pinned::{Pinned, Staging};
use crate::codelet::Operand;

/// Elements that a device writes to the host's staging buffers.
#[derive(Debug)]
pub(crate) struct Landing {
    pieces: Vec<Piece>,
    staging: Arc<Staging>,
}

/// Some of the elements, in order.
#[derive(Debug)]
struct Piece {
    /// There until the landing is dropped.
    buffer: Option<Pinned>,
    bytes: usize,
    /// When they are there.
    mark: Mark,
}

impl Landing {
    pub(super) fn new(staging: &Arc<Staging>) -> Self {
        Self { pieces: Vec::new(), staging: Arc::clone(staging) }
    }

    pub(super) fn push(&mut self, buffer: Pinned, bytes: usize, mark: Mark) {
        self.pieces.push(Piece { buffer: Some(buffer), bytes, mark });
    }

    /// When all elements are there; nothing if there are none.
    pub(super) fn last_mark(&self) -> Option<&Mark> {
        self.pieces.last().map(|piece| &piece.mark)
    }

    /// Waits until all elements are there.
    pub(crate) fn wait(&self) -> Result<(), CudaError> {
        self.pieces.iter().try_for_each(|piece| piece.mark.wait())
    }

    /// Whether all elements are there.
    pub(crate) fn is_passed(&self) -> Result<bool, CudaError> {
        self.last_mark().map_or(Ok(true), Mark::is_passed)
    }

    /// Copies the elements to where they lie at home. It has passed.
    ///
    /// # Safety
    /// The elements at home may be written, and are as many bytes as landed; in several pieces only if they are contiguous.
    pub(crate) unsafe fn copy_to(&self, home: &Operand) {
        if let [Piece { buffer: Some(buffer), .. }] = self.pieces.as_slice() {
            // SAFETY: the caller's; the staging buffer is the landing's own, and the device has done with it.
            return unsafe { home.unpack_from(buffer.pointer()) };
        }
        let mut to = home.pointer.wrapping_add(home.layout.offset * home.element.size_bytes);
        for Piece { buffer, bytes, .. } in &self.pieces {
            let from = buffer.as_ref().expect("buffers stay until the landing goes").pointer();
            // SAFETY: as above; the elements are contiguous, and the pieces follow each other.
            unsafe { ptr::copy_nonoverlapping(from, to, *bytes) };
            to = to.wrapping_add(*bytes);
        }
    }
}

impl Drop for Landing {
    fn drop(&mut self) {
        for Piece { buffer, mark, .. } in self.pieces.drain(..) {
            if let Some(buffer) = buffer {
                self.staging.give_back(buffer, mark);
            }
        }
    }
}
