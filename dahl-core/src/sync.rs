//! All synchronisation between threads: atomics, locks, parking, spinning. No other file of the runtime uses them from
//! elsewhere.
//!
//! Under `cfg(dahl_fuzz)` they are shuttle's, which decides at each operation which thread runs next. Then a seed
//! determines the schedule of a whole program (`tests/fuzz`). `tests/loom` compiles single files with loom's in this
//! module's place.
//!
//! Not here: CUDA devices (`dahl-driver`), which follow no schedule and are left out under the fuzzer; counters, and cells
//! written once, on whose order nothing depends (`perf`), statics (`simd`), and crossbeam's queues, which never wait.

#[cfg(dahl_fuzz)]
mod parker;

#[cfg(not(dahl_fuzz))]
pub(crate) use std::{
    hint::spin_loop,
    sync::{Condvar, Mutex, MutexGuard, atomic},
    thread, thread_local,
};

#[cfg(not(dahl_fuzz))]
pub(crate) use crossbeam_utils::sync::{Parker, Unparker};

#[cfg(dahl_fuzz)]
pub(crate) use shuttle::{
    hint::spin_loop,
    sync::{Condvar, Mutex, MutexGuard, atomic},
    thread, thread_local,
};

#[cfg(dahl_fuzz)]
pub(crate) use parker::{Parker, Unparker};

use std::time::{Duration, Instant};

/// How long a thread spins before it parks. Time is not part of a reproducible schedule, so under the fuzzer iterations
/// are counted instead.
#[derive(Debug)]
pub(crate) struct Patience {
    end: Instant,
    looks_left: u32,
}

impl Patience {
    pub(crate) fn new(time: Duration) -> Self {
        Self { end: Instant::now() + time, looks_left: 2 }
    }

    /// Whether the time has passed.
    pub(crate) fn is_over(&mut self) -> bool {
        if cfg!(dahl_fuzz) {
            self.looks_left = self.looks_left.saturating_sub(1);
            self.looks_left == 0
        } else {
            Instant::now() >= self.end
        }
    }
}
