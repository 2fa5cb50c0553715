//! How threads sleep and are woken: [`Sleep`] for workers without tasks, [`Monitor`] for a host thread that waits for
//! progress.
//!
//! Both rest on one argument. The sleeper first announces that it will sleep, then checks once more for work. The waker
//! first makes its change, then checks whether somebody sleeps. With a sequentially consistent fence between the two
//! steps on each side, at least one of them sees the other.
//!
//! No more threads than cores should be awake: a woken worker may take its core from the submitting thread, which then
//! submits too slowly for the workers, so that they sleep and are woken again. So where there are as many workers as
//! cores, a worker that has found no task while tasks were submitted one after the other parks with a *timeout*, if no
//! other worker sleeps: it checks for tasks every millisecond. While all others are awake, and the host does not wait,
//! a new task does not wake it ([`Sleep::wake_one_on_free_core`]). It takes that task at the latest when
//!
//! * the host begins to wait, and finds that a worker was not woken ([`Sleep::host_waits`]; again both sides announce
//!   first and then check), or
//! * its timeout ends. It ignores the task as long as many tasks are submitted and completed from one timeout to the
//!   next: then the host and the other workers use all cores.

use std::time::Duration;

use crate::sync::atomic::{AtomicBool, AtomicUsize, Ordering, fence};
use crate::sync::{Condvar, Mutex, MutexGuard, Parker, Unparker};

/// The period of a timed park.
const PARK_TIMEOUT: Duration = Duration::from_millis(1);

/// The parked workers.
pub(crate) struct Sleep {
    /// Their number, or [`ONE_TIMED`] for one whose park is timed.
    asleep: AtomicUsize,
    /// The number of waiting threads of the host.
    waiting_hosts: AtomicUsize,
    /// Whether a worker was not woken for a task because all cores were in use.
    is_owed: AtomicBool,
    sleepers: Mutex<Vec<Sleeper>>,
    /// Workers from here on are devices', and run other tasks than those before.
    cpu_workers: usize,
    parkers: Vec<Mutex<Parker>>,
    unparkers: Vec<Unparker>,
}

/// Stands for one parked worker with a timed park: in one word with their number, so that it is not mistaken for
/// another one.
const ONE_TIMED: usize = usize::MAX;

struct Sleeper {
    worker: usize,
    is_timed: bool,
}

/// How long a worker is parked.
pub(crate) enum Park<'a> {
    /// Until it is woken,
    Untimed,
    /// or for a given time,
    AtMost(Duration),
    /// or, if no other worker is parked, until a check every millisecond finds that it is needed.
    Timed(&'a mut dyn FnMut() -> bool),
}

impl Sleep {
    /// For `workers` workers, of which the first `cpu_workers` are of CPUs.
    pub(crate) fn new(workers: usize, cpu_workers: usize) -> Self {
        let parkers: Vec<Parker> = (0..workers).map(|_| Parker::new()).collect();
        let unparkers = parkers.iter().map(|parker| parker.unparker().clone()).collect();
        Self {
            asleep: AtomicUsize::new(0),
            waiting_hosts: AtomicUsize::new(0),
            is_owed: AtomicBool::new(false),
            sleepers: Mutex::new(Vec::with_capacity(workers)),
            cpu_workers,
            parkers: parkers.into_iter().map(Mutex::new).collect(),
            unparkers,
        }
    }

    fn sleepers(&self) -> MutexGuard<'_, Vec<Sleeper>> {
        self.sleepers.lock().unwrap_or_else(|poison| poison.into_inner())
    }

    /// The workers that are parked now.
    pub(crate) fn sleeping(&self) -> Vec<usize> {
        self.sleepers().iter().map(|sleeper| sleeper.worker).collect()
    }

    /// Publishes the parked workers, after a change.
    fn tell(&self, sleepers: &[Sleeper]) {
        let one_is_timed = matches!(sleepers, [Sleeper { is_timed: true, .. }]);
        self.asleep.store(if one_is_timed { ONE_TIMED } else { sleepers.len() }, Ordering::Relaxed);
    }

    /// Parks until woken, or as `park` says, unless `look` finds something or `stays` holds.
    pub(crate) fn sleep<W>(
        &self,
        worker: usize,
        look: impl Fn() -> Option<W>,
        stays: impl Fn() -> bool,
        park: Park<'_>,
    ) -> Option<W> {
        let mut sleepers = self.sleepers();
        let park = match park {
            Park::Timed(_) if !sleepers.is_empty() => Park::Untimed,
            park => park,
        };
        sleepers.push(Sleeper { worker, is_timed: matches!(park, Park::Timed(_)) });
        self.tell(&sleepers);
        drop(sleepers);
        fence(Ordering::SeqCst);
        let found = look();
        if found.is_none() && !stays() {
            self.park(worker, park);
        }
        let was_woken = !self.remove(worker);
        // A thread that pushes a task and still considers this park timed has pushed the task before this, and the next
        // look finds it.
        fence(Ordering::SeqCst);
        if was_woken && found.is_some() {
            self.wake_in_place_of(worker); // it was woken for another task than the one it found
        }
        found
    }

    /// Parks `worker`, which can take no task now, for at most `longest`. Nobody wakes it for a task.
    #[cfg_attr(any(dahl_fuzz, not(feature = "cuda")), allow(dead_code, reason = "there are no such devices"))]
    pub(crate) fn pause(&self, worker: usize, longest: Duration) {
        self.park(worker, Park::AtMost(longest));
    }

    fn park(&self, worker: usize, park: Park<'_>) {
        let parker = self.parkers[worker].lock().unwrap_or_else(|poison| poison.into_inner());
        match park {
            Park::Untimed => parker.park(),
            Park::AtMost(longest) => parker.park_timeout(longest),
            Park::Timed(is_spared) => loop {
                parker.park_timeout(PARK_TIMEOUT);
                let was_woken = self.sleepers().iter().all(|sleeper| sleeper.worker != worker);
                if was_woken || !is_spared() {
                    break;
                }
            },
        }
    }

    /// Removes `worker` from the list; true if it was there.
    fn remove(&self, worker: usize) -> bool {
        let mut sleepers = self.sleepers();
        let place = sleepers.iter().position(|sleeper| sleeper.worker == worker);
        if let Some(place) = place {
            sleepers.swap_remove(place);
            self.tell(&sleepers);
        }
        place.is_some()
    }

    /// Wakes a parked worker, after work was added that any worker can do.
    pub(crate) fn wake_one(&self) {
        fence(Ordering::SeqCst);
        if self.asleep.load(Ordering::Relaxed) > 0 {
            self.wake_last();
        }
    }

    /// Wakes a worker of those that `can` do the work that was made, if one of them sleeps. Whether one did.
    pub(crate) fn wake_one_that(&self, can: impl Fn(usize) -> bool) -> bool {
        fence(Ordering::SeqCst);
        if self.asleep.load(Ordering::Relaxed) == 0 {
            return false;
        }
        let mut sleepers = self.sleepers();
        let Some(place) = sleepers.iter().rposition(|sleeper| can(sleeper.worker)) else { return false };
        let worker = sleepers.remove(place).worker;
        self.tell(&sleepers);
        drop(sleepers);
        self.unparkers[worker].unpark();
        true
    }

    /// Wakes others in place of `worker`, which was woken and has found something else to do: a CPU worker and a device's
    /// worker, since the task that it was woken for may be one for either. `worker` finds what only it can do later.
    pub(crate) fn wake_in_place_of(&self, worker: usize) {
        self.wake_cpu_worker();
        self.wake_one_that(|other| other >= self.cpu_workers && other != worker);
    }

    /// Wakes a CPU worker, if one sleeps. Whether one did.
    pub(crate) fn wake_cpu_worker(&self) -> bool {
        self.wake_one_that(|worker| worker < self.cpu_workers)
    }

    /// As [`wake_one`](Self::wake_one), but not the only one that sleeps, if its park is timed and each of `cores` has a
    /// thread: the other workers, and the host unless it waits.
    pub(crate) fn wake_one_on_free_core(&self, cores: usize) {
        fence(Ordering::SeqCst);
        let asleep = self.asleep.load(Ordering::Relaxed);
        if asleep == 0 {
            return;
        }
        if asleep == ONE_TIMED && self.are_used(cores) {
            if self.is_owed.load(Ordering::Relaxed) {
                return;
            }
            self.is_owed.store(true, Ordering::Relaxed);
            fence(Ordering::SeqCst);
            if self.asleep.load(Ordering::Relaxed) == ONE_TIMED && self.are_used(cores) {
                return;
            }
        }
        self.wake_last();
    }

    /// Whether each of `cores` has a thread, if one worker is parked.
    fn are_used(&self, cores: usize) -> bool {
        let awake = self.parkers.len() - 1;
        let host = usize::from(self.waiting_hosts.load(Ordering::Relaxed) == 0);
        awake > 0 && awake + host >= cores
    }

    /// Marks the host as waiting until the guard is dropped: its core is free for the worker that was not woken, if
    /// any.
    pub(crate) fn host_waits(&self) -> impl Drop + '_ {
        /// Ends the wait.
        struct Waits<'s>(&'s AtomicUsize);
        impl Drop for Waits<'_> {
            fn drop(&mut self) {
                self.0.fetch_sub(1, Ordering::Relaxed);
            }
        }
        self.waiting_hosts.fetch_add(1, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        if self.is_owed.load(Ordering::Relaxed) {
            self.is_owed.store(false, Ordering::Relaxed);
            self.wake_one();
        }
        Waits(&self.waiting_hosts)
    }

    fn wake_last(&self) {
        let mut sleepers = self.sleepers();
        let last = sleepers.pop();
        self.tell(&sleepers);
        drop(sleepers);
        if let Some(Sleeper { worker, .. }) = last {
            self.unparkers[worker].unpark();
        }
    }

    /// Wakes `worker`, if it is parked, after work was added that only it can do.
    pub(crate) fn wake(&self, worker: usize) {
        fence(Ordering::SeqCst);
        if self.asleep.load(Ordering::Relaxed) > 0 && self.remove(worker) {
            self.unparkers[worker].unpark();
        }
    }

    /// Wakes every worker.
    pub(crate) fn wake_all(&self) {
        for unparker in &self.unparkers {
            unparker.unpark();
        }
    }
}

/// Checks periodically while a thread waits.
pub(crate) trait Lookout {
    /// The time until the next check; none for no checks.
    fn patience(&self) -> Option<Duration>;

    /// Checks for progress.
    fn look(&mut self);
}

/// What a waiting thread waits for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Interest {
    /// Any change.
    Any,
    /// Freed bytes of tasks: [`Monitor::notify_of_bytes`] decides for each release whether it suffices.
    Bytes,
    /// A free record, which freed bytes do not provide.
    Record,
}

/// Where the host waits for changes by workers.
#[derive(Debug, Default)]
pub(crate) struct Monitor {
    /// The number of waiting threads, by [`Interest`].
    waiting: [AtomicUsize; 3],
    lock: Mutex<()>,
    changed: Condvar,
}

impl Monitor {
    /// Waits until `holds`; `watch` checks periodically.
    ///
    /// A thread that waits for [`Interest::Bytes`] must store beforehand how many, for the condition `concerns` of
    /// [`notify_of_bytes`](Self::notify_of_bytes), and what else ends its wait, for that of
    /// [`notify_of_rest`](Self::notify_of_rest).
    pub(crate) fn wait_until(&self, interest: Interest, watch: &mut impl Lookout, holds: impl Fn() -> bool) {
        if holds() {
            return;
        }
        let waiting = &self.waiting[interest as usize];
        waiting.fetch_add(1, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        let mut guard = self.lock.lock().unwrap_or_else(|poison| poison.into_inner());
        while !holds() {
            let Some(patience) = watch.patience() else {
                guard = self.changed.wait(guard).unwrap_or_else(|poison| poison.into_inner());
                continue;
            };
            let waited = self.changed.wait_timeout(guard, patience);
            let (held, timeout) = waited.unwrap_or_else(|poison| poison.into_inner());
            guard = held;
            if timeout.timed_out() && !holds() {
                // Threads that make progress need not wait for the report.
                drop(guard);
                watch.look();
                guard = self.lock.lock().unwrap_or_else(|poison| poison.into_inner());
            }
        }
        drop(guard);
        waiting.fetch_sub(1, Ordering::Relaxed);
    }

    /// Notifies all waiting threads, after a change.
    pub(crate) fn notify(&self) {
        fence(Ordering::SeqCst);
        if self.waiting.iter().any(|waiting| waiting.load(Ordering::Relaxed) > 0) {
            self.wake();
        }
    }

    /// Notifies threads that released bytes may help; those that wait for so many only if `concerns` holds.
    pub(crate) fn notify_of_bytes(&self, concerns: impl FnOnce() -> bool) {
        fence(Ordering::SeqCst);
        if self.waits(Interest::Any) || (self.waits(Interest::Bytes) && concerns()) {
            self.wake();
        }
    }

    /// Notifies threads that may be helped by a worker that became idle, or returned records; those that wait for bytes
    /// only if `concerns` holds.
    pub(crate) fn notify_of_rest(&self, concerns: impl FnOnce() -> bool) {
        fence(Ordering::SeqCst);
        let waits = self.waits(Interest::Any) || self.waits(Interest::Record);
        if waits || (self.waits(Interest::Bytes) && concerns()) {
            self.wake();
        }
    }

    fn waits(&self, interest: Interest) -> bool {
        self.waiting[interest as usize].load(Ordering::Relaxed) > 0
    }

    fn wake(&self) {
        // While the lock is held, no thread is between its check and its wait.
        drop(self.lock.lock());
        self.changed.notify_all();
    }
}
