//! The codelets of the programs. Their kernels yield to other threads between elements, so that a kernel which runs
//! when it should not changes the values.

use std::panic::resume_unwind;

use dahl_core::__private::{Accumulator, InPlace, Kernel, Parameter, Views};
use dahl_core::ndarray::Ix2;
use dahl_core::{AccessMode, Array, Codelet, ElementType, Matrix, Reduction, Result, Task};
use shuttle::thread::yield_now;

const I64: ElementType = ElementType::of::<i64>();

/// The argument with which [`SCALE`] fails.
pub(crate) const UNLUCKY: i64 = 13;

pub(crate) type M<'m> = Matrix<'m, i64>;

/// `x = 5 x + add`; slices, so that strided parts are packed.
static SCALE: Codelet = Codelet::new("scale", module_path!(), 1)
    .parameters(&[Parameter::new("x", AccessMode::RW, I64)])
    .arguments(&["add"])
    .kernels(&[Some(Kernel::new("rust", |views| {
        let add: i64 = views.argument();
        for x in views.slice_mut::<i64>() {
            let before = *x;
            yield_now();
            *x = 5 * before + add;
        }
        if add == UNLUCKY {
            resume_unwind(Box::new("unlucky")); // a panic without a message on the screen
        }
    }))]);

/// `out = value`.
static FILL: Codelet = Codelet::new("fill", module_path!(), 2)
    .parameters(&[Parameter::new("out", AccessMode::W, I64)])
    .arguments(&["value"])
    .kernels(&[Some(Kernel::new("rust", |views| {
        let value: i64 = views.argument();
        for out in views.view_mut::<i64, Ix2>() {
            yield_now();
            *out = value;
        }
    }))]);

/// `out = 3 a + b`; strided views.
static MIX: Codelet = Codelet::new("mix", module_path!(), 3)
    .parameters(&[
        Parameter::new("a", AccessMode::R, I64),
        Parameter::new("b", AccessMode::R, I64),
        Parameter::new("out", AccessMode::W, I64),
    ])
    .kernels(&[Some(Kernel::new("rust", |views| {
        let (a, b) = (views.view::<i64, Ix2>(), views.view::<i64, Ix2>());
        let mut out = views.view_mut::<i64, Ix2>();
        for (i, out) in out.indexed_iter_mut() {
            let a = a[i];
            yield_now();
            *out = 3 * a + b[i];
        }
    }))])
    .in_place(InPlace::rename(0));

fn add_up_kernel(views: &mut Views<'_>) {
    let (x, out) = (views.slice::<i64>(), views.slice_mut::<i64>());
    for (out, x) in out.iter_mut().zip(x) {
        let before = *out;
        yield_now();
        *out = before + x;
    }
}

/// `out += x`, a reduction.
static ADD_UP: Codelet = Codelet::new("add_up", module_path!(), 4)
    .parameters(&[
        Parameter::new("x", AccessMode::R, I64),
        Parameter::new("out", AccessMode::REDUX(Reduction::Sum), I64)
            .accumulates_in(Accumulator::same::<i64>(Reduction::Sum)),
    ])
    .kernels(&[Some(Kernel::new("rust", add_up_kernel))]);

/// `out += x`, in any order.
static ADD_ANY: Codelet = Codelet::new("add_any", module_path!(), 5)
    .parameters(&[Parameter::new("x", AccessMode::R, I64), Parameter::new("out", AccessMode::COMMUTE, I64)])
    .kernels(&[Some(Kernel::new("rust", add_up_kernel))]);

/// `first += x, second += x`, in any order on both.
static ADD_BOTH: Codelet = Codelet::new("add_both", module_path!(), 6)
    .parameters(&[
        Parameter::new("x", AccessMode::R, I64),
        Parameter::new("first", AccessMode::COMMUTE, I64),
        Parameter::new("second", AccessMode::COMMUTE, I64),
    ])
    .kernels(&[Some(Kernel::new("rust", |views| {
        let (x, first, second) = (views.slice::<i64>(), views.slice_mut::<i64>(), views.slice_mut::<i64>());
        for i in 0..x.len() {
            let before = (first[i], second[i]);
            yield_now();
            (first[i], second[i]) = (before.0 + x[i], before.1 + x[i]);
        }
    }))]);

pub(crate) fn scale(x: &mut M<'_>, add: i64, worker: Option<usize>) -> Result<()> {
    let mut task = Task::new(&SCALE);
    task.write(x);
    task.argument(add);
    match worker {
        Some(worker) => task.on(worker).submit(),
        None => task.submit(),
    }
}

pub(crate) fn fill(out: &mut M<'_>, value: i64) -> Result<()> {
    let mut task = Task::new(&FILL);
    task.write(out);
    task.argument(value);
    task.submit()
}

pub(crate) fn mix(a: &M<'_>, b: &M<'_>, out: &mut M<'_>) -> Result<()> {
    let mut task = Task::new(&MIX);
    task.read(a);
    task.read(b);
    task.write(out);
    task.require_same_shapes();
    task.submit()
}

pub(crate) fn mix_self(target: &mut M<'_>, b: &M<'_>) -> Result<()> {
    let mut task = Task::new_in_place(&MIX);
    task.write(target);
    task.read(b);
    task.submit()
}

pub(crate) fn add_up(x: &Array<'_, i64, 2>, out: &mut M<'_>) -> Result<()> {
    add(&ADD_UP, x, out)
}

pub(crate) fn add_any(x: &Array<'_, i64, 2>, out: &mut M<'_>) -> Result<()> {
    add(&ADD_ANY, x, out)
}

pub(crate) fn add_both(x: &M<'_>, first: &mut M<'_>, second: &mut M<'_>) -> Result<()> {
    let mut task = Task::new(&ADD_BOTH);
    task.read(x);
    task.write(first);
    task.write(second);
    task.submit()
}

fn add(codelet: &'static Codelet, x: &M<'_>, out: &mut M<'_>) -> Result<()> {
    let mut task = Task::new(codelet);
    task.read(x);
    task.write(out);
    task.submit()
}
