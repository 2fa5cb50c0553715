//! How a thread waits for progress, and for its access to an array.

use std::time::Duration;

use super::engine::Executor;
use crate::graph::Waiter;
use crate::sleep::{Interest, Lookout};
use crate::stall::Watch;
use crate::sync::{Patience, spin_loop, thread};
use crate::trace::Recorder;

/// How long the host spins before it parks: about the cost of waking it.
const SPIN: Duration = Duration::from_micros(20);

impl Executor {
    pub(super) fn wait_as(&self, interest: Interest, holds: &dyn Fn() -> bool) {
        let _away = self.recorder().map(Recorder::away);
        if self.is_simulated() {
            return self.simulate_until(holds);
        }
        if holds() {
            return;
        }
        self.tell_host_waits();
        let _waits = self.sleep().host_waits();
        self.progress().wait_until(interest, &mut Watch::new(self, self.stall()), holds);
    }

    pub(super) fn wait_to_be_told(&self, waiter: &Waiter) {
        let _away = self.recorder().map(Recorder::away);
        if self.is_simulated() {
            return self.simulate_until(|| waiter.is_told());
        }
        if !waiter.is_told() {
            self.tell_host_waits();
        }
        let mut patience = Patience::new(SPIN);
        let mut watch = None;
        let mut waits = None;
        while !waiter.is_told() {
            if !patience.is_over() {
                spin_loop();
                continue;
            }
            waits.get_or_insert_with(|| self.sleep().host_waits());
            let watch = watch.get_or_insert_with(|| Watch::new(self, self.stall()));
            match watch.patience() {
                Some(patience) => thread::park_timeout(patience),
                None => thread::park(),
            }
            if !waiter.is_told() {
                watch.look();
            }
        }
    }
}
