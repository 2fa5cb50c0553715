//! The records of a training: CSV, JSON lines, event files for TensorBoard, plots.

use std::fs;
use std::path::Path;
use std::process::Command;

use dahl::energy::{Absence, Joules, Source};
use dahl::prelude::*;
use dahl::{Cpu, Machine, RuntimeBuilder};
use dahl_nn::prelude::*;
use dahl_nn::training::{LearningCurves, TensorBoard};

/// Three epochs on a small data set, with validation data. Their energy is not known, whatever this machine measures.
fn history() -> History {
    let mut history = history_on(Runtime::builder().cpu_workers(1));
    for epoch in &mut history.epochs {
        epoch.energy = Joules::unavailable(Absence::new("this is a test", "none"));
    }
    history
}

fn history_on(builder: RuntimeBuilder) -> History {
    let rt = builder.build().unwrap();
    let network = rt.arena();
    let data = Synthetic::new(&[4], 2, 20, 1);
    let mut model = Sequential::<f32>::new(&network, [4], 1).dense(2).unwrap();
    let trainer = Trainer::new(&mut model, CrossEntropy, Sgd::new(0.1)).epochs(3).validation(&data);
    trainer.fit(&data).unwrap()
}

#[test]
fn epochs_have_joules() {
    let cpu = Cpu { watts: Some(10.0), idle_watts: Some(1.0), ..Cpu::default() };
    let machine = Machine { cpu, ..Machine::default() };
    let history = history_on(Runtime::builder().cpu_workers(1).virtual_machine(machine));
    let joules: Vec<f64> = history.epochs.iter().map(|epoch| epoch.energy.value().unwrap()).collect();
    assert!(joules.iter().all(|joules| *joules > 0.0), "{joules:?}");
    let epoch = &history.epochs[1];
    assert_eq!((epoch.energy.source(), epoch.samples), (&Source::Simulated, 20));
    assert_eq!(epoch.joules_per_sample(), Some(joules[1] / 20.0));
    let folder = tempfile::tempdir().unwrap();
    let (csv, json) = (folder.path().join("history.csv"), folder.path().join("history.jsonl"));
    history.to_csv(&csv).unwrap();
    let text = fs::read_to_string(&csv).unwrap();
    for (line, joules) in
        text.lines().zip(["joules".to_owned()].into_iter().chain(joules.iter().map(f64::to_string)))
    {
        assert!(line.ends_with(&format!(",{joules}")), "{line}");
    }
    assert_eq!(LearningCurves::from_csv(&csv).unwrap().names().last(), Some("joules"));
    assert_eq!(LearningCurves::from(&history).names().last(), Some("joules"));
    history.to_json_lines(&json).unwrap();
    let text = fs::read_to_string(&json).unwrap();
    let first: serde_json::Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    assert!(text.contains(&format!("\"joules\":{},", joules[0])), "{first}");
    assert_eq!(first["energy"]["source"], "simulated");
}

#[test]
fn an_energy_that_is_not_known_has_its_reason() {
    let folder = tempfile::tempdir().unwrap();
    let json = folder.path().join("history.jsonl");
    history().to_json_lines(&json).unwrap();
    let text = fs::read_to_string(&json).unwrap();
    let first: serde_json::Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    assert!(first["energy"]["joules"].is_null(), "{first}");
    assert!(first["energy"].to_string().contains("this is a test"), "{first}");
}

#[test]
fn json_lines_have_an_object_for_each_epoch() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("history.jsonl");
    let mut history = history();
    history.epochs[1].loss = f64::NAN;
    history.epochs[2].validation = None;
    history.to_json_lines(&path).unwrap();
    let text = fs::read_to_string(&path).unwrap();
    assert_eq!(text.lines().count(), 3);
    for (line, epoch) in text.lines().zip(&history.epochs) {
        assert!(serde_json::from_str::<serde_json::Value>(line).unwrap().is_object(), "{line}");
        // Read by the standard library, which rounds correctly.
        let number = |name: &str| {
            let (_, after) = line.split_once(&format!("\"{name}\":"))?;
            after.split([',', '}']).next()?.parse::<f64>().ok()
        };
        assert_eq!(number("epoch"), Some(epoch.epoch as f64));
        assert_eq!(number("loss"), Some(epoch.loss).filter(|loss| loss.is_finite()));
        assert_eq!(number("accuracy"), Some(epoch.accuracy));
        assert_eq!(number("correct"), Some(epoch.correct as f64));
        assert_eq!(number("samples_per_second"), Some(epoch.samples_per_second));
        assert_eq!(number("validation_loss"), epoch.validation.map(|validation| validation.loss));
        assert_eq!(number("validation_accuracy"), epoch.validation.map(|validation| validation.accuracy));
        assert_eq!(
            number("validation_correct"),
            epoch.validation.map(|validation| validation.correct as f64)
        );
    }
    assert!(text.lines().nth(1).unwrap().contains("\"loss\":null"));
    assert!(history.to_json_lines(folder.path()).is_err());
}

/// Prints the scalars of a folder, as TensorBoard reads them: tag, step, value.
const READER: &str = "
import sys
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
events = EventAccumulator(sys.argv[1]).Reload()
for tag in sorted(events.Tags()['scalars']):
    for scalar in events.Scalars(tag):
        print(tag, scalar.step, repr(scalar.value))
";

fn python(program: &str, argument: &Path) -> Option<std::process::Output> {
    Command::new("python3").args(["-c", program]).arg(argument).output().ok()
}

#[test]
fn tensorboard_reads_the_scalars() {
    let is_there = python("import tensorboard", Path::new("")).is_some_and(|output| output.status.success());
    if !is_there {
        eprintln!("skipped: python3 has no module tensorboard");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let history = history();
    let path = history.to_tensorboard(folder.path().join("run")).unwrap();
    let output = python(READER, path.parent().unwrap()).unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let printed = String::from_utf8(output.stdout).unwrap();
    let mut found: Vec<(String, u64, f32)> = Vec::new();
    for line in printed.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        found.push((words[0].to_owned(), words[1].parse().unwrap(), words[2].parse::<f64>().unwrap() as f32));
    }
    let mut expected = Vec::new();
    for epoch in &history.epochs {
        let validation = epoch.validation.unwrap();
        let scalars = [
            ("accuracy/train", epoch.accuracy),
            ("accuracy/validation", validation.accuracy),
            ("loss/train", epoch.loss),
            ("loss/validation", validation.loss),
            ("samples_per_second", epoch.samples_per_second),
        ];
        expected.extend(scalars.map(|(tag, value)| (tag.to_owned(), epoch.epoch as u64, value as f32)));
    }
    expected.sort_by(|a, b| (&a.0, a.1).cmp(&(&b.0, b.1)));
    assert_eq!(found, expected);
}

#[test]
fn event_files_have_names_of_their_own() {
    let folder = tempfile::tempdir().unwrap();
    let files = [(); 3].map(|()| TensorBoard::create(folder.path()).unwrap());
    let names: std::collections::BTreeSet<_> = files.iter().map(TensorBoard::path).collect();
    assert_eq!(names.len(), 3);
    assert!(
        names.iter().all(|path| path.is_file() && path.to_str().unwrap().contains("/events.out.tfevents."))
    );
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    assert!(TensorBoard::create(&file).unwrap_err().to_string().contains(file.to_str().unwrap()));
}

#[test]
fn a_plot_has_a_panel_for_each_result() {
    let folder = tempfile::tempdir().unwrap();
    let (csv, svg) = (folder.path().join("history.csv"), folder.path().join("history.svg"));
    let history = history();
    history.plot_svg(&svg).unwrap();
    history.to_csv(&csv).unwrap();
    let text = fs::read_to_string(&svg).unwrap();
    for part in [">loss<", ">accuracy<", ">samples per second<", ">epoch<", ">training<", ">validation<"] {
        assert!(text.contains(part), "{part}");
    }
    // Loss and accuracy have two lines each, of three points.
    assert_eq!(text.matches("<polyline").count(), 5);
    let curves = LearningCurves::from_csv(&csv).unwrap();
    assert_eq!(curves.steps(), 3);
    assert_eq!(curves.names().last(), Some("validation_accuracy"));
    // Speeds are rounded in CSV.
    assert_eq!(curves.svg().matches("<polyline").count(), 5);
}

#[test]
fn an_accuracy_that_was_not_counted_is_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let (csv, json) = (folder.path().join("history.csv"), folder.path().join("history.jsonl"));
    let mut history = history();
    for epoch in &mut history.epochs {
        epoch.accuracy = f64::NAN;
        epoch.samples_per_second = 8.0;
        epoch.validation = Some(Evaluation { loss: 0.5, accuracy: f64::NAN, correct: 0 });
    }
    history.epochs[0].loss = 0.25;
    history.to_csv(&csv).unwrap();
    assert_eq!(fs::read_to_string(&csv).unwrap().lines().nth(1), Some("1,0.25,,8.0,0.5,"));
    history.to_json_lines(&json).unwrap();
    assert!(fs::read_to_string(&json).unwrap().contains("\"accuracy\":null"));
    let curves = LearningCurves::from(&history);
    assert_eq!(curves.names().collect::<Vec<_>>(), ["loss", "samples_per_second", "validation_loss"]);
    assert_eq!(LearningCurves::from_csv(&csv).unwrap().steps(), 3);
}

#[test]
fn tensorboard_shows_the_last_of_two_files() {
    let is_there = python("import tensorboard", Path::new("")).is_some_and(|output| output.status.success());
    if !is_there {
        eprintln!("skipped: python3 has no module tensorboard");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let mut first = TensorBoard::create(folder.path()).unwrap();
    let mut second = TensorBoard::restart(folder.path(), 3).unwrap();
    for step in 1..6 {
        first.scalar("loss", step, step as f64).unwrap();
    }
    for step in 3..5 {
        second.scalar("loss", step, 10.0 * step as f64).unwrap();
    }
    let output = python(READER, folder.path()).unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let printed = String::from_utf8(output.stdout).unwrap();
    assert_eq!(printed, "loss 1 1.0\nloss 2 2.0\nloss 3 30.0\nloss 4 40.0\n");
}

#[test]
fn wrong_tables_are_named_with_the_place() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("table.csv");
    let error = |text: &str| {
        fs::write(&path, text).unwrap();
        LearningCurves::from_csv(&path).unwrap_err().to_string()
    };
    for (text, parts) in [
        ("", ["byte 0", "a line of column names"]),
        ("epoch\n1\n", ["byte 0", "1 columns"]),
        ("epoch,loss\n1,2\n2,x\n", ["byte 15", "column `loss` of line 3"]),
        ("epoch,loss\n1,2\n2\n", ["byte 15", "expected 2 columns, found 1"]),
    ] {
        let error = error(text);
        let file = path.to_str().unwrap();
        assert!(error.contains(file) && parts.iter().all(|part| error.contains(part)), "{error}");
    }
    fs::write(&path, "step,loss\n1,\n2,NaN\n3,0.5\n").unwrap();
    let svg = LearningCurves::from_csv(&path).unwrap().svg();
    assert_eq!((svg.matches("<polyline").count(), svg.matches("<circle").count()), (1, 1));
}
