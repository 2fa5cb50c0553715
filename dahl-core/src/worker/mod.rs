//! Workers: threads that take ready tasks and run them.
//!
//! Not here: which task goes where (`scheduler`), and what becomes ready when a task ends (`task`).

mod execute;
mod recycler;
mod sleep;

use std::cell::Cell;
use std::sync::Arc;
use std::time::{Duration, Instant};

pub(crate) use execute::{Bench, execute};
pub(crate) use recycler::Recycler;
pub(crate) use sleep::{Monitor, Sleep};

use crate::runtime::Shared;

/// How long an idle worker looks for work before it sleeps: a little more than waking it up costs.
const SPIN: Duration = Duration::from_micros(50);
/// Looks between two readings of the time.
const LOOKS: u32 = 32;

thread_local! {
    static IN_KERNEL: Cell<bool> = const { Cell::new(false) };
}

/// Whether this thread is running a kernel: then it must not wait.
pub(crate) fn in_kernel() -> bool {
    IN_KERNEL.get()
}

/// Runs `kernel` as one: calls that could wait are errors in it.
fn as_kernel<R>(kernel: impl FnOnce() -> R) -> R {
    struct Leave;
    impl Drop for Leave {
        fn drop(&mut self) {
            IN_KERNEL.set(false);
        }
    }
    IN_KERNEL.set(true);
    let _leave = Leave;
    kernel()
}

/// The life of worker `worker`: until the runtime stops and nothing is left to do.
pub(crate) fn run(shared: &Arc<Shared>, worker: usize) {
    let mut bench = Bench::new(Some(worker), format!("cpu {worker}"), shared.memory());
    while let Some(task) = next(shared, worker, &mut bench) {
        execute(shared, &mut bench, task);
    }
}

/// The next task; sleeps until there is one. Nothing when the runtime has stopped.
fn next(shared: &Shared, worker: usize, bench: &mut Bench) -> Option<crate::ReadyTask> {
    if let Some(task) = shared.next_task(worker) {
        return Some(task);
    }
    bench.recycler.flush(shared);
    shared.progress().notify();
    let start = Instant::now();
    loop {
        for _ in 0..LOOKS {
            if let Some(task) = shared.next_task(worker) {
                return Some(task);
            }
            std::hint::spin_loop();
        }
        if shared.is_stopped() && shared.is_drained() {
            shared.sleep().wake_all();
            return None;
        }
        if start.elapsed() > SPIN {
            let stopped = || shared.is_stopped() && shared.is_drained();
            if let Some(task) = shared.sleep().sleep(worker, || shared.next_task(worker), stopped) {
                return Some(task);
            }
        } else if shared.workers() >= shared.cores() {
            std::thread::yield_now(); // the thread that submits may want this core
        }
    }
}
