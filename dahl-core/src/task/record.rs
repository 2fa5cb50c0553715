//! [`Record`]: a submitted task, as data. Records are recycled: a running program makes no new ones.
#![allow(unsafe_code, reason = "a record is written by one owner at a time, without a lock")]

use std::cell::UnsafeCell;
use std::panic::Location;
use std::ptr;

use super::access::Access;
use super::callback::Callback;
use super::chain::{Link, LinkKind};
use super::countdown::Countdown;
use super::turn::Waits;
use super::wait::Waiter;
use crate::access::AccessMode;
use crate::array::{ArrayState, Contribution};
use crate::codelet::{Accumulator, Codelet, Kernel};
use crate::cuda::CudaInstance;
use crate::partition::Partition;
use crate::shape::Layout;
use crate::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, Ordering};

/// Accesses that a record holds itself; further ones lie beside it and are kept for its next task.
const INLINE: usize = 4;

/// A task.
///
/// Who may touch `body` and the accesses' bodies: from [`Slab::take`](crate::memory::Slab::take) to submission, the
/// submitter, alone; from then until the record is given back, anybody who handles the task, to read. `callback`: the
/// submitter as well, and then whoever completes the task, before that.
#[derive(Debug)]
pub(crate) struct Record {
    index: u32,
    /// Links that are not ready yet, plus one during submission.
    pending: Countdown,
    /// Links that are not retired yet, plus one until the task is done with.
    unretired: Countdown,
    body: UnsafeCell<Body>,
    /// What to call when it has ended.
    callback: UnsafeCell<Option<Callback>>,
    /// The next one of a list: of splits and joins that a step has still to run, or of tasks that wait for a turn.
    next: AtomicPtr<Record>,
    /// The number of the last array whose turn it has, plus one.
    turn: AtomicU32,
    /// When it became ready, if the run is traced.
    ready_ns: AtomicU64,
    inline: [Access; INLINE],
    #[allow(clippy::vec_box, reason = "links stay where they are while the vector grows")]
    more: UnsafeCell<Vec<Box<Access>>>,
}

/// What a record says of its task.
#[derive(Debug)]
pub(crate) struct Body {
    pub(crate) kind: Kind,
    pub(crate) codelet: Option<&'static Codelet>,
    /// Of the codelet, if the submitter chose; otherwise its first.
    pub(crate) kernel: Option<&'static Kernel>,
    pub(crate) in_place: bool,
    /// Whether an access commutes, so that the task needs turns.
    pub(crate) commutes: bool,
    pub(crate) accesses: usize,
    pub(crate) arguments: Vec<u8>,
    pub(crate) sequence: u64,
    pub(crate) priority: i32,
    pub(crate) name: Option<&'static str>,
    pub(crate) place: Place,
    /// The worker to whose memory the inputs are copied as soon as the task is ready.
    pub(crate) prefetch: Option<usize>,
    /// The last of its accesses, which no kernel sees: they are to tags.
    pub(crate) tags: usize,
    pub(crate) location: &'static Location<'static>,
}

/// Where the submitter wants a task to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// Wherever the scheduler says.
    Any,
    /// On the worker of this number.
    Worker(usize),
    /// On a worker of the same kind as this one.
    KindOf(usize),
}

/// Who runs a task.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    /// A worker: it has a kernel.
    Kernel,
    /// A worker: it combines a partial result of a reduction, the second access, into an earlier one, the first.
    Fold(&'static Accumulator),
    /// A worker: it combines the result of a reduction, the second access, into the array, the first.
    Finish(&'static Accumulator),
    /// Nobody: the host waits for its access.
    Host(*const Waiter),
    /// Whoever makes it ready: it takes an array's value away.
    Forget,
    /// Whoever makes it ready: it begins a partition.
    Split(*const Partition),
    /// Whoever makes it ready: it ends a partition.
    Join(*const Partition),
}

// SAFETY: see "who may touch" above; the pointers are to things that outlive the task: arrays have a release link
// behind the task's links, waiters wait for the task.
unsafe impl Send for Record {}
// SAFETY: as for `Send`.
unsafe impl Sync for Record {}

impl Waits for Record {
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
            body: UnsafeCell::new(Body {
                kind: Kind::Kernel,
                codelet: None,
                kernel: None,
                in_place: false,
                commutes: false,
                accesses: 0,
                arguments: Vec::new(),
                sequence: 0,
                priority: 0,
                name: None,
                place: Place::Any,
                prefetch: None,
                tags: 0,
                location: Location::caller(),
            }),
            callback: UnsafeCell::new(None),
            next: AtomicPtr::new(ptr::null_mut()),
            turn: AtomicU32::new(0),
            ready_ns: AtomicU64::new(0),
            inline: std::array::from_fn(|_| Access::new()),
            more: UnsafeCell::new(Vec::new()),
        }
    }

    pub(crate) fn index(&self) -> u32 {
        self.index
    }

    pub(super) fn turn(&self) -> &AtomicU32 {
        &self.turn
    }

    /// Notes when it became ready. Whoever hands it to the scheduler calls.
    pub(crate) fn note_ready(&self, now_ns: u64) {
        self.ready_ns.store(now_ns, Ordering::Relaxed);
    }

    /// When it became ready, if the run is traced.
    pub(crate) fn ready_ns(&self) -> u64 {
        self.ready_ns.load(Ordering::Relaxed)
    }

    pub(crate) fn body(&self) -> &Body {
        // SAFETY: see "who may touch": it is written through `body_mut` by the submitter alone, before submission.
        unsafe { &*self.body.get() }
    }

    /// The body, to be written.
    ///
    /// # Safety
    /// The caller took the record and has not submitted it, and no other reference to the body is in use.
    #[allow(clippy::mut_from_ref, reason = "the record is the caller's alone, which the contract says")]
    pub(crate) unsafe fn body_mut(&self) -> &mut Body {
        // SAFETY: the caller's.
        unsafe { &mut *self.body.get() }
    }

    pub(crate) fn access(&self, index: usize) -> &Access {
        match self.inline.get(index) {
            Some(access) => access,
            // SAFETY: the vector is changed by `push_access` alone, by the submitter, before submission.
            None => (unsafe { &*self.more.get() })[index - INLINE].as_ref(),
        }
    }

    /// The accesses that the kernel sees.
    pub(crate) fn operands(&self) -> impl Iterator<Item = &Access> {
        self.accesses().take(self.body().accesses - self.body().tags)
    }

    /// The kernel in CUDA that does what a task of a reduction does, if there is one.
    pub(crate) fn cuda_of_reduction(&self) -> Option<CudaInstance> {
        match self.body().kind {
            Kind::Fold(accumulator) => accumulator.cuda_fold(),
            Kind::Finish(accumulator) => accumulator.cuda_finish(self.access(0).array()?.element()?),
            Kind::Kernel | Kind::Host(_) | Kind::Forget | Kind::Split(_) | Kind::Join(_) => None,
        }
    }

    /// Takes what is to be called when the task has ended.
    ///
    /// # Safety
    /// The caller is the submitter, before submission, or runs the task and has not completed it.
    pub(crate) unsafe fn take_callback(&self) -> Option<Callback> {
        // SAFETY: the caller's.
        unsafe { (*self.callback.get()).take() }
    }

    /// Sets it.
    ///
    /// # Safety
    /// The caller took the record and has not submitted it.
    pub(super) unsafe fn set_callback(&self, callback: Callback) {
        // SAFETY: the caller's.
        unsafe { *self.callback.get() = Some(callback) };
    }

    pub(crate) fn accesses(&self) -> impl Iterator<Item = &Access> {
        (0..self.body().accesses).map(|index| self.access(index))
    }

    /// Forgets the last task.
    ///
    /// # Safety
    /// The caller took the record and has not submitted it, and no other reference into it is in use.
    pub(crate) unsafe fn clear(&self) {
        // SAFETY: the caller's.
        let body = unsafe { self.body_mut() };
        body.accesses = 0;
        body.arguments.clear();
        body.priority = 0;
        body.kernel = None;
        body.name = None;
        body.place = Place::Any;
        body.prefetch = None;
        body.tags = 0;
        body.in_place = false;
        body.commutes = false;
    }

    /// Adds an access, whose layout `set_layout` writes.
    ///
    /// # Safety
    /// The caller took the record and has not submitted it, and no other reference into it is in use.
    pub(crate) unsafe fn push_access(
        &self,
        array: *const ArrayState,
        mode: AccessMode,
        set_layout: impl FnOnce(&mut Layout),
    ) {
        // SAFETY: the caller's.
        let body = unsafe { self.body_mut() };
        let index = body.accesses;
        body.accesses += 1;
        body.commutes |= mode == AccessMode::COMMUTE;
        if index >= INLINE {
            // SAFETY: the caller's.
            let more = unsafe { &mut *self.more.get() };
            if more.len() == index - INLINE {
                more.push(Box::new(Access::new()));
            }
        }
        let access = self.access(index);
        // SAFETY: the caller's.
        unsafe { *access.record.get() = self };
        // SAFETY: the caller's.
        let access_body = unsafe { &mut *access.body.get() };
        access_body.array = array;
        access_body.mode = mode;
        access_body.begins = false;
        set_layout(&mut access_body.layout);
    }

    /// Sends the contribution that access `index` makes to a buffer of its reduction.
    ///
    /// # Safety
    /// The caller took the record and has not submitted it, and no other reference into it is in use.
    pub(super) unsafe fn redirect(&self, index: usize, contribution: &Contribution) {
        // SAFETY: the caller's.
        let access_body = unsafe { &mut *self.access(index).body.get() };
        access_body.array = contribution.buffer.as_ptr();
        access_body.begins = contribution.begins;
    }

    /// What the array of access `index` holds does not count.
    ///
    /// # Safety
    /// As [`redirect`](Self::redirect).
    pub(crate) unsafe fn begin(&self, index: usize) {
        // SAFETY: the caller's.
        unsafe { &mut *self.access(index).body.get() }.begins = true;
    }

    /// Prepares the counters and links of a task with `links` linked accesses.
    pub(super) fn arm(&self, links: u32) {
        self.pending.arm(links + 1);
        self.turn.store(0, Ordering::Relaxed);
        for access in self.accesses() {
            access.link.reset(match access.body().mode {
                AccessMode::R => LinkKind::Shared,
                AccessMode::COMMUTE => LinkKind::Commuting,
                _ => LinkKind::Exclusive,
            });
        }
        // Last: who pins the record sees what was filled in.
        self.unretired.arm(links + 1);
    }

    /// Keeps a record that is submitted from being given back, until [`count_retired`](Self::count_retired) counts one
    /// more. False if it is free, or being filled in.
    pub(super) fn pin(&self) -> bool {
        self.unretired.add_one()
    }

    /// Whether it waits for other tasks.
    pub(crate) fn is_pending(&self) -> bool {
        self.pending.is_running()
    }

    /// Counts `ready` links; true if the task can run now. The caller of the last count sees all it waited for.
    pub(super) fn count_ready(&self, ready: u32) -> bool {
        self.pending.count_unpinned(ready)
    }

    /// Counts `retired` links; true if the record is free now.
    pub(super) fn count_retired(&self, retired: u32) -> bool {
        self.unretired.count(retired)
    }

    /// The record of a link that [`Access::link`] gave out.
    ///
    /// # Safety
    /// The link is an access's, and its record was submitted and is not free.
    pub(super) unsafe fn of_link<'r>(link: *const Link) -> &'r Self {
        // SAFETY: `link` is the first field of an access, the pointer was made from the access's, and the record, which
        // keeps it, is not free.
        let access = unsafe { &*link.cast::<Access>() };
        // SAFETY: written before submission and not since.
        let record = unsafe { *access.record.get() };
        // SAFETY: the record outlives its links.
        unsafe { &*record }
    }
}
