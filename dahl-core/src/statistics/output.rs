//! [`Output`]: where the statistics of a run go when it ends.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
// For a static that no two threads of a runtime use together.
use std::sync::{Mutex, PoisonError};

use dahl_files::Target;

use super::Statistics;
use crate::error::{Error, ErrorKind, Result};

/// The possible values of the variable.
const CHOICES: &str = "0, 1 for tables on standard error, or a file to write whose name ends in `.json`";

/// The files that runtimes of this process write.
static FILES: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Where the statistics of a run are written at its end.
#[derive(Debug)]
pub(crate) enum Output {
    /// To standard error, as tables.
    Tables,
    /// To a file, as JSON.
    Json(PathBuf),
}

impl Output {
    /// The output by the text of a variable; none for no output.
    ///
    /// # Errors
    /// If the text is invalid, or the file cannot be written.
    #[track_caller]
    pub(crate) fn of_variable(setting: &'static str, text: &str) -> Result<Option<Self>> {
        match text.trim() {
            "" | "0" => Ok(None),
            "1" => Ok(Some(Self::Tables)),
            path if path.ends_with(".json") => Self::json(setting, Path::new(path)).map(Some),
            _ => {
                let (value, expected) = (text.to_owned(), CHOICES.to_owned());
                Err(Error::new(ErrorKind::Config { setting, value, expected }))
            }
        }
    }

    /// To a file, whose current content stays until the run ends. If another runtime of the process writes `run.json`,
    /// it is `run-2.json`, and so on.
    ///
    /// # Errors
    /// If it cannot be written.
    #[track_caller]
    pub(crate) fn json(setting: &'static str, path: &Path) -> Result<Self> {
        let mut files = FILES.lock().unwrap_or_else(PoisonError::into_inner);
        // The program may change its working directory.
        let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let stem = absolute.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let numbered = (2..).map(|number: u32| absolute.with_file_name(format!("{stem}-{number}.json")));
        let mut paths = std::iter::once(absolute.clone()).chain(numbered);
        let free = paths.find(|path| !files.contains(path)).expect("there is no last number");
        match Target::find(&free).and_then(|target| target.try_out()) {
            Ok(()) => {
                files.push(free.clone());
                Ok(Self::Json(free))
            }
            Err(error) => {
                let expected = format!("a file to write: {error}; or {CHOICES}");
                Err(Error::new(ErrorKind::Config { setting, value: path.display().to_string(), expected }))
            }
        }
    }

    /// Writes the statistics. Errors are printed.
    pub(crate) fn write(&self, statistics: &Statistics) {
        match self {
            Self::Tables => print(&format!("dahl: {statistics}")),
            Self::Json(path) => {
                if let Err(error) = write_json(path, statistics) {
                    let path = path.display();
                    print(&format!("dahl: the statistics cannot be written to {path}: {error}\n"));
                }
            }
        }
    }
}

/// Prints with one call. An error cannot be reported anywhere.
fn print(text: &str) {
    let _ = io::stderr().write_all(text.as_bytes());
}

/// Writes the file completely, or leaves the old one.
fn write_json(path: &Path, statistics: &Statistics) -> io::Result<()> {
    let mut text = serde_json::to_string_pretty(statistics)?;
    text.push('\n');
    dahl_files::save(path, text)
}
