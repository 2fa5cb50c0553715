//! The report: one page in HTML with all that it needs in it.

use crate::Trace;
use std::io::{self, Write};

impl Trace {
    /// Writes the report: one file in HTML, which needs nothing else and asks the network for nothing.
    ///
    /// # Errors
    /// If `out` cannot be written to.
    pub fn write_html(&self, out: impl Write) -> io::Result<()> {
        let _ = out;
        todo!()
    }
}
