//! [`TraceFile`]: the file of a trace, which is complete up to some moment at any time.

use std::collections::HashSet;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use serde::Serialize;

use crate::error::{Error, ErrorKind, Result};

/// The extension of a trace's file.
const EXTENSION: &str = "json";

/// The files that this process has written traces to: a later runtime does not overwrite an earlier one's.
static WRITTEN: Mutex<Option<HashSet<PathBuf>>> = Mutex::new(None);

/// The file of a trace. Lines are buffered.
#[derive(Debug)]
pub(crate) struct TraceFile {
    path: PathBuf,
    file: File,
    lines: Vec<u8>,
    /// Whether writing has failed, and was reported.
    is_broken: bool,
}

impl TraceFile {
    /// The file that the settings name, if any.
    ///
    /// # Errors
    /// If the file cannot be created, or its name is not that of a trace.
    #[track_caller]
    pub(crate) fn from_settings(set: Option<PathBuf>, variable: Option<PathBuf>) -> Result<Option<Self>> {
        let (setting, path) = match (set, variable) {
            (Some(path), _) => ("trace", path),
            (None, Some(path)) => ("DAHL_TRACE", path),
            (None, None) => return Ok(None),
        };
        if path.extension().is_none_or(|extension| extension != EXTENSION) {
            let expected = "a file `NAME.json`; `dahl trace html|paje|dot FILE` makes others of it";
            return Err(wrong(setting, &path, expected.to_owned()));
        }
        match Self::create(&path) {
            Ok(file) => Ok(Some(file)),
            Err(error) => {
                Err(wrong(setting, &path, format!("a file `NAME.json` that can be written: {error}")))
            }
        }
    }

    /// Creates it. If this process has written to a file of that name, or another one is doing so, it is `NAME-2.json`,
    /// and so on.
    fn create(path: &Path) -> io::Result<Self> {
        let absolute = std::path::absolute(path)?;
        let folder = absolute.parent().unwrap_or(&absolute).canonicalize()?;
        let absolute = folder.join(absolute.file_name().unwrap_or_default());
        let mut written = WRITTEN.lock().unwrap_or_else(PoisonError::into_inner);
        let written = written.get_or_insert_default();
        let stem = absolute.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let numbered = |number: u32| absolute.with_file_name(format!("{stem}-{number}.{EXTENSION}"));
        let names = std::iter::once(absolute.clone()).chain((2..).map(numbered));
        for path in names.filter(|path| !written.contains(path)) {
            let file = OpenOptions::new().write(true).create(true).truncate(false).open(&path)?;
            // Held until the file is closed, however the process ends. Without locks on this system, the name is used
            // as given.
            if matches!(file.try_lock(), Err(TryLockError::WouldBlock)) {
                continue;
            }
            file.set_len(0).or_else(|error| if is_regular(&file) { Err(error) } else { Ok(()) })?;
            written.insert(path.clone());
            return Ok(Self { path, file, lines: b"[\n".to_vec(), is_broken: false });
        }
        unreachable!("numbers do not end")
    }

    /// Adds a line.
    pub(super) fn push(&mut self, line: &impl Serialize) {
        self.push_last(line);
        self.lines.truncate(self.lines.len() - 1);
        self.lines.extend_from_slice(b",\n");
    }

    fn push_last(&mut self, line: &impl Serialize) {
        serde_json::to_writer(&mut self.lines, line).expect("lines are plain data, written to memory");
        self.lines.push(b'\n');
    }

    /// Writes the buffered lines.
    pub(super) fn flush(&mut self) {
        if self.lines.is_empty() {
            return;
        }
        if !self.is_broken
            && let Err(error) = self.file.write_all(&self.lines)
        {
            self.is_broken = true;
            let path = self.path.display();
            eprintln!("dahl: the trace {path} cannot be written: {error}; it ends here, and the run goes on");
        }
        self.lines.clear();
    }

    /// Writes the last line, and the end of the array.
    pub(super) fn end(mut self, line: &impl Serialize) {
        self.push_last(line);
        self.lines.extend_from_slice(b"]\n");
        self.flush();
    }
}

/// Whether it is a file with a length; a pipe has none.
fn is_regular(file: &File) -> bool {
    file.metadata().is_ok_and(|metadata| metadata.is_file())
}

#[track_caller]
fn wrong(setting: &'static str, path: &Path, expected: String) -> Error {
    Error::new(ErrorKind::Config { setting, value: path.display().to_string(), expected })
}
