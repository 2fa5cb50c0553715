//! [`TransferTime`]: how long copies between memory nodes take.

use std::hint::black_box;
use std::sync::PoisonError;
use std::time::Instant;

use super::store::{CopyTime, Store};
use super::warnings::Warnings;
use crate::sync::{Mutex, MutexGuard};

/// The duration of a copy from one memory node to another: `latency_us + bytes / gbytes_per_s`.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct TransferTime {
    /// The source; 0 is the main memory, and device `i` has node `i + 1`.
    pub from: usize,
    /// The destination.
    pub to: usize,
    /// The latency of every copy, in microseconds.
    pub latency_us: f64,
    /// Bytes copied per nanosecond.
    pub gbytes_per_s: f64,
}

/// The name of the main memory in the files of a real machine.
const HOST: &str = "host";

/// Sizes of small and large copies, in bytes: the difference gives the time per byte.
const SMALL: usize = 4 << 10;
const LARGE: usize = 16 << 20;
const REPETITIONS: usize = 9;

/// The durations of copies on a real machine, which has one memory node: measured when first needed, and then stored.
#[derive(Debug, Default)]
pub(super) struct Transfers {
    known: Mutex<Vec<CopyTime>>,
    unsaved: Mutex<Vec<CopyTime>>,
}

impl Transfers {
    /// With the stored durations.
    pub(super) fn new(store: Option<&Store>, warnings: &Warnings) -> Self {
        let known = store.map(|store| store.transfers(warnings)).unwrap_or_default();
        Self { known: Mutex::new(known), unsaved: Mutex::default() }
    }

    pub(super) fn times(&self) -> Vec<TransferTime> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if !known.iter().any(|copy| copy.from == HOST && copy.to == HOST) {
            let copy = measure();
            self.unsaved.lock().unwrap_or_else(PoisonError::into_inner).push(copy.clone());
            known.push(copy);
        }
        let of_host = |copy: &&CopyTime| copy.from == HOST && copy.to == HOST;
        let time = |copy: &CopyTime| {
            let CopyTime { latency_us, gbytes_per_s, .. } = *copy;
            TransferTime { from: 0, to: 0, latency_us, gbytes_per_s }
        };
        known.iter().filter(of_host).map(time).collect()
    }

    /// The durations that are not saved; the holder of the lock may save them.
    pub(super) fn unsaved(&self) -> MutexGuard<'_, Vec<CopyTime>> {
        self.unsaved.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Copies within the main memory, on this thread.
fn measure() -> CopyTime {
    let [small_ns, large_ns] = [SMALL, LARGE].map(copy_ns);
    let ns_per_byte = ((large_ns - small_ns) / (LARGE - SMALL) as f64).max(1e-6);
    CopyTime {
        from: HOST.to_owned(),
        to: HOST.to_owned(),
        latency_us: (small_ns - ns_per_byte * SMALL as f64).max(0.0) / 1e3,
        gbytes_per_s: 1.0 / ns_per_byte,
    }
}

/// The median duration of copies of `bytes` bytes, after a warm-up.
fn copy_ns(bytes: usize) -> f64 {
    let from = vec![1_u8; bytes];
    let mut to = vec![0_u8; bytes];
    to.copy_from_slice(&from);
    let mut ns: Vec<f64> = (0..REPETITIONS)
        .map(|_| {
            let start = Instant::now();
            to.copy_from_slice(black_box(&from));
            black_box(&mut to);
            start.elapsed().as_nanos() as f64
        })
        .collect();
    ns.sort_by(f64::total_cmp);
    ns[REPETITIONS / 2]
}
