//! Running the command.

use std::path::Path;
use std::process::{Command, Output};

use tempfile::TempDir;

/// Runs the command with these arguments.
pub(crate) fn dahl(arguments: &[&str]) -> Output {
    in_folder(Path::new("."), arguments)
}

/// The same in a folder.
pub(crate) fn in_folder(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dahl"));
    command.current_dir(folder).args(arguments);
    command.output().expect("the command is built")
}

/// The folder of a quick run of a study.
pub(crate) fn quick(study: &str, settings: &[&str]) -> TempDir {
    let folder = tempfile::tempdir().expect("there is room");
    let out = folder.path().to_str().expect("a name");
    let arguments = ["study", study, "--quick", "--quiet", "--out", out];
    let output = dahl(&[&arguments, settings].concat());
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{study}: {stderr}");
    assert!(stdout.contains(out), "{study} says where its files are: {stdout}");
    folder
}
