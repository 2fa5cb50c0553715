//! The reasons why a file cannot be read as a trace.

use crate::format::VERSION;
use std::io;

/// Why a file could not be read as a trace.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file cannot be read.
    #[error("{file}: {error}")]
    Read {
        /// The file.
        file: String,
        /// Why.
        error: io::Error,
    },
    /// The file is empty.
    #[error(
        "{file}: it is empty; a trace begins with a line `[`. Was the program ended before it submitted anything?"
    )]
    Empty {
        /// The file.
        file: String,
    },
    /// The file is a trace of another version of the format.
    #[error(
        "{file}: a trace of version {version}; this program reads version {VERSION}: use the `dahl` that came with the library that wrote it"
    )]
    Version {
        /// The file.
        file: String,
        /// Its version.
        version: u64,
    },
    /// A line of the file is invalid, or the file is not a trace.
    #[error("{file}:{line}: {problem}")]
    Damaged {
        /// The file.
        file: String,
        /// The number of the line, from 1.
        line: usize,
        /// What is wrong, and what was expected.
        problem: String,
    },
}
