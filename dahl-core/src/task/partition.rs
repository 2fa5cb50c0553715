//! The split and the join of a partition: the tasks that order accesses to the whole and to its parts, and when they are
//! submitted.
#![allow(unsafe_code, reason = "parts alias their whole; the order of tasks keeps them apart")]

use std::any::Any;
use std::panic::Location;
use std::ptr::NonNull;
use std::sync::Arc;

use super::draft::Draft;
use super::over_ranks::{after_join, after_split, before_split};
use crate::access::AccessMode;
use crate::description::Action;
use crate::graph::{ArrayState, Engine, Owned, Partition, PartitionKey, Partitions, Party, Record};
use crate::shape::Layout;
use crate::sync::atomic::Ordering;

impl Partitions {
    /// Opens a partition of `whole` and submits its split.
    #[track_caller]
    pub(crate) fn open(
        &self,
        whole: &ArrayState,
        key: PartitionKey<'_>,
        layout: &Layout,
        new_shelf: fn() -> Arc<dyn Any + Send + Sync>,
    ) -> NonNull<Partition> {
        if !key.shared {
            whole.saves().note_write(Location::caller());
        }
        whole.flush_pending(if key.shared { AccessMode::R } else { AccessMode::RW });
        let ranks = whole.engine().host().ranks();
        if let Some(ranks) = ranks {
            before_split(ranks, whole, key, layout, Location::caller());
        }
        let mut list = self.list();
        let fits = |owned: &&mut Owned| !owned.open && owned.partition().can_reopen(&key, layout);
        let partition = match list.iter_mut().find(fits) {
            Some(owned) => {
                owned.open = true;
                owned.partition
            }
            None => {
                let partition =
                    NonNull::from(Box::leak(Box::new(Partition::new(whole, key, *layout, new_shelf()))));
                list.push(Owned { partition, open: true });
                partition
            }
        };
        self.any_open.store(true, Ordering::Release);
        // SAFETY: the whole array holds a reference, and the partition is not joined before this returns.
        let opened = unsafe { partition.as_ref() };
        opened.submit_split(whole);
        if let Some(ranks) = ranks {
            after_split(ranks, whole, opened);
        }
        partition
    }

    /// Joins the partitions that must be joined before an access of this mode to `whole`.
    #[inline]
    pub(crate) fn rejoin(&self, whole: &ArrayState, mode: AccessMode) {
        if self.may_be_open() {
            self.rejoin_open(whole, mode);
        }
    }

    #[cold]
    fn rejoin_open(&self, whole: &ArrayState, mode: AccessMode) {
        let mut list = self.list();
        for owned in list.iter_mut().filter(|owned| owned.open) {
            if !mode.is_shared() || !owned.partition().shared {
                owned.close(whole);
            }
        }
        self.any_open.store(list.iter().any(|owned| owned.open), Ordering::Release);
    }

    /// Joins the partitions whose parts nobody has any more, and which would be joined before the next access.
    pub(crate) fn join_unused(&self, whole: &ArrayState) {
        if self.may_be_open() {
            let mut list = self.list();
            let is_unused = |owned: &&mut Owned| owned.open && !owned.partition().has_handles();
            list.iter_mut().filter(is_unused).for_each(|owned| owned.close(whole));
            self.any_open.store(list.iter().any(|owned| owned.open), Ordering::Release);
        }
    }

    /// Joins one partition, unless it has been joined.
    pub(crate) fn join(&self, whole: &ArrayState, partition: NonNull<Partition>) {
        let mut list = self.list();
        if let Some(owned) = list.iter_mut().find(|owned| owned.partition == partition && owned.open) {
            owned.close(whole);
        }
        self.any_open.store(list.iter().any(|owned| owned.open), Ordering::Release);
    }
}

impl Owned {
    fn close(&mut self, whole: &ArrayState) {
        self.open = false;
        self.partition().submit_join(whole);
        if let Some(ranks) = whole.engine().host().ranks() {
            after_join(ranks, whole, self.partition());
        }
    }
}

impl Partition {
    #[track_caller]
    fn submit_split(&self, whole: &ArrayState) {
        self.references.add();
        let location = Location::caller();
        // SAFETY: the partition is not open yet, and the last split is retired, so only this thread uses the record.
        let mut draft = unsafe { self.draft(whole, &self.split, Action::Split, location) };
        let mode = if self.shared { AccessMode::R } else { AccessMode::RW };
        draft.push(whole, mode, |layout| layout.set_contiguous(&[]));
        for part in self.part_states() {
            draft.push(part, AccessMode::RW, |layout| layout.set_contiguous(&[]));
        }
        draft.submit();
    }

    #[track_caller]
    fn submit_join(&self, whole: &ArrayState) {
        self.references.add();
        let location = Location::caller();
        // SAFETY: the partition is joined once for each opening, under the list's lock, and the last join is retired.
        let mut draft = unsafe { self.draft(whole, &self.join, Action::Join, location) };
        if self.shared {
            draft.push(whole, AccessMode::R, |layout| layout.set_contiguous(&[]));
        }
        for part in self.part_states() {
            // Partitions of the part, and reductions into it, come first.
            part.flush_pending(AccessMode::RW);
            draft.push(part, AccessMode::RW, |layout| layout.set_contiguous(&[]));
        }
        draft.submit();
    }

    /// The draft of the split or the join.
    ///
    /// # Safety
    /// The record is this partition's, and only this thread uses it.
    unsafe fn draft<'s>(
        &'s self,
        whole: &'s ArrayState,
        record: &'s Record,
        action: Action,
        location: &'static Location<'static>,
    ) -> Draft<'s, dyn Engine> {
        // SAFETY: guaranteed by the caller.
        unsafe { Draft::of(&**whole.engine(), record, Party::Partition(self), action, location) }
    }
}
