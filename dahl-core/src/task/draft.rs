//! [`Draft`]: a task whose record is being filled in.
#![allow(unsafe_code, reason = "has a record for itself until that is submitted")]

use std::panic::Location;

use super::callback::Callback;
use super::record::{Party, Record, Submitted};
use super::step::Step;
use crate::access::AccessMode;
use crate::array::{ArrayState, Contribution};
use crate::description::{Action, TaskDesc};
use crate::engine::Shared;
use crate::shape::Layout;

/// A record that is taken and not submitted: the one handle of it. [`submit`](Self::submit) takes it; dropped, it gives the record
/// back.
#[derive(Debug)]
pub(crate) struct Draft<'s> {
    shared: &'s Shared,
    record: &'s Record,
}

impl<'s> Draft<'s> {
    /// A task of a runtime. At the bound on tasks in flight this thread helps to run them first.
    #[inline]
    pub(crate) fn new(shared: &'s Shared, action: Action, location: &'static Location<'static>) -> Self {
        // SAFETY: the slab hands a record that is free to one holder.
        unsafe { Self::of(shared, shared.take_record(), Party::Nobody, action, location) }
    }

    /// A task in a record that is kept elsewhere than in the runtime's slab.
    ///
    /// # Safety
    /// Nobody else uses the record: it was not submitted before, or has been given back since.
    #[inline]
    pub(crate) unsafe fn of(
        shared: &'s Shared,
        record: &'s Record,
        party: Party,
        action: Action,
        location: &'static Location<'static>,
    ) -> Self {
        // SAFETY: the caller's.
        unsafe { record.desc_mut() }.begin(action, location);
        // SAFETY: as above.
        let before = unsafe { record.party() };
        if !matches!((before, &party), (Party::Nobody, Party::Nobody)) {
            // SAFETY: as above.
            unsafe { record.set_party(party) };
        }
        Self { shared, record }
    }

    /// The runtime.
    #[inline]
    pub(super) fn shared(&self) -> &'s Shared {
        self.shared
    }

    /// What it says so far.
    #[inline]
    pub(crate) fn desc(&self) -> &TaskDesc {
        // SAFETY: this is the record's draft.
        unsafe { self.record.desc() }
    }

    /// The same, to be changed. Its accesses are added with [`push`](Self::push).
    #[inline]
    pub(crate) fn desc_mut(&mut self) -> &mut TaskDesc {
        // SAFETY: this is the record's draft, borrowed for change.
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
        // SAFETY: this is the record's draft, borrowed for change.
        unsafe { self.record.bind(index, array) };
    }

    /// Adds a temporary buffer.
    pub(crate) fn push_scratch(&mut self, shape: &[usize]) {
        let index = self.desc().accesses().len();
        self.desc_mut().push(None, None, AccessMode::SCRATCH, |layout| layout.set_contiguous(shape));
        // SAFETY: as above.
        unsafe { self.record.bind(index, std::ptr::null()) };
    }

    /// The arrays of its accesses: nothing for scratch.
    #[inline]
    pub(crate) fn arrays(&self) -> impl Iterator<Item = Option<&ArrayState>> {
        (0..self.desc().accesses().len()).map(|index| self.array(index))
    }

    /// The array of access `index`, unless it is scratch.
    #[inline]
    pub(crate) fn array(&self, index: usize) -> Option<&ArrayState> {
        // SAFETY: this is the record's draft.
        let bound = unsafe { self.record.bound(index) };
        // SAFETY: it is written through the draft alone, which is borrowed.
        let array = unsafe { *bound.array.get() };
        // SAFETY: who adds an access to an array keeps it until the task is submitted: a `Task` borrows it.
        unsafe { array.as_ref() }
    }

    /// Sends the contribution that access `index` makes to a buffer of its reduction.
    pub(super) fn redirect(&mut self, index: usize, contribution: &Contribution) {
        // SAFETY: the reduction's tree keeps its buffers, and releases them behind this task.
        let buffer = unsafe { contribution.buffer.as_ref() };
        let is_own = self.array(index).is_some_and(|array| std::ptr::eq(array, buffer));
        self.desc_mut().redirect(index, (!is_own).then(|| buffer.id()), contribution.begins);
        // SAFETY: this is the record's draft, borrowed for change.
        unsafe { self.record.bind(index, buffer) };
    }

    /// Says whom the task concerns.
    pub(super) fn set_party(&mut self, party: Party) {
        // SAFETY: as above.
        unsafe { self.record.set_party(party) };
    }

    /// Sets what is called when the task has ended.
    pub(super) fn set_callback(&mut self, callback: Callback) {
        // SAFETY: as above.
        unsafe { self.record.set_callback(callback) };
    }

    /// Takes that away.
    pub(super) fn take_callback(&mut self) -> Option<Callback> {
        // SAFETY: as above.
        unsafe { self.record.take_callback() }
    }

    /// Submits it. The record is the task's from now on, and may be given back when this returns, unless the caller is to complete
    /// the task.
    #[inline]
    pub(crate) fn submit(self) -> *const Submitted {
        let (shared, record) = (self.shared, self.record);
        std::mem::forget(self);
        // SAFETY: the draft is gone, and the record is the submission's until that hands it over.
        let task = unsafe { record.submitted() };
        Step::new(shared, None).submit(task);
        task
    }
}

impl Drop for Draft<'_> {
    fn drop(&mut self) {
        drop(self.take_callback());
        // SAFETY: this is the record's draft.
        if matches!(unsafe { self.record.party() }, Party::External(_)) {
            self.set_party(Party::Nobody);
        }
        // SAFETY: this is the record's draft, which goes.
        let task = unsafe { self.record.submitted() };
        Step::new(self.shared, None).give_back(task);
    }
}
