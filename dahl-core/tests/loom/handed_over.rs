//! Splits and joins that are handed over while the runtime stops: none is left behind, and none runs twice.

#[path = "../../src/graph/handed_over.rs"]
mod count;

use count::HandedOver;
use loom::sync::Arc;
use loom::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use loom::thread;

use crate::explore;

/// A runtime with one queue of joins.
#[derive(Default)]
struct Runtime {
    handed_over: HandedOver,
    queue: AtomicUsize,
    stopped: AtomicBool,
    /// Tasks that were submitted: one or none. And completed.
    completed: AtomicBool,
    run: AtomicUsize,
}

impl Runtime {
    fn run_join(&self) {
        self.run.fetch_add(1, Ordering::Relaxed);
        self.handed_over.remove();
    }

    fn take(&self) -> bool {
        let less = |joins: usize| joins.checked_sub(1);
        self.queue.fetch_update(Ordering::AcqRel, Ordering::Relaxed, less).is_ok()
    }

    /// The life of a worker, until it leaves.
    fn work(&self, is_drained: impl Fn(&Self) -> bool) {
        loop {
            if self.take() {
                self.run_join();
            } else if self.stopped.load(Ordering::Relaxed) && is_drained(self) {
                return;
            } else {
                thread::yield_now();
            }
        }
    }

    fn push(&self) {
        self.queue.fetch_add(1, Ordering::Release);
    }
}

#[test]
fn what_a_submitter_hands_over_runs_though_the_runtime_stops() {
    explore(3, || {
        let runtime = Arc::new(Runtime::default());
        let worker = Arc::clone(&runtime);
        let worker = thread::spawn(move || worker.work(|runtime| runtime.handed_over.is_empty()));
        let submitter = Arc::clone(&runtime);
        let submitter = thread::spawn(move || {
            submitter.handed_over.add();
            if submitter.stopped.load(Ordering::Relaxed) {
                submitter.run_join();
            } else {
                submitter.push();
            }
        });
        runtime.stopped.store(true, Ordering::Relaxed);
        submitter.join().unwrap();
        worker.join().unwrap();
        assert_eq!(runtime.run.load(Ordering::Relaxed), 1);
    });
}

#[test]
fn what_a_worker_hands_over_runs_before_the_others_leave() {
    explore(3, || {
        let runtime = Arc::new(Runtime::default());
        let other = Arc::clone(&runtime);
        let other = thread::spawn(move || {
            other.work(|runtime| runtime.completed.load(Ordering::Acquire) && runtime.handed_over.is_empty());
        });
        runtime.stopped.store(true, Ordering::Relaxed);
        // Its task makes a join ready, and is counted afterwards.
        runtime.handed_over.add();
        runtime.push();
        runtime.completed.store(true, Ordering::Release);
        other.join().unwrap();
        assert_eq!(runtime.run.load(Ordering::Relaxed), 1);
    });
}
