//! The counters of a task's record: its pending dependencies, and its remaining users.

#[path = "../../src/graph/countdown.rs"]
mod count;

use count::Countdown;
use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::sync::atomic::{AtomicUsize, Ordering};
use loom::thread;

use crate::explore;

/// A task on two arrays, each written by a task before it.
struct Task {
    pending: Countdown,
    unretired: Countdown,
    arrays: [UnsafeCell<usize>; 2],
    runs: AtomicUsize,
    free: AtomicUsize,
}

// SAFETY: the arrays are written by one task each, and by this one when it is ready, which the models verify.
#[allow(unsafe_code, reason = "a model of a task")]
unsafe impl Sync for Task {}
// SAFETY: as for `Sync`.
#[allow(unsafe_code, reason = "a model of a task")]
unsafe impl Send for Task {}

impl Task {
    /// Armed for `events` of each kind, and one more for the submitter.
    fn new(events: u32) -> Arc<Self> {
        let task = Self {
            pending: Countdown::new(),
            unretired: Countdown::new(),
            arrays: [UnsafeCell::new(0), UnsafeCell::new(0)],
            runs: AtomicUsize::new(0),
            free: AtomicUsize::new(0),
        };
        task.arm(events);
        Arc::new(task)
    }

    fn arm(&self, events: u32) {
        self.pending.arm(events + 1);
        self.unretired.arm(events + 1);
    }

    #[allow(unsafe_code, reason = "loom's cell reports a race")]
    fn write(&self, array: usize) {
        // SAFETY: loom checks that no other thread accesses it.
        self.arrays[array].with_mut(|array| unsafe { *array += 1 });
    }

    /// Counts ready links, and runs the task if it now can run.
    fn ready(&self, links: u32) {
        if self.pending.count_unpinned(links) {
            assert_eq!(self.runs.fetch_add(1, Ordering::Relaxed), 0, "run twice");
            self.write(0);
            self.write(1);
            self.retire(1);
        }
    }

    /// Counts retired links, and reuses the record if it now can.
    fn retire(&self, links: u32) {
        if self.unretired.count(links) {
            assert_eq!(self.free.fetch_add(1, Ordering::Relaxed), 0, "free twice");
            self.arm(0);
            self.write(0);
            self.write(1);
        }
    }
}

#[test]
fn a_task_runs_once_after_what_it_waits_for() {
    explore(3, || {
        let task = Task::new(2);
        let before = [0, 1].map(|array| {
            let task = Arc::clone(&task);
            thread::spawn(move || {
                task.write(array);
                task.ready(1);
            })
        });
        task.ready(1); // it is submitted
        before.into_iter().for_each(|before| before.join().unwrap());
        assert_eq!(task.runs.load(Ordering::Relaxed), 1);
    });
}

#[test]
fn links_that_are_ready_at_once_count_together() {
    explore(3, || {
        let task = Task::new(2);
        let before = Arc::clone(&task);
        let before = thread::spawn(move || {
            before.write(1);
            before.ready(1);
        });
        task.write(0);
        task.ready(2);
        before.join().unwrap();
        assert_eq!(task.runs.load(Ordering::Relaxed), 1);
    });
}

#[test]
fn a_record_is_used_anew_once_after_its_last_link() {
    explore(3, || {
        let task = Task::new(2);
        task.pending.count_unpinned(2);
        let links = [1, 1].map(|links| {
            let task = Arc::clone(&task);
            thread::spawn(move || task.retire(links))
        });
        task.ready(1); // runs it, which is the third
        links.into_iter().for_each(|link| link.join().unwrap());
        assert_eq!(task.free.load(Ordering::Relaxed), 1);
    });
}

#[test]
#[allow(unsafe_code, reason = "loom's cell reports a race")]
fn who_pins_a_record_sees_it_filled_in_and_alone_or_not_gives_it_back() {
    explore(3, || {
        let task = Arc::new(Task {
            pending: Countdown::new(),
            unretired: Countdown::new(),
            arrays: [UnsafeCell::new(0), UnsafeCell::new(0)],
            runs: AtomicUsize::new(0),
            free: AtomicUsize::new(0),
        });
        let give_back = |task: &Task| {
            task.write(0); // the next task fills it in
            assert_eq!(task.free.fetch_add(1, Ordering::Relaxed), 0, "free twice");
        };
        let other = Arc::clone(&task);
        let other = thread::spawn(move || {
            if other.unretired.add_one() {
                // SAFETY: loom checks that no other thread writes it.
                other.arrays[0].with(|filled_in| assert_eq!(unsafe { *filled_in }, 1));
                assert!(!other.pending.is_running());
                if other.unretired.count(1) {
                    give_back(&other);
                }
            }
        });
        task.write(0); // it is filled in
        task.unretired.arm(1);
        if task.unretired.count(1) {
            give_back(&task);
        }
        other.join().unwrap();
        assert_eq!(task.free.load(Ordering::Relaxed), 1);
    });
}
