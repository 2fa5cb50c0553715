//! Several concurrent writers: threads, processes, and runtimes in one thread.

use std::path::PathBuf;
use std::process::Command;
use std::thread;

use dahl_core::Result;

use crate::perf::program::{DOUBLE, FILE, count, file, files, run, simulated};

/// Set for a process that another one has started; the value is the folder.
const FOLDER: &str = "DAHL_TEST_OF_WRITERS";
const WRITERS: usize = 6;
const ROUNDS: usize = 5;

fn store_rounds(folder: &std::path::Path) -> Result<()> {
    for round in 0..ROUNDS {
        let rt = simulated().performance_dir(folder).build()?;
        run(&rt, &DOUBLE, 100, 2, Some(round % 2))?;
        rt.save_performance_models()?;
        run(&rt, &DOUBLE, 200, 1, Some(0))?;
        assert_eq!(rt.performance_warnings(), Vec::<String>::new());
    }
    Ok(())
}

/// Expects the measurements of every writer, and nothing else.
fn expect_all(folder: &std::path::Path) -> Result<()> {
    let rt = simulated().performance_dir(folder).build()?;
    assert_eq!((count(&rt), rt.performance_warnings()), ((3 * WRITERS * ROUNDS) as u64, vec![]));
    assert_eq!(files(folder).len(), 3, "{:?}", files(folder));
    assert!(file(folder, FILE).exists());
    Ok(())
}

#[test]
fn threads_lose_nothing() -> Result<()> {
    let folder = tempfile::tempdir().expect("a folder");
    thread::scope(|scope| {
        let writers: Vec<_> = (0..WRITERS).map(|_| scope.spawn(|| store_rounds(folder.path()))).collect();
        writers.into_iter().try_for_each(|writer| writer.join().expect("no writer panics"))
    })?;
    expect_all(folder.path())
}

#[test]
fn processes_lose_nothing() -> Result<()> {
    if let Some(folder) = std::env::var_os(FOLDER) {
        return store_rounds(&PathBuf::from(folder));
    }
    let folder = tempfile::tempdir().expect("a folder");
    let program = std::env::current_exe().expect("this program");
    let start = |_| {
        let mut command = Command::new(&program);
        command.args(["--exact", "perf::writers::processes_lose_nothing"]).env(FOLDER, folder.path());
        command.stdout(std::process::Stdio::null()).spawn().expect("it can be started")
    };
    let writers: Vec<_> = (0..WRITERS).map(start).collect();
    for mut writer in writers {
        assert!(writer.wait().expect("it ends").success());
    }
    expect_all(folder.path())
}

#[test]
fn runtimes_that_live_together_lose_nothing() -> Result<()> {
    let folder = tempfile::tempdir().expect("a folder");
    let stored = || simulated().performance_dir(folder.path()).build();
    let (first, second) = (stored()?, stored()?);
    run(&first, &DOUBLE, 100, 2, Some(0))?;
    run(&second, &DOUBLE, 100, 3, Some(0))?;
    drop(first);
    drop(second);
    assert_eq!(count(&stored()?), 5);
    Ok(())
}
