//! [`ListingError`]: why a file cannot be used, or not be written.

use std::io;
use std::path::PathBuf;

/// Why a file cannot be used as a program, or not be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ListingError {
    /// The file cannot be read or written.
    #[error("{path}: {error}", path = path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        error: io::Error,
    },
    /// The file is none that dahl has written for a program.
    #[error("{path}:1: expected a program that dahl has saved, which begins with `{begin}`", path = path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// How such a file begins.
        begin: &'static str,
    },
    /// The file is of another version of the format.
    #[error("{path}:1: the file has format {format}, and this version of dahl reads format {expected}; save the program again", path = path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// Its format.
        format: String,
        /// The format of this version.
        expected: u32,
    },
    /// A line is broken.
    #[error("{path}:{line}:{column}: {fact}", path = path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// The column, from 1.
        column: usize,
        /// What is wrong.
        fact: String,
    },
    /// The content is not that which was saved.
    #[error("{path}:1: the file is not as it was saved: its content has the hash {found:016x}, and this line says {expected}; save the program again", path = path.display())]
    Changed {
        /// The file.
        path: PathBuf,
        /// The hash of its content.
        found: u64,
        /// The hash in its first line.
        expected: String,
    },
    /// A field has a value that no program has.
    #[error("{path}: {field} is {fact}", path = path.display())]
    Field {
        /// The file.
        path: PathBuf,
        /// The field: `steps[3].uses[1].array`.
        field: String,
        /// Its value, and what was expected.
        fact: String,
    },
}
