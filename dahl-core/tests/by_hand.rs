//! The runtime through codelets written by hand, as `#[codelet]` would write them.

use dahl_core::__private::{Accumulator, InPlace, Kernel, Parameter, Views};
use dahl_core::Scope;
use dahl_core::{
    AccessMode, Arena, Array, Codelet, Element, ElementType, Real, Reduction, Result, Runtime, Task, Vector,
};

fn axpy_kernel<T: Real>(views: &mut Views<'_>) {
    let alpha: T = views.argument();
    views.for_each_run(|run| {
        let (x, y, out) = (run.slice::<T>(), run.slice::<T>(), run.slice_mut::<T>());
        for i in 0..out.len() {
            out[i] = T::narrow(alpha.widen() * x[i].widen() + y[i].widen());
        }
    });
}

fn axpy_in_place<T: Real>(views: &mut Views<'_>) {
    let alpha: T = views.argument();
    views.for_each_run(|run| {
        let (x, y) = (run.slice::<T>(), run.slice_mut::<T>());
        for i in 0..y.len() {
            y[i] = T::narrow(alpha.widen() * x[i].widen() + y[i].widen());
        }
    });
}

fn axpy_codelet<T: Real>() -> &'static Codelet {
    const {
        &Codelet::new("axpy", module_path!(), 1)
            .parameters(
                const {
                    &[
                        Parameter::new("x", AccessMode::R, ElementType::of::<T>()),
                        Parameter::new("y", AccessMode::R, ElementType::of::<T>()),
                        Parameter::new("out", AccessMode::W, ElementType::of::<T>()),
                    ]
                },
            )
            .arguments(&["alpha"])
            .kernels(const { &[Some(Kernel::new("rust", axpy_kernel::<T>))] })
            .in_place(InPlace::kernel(1, Kernel::new("rust", axpy_in_place::<T>)))
    }
}

#[track_caller]
fn axpy<T: Real, const N: usize>(
    x: &Array<'_, T, N>,
    y: &Array<'_, T, N>,
    out: &mut Array<'_, T, N>,
    alpha: T,
) -> Result<()> {
    let mut task = Task::new(axpy_codelet::<T>());
    task.read(x);
    task.read(y);
    task.write(out);
    task.argument(alpha);
    task.require_same_shapes();
    task.submit()
}

#[track_caller]
fn axpy_self<T: Real, const N: usize>(x: &Array<'_, T, N>, y: &mut Array<'_, T, N>, alpha: T) -> Result<()> {
    let mut task = Task::new_in_place(axpy_codelet::<T>());
    task.read(x);
    task.write(y);
    task.argument(alpha);
    task.require_same_shapes();
    task.submit()
}

fn sum_kernel<T: Real>(views: &mut Views<'_>) {
    let (x, out) = (views.slice::<T>(), views.slice_mut::<T::Compute>());
    for x in x {
        out[0] += x.widen();
    }
}

fn sum_codelet<T: Real>() -> &'static Codelet {
    const {
        &Codelet::new("sum", module_path!(), 2)
            .parameters(
                const {
                    &[
                        Parameter::new("x", AccessMode::R, ElementType::of::<T>()),
                        Parameter::new("out", AccessMode::REDUX(Reduction::Sum), ElementType::of::<T>())
                            .accumulates_in(Accumulator::compute::<T>(Reduction::Sum)),
                    ]
                },
            )
            .kernels(const { &[Some(Kernel::new("rust", sum_kernel::<T>))] })
    }
}

#[track_caller]
fn sum<T: Real, const N: usize>(x: &Array<'_, T, N>, out: &mut Array<'_, T, 0>) -> Result<()> {
    let mut task = Task::new(sum_codelet::<T>());
    task.read(x);
    task.write(out);
    task.submit()
}

fn boom_kernel<T: Element>(views: &mut Views<'_>) {
    let value: u32 = views.argument();
    assert!(value != 13, "unlucky {value}");
    views.slice_mut::<T>().fill(T::ONE);
}

fn boom_codelet<T: Element>() -> &'static Codelet {
    const {
        &Codelet::new("boom", module_path!(), 3)
            .parameters(const { &[Parameter::new("out", AccessMode::W, ElementType::of::<T>())] })
            .arguments(&["value"])
            .kernels(const { &[Some(Kernel::new("rust", boom_kernel::<T>))] })
    }
}

#[track_caller]
fn boom<T: Element, const N: usize>(out: &mut Array<'_, T, N>, value: u32) -> Result<()> {
    let mut task = Task::new(boom_codelet::<T>());
    task.write(out);
    task.argument(value);
    task.submit()
}

#[test]
fn a_chain_of_tasks_gives_the_sequential_result() -> Result<()> {
    for (workers, scheduler) in [(1, "eager"), (2, "eager"), (1, "ws"), (3, "ws")] {
        let rt = Runtime::builder().cpu_workers(workers).scheduler(scheduler).build()?;
        let arena = rt.arena();
        let x: Vector<f64> = arena.filled([17], 1.0)?;
        let mut y: Vector<f64> = arena.zeros([17])?;
        let mut z: Vector<f64> = arena.zeros([17])?;
        for step in 0..20_000 {
            axpy_self(&x, &mut y, 1.0)?;
            if step % 3 == 0 {
                axpy(&x, &y, &mut z, 0.5)?;
            }
        }
        assert_eq!(y.to_vec()?, [20_000.0; 17]);
        assert_eq!(z.to_vec()?, [19_999.5; 17]);
    }
    Ok(())
}

#[test]
fn a_reduction_sums_and_keeps_the_old_value() -> Result<()> {
    let rt = Runtime::builder().cpu_workers(2).build()?;
    let arena = rt.arena();
    let x: Vector<dahl_core::f16> = arena.filled([100], dahl_core::f16::from_f32(0.25))?;
    let mut total = arena.filled([], dahl_core::f16::from_f32(1.0))?;
    for _ in 0..11 {
        sum(&x, &mut total)?;
    }
    assert_eq!(total.read()?[[]].to_f32(), 276.0);
    let mut fresh = Scope::<()>::output(&arena, [], true)?;
    sum(&x, &mut fresh)?;
    assert_eq!(fresh.read()?[[]].to_f32(), 25.0);
    Ok(())
}

#[test]
fn a_failure_poisons_what_depends_on_it_and_a_write_heals() -> Result<()> {
    let rt = Runtime::builder().cpu_workers(2).build()?;
    let arena = rt.arena();
    let mut bad: Vector<f32> = arena.zeros([4])?;
    let mut good: Vector<f32> = arena.zeros([4])?;
    let mut after: Vector<f32> = arena.zeros([4])?;
    boom(&mut bad, 13)?;
    boom(&mut good, 1)?;
    axpy(&bad, &good, &mut after, 1.0)?;
    let text = after.read().unwrap_err().to_string();
    assert!(text.contains("boom") && text.contains("unlucky 13") && text.contains(file!()), "{text}");
    assert_eq!(good.to_vec()?, [1.0; 4]);
    boom(&mut bad, 2)?;
    assert_eq!(bad.to_vec()?, [1.0; 4]);
    rt.wait()
}

fn steps(batch: &mut Arena, x: &Vector<'_, f32>, count: usize) -> Result<()> {
    for _ in 0..count {
        let mut y: Vector<f32> = batch.zeros([1000])?;
        axpy_self(x, &mut y, 1.0)?;
        batch.reset();
    }
    Ok(())
}

#[test]
fn resets_neither_wait_nor_grow() -> Result<()> {
    let rt = Runtime::builder().cpu_workers(2).build()?;
    let mut batch = rt.arena();
    let x = rt.from_vec([1000], vec![1.0_f32; 1000])?;
    steps(&mut batch, &x, 30_000)?;
    assert!(batch.peak_bytes() <= 4096 * 4096, "{}", batch.peak_bytes());
    rt.wait()
}

#[test]
fn performance_is_recorded() -> Result<()> {
    let rt = Runtime::builder().cpu_workers(1).build()?;
    let x = rt.from_vec([10], vec![1.0_f32; 10])?;
    let mut y = rt.zeros([10])?;
    for _ in 0..5 {
        axpy_self(&x, &mut y, 1.0)?;
    }
    rt.wait()?;
    let models = rt.performance_models();
    assert_eq!(models.len(), 1);
    assert_eq!((models[0].codelet.as_str(), models[0].count), ("axpy", 5));
    Ok(())
}

#[test]
fn guards_compare_with_a_tolerance() -> Result<()> {
    let rt = Runtime::builder().cpu_workers(1).build()?;
    let arena = rt.arena();
    let third: Vector<f64> = arena.filled([3], 1.0 / 3.0)?;
    let mut near: Vector<f64> = arena.zeros([3])?;
    axpy(&third, &third, &mut near, 1e-15)?;
    let (third, near) = (third.read()?, near.read()?);
    approx::assert_relative_eq!(third, near, max_relative = 1e-14);
    approx::assert_ulps_eq!(third, near, max_ulps = 10);
    approx::assert_abs_diff_eq!(third, near, epsilon = 1e-14);
    approx::assert_relative_ne!(third, near, epsilon = 0.0, max_relative = 1e-17);
    assert!(third != near);
    let other: Vector<f64> = arena.filled([2], 1.0 / 3.0)?;
    assert!(third != other.read()?);
    Ok(())
}
