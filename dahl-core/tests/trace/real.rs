//! Traces of real time: threads that submit, and the host that helps.

use std::collections::HashSet;
use std::fs;
use std::sync::Barrier;
use std::thread;

use dahl_core::{Result, Runtime};

use crate::trace::edges::assert_times;
use crate::trace::file::Folder;
use crate::trace::kernels::{M, join, step};

#[test]
fn threads_that_submit_at_once_are_in_one_trace() -> Result<()> {
    const THREADS: usize = 3;
    const ROUNDS: usize = 200;
    let folder = Folder::new();
    let rt = Runtime::builder().cpu_workers(2).trace(folder.path()).build()?;
    let mut shared: M<'static> = rt.zeros([2, 2])?;
    step(&mut shared).submit()?; // 0
    let start = Barrier::new(THREADS);
    std::thread::scope(|scope| {
        let submit = || -> Result<()> {
            let mut own: M<'static> = rt.zeros([2, 2])?;
            start.wait();
            for _ in 0..ROUNDS {
                join(&shared, &mut own).submit()?;
            }
            Ok(())
        };
        let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(submit)).collect();
        threads.into_iter().try_for_each(|thread| thread.join().expect("nothing panics"))
    })?;
    step(&mut shared).submit()?; // the last
    drop(rt);
    let file = folder.read();
    assert_times(&file);
    let tasks = file.tasks();
    assert_eq!(tasks.len(), THREADS * ROUNDS + 2);
    let last = tasks[tasks.len() - 1].0;
    assert_eq!(last.after, (1..=(THREADS * ROUNDS) as u64).collect::<Vec<_>>(), "all that read it");
    // The tasks of each thread are in one row.
    let mut rows: HashSet<u64> = HashSet::new();
    for (task, _) in &tasks[1..tasks.len() - 1] {
        let own: Vec<u64> = task.after.iter().copied().filter(|&before| before != 0).collect();
        assert!(task.after.contains(&0) && own.len() <= 1, "{task:?}");
        match own.first() {
            Some(before) => {
                let of = |number: u64| tasks[number as usize].0.arrays[1].array;
                assert_eq!(of(*before), task.arrays[1].array);
            }
            None => assert!(rows.insert(task.arrays[1].array), "{task:?}"),
        }
    }
    assert_eq!(rows.len(), THREADS);
    Ok(())
}

#[test]
fn each_task_has_one_slice_on_the_thread_that_ran_it() -> Result<()> {
    let folder = Folder::new();
    // So few tasks may be in flight that the submitting thread helps.
    let rt = Runtime::builder().cpu_workers(1).tasks_in_flight(2).trace(folder.path()).build()?;
    let mut arrays: Vec<M<'static>> = (0..4).map(|_| rt.zeros([2, 2])).collect::<Result<_>>()?;
    for _ in 0..500 {
        arrays.iter_mut().try_for_each(|x| step(x).submit())?;
    }
    drop(rt);
    let file = folder.read();
    assert_times(&file);
    let tasks = file.tasks();
    let numbers: Vec<u64> = tasks.iter().map(|(task, _)| task.task).collect();
    assert_eq!(numbers, (0..2000).collect::<Vec<_>>());
    let known: HashSet<(u32, u32)> = file.workers().iter().map(|&(pid, tid, ..)| (pid, tid)).collect();
    assert!(tasks.iter().all(|(_, slice)| known.contains(&(slice.pid, slice.tid))));
    assert!(file.idle().iter().all(|(_, slice)| slice.tid == 1), "nobody asks why the host ran none");
    for (idle, slice) in file.idle() {
        assert!(idle.before.is_some() || slice.ts + slice.dur >= file.end().expect("an end").end_us - 0.001);
    }
    Ok(())
}

/// A task drops its runtime while one of its arrays is leaked: shared state lives on, the trace does not.
#[test]
fn a_runtime_that_a_task_drops_leaves_a_whole_trace() -> Result<()> {
    let folder = Folder::new();
    let rt = Runtime::builder().cpu_workers(2).trace(folder.path()).build()?;
    let mut x: M<'static> = rt.zeros([2, 2])?;
    step(&mut x).callback(move |_| drop(rt)).submit()?;
    std::mem::forget(x);
    while !fs::read_to_string(folder.path()).expect("the trace").ends_with("\n]\n") {
        thread::yield_now();
    }
    assert_eq!(folder.read().tasks().len(), 1);
    Ok(())
}
