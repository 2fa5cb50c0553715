//! Stored performance models: files in a folder for each host and machine, which all writers merge.
//!
//! Writers take turns by locking a file that is never removed. Each reads the stored models, adds its own measurements,
//! and [saves](dahl_files) the file atomically, so that a reader always finds a complete one. Unusable files are
//! renamed and reported. They are never deleted, and never an error.

mod aside;
mod change;
mod energy_file;
mod file;
mod folder;
mod library;
mod machine;
mod stored;

pub(super) use change::Change;
pub(super) use energy_file::EnergyOfKind;
pub(super) use file::CopyTime;
pub(crate) use folder::Store;
pub(super) use library::Library;
pub use stored::{StoredMachine, StoredModels, StoredProcessor, StoredTransfer, UnusableFile};
