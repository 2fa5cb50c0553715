//! Computes [`Statistics`] from what a runtime has counted.

use std::collections::HashSet;

use crate::codelet::Codelet;
use crate::cuda::GraphCounts;
use crate::device::Devices;
use crate::executor::Executor;
use crate::machine::TransferTotal;
use crate::memory::{ArenaUse, MemoryUse};
use crate::perf::{Measured, Totals};
use crate::simulation::WorkerUse;
use crate::statistics::{
    ArenaStatistics, CodeletStatistics, EnergyStatistics, GraphStatistics, HostStatistics, KernelStatistics,
    Losses, MemoryStatistics, Statistics, TaskCounts, TransferStatistics, WorkerStatistics,
};

fn us(ns: f64) -> f64 {
    ns / 1e3
}

/// `part / whole`; 0 if `whole` is 0.
fn share(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}

/// The time of all calls, including first ones, in nanoseconds.
fn total_ns(totals: &Totals) -> f64 {
    totals.first_ns + totals.sum_ns
}

impl Statistics {
    /// The statistics of the run until now.
    pub(crate) fn of(executor: &Executor) -> Self {
        // Failures first, so that all that are counted belong to tasks that have ended.
        let losses = executor.counters().losses();
        let ended: Vec<_> = (0..=executor.workers()).map(|worker| executor.completed_by(worker)).collect();
        let submitted = executor.submitted();
        let now_ns = executor.clock().now_ns();
        let measured = executor.models().measured();
        let uses = executor.worker_uses();
        let worker = |worker| WorkerStatistics::of(executor, worker, ended[worker], now_ns, &measured, &uses);
        let workers: Vec<_> = (0..executor.workers()).map(worker).collect();
        let host = HostStatistics::of(executor, ended[executor.workers()], &measured);
        let memory = executor.memory_uses();
        let energy = EnergyStatistics::of(executor, &workers, &memory);
        Self {
            name: executor.name().to_owned(),
            built_at: executor.built_at().to_string(),
            scheduler: executor.scheduler_name(),
            is_virtual: executor.clock().is_virtual(),
            time_us: us(now_ns as f64),
            tasks: TaskCounts::of(submitted, ended.iter().sum(), &losses),
            workers,
            host,
            codelets: codelets(&measured, losses, executor.counters().together()),
            graphs: graphs(executor),
            transfers: transfers(executor, &memory),
            memory: memory.into_iter().map(MemoryStatistics::of).collect(),
            arenas: executor.memory().arena_uses().into_iter().map(ArenaStatistics::of).collect(),
            energy_joules: energy.run.value(),
            energy,
        }
    }
}

impl TaskCounts {
    fn of(submitted: u64, ended: u64, losses: &[(&Codelet, Losses)]) -> Self {
        let lost = losses.iter().fold(Losses::default(), |sum, (_, losses)| sum.plus(*losses));
        let Losses { failed, cancelled, .. } = lost;
        let completed = ended.saturating_sub(failed + cancelled);
        let submitted = submitted.max(ended);
        Self { submitted, completed, failed, cancelled, unfinished: submitted - ended }
    }
}

/// The statistics of the graphs of each CUDA device.
fn graphs(executor: &Executor) -> Vec<GraphStatistics> {
    let memories = executor.devices().map_or(&[][..], |devices| devices.memories()).iter();
    let devices = memories.filter_map(|memory| memory.cuda());
    devices.enumerate().map(|(index, device)| GraphStatistics::of(index, device.graph_counts())).collect()
}

impl GraphStatistics {
    fn of(device: usize, counts: GraphCounts) -> Self {
        let GraphCounts { instantiated, refused, replayed, kernels, updated, kept } = counts;
        Self {
            device: format!("cuda {device}"),
            instantiated,
            refused,
            launches: replayed,
            kernels,
            updated,
            kept,
        }
    }
}

/// The measurements of a worker, and finally of the host.
fn totals_of(worker: usize, measured: &[Measured]) -> Totals {
    let rows = measured.iter().flat_map(|measured| &measured.rows);
    let own = rows.filter(|(of, _)| *of == worker);
    own.fold(Totals::default(), |sum, (_, totals)| sum.plus(*totals))
}

impl WorkerStatistics {
    fn of(
        executor: &Executor,
        worker: usize,
        tasks: u64,
        now_ns: u64,
        measured: &[Measured],
        uses: &[WorkerUse],
    ) -> Self {
        let info = executor.worker(worker);
        let losses = executor.counters().losses_of(Some(worker));
        let totals = totals_of(worker, measured);
        let simulated = uses.get(worker);
        let others_ns = losses.lost_ns + executor.counters().together_ns_of(worker);
        let measured_us = us(total_ns(&totals) + others_ns as f64);
        // A simulation measures a task when it begins; only ended tasks count.
        let busy_us = simulated.map_or(measured_us, |simulated| simulated.busy_us);
        let time_us = us(now_ns as f64);
        let idle_us = (time_us - busy_us).max(0.0);
        let waits = executor.counters().waits_of(worker, now_ns);
        let waiting_us = waits.map(|waits| us(waits.waiting_ns as f64).min(idle_us));
        Self {
            name: info.name.clone(),
            kind: info.kind.clone(),
            node: info.node,
            processor: info.processor,
            tasks,
            failed: losses.failed,
            cancelled: losses.cancelled,
            busy_us,
            idle_us,
            busy_share: share(busy_us, time_us),
            waiting_us,
            helping_us: waits.map(|waits| us(waits.helping_ns as f64)),
            overhead_us: waiting_us.map(|waiting_us| idle_us - waiting_us),
            first_calls: totals.first_calls,
            first_calls_us: us(totals.first_ns),
            energy_joules: simulated.and_then(|simulated| simulated.energy_joules),
        }
    }
}

impl HostStatistics {
    fn of(executor: &Executor, tasks: u64, measured: &[Measured]) -> Option<Self> {
        let losses = executor.counters().losses_of(None);
        let busy_ns = total_ns(&totals_of(executor.workers(), measured)) + losses.lost_ns as f64;
        let Losses { failed, cancelled, .. } = losses;
        (tasks > 0).then(|| Self { tasks, failed, cancelled, busy_us: us(busy_ns) })
    }
}

/// Whether both have the same declaration, possibly at other addresses.
fn is_same(a: &Codelet, b: &Codelet) -> bool {
    (a.module, a.name, a.declaration) == (b.module, b.name, b.declaration) && elements(a).eq(elements(b))
}

fn elements(codelet: &Codelet) -> impl Iterator<Item = &'static str> {
    codelet.parameters.iter().map(|parameter| parameter.element.name)
}

/// The measurements of the tasks of one codelet.
struct Group<'m> {
    codelet: &'static Codelet,
    measured: Vec<&'m Measured>,
    losses: Losses,
    /// The number of tasks that were launched together with others.
    together: u64,
}

/// The times of the tasks of each codelet, the longest first.
fn codelets(
    measured: &[Measured],
    losses: Vec<(&'static Codelet, Losses)>,
    together: Vec<(&'static Codelet, u64)>,
) -> Vec<CodeletStatistics> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    let place_of = |groups: &mut Vec<Group<'_>>, codelet: &'static Codelet| {
        groups.iter().position(|group| is_same(group.codelet, codelet)).unwrap_or_else(|| {
            let (measured, losses) = (Vec::new(), Losses::default());
            groups.push(Group { codelet, measured, losses, together: 0 });
            groups.len() - 1
        })
    };
    for measured in measured {
        let place = place_of(&mut groups, measured.codelet);
        groups[place].measured.push(measured);
    }
    for (codelet, lost) in losses {
        let place = place_of(&mut groups, codelet);
        groups[place].losses = groups[place].losses.plus(lost);
    }
    for (codelet, count) in together {
        let place = place_of(&mut groups, codelet);
        groups[place].together += count;
    }
    let mut codelets: Vec<_> = groups.into_iter().map(CodeletStatistics::of).collect();
    let busy_us: f64 = codelets.iter().map(|codelet| codelet.total_us).sum();
    codelets.iter_mut().for_each(|codelet| codelet.busy_share = share(codelet.total_us, busy_us));
    codelets.sort_by(|a, b| b.total_us.total_cmp(&a.total_us));
    codelets
}

impl CodeletStatistics {
    /// All fields but its share.
    fn of(group: Group<'_>) -> Self {
        let Group { codelet, measured, losses, together } = group;
        let mut groups: Vec<Vec<&Measured>> = Vec::new();
        for measured in measured {
            let key = (measured.kernel, measured.kind.as_str());
            match groups.iter_mut().find(|group| (group[0].kernel, group[0].kind.as_str()) == key) {
                Some(group) => group.push(measured),
                None => groups.push(vec![measured]),
            }
        }
        let mut kernels: Vec<_> = groups.iter().map(|group| KernelStatistics::of(group)).collect();
        kernels.sort_by(|a, b| b.total_us.total_cmp(&a.total_us));
        let Losses { failed, cancelled, lost_ns } = losses;
        Self {
            codelet: codelet.name,
            module: codelet.module,
            elements: elements(codelet).collect(),
            count: kernels.iter().map(|kernel| kernel.count).sum::<u64>() + failed + cancelled + together,
            failed,
            cancelled,
            together,
            total_us: kernels.iter().map(|kernel| kernel.total_us).sum::<f64>() + us(lost_ns as f64),
            busy_share: 0.0,
            kernels,
        }
    }
}

impl KernelStatistics {
    /// For one kernel on one kind of worker, with an element for each footprint.
    fn of(measured: &[&Measured]) -> Self {
        let rows = measured.iter().flat_map(|measured| &measured.rows);
        let totals = rows.fold(Totals::default(), |sum, (_, totals)| sum.plus(*totals));
        let first_ns = (totals.first_calls > 0).then(|| totals.first_ns / totals.first_calls as f64);
        let only_ns = first_ns.unwrap_or(0.0);
        let (mean_ns, min_ns, max_ns) = match totals.count {
            0 => (only_ns, only_ns, only_ns),
            count => (totals.sum_ns / count as f64, totals.min_ns, totals.max_ns),
        };
        let only_median_ns = match measured {
            [only] => only.median_ns.map(|ns| ns as f64).or(first_ns),
            _ => None,
        };
        Self {
            kernel: measured[0].kernel,
            worker_kind: measured[0].kind.clone(),
            count: totals.tasks(),
            footprints: measured.len(),
            total_us: us(total_ns(&totals)),
            mean_us: us(mean_ns),
            median_us: only_median_ns.map(us),
            min_us: us(min_ns),
            max_us: us(max_ns),
            first_calls: totals.first_calls,
            first_us: first_ns.map(us),
        }
    }
}

/// The transfers between memory nodes, which their names identify.
fn transfers(executor: &Executor, memory: &[MemoryUse]) -> Vec<TransferStatistics> {
    let mut totals = executor.devices().map(Devices::totals).unwrap_or_default();
    totals.sort_by_key(|total| (total.from, total.to));
    let distinct: HashSet<_> = memory.iter().map(|node| &node.name).collect();
    let is_clear = distinct.len() == memory.len();
    let name = |node: usize| match &memory[node].name {
        name if is_clear || node == 0 => name.clone(),
        name => format!("{name} ({node})"),
    };
    totals.iter().map(|total| TransferStatistics::of(total, name)).collect()
}

impl TransferStatistics {
    fn of(total: &TransferTotal, name: impl Fn(usize) -> String) -> Self {
        let &TransferTotal { from, to, count, bytes, time_ns } = total;
        Self {
            from,
            to,
            from_name: name(from),
            to_name: name(to),
            count,
            bytes,
            time_us: us(time_ns as f64),
            gbytes_per_s: share(bytes as f64, time_ns as f64),
        }
    }
}

impl MemoryStatistics {
    fn of(node: MemoryUse) -> Self {
        let MemoryUse { name, current_bytes, peak_bytes, reserved_bytes, limit_bytes, .. } = node;
        Self { name, current_bytes, reserved_bytes, peak_bytes, limit_bytes }
    }
}

impl ArenaStatistics {
    fn of(line: ArenaUse) -> Self {
        let ArenaUse { location, made, current_bytes, reserved_bytes, peak_bytes } = line;
        Self { made_at: location.to_string(), count: made, current_bytes, reserved_bytes, peak_bytes }
    }
}
