//! The codelets of the programs, as `#[codelet]` would write them.

use dahl_core::__private::{Accumulator, Kernel, Parameter, Views};
use dahl_core::{AccessMode, Array, Codelet, ElementType, Reduction, Result, Task, Vector};

const F32: ElementType = ElementType::of::<f32>();

/// `out = 3 a + b`
pub(crate) static MIX: Codelet = Codelet::new("mix", module_path!(), 1)
    .parameters(&[
        Parameter::new("a", AccessMode::R, F32),
        Parameter::new("b", AccessMode::R, F32),
        Parameter::new("out", AccessMode::W, F32),
    ])
    .kernels(&[Some(Kernel::new("rust", |views: &mut Views<'_>| {
        let (a, b, out) = (views.slice::<f32>(), views.slice::<f32>(), views.slice_mut::<f32>());
        for i in 0..out.len() {
            out[i] = a[i] * 3.0 + b[i];
        }
    }))]);

/// `x = 0.7 x + add`
pub(crate) static SCALE: Codelet = Codelet::new("scale", module_path!(), 2)
    .parameters(&[Parameter::new("x", AccessMode::RW, F32)])
    .arguments(&["add"])
    .kernels(&[Some(Kernel::new("rust", |views: &mut Views<'_>| {
        let add: f32 = views.argument();
        assert!(add < 1000.0, "too large");
        views.slice_mut::<f32>().iter_mut().for_each(|x| *x = *x * 0.7 + add);
    }))]);

/// `out += x`, a reduction, whose order decides the last bits.
pub(crate) static SUM: Codelet = Codelet::new("sum", module_path!(), 3)
    .parameters(&[
        Parameter::new("x", AccessMode::R, F32),
        Parameter::new("out", AccessMode::REDUX(Reduction::Sum), F32)
            .accumulates_in(Accumulator::same::<f32>(Reduction::Sum)),
    ])
    .kernels(&[Some(Kernel::new("rust", |views: &mut Views<'_>| {
        let (x, out) = (views.slice::<f32>(), views.slice_mut::<f32>());
        out.iter_mut().zip(x).for_each(|(out, x)| *out += x);
    }))]);

pub(crate) type V = Vector<'static, f32>;

#[track_caller]
pub(crate) fn mix(
    a: &Array<'_, f32, 1>,
    b: &Array<'_, f32, 1>,
    out: &mut V,
    rank: Option<usize>,
) -> Result<()> {
    let mut task = Task::new(&MIX);
    task.read(a);
    task.read(b);
    task.write(out);
    on(task, rank)
}

#[track_caller]
pub(crate) fn scale<const N: usize>(x: &mut Array<'_, f32, N>, add: f32, rank: Option<usize>) -> Result<()> {
    let mut task = Task::new(&SCALE);
    task.write(x);
    task.argument(add);
    on(task, rank)
}

#[track_caller]
pub(crate) fn sum(x: &V, out: &mut V) -> Result<()> {
    let mut task = Task::new(&SUM);
    task.read(x);
    task.write(out);
    task.submit()
}

fn on(task: Task<'_>, rank: Option<usize>) -> Result<()> {
    match rank {
        Some(rank) => task.on_rank(rank).submit(),
        None => task.submit(),
    }
}
