//! [`Absence`]: why there is no energy, and what helps.

use std::fmt;
use std::io;
use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// Why an energy is not known, and what the user can do. A copy allocates nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Absence {
    /// The reason: which file or function, and what it said.
    pub reason: Arc<str>,
    /// The remedy.
    pub remedy: Arc<str>,
}

impl Absence {
    /// An absence for this reason, with this remedy.
    pub fn new(reason: impl Into<Arc<str>>, remedy: impl Into<Arc<str>>) -> Self {
        Self { reason: reason.into(), remedy: remedy.into() }
    }

    /// Several absences as one.
    pub(crate) fn all(absences: &[Self]) -> Self {
        let joined = |text: fn(&Self) -> &str| absences.iter().map(text).collect::<Vec<_>>();
        Self::new(joined(|one| &one.reason).join("; "), joined(|one| &one.remedy).join("; or "))
    }
}

impl fmt::Display for Absence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}. Remedy: {}", self.reason, self.remedy)
    }
}

/// Why a file cannot be read, with its permissions if these are the reason.
pub(crate) fn unreadable(path: &Path, error: &io::Error) -> String {
    let rights = if error.kind() == io::ErrorKind::PermissionDenied { rights(path) } else { String::new() };
    format!("{} cannot be read: {error}{rights}", path.display())
}

/// The mode and the owner of a file, and the user of this process.
#[cfg(unix)]
#[allow(unsafe_code, reason = "asks the system for a number")]
fn rights(path: &Path) -> String {
    use std::os::unix::fs::MetadataExt as _;
    // SAFETY: `geteuid` has no requirements, and always succeeds.
    let user = unsafe { libc::geteuid() };
    match path.metadata() {
        Ok(file) => {
            let (mode, owner) = (file.mode() & 0o7777, file.uid());
            format!(" (its mode is {mode:04o} and its owner uid {owner}; this process runs as uid {user})")
        }
        Err(_) => format!(" (this process runs as uid {user})"),
    }
}

#[cfg(not(unix))]
fn rights(_: &Path) -> String {
    String::new()
}
