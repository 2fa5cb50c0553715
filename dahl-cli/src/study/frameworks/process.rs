//! [`measure`]: a training as a process of its own, with its time, its energy and its memory.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use dahl::energy::{Joules, Meters, Part, Places};
use serde::{Deserialize, Serialize};

use super::training::Training;
use crate::trouble::Trouble;

/// The program that trains in PyTorch.
const PROGRAM: &str = include_str!("train.py");
/// Prints the versions of Python and PyTorch.
const VERSIONS: &str =
    "import platform, torch; print('PyTorch', torch.__version__ + ', Python', platform.python_version())";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Framework {
    Dahl,
    PyTorch,
}

impl Framework {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Dahl => "dahl",
            Self::PyTorch => "PyTorch",
        }
    }
}

/// A Python that has PyTorch.
pub(super) struct Python {
    path: PathBuf,
    /// The program to run.
    program: PathBuf,
    versions: String,
}

impl Python {
    /// The Python that the user names, which must have PyTorch; or `python3`, or why it has none. Writes the program into `folder`.
    pub(super) fn find(named: Option<&Path>, folder: &Path) -> Result<Result<Self, String>, Trouble> {
        let path = named.unwrap_or(Path::new("python3"));
        let versions = match (versions(path), named) {
            (Ok(versions), _) => versions,
            (Err(fact), None) => return Ok(Err(fact)),
            (Err(fact), Some(_)) => {
                return Err(Trouble::Input(format!("--python {fact}; expected a Python with PyTorch")));
            }
        };
        let program = folder.join("train.py");
        fs::write(&program, PROGRAM).map_err(|error| Trouble::unwritable(&program, error))?;
        Ok(Ok(Self { path: path.to_owned(), program, versions }))
    }

    pub(super) fn versions(&self) -> String {
        self.versions.clone()
    }
}

/// The versions of a Python and its PyTorch; or the last line of its error.
fn versions(python: &Path) -> Result<String, String> {
    let failed = |fact: &str| format!("{}: {fact}", python.display());
    let output =
        Command::new(python).args(["-c", VERSIONS]).output().map_err(|error| failed(&error.to_string()))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned());
    }
    let text = String::from_utf8_lossy(&output.stderr);
    Err(failed(text.trim().lines().last().unwrap_or("it fails without a word")))
}

/// What a process says of its training.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Trained {
    pub(super) epochs: Vec<Epoch>,
    /// The most memory of the process, where the system tells.
    pub(super) peak_bytes: Option<u64>,
}

/// An epoch: its time, and the mean loss of its samples before their updates.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Epoch {
    pub(super) seconds: f64,
    pub(super) loss: f64,
}

/// A training that was measured.
pub(super) struct Measured {
    pub(super) epochs: Vec<Epoch>,
    pub(super) peak_bytes: Option<u64>,
    pub(super) start_s: f64,
    pub(super) training_s: f64,
    pub(super) processor_s: Option<f64>,
    /// Of the processors and the main memory meanwhile.
    pub(super) energy: Joules,
}

/// Trains in a process: it says when it is ready, begins when it is told, and ends when its input does.
pub(super) fn measure(
    training: &Training,
    framework: Framework,
    python: Option<&Python>,
) -> Result<Measured, Trouble> {
    let settings = training.folder.join("settings.json");
    let text = serde_json::to_string(training).map_err(|error| Trouble::Failed(error.to_string()))?;
    fs::write(&settings, text).map_err(|error| Trouble::unwritable(&settings, error))?;
    let failed = |fact: String| Trouble::Failed(format!("a training in {}: {fact}", framework.name()));
    let io = |error: std::io::Error| failed(error.to_string());
    let mut command = match (framework, python) {
        (Framework::Dahl, _) => {
            let mut command = Command::new(std::env::current_exe().map_err(io)?);
            command.args(["study", super::STUDY.name, "--train"]);
            command
        }
        (Framework::PyTorch, Some(python)) => {
            let mut command = Command::new(&python.path);
            command.arg(&python.program);
            command
        }
        (Framework::PyTorch, None) => return Err(failed("there is no Python that has it".to_owned())),
    };
    command.arg(&settings).stdin(Stdio::piped()).stdout(Stdio::piped());
    let began = Instant::now();
    let mut child = command.spawn().map_err(io)?;
    let (mut input, output) = (child.stdin.take(), child.stdout.take());
    let mut lines = output.map(BufReader::new).into_iter().flat_map(|output| output.lines());
    let mut line = || lines.next().unwrap_or_else(|| Ok(String::new())).map_err(io);
    let ready = line()?;
    let trained = if ready == "ready" {
        let start_s = began.elapsed().as_secs_f64();
        let before_s = processor_s(child.id());
        let began = Instant::now();
        let mut tally = Meters::find(&Places::default()).start(Duration::ZERO);
        if let Some(input) = &mut input {
            input.write_all(b"\n").map_err(io)?;
        }
        let said = line()?;
        tally.read(began.elapsed());
        let training_s = began.elapsed().as_secs_f64();
        let processor_s = before_s.zip(processor_s(child.id())).map(|(before, after)| after - before);
        serde_json::from_str::<Trained>(&said).ok().map(|trained| Measured {
            epochs: trained.epochs,
            peak_bytes: trained.peak_bytes,
            start_s,
            training_s,
            processor_s,
            energy: tally.of_part(&Part::Host),
        })
    } else {
        None
    };
    drop(input);
    let status = child.wait().map_err(io)?;
    trained.filter(|_| status.success()).ok_or_else(|| failed(format!("it ended early, with {status}")))
}

/// The processor time of all threads of a process that have not ended, in seconds; none where Linux's `/proc` is not.
fn processor_s(process: u32) -> Option<f64> {
    let threads = fs::read_dir(format!("/proc/{process}/task")).ok()?;
    let ns = threads.filter_map(|thread| {
        let times = fs::read_to_string(thread.ok()?.path().join("schedstat")).ok()?;
        times.split(' ').next()?.parse::<f64>().ok()
    });
    Some(ns.sum::<f64>() / 1e9)
}
