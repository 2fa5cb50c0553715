//! [`Recorded`]: the tasks of a program that ran or was recorded, from the trace of a run or from a saved program.
//!
//! Not here: where and when they run (`plan`, `simulate`).

mod of_listing;
mod of_trace;

use std::path::Path;

use dahl_trace::Trace;

use crate::trouble::Trouble;

/// The tasks in the order of submission.
pub(crate) struct Recorded {
    pub(crate) tasks: Vec<RecordedTask>,
    /// The run, if it is that of a trace.
    pub(crate) trace: Option<Trace>,
}

/// A task.
pub(crate) struct RecordedTask {
    /// Its number in the order of submission, as a plan has it.
    pub(crate) number: u64,
    /// The name of its codelet, as plans have it.
    pub(crate) codelet: String,
    /// The name by which a machine file has its speed: `fold` and `finish` for those of reductions.
    pub(crate) speed: String,
    pub(crate) footprint: Vec<Vec<usize>>,
    pub(crate) flops: Option<f64>,
    pub(crate) bytes: f64,
    pub(crate) arrays: Vec<RecordedAccess>,
    pub(crate) priority: i32,
    /// Whether the host submitted it by itself: a task of a replay came with the call of its program.
    pub(crate) is_submission: bool,
    /// The places in the list of tasks that it waits for.
    pub(crate) after: Vec<usize>,
}

/// An array that a task uses.
#[derive(Clone, Copy)]
pub(crate) struct RecordedAccess {
    pub(crate) array: u64,
    pub(crate) bytes: u64,
    pub(crate) reads: bool,
    pub(crate) writes: bool,
}

/// How files of saved programs begin.
const PROGRAM: &str = "{\"format\": \"dahl program ";

/// Whether a file's text is that of a trace. TOML may begin with `[` too.
fn is_trace(text: &str) -> bool {
    text.trim_start().strip_prefix('[').is_some_and(|rest| rest.trim_start().starts_with('{'))
}

impl Recorded {
    /// The tasks in a file with this text; none if it is neither a trace nor a saved program.
    ///
    /// # Errors
    /// If it is one and cannot be read, or its run is not whole.
    pub(crate) fn parse(path: &Path, text: &str) -> Result<Option<Self>, Trouble> {
        let wrong = |fact: String| Trouble::Input(format!("{}: {fact}", path.display()));
        if is_trace(text) {
            let trace = Trace::parse_file(&path.to_string_lossy(), text)
                .map_err(|error| Trouble::Input(error.to_string()))?;
            return Self::of_trace(trace).map(Some).map_err(wrong);
        }
        if !text.starts_with(PROGRAM) {
            return Ok(None);
        }
        let listing = dahl::program::Listing::from_json(text.as_bytes(), path)
            .map_err(|error| Trouble::Input(error.to_string()))?;
        Self::of_listing(&listing).map(Some).map_err(wrong)
    }
}
