//! What a runtime makes of its meters' readings: a power curve in the trace, and the energy of each codelet.

use std::collections::BTreeMap;
use std::sync::{Arc, Weak};
use std::time::Duration;

use super::shared::Shared;
use crate::memory::HOME;
use crate::metering::Window;

/// The name of a codelet, and how many tasks of it have ended.
type Counts = BTreeMap<String, f64>;

impl Shared {
    /// Starts the thread that reads the meters, if one is needed.
    pub(crate) fn start_metering(self: &Arc<Self>) -> std::io::Result<()> {
        if self.metering().interval().is_none() {
            return Ok(());
        }
        let shared: Weak<Self> = Arc::downgrade(self);
        self.metering().start(move || {
            while let Some(shared) = shared.upgrade() {
                if !shared.metering().wait() {
                    break;
                }
                shared.read_meters();
            }
        })
    }

    /// Reads the meters.
    pub(crate) fn read_meters(&self) {
        self.metering().read(self.clock(), |samples, windows| {
            if let Some(recorder) = self.recorder() {
                for sample in samples {
                    let (name, node) = self.metering().domain(sample.domain);
                    let ns = |time: Duration| time.as_nanos() as u64;
                    recorder.power(name, node, ns(sample.from), ns(sample.to), sample.watts());
                }
            }
            if !windows.is_empty() {
                self.add_windows(windows);
            }
        });
    }

    /// Adds windows to the energy of codelets.
    fn add_windows(&self, windows: &[Window]) {
        let counts = self.task_counts();
        for window in windows {
            let mut workers = self.worker_infos().iter();
            let Some(worker) = workers.find(|worker| worker.node == window.node) else { continue };
            let counts = &counts[window.node];
            self.models().energies().add(&worker.kind, window.node, (window.seconds, window.joules), counts);
        }
    }

    /// The tasks of each codelet that have ended, by memory node.
    fn task_counts(&self) -> Vec<Counts> {
        let nodes = 1 + self.worker_infos().iter().map(|worker| worker.node).max().unwrap_or(HOME);
        let mut counts = vec![Counts::new(); nodes];
        for measured in self.models().measured() {
            let name = format!("{}::{}", measured.codelet.module, measured.codelet.name);
            for (worker, totals) in &measured.rows {
                // The host's threads follow the last worker.
                let node = self.worker_infos().get(*worker).map_or(HOME, |worker| worker.node);
                *counts[node].entry(name.clone()).or_default() += totals.tasks() as f64;
            }
        }
        counts
    }
}
