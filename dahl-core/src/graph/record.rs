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

/// Accesses that a record stores inline; further ones are stored separately and kept for its next task.
const INLINE: usize = 4;

/// The storage of a task.
///
/// Who may access the cells: from [`Slab::take`](crate::memory::Slab::take) to submission, only the submitter: it has
/// the record's only [`Draft`](crate::task::Draft), and there is no [`Submitted`] of it. From then until the record is
/// returned, any thread that handles the task, for reading, through `Submitted`. Additionally `end`: the thread that
/// completes the task, before that.
#[derive(Debug)]
pub(crate) struct Record {
    index: u32,
    /// Links that are not ready yet, plus one during submission.
    pending: Countdown,
    /// Links that are not retired yet, plus one until the task has ended.
    unretired: Countdown,
    desc: UnsafeCell<TaskDesc>,
    party: UnsafeCell<Party>,
    /// The function to call when it has ended.
    callback: UnsafeCell<Option<Callback>>,
    /// The next one of a list: of splits and joins that a step has still to run or to hand over, or of tasks that wait for a commute
    /// lock.
    next: AtomicPtr<Record>,
    /// The number of the last array whose commute lock it holds, plus one.
    next_lock: AtomicU32,
    /// When it became ready, if the run is traced.
    ready_ns: AtomicU64,
    inline: [Bound; INLINE],
    #[allow(clippy::vec_box, reason = "links stay where they are while the vector grows")]
    more: UnsafeCell<Vec<Box<Bound>>>,
}

/// The recipient of the message that an external task may begin, which gets it once.
pub(crate) trait Recipient: Send {
    fn tell(self: Box<Self>, task: &Submitted);
}

impl<F: FnOnce(&Submitted) + Send> Recipient for F {
    fn tell(self: Box<Self>, task: &Submitted) {
        (*self)(task);
    }
}

/// The recipient of an external task.
pub(crate) struct Begin(Box<dyn Recipient>);

impl Begin {
    pub(crate) fn of(recipient: Box<dyn Recipient>) -> Self {
        Self(recipient)
    }

    pub(crate) fn new(tell: impl FnOnce(&Submitted) + Send + 'static) -> Self {
        Self(Box::new(tell))
    }

    pub(crate) fn tell(self, task: &Submitted) {
        self.0.tell(task);
    }
}

impl fmt::Debug for Begin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Begin")
    }
}

/// The party that a task without a worker concerns.
#[derive(Debug)]
pub(crate) enum Party {
    Nobody,
    /// The thread that waits.
    Waiter(*const Waiter),
    /// The partition that it begins or ends.
    Partition(*const Partition),
    /// The recipient of the message that an external task may begin.
    External(Begin),
    /// The task of a program that it is: where its `Node` is.
    Node(*const ()),
}

// SAFETY: see "who may access" above; the pointers are to objects that outlive the task: arrays have a release link
// after the task's links, waiters wait for the task.
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

    /// The description of the task.
    ///
    /// # Safety
    /// The caller has the record's draft, or the record is submitted and has not been returned.
    #[inline]
    pub(crate) unsafe fn desc(&self) -> &TaskDesc {
        // SAFETY: guaranteed by the caller: nothing writes it meanwhile, since the draft is borrowed, or gone.
        unsafe { &*self.desc.get() }
    }

    /// The same, mutably.
    ///
    /// # Safety
    /// The caller has the record's draft exclusively, and no other reference into the record is in use.
    #[allow(clippy::mut_from_ref, reason = "the record is the caller's alone, which the contract says")]
    #[inline]
    pub(crate) unsafe fn desc_mut(&self) -> &mut TaskDesc {
        // SAFETY: guaranteed by the caller.
        unsafe { &mut *self.desc.get() }
    }

    /// The party that the task concerns.
    ///
    /// # Safety
    /// As [`desc`](Self::desc).
    #[inline]
    pub(crate) unsafe fn party(&self) -> &Party {
        // SAFETY: guaranteed by the caller.
        unsafe { &*self.party.get() }
    }

    /// Sets the party that the task concerns; returns the previous one.
    ///
    /// # Safety
    /// As [`desc_mut`](Self::desc_mut); or the task is external, and the caller is the one that tells that it may
    /// begin, once.
    pub(crate) unsafe fn set_party(&self, party: Party) -> Party {
        // SAFETY: guaranteed by the caller.
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
            // SAFETY: guaranteed by the caller; only `bind` changes the vector.
            None => (unsafe { &*self.more.get() })[index - INLINE].as_ref(),
        }
    }

    /// Sets the array of access `index`; accesses are bound in order.
    ///
    /// # Safety
    /// As [`desc_mut`](Self::desc_mut).
    #[inline]
    pub(crate) unsafe fn bind(&self, index: usize, array: *const ArrayState) {
        if index >= INLINE {
            // SAFETY: guaranteed by the caller.
            let more = unsafe { &mut *self.more.get() };
            if more.len() == index - INLINE {
                more.push(Box::new(Bound::new()));
            }
        }
        // SAFETY: guaranteed by the caller.
        let bound = unsafe { self.bound(index) };
        // SAFETY: guaranteed by the caller.
        unsafe { *bound.record.get() = self };
        // SAFETY: guaranteed by the caller.
        unsafe { *bound.array.get() = array };
    }

    /// Prepares the record of a program's task for a replay, in which `before` tasks come before it.
    pub(super) fn arm_for_replay(&self, before: u32) {
        self.pending.arm(before);
        self.unretired.arm(1);
    }

    /// Takes the callback of the task's end.
    ///
    /// # Safety
    /// As [`desc_mut`](Self::desc_mut); or the caller runs the task and has not completed it.
    pub(crate) unsafe fn take_callback(&self) -> Option<Callback> {
        // SAFETY: guaranteed by the caller.
        unsafe { (*self.callback.get()).take() }
    }

    /// Sets the callback.
    ///
    /// # Safety
    /// As [`desc_mut`](Self::desc_mut).
    pub(crate) unsafe fn set_callback(&self, callback: Callback) {
        // SAFETY: guaranteed by the caller.
        unsafe { *self.callback.get() = Some(callback) };
    }

    /// Keeps a submitted record from being returned, until [`count_retired`](Self::count_retired) counts one more.
    /// False if it is free, or being filled in.
    pub(crate) fn pin(&self) -> bool {
        self.unretired.add_one()
    }

    /// Counts `ready` links; true if the task can run now. The caller that counts the last one sees the effects of all
    /// that the task waited for.
    pub(crate) fn count_ready(&self, ready: u32) -> bool {
        self.pending.count_unpinned(ready)
    }

    /// Counts `retired` links; true if the record is free now.
    pub(crate) fn count_retired(&self, retired: u32) -> bool {
        self.unretired.count(retired)
    }

    /// The record as a submitted one.
    ///
    /// # Safety
    /// The record is submitted, and is not returned while the reference is used; its draft is gone, or is not used any
    /// more.
    #[inline]
    pub(crate) unsafe fn submitted(&self) -> &Submitted {
        // SAFETY: `Submitted` contains only a record, and is `repr(transparent)`.
        unsafe { &*ptr::from_ref(self).cast::<Submitted>() }
    }

    /// The record of a link that [`Access::link`] returned.
    ///
    /// # Safety
    /// The link is an access's, and its record was submitted and is not free.
    pub(crate) unsafe fn of_link<'r>(link: *const Link) -> &'r Self {
        // SAFETY: `link` is the first field of an access, the pointer was made from the access's, and the record, which
        // contains it, is not free.
        let bound = unsafe { &*link.cast::<Bound>() };
        // SAFETY: written before submission and not since.
        let record = unsafe { *bound.record.get() };
        // SAFETY: the record outlives its links.
        unsafe { &*record }
    }
}

/// A submitted task: its description does not change any more. The holder of a reference ensures that the record is not
/// returned meanwhile, as [`Record::submitted`] requires.
#[derive(Debug)]
#[repr(transparent)]
pub(crate) struct Submitted(Record);

impl Submitted {
    pub(crate) fn record(&self) -> &Record {
        &self.0
    }

    /// The description.
    #[inline]
    pub(crate) fn desc(&self) -> &TaskDesc {
        // SAFETY: it is submitted and has not been returned.
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

    /// The accesses to tags, which kernels do not see.
    pub(crate) fn tags(&self) -> impl Iterator<Item = Access<'_>> {
        (self.desc().operand_count()..self.desc().accesses().len()).map(|index| self.access(index))
    }

    /// Takes the callback of the task's end.
    ///
    /// # Safety
    /// The caller runs the task and has not completed it.
    pub(crate) unsafe fn take_callback(&self) -> Option<Callback> {
        // SAFETY: guaranteed by the caller.
        unsafe { self.0.take_callback() }
    }

    /// Records when it became ready. The thread that hands it to the scheduler calls this.
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
        // Last: a thread that pins the record sees what was filled in.
        record.unretired.arm(links + 1);
    }
}
