//! Runs the command.

use std::path::Path;
use std::process::{Command, Output};

use tempfile::TempDir;

/// The note of quick runs.
pub(crate) const QUICK: &str = "quick: shows only that it works";

/// Runs the command with these arguments.
pub(crate) fn dahl(arguments: &[&str]) -> Output {
    in_folder(Path::new("."), arguments)
}

/// The same in a folder.
pub(crate) fn in_folder(folder: &Path, arguments: &[&str]) -> Output {
    with_settings(folder, arguments, &[])
}

/// The same with settings in the environment.
pub(crate) fn with_settings(folder: &Path, arguments: &[&str], settings: &[(&str, &str)]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dahl"));
    command.current_dir(folder).args(arguments).envs(settings.iter().copied());
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
    assert!(stdout.contains(QUICK), "{study} says that it has measured little: {stdout}");
    folder
}
