//! [`Shuffled`]: hands out ready tasks in an order drawn from a seed, to find results that depend on the order.

use std::sync::{Mutex, MutexGuard};

use super::Scheduler;
use crate::task::ReadyTask;

/// Ready tasks in a pseudorandom order, under the name of the scheduler that it replaces. Priorities and workers have
/// no effect.
#[derive(Debug)]
pub(crate) struct Shuffled {
    name: &'static str,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    random: u64,
    tasks: Vec<ReadyTask>,
}

impl Shuffled {
    pub(crate) fn new(name: &'static str, seed: u64) -> Self {
        Self { name, state: Mutex::new(State { random: seed, tasks: Vec::new() }) }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|poison| poison.into_inner())
    }
}

impl State {
    /// The next number of splitmix64 (Steele, Lea, Flood 2014).
    fn next_random(&mut self) -> u64 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.random ^ (self.random >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

impl Scheduler for Shuffled {
    fn name(&self) -> &'static str {
        self.name
    }

    fn sees_submissions(&self) -> bool {
        false
    }

    fn serves_any_worker(&self) -> bool {
        true
    }

    fn push(&self, task: ReadyTask, _: Option<usize>) {
        self.state().tasks.push(task);
    }

    fn pop(&self, _: Option<usize>) -> Option<ReadyTask> {
        let mut state = self.state();
        let count = state.tasks.len();
        if count == 0 {
            return None;
        }
        let chosen = state.next_random() % count as u64;
        Some(state.tasks.swap_remove(chosen as usize))
    }
}
