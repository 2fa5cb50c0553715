//! The number of allocations of a program depends on the tasks in flight, not on the number of tasks that it runs.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use dahl::Result;
use dahl::ndarray::Axis;
use dahl::prelude::*;

struct Counting;

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

/// Held by the test that counts, one at a time.
static COUNTING: Mutex<()> = Mutex::new(());

// SAFETY: every call goes to the system's allocator, with what the caller gave.
#[allow(unsafe_code, reason = "counts allocations")]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: guaranteed by the caller.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: guaranteed by the caller.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// `out = alpha * x + y`.
#[codelet(R, R, W, in_place = y)]
fn axpy<T: Real>(x: T, y: T, alpha: T) -> T {
    alpha * x + y
}

/// Adds to `out` the sum of `x`.
#[codelet(R, REDUX)]
fn total<T: Real>(x: &[T], mut out: dahl::ndarray::ArrayViewMut0<T::Compute>) {
    for x in x {
        out[[]] += x.widen();
    }
}

/// `x = 2 x`.
#[codelet(RW)]
fn double<T: Real>(mut x: dahl::ndarray::ArrayViewMut2<T>) {
    x.map_inplace(|x| *x += *x);
}

/// `out = x - y`, where an extent of 1 stretches.
#[codelet(R, R, W, broadcast)]
fn difference<T: Real>(x: T, y: T) -> T {
    x - y
}

/// `out` is the sum of eight arrays: a map of more parameters than most have.
#[codelet(R, R, R, R, R, R, R, R, W, broadcast)]
#[allow(clippy::too_many_arguments, reason = "counts allocations of many")]
fn sum_of_eight<T: Real>(a: T, b: T, c: T, d: T, e: T, f: T, g: T, h: T) -> T {
    ((a + b) + (c + d)) + ((e + f) + (g + h))
}

/// A step: arrays in an arena, tasks in every variant, a reset.
fn step(arena: &mut Arena, x: &Vector<'_, f32>, sum: &mut Scalar<'_, f32>) -> Result<()> {
    let mut y: Vector<f32> = arena.zeros([100])?;
    axpy_self(x, &mut y, 2.0)?;
    let z = axpy_init(arena, x, &y, 1.0)?;
    total(&z, sum)?;
    arena.reset();
    Ok(())
}

const TASKS_IN_FLIGHT: usize = 64;
const STEPS: usize = 40_000;

/// The allocations of the pools until they are as large as the tasks in flight need, for any number of tasks: the
/// arguments of each record; for each step in flight a region, its list of chunks, a chunk, and a buffer of the
/// reduction; and some for the models of three threads. When the pools reach this size depends on the pace of the
/// workers.
const POOLS: u64 = 5 * TASKS_IN_FLIGHT as u64 + 200;

/// The further allocations of `heft`: lists for each task in flight, and for each array that they use.
const GRAPH: u64 = 10 * TASKS_IN_FLIGHT as u64;

/// All schedulers that need no plan.
fn schedulers() -> impl Iterator<Item = &'static str> {
    Runtime::schedulers().iter().copied().filter(|&name| name != "static")
}

/// How often memory was allocated for all steps.
fn allocations_of_steps(rt: &Runtime) -> Result<u64> {
    let mut arena = rt.arena();
    let x = rt.from_vec([100], vec![1.0_f32; 100])?;
    let mut sum = rt.zeros([])?;
    let before = ALLOCATIONS.load(Ordering::Relaxed);
    for _ in 0..STEPS {
        step(&mut arena, &x, &mut sum)?;
    }
    rt.wait()?;
    Ok(ALLOCATIONS.load(Ordering::Relaxed) - before)
}

#[test]
fn allocations_do_not_grow_with_the_number_of_tasks() -> Result<()> {
    let _counting = COUNTING.lock().unwrap_or_else(|poison| poison.into_inner());
    for scheduler in schedulers() {
        let rt = Runtime::builder()
            .cpu_workers(2)
            .scheduler(scheduler)
            .tasks_in_flight(TASKS_IN_FLIGHT)
            .check(false) // which keeps copies of what it compares
            .build()?;
        let count = allocations_of_steps(&rt)?;
        println!("{scheduler}: {count} allocations in {} tasks", 3 * STEPS);
        let pools = if scheduler == "heft" { POOLS + GRAPH } else { POOLS };
        assert!(count <= pools, "{scheduler}: {count} allocations in {} tasks", 3 * STEPS);
    }
    Ok(())
}

#[test]
fn statistics_allocate_nothing_before_they_are_asked_for() -> Result<()> {
    let _counting = COUNTING.lock().unwrap_or_else(|poison| poison.into_inner());
    let builder = Runtime::builder().cpu_workers(2).tasks_in_flight(TASKS_IN_FLIGHT).check(false);
    let rt = builder.statistics(true).build()?;
    let count = allocations_of_steps(&rt)?;
    assert!(count <= POOLS, "{count} allocations in {} tasks", 3 * STEPS);
    assert!(rt.statistics().workers.iter().all(|worker| worker.waiting_us.is_some()));
    Ok(())
}

/// Maps of operands that stretch along the last axis or along the first, and of more than eight operands.
fn step_of_stretched_maps(
    whole: &mut Matrix<'_, f32>,
    column: &Matrix<'_, f32>,
    row: &Matrix<'_, f32>,
    out: &mut Matrix<'_, f32>,
) -> Result<()> {
    difference(whole, column, out)?;
    difference(out, row, whole)?;
    sum_of_eight(whole, row, column, row, column, row, column, row, out)
}

#[test]
fn maps_of_stretched_operands_allocate_nothing() -> Result<()> {
    let _counting = COUNTING.lock().unwrap_or_else(|poison| poison.into_inner());
    let rt = Runtime::builder().check(false).cpu_workers(2).tasks_in_flight(TASKS_IN_FLIGHT).build()?;
    let (mut whole, mut out) = (rt.zeros([30, 50])?, rt.zeros([30, 50])?);
    let (column, row) = (rt.zeros([30, 1])?, rt.zeros([1, 50])?);
    let mut run = |steps: usize| -> Result<u64> {
        let before = ALLOCATIONS.load(Ordering::Relaxed);
        for _ in 0..steps {
            step_of_stretched_maps(&mut whole, &column, &row, &mut out)?;
        }
        rt.wait()?;
        Ok(ALLOCATIONS.load(Ordering::Relaxed) - before)
    };
    // The lists of each record in flight grow to nine arrays, and the workspace of each worker to a map's.
    run(STEPS / 10)?;
    let count = run(STEPS)?;
    assert!(count <= POOLS, "{count} allocations in {} maps", 3 * STEPS);
    Ok(())
}

/// A forward and a reverse pass under a tape: values that are used twice, stretched inputs, a rule and derived maps.
fn step_on_a_tape(
    tape: &mut Tape<'_>,
    x: &Matrix<'_, f32>,
    row: &Matrix<'_, f32>,
    sum: &mut Matrix<'_, f32>,
) -> Result<()> {
    let y = difference_init(tape, x, row)?;
    let z = axpy_init(tape, &y, &y, 0.5)?;
    let product = dahl::ops::matmul_init(tape, &z, x)?;
    let loss = dahl::ops::sum_init(tape, &product)?;
    let (by_x, by_row) = tape.gradients(&loss, (x, row))?;
    axpy_self(&by_x, sum, 0.5)?;
    drop(by_row);
    tape.accumulate(&loss, (x, sum))?;
    tape.reset();
    Ok(())
}

#[test]
fn allocations_do_not_grow_with_the_number_of_passes_of_a_tape() -> Result<()> {
    let _counting = COUNTING.lock().unwrap_or_else(|poison| poison.into_inner());
    let rt = Runtime::builder().check(false).cpu_workers(2).tasks_in_flight(TASKS_IN_FLIGHT).build()?;
    let (x, row, mut sum) = (rt.zeros([8, 8])?, rt.zeros([1, 8])?, rt.zeros([8, 8])?);
    let mut tape = rt.tape();
    let mut run = |steps: usize| -> Result<u64> {
        let before = ALLOCATIONS.load(Ordering::Relaxed);
        for _ in 0..steps {
            step_on_a_tape(&mut tape, &x, &row, &mut sum)?;
        }
        rt.wait()?;
        Ok(ALLOCATIONS.load(Ordering::Relaxed) - before)
    };
    run(STEPS / 10)?;
    let count = run(STEPS / 4)?;
    println!("{count} allocations in {} passes", STEPS / 4);
    assert!(count <= POOLS, "{count} allocations in {} passes", STEPS / 4);
    Ok(())
}

/// Partitions for change and for reading, and parts of parts, with tasks on all of them.
fn step_in_parts(x: &mut Matrix<'_, f32>, sum: &mut Scalar<'_, f32>) -> Result<()> {
    for part in x.partition_mut(Axis(0), 3)?.iter_mut() {
        for part in part.partition_mut(Axis(1), 2)?.iter_mut() {
            double(part)?;
        }
    }
    for part in x.partition(Axis(1), 4)?.iter() {
        total(part, sum)?;
    }
    for part in x.partition_mut_by(Axis(1), &[2, 0, 7])?.iter_mut() {
        double(part)?;
    }
    Ok(())
}

/// The further allocations of the pools with partitions: a partition is reused when its tasks are done, so there are as
/// many as the tasks in flight keep open; each with its states, its shelf and its list, and the same for parts of
/// parts.
const PARTITIONS: u64 = 40 * TASKS_IN_FLIGHT as u64;

#[test]
fn allocations_do_not_grow_with_the_number_of_partitions() -> Result<()> {
    let _counting = COUNTING.lock().unwrap_or_else(|poison| poison.into_inner());
    for scheduler in ["ws", "eager", "heft"] {
        let rt = Runtime::builder()
            .check(false)
            .cpu_workers(2)
            .scheduler(scheduler)
            .tasks_in_flight(TASKS_IN_FLIGHT)
            .build()?;
        let mut x = rt.zeros([7, 9])?;
        let mut sum = rt.zeros([])?;
        let before = ALLOCATIONS.load(Ordering::Relaxed);
        for _ in 0..STEPS {
            step_in_parts(&mut x, &mut sum)?;
        }
        rt.wait()?;
        let count = ALLOCATIONS.load(Ordering::Relaxed) - before;
        println!("{scheduler}: {count} allocations in {} partitions", 6 * STEPS);
        assert!(count <= POOLS + PARTITIONS, "{scheduler}: {count} allocations in {} partitions", 6 * STEPS);
    }
    Ok(())
}
