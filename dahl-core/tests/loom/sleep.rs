//! Sleeping and waking: loom finds a lost wake-up as a deadlock.

#[allow(dead_code, reason = "the models use a part of it")]
#[path = "../../src/sleep.rs"]
mod rooms;

use std::time::Duration;

use loom::sync::Arc;
use loom::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use loom::thread;
use rooms::{Interest, Lookout, Monitor, Park, Sleep};

use crate::explore;

/// A lookout that sees nothing and sets no timeout.
struct Nobody;

impl Lookout for Nobody {
    fn patience(&self) -> Option<Duration> {
        None
    }

    fn look(&mut self) {}
}

/// A runtime whose tasks are a counter.
struct Work {
    sleep: Sleep,
    tasks: AtomicUsize,
    done: AtomicUsize,
    stopped: AtomicBool,
}

impl Work {
    fn new(workers: usize) -> Arc<Self> {
        Arc::new(Self {
            sleep: Sleep::new(workers, workers),
            tasks: AtomicUsize::new(0),
            done: AtomicUsize::new(0),
            stopped: AtomicBool::new(false),
        })
    }

    /// Takes a task, like the queues of schedulers: with no memory ordering beyond their own.
    fn take(&self) -> Option<()> {
        let less = |tasks: usize| tasks.checked_sub(1);
        self.tasks.fetch_update(Ordering::AcqRel, Ordering::Relaxed, less).ok().map(|_| ())
    }

    fn push(&self) {
        self.tasks.fetch_add(1, Ordering::Release);
    }

    fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    /// The loop of a worker.
    fn run(&self, worker: usize) {
        loop {
            let found = self
                .take()
                .or_else(|| self.sleep.sleep(worker, || self.take(), || self.is_stopped(), Park::Untimed));
            match found {
                Some(()) => {
                    self.done.fetch_add(1, Ordering::Relaxed);
                }
                None if self.is_stopped() => return,
                None => {}
            }
        }
    }

    /// Like a runtime that is dropped.
    fn stop(&self) {
        self.stopped.store(true, Ordering::SeqCst);
        self.sleep.wake_all();
    }

    /// Like a worker that takes one task and ends.
    fn run_one(&self, worker: usize) {
        while self
            .take()
            .or_else(|| self.sleep.sleep(worker, || self.take(), || false, Park::Untimed))
            .is_none()
        {}
    }
}

#[test]
fn a_task_for_anybody_wakes_the_worker() {
    explore(3, || {
        let work = Work::new(1);
        let worker = Arc::clone(&work);
        let worker = thread::spawn(move || worker.run_one(0));
        work.push();
        work.sleep.wake_one();
        worker.join().unwrap();
    });
}

#[test]
fn a_task_for_one_worker_wakes_it() {
    explore(3, || {
        let work = Work::new(2);
        let worker = Arc::clone(&work);
        let worker = thread::spawn(move || worker.run_one(1));
        work.push();
        work.sleep.wake(1);
        worker.join().unwrap();
    });
}

#[test]
fn a_worker_is_woken_again_and_again() {
    explore(2, || {
        let work = Work::new(1);
        let worker = Arc::clone(&work);
        let worker = thread::spawn(move || {
            worker.run_one(0);
            worker.run_one(0);
        });
        for _ in 0..2 {
            work.push();
            work.sleep.wake_one();
        }
        worker.join().unwrap();
    });
}

#[test]
fn two_tasks_wake_two_workers() {
    explore(1, || {
        let work = Work::new(2);
        let workers = [0, 1].map(|worker| {
            let work = Arc::clone(&work);
            thread::spawn(move || work.run_one(worker))
        });
        for _ in 0..2 {
            work.push();
            work.sleep.wake_one();
        }
        workers.into_iter().for_each(|worker| worker.join().unwrap());
    });
}

#[test]
fn a_runtime_that_stops_lets_its_worker_end() {
    explore(2, || {
        let work = Work::new(1);
        let worker = Arc::clone(&work);
        let worker = thread::spawn(move || worker.run(0));
        work.push();
        work.sleep.wake_one();
        work.stop();
        worker.join().unwrap();
        assert!(work.done.load(Ordering::Relaxed) <= 1);
    });
}

#[test]
fn the_host_sees_progress() {
    for interest in [Interest::Any, Interest::Bytes, Interest::Record] {
        explore(3, move || sees_progress(interest));
    }
}

fn sees_progress(interest: Interest) {
    let shared = Arc::new((Monitor::default(), AtomicBool::new(false)));
    let worker = Arc::clone(&shared);
    let worker = thread::spawn(move || {
        worker.1.store(true, Ordering::Relaxed);
        worker.0.notify();
    });
    shared.0.wait_until(interest, &mut Nobody, || shared.1.load(Ordering::Relaxed));
    worker.join().unwrap();
}

#[test]
fn two_hosts_see_what_two_workers_do() {
    explore(1, || {
        let shared = Arc::new((Monitor::default(), AtomicUsize::new(0)));
        let threads = [false, true].map(|waits| {
            let shared = Arc::clone(&shared);
            thread::spawn(move || {
                if waits {
                    shared.0.wait_until(Interest::Any, &mut Nobody, || shared.1.load(Ordering::Relaxed) == 2);
                } else {
                    shared.1.fetch_add(1, Ordering::Relaxed);
                    shared.0.notify();
                }
            })
        });
        shared.1.fetch_add(1, Ordering::Relaxed);
        shared.0.notify();
        shared.0.wait_until(Interest::Any, &mut Nobody, || shared.1.load(Ordering::Relaxed) == 2);
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    });
}

#[test]
fn a_host_that_waits_for_bytes_is_told_when_they_have_gone() {
    explore(2, || {
        struct Arena {
            progress: Monitor,
            dying_bytes: AtomicUsize,
            awaited_bytes: AtomicUsize,
        }
        let arena = Arc::new(Arena {
            progress: Monitor::default(),
            dying_bytes: AtomicUsize::new(4),
            awaited_bytes: AtomicUsize::new(0), // of a wait that is over
        });
        let workers = [1, 2].map(|bytes| {
            let arena = Arc::clone(&arena);
            thread::spawn(move || {
                let left = arena.dying_bytes.fetch_sub(bytes, Ordering::AcqRel) - bytes;
                arena.progress.notify_of_bytes(|| left <= arena.awaited_bytes.load(Ordering::Relaxed));
            })
        });
        arena.awaited_bytes.store(1, Ordering::Relaxed);
        let enough = || arena.dying_bytes.load(Ordering::Acquire) <= 1;
        arena.progress.wait_until(Interest::Bytes, &mut Nobody, enough);
        workers.into_iter().for_each(|worker| worker.join().unwrap());
    });
}

#[test]
fn a_host_that_waits_for_bytes_goes_on_when_the_last_worker_rests() {
    explore(2, || {
        struct Runtime {
            progress: Monitor,
            completed: AtomicUsize,
        }
        let runtime = Arc::new(Runtime { progress: Monitor::default(), completed: AtomicUsize::new(0) });
        let workers = [(); 2].map(|()| {
            let runtime = Arc::clone(&runtime);
            thread::spawn(move || {
                runtime.completed.fetch_add(1, Ordering::AcqRel);
                runtime.progress.notify_of_rest(|| runtime.completed.load(Ordering::Acquire) == 2);
            })
        });
        let is_drained = || runtime.completed.load(Ordering::Acquire) == 2;
        runtime.progress.wait_until(Interest::Bytes, &mut Nobody, is_drained);
        workers.into_iter().for_each(|worker| worker.join().unwrap());
    });
}

#[test]
fn a_host_that_waits_for_a_record_is_told_whoever_rests() {
    explore(2, || {
        let shared = Arc::new((Monitor::default(), AtomicBool::new(false)));
        let worker = Arc::clone(&shared);
        let worker = thread::spawn(move || {
            worker.1.store(true, Ordering::Relaxed);
            worker.0.notify_of_rest(|| false);
        });
        shared.0.wait_until(Interest::Record, &mut Nobody, || shared.1.load(Ordering::Relaxed));
        worker.join().unwrap();
    });
}

#[test]
fn a_change_that_does_not_concern_one_host_reaches_another() {
    explore(2, || {
        let shared = Arc::new((Monitor::default(), AtomicBool::new(false), AtomicBool::new(false)));
        let threads = [false, true].map(|waits| {
            let shared = Arc::clone(&shared);
            thread::spawn(move || {
                if waits {
                    shared.0.wait_until(Interest::Bytes, &mut Nobody, || shared.2.load(Ordering::Relaxed));
                } else {
                    shared.1.store(true, Ordering::Relaxed);
                    shared.0.notify_of_bytes(|| false);
                    shared.2.store(true, Ordering::Relaxed);
                    shared.0.notify_of_bytes(|| true);
                }
            })
        });
        shared.0.wait_until(Interest::Any, &mut Nobody, || shared.1.load(Ordering::Relaxed));
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    });
}

/// Sleeps again and again until it has a task: its park is timed, but time never wakes it.
fn park_timed(work: &Work, worker: usize) {
    let mut is_spared = || {
        thread::yield_now();
        true
    };
    let mut sleep = || work.sleep.sleep(worker, || work.take(), || false, Park::Timed(&mut is_spared));
    while work.take().or_else(&mut sleep).is_none() {}
    work.done.fetch_add(1, Ordering::Relaxed);
}

/// Two cores, a worker that runs a long task, another whose park is timed, and the host.
#[test]
fn a_task_that_wakes_nobody_is_run_when_the_host_waits() {
    for pushers in [1, 2] {
        explore(2 / pushers, move || run_when_the_host_waits(pushers));
    }
}

/// One of the pushers may find that a worker was not woken for another's task.
fn run_when_the_host_waits(pushers: usize) {
    let (work, progress) = (Work::new(2), Arc::new(Monitor::default()));
    let (timed, told) = (Arc::clone(&work), Arc::clone(&progress));
    let timed_thread = thread::spawn(move || {
        (0..pushers).for_each(|_| park_timed(&timed, 1));
        told.notify();
    });
    let push = |_| {
        let work = Arc::clone(&work);
        thread::spawn(move || {
            work.push();
            work.sleep.wake_one_on_free_core(2);
        })
    };
    let threads: Vec<_> = (0..pushers).map(push).collect();
    let is_done = || work.done.load(Ordering::Relaxed) == pushers;
    let waits = work.sleep.host_waits();
    progress.wait_until(Interest::Any, &mut Nobody, is_done);
    drop(waits);
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    timed_thread.join().unwrap();
}

/// Of three workers on three cores one runs a long task. A park is not timed if another worker sleeps, and then that
/// one is woken.
#[test]
fn a_worker_is_woken_beside_another_that_would_park_with_a_timeout() {
    explore(1, || {
        let work = Work::new(3);
        let (sleeps, timed) = (Arc::clone(&work), Arc::clone(&work));
        let sleeps = thread::spawn(move || sleeps.run_one(1));
        let timed_thread = thread::spawn(move || park_timed(&timed, 2));
        for _ in 0..2 {
            work.push();
            work.sleep.wake_one_on_free_core(3);
        }
        drop(work.sleep.host_waits());
        sleeps.join().unwrap();
        timed_thread.join().unwrap();
    });
}

/// A CPU's worker and a device's, with tasks of their own, are both woken, in either order of the pushes.
#[test]
fn a_task_wakes_a_worker_that_can_run_it() {
    explore(2, || {
        let sleep = Arc::new(Sleep::new(2, 1));
        let tasks = Arc::new([AtomicUsize::new(0), AtomicUsize::new(0)]);
        let workers = [0, 1].map(|worker| {
            let (sleep, tasks) = (Arc::clone(&sleep), Arc::clone(&tasks));
            thread::spawn(move || {
                let take = || (tasks[worker].swap(0, Ordering::AcqRel) > 0).then_some(());
                while sleep.sleep(worker, take, || false, Park::Untimed).or_else(take).is_none() {}
            })
        });
        for task in [1, 0] {
            tasks[task].fetch_add(1, Ordering::Release);
            sleep.wake_one_that(|worker| worker == task);
        }
        workers.into_iter().for_each(|worker| worker.join().unwrap());
    });
}
