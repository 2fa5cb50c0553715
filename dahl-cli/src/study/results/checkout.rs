//! [`Checkout`]: the sources from which the command was built.

use std::path::Path;
use std::process::Command;

/// The state of the checkout that the command was built in. Unknown values are `None`, as for a command that was
/// installed from a registry.
#[derive(Clone, Debug, Default)]
pub(crate) struct Checkout {
    pub(crate) commit: Option<String>,
    /// The date of the commit.
    pub(crate) committed: Option<String>,
    /// Whether files differ from it, except for those that studies write into the pages.
    pub(crate) is_dirty: Option<bool>,
}

/// Excludes the pages of studies.
const PAGES: &str = ":(top,exclude)docs/studies";

impl Checkout {
    pub(crate) fn of_this_build() -> Self {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
        let git = |arguments: &[&str]| {
            let output = Command::new("git").arg("-C").arg(folder).args(arguments).output().ok()?;
            let text = String::from_utf8(output.stdout).ok()?;
            output.status.success().then(|| text.trim().to_owned())
        };
        // The folder may be inside another repository, which does not have the file.
        if git(&["ls-files", "--error-unmatch", "Cargo.toml"]).is_none() {
            return Self::default();
        }
        Self {
            commit: git(&["rev-parse", "HEAD"]),
            committed: git(&["log", "-1", "--format=%cI"]),
            is_dirty: git(&["status", "--porcelain", "--untracked-files=no", "--", ":/", PAGES])
                .map(|changes| !changes.is_empty()),
        }
    }

    /// The abbreviated commit, for names of folders.
    pub(crate) fn short(&self) -> String {
        let commit = self.commit.as_deref().unwrap_or("unknown");
        let dirty = if self.is_dirty == Some(true) { "-dirty" } else { "" };
        format!("{}{dirty}", commit.get(..7).unwrap_or(commit))
    }
}
