//! [`Record`]: the memory of a task: its description, and its links in the chains of its arrays. Records are recycled:
//! in the steady state a program allocates none. [`Submitted`]: a record whose task has been submitted.
#![allow(unsafe_code, reason = "a record is written by one owner at a time, without a lock")]

use std::cell::UnsafeCell;
use std::fmt;
use std::ptr;

use super::access::{Access, Bound};
use super::callback::Callback;
use super::chain::{Link, LinkKind};
use super::commute_lock::LockWaiter;
use super::countdown::Countdown;
use super::partition::Partition;
use super::state::ArrayState;
use super::waiter::Waiter;
use crate::access::AccessMode;
use crate::description::TaskDesc;
use crate::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, Ordering};

/// Accesses that a record holds itself; further ones lie beside it and are kept for its next task.
const INLINE: usize = 4;

/// The place of a task.
///
/// Who may touch what is in cells: from [`Slab::take`](crate::memory::Slab::take) to submission, the submitter, alone: it has the
/// record's one [`Draft`](crate::task::Draft), and nobody has a [`Submitted`] of it. From then until the record is given back, anybody
/// who handles the task, to read, through `Submitted`. `end` besides: who completes the task, before that.
#[derive(Debug)]
pub(crate) struct Record {
    index: u32,
    /// Links that are not ready yet, plus one during submission.
    pending: Countdown,
    /// Links that are not retired yet, plus one until the task is done with.
    unretired: Countdown,
    desc: UnsafeCell<TaskDesc>,
    party: UnsafeCell<Party>,
    /// What to call when it has ended.
    callback: UnsafeCell<Option<Callback>>,
    /// The next one of a list: of splits and joins that a step has still to run or to hand over, or of tasks that wait for a commute lock.
    next: AtomicPtr<Record>,
    /// The number of the last array whose commute lock it holds, plus one.
    next_lock: AtomicU32,
    /// When it became ready, if the run is traced.
    ready_ns: AtomicU64,
    inline: [Bound; INLINE],
    #[allow(clippy::vec_box, reason = "links stay where they are while the vector grows")]
    more: UnsafeCell<Vec<Box<Bound>>>,
}

/// Who is told that an external task may begin: called with the task, once.
pub(crate) struct Begin(Box<dyn FnOnce(&Submitted) + Send>);

impl Begin {
    pub(crate) fn new(tell: impl FnOnce(&Submitted) + Send + 'static) -> Self {
        Self(Box::new(tell))
    }

    pub(crate) fn tell(self, task: &Submitted) {
        (self.0)(task);
    }
}

impl fmt::Debug for Begin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Begin")
    }
}

/// Whom a task concerns that no worker runs.
#[derive(Debug)]
pub(crate) enum Party {
    Nobody,
    /// The thread that waits.
    Waiter(*const Waiter),
    /// The partition that it begins or ends.
    Partition(*const Partition),
    /// Who is told that an external task may begin.
    External(Begin),
}

// SAFETY: see "who may touch" above; the pointers are to things that outlive the task: arrays have a release link
// behind the task's links, waiters wait for the task.
unsafe impl Send for Record {}
// SAFETY: as for `Send`.
unsafe impl Sync for Record {}

impl LockWaiter for Record {
    fn next(&self) -> &AtomicPtr<Self> {
        &self.next
    }
}

impl Record {
    /// Record number `index` of its slab.
    pub(crate) fn new(index: u32) -> Self {
        Self {
            index,
            pending: Countdown::new(),
            unretired: Countdown::new(),
            desc: UnsafeCell::new(TaskDesc::new()),
            party: UnsafeCell::new(Party::Nobody),
            callback: UnsafeCell::new(None),
            next: AtomicPtr::new(ptr::null_mut()),
            next_lock: AtomicU32::new(0),
            ready_ns: AtomicU64::new(0),
            inline: std::array::from_fn(|_| Bound::new()),
            more: UnsafeCell::new(Vec::new()),
        }
    }

    pub(crate) fn index(&self) -> u32 {
        self.index
    }

    pub(crate) fn next_lock(&self) -> &AtomicU32 {
        &self.next_lock
    }

    /// What the task says.
    ///
    /// # Safety
    /// The caller has the record's draft, or the record is submitted and not given back.
    #[inline]
    pub(crate) unsafe fn desc(&self) -> &TaskDesc {
        // SAFETY: the caller's: nobody writes it meanwhile, since the draft is borrowed, or gone.
        unsafe { &*self.desc.get() }
    }

    /// The same, to be changed.
    ///
    /// # Safety
    /// The caller has the record's draft for itself, and no other reference into the record is in use.
    #[allow(clippy::mut_from_ref, reason = "the record is the caller's alone, which the contract says")]
    #[inline]
    pub(crate) unsafe fn desc_mut(&self) -> &mut TaskDesc {
        // SAFETY: the caller's.
        unsafe { &mut *self.desc.get() }
    }

    /// Whom the task concerns.
    ///
    /// # Safety
    /// As [`desc`](Self::desc).
    #[inline]
    pub(crate) unsafe fn party(&self) -> &Party {
        // SAFETY: the caller's.
        unsafe { &*self.party.get() }
    }

    /// Says whom the task concerns; whom it did.
    ///
    /// # Safety
    /// As [`desc_mut`](Self::desc_mut); or the task is external, and the caller tells who is told that it may begin, once.
    pub(crate) unsafe fn set_party(&self, party: Party) -> Party {
        // SAFETY: the caller's.
        std::mem::replace(unsafe { &mut *self.party.get() }, party)
    }

    /// The link of access `index`, and its array.
    ///
    /// # Safety
    /// As [`desc`](Self::desc).
    #[inline]
    pub(crate) unsafe fn bound(&self, index: usize) -> &Bound {
        match self.inline.get(index) {
            Some(bound) => bound,
            // SAFETY: the caller's; the vector is changed by `bind` alone.
            None => (unsafe { &*self.more.get() })[index - INLINE].as_ref(),
        }
    }

    /// Says where the array of access `index` is; accesses are bound in their order.
    ///
    /// # Safety
    /// As [`desc_mut`](Self::desc_mut).
    #[inline]
    pub(crate) unsafe fn bind(&self, index: usize, array: *const ArrayState) {
        if index >= INLINE {
            // SAFETY: the caller's.
            let more = unsafe { &mut *self.more.get() };
            if more.len() == index - INLINE {
                more.push(Box::new(Bound::new()));
            }
        }
        // SAFETY: the caller's.
        let bound = unsafe { self.bound(index) };
        // SAFETY: the caller's.
        unsafe { *bound.record.get() = self };
        // SAFETY: the caller's.
        unsafe { *bound.array.get() = array };
    }

    /// Takes what is to be called when the task has ended.
    ///
    /// # Safety
    /// As [`desc_mut`](Self::desc_mut); or the caller runs the task and has not completed it.
    pub(crate) unsafe fn take_callback(&self) -> Option<Callback> {
        // SAFETY: the caller's.
        unsafe { (*self.callback.get()).take() }
    }

    /// Sets it.
    ///
    /// # Safety
    /// As [`desc_mut`](Self::desc_mut).
    pub(crate) unsafe fn set_callback(&self, callback: Callback) {
        // SAFETY: the caller's.
        unsafe { *self.callback.get() = Some(callback) };
    }

    /// Keeps a record that is submitted from being given back, until [`count_retired`](Self::count_retired) counts one
    /// more. False if it is free, or being filled in.
    pub(crate) fn pin(&self) -> bool {
        self.unretired.add_one()
    }

    /// Counts `ready` links; true if the task can run now. The caller of the last count sees all it waited for.
    pub(crate) fn count_ready(&self, ready: u32) -> bool {
        self.pending.count_unpinned(ready)
    }

    /// Counts `retired` links; true if the record is free now.
    pub(crate) fn count_retired(&self, retired: u32) -> bool {
        self.unretired.count(retired)
    }

    /// The record as one that is submitted.
    ///
    /// # Safety
    /// The record is submitted, and not given back as long as the reference is used; its draft is gone, or is not used any more.
    #[inline]
    pub(crate) unsafe fn submitted(&self) -> &Submitted {
        // SAFETY: `Submitted` is a record and nothing else, and says so by `repr(transparent)`.
        unsafe { &*ptr::from_ref(self).cast::<Submitted>() }
    }

    /// The record of a link that [`Access::link`] gave out.
    ///
    /// # Safety
    /// The link is an access's, and its record was submitted and is not free.
    pub(crate) unsafe fn of_link<'r>(link: *const Link) -> &'r Self {
        // SAFETY: `link` is the first field of an access, the pointer was made from the access's, and the record, which
        // keeps it, is not free.
        let bound = unsafe { &*link.cast::<Bound>() };
        // SAFETY: written before submission and not since.
        let record = unsafe { *bound.record.get() };
        // SAFETY: the record outlives its links.
        unsafe { &*record }
    }
}

/// A task that has been submitted: what it says is not changed any more. Whoever has a reference sees that the record is not given
/// back meanwhile, which [`Record::submitted`] asks for.
#[derive(Debug)]
#[repr(transparent)]
pub(crate) struct Submitted(Record);

impl Submitted {
    pub(crate) fn record(&self) -> &Record {
        &self.0
    }

    /// What it says.
    #[inline]
    pub(crate) fn desc(&self) -> &TaskDesc {
        // SAFETY: it is submitted and not given back.
        unsafe { self.0.desc() }
    }

    pub(crate) fn party(&self) -> &Party {
        // SAFETY: as above.
        unsafe { self.0.party() }
    }

    #[inline]
    pub(crate) fn access(&self, index: usize) -> Access<'_> {
        // SAFETY: as above.
        Access { desc: self.desc().access(index), bound: unsafe { self.0.bound(index) } }
    }

    #[inline]
    pub(crate) fn accesses(&self) -> impl Iterator<Item = Access<'_>> {
        (0..self.desc().accesses().len()).map(|index| self.access(index))
    }

    /// The accesses that the kernel sees.
    #[inline]
    pub(crate) fn operands(&self) -> impl Iterator<Item = Access<'_>> {
        (0..self.desc().operand_count()).map(|index| self.access(index))
    }

    /// The accesses that no kernel sees: they are to tags.
    pub(crate) fn tags(&self) -> impl Iterator<Item = Access<'_>> {
        (self.desc().operand_count()..self.desc().accesses().len()).map(|index| self.access(index))
    }

    /// Takes what is to be called when the task has ended.
    ///
    /// # Safety
    /// The caller runs the task and has not completed it.
    pub(crate) unsafe fn take_callback(&self) -> Option<Callback> {
        // SAFETY: the caller's.
        unsafe { self.0.take_callback() }
    }

    /// Notes when it became ready. Whoever hands it to the scheduler calls.
    pub(crate) fn note_ready(&self, now_ns: u64) {
        self.0.ready_ns.store(now_ns, Ordering::Relaxed);
    }

    /// When it became ready, if the run is traced.
    pub(crate) fn ready_ns(&self) -> u64 {
        self.0.ready_ns.load(Ordering::Relaxed)
    }

    /// Whether it waits for other tasks.
    pub(crate) fn is_pending(&self) -> bool {
        self.0.pending.is_running()
    }

    /// Prepares the counters and links of a task with `links` linked accesses.
    pub(crate) fn arm(&self, links: u32) {
        let record = &self.0;
        record.pending.arm(links + 1);
        record.next_lock.store(0, Ordering::Relaxed);
        for access in self.accesses() {
            access.bound.link.reset(match access.mode {
                AccessMode::R => LinkKind::Shared,
                AccessMode::COMMUTE => LinkKind::Commuting,
                _ => LinkKind::Exclusive,
            });
        }
        // Last: who pins the record sees what was filled in.
        record.unretired.arm(links + 1);
    }
}
