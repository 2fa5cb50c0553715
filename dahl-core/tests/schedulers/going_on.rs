//! A worker goes on with what its own task has made ready, if its scheduler lets it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use dahl_core::{ReadyTask, Result, Runtime, Scheduler};

use crate::graph::task;

/// Hands out tasks once it is opened, to workers alone, and counts what it is given.
struct Counting {
    lets_go_on: bool,
    seen: Arc<Seen>,
    tasks: Mutex<Vec<ReadyTask>>,
}

#[derive(Default)]
struct Seen {
    is_open: AtomicBool,
    pushed: AtomicUsize,
}

impl Scheduler for Counting {
    fn name(&self) -> &'static str {
        "counting"
    }

    fn push(&self, task: ReadyTask, _: Option<usize>) {
        self.seen.pushed.fetch_add(1, Ordering::Relaxed);
        self.tasks.lock().unwrap_or_else(PoisonError::into_inner).push(task);
    }

    fn pop(&self, worker: Option<usize>) -> Option<ReadyTask> {
        worker.filter(|_| self.seen.is_open.load(Ordering::Acquire))?;
        self.tasks.lock().unwrap_or_else(PoisonError::into_inner).pop()
    }

    fn lets_workers_go_on(&self) -> bool {
        self.lets_go_on
    }
}

/// How many tasks the scheduler is given of a chain of 200, and of one more that wakes a worker.
fn pushed_of_a_chain(lets_go_on: bool) -> Result<usize> {
    let seen = Arc::new(Seen::default());
    let scheduler = Counting { lets_go_on, seen: Arc::clone(&seen), tasks: Mutex::default() };
    let rt = Runtime::builder().cpu_workers(2).custom_scheduler(scheduler).build()?;
    let mut x = rt.from_vec([1], vec![1])?;
    let mut other = rt.zeros([1])?;
    (0..200).try_for_each(|_| task(0, &mut x).submit())?;
    seen.is_open.store(true, Ordering::Release);
    task(0, &mut other).submit()?;
    rt.wait()?;
    let expected = (0..200).fold(1_i64, |x, _| x.wrapping_mul(3).wrapping_add(1));
    assert_eq!(x.to_vec()?, [expected]);
    Ok(seen.pushed.load(Ordering::Relaxed))
}

#[test]
fn a_chain_stays_with_its_worker_for_64_tasks() -> Result<()> {
    // The first, each that comes after 64 with which the worker went on, and the other one.
    assert_eq!(pushed_of_a_chain(true)?, 1 + 3 + 1);
    assert_eq!(pushed_of_a_chain(false)?, 201);
    Ok(())
}
