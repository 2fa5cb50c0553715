//! Tasks that may run at the same time, or in another order than they were submitted: contributions to a reduction, and
//! tasks that commute.

use std::sync::{Condvar, Mutex};
use std::time::Duration;

use dahl_core::__private::{Accumulator, Kernel, Parameter};
use dahl_core::{AccessMode, Array, Codelet, ElementType, Reduction, Result, Runtime, Task};

const I64: ElementType = ElementType::of::<i64>();

/// The numbers that kernels have appended, in that order.
static SIGNED: Mutex<Vec<i64>> = Mutex::new(Vec::new());
static CHANGED: Condvar = Condvar::new();

/// Held by the test that uses the list.
static ALONE: Mutex<()> = Mutex::new(());

/// Waits until number `wanted` has been appended (0 for none), then appends `own`.
fn sign(own: i64, wanted: i64) {
    let guard = SIGNED.lock().unwrap();
    let waits = |signed: &mut Vec<i64>| wanted != 0 && !signed.contains(&wanted);
    let (mut guard, timeout) = CHANGED.wait_timeout_while(guard, Duration::from_secs(20), waits).unwrap();
    let late = timeout.timed_out();
    guard.push(own);
    drop(guard);
    CHANGED.notify_all();
    assert!(!late, "number {wanted} did not run beside number {own}");
}

/// `out += own`, as a reduction.
static CONTRIBUTE: Codelet = Codelet::new("contribute", module_path!(), 1)
    .parameters(&[Parameter::new("out", AccessMode::REDUX(Reduction::Sum), I64)
        .accumulates_in(Accumulator::same::<i64>(Reduction::Sum))])
    .arguments(&["own", "wanted"])
    .kernels(&[Some(Kernel::new("rust", |views| {
        let out = views.slice_mut::<i64>();
        let (own, wanted) = (views.argument(), views.argument());
        sign(own, wanted);
        out[0] += own;
    }))]);

/// `out += own * x`, commuting, with an input to wait for.
static COMMUTE: Codelet = Codelet::new("commute", module_path!(), 2)
    .parameters(&[Parameter::new("x", AccessMode::R, I64), Parameter::new("out", AccessMode::COMMUTE, I64)])
    .arguments(&["own"])
    .kernels(&[Some(Kernel::new("rust", |views| {
        let x = views.slice::<i64>()[0];
        let out = views.slice_mut::<i64>();
        let own: i64 = views.argument();
        sign(own, 0);
        out[0] += own * x;
    }))]);

/// Two arrays at once, in either order of the parameters.
static COMMUTE_TWO: Codelet = Codelet::new("commute_two", module_path!(), 3)
    .parameters(&[
        Parameter::new("a", AccessMode::COMMUTE, I64),
        Parameter::new("b", AccessMode::COMMUTE, I64),
    ])
    .kernels(&[Some(Kernel::new("rust", |views| {
        let (a, b) = (views.slice_mut::<i64>(), views.slice_mut::<i64>());
        a[0] += 1;
        b[0] += 1;
    }))]);

/// `x = own` when number `wanted` has been appended.
static SET: Codelet = Codelet::new("set", module_path!(), 4)
    .parameters(&[Parameter::new("x", AccessMode::W, I64)])
    .arguments(&["own", "wanted"])
    .kernels(&[Some(Kernel::new("rust", |views| {
        let x = views.slice_mut::<i64>();
        let (own, wanted): (i64, i64) = (views.argument(), views.argument());
        sign(-own, wanted);
        x[0] = own;
    }))]);

type V<'m> = Array<'m, i64, 1>;

fn contribute(out: &mut V<'_>, own: i64, wanted: i64) -> Result<()> {
    let mut task = Task::new(&CONTRIBUTE);
    task.write(out);
    task.argument(own);
    task.argument(wanted);
    task.submit()
}

fn commute(x: &V<'_>, out: &mut V<'_>, own: i64) -> Result<()> {
    let mut task = Task::new(&COMMUTE);
    task.read(x);
    task.write(out);
    task.argument(own);
    task.submit()
}

fn commute_two(a: &mut V<'_>, b: &mut V<'_>) -> Result<()> {
    let mut task = Task::new(&COMMUTE_TWO);
    task.write(a);
    task.write(b);
    task.submit()
}

fn set(x: &mut V<'_>, own: i64, wanted: i64) -> Result<()> {
    let mut task = Task::new(&SET);
    task.write(x);
    task.argument(own);
    task.argument(wanted);
    task.submit()
}

fn begin() -> std::sync::MutexGuard<'static, ()> {
    let guard = ALONE.lock().unwrap_or_else(|poison| poison.into_inner());
    SIGNED.lock().unwrap_or_else(|poison| poison.into_inner()).clear();
    guard
}

#[test]
fn leaves_of_a_reduction_run_side_by_side_and_a_leaf_in_order() -> Result<()> {
    let _alone = begin();
    let rt = Runtime::builder().cpu_workers(2).build()?;
    let mut out = rt.from_vec([1], vec![100_i64])?;
    // The first contribution, and so its leaf of four, waits for the fifth, which is in another leaf.
    for own in 1..=8 {
        contribute(&mut out, own, if own == 1 { 5 } else { 0 })?;
    }
    assert_eq!(out.to_vec()?, [136]);
    let signed = SIGNED.lock().unwrap().clone();
    let of_leaf =
        |leaf: [i64; 4]| signed.iter().copied().filter(|own| leaf.contains(own)).collect::<Vec<_>>();
    assert_eq!(of_leaf([1, 2, 3, 4]), [1, 2, 3, 4]);
    assert_eq!(of_leaf([5, 6, 7, 8]), [5, 6, 7, 8]);
    Ok(())
}

#[test]
fn private_buffers_are_bounded_however_many_contribute() -> Result<()> {
    let _alone = begin();
    for workers in [1, 3] {
        let rt = Runtime::builder().cpu_workers(workers).build()?;
        let mut out = rt.zeros([1])?;
        for _ in 0..3 {
            for own in 0..20_000 {
                contribute(&mut out, own, 0)?;
            }
            let memory = rt.memory();
            let held = memory[0].holders.iter().filter(|holder| holder.what == "reduction buffers");
            // 5,000 leaves: two for each worker, a level for each binary digit, and the leaf that is being filled.
            let most = 64 * (2 * workers + 13 + 1);
            assert!(held.map(|holder| holder.bytes).sum::<usize>() <= most, "{workers} workers: {memory:?}");
            SIGNED.lock().unwrap().clear();
        }
        assert_eq!(out.to_vec()?, [3 * (0..20_000).sum::<i64>()]);
    }
    Ok(())
}

#[test]
fn contributions_do_not_wait_for_who_uses_the_array_before() -> Result<()> {
    let _alone = begin();
    let rt = Runtime::builder().cpu_workers(2).build()?;
    let mut out = rt.from_vec([1], vec![0_i64])?;
    set(&mut out, 1000, 7)?; // waits until the contribution has run
    contribute(&mut out, 7, 0)?;
    assert_eq!(out.to_vec()?, [1007]);
    Ok(())
}

#[test]
fn what_is_overwritten_is_not_added_up() -> Result<()> {
    let _alone = begin();
    let rt = Runtime::builder().cpu_workers(2).build()?;
    let mut out = rt.from_vec([1], vec![1_i64])?;
    for round in 0..50 {
        for own in 1..=round {
            contribute(&mut out, own, 0)?;
        }
        set(&mut out, 5, 0)?;
        contribute(&mut out, 1, 0)?;
        if round % 7 == 0 {
            assert_eq!(out.to_vec()?, [6]);
        }
    }
    drop(out); // with a reduction that is open
    rt.wait()
}

#[test]
fn an_open_reduction_outlives_its_runtime() -> Result<()> {
    let _alone = begin();
    let rt = Runtime::builder().cpu_workers(1).build()?;
    let mut out = rt.from_vec([1], vec![1_i64])?;
    for own in 1..=9 {
        contribute(&mut out, own, 0)?;
    }
    drop(rt);
    assert_eq!(out.to_vec()?, [46]);
    Ok(())
}

#[test]
fn tasks_that_commute_run_in_the_order_in_which_they_can() -> Result<()> {
    let _alone = begin();
    let rt = Runtime::builder().cpu_workers(2).build()?;
    let mut late = rt.from_vec([1], vec![0_i64])?;
    let one = rt.from_vec([1], vec![1_i64])?;
    let mut out = rt.from_vec([1], vec![0_i64])?;
    set(&mut late, 2, 11)?; // waits for the second of those that commute
    commute(&late, &mut out, 10)?;
    commute(&one, &mut out, 11)?;
    commute(&one, &mut out, 12)?;
    assert_eq!(out.to_vec()?, [10 * 2 + 11 + 12]);
    let signed = SIGNED.lock().unwrap().clone();
    let place = |own| signed.iter().position(|signed| *signed == own);
    assert!(place(11) < place(10), "{signed:?}");
    Ok(())
}

#[test]
fn tasks_that_commute_on_several_arrays_never_wait_for_each_other() -> Result<()> {
    for workers in [1, 2, 3] {
        let rt = Runtime::builder().cpu_workers(workers).build()?;
        let mut arrays = [rt.zeros([1])?, rt.zeros([1])?, rt.zeros([1])?];
        for i in 0..6_000 {
            let (a, b) = ([0, 1, 2][i % 3], [1, 2, 0][i % 3]);
            let [a, b] = arrays.get_disjoint_mut([a, b]).unwrap();
            if i % 2 == 0 {
                commute_two(a, b)?
            } else {
                commute_two(b, a)?
            }
            if i % 500 == 0 {
                assert!(a.to_vec()?[0] > 0);
            }
        }
        for array in &arrays {
            assert_eq!(array.to_vec()?, [4_000]);
        }
    }
    Ok(())
}
