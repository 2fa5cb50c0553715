//! The statistics that are printed or written when a run ends, in a process of its own.

use std::path::Path;
use std::process::{Command, Output};

use dahl_core::{Error, ErrorKind, Result, Runtime};
use expect_test::{Expect, expect};
use serde_json::Value;

use crate::statistics::kernels::{V, fill, step};
use crate::statistics::{LEN, machine, real};

/// Set for a process that a test has started: the name of its program.
const PROGRAM: &str = "DAHL_TEST_OF_STATISTICS";

/// The programs of the processes.
fn program(name: &str) -> Result<()> {
    match name {
        "devices" => devices(),
        "nothing" => machine(1).build().map(drop),
        "failure" => failure(),
        "panic" => panic_with(machine(1).build()?),
        "several" => several(),
        "real" => with_team(),
        "called" => machine(1).name("called").statistics(true).build().map(drop),
        "silent" => machine(1).statistics(false).build().map(drop),
        other => panic!("no program {other}"),
    }
}

fn devices() -> Result<()> {
    let rt = machine(2).name("training").memory_limit_mb(64).build()?;
    let arena = rt.arena();
    let (mut x, mut y): (V<'_>, V<'_>) = (arena.zeros([LEN])?, arena.zeros([2 * LEN])?);
    for _ in 0..3 {
        step(&mut x, 2)?;
    }
    step(&mut x, 1)?;
    fill(&mut y, 1, 0)?;
    step(&mut y, 0)?;
    Ok(())
}

fn failure() -> Result<()> {
    let rt = machine(1).build()?;
    let mut x = rt.zeros([LEN])?;
    fill(&mut x, 13, 0)?;
    step(&mut x, 0)?;
    let _ = rt.wait(); // it is printed when the runtime is dropped
    Ok(())
}

fn panic_with(rt: Runtime) -> Result<()> {
    let mut x = rt.zeros([LEN])?;
    step(&mut x, 0)?;
    panic!("the program itself");
}

fn several() -> Result<()> {
    let runtimes = [machine(1).build()?, machine(1).name("second").build()?, machine(1).build()?];
    for (index, rt) in runtimes.iter().enumerate() {
        let mut x = rt.zeros([LEN])?;
        (0..=index).try_for_each(|_| step(&mut x, 0))?;
    }
    Ok(())
}

fn with_team() -> Result<()> {
    let rt = real(2).build()?;
    let mut x = rt.zeros([LEN])?;
    (0..10).try_for_each(|_| step(&mut x, 1))
}

/// The one test that a process of these tests runs.
#[test]
fn process() -> Result<()> {
    std::env::var(PROGRAM).map_or(Ok(()), |name| program(&name))
}

/// Runs a program, with `DAHL_STATS` set if `setting` is given.
fn run(name: &str, setting: Option<&str>, folder: &Path) -> Output {
    let program = std::env::current_exe().expect("this program");
    let mut command = Command::new(program);
    command
        .args(["--exact", "statistics::printed::process", "--nocapture"])
        .env(PROGRAM, name)
        .current_dir(folder);
    command.env_remove("DAHL_STATS").envs(setting.map(|value| ("DAHL_STATS", value)));
    command.output().expect("it can be started")
}

/// The output of the program, without paths and line numbers.
fn printed(name: &str, setting: Option<&str>) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    let output = run(name, setting, folder.path());
    let text = String::from_utf8(output.stderr).expect("text");
    let lines = text.lines().skip_while(|line| !line.contains("statistics of"));
    lines.map(|line| format!("{}\n", without_place(line))).collect()
}

/// `line` with `FILE` for each place in this crate's tests.
fn without_place(line: &str) -> String {
    let Some(begin) = line.find("dahl-core/tests").or_else(|| line.find("tests/statistics")) else {
        return line.trim_end().to_owned();
    };
    let place = &line[begin..];
    let end = place.find(|character: char| character.is_whitespace()).unwrap_or(place.len());
    format!("{}FILE{}", &line[..begin], &place[end..]).trim_end().to_owned()
}

fn expect_printed(name: &str, expected: &Expect) {
    expected.assert_eq(&printed(name, Some("1")));
}

#[test]
fn tables_show_workers_codelets_transfers_and_memory() {
    expect_printed(
        "devices",
        &expect![[r#"
            dahl: statistics of training, built at FILE
              virtual time 32.00 us, scheduler ws, 6 tasks: 6 completed, 0 failed, 0 cancelled; 2.672 mJ simulated

              worker  tasks      busy   share      idle    energy
              cpu 0       2  8.000 us  25.0 %  24.00 us  104.0 uJ
              cpu 1       1  4.000 us  12.5 %  28.00 us  68.00 uJ
              gpu         3  6.000 us  18.8 %  26.00 us  2.500 mJ

              codelet                  tasks     total  of busy  shapes      mean    median       min       max
              step (i64)                   5  14.00 us   77.8 %       -         -         -         -         -
                rust on cpu                2  8.000 us        -       2  4.000 us         -  4.000 us  4.000 us
                rust on gpu                3  6.000 us        -       1  2.000 us  2.000 us  2.000 us  2.000 us
              fill (i64), rust on cpu      1  4.000 us   22.2 %       1  4.000 us  4.000 us  4.000 us  4.000 us

              transfers    count   bytes      time   bandwidth
              host to gpu      1  1000 B  11.00 us  0.091 GB/s
              gpu to host      1  1000 B  11.00 us  0.091 GB/s

              memory  arrays  reserved       peak      limit
              host       0 B       0 B  3.000 KiB  64.00 MiB
              gpu        0 B       0 B  1.000 KiB          -

              arenas made at                               count  arrays  reserved  peak of one
              FILE      1     0 B       0 B    3.000 KiB
        "#]],
    );
}

#[test]
fn a_run_without_tasks_is_printed() {
    expect_printed(
        "nothing",
        &expect![[r#"
            dahl: statistics of runtime 1, built at FILE
              virtual time 0.000 us, scheduler ws, 0 tasks: 0 completed, 0 failed, 0 cancelled; 0.000 uJ simulated

              worker  tasks      busy  share      idle    energy
              cpu 0       0  0.000 us  0.0 %  0.000 us  0.000 uJ
              gpu         0  0.000 us  0.0 %  0.000 us  0.000 uJ

              no task has run

              memory  arrays  reserved  peak
              host       0 B       0 B   0 B
              gpu        0 B       0 B   0 B
        "#]],
    );
}

#[test]
fn failures_do_not_hide_statistics() {
    expect_printed(
        "failure",
        &expect![[r#"
            dahl: statistics of runtime 1, built at FILE
              virtual time 4.000 us, scheduler ws, 2 tasks: 0 completed, 1 failed, 1 cancelled; 240.0 uJ simulated

              worker  tasks  failed  cancelled      busy    share      idle    energy
              cpu 0       2       1          1  4.000 us  100.0 %  0.000 us  40.00 uJ
              gpu         0       -          -  0.000 us    0.0 %  4.000 us  200.0 uJ

              codelet     tasks  failed  cancelled     total  of busy  shapes  mean  median  min  max
              fill (i64)      1       1          -  4.000 us  100.0 %       -     -       -    -    -
              step (i64)      1       -          1  0.000 us    0.0 %       -     -       -    -    -

              memory  arrays  reserved       peak
              host       0 B       0 B  1.000 KiB
              gpu        0 B       0 B        0 B
        "#]],
    );
}

#[test]
fn a_panic_does_not_hide_statistics() {
    expect_printed(
        "panic",
        &expect![[r#"
            dahl: statistics of runtime 1, built at FILE
              virtual time 4.000 us, scheduler ws, 1 task: 1 completed, 0 failed, 0 cancelled; 240.0 uJ simulated

              worker  tasks      busy    share      idle    energy
              cpu 0       1  4.000 us  100.0 %  0.000 us  40.00 uJ
              gpu         0  0.000 us    0.0 %  4.000 us  200.0 uJ

              codelet                  tasks     total  of busy  shapes      mean    median       min       max
              step (i64), rust on cpu      1  4.000 us  100.0 %       1  4.000 us  4.000 us  4.000 us  4.000 us

              memory  arrays  reserved       peak
              host       0 B       0 B  1.000 KiB
              gpu        0 B       0 B        0 B
        "#]],
    );
}

#[test]
fn every_runtime_prints_its_own() {
    let text = printed("several", Some("1"));
    let headings: Vec<_> = text.lines().filter(|line| line.contains("statistics of")).collect();
    assert_eq!(
        headings,
        [
            "dahl: statistics of runtime 1, built at FILE",
            "dahl: statistics of second, built at FILE",
            "dahl: statistics of runtime 2, built at FILE",
        ]
    );
}

#[test]
fn calls_go_before_the_variable() {
    assert_eq!(printed("silent", Some("1")), "");
    assert!(printed("called", None).starts_with("dahl: statistics of called,"));
    assert!(printed("called", Some("0")).starts_with("dahl: statistics of called,"));
    for off in [None, Some("0"), Some("")] {
        assert_eq!(printed("devices", off), "", "{off:?}");
    }
}

#[test]
fn in_real_time_it_says_how_long_workers_waited() {
    let text = printed("real", Some("1"));
    let heading = text.lines().find(|line| line.trim_start().starts_with("worker")).expect("a table");
    let columns: Vec<_> = heading.split_whitespace().collect();
    let expected = ["tasks", "busy", "share", "idle", "waiting", "helping", "overhead", "first", "calls"];
    assert_eq!(columns[1..], expected);
    assert!(text.contains("10 tasks: 10 completed, 0 failed, 0 cancelled"), "{text}");
}

fn json(path: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(path).expect("the file is there")).expect("it is JSON")
}

#[test]
fn a_file_has_the_same_as_json() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("run.json");
    std::fs::write(&path, "what was there before, which is longer than nothing").expect("it can be written");
    let output = run("devices", Some("run.json"), folder.path());
    assert!(!String::from_utf8_lossy(&output.stderr).contains("statistics"), "nothing is printed");
    let statistics = json(&path);
    assert_eq!(statistics["name"], "training");
    assert_eq!(statistics["tasks"]["completed"], 6);
    assert_eq!(statistics["workers"][2]["busy_us"], 6.0);
    assert_eq!(statistics["workers"][0]["waiting_us"], Value::Null);
    assert_eq!(statistics["codelets"][0]["kernels"][0]["kernel"], "rust");
    assert_eq!(statistics["transfers"][0]["bytes"], 1000);
    assert_eq!(statistics["memory"][0]["limit_bytes"], 64 << 20);
    assert_eq!(statistics["arenas"][0]["count"], 1);
}

#[test]
fn every_runtime_has_a_file_of_its_own() {
    let folder = tempfile::tempdir().expect("a folder");
    run("several", Some("run.json"), folder.path());
    let tasks = |file: &str| json(&folder.path().join(file))["tasks"]["submitted"].clone();
    assert_eq!(["run.json", "run-2.json", "run-3.json"].map(tasks), [1, 2, 3]);
}

#[test]
fn a_file_keeps_what_it_holds_until_the_run_ends() -> Result<()> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("run.json");
    std::fs::write(&path, "earlier figures").expect("it can be written");
    let files = || std::fs::read_dir(folder.path()).expect("it is there").count();
    let rt = machine(1).statistics_file(&path).build()?;
    assert_eq!(std::fs::read_to_string(&path).expect("it is there"), "earlier figures");
    assert_eq!(files(), 1, "a crash leaves nothing beside it");
    drop(rt);
    assert_eq!(json(&path)["tasks"]["submitted"], 0);
    assert_eq!(files(), 1);
    Ok(())
}

fn refusal(result: Result<Runtime>) -> (String, String) {
    match result.as_ref().map_err(Error::kind) {
        Err(ErrorKind::Config { value, expected, .. }) => (value.clone(), expected.clone()),
        other => panic!("a refusal: {other:?}"),
    }
}

#[test]
fn a_file_that_cannot_be_written_is_an_error_at_once() {
    let (value, expected) = refusal(machine(1).statistics_file("/no/such/folder/run.json").build());
    assert_eq!(value, "/no/such/folder/run.json");
    assert!(expected.contains("No such file"), "{expected}");
}

#[test]
fn another_value_is_an_error_that_names_the_choices() {
    let folder = tempfile::tempdir().expect("a folder");
    for value in ["2", "yes", "run.txt", "no/such/folder/run.json"] {
        let output = run("devices", Some(value), folder.path());
        let text =
            String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success(), "{value}");
        for part in ["DAHL_STATS", value, "1 for tables", ".json"] {
            assert!(text.contains(part), "{value}: {text}");
        }
    }
}
