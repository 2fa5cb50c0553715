//! [`Checkout`]: which sources the command was built from.

use std::path::Path;
use std::process::Command;

/// The state of the checkout that the command was built in. What is not known is nothing, such as that of a command that
/// was installed from a registry.
#[derive(Clone, Debug, Default)]
pub(crate) struct Checkout {
    pub(crate) commit: Option<String>,
    /// When it was made.
    pub(crate) committed: Option<String>,
    /// Whether files differ from it, but for those that studies themselves write into the pages.
    pub(crate) is_dirty: Option<bool>,
}

/// All but these.
const PAGES: &str = ":(top,exclude)docs/studies";

impl Checkout {
    pub(crate) fn of_this_build() -> Self {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
        let git = |arguments: &[&str]| {
            let output = Command::new("git").arg("-C").arg(folder).args(arguments).output().ok()?;
            let text = String::from_utf8(output.stdout).ok()?;
            output.status.success().then(|| text.trim().to_owned())
        };
        // The folder may lie in somebody else's repository, which does not know the file.
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

    /// The first characters of the commit, as names of folders have them.
    pub(crate) fn short(&self) -> String {
        let commit = self.commit.as_deref().unwrap_or("unknown");
        let dirty = if self.is_dirty == Some(true) { "-dirty" } else { "" };
        format!("{}{dirty}", commit.get(..7).unwrap_or(commit))
    }
}
