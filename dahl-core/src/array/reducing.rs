//! The calls by which the host controls reductions into an array.

use std::num::NonZeroUsize;
use std::panic::Location;

use super::Array;
use crate::access::AccessMode;
use crate::codelet::in_kernel;
use crate::element::Element;
use crate::error::{Error, ErrorKind, Result};

impl<T: Element, const N: usize> Array<'_, T, N> {
    /// Submits now what otherwise the next access would: the tasks that combine contributions to a reduction, and those
    /// that join parts again. It waits for nothing.
    ///
    /// For a result that is read much later: by then it is there, and [`read`](Array::read) does not wait for a task
    /// that it has only just submitted.
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

    /// Forgets the value, or the failure that left the array without one, and what is being reduced into it; it waits
    /// for no task before it. If a reduction is next, its total is the value, and if the array is whole, and its
    /// elements are of the type that the reduction computes in, the array is its first buffer. Whatever else is next
    /// finds zeros.
    ///
    /// A gradient that is summed up anew in each step needs no task that clears it, and none that adds the sum to the
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
        state.flush_pending(AccessMode::W);
        state.reductions().forget(state, location);
        Ok(())
    }

    /// Lets so many consecutive contributions to a reduction share a buffer, one after the other, from now on;
    /// [`LEAF_LEN`](crate::LEAF_LEN) do if nothing is said. With fewer, more contributions run in parallel; there are
    /// more buffers, and more tasks that fold them. How a sum is rounded depends on it, as on nothing else but the
    /// order of submission.
    pub fn set_leaf_len(&mut self, contributions: NonZeroUsize) {
        self.state().reductions().set_leaf_len(contributions);
    }
}
