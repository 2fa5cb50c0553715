//! A training allocates nothing in its steady state: the number of allocations does not depend on its length.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicU64, Ordering};

use dahl::prelude::*;
use dahl_nn::prelude::*;

struct Counting;

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

// SAFETY: every call is forwarded to the system's allocator, with the caller's arguments.
#[allow(unsafe_code, reason = "counts allocations")]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract of `dealloc`.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const SAMPLES: usize = 400;
const BATCH: usize = 4;
const EPOCHS: usize = 20;
/// For each training: its pools, which grow to what may be in flight.
const OF_A_TRAINING: u64 = 480;
/// For each epoch: the order of its samples, its arena and its record.
const OF_AN_EPOCH: u64 = 8;

/// Requires that the allocations of a training do not depend on its number of steps. What replays need once, the recordings of the
/// step, is what a training of one epoch has.
fn a_long_training_allocates_no_more(replays: bool) -> dahl::Result<()> {
    let rt = Runtime::builder().cpu_workers(2).check(false).tasks_in_flight(256).build()?;
    let arena = rt.arena();
    let data = Synthetic::new(&[1, 12, 12], 4, SAMPLES, 5);
    let model = Sequential::<f32>::new(&arena, [1, 12, 12], 3).conv2d(4, 3)?.relu()?.max_pool2d(2)?;
    let mut model = model.conv2d(4, 3)?.relu()?.flatten()?.dense(8)?.relu()?.dense(4)?;
    let mut allocations = Vec::new();
    for epochs in [EPOCHS, 1, EPOCHS, 3 * EPOCHS] {
        let before = ALLOCATIONS.load(Ordering::Relaxed);
        let trainer = Trainer::new(&mut model, CrossEntropy, Sgd::new(0.01).momentum(0.9)).replays(replays);
        let history = trainer.batch_size(BATCH).micro_batch_size(2).epochs(epochs).fit(&data)?;
        rt.wait()?;
        allocations.push(ALLOCATIONS.load(Ordering::Relaxed) - before);
        assert_eq!(history.submitted.is_none(), replays);
    }
    let steps = EPOCHS * SAMPLES / BATCH;
    println!("allocations of {steps} steps, of one epoch, of {steps}, of {}: {allocations:?}", 3 * steps);
    let of_epochs = OF_AN_EPOCH * EPOCHS as u64;
    // Calls of a program wait in a pool of its own, which may grow more in one training than in another.
    let (of_recordings, of_pools) = if replays { (allocations[1], OF_A_TRAINING) } else { (0, 0) };
    let most = of_recordings + OF_A_TRAINING + of_epochs;
    assert!(allocations[2] <= most, "{allocations:?}: {} in {steps} steps", allocations[2]);
    let most = allocations[2] + 2 * of_epochs + of_pools;
    assert!(allocations[3] <= most, "{allocations:?}: in {} steps more", 2 * steps);
    Ok(())
}

/// One test, as allocations are counted in the whole process.
#[test]
fn a_long_training_allocates_no_more_than_a_short_one() -> dahl::Result<()> {
    a_long_training_allocates_no_more(false)?;
    a_long_training_allocates_no_more(true)
}
