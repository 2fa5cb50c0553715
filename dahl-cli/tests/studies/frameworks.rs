//! The comparison with another framework, with programs in the place of Python that answer as its script does.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use tempfile::TempDir;

use super::command::{dahl, quick};
use super::files::{column, files_of};

/// Trains: two epochs, of half a second and of a quarter.
pub(crate) const TRAINS: &str = r#"
[ "$1" = -c ] && { echo "PyTorch 2, Python 3"; exit; }
echo ready
read line
echo '{"epochs": [{"seconds": 0.5, "loss": 2.0}, {"seconds": 0.25, "loss": 1.0}], "peak_bytes": 3145728}'
cat > /dev/null"#;

/// A program in the place of Python.
pub(crate) struct Python {
    /// Holds the program.
    _folder: TempDir,
    path: String,
}

impl Python {
    pub(crate) fn new(script: &str) -> Self {
        let folder = tempfile::tempdir().expect("there is room");
        let path = folder.path().join("python").into_os_string().into_string().expect("a name");
        fs::write(&path, format!("#!/bin/sh{script}\n")).expect("there is room");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("it is ours");
        Self { _folder: folder, path }
    }

    pub(crate) fn path(&self) -> &str {
        &self.path
    }
}

fn refused(arguments: &[&str]) -> (Option<i32>, String) {
    let output = dahl(&[&["study"], arguments].concat());
    (output.status.code(), String::from_utf8(output.stderr).expect("text"))
}

#[test]
fn both_frameworks_are_in_the_tables() {
    let python = Python::new(TRAINS);
    let files = files_of(quick("frameworks", &["--workers", "1", "--python", python.path()]).path());
    let rows = |name: &str| column(&files["frameworks.csv"], name);
    assert_eq!(rows("framework"), ["dahl", "PyTorch", "dahl", "PyTorch"]);
    assert_eq!(rows("network"), ["mlp", "mlp", "lenet", "lenet"]);
    let (epochs, peaks, losses) = (rows("epoch_s"), rows("peak_mib"), rows("loss"));
    for torch in [1, 3] {
        assert_eq!((&*epochs[torch], &*peaks[torch], &*losses[torch]), ("0.25", "3.0", "1.0"));
        let own = [&epochs[torch - 1], &peaks[torch - 1], &losses[torch - 1]];
        let own: Vec<f64> = own.iter().map(|value| value.parse().expect("a number")).collect();
        assert!(own.iter().all(|value| value.is_finite() && *value > 0.0), "{own:?}");
    }
    assert!(files["about.toml"].contains("pytorch = \"PyTorch 2, Python 3\""), "{}", files["about.toml"]);
    assert!(files["summary.md"].contains("Losses by epoch differ by at most"), "{}", files["summary.md"]);
    let losses = column(&files["losses.csv"], "loss");
    let of_dahl = |first: usize| -> Vec<f64> {
        losses[first..first + 2].iter().map(|loss| loss.parse().expect("a number")).collect()
    };
    for first in [0, 4] {
        let [before, after] = of_dahl(first)[..] else { panic!("two epochs") };
        assert!(after < before, "it learns: {before}, {after}");
    }
}

#[test]
fn a_python_that_cannot_train_is_an_error() {
    let missing =
        Python::new("\necho 'Traceback'; echo \"ModuleNotFoundError: No module named 'torch'\" >&2; exit 1");
    let (code, text) = refused(&["frameworks", "--quick", "--python", missing.path()]);
    assert_eq!(code, Some(2), "{text}");
    assert!(text.contains(missing.path()) && text.contains("No module named 'torch'"), "{text}");
    let dies = Python::new("\n[ \"$1\" = -c ] && { echo PyTorch; exit; }\necho ready; read line; exit 3");
    let folder = tempfile::tempdir().expect("there is room");
    let out = folder.path().to_str().expect("a name");
    let (code, text) = refused(&["frameworks", "--quick", "--out", out, "--python", dies.path()]);
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("a training in PyTorch: it ended early, with exit status: 3"), "{text}");
    let (code, text) = refused(&["layers", "--quick", "--python", dies.path()]);
    assert_eq!(code, Some(2), "{text}");
    assert!(text.contains("the study `layers` runs no Python"), "{text}");
}
