//! How threads sleep and are woken: [`Sleep`] for workers without work, [`Monitor`] for the host that waits for
//! progress.
//!
//! Both rest on one argument. The sleeper first says that it will sleep, then looks once more; the waker first makes
//! the change, then looks whether somebody sleeps. With a sequentially consistent fence between the two steps on each
//! side, at least one of them sees the other.

use std::time::Duration;

use crate::sync::atomic::{AtomicUsize, Ordering, fence};
use crate::sync::{Condvar, Mutex, MutexGuard, Parker, Unparker};

/// The workers that sleep.
pub(crate) struct Sleep {
    count: AtomicUsize,
    sleepers: Mutex<Vec<usize>>,
    parkers: Vec<Mutex<Parker>>,
    unparkers: Vec<Unparker>,
}

impl Sleep {
    pub(crate) fn new(workers: usize) -> Self {
        let parkers: Vec<Parker> = (0..workers).map(|_| Parker::new()).collect();
        let unparkers = parkers.iter().map(|parker| parker.unparker().clone()).collect();
        Self {
            count: AtomicUsize::new(0),
            sleepers: Mutex::new(Vec::with_capacity(workers)),
            parkers: parkers.into_iter().map(Mutex::new).collect(),
            unparkers,
        }
    }

    fn sleepers(&self) -> MutexGuard<'_, Vec<usize>> {
        self.sleepers.lock().unwrap_or_else(|poison| poison.into_inner())
    }

    /// The workers that sleep now.
    pub(crate) fn sleeping(&self) -> Vec<usize> {
        self.sleepers().clone()
    }

    /// Sleeps until woken, or for the `longest` time, unless `look` finds something or `stays` holds.
    pub(crate) fn sleep<W>(
        &self,
        worker: usize,
        look: impl Fn() -> Option<W>,
        stays: impl Fn() -> bool,
        longest: Option<Duration>,
    ) -> Option<W> {
        let mut sleepers = self.sleepers();
        sleepers.push(worker);
        self.count.store(sleepers.len(), Ordering::Relaxed);
        drop(sleepers);
        fence(Ordering::SeqCst);
        let found = look();
        if found.is_none() && !stays() {
            let parker = self.parkers[worker].lock().unwrap_or_else(|poison| poison.into_inner());
            match longest {
                Some(longest) => parker.park_timeout(longest),
                None => parker.park(),
            }
        }
        let was_woken = !self.remove(worker);
        if was_woken && found.is_some() {
            self.wake_one(); // it was woken for another task than the one it found
        }
        found
    }

    /// Takes `worker` off the list; true if it was there.
    fn remove(&self, worker: usize) -> bool {
        let mut sleepers = self.sleepers();
        let place = sleepers.iter().position(|&sleeper| sleeper == worker);
        if let Some(place) = place {
            sleepers.swap_remove(place);
        }
        self.count.store(sleepers.len(), Ordering::Relaxed);
        place.is_some()
    }

    /// Wakes a worker, if one sleeps, after work was made that any can do.
    pub(crate) fn wake_one(&self) {
        fence(Ordering::SeqCst);
        if self.count.load(Ordering::Relaxed) == 0 {
            return;
        }
        let mut sleepers = self.sleepers();
        let worker = sleepers.pop();
        self.count.store(sleepers.len(), Ordering::Relaxed);
        drop(sleepers);
        if let Some(worker) = worker {
            self.unparkers[worker].unpark();
        }
    }

    /// Wakes `worker`, if it sleeps, after work was made that only it can do.
    pub(crate) fn wake(&self, worker: usize) {
        fence(Ordering::SeqCst);
        if self.count.load(Ordering::Relaxed) > 0 && self.remove(worker) {
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

/// Who looks now and then while a thread waits.
pub(crate) trait Lookout {
    /// How long to wait before the next look; nothing for ever.
    fn patience(&self) -> Option<Duration>;

    /// Looks whether something goes on.
    fn look(&mut self);
}

/// What a thread waits for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Interest {
    /// Something that any change may bring about.
    Any,
    /// That tasks let go of so many bytes, which whoever gives some back can tell from [`Monitor::notify_of_bytes`].
    Bytes,
    /// A record, which no bytes bring about.
    Record,
}

/// Where the host waits for something that workers bring about.
#[derive(Debug, Default)]
pub(crate) struct Monitor {
    /// Threads that wait, by [`Interest`].
    waiting: [AtomicUsize; 3],
    lock: Mutex<()>,
    changed: Condvar,
}

impl Monitor {
    /// Waits until `holds`, and lets a watch look now and then.
    ///
    /// Who waits for [`Interest::Bytes`] has said before how many: what `concerns` of
    /// [`notify_of_bytes`](Self::notify_of_bytes) looks at, and what else lets it go on: what that of
    /// [`notify_of_rest`](Self::notify_of_rest) does.
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
                // Whoever makes progress does not wait for the report.
                drop(guard);
                watch.look();
                guard = self.lock.lock().unwrap_or_else(|poison| poison.into_inner());
            }
        }
        drop(guard);
        waiting.fetch_sub(1, Ordering::Relaxed);
    }

    /// Lets those who wait look again, after a change.
    pub(crate) fn notify(&self) {
        fence(Ordering::SeqCst);
        if self.waiting.iter().any(|waiting| waiting.load(Ordering::Relaxed) > 0) {
            self.wake();
        }
    }

    /// Lets those look again whom it may help that bytes have been given back; who waits for so many, if `concerns` holds.
    pub(crate) fn notify_of_bytes(&self, concerns: impl FnOnce() -> bool) {
        fence(Ordering::SeqCst);
        if self.waits(Interest::Any) || (self.waits(Interest::Bytes) && concerns()) {
            self.wake();
        }
    }

    /// Lets those look again whom it may help that a worker has come to rest, or has given records back; who waits for
    /// bytes, if `concerns` holds.
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
        // Nobody is between looking and waiting while the lock is held.
        drop(self.lock.lock());
        self.changed.notify_all();
    }
}
