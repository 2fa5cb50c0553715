//! [`LowOrder`]: an order of the steps in which little memory is in use at one time.

use dahl_plan::order::{Options, Task, order};

use super::demand::Demand;
use crate::graph::{Order, Reach};

/// How long a planner may search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effort {
    /// The most steps of the search for places: [`dahl_plan::memory::Options::steps`].
    pub steps: u64,
    /// The most partial orders that are kept: [`dahl_plan::order::Options::beam`].
    pub beam: usize,
    /// The most states of the search for an order: [`dahl_plan::order::Options::states`].
    pub states: usize,
}

impl Effort {
    /// That of a recording: some tenths of a second.
    pub(crate) const OF_RECORDING: Self = Self { steps: 20_000_000, beam: 8, states: 20_000 };
}

/// As `dahl plan memory` has it.
impl Default for Effort {
    fn default() -> Self {
        let Options { beam, states } = Options::default();
        Self { steps: dahl_plan::memory::Options::default().steps, beam, states }
    }
}

/// An order of the steps in which little memory is in use at one time.
#[derive(Clone, Debug)]
pub(crate) struct LowOrder {
    /// The steps, by number, if that is better than the order in which they are.
    pub(crate) steps: Option<Vec<usize>>,
    /// Bytes that are in use at some time in every order.
    pub(crate) lower_bound: usize,
}

impl LowOrder {
    /// Looks for an order that agrees with `given`.
    ///
    /// `dahl_plan::order` knows tasks with one output each, which lives until its last reader has ended. An array whose users
    /// all come after its first step, and before whatever else waits for that step, is that step's output. Another one is
    /// the output of a task of its own, which all its users read: the best time for that task is just before the first of
    /// them, so the peaks are the same. Arrays that keep a value live always, and are added to each peak.
    pub(crate) fn find(demand: &Demand, given: &Order, effort: &Effort) -> Self {
        let mut tasks = vec![Task::default(); demand.steps];
        for (earlier, later) in given.edges() {
            tasks[later].reads.push(earlier);
        }
        let reach = Reach::of(given);
        let mut kept = 0;
        for array in &demand.arrays {
            if array.keeps {
                kept += array.bytes;
                continue;
            }
            let (&first, users) = array.steps.split_first().expect("an array that is placed is used");
            let comes_first = |&user: &usize| reach.as_ref().is_some_and(|reach| reach.is_after(user, first));
            let is_user = |next: &u32| users.binary_search(&(*next as usize)).is_ok();
            let is_output = tasks[first].output == 0
                && users.iter().all(comes_first)
                && given.after[first].iter().all(is_user);
            if is_output {
                tasks[first].output = array.bytes as u64;
                users.iter().for_each(|&user| tasks[user].reads.push(first));
            } else {
                let own = tasks.len();
                tasks.push(Task { output: array.bytes as u64, ..Task::default() });
                array.steps.iter().for_each(|&user| tasks[user].reads.push(own));
            }
        }
        let options = Options { beam: effort.beam, states: effort.states };
        let Ok(found) = order(&tasks, &options) else {
            return Self { steps: None, lower_bound: kept }; // more bytes than there are numbers
        };
        let steps: Vec<usize> = found.tasks.into_iter().filter(|&task| task < demand.steps).collect();
        let is_better = demand.reordered(&steps).live_bytes() < demand.live_bytes();
        Self { steps: is_better.then_some(steps), lower_bound: kept + found.lower_bound as usize }
    }
}
