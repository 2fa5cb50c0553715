//! A trace that a crash cuts short can be opened, and has all lines written before.

use std::fs;
use std::os::unix::process::ExitStatusExt;

use dahl_core::{Machine, Result, Runtime};

use crate::trace::edges::assert_times;
use crate::trace::file::Folder;
use crate::trace::files::{child, is_child};
use crate::trace::kernels::{M, step};

/// The number of tasks that have ended, and are in the file, when the program is aborted.
const TASKS: usize = 300;

/// Runs some tasks, waits until the file has them, and aborts while more are in flight.
fn run_and_abort() -> Result<()> {
    let path = std::env::var_os("DAHL_TRACE").expect("the parent set it");
    let rt = Runtime::builder().cpu_workers(2).build()?;
    let mut x: M<'static> = rt.zeros([2, 2])?;
    for _ in 0..TASKS {
        step(&mut x).submit()?;
    }
    rt.wait()?;
    while fs::read_to_string(&path).expect("the trace").matches("\"cat\":\"task\"").count() < TASKS {
        std::thread::yield_now();
    }
    for _ in 0..TASKS {
        step(&mut x).submit()?;
    }
    std::process::abort();
}

#[test]
fn a_program_that_is_aborted_leaves_what_had_been_written() -> Result<()> {
    let test = "trace::crash::a_program_that_is_aborted_leaves_what_had_been_written";
    if is_child(test) {
        return run_and_abort();
    }
    let folder = Folder::new();
    let output = child(test, &folder.path()).output().expect("it runs");
    assert_eq!(output.status.signal(), Some(6), "it was aborted: {output:?}");
    let file = folder.read(); // each line is whole
    assert!(!file.is_whole && file.end().is_none());
    assert_eq!(
        file.about().program,
        std::env::current_exe().expect("this program").file_name().expect("a name").to_string_lossy()
    );
    let tasks = file.tasks();
    assert!(tasks.len() >= TASKS, "{} tasks", tasks.len());
    for (place, (task, _)) in tasks.iter().enumerate() {
        let before: Vec<u64> = (place as u64).checked_sub(1).into_iter().collect();
        assert_eq!((task.task, &task.after), (place as u64, &before));
    }
    assert_times(&file);
    Ok(())
}

#[test]
fn a_simulation_that_is_aborted_leaves_what_had_been_written() -> Result<()> {
    let test = "trace::crash::a_simulation_that_is_aborted_leaves_what_had_been_written";
    if is_child(test) {
        let rt = Runtime::builder().cpu_workers(1).virtual_machine(Machine::default()).build()?;
        let mut x: M<'static> = rt.zeros([2, 2])?;
        for _ in 0..TASKS {
            step(&mut x).submit()?;
        }
        rt.wait()?; // at least a step for each task
        std::process::abort();
    }
    let folder = Folder::new();
    let output = child(test, &folder.path()).output().expect("it runs");
    assert_eq!(output.status.signal(), Some(6), "it was aborted: {output:?}");
    let file = folder.read();
    assert!(!file.is_whole);
    let tasks = file.tasks().len();
    assert!((200..TASKS).contains(&tasks), "what 256 steps did is there, the last steps are not: {tasks}");
    assert_times(&file);
    Ok(())
}
