//! The stream of a program's tasks, recorded by an observer and submitted again on other arrays.

use std::sync::{Arc, Mutex, PoisonError};

use dahl_core::observer::{ArrayId, Observer, Replay, Submission, TaskDesc};
use dahl_core::{Result, Runtime};

use super::kernels::{F, M};
use super::oracle::Oracle;
use super::program::{ARRAYS, Action, COLUMNS, LEN, ROWS, TOTALS};
use super::world::{World, bits, run, with_scheduler};

/// The values of the arrays and of the totals; nothing where a task failed.
pub(crate) type Contents = (Vec<Option<Vec<i64>>>, Vec<Option<Vec<u32>>>);

/// A program that has run.
pub(crate) struct Stream {
    tasks: Vec<TaskDesc>,
    arrays: Vec<ArrayId>,
    totals: Vec<ArrayId>,
    pub(crate) held: Contents,
}

/// Records the submitted tasks.
#[derive(Default)]
struct Keeps(Mutex<Vec<TaskDesc>>);

impl Observer for Keeps {
    fn submitted(&self, task: &Submission<'_>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(task.desc().clone());
    }
}

/// Whether an action only submits tasks on the program's own whole arrays: a stream contains neither actions of the
/// host between tasks nor partitions.
fn is_of_tasks(action: &Action) -> bool {
    use Action::*;
    matches!(
        action,
        Mix(..)
            | Map(..)
            | MixSelf(..)
            | MapSelf(..)
            | Scale(..)
            | Fill(..)
            | AddUp(..)
            | AddAny(..)
            | Reduce(..)
            | FillTotal(..)
            | Wait
    )
}

fn arrays(rt: &Runtime) -> Result<([M<'static>; ARRAYS], [F<'static>; TOTALS])> {
    let array =
        |start: usize| rt.from_vec([ROWS, COLUMNS], (0..LEN).map(|i| (start * 100 + i) as i64).collect());
    let total =
        |start: usize| rt.from_vec([ROWS, COLUMNS], (0..LEN).map(|i| (start + i) as f32 / 3.0).collect());
    Ok(([array(0)?, array(1)?, array(2)?, array(3)?], [total(0)?, total(1)?]))
}

fn contents(arrays: &[M<'_>], totals: &[F<'_>]) -> Contents {
    let held = arrays.iter().map(|array| array.to_vec().ok()).collect();
    (held, totals.iter().map(|total| bits(total).ok()).collect())
}

/// Runs the actions of a program that are only tasks, and records them.
pub(crate) fn record(program: &[Action], workers: usize, scheduler: &str) -> Result<Stream> {
    let keeps = Arc::new(Keeps::default());
    let observer: Arc<dyn Observer> = keeps.clone();
    let builder = Runtime::builder().cpu_workers(workers).cuda_devices(0).observer(observer);
    let rt = with_scheduler(builder, scheduler).build()?;
    let (arrays, totals) = arrays(&rt)?;
    let mut world = World { rt: &rt, arrays, totals, may_lose: false };
    let mut oracle = Oracle::new();
    for action in program.iter().filter(|action| is_of_tasks(action)) {
        run(action, &mut world, &mut oracle)?;
    }
    let held = contents(&world.arrays, &world.totals);
    while rt.wait().is_err() {}
    let tasks = std::mem::take(&mut *keeps.0.lock().unwrap_or_else(PoisonError::into_inner));
    let arrays = world.arrays.iter().map(|array| array.id()).collect();
    let totals = world.totals.iter().map(|total| total.id()).collect();
    Ok(Stream { tasks, arrays, totals, held })
}

/// Submits a stream on new arrays of another runtime; returns their final values.
pub(crate) fn replay(stream: &Stream, workers: usize) -> Result<Contents> {
    let rt = Runtime::builder().cpu_workers(workers).cuda_devices(0).build()?;
    let _others: M<'_> = rt.zeros([ROWS, COLUMNS])?; // so that no array has the id of the one whose place it takes
    let (mut arrays, mut totals) = arrays(&rt)?;
    let mut replay = Replay::new();
    for (array, &id) in arrays.iter_mut().zip(&stream.arrays) {
        assert_ne!(array.id(), id);
        replay.bind(id, array);
    }
    for (total, &id) in totals.iter_mut().zip(&stream.totals) {
        replay.bind(id, total);
    }
    stream.tasks.iter().try_for_each(|task| replay.submit(task))?;
    drop(replay);
    let held = contents(&arrays, &totals);
    while rt.wait().is_err() {}
    Ok(held)
}
