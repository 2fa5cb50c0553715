//! A program run on a runtime beside its oracle.

use std::env;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use dahl_core::Scope;
use dahl_core::ndarray::Axis;
use dahl_core::{Result, Runtime, RuntimeBuilder};
use proptest::prelude::*;

use super::kernels::{
    F, M, MAP, MIX, abandon, add_any, add_up, fill, fill_total, reduce, scale, three, two_in_place,
};
use super::machines::Bounded;
use super::oracle::{Held, Oracle, factor};
use super::program::{ARRAYS, Action, COLUMNS, ROWS, TOTALS};

/// Two elements of an array, one mutable.
fn pick<'a, 'm>(arrays: &'a mut [M<'m>; ARRAYS], a: usize, b: usize) -> (&'a M<'m>, &'a mut M<'m>) {
    let [first, second] = arrays.get_disjoint_mut([a, b]).expect("two arrays");
    (first, second)
}

/// The arrays of a program.
pub(crate) struct World<'r> {
    pub(crate) rt: &'r Runtime,
    pub(crate) arrays: [M<'static>; ARRAYS],
    pub(crate) totals: [F<'static>; TOTALS],
    /// Whether a device may be lost, and arrays with it.
    pub(crate) may_lose: bool,
}

/// Panics unless the elements are those expected. If a device may be lost, an error that says so is accepted, since
/// results of lost elements are lost too.
#[track_caller]
fn assert_held<T: PartialEq + std::fmt::Debug>(seen: Result<Vec<T>>, expected: &Held<T>, may_lose: bool) {
    match (&seen, expected) {
        (Err(error), Some(_)) if may_lose => {
            assert!(error.to_string().contains("its result was lost"), "{error}")
        }
        _ => assert_eq!(&seen.ok(), expected),
    }
}

pub(crate) fn bits(total: &F<'_>) -> Result<Vec<u32>> {
    Ok(total.to_vec()?.into_iter().map(f32::to_bits).collect())
}

pub(crate) fn run(action: &Action, world: &mut World<'_>, oracle: &mut Oracle) -> Result<()> {
    use Action::*;
    let World { rt, arrays, totals, may_lose } = world;
    let may_lose = *may_lose;
    match *action {
        Mix(a, b, c) | Map(a, b, c) => {
            let codelet = if matches!(action, Mix(..)) { &MIX } else { &MAP };
            let mut out = std::mem::replace(&mut arrays[c], rt.zeros([0, 0])?);
            three(codelet, &arrays[a], &arrays[b], &mut out)?;
            arrays[c] = out;
        }
        MixSelf(a, b) => {
            let (b, a) = pick(arrays, b, a);
            two_in_place(&MIX, true, b, a)?;
        }
        MapSelf(a, b) => {
            let (a, b) = pick(arrays, a, b);
            two_in_place(&MAP, false, a, b)?;
        }
        Scale(a, add) => scale(&mut arrays[a], add)?,
        AddUp(a, b) => {
            let (a, b) = pick(arrays, a, b);
            add_up(a, b)?;
        }
        ScaleParts(a, axis, chunk) => {
            for (i, part) in arrays[a].partition_mut(Axis(axis), chunk)?.iter_mut().enumerate() {
                scale(part, i as i64)?;
            }
        }
        ScaleNested(a, axis) => {
            for (i, part) in arrays[a].partition_mut(Axis(axis), 2)?.iter_mut().enumerate() {
                for (k, nested) in part.partition_mut(Axis(1 - axis), 1)?.iter_mut().enumerate() {
                    scale(nested, (10 * i + 100 * k) as i64)?;
                }
            }
        }
        MixParts(a, b, axis) => {
            let (b, a) = pick(arrays, b, a);
            let others = b.partition_into(Axis(axis), 2)?;
            for (part, other) in a.partition_into_mut(Axis(axis), 2)?.iter_mut().zip(others.iter()) {
                two_in_place(&MIX, true, other, part)?;
            }
        }
        MapParts(a, b, axis, chunk) => {
            let (a, b) = pick(arrays, a, b);
            let (from, mut to) = (a.partition(Axis(axis), chunk)?, b.partition_mut(Axis(axis), chunk)?);
            let again = a.partition(Axis(axis), chunk)?;
            for ((from, again), to) in from.iter().zip(again.iter()).zip(to.iter_mut()) {
                three(&MAP, from, again, to)?;
            }
        }
        AddUpParts(a, b, axis, chunk) => {
            let (a, b) = pick(arrays, a, b);
            let (from, mut to) = (a.partition(Axis(axis), chunk)?, b.partition_mut(Axis(axis), chunk)?);
            for (from, to) in from.iter().zip(to.iter_mut()) {
                add_up(from, to)?;
            }
        }
        FillParts(a, axis, chunk) => {
            for (i, part) in arrays[a].partition_mut(Axis(axis), chunk)?.iter_mut().enumerate() {
                fill(part, i as i64)?;
            }
        }
        Fill(a, value) => fill(&mut arrays[a], value)?,
        AddAny(a, b, times) => {
            let (a, b) = pick(arrays, a, b);
            (0..times).try_for_each(|_| add_any(a, b))?;
        }
        Reduce(reduction, a, f, times) => {
            (0..times).try_for_each(|time| reduce(reduction, &arrays[a], &mut totals[f], factor(time)))?;
        }
        ReduceParts(reduction, a, f, axis, times) => {
            let (from, mut to) =
                (arrays[a].partition(Axis(axis), 2)?, totals[f].partition_mut(Axis(axis), 2)?);
            for time in 0..times {
                for (from, to) in from.iter().zip(to.iter_mut()) {
                    reduce(reduction, from, to, factor(time))?;
                }
            }
        }
        ReducePartsAnew(reduction, a, f, axis, times) => {
            let (from, mut to) =
                (arrays[a].partition(Axis(axis), 2)?, totals[f].partition_mut(Axis(axis), 2)?);
            for (from, to) in from.iter().zip(to.iter_mut()) {
                to.invalidate()?;
                (0..times).try_for_each(|time| reduce(reduction, from, to, factor(time)))?;
            }
        }
        FinalizeTotal(f) => totals[f].finalize()?,
        InvalidateTotal(f) => totals[f].invalidate()?,
        SetLeafLen(f, len) => totals[f].set_leaf_len(len),
        Invalidate(a) => arrays[a].invalidate()?,
        ReduceAnew(reduction, a, times) => {
            let arena = rt.arena();
            let mut total = Scope::<()>::output(&arena, [ROWS, COLUMNS], true)?;
            (0..times).try_for_each(|time| reduce(reduction, &arrays[a], &mut total, factor(time)))?;
            assert_held(bits(&total), &oracle.bits_anew(reduction, a, times), may_lose);
        }
        FillTotal(f, value) => fill_total(&mut totals[f], f32::from(value))?,
        ReadTotal(f) => assert_held(bits(&totals[f]), &oracle.bits_of_total(f), may_lose),
        WriteTotal(f, value) => {
            let written = totals[f].write().map(|mut guard| guard.fill(f32::from(value)));
            let expected = oracle.bits_of_total(f).map(|_| Vec::<u8>::new());
            assert_held(written.map(|()| Vec::new()), &expected, may_lose);
        }
        InArena(a, rounds, forget) => in_arena(rt, &mut arrays[a], rounds, forget)?,
        Unwind(a, b, axis) => unwind(rt, arrays, a, b, axis)?,
        LeakParts(a, axis) => {
            std::mem::forget(arrays[a].partition(Axis(axis), 2)?);
            let mut parts = arrays[a].partition_mut(Axis(axis), 1)?;
            for part in parts.iter_mut() {
                scale(part, 1)?;
            }
            std::mem::forget(parts);
        }
        Read(a) => {
            let values = arrays[a].read().map(|guard| guard.iter().copied().collect::<Vec<_>>());
            assert_held(values, &oracle.arrays[a], may_lose);
        }
        Write(a, value) => {
            let written = arrays[a].write().map(|mut guard| guard.fill(value));
            let expected = oracle.arrays[a].as_ref().map(|_| Vec::<u8>::new());
            assert_held(written.map(|()| Vec::new()), &expected, may_lose);
        }
        Replace(a) => arrays[a] = rt.zeros([ROWS, COLUMNS])?,
        Forget(a) => std::mem::forget(std::mem::replace(&mut arrays[a], rt.zeros([ROWS, COLUMNS])?)),
        Wait => {
            let _ = rt.wait();
        }
    }
    Ok(())
}

/// `2 a + 1` in each round.
fn in_arena(rt: &Runtime, a: &mut M<'_>, rounds: usize, forget: bool) -> Result<()> {
    let mut arena = rt.arena();
    for _ in 0..rounds {
        let ones = arena.from_slice([ROWS, COLUMNS], &[1; ROWS * COLUMNS])?;
        let mut sum = arena.zeros([ROWS, COLUMNS])?;
        let mut filled = Scope::<()>::output(&arena, [ROWS, COLUMNS], false)?;
        fill(&mut filled, 5)?;
        add_up(&ones, &mut sum)?;
        add_up(a, &mut sum)?;
        add_up(&sum, a)?;
        if forget {
            std::mem::forget(sum);
        }
        arena.reset();
    }
    Ok(())
}

/// Scales the first part of two of array `a`, and panics.
fn unwind(rt: &Runtime, arrays: &mut [M<'static>; ARRAYS], a: usize, b: usize, axis: usize) -> Result<()> {
    let panic = catch_unwind(AssertUnwindSafe(|| -> Result<()> {
        let (b, a) = pick(arrays, b, a);
        let arena = rt.arena();
        let mut local = arena.filled([ROWS, COLUMNS], 1)?;
        let mut own = rt.zeros([ROWS, COLUMNS])?;
        add_up(&local, &mut own)?;
        two_in_place(&MIX, true, b, &mut own)?;
        let mut parts = a.partition_into_mut(Axis(axis), 2)?;
        scale(&mut parts[0], 3)?;
        add_any(&own, &mut local)?;
        abandon(&mut local);
        let _guard = b.read();
        let _read_parts = own.partition(Axis(axis), 1)?;
        resume_unwind(Box::new("the submitter's"));
    }));
    match panic {
        Ok(result) => result,
        Err(panic) => {
            assert_eq!(panic.downcast_ref(), Some(&"the submitter's"));
            Ok(())
        }
    }
}

pub(crate) fn check(program: &[Action], rt: &Runtime, may_lose: bool) -> Result<()> {
    let mut oracle = Oracle::new();
    let (new, new_total) = (|| rt.zeros([ROWS, COLUMNS]), || rt.zeros([ROWS, COLUMNS]));
    let arrays = [new()?, new()?, new()?, new()?];
    let mut world = World { rt, arrays, totals: [new_total()?, new_total()?], may_lose };
    for action in program {
        oracle.predict(action);
        run(action, &mut world, &mut oracle)?;
    }
    assert_all_held(&world, &mut oracle);
    while rt.wait().is_err() {} // somebody has seen the failures
    Ok(())
}

/// Panics unless all elements are those expected.
pub(crate) fn assert_all_held(world: &World<'_>, oracle: &mut Oracle) {
    for (array, held) in world.arrays.iter().zip(&oracle.arrays) {
        assert_held(array.to_vec(), held, world.may_lose);
    }
    for (f, total) in world.totals.iter().enumerate() {
        assert_held(bits(total), &oracle.bits_of_total(f), world.may_lose);
    }
}

/// The schedulers of the runtime, by name, and others.
pub(crate) fn schedulers() -> Vec<&'static str> {
    let named = Runtime::schedulers().iter().copied();
    ["lifo", "scattered"].into_iter().chain(named).collect()
}

pub(crate) fn with_scheduler(builder: RuntimeBuilder, scheduler: &str) -> RuntimeBuilder {
    match scheduler {
        "lifo" | "scattered" => builder.custom_scheduler(Bounded::new(scheduler)),
        name => builder.scheduler(name),
    }
}

/// The number of programs; fewer for those that take long.
pub(crate) fn config(part: u32) -> ProptestConfig {
    let all = env::var("DAHL_RANDOM_PROGRAMS").ok().and_then(|text| text.parse().ok()).unwrap_or(4000_u32);
    ProptestConfig { cases: (all / part).max(1), failure_persistence: None, ..ProptestConfig::default() }
}

/// Whether a program forgets nothing, so that nothing may be left of it.
pub(crate) fn forgets_nothing(program: &[Action]) -> bool {
    use Action::*;
    !program.iter().any(|action| matches!(action, Forget(_) | LeakParts(..) | InArena(_, _, true)))
}
