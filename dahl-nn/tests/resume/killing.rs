//! Killing trainings, and comparing what becomes of them.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use libtest_mimic::Failed;
use safetensors::SafeTensors;

use crate::events::scalars;
use crate::training::{FOLDER, RESULTS, STEPS};

/// Starts a training in a folder.
fn start(folder: &Path, output: Stdio) -> Child {
    let program = std::env::current_exe().unwrap();
    Command::new(program).env(FOLDER, folder).stdout(output).spawn().unwrap()
}

/// Reads lines of a training until `lines` of them were steps, and kills it; or until it ends: then its results.
fn run(folder: &Path, lines: usize) -> Option<Vec<String>> {
    let mut child = start(folder, Stdio::piped());
    let (mut steps, mut results) = (0, None);
    for line in BufReader::new(child.stdout.take().unwrap()).lines() {
        let line = line.unwrap();
        if let Some(results) = &mut results {
            Vec::push(results, line);
        } else if line == RESULTS {
            results = Some(Vec::new());
        } else {
            steps += 1;
            if steps == lines {
                child.kill().unwrap();
                child.wait().unwrap();
                return None;
            }
        }
    }
    assert!(child.wait().unwrap().success());
    Some(results.expect("a training that ends prints its results"))
}

/// The names in a folder; none if it is not there.
fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

/// Requires that every checkpoint is whole. Returns how many files were left in writing, and removes them.
fn check(folder: &Path) -> usize {
    let folder = folder.join("checkpoints");
    let (mut in_writing, mut whole) = (0, 0);
    for name in names(&folder) {
        let path = folder.join(&name);
        if name.starts_with(".dahl-") {
            fs::remove_file(path).unwrap();
            in_writing += 1;
        } else {
            let bytes = fs::read(&path).unwrap();
            SafeTensors::deserialize(&bytes).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            whole += 1;
        }
    }
    // Two after steps, one that is not removed yet, and the best one.
    assert!(whole <= 4, "{whole}");
    in_writing
}

/// The lines of a file of results without the speed and the energy, which differ from run to run.
fn lines(path: PathBuf) -> Vec<String> {
    let text = fs::read_to_string(path).unwrap();
    let has_joules = text.lines().next().is_some_and(|header| header.ends_with(",joules"));
    let repeated = |line: &str| {
        if line.starts_with('{') {
            let mut epoch: serde_json::Map<_, _> = serde_json::from_str(line).unwrap();
            epoch.remove("samples_per_second").unwrap();
            epoch.remove("energy").unwrap();
            return serde_json::to_string(&epoch).unwrap();
        }
        let mut cells: Vec<&str> = line.split(',').collect();
        if has_joules {
            cells.pop();
        }
        cells.remove(3);
        cells.join(",")
    };
    text.lines().map(repeated).collect()
}

/// Requires that a training that was killed has the results of one that was not, once each.
fn compare(folder: &Path, results: &[String], whole: &Path, expected: &[String]) {
    assert_eq!(results, expected);
    for file in ["run.csv", "run.jsonl"] {
        assert_eq!(lines(folder.join(file)), lines(whole.join(file)), "{file}");
    }
    let events = |folder: &Path| {
        let mut scalars = scalars(&folder.join("events"));
        scalars.retain(|(tag, ..)| tag != "samples_per_second" && tag != "joules");
        scalars
    };
    assert_eq!(events(folder), events(whole));
}

/// A training that is not killed, with its folder.
fn whole(folder: &Path) -> (PathBuf, Vec<String>) {
    let folder = folder.join("whole");
    let results = run(&folder, usize::MAX).unwrap();
    assert_eq!(check(&folder), 0);
    // Loss and validation of each epoch, but for the speed.
    let epochs = results.iter().filter(|line| line.starts_with("epoch ")).count();
    assert!(epochs > 2, "{results:?}");
    assert_eq!(lines(folder.join("run.csv")).len(), epochs + 1);
    assert_eq!(scalars(&folder.join("events")).len(), 3 * epochs);
    (folder, results)
}

pub(crate) fn after_steps() -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let (whole, expected) = whole(folder.path());
    for seed in 0..4 {
        let mut random = fastrand::Rng::with_seed(seed);
        let folder = folder.path().join(seed.to_string());
        let mut kills = 0;
        let results = loop {
            // The first kill may come before any checkpoint is there.
            if let Some(results) = run(&folder, random.usize(1..STEPS / 3)) {
                break results;
            }
            kills += 1;
            check(&folder);
        };
        assert!(kills >= 2, "{kills}");
        compare(&folder, &results, &whole, &expected);
    }
    Ok(())
}

/// The most trainings until one is killed while it writes.
const MOST_TRAININGS: usize = 20;

pub(crate) fn while_it_writes() -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let (whole, expected) = whole(folder.path());
    let mut in_writing = 0;
    for training in 0..MOST_TRAININGS {
        let folder = folder.path().join(training.to_string());
        // One checkpoint more is written each time before the kill: else it would never get beyond the first one.
        for written in 0.. {
            // Its lines are not read: in a pipe they would stop it.
            let mut child = start(&folder, Stdio::null());
            if !wait_for_writing(&mut child, &folder.join("checkpoints"), written) {
                break;
            }
            child.kill().unwrap();
            child.wait().unwrap();
            in_writing += check(&folder);
        }
        let results = run(&folder, usize::MAX).unwrap();
        compare(&folder, &results, &whole, &expected);
        if in_writing > 0 {
            return Ok(());
        }
    }
    Err(format!("{MOST_TRAININGS} trainings, and none was killed while it wrote").into())
}

/// Waits until the training writes a checkpoint after `before` others. Returns whether it does; it may also end.
fn wait_for_writing(child: &mut Child, folder: &Path, before: usize) -> bool {
    let (mut seen, mut latest) = (0, String::new());
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            assert!(status.success());
            return false;
        }
        for name in names(folder) {
            if name.starts_with(".dahl-") && name != latest {
                latest = name;
                seen += 1;
            }
        }
        if seen > before {
            return true;
        }
    }
}
