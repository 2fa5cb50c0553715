//! Codelets of each kind of access, as `#[codelet]` would write them.

use dahl_core::__private::{Accumulator, InPlace, Kernel, Parameter, Views};
use dahl_core::ndarray::Ix2;
use dahl_core::{AccessMode, Codelet, ElementType, Matrix, Reduction, Task};

const I64: ElementType = ElementType::of::<i64>();

pub(crate) type M<'m> = Matrix<'m, i64>;

/// `x = 2 x + 1`.
static STEP: Codelet = Codelet::new("step", module_path!(), 1)
    .parameters(&[Parameter::new("x", AccessMode::RW, I64)])
    .kernels(&[Some(Kernel::new("rust", |views: &mut Views<'_>| {
        views.view_mut::<i64, Ix2>().mapv_inplace(|x| x.wrapping_mul(2).wrapping_add(1));
    }))]);

/// `y = 3 y + x`.
static JOIN: Codelet = Codelet::new("join", module_path!(), 2)
    .parameters(&[Parameter::new("x", AccessMode::R, I64), Parameter::new("y", AccessMode::RW, I64)])
    .kernels(&[Some(Kernel::new("rust", |views: &mut Views<'_>| {
        let (x, mut y) = (views.view::<i64, Ix2>(), views.view_mut::<i64, Ix2>());
        y.zip_mut_with(&x, |y, x| *y = y.wrapping_mul(3).wrapping_add(*x));
    }))]);

/// `out = value`; fails at 13, without a message on the screen.
static FILL: Codelet = Codelet::new("fill", module_path!(), 3)
    .parameters(&[Parameter::new("out", AccessMode::W, I64)])
    .arguments(&["value"])
    .kernels(&[Some(Kernel::new("rust", |views: &mut Views<'_>| {
        let value: i64 = views.argument();
        if value == 13 {
            std::panic::resume_unwind(Box::new("unlucky"));
        }
        views.view_mut::<i64, Ix2>().fill(value);
    }))]);

/// `out = 3 a + b`; in place of `a` by renaming.
static MIX: Codelet = Codelet::new("mix", module_path!(), 4)
    .parameters(&[
        Parameter::new("a", AccessMode::R, I64),
        Parameter::new("b", AccessMode::R, I64),
        Parameter::new("out", AccessMode::W, I64),
    ])
    .kernels(&[Some(Kernel::new("rust", |views: &mut Views<'_>| {
        let (a, b) = (views.view::<i64, Ix2>(), views.view::<i64, Ix2>());
        let mut out = views.view_mut::<i64, Ix2>();
        out.zip_mut_with(&a, |out, a| *out = a.wrapping_mul(3));
        out.zip_mut_with(&b, |out, b| *out = out.wrapping_add(*b));
    }))])
    .in_place(InPlace::rename(0));

/// `out += x`, a reduction.
static ADD_UP: Codelet = Codelet::new("add_up", module_path!(), 5)
    .parameters(&[
        Parameter::new("x", AccessMode::R, I64),
        Parameter::new("out", AccessMode::REDUX(Reduction::Sum), I64)
            .accumulates_in(Accumulator::same::<i64>(Reduction::Sum)),
    ])
    .kernels(&[Some(Kernel::new("rust", add))]);

/// `out += x`, in any order.
static ADD_ANY: Codelet = Codelet::new("add_any", module_path!(), 6)
    .parameters(&[Parameter::new("x", AccessMode::R, I64), Parameter::new("out", AccessMode::COMMUTE, I64)])
    .kernels(&[Some(Kernel::new("rust", add))]);

fn add(views: &mut Views<'_>) {
    let (x, mut out) = (views.view::<i64, Ix2>(), views.view_mut::<i64, Ix2>());
    out.zip_mut_with(&x, |out, x| *out = out.wrapping_add(*x));
}

pub(crate) fn step<'a>(x: &'a mut M<'_>) -> Task<'a> {
    of(&STEP, &[], x)
}

pub(crate) fn join<'a>(x: &'a M<'_>, y: &'a mut M<'_>) -> Task<'a> {
    of(&JOIN, &[x], y)
}

#[track_caller]
pub(crate) fn fill<'a>(out: &'a mut M<'_>, value: i64) -> Task<'a> {
    let mut task = of(&FILL, &[], out);
    task.argument(value);
    task
}

pub(crate) fn mix<'a>(a: &'a M<'_>, b: &'a M<'_>, out: &'a mut M<'_>) -> Task<'a> {
    of(&MIX, &[a, b], out)
}

pub(crate) fn mix_self<'a>(a: &'a mut M<'_>, b: &'a M<'_>) -> Task<'a> {
    let mut task = Task::new_in_place(&MIX);
    task.write(a);
    task.read(b);
    task
}

pub(crate) fn add_up<'a>(x: &'a M<'_>, out: &'a mut M<'_>) -> Task<'a> {
    of(&ADD_UP, &[x], out)
}

pub(crate) fn add_any<'a>(x: &'a M<'_>, out: &'a mut M<'_>) -> Task<'a> {
    of(&ADD_ANY, &[x], out)
}

#[track_caller]
fn of<'a>(codelet: &'static Codelet, read: &[&'a M<'_>], written: &'a mut M<'_>) -> Task<'a> {
    let mut task = Task::new(codelet);
    for array in read {
        task.read(array);
    }
    task.write(written);
    task
}
