//! Tasks cost no allocation: those of a program are bounded by the tasks in flight, not by the tasks it runs.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicU64, Ordering};

use dahl::Result;
use dahl::prelude::*;

struct Counting;

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

// SAFETY: every call goes to the system's allocator, with what the caller gave.
#[allow(unsafe_code, reason = "counts allocations")]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller's.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's.
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

/// What the pools take until they are as large as the tasks in flight can make them, however many tasks there are: the
/// arguments of each record; for each step in flight a region, its list of chunks, a chunk, and a buffer of the
/// reduction; and some for the models of three threads. When they get there depends on the workers' pace.
const POOLS: u64 = 5 * TASKS_IN_FLIGHT as u64 + 200;

#[test]
fn allocations_do_not_grow_with_the_number_of_tasks() -> Result<()> {
    for scheduler in ["ws", "eager"] {
        let rt = Runtime::builder()
            .cpu_workers(2)
            .scheduler(scheduler)
            .tasks_in_flight(TASKS_IN_FLIGHT)
            .check(false) // which keeps copies of what it compares
            .build()?;
        let mut arena = rt.arena();
        let x = rt.from_vec([100], vec![1.0_f32; 100])?;
        let mut sum = rt.zeros([])?;
        let before = ALLOCATIONS.load(Ordering::Relaxed);
        for _ in 0..STEPS {
            step(&mut arena, &x, &mut sum)?;
        }
        rt.wait()?;
        let count = ALLOCATIONS.load(Ordering::Relaxed) - before;
        println!("{scheduler}: {count} allocations in {} tasks", 3 * STEPS);
        assert!(count <= POOLS, "{scheduler}: {count} allocations in {} tasks", 3 * STEPS);
    }
    Ok(())
}
