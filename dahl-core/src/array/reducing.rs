//! The calls by which the host controls reductions into an array.

use std::num::NonZeroUsize;
use std::panic::Location;

use super::Array;
use crate::access::AccessMode;
use crate::codelet::in_kernel;
use crate::element::Element;
use crate::error::{Error, ErrorKind, Result};

impl<T: Element, const N: usize> Array<'_, T, N> {
    /// Submits the tasks that the next access would submit: those that combine contributions to a reduction, and those
    /// that join parts. It does not wait.
    ///
    /// For a result that is read much later: it is then complete, and [`read`](Array::read) need not wait for a task
    /// that it has just submitted.
    ///
    /// # Errors
    /// Inside a kernel.
    #[track_caller]
    pub fn finalize(&self) -> Result<()> {
        if in_kernel() {
            return Err(Error::at(ErrorKind::InsideKernel { call: "finalize" }, Location::caller()));
        }
        self.state().flush_pending(AccessMode::R);
        Ok(())
    }

    /// Discards the value, or the failure that left the array without one, and contributions to a reduction. It does
    /// not wait for earlier tasks. If a reduction follows, its total is the value; and if the array is whole and has
    /// the reduction's compute type, it is the reduction's first buffer. Any other access finds zeros.
    ///
    /// A gradient that is summed in each step then needs no task that clears it, and none that adds the sum to the
    /// zeros.
    ///
    /// # Errors
    /// Inside a kernel.
    #[track_caller]
    pub fn invalidate(&mut self) -> Result<()> {
        let location = Location::caller();
        if in_kernel() {
            return Err(Error::at(ErrorKind::InsideKernel { call: "invalidate" }, location));
        }
        let state = self.state();
        if state.saves().is_of_tape() {
            return Err(Error::at(ErrorKind::WritesTape { call: "invalidate" }, location));
        }
        state.saves().note_write(location);
        state.flush_pending(AccessMode::W);
        state.reductions().forget(state, location);
        Ok(())
    }

    /// Sets how many consecutive contributions to a reduction share a buffer, one after the other, from now on. The
    /// default is [`LEAF_LEN`](crate::LEAF_LEN). With fewer, more contributions run in parallel, in more buffers, which
    /// more tasks fold. The rounding of a sum depends on it, and otherwise only on the order of submission.
    pub fn set_leaf_len(&mut self, contributions: NonZeroUsize) {
        self.state().reductions().set_leaf_len(contributions);
    }
}
