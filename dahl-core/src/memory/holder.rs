//! [`Holder`]: what memory is for, and who asked for it.

use std::panic::Location;

/// The main memory, where arrays are at home.
pub(crate) const HOME: usize = 0;

/// The name of the main memory.
pub(super) const HOST: &str = "host";

/// What an arena's memory is for.
pub(crate) const ARENA: &str = "arena";

/// What an allocation is for, and the line that asked for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Holder {
    pub(crate) what: &'static str,
    pub(crate) location: &'static Location<'static>,
}

impl Holder {
    pub(crate) fn new(what: &'static str, location: &'static Location<'static>) -> Self {
        Self { what, location }
    }

    /// Whether the memory is used anew again and again.
    pub(crate) fn is_arena(&self) -> bool {
        self.what == ARENA
    }
}
