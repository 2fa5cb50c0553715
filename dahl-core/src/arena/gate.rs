//! Gates on the runtime of an arena.

use super::Arena;
use crate::error::Result;
use crate::submission::Gate;

impl Gate {
    /// A gate that is open, for tasks of the runtime of an arena.
    ///
    /// # Errors
    /// If memory cannot be allocated.
    #[track_caller]
    pub fn new(arena: &Arena) -> Result<Self> {
        Ok(Self::of(arena.zeros::<u8, 0>([])?.zeros_of([0])?))
    }
}
