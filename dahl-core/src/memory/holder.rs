//! [`Holder`]: what memory is for, and who asked for it.

use std::panic::Location;

/// The main memory, the home of arrays.
pub(crate) const HOME: usize = 0;

/// The name of the main memory.
pub(super) const HOST: &str = "host";

/// The purpose of an arena's memory.
pub(crate) const ARENA: &str = "arena";

/// The purpose of an allocation, and the line that requested it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Holder {
    pub(crate) what: &'static str,
    pub(crate) location: &'static Location<'static>,
}

impl Holder {
    pub(crate) fn new(what: &'static str, location: &'static Location<'static>) -> Self {
        Self { what, location }
    }

    /// Whether the memory is reused repeatedly.
    pub(crate) fn is_arena(&self) -> bool {
        self.what == ARENA
    }
}
