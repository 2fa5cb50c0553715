//! [`Chains`]: which tasks a task depends on, by the rules of access modes.
//!
//! This repeats sequentially what `graph::chain` does with links. Accesses to an array form groups: one exclusive
//! access, or several that share (readers, or tasks that commute). Each access comes after all of the group before its
//! own. The beginning and the end of a partition, and accesses by the host, are no tasks. They stand for the tasks that
//! they depend on.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use super::event::Submitted;
use crate::access::AccessMode;
use crate::description::{ArrayId, TaskDesc};

/// The most readers of an array that are kept until it is written, whether they have ended or not; if there are more,
/// those in the earlier half are kept only if they have not ended.
const READERS: usize = 4096;

/// A task that others may depend on.
#[derive(Debug)]
pub(super) struct Predecessor {
    pub(super) sequence: u64,
    /// The position of its slice, once it has ended.
    pub(super) place: OnceLock<SliceEnd>,
}

impl Predecessor {
    /// A task that has not ended.
    pub(super) fn of(task: &Submitted) -> Self {
        Self { sequence: task.desc.sequence(), place: OnceLock::new() }
    }
}

/// The end of a slice.
#[derive(Clone, Copy, Debug)]
pub(super) struct SliceEnd {
    pub(super) pid: u32,
    pub(super) tid: u32,
    pub(super) begin_ns: u64,
    pub(super) end_ns: u64,
}

pub(super) type Predecessors = Vec<Arc<Predecessor>>;

/// The accesses to each array so far, as far as later ones depend on them.
#[derive(Debug, Default)]
pub(super) struct Chains {
    chains: HashMap<ArrayId, Chain>,
}

#[derive(Debug)]
struct Chain {
    kind: Group,
    /// The tasks of the last group.
    members: Predecessors,
    /// The tasks of the previous group.
    before: Predecessors,
    /// The number of members above which some are dropped.
    most: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Group {
    Exclusive,
    Readers,
    Commuting,
}

impl Group {
    fn of(mode: AccessMode) -> Self {
        match mode {
            AccessMode::R => Self::Readers,
            AccessMode::COMMUTE => Self::Commuting,
            _ => Self::Exclusive,
        }
    }
}

impl Chains {
    /// Adds a task, which depends on the tasks `after`. Returns all its dependencies, in the order of submission.
    pub(super) fn add_task(
        &mut self,
        task: &Arc<Predecessor>,
        desc: &TaskDesc,
        mut after: Predecessors,
    ) -> Predecessors {
        self.enter(desc, &mut after);
        for (array, _) in arrays(desc) {
            self.chain(array).add(task);
        }
        after
    }

    /// Adds the beginning of a partition. Accesses to its parts from an earlier opening have ended, otherwise it would
    /// not be reused.
    pub(super) fn begin_partition(&mut self, split: &TaskDesc) {
        for (part, _) in arrays(split).skip(1) {
            let chain = self.chain(part);
            (chain.members, chain.before) = (Predecessors::new(), Predecessors::new());
        }
        self.add_passage(split);
    }

    /// Adds a passage, which is not a task. Returns the tasks that it stands for: its dependencies.
    pub(super) fn add_passage(&mut self, passage: &TaskDesc) -> Predecessors {
        let mut after = Predecessors::new();
        self.enter(passage, &mut after);
        for (array, _) in arrays(passage) {
            self.chain(array).pass(&after);
        }
        after
    }

    /// Starts groups for the accesses, and collects their dependencies.
    fn enter(&mut self, desc: &TaskDesc, after: &mut Predecessors) {
        for (array, mode) in arrays(desc) {
            self.chain(array).enter(Group::of(mode), after);
        }
        in_order(after);
    }

    /// Adds an exclusive access of the host.
    pub(super) fn add_host(&mut self, array: ArrayId) {
        let mut after = Predecessors::new();
        let chain = self.chain(array);
        chain.enter(Group::Exclusive, &mut after);
        chain.pass(&after);
    }

    /// Makes the access that began a partition stand for the tasks that ended it.
    pub(super) fn end_partition(&mut self, whole: ArrayId, after: Predecessors) {
        self.chain(whole).members = after;
    }

    /// Drops an array.
    pub(super) fn forget(&mut self, array: ArrayId) {
        self.chains.remove(&array);
    }

    /// The number of arrays that are kept.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.chains.len()
    }

    fn chain(&mut self, array: ArrayId) -> &mut Chain {
        self.chains.entry(array).or_insert_with(|| Chain {
            kind: Group::Exclusive,
            members: Predecessors::new(),
            before: Predecessors::new(),
            most: READERS,
        })
    }
}

/// The arrays, or private buffers, whose chains a task's accesses are in.
fn arrays(desc: &TaskDesc) -> impl Iterator<Item = (ArrayId, AccessMode)> {
    desc.accesses().filter_map(|access| Some((access.ordered_by()?, access.mode)))
}

impl Chain {
    /// Starts a group, unless the access shares the last one; adds its dependencies to `after`.
    fn enter(&mut self, kind: Group, after: &mut Predecessors) {
        if kind == Group::Exclusive || kind != self.kind {
            // If a group consists of passages only, its members are those before it.
            if !self.members.is_empty() {
                self.before = std::mem::take(&mut self.members);
            }
            (self.kind, self.most) = (kind, READERS);
        }
        after.extend(self.before.iter().cloned());
    }

    fn add(&mut self, task: &Arc<Predecessor>) {
        if self.members.last().is_some_and(|last| Arc::ptr_eq(last, task)) {
            return; // two reads of one array
        }
        if self.members.len() >= self.most {
            let mut place = 0;
            let half = self.most / 2;
            self.members.retain(|member| {
                place += 1;
                place > half || member.place.get().is_none()
            });
            self.most = READERS.max(2 * self.members.len());
        }
        self.members.push(Arc::clone(task));
    }

    /// Adds the tasks that `after` stands for.
    fn pass(&mut self, after: &Predecessors) {
        self.members.extend(after.iter().cloned());
        in_order(&mut self.members);
    }
}

/// Sorts tasks in the order of submission, without duplicates.
fn in_order(tasks: &mut Predecessors) {
    tasks.sort_unstable_by_key(|task| task.sequence);
    tasks.dedup_by_key(|task| task.sequence);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::waiting::tests::desc;

    /// An access to array `array`.
    fn access(array: u64, mode: AccessMode) -> (u64, AccessMode) {
        (array, mode)
    }

    /// Adds a task, and ends it immediately.
    fn add(chains: &mut Chains, sequence: u64, uses: &[(u64, AccessMode)]) -> (Arc<Predecessor>, Vec<u64>) {
        let task = Arc::new(Predecessor { sequence, place: OnceLock::new() });
        let after = chains
            .add_task(&task, &desc(sequence, uses), Predecessors::new())
            .iter()
            .map(|task| task.sequence)
            .collect();
        task.place.set(SliceEnd { pid: 1, tid: 1, begin_ns: 0, end_ns: 0 }).expect("once");
        (task, after)
    }

    #[test]
    fn what_no_array_leads_to_is_forgotten() {
        let mut chains = Chains::default();
        let first = Arc::downgrade(&add(&mut chains, 0, &[access(7, AccessMode::RW)]).0);
        for sequence in 1..1000 {
            let (_, after) = add(&mut chains, sequence, &[access(7, AccessMode::RW)]);
            assert_eq!(after, [sequence - 1]);
        }
        assert!(first.upgrade().is_none(), "two groups are kept, not a thousand");
        let last = Arc::downgrade(&add(&mut chains, 1000, &[access(7, AccessMode::R)]).0);
        chains.forget(ArrayId::new(7));
        assert_eq!((chains.len(), last.upgrade().is_none()), (0, true));
    }

    #[test]
    fn readers_that_have_ended_are_kept_up_to_a_bound() {
        let mut chains = Chains::default();
        let write = [access(1, AccessMode::RW)];
        let read = |chains: &mut Chains, count: u64| {
            (1..=count).for_each(|sequence| drop(add(chains, sequence, &[access(1, AccessMode::R)])));
        };
        add(&mut chains, 0, &write);
        read(&mut chains, READERS as u64);
        let (_, after) = add(&mut chains, READERS as u64 + 1, &write);
        assert_eq!(after.len(), READERS, "all of them");
        read(&mut chains, 100_000);
        let (_, after) = add(&mut chains, 100_001, &write);
        assert!(after.len() <= READERS && after.len() >= READERS / 2, "{}", after.len());
        assert_eq!(after.last(), Some(&100_000), "the latest ones");
    }

    #[test]
    fn readers_that_run_are_not_forgotten() {
        let mut chains = Chains::default();
        let runs = Arc::new(Predecessor { sequence: 0, place: OnceLock::new() });
        chains.add_task(&runs, &desc(0, &[access(1, AccessMode::R)]), Predecessors::new());
        (1..20_000).for_each(|sequence| drop(add(&mut chains, sequence, &[access(1, AccessMode::R)])));
        let (_, after) = add(&mut chains, 20_000, &[access(1, AccessMode::W)]);
        assert_eq!(after.first(), Some(&0));
    }
}
