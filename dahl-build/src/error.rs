//! [`Error`]: why kernels cannot be built, with file and line if known.

use std::fmt;
use std::path::Path;

/// Why kernels cannot be built.
#[derive(Debug)]
pub(crate) struct Error(String);

impl Error {
    /// An error at a line of a file.
    pub(crate) fn at(file: &str, line: usize, fact: impl fmt::Display) -> Self {
        Self(format!("{file}:{line}: {fact}"))
    }

    /// An error about a file, or about its results.
    pub(crate) fn about(subject: impl fmt::Display, fact: impl fmt::Display) -> Self {
        Self(format!("{subject}: {fact}"))
    }

    /// A file or folder that cannot be read or written.
    pub(crate) fn file(path: &Path, error: &std::io::Error) -> Self {
        Self::about(path.display(), error)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Error {}
