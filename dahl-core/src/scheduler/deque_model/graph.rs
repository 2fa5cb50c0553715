//! [`Graph`]: the tasks that have been submitted and not completed, and the longest path from each to the end.
//!
//! *Upward rank* (Topcuoglu, Hariri, Wu 2002, section 4.1): the mean time of a task, plus the maximum over its
//! successors of the mean time of the transfer to the successor plus the successor's rank.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, VecDeque};

use arrayvec::ArrayVec;

use crate::access::AccessMode;
use crate::description::ArrayId;

/// The number of users of an array above which completed ones are removed.
const USERS: usize = 64;

/// Tasks that have been submitted and not completed.
#[derive(Debug, Default)]
pub(super) struct Graph {
    /// The number of the first node.
    first: u64,
    nodes: VecDeque<Node>,
    /// Unused nodes, kept for their lists' memory.
    spare: Vec<Node>,
    /// The users of the arrays of these tasks.
    users: HashMap<ArrayId, Users>,
    /// Unused ones, kept for their lists' memory.
    spare_users: Vec<Users>,
    /// By footprint: the mean time of a task; none while it is unknown.
    means: HashMap<u64, Option<u64>>,
    /// The number of changes since ranks were last computed.
    news: usize,
}

#[derive(Debug, Default)]
struct Node {
    is_there: bool,
    footprint: u64,
    /// Its dependencies: tasks, and the mean times of transfers from them.
    before: Vec<(u64, u64)>,
    /// The arrays that it uses.
    arrays: ArrayVec<ArrayId, 8>,
    /// Further arrays that it uses.
    more_arrays: Vec<ArrayId>,
    /// The longest path after it.
    after_ns: u64,
    rank_ns: u64,
}

/// The last users of an array.
#[derive(Debug, Default)]
struct Users {
    /// The last ones, which are independent of each other.
    last: Vec<u64>,
    mode: Option<Sharing>,
    /// Those before them, and whether they changed the array.
    earlier: Vec<(u64, bool)>,
    /// The accesses of tasks that have not completed.
    pending: usize,
}

/// Which accesses are independent of each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sharing {
    Reading,
    Reducing,
    Commuting,
}

/// An access in the graph.
#[derive(Clone, Copy, Debug)]
pub(super) struct GraphAccess {
    pub(super) array: ArrayId,
    pub(super) mode: AccessMode,
    /// The mean time of a transfer of the array.
    pub(super) transfer_ns: u64,
}

impl Graph {
    /// Adds a task. Its dependencies follow from the accesses of earlier tasks.
    pub(super) fn add(&mut self, sequence: u64, footprint: u64, accesses: impl Iterator<Item = GraphAccess>) {
        if self.nodes.is_empty() {
            self.first = sequence;
        }
        let Some(index) = sequence.checked_sub(self.first) else { return };
        let index = index as usize;
        if self.nodes.len() <= index {
            let spare = &mut self.spare;
            self.nodes.resize_with(index + 1, || spare.pop().unwrap_or_default());
        }
        let node = &mut self.nodes[index];
        (node.is_there, node.footprint, node.rank_ns) = (true, footprint, 0);
        node.before.clear();
        for access in accesses {
            let spare = &mut self.spare_users;
            let users = self.users.entry(access.array).or_insert_with(|| spare.pop().unwrap_or_default());
            users.add(sequence, self.first, access, &mut node.before);
            users.pending += 1;
            if node.arrays.try_push(access.array).is_err() {
                node.more_arrays.push(access.array);
            }
        }
        self.news += 1;
    }

    /// Records the mean duration of tasks with a footprint.
    pub(super) fn learn(&mut self, footprint: u64, mean_ns: u64) {
        let known = self.means.entry(footprint).or_default();
        if known.is_none() {
            self.news += 1;
        }
        *known = Some(mean_ns);
    }

    /// Whether the duration of tasks with a footprint is known.
    pub(super) fn knows(&self, footprint: u64) -> bool {
        self.means.get(&footprint).is_some_and(Option::is_some)
    }

    /// Removes a completed task.
    pub(super) fn remove(&mut self, sequence: u64) {
        let index = sequence.checked_sub(self.first).map(|index| index as usize);
        if let Some(node) = index.and_then(|index| self.nodes.get_mut(index)) {
            node.is_there = false;
            for array in node.arrays.drain(..).chain(node.more_arrays.drain(..)) {
                let Entry::Occupied(mut entry) = self.users.entry(array) else { continue };
                entry.get_mut().pending -= 1;
                // Ids of arrays are not reused.
                if entry.get().pending == 0 {
                    self.spare_users.push(entry.remove().emptied());
                }
            }
        }
        while self.nodes.front().is_some_and(|node| !node.is_there) {
            self.spare.extend(self.nodes.pop_front());
            self.first += 1;
        }
    }

    /// The rank of a task, in nanoseconds; 0 if it is not in the graph.
    pub(super) fn rank_ns(&self, sequence: u64) -> u64 {
        let index = sequence.checked_sub(self.first).map(|index| index as usize);
        index.and_then(|index| self.nodes.get(index)).map_or(0, |node| node.rank_ns)
    }

    /// Recomputes the ranks if there were enough changes since the last time: an eighth of the tasks, so that the cost
    /// per task is bounded.
    pub(super) fn update(&mut self) {
        if self.news == 0 || self.news < self.nodes.len() / 8 {
            return;
        }
        self.news = 0;
        self.nodes.iter_mut().for_each(|node| node.after_ns = 0);
        for index in (0..self.nodes.len()).rev() {
            let node = &mut self.nodes[index];
            if !node.is_there {
                continue;
            }
            let mean_ns = self.means.get(&node.footprint).copied().flatten().unwrap_or(0);
            // Tasks of unknown duration count a little, so that longer paths still have larger ranks.
            node.rank_ns = node.after_ns + mean_ns.max(1);
            let rank_ns = node.rank_ns;
            let before = std::mem::take(&mut node.before);
            for &(sequence, transfer_ns) in &before {
                if let Some(earlier) = sequence.checked_sub(self.first) {
                    let after_ns = &mut self.nodes[earlier as usize].after_ns;
                    *after_ns = (*after_ns).max(transfer_ns + rank_ns);
                }
            }
            self.nodes[index].before = before;
        }
    }
}

impl Users {
    /// The users of an unused array, with their lists' memory.
    fn emptied(mut self) -> Self {
        self.last.clear();
        self.earlier.clear();
        Self { mode: None, pending: 0, ..self }
    }

    /// Adds a user, and its dependencies to `before`. Tasks before number `first` have completed.
    fn add(&mut self, sequence: u64, first: u64, access: GraphAccess, before: &mut Vec<(u64, u64)>) {
        let mode = match access.mode {
            AccessMode::R => Some(Sharing::Reading),
            AccessMode::REDUX(_) => Some(Sharing::Reducing),
            AccessMode::COMMUTE => Some(Sharing::Commuting),
            _ => None,
        };
        let transfer_ns = if access.mode == AccessMode::W { 0 } else { access.transfer_ns };
        let is_beside = mode.is_some() && mode == self.mode;
        if !is_beside {
            if self.mode != Some(Sharing::Reading) {
                self.earlier.clear();
            }
            // A successor of readers gets the elements from the writer that they read from.
            let writes = self.mode != Some(Sharing::Reading);
            self.earlier.extend(self.last.drain(..).map(|user| (user, writes)));
            self.mode = mode;
        }
        let earlier = self.earlier.iter().filter(|(earlier, _)| (first..sequence).contains(earlier));
        before.extend(earlier.map(|&(earlier, writes)| (earlier, if writes { transfer_ns } else { 0 })));
        if self.last.len() >= USERS && self.last.len().is_power_of_two() {
            self.last.retain(|&user| user >= first);
        }
        if self.last.last() != Some(&sequence) {
            self.last.push(sequence);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Graph, GraphAccess};
    use crate::access::{AccessMode, Reduction};

    /// Figure 2 of Topcuoglu, Hariri, Wu 2002: the times of tasks 1 to 10 on three processors.
    const TIMES: [[u64; 3]; 10] = [
        [14, 16, 9],
        [13, 19, 18],
        [11, 13, 19],
        [13, 8, 17],
        [12, 13, 10],
        [13, 16, 9],
        [7, 15, 11],
        [5, 11, 14],
        [18, 12, 20],
        [21, 7, 16],
    ];
    /// The same figure: from one task to another, and the duration of the transfer.
    const EDGES: [(u64, u64, u64); 15] = [
        (1, 2, 18),
        (1, 3, 12),
        (1, 4, 9),
        (1, 5, 11),
        (1, 6, 14),
        (2, 8, 19),
        (2, 9, 16),
        (3, 7, 23),
        (4, 8, 27),
        (4, 9, 23),
        (5, 9, 13),
        (6, 8, 15),
        (7, 10, 17),
        (8, 10, 11),
        (9, 10, 13),
    ];

    fn access(array: u64, mode: AccessMode, transfer_ns: u64) -> GraphAccess {
        let array = crate::description::ArrayId::new(array + 1);
        GraphAccess { array, mode, transfer_ns }
    }

    #[test]
    fn ranks_are_those_of_table_2_of_the_paper() {
        let mut graph = Graph::default();
        for task in 1..=10 {
            let edges = EDGES.iter().enumerate();
            let accesses = edges.filter_map(|(array, &(from, to, time))| {
                let mode = if from == task { AccessMode::W } else { AccessMode::R };
                (from == task || to == task).then(|| access(array as u64, mode, 1000 * time))
            });
            graph.add(task, task, accesses);
            graph.learn(task, 1000 * TIMES[task as usize - 1].iter().sum::<u64>() / 3);
        }
        graph.update();
        let ranks: Vec<u64> = (1..=10).map(|task| graph.rank_ns(task)).collect();
        let expected = [108_000, 77_000, 80_000, 80_000, 69_000, 63_333, 42_667, 35_667, 44_333, 14_667];
        for (rank, expected) in ranks.into_iter().zip(expected) {
            assert!(rank.abs_diff(expected) <= 3, "{rank} is not {expected}"); // three roundings
        }
    }

    #[test]
    fn a_rank_follows_what_tasks_wait_for() {
        let mut graph = Graph::default();
        let sum = AccessMode::REDUX(Reduction::Sum);
        let tasks = [
            (10, AccessMode::W, 1),  // 0
            (10, AccessMode::R, 1),  // 1: after 0
            (10, AccessMode::R, 1),  // 2: after 0
            (10, AccessMode::RW, 1), // 3: after 0, 1, 2
            (10, sum, 1),            // 4: after 3
            (10, sum, 1),            // 5: after 3
            (10, AccessMode::R, 1),  // 6: after 4, 5
            (11, AccessMode::R, 1),  // 7: alone
        ];
        for (sequence, (array, mode, transfer_ns)) in tasks.into_iter().enumerate() {
            graph.add(sequence as u64, 0, [access(array, mode, transfer_ns)].into_iter());
        }
        graph.learn(0, 10);
        graph.update();
        let ranks = |graph: &Graph| (0..8).map(|task| graph.rank_ns(task)).collect::<Vec<_>>();
        // There is no transfer from a reader to a writer.
        assert_eq!(ranks(&graph), [10 + 1 + 10 + 32, 10 + 32, 10 + 32, 32, 21, 21, 10, 10]);
        for task in [0, 1, 2] {
            graph.remove(task);
        }
        graph.add(8, 0, [access(11, AccessMode::RW, 1)].into_iter());
        graph.update();
        assert_eq!(ranks(&graph), [0, 0, 0, 32, 21, 21, 10, 20]);
        assert!(graph.knows(0) && !graph.knows(1));
        assert_eq!(graph.users.len(), 2);
        for task in 3..=8 {
            graph.remove(task);
        }
        assert!(graph.users.is_empty(), "what nobody uses is forgotten: {:?}", graph.users);
    }
}
