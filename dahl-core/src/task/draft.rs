//! [`Draft`]: a task whose record is being filled in.
#![allow(unsafe_code, reason = "has a record for itself until that is submitted")]

use std::panic::Location;

use super::step::Step;
use crate::access::AccessMode;
use crate::codelet::in_kernel;
use crate::description::{Action, TaskDesc};
use crate::graph::{ArrayState, Callback, Contribution, Engine, Host, Party, Record, Submitted};
use crate::shape::Layout;
use crate::sleep::Interest;

/// A record that has been taken and not submitted: its only handle. [`submit`](Self::submit) consumes it; dropping it
/// returns the record.
#[derive(Debug)]
pub(crate) struct Draft<'s, E: Engine + ?Sized> {
    engine: &'s E,
    record: &'s Record,
}

/// A record to fill in. At the limit of tasks in flight this thread helps to run them.
#[inline]
fn take_record(engine: &(impl Engine + ?Sized)) -> &Record {
    let records = engine.host().records();
    loop {
        if let Some(record) = records.take() {
            return record;
        }
        records.grow(engine.host().limit());
        if let Some(record) = records.take() {
            return record;
        }
        if in_kernel() || engine.host().is_forked() {
            // A destructor inside a kernel: it must not wait.
            return records.take_or_grow();
        }
        if !engine.help() {
            // Nothing is ready: wait until a worker returns records. If all records are held by other drafts, none will
            // be returned.
            engine.wait_with(Interest::Record, &|| records.has_free() || engine.host().is_drained());
            if !records.has_free() {
                return records.take_or_grow();
            }
        }
    }
}

impl<'s, E: Engine + ?Sized> Draft<'s, E> {
    /// A task of a runtime. At the limit of tasks in flight this thread first helps to run them.
    #[inline]
    pub(crate) fn new(engine: &'s E, action: Action, location: &'static Location<'static>) -> Self {
        // SAFETY: the slab gives a free record to one holder.
        unsafe { Self::of(engine, take_record(engine), Party::Nobody, action, location) }
    }

    /// A task in a record outside the runtime's slab.
    ///
    /// # Safety
    /// Nothing else uses the record: it was not submitted before, or has been returned since.
    #[inline]
    pub(crate) unsafe fn of(
        engine: &'s E,
        record: &'s Record,
        party: Party,
        action: Action,
        location: &'static Location<'static>,
    ) -> Self {
        // SAFETY: guaranteed by the caller.
        unsafe { record.desc_mut() }.begin(action, location);
        // SAFETY: as above.
        let before = unsafe { record.party() };
        if !matches!((before, &party), (Party::Nobody, Party::Nobody)) {
            // SAFETY: as above.
            unsafe { record.set_party(party) };
        }
        Self { engine, record }
    }

    /// The engine that will run it.
    #[inline]
    pub(crate) fn engine(&self) -> &'s E {
        self.engine
    }

    #[inline]
    pub(crate) fn host(&self) -> &'s Host {
        self.engine.host()
    }

    /// The description so far.
    #[inline]
    pub(crate) fn desc(&self) -> &TaskDesc {
        // SAFETY: this is the record's draft.
        unsafe { self.record.desc() }
    }

    /// The same, mutably. Accesses are added with [`push`](Self::push).
    #[inline]
    pub(crate) fn desc_mut(&mut self) -> &mut TaskDesc {
        // SAFETY: this is the record's draft, borrowed mutably.
        unsafe { self.record.desc_mut() }
    }

    /// Adds an access to an array, whose layout `set_layout` writes.
    #[inline]
    pub(crate) fn push(
        &mut self,
        array: &ArrayState,
        mode: AccessMode,
        set_layout: impl FnOnce(&mut Layout),
    ) {
        let index = self.desc().accesses().len();
        self.desc_mut().push(Some(array.id()), array.whole(), mode, set_layout);
        // SAFETY: this is the record's draft, borrowed mutably.
        unsafe { self.record.bind(index, array) };
    }

    /// Adds a temporary buffer.
    pub(crate) fn push_scratch(&mut self, shape: &[usize]) {
        let index = self.desc().accesses().len();
        self.desc_mut().push(None, None, AccessMode::SCRATCH, |layout| layout.set_contiguous(shape));
        // SAFETY: as above.
        unsafe { self.record.bind(index, std::ptr::null()) };
    }

    /// The arrays of its accesses: none for scratch.
    #[inline]
    pub(crate) fn arrays(&self) -> impl Iterator<Item = Option<&ArrayState>> {
        (0..self.desc().accesses().len()).map(|index| self.array(index))
    }

    /// The array of access `index`, unless it is scratch.
    #[inline]
    pub(crate) fn array(&self, index: usize) -> Option<&ArrayState> {
        // SAFETY: this is the record's draft.
        let bound = unsafe { self.record.bound(index) };
        // SAFETY: only the draft writes it, and it is borrowed.
        let array = unsafe { *bound.array.get() };
        // SAFETY: the code that adds an access to an array keeps the array until the task is submitted: a `Task`
        // borrows it.
        unsafe { array.as_ref() }
    }

    /// Redirects the contribution of access `index` to a buffer of its reduction.
    pub(crate) fn redirect(&mut self, index: usize, contribution: &Contribution) {
        // SAFETY: the reduction's tree keeps its buffers, and releases them after this task.
        let buffer = unsafe { contribution.buffer.as_ref() };
        let is_own = self.array(index).is_some_and(|array| std::ptr::eq(array, buffer));
        self.desc_mut().redirect(index, (!is_own).then(|| buffer.id()), contribution.begins);
        // SAFETY: this is the record's draft, borrowed mutably.
        unsafe { self.record.bind(index, buffer) };
    }

    /// Sets the party that the task concerns.
    pub(crate) fn set_party(&mut self, party: Party) {
        // SAFETY: as above.
        unsafe { self.record.set_party(party) };
    }

    /// Sets the callback of the task's end.
    pub(crate) fn set_callback(&mut self, callback: Callback) {
        // SAFETY: as above.
        unsafe { self.record.set_callback(callback) };
    }

    /// Takes the callback.
    pub(crate) fn take_callback(&mut self) -> Option<Callback> {
        // SAFETY: as above.
        unsafe { self.record.take_callback() }
    }

    /// Submits it. The record is now the task's, and may have been returned when this returns, unless the caller
    /// completes the task.
    #[inline]
    pub(crate) fn submit(self) -> *const Submitted {
        let (engine, record) = (self.engine, self.record);
        std::mem::forget(self);
        // SAFETY: the draft is gone, and the record is the submission's until it is handed over.
        let task = unsafe { record.submitted() };
        Step::new(engine, None).submit(task);
        task
    }
}

impl<E: Engine + ?Sized> Drop for Draft<'_, E> {
    fn drop(&mut self) {
        drop(self.take_callback());
        // SAFETY: this is the record's draft.
        if matches!(unsafe { self.record.party() }, Party::External(_)) {
            self.set_party(Party::Nobody);
        }
        // SAFETY: this is the record's draft, which is consumed.
        let task = unsafe { self.record.submitted() };
        Step::new(self.engine, None).give_back(task);
    }
}
