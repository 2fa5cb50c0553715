//! A worker continues with a task that its own task has made ready, if its scheduler permits it.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use dahl_core::{ReadyTask, Result, Runtime, Scheduler};

use crate::schedulers::graph::task;

/// A scheduler that gives tasks to workers alone, in the order of their pushes, once two were pushed.
struct Counting {
    lets_go_on: bool,
    pushed: Arc<AtomicUsize>,
    tasks: Mutex<VecDeque<ReadyTask>>,
}

impl Scheduler for Counting {
    fn name(&self) -> &'static str {
        "counting"
    }

    fn push(&self, task: ReadyTask, _: Option<usize>) {
        self.tasks.lock().unwrap_or_else(PoisonError::into_inner).push_back(task);
        self.pushed.fetch_add(1, Ordering::Release);
    }

    fn pop(&self, worker: Option<usize>) -> Option<ReadyTask> {
        worker.filter(|_| self.pushed.load(Ordering::Acquire) >= 2)?;
        self.tasks.lock().unwrap_or_else(PoisonError::into_inner).pop_front()
    }

    fn lets_workers_go_on(&self) -> bool {
        self.lets_go_on
    }
}

/// The number of tasks that the scheduler is given of a chain of 200, and of one more that waits for the only worker
/// meanwhile.
fn pushed_of_a_chain(lets_go_on: bool) -> Result<usize> {
    let pushed = Arc::new(AtomicUsize::new(0));
    let scheduler = Counting { lets_go_on, pushed: Arc::clone(&pushed), tasks: Mutex::default() };
    let rt = Runtime::builder().cpu_workers(1).custom_scheduler(scheduler).build()?;
    let mut x = rt.from_vec([1], vec![1])?;
    let mut other = rt.zeros([1])?;
    (0..200).try_for_each(|_| task(0, &mut x).submit())?;
    task(0, &mut other).submit()?;
    rt.wait()?;
    let expected = (0..200).fold(1_i64, |x, _| x.wrapping_mul(3).wrapping_add(1));
    assert_eq!(x.to_vec()?, [expected]);
    Ok(pushed.load(Ordering::Relaxed))
}

#[test]
fn after_64_tasks_a_chain_makes_way_for_a_task_that_waits() -> Result<()> {
    // The first, the other one, and the one that is deferred for that.
    assert_eq!(pushed_of_a_chain(true)?, 3);
    assert_eq!(pushed_of_a_chain(false)?, 201);
    Ok(())
}
