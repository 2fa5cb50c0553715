//! The formats of other programs.

mod chrome;
mod dot;
mod paje;

use crate::Trace;
use std::io::{self, Write};

impl Trace {
    /// Writes the run as Chrome's trace events, which Perfetto opens: the file's own format, sorted and complete.
    ///
    /// # Errors
    /// If `out` cannot be written to.
    pub fn write_chrome(&self, out: impl Write) -> io::Result<()> {
        chrome::write(self, out)
    }

    /// Writes the run in the Paje format, with the types that StarPU writes, for ViTE and StarVZ.
    ///
    /// # Errors
    /// If `out` cannot be written to.
    pub fn write_paje(&self, out: impl Write) -> io::Result<()> {
        paje::write(self, out)
    }

    /// Writes the task graph in the DOT language, for Graphviz.
    ///
    /// # Errors
    /// If `out` cannot be written to.
    pub fn write_dot(&self, out: impl Write) -> io::Result<()> {
        dot::write(self, out)
    }
}
