//! How a thread waits in virtual time: it advances the simulation.

use super::engine::Executor;
use crate::graph::Engine;
use crate::sync::{Patience, thread};

impl Executor {
    /// Advances a simulation until `holds`.
    pub(super) fn simulate_until(&self, holds: impl Fn() -> bool) {
        let mut idle = None;
        if !holds() {
            self.tell_host_waits();
        }
        while !holds() {
            if self.help() {
                idle = None;
                continue;
            }
            // Another thread advances it, or is about to submit what this one waits for.
            thread::yield_now();
            let Some(after) = self.stall().after else { continue };
            if idle.get_or_insert_with(|| Patience::new(after)).is_over() {
                self.stall().report(self, self.completed());
                idle = None;
            }
        }
        self.show_transfers();
        self.serve_if_stopped();
    }
}
