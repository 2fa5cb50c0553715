//! Machines to run programs on, and adverse schedulers.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use dahl_core::observer::{Observer, Submission};
use dahl_core::{Cpu, Machine, ReadyTask, Scheduler, Speed, Transfer, VirtualDevice, Workers};
use proptest::prelude::*;

/// One to three devices: of any speed, near and far, with memories from almost none to enough for everything; some are
/// lost at some time.
pub(crate) fn machine() -> impl Strategy<Value = Machine> {
    // An array of integers takes 128 bytes, a total 64.
    let memory = prop_oneof![
        1 => Just(None),
        4 => (1..20_u32).prop_map(|lines| Some(f64::from(64 * lines) / f64::from(1 << 20))),
    ];
    let latency_us = prop_oneof![Just(0.0), Just(1.0), Just(50.0)];
    let lost_after = prop_oneof![3 => Just(None), 1 => (0..30_u64).prop_map(Some)];
    let device = (0.1..20.0_f64, memory, latency_us, 0.01..10.0_f64, lost_after).prop_map(
        |(times, memory_mb, latency_us, link_gbytes_per_s, lost_after)| VirtualDevice {
            speed: Speed::default().times(times),
            memory_mb,
            latency_us,
            link_gbytes_per_s,
            lost_after,
            ..VirtualDevice::new("gpu")
        },
    );
    (prop::collection::vec(device, 1..4), 0.1..5.0_f64).prop_map(|(devices, times)| {
        let cpu = Cpu { speed: Speed::default().times(times), ..Cpu::default() };
        Machine { cpu, devices, ..Machine::default() }
    })
}

/// A scheduler that runs the task first that became ready last.
#[derive(Default)]
pub(crate) struct Lifo(Mutex<Vec<ReadyTask>>);

impl Scheduler for Lifo {
    fn name(&self) -> &'static str {
        "lifo"
    }

    fn push(&self, task: ReadyTask, _: Option<usize>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(task);
    }

    fn pop(&self, _: Option<usize>) -> Option<ReadyTask> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop()
    }
}

/// A scheduler that chooses a task's worker by its number, as far from its data as possible.
#[derive(Default)]
struct Scattered(Vec<Lifo>);

impl Scheduler for Scattered {
    fn name(&self) -> &'static str {
        "scattered"
    }

    fn start(&mut self, workers: &Workers) {
        self.0 = workers.as_slice().iter().map(|_| Lifo::default()).collect();
    }

    fn push(&self, task: ReadyTask, worker: Option<usize>) {
        let place = task.sequence().wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 33;
        self.0[place as usize % self.0.len()].push(task, worker);
    }

    fn pop(&self, worker: Option<usize>) -> Option<ReadyTask> {
        match worker {
            Some(worker) => self.0[worker].pop(None),
            None => self.0.iter().find_map(|queue| queue.pop(None)),
        }
    }
}

/// One of these schedulers, which ends the process when a program has asked for tasks unreasonably often.
pub(crate) struct Bounded {
    scheduler: Box<dyn Scheduler>,
    pops: AtomicU64,
}

/// More requests for tasks, and more transfers, than any program needs.
const UNREASONABLE: u64 = 1_000_000;

impl Bounded {
    pub(crate) fn new(name: &str) -> Self {
        let scheduler: Box<dyn Scheduler> =
            if name == "lifo" { Box::new(Lifo::default()) } else { Box::new(Scattered::default()) };
        Self { scheduler, pops: AtomicU64::new(0) }
    }
}

impl Scheduler for Bounded {
    fn name(&self) -> &'static str {
        self.scheduler.name()
    }

    fn start(&mut self, workers: &Workers) {
        self.scheduler.start(workers);
    }

    fn push(&self, task: ReadyTask, worker: Option<usize>) {
        self.scheduler.push(task, worker);
    }

    fn pop(&self, worker: Option<usize>) -> Option<ReadyTask> {
        let pops = self.pops.fetch_add(1, Ordering::Relaxed);
        assert!(pops < UNREASONABLE, "the program goes on for ever");
        self.scheduler.pop(worker)
    }
}

/// Counts transfers, whose number must be limited.
#[derive(Default)]
pub(crate) struct Transfers(AtomicU64);

impl Observer for Transfers {
    fn submitted(&self, _: &Submission<'_>) {}

    fn transferred(&self, _: &Transfer, begin_ns: u64, end_ns: u64) {
        let transfers = self.0.fetch_add(1, Ordering::Relaxed);
        assert!(transfers < UNREASONABLE && begin_ns <= end_ns, "transfers go on for ever");
    }
}
