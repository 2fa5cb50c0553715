//! Codelets whose cost is known, as `#[codelet]` would write them.

use dahl_core::__private::{Kernel, Parameter, Views};
use dahl_core::{AccessMode, Codelet, ElementType, Failure, Result, Task, Vector};

const I64: ElementType = ElementType::of::<i64>();

pub(crate) type V<'m> = Vector<'m, i64>;

/// `x = 2 x + 1`; moves the bytes of `x`.
static STEP: Codelet = Codelet::new("step", module_path!(), 1)
    .parameters(&[Parameter::new("x", AccessMode::RW, I64)])
    .kernels(&[Some(Kernel::new("rust", |views: &mut Views<'_>| {
        views.slice_mut::<i64>().iter_mut().for_each(|x| *x = x.wrapping_mul(2).wrapping_add(1));
    }))]);

/// `y = 3 y + x`; eight operations for each element.
static JOIN: Codelet = Codelet::new("join", module_path!(), 2)
    .parameters(&[Parameter::new("x", AccessMode::R, I64), Parameter::new("y", AccessMode::RW, I64)])
    .kernels(&[Some(Kernel::new("rust", |views: &mut Views<'_>| {
        let (x, y) = (views.slice::<i64>(), views.slice_mut::<i64>());
        y.iter_mut().zip(x).for_each(|(y, x)| *y = y.wrapping_mul(3).wrapping_add(*x));
    }))])
    .flops(|operands| 8.0 * operands.extents().len() as f64);

/// `out = value`; panics at 13.
static FILL: Codelet = Codelet::new("fill", module_path!(), 3)
    .parameters(&[Parameter::new("out", AccessMode::W, I64)])
    .arguments(&["value"])
    .kernels(&[Some(Kernel::new("rust", |views: &mut Views<'_>| {
        let value: i64 = views.argument();
        assert!(value != 13, "unlucky");
        views.slice_mut::<i64>().fill(value);
    }))]);

/// On a worker, or where the scheduler chooses.
fn submit(task: Task<'_>, worker: Option<usize>) -> Result<()> {
    match worker {
        Some(worker) => task.on(worker).submit(),
        None => task.submit(),
    }
}

#[track_caller]
pub(crate) fn step(x: &mut V<'_>, worker: impl Into<Option<usize>>) -> Result<()> {
    let mut task = Task::new(&STEP);
    task.write(x);
    submit(task, worker.into())
}

/// [`step`], and a callback when it has ended.
pub(crate) fn step_then(
    x: &mut V<'_>,
    callback: impl FnOnce(Option<&Failure>) + Send + 'static,
) -> Result<()> {
    let mut task = Task::new(&STEP);
    task.write(x);
    task.callback(callback).submit()
}

#[track_caller]
pub(crate) fn join(x: &V<'_>, y: &mut V<'_>, worker: impl Into<Option<usize>>) -> Result<()> {
    let mut task = Task::new(&JOIN);
    task.read(x);
    task.write(y);
    submit(task, worker.into())
}

#[track_caller]
pub(crate) fn fill(out: &mut V<'_>, value: i64, worker: impl Into<Option<usize>>) -> Result<()> {
    let mut task = Task::new(&FILL);
    task.write(out);
    task.argument(value);
    submit(task, worker.into())
}
