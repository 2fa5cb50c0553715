//! Codelets on single numbers, as `#[codelet]` would write them.

use dahl_core::__private::{Kernel, Parameter};
use dahl_core::{AccessMode, Codelet, ElementType, Result, Scalar, Task};

const I64: ElementType = ElementType::of::<i64>();

/// `x = value`.
pub(crate) static SET: Codelet = Codelet::new("set", module_path!(), 2)
    .parameters(&[Parameter::new("x", AccessMode::W, I64)])
    .arguments(&["value"])
    .kernels(&[Some(Kernel::new("rust", |views| {
        let value: i64 = views.argument();
        views.slice_mut::<i64>().fill(value);
    }))]);

/// `x = x - 1`.
pub(crate) static COUNT_DOWN: Codelet = Codelet::new("count_down", module_path!(), 3)
    .parameters(&[Parameter::new("x", AccessMode::RW, I64)])
    .kernels(&[Some(Kernel::new("rust", |views| views.slice_mut::<i64>()[0] -= 1))]);

/// `x = x - 1`, which fails at 3.
pub(crate) static FAIL_AT_3: Codelet = Codelet::new("fail_at_3", module_path!(), 4)
    .parameters(&[Parameter::new("x", AccessMode::RW, I64)])
    .kernels(&[Some(Kernel::new("rust", |views| {
        let x = &mut views.slice_mut::<i64>()[0];
        if *x == 3 {
            std::panic::resume_unwind(Box::new("3")); // a panic without a message on the screen
        }
        *x -= 1;
    }))]);

/// `out = out + x`.
pub(crate) static ADD: Codelet = Codelet::new("add", module_path!(), 5)
    .parameters(&[Parameter::new("x", AccessMode::R, I64), Parameter::new("out", AccessMode::RW, I64)])
    .kernels(&[Some(Kernel::new("rust", |views| {
        let x = views.slice::<i64>()[0];
        views.slice_mut::<i64>()[0] += x;
    }))]);

pub(crate) type Number<'n> = Scalar<'n, i64>;

#[track_caller]
pub(crate) fn set(x: &mut Number<'_>, value: i64) -> Result<()> {
    let mut task = Task::new(&SET);
    task.write(x);
    task.argument(value);
    task.submit()
}

#[track_caller]
pub(crate) fn change(codelet: &'static Codelet, x: &mut Number<'_>) -> Result<()> {
    let mut task = Task::new(codelet);
    task.write(x);
    task.submit()
}

#[track_caller]
pub(crate) fn add(x: &Number<'_>, out: &mut Number<'_>) -> Result<()> {
    let mut task = Task::new(&ADD);
    task.read(x);
    task.write(out);
    task.submit()
}

/// `x = seed + before`.
pub(crate) static SEEDED: Codelet = Codelet::new("seeded", module_path!(), 6)
    .parameters(&[Parameter::new("x", AccessMode::W, I64)])
    .arguments(&["seed", "before"])
    .kernels(&[Some(Kernel::new("rust", |views| {
        let (seed, before): (u64, u64) = (views.argument(), views.argument());
        views.slice_mut::<i64>().fill(seed.wrapping_add(before) as i64);
    }))]);
