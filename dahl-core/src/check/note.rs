//! [`CheckNote`]: a suspicious result that is no failure.

use std::fmt;
use std::io::Write as _;
use std::panic::Location;
use std::sync::{Mutex, MutexGuard};

/// A NaN or an infinity that a kernel computed from arrays without any, found in checked mode.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct CheckNote {
    /// The codelet of the task.
    pub codelet: &'static str,
    /// The kernel that ran.
    pub kernel: &'static str,
    /// The output.
    pub parameter: &'static str,
    /// The index of the first one in the output.
    pub index: Vec<usize>,
    /// The value.
    pub value: f64,
    /// The line that submitted the task.
    pub location: &'static Location<'static>,
}

/// The notes of a runtime: the first for each codelet and line of submission.
#[derive(Debug, Default)]
pub(crate) struct CheckNotes(Mutex<Vec<CheckNote>>);

impl CheckNotes {
    fn notes(&self) -> MutexGuard<'_, Vec<CheckNote>> {
        self.0.lock().unwrap_or_else(|poison| poison.into_inner())
    }

    /// Records and prints a note, unless there is one for the same codelet and line.
    pub(super) fn add(&self, note: CheckNote) {
        let mut notes = self.notes();
        let is_known = |known: &CheckNote| known.codelet == note.codelet && known.location == note.location;
        if !notes.iter().any(is_known) {
            let _ = writeln!(std::io::stderr(), "dahl: {note}");
            notes.push(note);
        }
    }

    pub(crate) fn all(&self) -> Vec<CheckNote> {
        self.notes().clone()
    }
}

impl fmt::Display for CheckNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { codelet, kernel, parameter, index, value, location } = self;
        write!(
            f,
            "{codelet}: note: the kernel `{kernel}` made `{parameter}` {value} at {index:?} of arrays that are finite, \
             submitted at {location}"
        )
    }
}
