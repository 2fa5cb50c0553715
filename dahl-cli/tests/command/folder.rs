//! [`Folder`]: a folder to run the command in.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

const FIXTURE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixture");
const DAHL: &str = env!("CARGO_BIN_EXE_dahl");

/// A folder with a copy of the fixture, which is removed when this is dropped.
pub(crate) struct Folder {
    folder: TempDir,
}

impl Folder {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        copy(Path::new(FIXTURE), folder.path());
        Self { folder }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).expect("it can be written");
    }

    /// A command, or `dahl`, in this folder, without the environment's settings.
    pub(crate) fn command(&self, program: &str) -> Command {
        let mut command = Command::new(if program == "dahl" { DAHL } else { program });
        let settings = std::env::vars_os().map(|(name, _)| name);
        for name in settings.filter(|name| name.to_string_lossy().starts_with("DAHL_")) {
            command.env_remove(name);
        }
        let path = std::env::var("PATH").unwrap_or_default();
        let bin = Path::new(DAHL).parent().expect("it is in a folder");
        command.current_dir(self.folder.path()).env("HOME", self.folder.path()).env("DAHL_NCPU", "2");
        command.env("PATH", format!("{}:{path}", bin.display())).env_remove("NO_COLOR");
        command
    }

    /// The output of `dahl` with these words.
    pub(crate) fn dahl(&self, words: &str) -> Output {
        self.command("dahl").args(words.split(' ')).output().expect("it runs")
    }

    /// Its standard output, if it succeeds without a warning.
    pub(crate) fn prints(&self, words: &str) -> String {
        let output = self.dahl(words);
        let (out, err) = (text(&output.stdout), text(&output.stderr));
        assert!(output.status.success(), "dahl {words}: {err}");
        assert_eq!(err, "", "dahl {words}");
        out
    }
}

/// Copies a folder recursively.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("it can be made");
    for entry in fs::read_dir(from).expect("the fixture is there") {
        let entry = entry.expect("it can be read");
        let to = to.join(entry.file_name());
        match entry.path().is_dir() {
            true => copy(&entry.path(), &to),
            false => drop(fs::copy(entry.path(), to).expect("it can be copied")),
        }
    }
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
