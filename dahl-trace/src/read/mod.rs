//! From a file to the model of a run.
//!
//! Lines are read one by one (`line`), so the whole file is never in memory. Their data is collected, checked and put
//! in order at the end.

mod error;
mod gather;
mod line;
mod share;

pub use error::Error;

use crate::Trace;
use gather::Gathered;
use line::Lines;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

impl Trace {
    /// Reads the file at `path`.
    ///
    /// An incomplete file is read up to its end; [`Trace::cut`] tells.
    ///
    /// # Errors
    /// If the file cannot be read, is of another version, or is damaged anywhere but at its end.
    pub fn read(path: impl AsRef<Path>) -> Result<Self, Error> {
        let path = path.as_ref();
        let file = path.display().to_string();
        match File::open(path) {
            Ok(opened) => gathered(&file, BufReader::with_capacity(1 << 20, opened)),
            Err(error) => Err(Error::Read { file, error }),
        }
    }

    /// Parses the contents of a file, which errors call `the text`.
    ///
    /// # Errors
    /// As [`Trace::read`].
    pub fn parse(text: &str) -> Result<Self, Error> {
        Self::parse_file("the text", text)
    }

    /// Parses the contents of a file of this name.
    ///
    /// # Errors
    /// As [`Trace::read`].
    pub fn parse_file(file: &str, text: &str) -> Result<Self, Error> {
        gathered(file, text.as_bytes())
    }
}

fn gathered(file: &str, input: impl BufRead) -> Result<Trace, Error> {
    let mut lines = Lines::new(file, input);
    let mut gathered = Gathered::default();
    while let Some((number, line)) = lines.next()? {
        if let Err(problem) = gathered.take(number, line) {
            lines.refuse(problem)?;
        }
    }
    gathered.finish(lines.end()).map_err(|flaw| match flaw.line {
        Some(line) => Error::Damaged { file: file.to_owned(), line, problem: flaw.problem },
        None => lines.damaged(&flaw.problem),
    })
}
