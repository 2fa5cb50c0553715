//! The memory that an array really takes on this rank.

use super::Array;
use crate::element::Element;
use crate::memory::resident;

impl<T: Element, const N: usize> Array<'_, T, N> {
    /// How many bytes of the array's memory the system keeps in pages, on this rank: what nobody has written takes none. The
    /// addresses are reserved in any case. None if tasks may use the array, or if the system does not say so (Linux does).
    ///
    /// An array that another rank computes, and that no task here reads, takes none here.
    pub fn resident_bytes(&self) -> Option<usize> {
        resident(self.state().quiet_bytes()?)
    }
}
