//! [`Bandwidth`]: the measured bandwidth of copies in main memory, by each core alone and by all together.

use std::hint::black_box;
use std::sync::Barrier;
use std::thread;
use std::time::Instant;

use dahl::Topology;
use serde::Serialize;

use crate::load::Load;
use crate::output::Output;
use crate::trouble::Trouble;

/// Larger than the caches, which hold parts of both buffers.
const BUFFER_BYTES: usize = 64 << 20;
/// With many cores buffers are smaller, so that all of them together take at most this.
const ALL_BYTES: usize = 2 << 30;
const LEAST_BYTES: usize = 16 << 20;
const ROUNDS: usize = 7;

/// Copies in main memory. Each copied byte is read and written, so the memory bus moves twice as many.
#[derive(Serialize)]
pub(super) struct Bandwidth {
    /// `measured`.
    pub(super) basis: &'static str,
    pub(super) buffer_bytes: usize,
    pub(super) rounds: usize,
    pub(super) load: Load,
    /// Each core alone, on its first processor.
    pub(super) alone: Vec<OfCore>,
    /// All cores at the same time.
    pub(super) together_gbytes_per_s: f64,
}

#[derive(Clone, Serialize)]
pub(super) struct OfCore {
    pub(super) processor: usize,
    /// Whether the system allowed the thread to be bound to it.
    pub(super) bound: bool,
    /// The median of the rounds.
    pub(super) gbytes_per_s: f64,
}

impl Bandwidth {
    pub(super) fn measure(output: &Output) -> Result<Self, Trouble> {
        let topology = Topology::of_this_machine();
        let order = topology.binding_order();
        let cores = &order[..topology.cores().min(order.len())];
        let buffer_bytes = (ALL_BYTES / (2 * cores.len())).clamp(LEAST_BYTES, BUFFER_BYTES);
        let progress = output.progress(cores.len() + 1, "memory copies");
        let load = Load::now();
        let mut alone = Vec::new();
        for &processor in cores {
            progress.begin(format!("processor {processor}"));
            let (bound, rounds) = on_each(&[processor], buffer_bytes).remove(0);
            let gbytes_per_s = buffer_bytes as f64 / median(rounds);
            alone.push(OfCore { processor, bound, gbytes_per_s });
            progress.done();
        }
        progress.begin("all cores");
        let rounds = on_each(cores, buffer_bytes);
        // A round ends with its last copy.
        let slowest = |round: usize| rounds.iter().map(|(_, ns)| ns[round]).fold(0.0, f64::max);
        let slowest_ns = median((0..ROUNDS).map(slowest).collect());
        let together_gbytes_per_s = (buffer_bytes * cores.len()) as f64 / slowest_ns;
        Ok(Self { basis: "measured", buffer_bytes, rounds: ROUNDS, load, alone, together_gbytes_per_s })
    }
}

/// Copies on a thread for each processor, all of which start each round together. Returns whether each was bound, and
/// the nanoseconds of its rounds.
fn on_each(processors: &[usize], bytes: usize) -> Vec<(bool, Vec<f64>)> {
    let start = Barrier::new(processors.len());
    thread::scope(|scope| {
        let copy = |&processor: &usize| {
            let start = &start;
            scope.spawn(move || (bind(processor), copies(bytes, start)))
        };
        let threads: Vec<_> = processors.iter().map(copy).collect();
        threads.into_iter().map(|thread| thread.join().expect("a copy does not panic")).collect()
    })
}

/// The durations of copies after a warm-up, in nanoseconds.
fn copies(bytes: usize, start: &Barrier) -> Vec<f64> {
    // Written by this thread, so that the memory is on this core's node.
    let from = vec![1_u8; bytes];
    let mut to = vec![2_u8; bytes];
    let mut copy = || {
        start.wait();
        let begin = Instant::now();
        to.copy_from_slice(black_box(&from));
        black_box(&mut to);
        begin.elapsed().as_nanos() as f64
    };
    (0..=ROUNDS).map(|_| copy()).skip(1).collect()
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[(values.len() - 1) / 2]
}

/// Binds this thread to a processor; returns whether the system allowed it.
#[cfg(target_os = "linux")]
fn bind(processor: usize) -> bool {
    let mut set = rustix::thread::CpuSet::new();
    set.set(processor);
    rustix::thread::sched_setaffinity(None, &set).is_ok()
}

#[cfg(not(target_os = "linux"))]
fn bind(_: usize) -> bool {
    false
}
