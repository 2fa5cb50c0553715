//! Parses line by line.
//!
//! These are the lines of [`crate::format`], read without copies: `format::Line` makes half a dozen allocations for a
//! task, and parses each line twice. A test checks that both agree.

use super::Error;
use crate::format::Message;
use crate::trace::Cut;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::io::BufRead;

/// An event, borrowed from the line.
#[derive(Deserialize)]
pub(super) struct Event<'a> {
    #[serde(borrow)]
    pub(super) ph: Cow<'a, str>,
    #[serde(borrow, default)]
    pub(super) name: Cow<'a, str>,
    #[serde(borrow, default)]
    pub(super) cat: Cow<'a, str>,
    #[serde(default)]
    pub(super) ts: f64,
    #[serde(default)]
    pub(super) dur: f64,
    #[serde(default)]
    pub(super) pid: u32,
    #[serde(default)]
    pub(super) tid: u32,
    #[serde(borrow, default)]
    pub(super) args: Option<&'a RawValue>,
}

/// Text, borrowed from the line.
#[derive(Deserialize)]
pub(super) struct Borrowed<'a>(#[serde(borrow)] pub(super) Cow<'a, str>);

/// [`crate::format::Task`], borrowed from the line.
#[derive(Deserialize)]
pub(super) struct Task<'a> {
    pub(super) task: u64,
    #[serde(borrow)]
    pub(super) codelet: Cow<'a, str>,
    #[serde(borrow, default)]
    pub(super) kernel: Option<Borrowed<'a>>,
    #[serde(borrow)]
    pub(super) elements: &'a RawValue,
    #[serde(borrow)]
    pub(super) footprint: &'a RawValue,
    #[serde(default)]
    pub(super) flops: Option<f64>,
    #[serde(default)]
    pub(super) bytes: Option<f64>,
    #[serde(borrow)]
    pub(super) arrays: Vec<ArrayUse<'a>>,
    #[serde(default)]
    pub(super) predicted_us: Option<f64>,
    pub(super) measured_us: f64,
    pub(super) submitted_us: f64,
    #[serde(default)]
    pub(super) host_us: Option<f64>,
    pub(super) ready_us: f64,
    pub(super) taken_us: f64,
    pub(super) after: Vec<u64>,
    #[serde(borrow, default)]
    pub(super) name: Option<Borrowed<'a>>,
    #[serde(borrow)]
    pub(super) at: Cow<'a, str>,
    #[serde(default)]
    pub(super) priority: i32,
    #[serde(default)]
    pub(super) team: bool,
    #[serde(default)]
    pub(super) message: Option<Message>,
    #[serde(borrow, default)]
    pub(super) failure: Option<Borrowed<'a>>,
}

/// [`crate::format::ArrayUse`], borrowed from the line.
#[derive(Deserialize)]
pub(super) struct ArrayUse<'a> {
    pub(super) array: u64,
    #[serde(borrow)]
    pub(super) mode: Cow<'a, str>,
    #[serde(default)]
    pub(super) bytes: Option<u64>,
}

/// Why a line is invalid.
pub(super) enum Problem {
    /// It is not the expected JSON.
    Json {
        expected: &'static str,
        error: serde_json::Error,
        /// The address of the parsed text in memory: within the line.
        address: usize,
    },
    /// Its values are invalid.
    Wrong(String),
    /// It is of another version.
    Version(u64),
}

/// The lines of a file, and the position in it.
pub(super) struct Lines<'a, R> {
    file: &'a str,
    input: R,
    buffer: Vec<u8>,
    number: usize,
    opened: bool,
    closed: bool,
    in_the_middle: bool,
}

impl<'a, R: BufRead> Lines<'a, R> {
    pub(super) fn new(file: &'a str, input: R) -> Self {
        Self {
            file,
            input,
            buffer: Vec::new(),
            number: 0,
            opened: false,
            closed: false,
            in_the_middle: false,
        }
    }

    /// The next line with an event, without its brackets and commas, and its number.
    pub(super) fn next(&mut self) -> Result<Option<(usize, &[u8])>, Error> {
        while self.fill()? {
            let mut line = self.buffer.trim_ascii();
            if !self.opened && !line.is_empty() {
                line = match line.strip_prefix(b"[") {
                    Some(rest) => rest,
                    None => {
                        return Err(self.damaged("expected `[`: a trace is an array of events, one a line"));
                    }
                };
                self.opened = true;
            }
            if self.closed && !line.is_empty() {
                return Err(self.damaged("expected nothing after `]`"));
            }
            self.closed |= line.ends_with(b"]");
            line = line.strip_suffix(b"]").or(line.strip_suffix(b",")).unwrap_or(line);
            if !line.is_empty() {
                let start = line.as_ptr().addr() - self.buffer.as_ptr().addr();
                let end = start + line.len();
                return Ok(Some((self.number, &self.buffer[start..end])));
            }
        }
        Ok(None)
    }

    fn fill(&mut self) -> Result<bool, Error> {
        self.buffer.clear();
        let read = self.input.read_until(b'\n', &mut self.buffer);
        let read = read.map_err(|error| Error::Read { file: self.file.to_owned(), error })?;
        if !self.buffer.ends_with(b"\n") {
            // A power failure can leave zeros in the file's last blocks.
            let text = self.buffer.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
            self.buffer.truncate(text);
        }
        let is_line = read > 0 && !self.buffer.is_empty();
        self.number += usize::from(is_line);
        Ok(is_line)
    }

    /// The error of `problem`, unless the problem is that the last line is incomplete.
    pub(super) fn refuse(&mut self, problem: Problem) -> Result<(), Error> {
        if self.breaks_off(&problem) {
            self.in_the_middle = true;
            return Ok(());
        }
        Err(match problem {
            Problem::Json { expected, error, address } => {
                let column = address - self.buffer.as_ptr().addr() + error.column();
                let place = format!(" at line {} column {}", error.line(), error.column());
                let error = error.to_string().replace(&place, "");
                self.damaged(&format!("column {column}: expected {expected}: {error}"))
            }
            Problem::Wrong(problem) => self.damaged(&problem),
            Problem::Version(version) => Error::Version { file: self.file.to_owned(), version },
        })
    }

    /// Whether the line is the last one, and its problem is that it is incomplete.
    fn breaks_off(&self, problem: &Problem) -> bool {
        let Problem::Json { error, address, .. } = problem else { return false };
        let column = address - self.buffer.as_ptr().addr() + error.column();
        // The parser calls a number that ends after its point invalid, though more digits could have followed.
        !self.buffer.ends_with(b"\n") && (error.is_eof() || column >= self.buffer.len())
    }

    /// The error of an invalid line: the one that was read last.
    pub(super) fn damaged(&self, problem: &str) -> Error {
        let file = self.file.to_owned();
        match self.number {
            0 => Error::Empty { file },
            line => Error::Damaged { file, line, problem: problem.to_owned() },
        }
    }

    /// Where the file ends, if the run is incomplete.
    pub(super) fn end(&self) -> Cut {
        Cut { line: self.number - usize::from(self.in_the_middle), in_the_middle: self.in_the_middle }
    }
}
