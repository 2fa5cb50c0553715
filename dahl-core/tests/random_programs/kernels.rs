//! The codelets of the programs, as `#[codelet]` would write them.

#[path = "on_cuda.rs"]
pub(crate) mod on_cuda;

use std::panic::resume_unwind;

use dahl_core::__private::{Accumulator, InPlace, Kernel, Parameter, Views};
use dahl_core::ndarray::Ix2;
use dahl_core::{AccessMode, Codelet, ElementType, Matrix, Reduction, Result, Task};

const I64: ElementType = ElementType::of::<i64>();
const F32: ElementType = ElementType::of::<f32>();

/// The argument with which [`SCALE`] fails.
pub(crate) const UNLUCKY: i64 = 13;

/// `out = 3 a + b`; strided views.
pub(crate) static MIX: Codelet = Codelet::new("mix", module_path!(), 1)
    .parameters(&[
        Parameter::new("a", AccessMode::R, I64),
        Parameter::new("b", AccessMode::R, I64),
        Parameter::new("out", AccessMode::W, I64),
    ])
    .kernels(&[Some(Kernel::new("rust", |views| {
        let (a, b) = (views.view::<i64, Ix2>(), views.view::<i64, Ix2>());
        let mut out = views.view_mut::<i64, Ix2>();
        out.zip_mut_with(&a, |out, a| *out = a.wrapping_mul(3));
        out.zip_mut_with(&b, |out, b| *out = out.wrapping_add(*b));
    }))])
    .in_place(InPlace::rename(0))
    .cuda(on_cuda::MIX.instance(&[]));

/// `x = 5 x + add`; slices, so that strided parts are packed.
static SCALE: Codelet = Codelet::new("scale", module_path!(), 2)
    .parameters(&[Parameter::new("x", AccessMode::RW, I64)])
    .arguments(&["add"])
    .kernels(&[Some(Kernel::new("rust", |views| {
        let add: i64 = views.argument();
        if add == UNLUCKY {
            resume_unwind(Box::new("unlucky")); // a panic without a message on the screen
        }
        views.slice_mut::<i64>().iter_mut().for_each(|x| *x = x.wrapping_mul(5).wrapping_add(add));
    }))])
    .cuda(on_cuda::SCALE.instance(&[]));

/// `out = 7 x + y` as a map, over runs.
pub(crate) static MAP: Codelet = Codelet::new("map", module_path!(), 3)
    .parameters(&[
        Parameter::new("x", AccessMode::R, I64),
        Parameter::new("y", AccessMode::R, I64),
        Parameter::new("out", AccessMode::W, I64),
    ])
    .kernels(&[Some(Kernel::new("rust", |views: &mut Views<'_>| {
        views.for_each_run(|run| {
            let (x, y, out) = (run.slice::<i64>(), run.slice::<i64>(), run.slice_mut::<i64>());
            for i in 0..out.len() {
                out[i] = x[i].wrapping_mul(7).wrapping_add(y[i]);
            }
        });
    }))])
    .in_place(InPlace::kernel(
        1,
        Kernel::new("rust", |views: &mut Views<'_>| {
            views.for_each_run(|run| {
                let (x, y) = (run.slice::<i64>(), run.slice_mut::<i64>());
                for i in 0..y.len() {
                    y[i] = y[i].wrapping_add(x[i].wrapping_mul(7));
                }
            });
        }),
    ))
    .cuda(on_cuda::MAP.instance(&[]));

/// `out += x`, a reduction.
static ADD_UP: Codelet = Codelet::new("add_up", module_path!(), 4)
    .parameters(&[
        Parameter::new("x", AccessMode::R, I64),
        Parameter::new("out", AccessMode::REDUX(Reduction::Sum), I64)
            .accumulates_in(Accumulator::same::<i64>(Reduction::Sum)),
    ])
    .kernels(&[Some(Kernel::new("rust", add_kernel))])
    .cuda(on_cuda::ADD.instance(&[]));

/// `out += x`, in any order.
static ADD_ANY: Codelet = Codelet::new("add_any", module_path!(), 5)
    .parameters(&[Parameter::new("x", AccessMode::R, I64), Parameter::new("out", AccessMode::COMMUTE, I64)])
    .kernels(&[Some(Kernel::new("rust", add_kernel))])
    .cuda(on_cuda::ADD.instance(&[]));

fn add_kernel(views: &mut Views<'_>) {
    let (x, out) = (views.slice::<i64>(), views.slice_mut::<i64>());
    out.iter_mut().zip(x).for_each(|(out, x)| *out = out.wrapping_add(*x));
}

/// `out = value`.
static FILL: Codelet = Codelet::new("fill", module_path!(), 6)
    .parameters(&[Parameter::new("out", AccessMode::W, I64)])
    .arguments(&["value"])
    .kernels(&[Some(Kernel::new("rust", |views| {
        let value: i64 = views.argument();
        views.view_mut::<i64, Ix2>().fill(value);
    }))])
    .cuda(on_cuda::FILL.instance(&[]));

/// `out = value`, in f32.
static FILL_TOTAL: Codelet = Codelet::new("fill_total", module_path!(), 7)
    .parameters(&[Parameter::new("out", AccessMode::W, F32)])
    .arguments(&["value"])
    .kernels(&[Some(Kernel::new("rust", |views| {
        let value: f32 = views.argument();
        views.slice_mut::<f32>().fill(value);
    }))])
    .cuda(on_cuda::FILL_TOTAL.instance(&[]));

/// `out = out . contribution(x)` in f32, where the order decides the last bits.
macro_rules! reducer {
    ($codelet:ident, $name:literal, $reduction:expr, $combine:expr) => {
        static $codelet: Codelet = Codelet::new($name, module_path!(), 8)
            .parameters(&[
                Parameter::new("x", AccessMode::R, I64),
                Parameter::new("out", AccessMode::REDUX($reduction), F32)
                    .accumulates_in(Accumulator::same::<f32>($reduction)),
            ])
            .arguments(&["factor"])
            .kernels(&[Some(Kernel::new("rust", |views| reduce_kernel(views, $combine)))])
            .cuda(on_cuda::$codelet.instance(&[]));
    };
}

reducer!(SUM, "sum", Reduction::Sum, |out, x| out + x);
reducer!(MAX, "max", Reduction::Max, f32::max);
reducer!(MIN, "min", Reduction::Min, f32::min);

/// The contribution of an integer to a reduction.
pub(crate) fn contribution(x: i64, factor: f32) -> f32 {
    (x % 1000) as f32 * factor
}

fn reduce_kernel(views: &mut Views<'_>, combine: impl Fn(f32, f32) -> f32) {
    let factor: f32 = views.argument();
    let (x, out) = (views.slice::<i64>(), views.slice_mut::<f32>());
    out.iter_mut().zip(x).for_each(|(out, &x)| *out = combine(*out, contribution(x, factor)));
}

pub(crate) type M<'m> = Matrix<'m, i64>;
pub(crate) type F<'m> = Matrix<'m, f32>;

#[track_caller]
pub(crate) fn three(codelet: &'static Codelet, a: &M<'_>, b: &M<'_>, out: &mut M<'_>) -> Result<()> {
    let mut task = Task::new(codelet);
    task.read(a);
    task.read(b);
    task.write(out);
    task.require_same_shapes();
    task.submit()
}

/// In place of the first of two (`MIX`, renamed) or the second (`MAP`).
#[track_caller]
pub(crate) fn two_in_place(
    codelet: &'static Codelet,
    target_first: bool,
    other: &M<'_>,
    target: &mut M<'_>,
) -> Result<()> {
    let mut task = Task::new_in_place(codelet);
    if target_first {
        task.write(target);
        task.read(other);
    } else {
        task.read(other);
        task.write(target);
    }
    task.submit()
}

#[track_caller]
pub(crate) fn scale(x: &mut M<'_>, add: i64) -> Result<()> {
    let mut task = Task::new(&SCALE);
    task.write(x);
    task.argument(add);
    task.submit()
}

#[track_caller]
pub(crate) fn fill(out: &mut M<'_>, value: i64) -> Result<()> {
    let mut task = Task::new(&FILL);
    task.write(out);
    task.argument(value);
    task.submit()
}

#[track_caller]
pub(crate) fn fill_total(out: &mut F<'_>, value: f32) -> Result<()> {
    let mut task = Task::new(&FILL_TOTAL);
    task.write(out);
    task.argument(value);
    task.submit()
}

#[track_caller]
pub(crate) fn add_up(x: &M<'_>, out: &mut M<'_>) -> Result<()> {
    add(&ADD_UP, x, out)
}

#[track_caller]
pub(crate) fn add_any(x: &M<'_>, out: &mut M<'_>) -> Result<()> {
    add(&ADD_ANY, x, out)
}

#[track_caller]
fn add(codelet: &'static Codelet, x: &M<'_>, out: &mut M<'_>) -> Result<()> {
    let mut task = Task::new(codelet);
    task.read(x);
    task.write(out);
    task.submit()
}

#[track_caller]
pub(crate) fn reduce(reduction: Reduction, x: &M<'_>, out: &mut F<'_>, factor: f32) -> Result<()> {
    let mut task = Task::new(match reduction {
        Reduction::Sum => &SUM,
        Reduction::Max => &MAX,
        Reduction::Min => &MIN,
        Reduction::Custom => unreachable!("no program draws it"),
    });
    task.read(x);
    task.write(out);
    task.argument(factor);
    task.submit()
}

/// A task that has its array, and is dropped instead of submitted.
pub(crate) fn abandon(x: &mut M<'_>) {
    let mut task = Task::new(&SCALE);
    task.write(x);
    task.argument(1_i64);
}
