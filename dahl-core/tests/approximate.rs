//! `approx` on arrays: which are equal, which are not, and the message of a failed assertion.

use std::sync::Mutex;

use approx::{
    abs_diff_eq, assert_abs_diff_eq, assert_relative_eq, assert_relative_ne, assert_ulps_eq, assert_ulps_ne,
};
use dahl_core::__private::{Kernel, Parameter, Views};
use dahl_core::ndarray::Axis;
use dahl_core::{AccessMode, Array, Codelet, ElementType, Result, Runtime, Task, bf16, f16};

/// Held by a test while the kernel must wait.
static GATE: Mutex<()> = Mutex::new(());

/// Adds one, when the gate is open; fails on negative elements.
fn increment_kernel(views: &mut Views<'_>) {
    drop(GATE.lock().unwrap_or_else(|poison| poison.into_inner()));
    for x in views.slice_mut::<f64>() {
        assert!(*x >= 0.0, "a negative number");
        *x += 1.0;
    }
}

fn increment<const N: usize>(x: &mut Array<'_, f64, N>) -> Result<()> {
    let codelet = const {
        &Codelet::new("increment", module_path!(), 1)
            .parameters(const { &[Parameter::new("x", AccessMode::RW, ElementType::of::<f64>())] })
            .kernels(const { &[Some(Kernel::new("rust", increment_kernel))] })
    };
    let mut task = Task::new(codelet);
    task.write(x);
    task.submit()
}

fn runtime() -> Runtime {
    Runtime::builder().cpu_workers(1).build().expect("a runtime")
}

#[test]
fn arrays_of_different_lifetimes_compare_after_their_tasks() -> Result<()> {
    let rt = runtime();
    let arena = rt.arena();
    let owned: Array<'static, f64, 1> = rt.from_vec([3], vec![1.0, 2.0, 3.0])?;
    let mut borrowed = arena.from_slice([3], &[0.0, 1.0, 2.0 + 1e-12])?;
    increment(&mut borrowed)?;
    assert_relative_eq!(owned, borrowed, max_relative = 1e-11);
    assert_relative_ne!(owned, borrowed, max_relative = 1e-14);
    assert_abs_diff_eq!(borrowed, owned, epsilon = 1e-11);
    assert!(!abs_diff_eq!(borrowed, owned, epsilon = 1e-14));
    assert_ulps_eq!(owned, borrowed, max_ulps = 3000);
    assert_ulps_ne!(owned, borrowed, max_ulps = 2000);
    assert!(owned != borrowed && owned == owned);
    increment(&mut borrowed)?;
    assert!(!abs_diff_eq!(borrowed, owned, epsilon = 0.5), "the task before it counts");
    Ok(())
}

#[test]
fn other_shapes_and_nan_are_unequal() -> Result<()> {
    let rt = runtime();
    let (row, column) = (rt.from_vec([1, 2], vec![1.0, 2.0])?, rt.from_vec([2, 1], vec![1.0, 2.0])?);
    assert!(row != column && !abs_diff_eq!(row, column, epsilon = 1e9));
    assert_relative_ne!(row, column);
    assert!(rt.from_vec([0], Vec::<f64>::new())? == rt.from_vec([0], Vec::new())?);
    let nan = rt.from_vec([2, 1], vec![1.0, f64::NAN])?;
    assert!(nan != nan && !abs_diff_eq!(nan, nan, epsilon = f64::INFINITY));
    assert_ulps_ne!(nan, nan);
    Ok(())
}

#[test]
fn half_types_take_tolerances_in_f32() -> Result<()> {
    fn check<T: dahl_core::element::ApproximateFloat<Epsilon = f32> + dahl_core::Real>() -> Result<()> {
        let rt = runtime();
        let next = 1.0 + T::EPSILON.to_f64();
        let numbers = |x: f64| rt.from_vec([2], vec![T::from_f64(x), T::from_f64(-2.0)]);
        let (one, above, below) = (numbers(1.0)?, numbers(next)?, numbers(1.0 - T::EPSILON.to_f64())?);
        assert_ulps_eq!(one, above, epsilon = 0.0, max_ulps = 1);
        assert_ulps_ne!(one, above, epsilon = 0.0, max_ulps = 0);
        assert_ulps_eq!(one, below, epsilon = 0.0, max_ulps = 2);
        assert_ulps_ne!(one, below, epsilon = 0.0, max_ulps = 1);
        assert_relative_eq!(one, above);
        assert_relative_ne!(one, above, epsilon = 0.0, max_relative = 1e-4);
        assert_abs_diff_eq!(one, above);
        assert!(!abs_diff_eq!(one, above, epsilon = 1e-4));
        let nan = rt.from_vec([2], vec![T::NAN, T::NAN])?;
        assert_ulps_ne!(nan, nan, max_ulps = u32::MAX);
        Ok(())
    }
    check::<f16>()?;
    check::<bf16>()
}

#[test]
fn integers_differ_by_at_most_epsilon() -> Result<()> {
    let rt = runtime();
    let (a, b) = (rt.from_vec([2], vec![1_i64, -5])?, rt.from_vec([2], vec![3_i64, -5])?);
    assert!(abs_diff_eq!(a, b, epsilon = 2) && !abs_diff_eq!(a, b, epsilon = 1));
    Ok(())
}

/// The message of a failed assertion.
fn message(assertion: impl FnOnce() + std::panic::UnwindSafe) -> String {
    let payload = std::panic::catch_unwind(assertion).expect_err("it fails");
    *payload.downcast::<String>().expect("a panic with a text")
}

#[test]
fn a_failed_assertion_shows_the_elements() -> Result<()> {
    let rt = runtime();
    let mut a = rt.from_vec([2, 2], vec![0.0, 1.0, 2.0, 11.001])?;
    let b = rt.from_vec([2, 2], vec![1.0, 2.0, 3.0, 1.001])?;
    increment(&mut a)?;
    let text = message(std::panic::AssertUnwindSafe(|| assert_relative_eq!(a, b)));
    let left = "Array<f64, 2>[2, 2]:\n[[ 1.     2.   ]\n [ 3.    12.001]]";
    let right = "Array<f64, 2>[2, 2]:\n[[1.    2.   ]\n [3.    1.001]]";
    assert!(text.contains(left) && text.contains(right), "{text}");
    Ok(())
}

#[test]
fn a_failed_task_is_the_comparisons_panic() -> Result<()> {
    let rt = runtime();
    let (mut a, b) = (rt.from_vec([1], vec![-1.0])?, rt.from_vec([1], vec![-1.0])?);
    increment(&mut a)?;
    let text = message(std::panic::AssertUnwindSafe(|| assert_relative_eq!(a, b)));
    assert!(text.starts_with("an array that is compared has no value: ") && text.contains("increment"));
    assert!(text.contains("a negative number"), "{text}");
    assert_eq!(format!("{a:?}"), "Array<f64, 1>[1]");
    let _ = rt.wait();
    Ok(())
}

#[test]
fn debug_does_not_wait() -> Result<()> {
    let rt = runtime();
    let mut x = rt.from_vec([2], vec![1.0, 2.0])?;
    assert_eq!(format!("{x:?}"), "Array<f64, 1>[2]:\n[1. 2.]");
    let gate = GATE.lock().expect("no test panics with it");
    increment(&mut x)?;
    assert_eq!(format!("{x:?}"), "Array<f64, 1>[2]", "a task may be writing");
    drop(gate);
    rt.wait()?;
    assert_eq!(format!("{x:?}"), "Array<f64, 1>[2]:\n[2. 3.]");
    let parts = x.partition_mut(Axis(0), 1)?;
    assert_eq!(parts[1].to_vec()?, [3.0]);
    assert_eq!(format!("{:?}", parts[1]), "Array<f64, 1>[1]:\n[3.]");
    std::mem::forget(parts);
    assert_eq!(format!("{x:?}"), "Array<f64, 1>[2]", "a partition may be open");
    assert_eq!(x.to_vec()?, [2.0, 3.0]);
    assert_eq!(format!("{x:?}"), "Array<f64, 1>[2]:\n[2. 3.]");
    Ok(())
}
