//! [`Step`]: the consequences of links that become ready or are retired.
#![allow(unsafe_code, reason = "turns links back into the records and arrays that they belong to")]

use std::ptr::{self, NonNull};
use std::sync::Arc;

use super::external;
use super::lifo_slot::LifoSlot;
use super::ready::ReadyTask;
use super::recycler::Recycler;
use super::replay;
use crate::array_id::ArrayId;
use crate::cuda::HostFetch;
use crate::description::Action;
use crate::device::Requester;
use crate::graph::{
    ArrayState, Dispatch, Events, Host, Link, LockWaiter, Node, Partition, Party, Record, Submitted,
};
use crate::sync::atomic::Ordering;

/// The consequences of a change to the chains: ready tasks go to the scheduler, and unused records and arrays are
/// returned.
pub(crate) struct Step<'s, D: Dispatch + ?Sized> {
    pub(super) dispatch: &'s D,
    host: &'s Host,
    /// The record whose links are being appended or finished: its counts are summed and applied together.
    own: *const Record,
    own_ready: u32,
    own_retired: u32,
    /// The worker that makes the change, if any.
    pub(super) worker: Option<usize>,
    recycler: Option<&'s mut Recycler>,
    /// The worker's slot for the task that it runs next.
    lifo_slot: Option<&'s mut LifoSlot>,
    /// Ready splits, joins and discards, linked through [`Record::next`].
    inline: *const Record,
}

impl<'s, D: Dispatch + ?Sized> Step<'s, D> {
    pub(crate) fn new(dispatch: &'s D, worker: Option<usize>) -> Self {
        Self {
            dispatch,
            host: dispatch.host(),
            own: ptr::null(),
            own_ready: 0,
            own_retired: 0,
            worker,
            recycler: None,
            lifo_slot: None,
            inline: ptr::null(),
        }
    }

    /// A step of a worker, which returns records in bulk and keeps a task that it makes ready in the worker's LIFO
    /// slot.
    pub(crate) fn of_worker(
        dispatch: &'s D,
        worker: Option<usize>,
        recycler: &'s mut Recycler,
        lifo_slot: &'s mut LifoSlot,
    ) -> Self {
        Self { recycler: Some(recycler), lifo_slot: Some(lifo_slot), ..Self::new(dispatch, worker) }
    }

    /// Appends the links of a task that has been filled in, and passes it on once it is ready.
    pub(crate) fn submit(&mut self, task: &Submitted) {
        self.run(|step| step.append(task));
    }

    /// Finishes every access of a task that has run. The record may be another task's when this returns.
    pub(crate) fn complete(&mut self, task: &Submitted) {
        if let &Party::Node(node) = task.party() {
            // SAFETY: the task has not been counted as ended, so the program is kept.
            let node = unsafe { Node::at(node) };
            self.run(|step| step.pass_on(node));
            return self.end_node(node);
        }
        if task.desc().commutes() {
            self.release_locks(task);
        }
        self.run(|step| step.finish(NonNull::from(task), 0));
    }

    /// Releases a task's dependencies early, in stream order: its work is in a device's streams and may not have run
    /// yet. Its accesses are finished, and its successors wait for its events (`dahl-driver/README.md`, D2). The record stays
    /// the task's until [`end`](Self::end); its arrays may be freed.
    #[cfg_attr(
        any(dahl_fuzz, not(feature = "cuda")),
        expect(dead_code, reason = "there are no such devices")
    )]
    pub(crate) fn release_early(&mut self, task: &Submitted) {
        if let &Party::Node(node) = task.party() {
            // SAFETY: as in `complete`.
            let node = unsafe { Node::at(node) };
            return self.run(|step| step.pass_on(node));
        }
        if task.desc().commutes() {
            self.release_locks(task);
        }
        self.run(|step| {
            let retired = step.finish_links(task, 0);
            if retired > 0 {
                task.record().count_retired(retired); // never the last: the task itself is counted until it ends
            }
        });
    }

    /// Ends a task whose dependencies were released early.
    pub(crate) fn end(&mut self, task: &Submitted) {
        if let &Party::Node(node) = task.party() {
            // SAFETY: as in `complete`.
            return self.end_node(unsafe { Node::at(node) });
        }
        if task.record().count_retired(1) {
            self.give_back(task);
        }
    }

    /// Makes a change to the chains, and then runs the splits and joins that it made ready, and those that these make
    /// ready.
    pub(crate) fn run(&mut self, change: impl FnOnce(&mut Self)) {
        change(self);
        while let Some(record) = NonNull::new(self.inline.cast_mut()) {
            // SAFETY: a record in the list has not been completed.
            let record = unsafe { record.as_ref() };
            self.inline = record.next().load(Ordering::Relaxed);
            // SAFETY: as above; it is not used after that returns.
            self.run_inline(NonNull::from(unsafe { record.submitted() }));
        }
    }

    fn append(&mut self, task: &Submitted) {
        if let Some(recorder) = self.host.recorder() {
            let known_as = task.accesses().map(|access| access.state().map(ArrayState::known_as));
            let bytes =
                task.accesses().filter_map(|access| access.state()).map(|array| array.bytes() as u64).sum();
            recorder.appended(task.desc(), known_as, bytes, returned_whole(task));
        }
        let links = task.accesses().filter(|access| access.state().is_some()).count() as u32;
        task.arm(links);
        self.own = task.record();
        for access in task.accesses() {
            if let Some(array) = access.state() {
                // SAFETY: `arm` has reset the link; the record stays until its links are retired; conflicting
                // submissions are ordered by the borrows of the wrappers' `&` and `&mut`.
                unsafe { array.chain().append(access.link(), self) };
            }
        }
        let ready = self.own_ready + 1;
        self.own = ptr::null();
        self.own_ready = 0;
        if task.record().count_ready(ready) {
            self.hand_over(task);
        }
    }

    /// Finishes the accesses of `task` from number `first` on. It may be another task's, or freed with its partition,
    /// when this returns, so it is not a reference.
    fn finish(&mut self, task: NonNull<Submitted>, first: usize) {
        // SAFETY: the record has not been completed: it still counts this task, until the last step here.
        let task = unsafe { task.as_ref() };
        let retired = self.finish_links(task, first) + 1;
        if task.record().count_retired(retired) {
            self.give_back(task);
        }
    }

    /// Finishes accesses. Returns how many of the record's links were retired by that and are not counted yet.
    #[inline]
    fn finish_links(&mut self, task: &Submitted, first: usize) -> u32 {
        self.own = task.record();
        for access in task.accesses().skip(first) {
            if let Some(array) = access.state() {
                // SAFETY: the link was appended, and it is ready since the task has run; it is finished once.
                unsafe { array.chain().finish(access.link(), self) };
            }
        }
        self.own = ptr::null();
        std::mem::take(&mut self.own_retired)
    }

    /// Runs a split or a join, or hands it over; or discards an array's value.
    fn run_inline(&mut self, task: NonNull<Submitted>) {
        // SAFETY: a record in the list has not been completed.
        let submitted = unsafe { task.as_ref() };
        match (submitted.desc().action(), submitted.party()) {
            (Action::Split | Action::Join, &Party::Partition(partition)) => {
                // SAFETY: the record of a split or a join, which is not retired, keeps its partition.
                let partition = unsafe { &*partition };
                if let Some(fetches) = self.to_hand_over(submitted, partition) {
                    return self.dispatch.hand_over(submitted, fetches);
                }
                self.run_partition(task);
            }
            (Action::External(_), &Party::Node(_)) => {
                self.host.note_ready(submitted);
                // SAFETY: the task is ready, so its accesses are held, and it is in the list once.
                unsafe { external::begin_flow(submitted) };
            }
            (_, &Party::Node(node)) => {
                // SAFETY: as above; it is ready.
                unsafe { replay::run_inline(submitted) };
                // SAFETY: the task has not been counted as ended, so the program is kept.
                let node = unsafe { Node::at(node) };
                self.pass_on(node);
                self.end_node(node);
            }
            (Action::Forget, _) => {
                // SAFETY: as above.
                let forgetting = unsafe { task.as_ref() };
                let array = forgetting.access(0).state().expect("it is an array's value");
                let location = forgetting.desc().location();
                match self.host.log() {
                    Some(log) => log.forget(array.id(), location),
                    // SAFETY: it is ready, so it holds its access, which is exclusive.
                    None => unsafe { array.forget_value(Requester { name: "invalidate", location }) },
                }
                self.finish(task, 0);
            }
            (Action::External(_), _) => {
                // SAFETY: as above.
                let task = unsafe { task.as_ref() };
                self.host.note_ready(task);
                // SAFETY: the task is ready, so its accesses are held, and it is in the list once.
                unsafe { external::begin(task) };
            }
            (action, party) => unreachable!("{action:?} of {party:?} is not run here"),
        }
    }

    /// The fetches that a split or a join waits for whose elements are with devices: it is counted, and to be handed over.
    /// Nothing if this thread is to run it.
    fn to_hand_over(&self, task: &Submitted, partition: &Partition) -> Option<Vec<Arc<HostFetch>>> {
        let (host, is_split) = (self.host, is_split(task));
        if !host.has_real_devices() || !partition.is_away(is_split) {
            return None;
        }
        let fetches = partition.fetch_async(is_split);
        let issues = self.worker.is_some_and(|worker| worker >= host.cpu_workers());
        // What has come already needs no wait, but a device's worker has better things to do than to copy it home.
        if fetches.is_empty() && !issues {
            return None;
        }
        // Before the task that made it ready is counted as completed: no worker leaves from now on.
        host.handed_over().add();
        // Where no task made it ready that is counted later, they may have left: then this thread waits.
        if self.worker.is_none() && host.is_stopped() {
            host.count_handed_over();
            return None;
        }
        Some(fetches)
    }

    /// Runs a split or a join that was handed over, and those that it makes ready; or, if elements are still to come, hands
    /// it over again.
    pub(crate) fn run_handed_over(&mut self, task: &Submitted) {
        if let &Party::Partition(partition) = task.party() {
            let is_split = is_split(task);
            // SAFETY: the task's record, which is not retired, keeps its partition.
            let partition = unsafe { &*partition };
            let fetches = partition.fetch_async(is_split);
            if !fetches.is_empty() {
                // While the next ones are on their way.
                partition.land(is_split);
                return self.dispatch.hand_over(task, fetches);
            }
        }
        self.run(|step| step.run_partition(NonNull::from(task)));
        self.host.count_handed_over();
    }

    /// Runs a split or a join, which is ready, once.
    fn run_partition(&mut self, task: NonNull<Submitted>) {
        // SAFETY: it has not been completed.
        let submitted = unsafe { task.as_ref() };
        let location = submitted.desc().location();
        match (submitted.desc().action(), submitted.party()) {
            (Action::Split, &Party::Partition(partition)) => {
                // SAFETY: the split's record, which is not retired, keeps its partition.
                let partition = unsafe { &*partition };
                match self.host.log() {
                    Some(log) => log.partition(partition.logged(location), true),
                    // SAFETY: the split is ready, and it is run once.
                    None => unsafe { partition.run_split(location) },
                }
                // The split of an exclusive partition keeps its access to the whole array, number 0, until the join.
                let first = usize::from(!partition.is_shared());
                self.finish(task, first);
            }
            (Action::Join, &Party::Partition(partition)) => {
                // SAFETY: the join's record, which is not retired, keeps its partition; so does the split's record of
                // an exclusive one, until its access to the whole array is finished.
                let partition = unsafe { &*partition };
                match self.host.log() {
                    Some(log) => log.partition(partition.logged(location), false),
                    // SAFETY: the join is ready, and it is run once.
                    None => unsafe { partition.run_join(location) },
                }
                let shared = partition.is_shared();
                self.finish(task, 0);
                if shared {
                    return; // the partition may be gone
                }
                // SAFETY: its access to the whole array is not finished, so it has not been returned.
                let whole = unsafe { partition.split().submitted() }.access(0);
                let chain = whole.state().expect("a split is of an array").chain();
                // SAFETY: the split's access has been ready since before the join was; it is finished here, once.
                unsafe { chain.finish(whole.link(), self) };
            }
            (action, party) => unreachable!("{action:?} of {party:?} is no split and no join"),
        }
    }

    /// Returns an unused record: its task has ended, or was never submitted.
    pub(crate) fn give_back(&mut self, task: &Submitted) {
        if let (Action::Split | Action::Join, &Party::Partition(partition)) =
            (task.desc().action(), task.party())
        {
            let partition = NonNull::new(partition.cast_mut()).expect("made from a reference");
            return Partition::release(partition, self);
        }
        let index = task.record().index();
        match &mut self.recycler {
            Some(recycler) => recycler.give_back(self.host, index),
            None => self.host.give_back_record(index),
        }
    }

    pub(super) fn hand_over(&mut self, task: &Submitted) {
        match task.desc().action() {
            Action::Kernel(_) | Action::External(_) if task.desc().commutes() => self.acquire_locks(task),
            Action::Kernel(_) | Action::Program(_) | Action::Combine(_) => {
                let others = match &mut self.lifo_slot {
                    Some(slot) => slot.keep(ReadyTask::new(task, self.host)),
                    None => Some(ReadyTask::new(task, self.host)),
                };
                match others {
                    Some(task) => self.dispatch.schedule(task.task(), self.worker),
                    None => self.host.note_ready(task),
                }
            }
            Action::Wait => {
                let Party::Waiter(waiter) = task.party() else { unreachable!("somebody waits") };
                // SAFETY: the waiter exists until it is told, which happens here, once.
                unsafe { (**waiter).tell() }
            }
            Action::Forget | Action::Split | Action::Join | Action::External(_) => self.put_off(task),
        }
    }

    /// Defers a task until this step's change is complete: otherwise a long chain of partitions would recurse as
    /// deeply.
    pub(super) fn put_off(&mut self, task: &Submitted) {
        task.record().next().store(self.inline.cast_mut(), Ordering::Relaxed);
        self.inline = task.record();
    }
}

/// Whether the task, a split or a join, is a split.
fn is_split(task: &Submitted) -> bool {
    matches!(task.desc().action(), Action::Split)
}

/// The whole array, if the task is a join that ends the split's access to it.
fn returned_whole(task: &Submitted) -> Option<ArrayId> {
    let (Action::Join, &Party::Partition(partition)) = (task.desc().action(), task.party()) else {
        return None;
    };
    // SAFETY: the join's record, which is not completed, keeps its partition.
    unsafe { &*partition }.returned_whole()
}

impl<D: Dispatch + ?Sized> Events for Step<'_, D> {
    fn ready(&mut self, link: *const Link) {
        // SAFETY: a link that is becoming ready is not retired.
        if unsafe { &*link }.is_release() {
            // SAFETY: a release link becomes ready once, when nothing else knows its array.
            return unsafe { ArrayState::reclaim(link, self) };
        }
        // SAFETY: the link is an access's, of a task that waits for it.
        let record = unsafe { Record::of_link(link) };
        if ptr::eq(record, self.own) {
            self.own_ready += 1;
        } else if record.count_ready(1) {
            // SAFETY: it was submitted, and its task has not been completed.
            self.hand_over(unsafe { record.submitted() });
        }
    }

    fn retired(&mut self, link: *const Link) {
        // SAFETY: release links are never finished, so the link is an access's, and its record is not free: it still
        // counts this link.
        let record = unsafe { Record::of_link(link) };
        if ptr::eq(record, self.own) {
            self.own_retired += 1;
        } else if record.count_retired(1) {
            // SAFETY: it was submitted, and is returned here.
            self.give_back(unsafe { record.submitted() });
        }
    }
}
