//! The lock of commuting tasks.

#[path = "../../src/graph/commute_lock.rs"]
mod list;

use list::{CommuteLock, LockWaiter};
use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};
use loom::thread;

struct Task {
    next: AtomicPtr<Task>,
}

impl LockWaiter for Task {
    fn next(&self) -> &AtomicPtr<Self> {
        &self.next
    }
}

struct Model {
    commute_lock: CommuteLock<Task>,
    tasks: [Task; 3],
    /// The order in which the tasks ran, which they record: loom reports a race.
    data: UnsafeCell<Vec<usize>>,
    ran: [AtomicUsize; 3],
}

// SAFETY: `data` is guarded by the lock, which the model verifies; loom checks it.
#[allow(unsafe_code, reason = "a model of an array")]
unsafe impl Sync for Model {}
// SAFETY: as for `Sync`.
#[allow(unsafe_code, reason = "a model of an array")]
unsafe impl Send for Model {}

impl Model {
    /// Runs task `i` if it has the lock, and then the tasks to which the lock is passed.
    #[allow(unsafe_code, reason = "the lock's contract")]
    fn run(&self, i: usize) {
        if !self.commute_lock.acquire(&self.tasks[i]) {
            return;
        }
        let mut running = i;
        loop {
            // SAFETY: the task has the lock; loom checks that no other thread accesses it.
            self.data.with_mut(|data| unsafe { (*data).push(running) });
            assert_eq!(self.ran[running].fetch_add(1, Ordering::Relaxed), 0, "ran twice");
            // SAFETY: the task has the lock, and tasks do not move.
            let Some(next) = (unsafe { self.commute_lock.hand_over() }) else { return };
            running =
                self.tasks.iter().position(|task| std::ptr::eq(task, next)).expect("a task of the model");
        }
    }
}

fn explore(tasks_of_threads: [&'static [usize]; 2]) {
    loom::model(move || {
        let model = Arc::new(Model {
            commute_lock: CommuteLock::new(),
            tasks: std::array::from_fn(|_| Task { next: AtomicPtr::new(std::ptr::null_mut()) }),
            data: UnsafeCell::new(Vec::new()),
            ran: std::array::from_fn(|_| AtomicUsize::new(0)),
        });
        let other = Arc::clone(&model);
        let other = thread::spawn(move || tasks_of_threads[1].iter().for_each(|&i| other.run(i)));
        tasks_of_threads[0].iter().for_each(|&i| model.run(i));
        other.join().unwrap();
        let all = tasks_of_threads.iter().flat_map(|tasks| tasks.iter());
        assert!(all.clone().all(|&i| model.ran[i].load(Ordering::Relaxed) == 1), "one never ran");
        // SAFETY: every thread has ended.
        #[allow(unsafe_code, reason = "reads what the tasks changed")]
        let order = model.data.with(|data| unsafe { (*data).clone() });
        assert_eq!(order.len(), all.count());
        let place = |i: usize| order.iter().position(|&ran| ran == i);
        for came in tasks_of_threads {
            assert!(
                came.is_sorted_by_key(|&i| place(i)),
                "{came:?} came one after the other and ran as {order:?}"
            );
        }
    });
}

#[test]
fn two_tasks_run_one_at_a_time() {
    explore([&[0], &[1]]);
}

#[test]
fn who_waits_longest_gets_the_lock_next() {
    explore([&[0], &[1, 2]]);
}

#[test]
fn a_task_that_comes_later_gets_the_lock() {
    explore([&[0, 1], &[2]]);
}
