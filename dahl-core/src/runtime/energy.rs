//! Computes [`EnergyStatistics`] from what meters have counted, or from what a simulation says.

use dahl_energy::{Absence, Joules};

use dahl_trace::format::{NodeEnergy as TracedNode, RunEnergy};

use super::handle::Runtime;
use crate::arena::Arena;
use crate::executor::Executor;
use crate::memory::MemoryUse;
use crate::perf::EnergyEstimate;
use crate::statistics::{EnergyMark, EnergyStatistics, NodeEnergy, WorkerStatistics};

impl EnergyStatistics {
    /// The energy until now.
    pub(super) fn of(executor: &Executor, workers: &[WorkerStatistics], memory: &[MemoryUse]) -> Self {
        let (energies, domains) = if executor.is_simulated() {
            let workers = |node| workers.iter().filter(move |worker| worker.node == node);
            let of_node = |node| simulated(workers(node).map(|worker| (worker.energy_joules, &*worker.kind)));
            ((0..memory.len()).map(of_node).collect(), Vec::new())
        } else {
            executor.shared().read_meters();
            let measured = executor.metering().measured();
            (measured.nodes, measured.domains)
        };
        let named = memory.iter().zip(energies).enumerate();
        let nodes: Vec<_> = named
            .map(|(node, (memory, energy))| NodeEnergy { node, name: memory.name.clone(), energy })
            .collect();
        let energies = nodes.iter().map(|node| &node.energy);
        Self {
            run: Joules::sum(energies, || Absence::new("there is no memory node", "report this")),
            nodes,
            domains,
            estimates: executor.models().energies().estimates(),
        }
    }
}

impl Runtime {
    /// This moment, for [`energy_since`](Self::energy_since).
    pub fn energy_mark(&self) -> EnergyMark {
        EnergyMark::of(&self.executor)
    }

    /// The energy of all memory nodes from a mark of this runtime to now: that of an epoch, for example. Without
    /// [waiting](Self::wait) it has no more than the tasks that have ended.
    pub fn energy_since(&self, mark: &EnergyMark) -> Joules {
        mark.energy(&self.executor)
    }

    /// The energy of each codelet's tasks on each kind of worker, and the power while no task runs, by regression over windows
    /// of time (`docs/energy.md`); empty without meters.
    pub fn energy_estimates(&self) -> Vec<EnergyEstimate> {
        self.executor.models().energies().estimates()
    }
}

impl EnergyMark {
    /// Now, on the runtime of an arena.
    pub fn beside(arena: &Arena) -> Self {
        Self::of(Executor::of(&*arena.engine()))
    }

    /// The energy from then to now, on the same runtime: [`Runtime::energy_since`].
    pub fn since(&self, arena: &Arena) -> Joules {
        self.energy(Executor::of(&*arena.engine()))
    }

    /// Now.
    pub(super) fn of(executor: &Executor) -> Self {
        let simulated = executor.is_simulated().then(|| of_simulation(executor));
        let measured = if simulated.is_some() { None } else { executor.metering().mark(executor.clock()) };
        Self { measured, simulated }
    }

    /// The energy of all memory nodes from then to now.
    pub(super) fn energy(&self, executor: &Executor) -> Joules {
        let Some(begin) = &self.simulated else {
            return executor.metering().since(self.measured.as_ref(), executor.clock());
        };
        let end = of_simulation(executor);
        match begin.value().zip(end.value()) {
            Some((begin, end)) => Joules::simulated(end - begin),
            None => end,
        }
    }
}

/// The energy of all simulated workers until now.
fn of_simulation(executor: &Executor) -> Joules {
    let uses = executor.worker_uses();
    simulated(uses.iter().map(|worker| (worker.energy_joules, &*worker.name)))
}

/// The energy of a run, as its trace has it.
pub(super) fn traced(energy: &EnergyStatistics) -> RunEnergy {
    let node = |node: &NodeEnergy| TracedNode { node: node.node as u32, energy: node.energy.clone() };
    RunEnergy {
        run: energy.run.clone(),
        nodes: energy.nodes.iter().map(node).collect(),
        domains: energy.domains.clone(),
    }
}

/// The energy of simulated workers.
fn simulated<'w>(mut workers: impl Iterator<Item = (Option<f64>, &'w str)>) -> Joules {
    let mut joules = 0.0;
    let lacks = workers.find_map(|(energy, kind)| match energy {
        Some(energy) => {
            joules += energy;
            None
        }
        None => Some(kind),
    });
    match lacks {
        None => Joules::simulated(joules),
        Some(kind) => {
            let reason = format!("the machine's model has no power of `{kind}`");
            Joules::unavailable(Absence::new(reason, "give it `watts` and `idle_watts` (docs/devices.md)"))
        }
    }
}
