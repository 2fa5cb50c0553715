//! [`HelperPool`]: idle workers that help a parallel kernel.
//!
//! A parallel kernel calls rayon's functions on its worker's thread, which is a thread of the runtime's rayon pool. The
//! jobs that it creates go to that thread's queue. The pool's other threads do not look there by themselves, because
//! each is always busy as a worker. So while a parallel kernel runs, a worker without a task asks rayon for a job.
//! Between two jobs it looks for tasks, as always. No thread waits for a helper: the kernel's own thread runs the jobs
//! that no other takes. (Only `rayon::broadcast` waits for every thread; kernels must not call it.)
//!
//! On a thread that is no worker's (the host, when it helps; a simulation) a kernel that creates jobs runs on a pool of
//! one thread. A kernel that creates none, such as one whose jobs are in a separate parallel kernel, runs on the
//! calling thread: handing it to another thread and waiting takes longer than many a kernel, and rayon's queue takes
//! memory.
//!
//! Not here: whether a kernel gets helpers (`autotune`).

use std::time::Duration;

use crossbeam_utils::CachePadded;

use crate::codelet::as_kernel;
#[cfg(not(dahl_fuzz))]
use crate::float_control::FloatControl;
use crate::sleep::Sleep;
#[cfg(not(dahl_fuzz))]
use crate::sync::Mutex;
use crate::sync::atomic::{AtomicUsize, Ordering};

/// How long a worker without a job pauses while a parallel kernel runs.
pub(crate) const REST: Duration = Duration::from_micros(100);

/// The idle workers, and the kernels that they may help.
#[derive(Default)]
pub(crate) struct HelperPool {
    /// The number of running kernels that accept help.
    kernels: CachePadded<AtomicUsize>,
    /// The number of workers without a task.
    idle: CachePadded<AtomicUsize>,
    /// For kernels on threads that are not workers.
    #[cfg(not(dahl_fuzz))]
    apart: Mutex<Option<std::sync::Arc<rayon::ThreadPool>>>,
}

impl HelperPool {
    /// The number of workers without a task.
    pub(crate) fn idle(&self) -> usize {
        self.idle.load(Ordering::Relaxed)
    }

    /// Counts this worker as idle until the guard is dropped.
    pub(crate) fn rest(&self) -> impl Drop + '_ {
        Counted::new(&self.idle)
    }

    /// Whether a kernel accepts help.
    #[inline]
    pub(crate) fn is_wanted(&self) -> bool {
        // Under the fuzzer there is no pool, so there is nothing to help with.
        !cfg!(dahl_fuzz) && self.kernels.load(Ordering::Relaxed) > 0
    }

    /// Runs `kernel` on this worker's thread; idle workers run its jobs.
    pub(crate) fn run<R>(&self, sleep: &Sleep, kernel: impl FnOnce() -> R) -> R {
        let _wanted = Counted::new(&self.kernels);
        sleep.wake_cpu_worker(); // it wakes the next when it has found a job
        kernel()
    }

    /// Runs one job of a kernel that accepts help, on a worker's thread. False if there is none.
    #[cfg(not(dahl_fuzz))]
    #[cold]
    pub(crate) fn help(&self, sleep: &Sleep) -> bool {
        let helped = as_kernel(rayon::yield_now) == Some(rayon::Yield::Executed);
        if helped && self.is_wanted() {
            sleep.wake_cpu_worker(); // where there was one job, there may be more
        }
        helped
    }

    /// Without a pool.
    #[cfg(dahl_fuzz)]
    pub(crate) fn help(&self, _: &Sleep) -> bool {
        as_kernel(|| false)
    }

    /// Runs `kernel` with all its jobs on one thread, which is not this one.
    #[cfg(not(dahl_fuzz))]
    pub(crate) fn run_apart<R: Send>(&self, kernel: impl FnOnce() -> R + Send) -> R {
        let mut apart = self.apart.lock().unwrap_or_else(|poison| poison.into_inner());
        if apart.is_none() {
            let pool = rayon::ThreadPoolBuilder::new()
                .num_threads(1)
                .thread_name(|_| "dahl apart".to_owned())
                .start_handler(|_| FloatControl::STANDARD.set())
                .panic_handler(detached)
                .build()
                .unwrap_or_else(|error| panic!("a thread for parallel kernels cannot be started: {error}"));
            *apart = Some(std::sync::Arc::new(pool));
        }
        let pool = apart.clone().expect("just made");
        drop(apart);
        let run = || pool.install(|| as_kernel(kernel));
        if rayon::current_thread_index().is_none() {
            return run();
        }
        // This is a thread of another pool, which would run that pool's jobs inside this kernel while it waits.
        std::thread::scope(|scope| match scope.spawn(run).join() {
            Ok(result) => result,
            Err(panic) => std::panic::resume_unwind(panic),
        })
    }

    /// Without a pool.
    #[cfg(dahl_fuzz)]
    pub(crate) fn run_apart<R: Send>(&self, kernel: impl FnOnce() -> R + Send) -> R {
        kernel()
    }
}

/// Increments a counter while it lives.
struct Counted<'c>(&'c AtomicUsize);

impl<'c> Counted<'c> {
    fn new(counter: &'c AtomicUsize) -> Self {
        counter.fetch_add(1, Ordering::SeqCst);
        Self(counter)
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Reports a panic in a job that a kernel spawned and did not wait for: there is no task left to fail.
#[cfg(not(dahl_fuzz))]
pub(crate) fn detached(_: Box<dyn std::any::Any + Send>) {
    eprintln!("dahl: a job panicked that a parallel kernel had spawned without waiting for it");
}
