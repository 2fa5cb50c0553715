//! Stored performance models: files in a folder for each host and machine, merged by everybody who writes.
//!
//! Writers take turns by a lock on a file that is never removed; each reads what is there, adds what it has measured, and
//! [saves](dahl_files) it as a whole, so that a reader finds a whole file at any time. What cannot be used is renamed
//! and reported, never deleted, and never an error.

mod aside;
mod change;
mod file;
mod folder;
mod library;
mod machine;
mod stored;

pub(super) use change::Change;
pub(super) use file::CopyTime;
pub(crate) use folder::Store;
pub(super) use library::Library;
pub use stored::{StoredMachine, StoredModels, StoredProcessor, StoredTransfer, UnusableFile};
