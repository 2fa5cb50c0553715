//! [`Model`]: the problem as the search sees it, in whole numbers.

use super::error::Error;
use super::problem::{Problem, Source, Worker};

/// The most of a sum of times, energies or sizes.
const MOST: u64 = 1 << 62;

/// Workers that are equal: of one kind, at one node, with one idle power.
#[derive(Clone, Debug)]
pub(super) struct Type {
    pub(super) worker: Worker,
    pub(super) workers: Vec<usize>,
}

/// An array.
#[derive(Clone, Debug)]
pub(super) struct Array {
    pub(super) source: Source,
    pub(super) readers: Vec<usize>,
    pub(super) bytes: u64,
}

/// How long a transfer of an array between two nodes takes, and its energy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Transfer {
    pub(super) nanoseconds: u64,
    pub(super) picojoules: u64,
}

/// The problem in whole numbers.
#[derive(Debug)]
pub(super) struct Model {
    pub(super) types: Vec<Type>,
    pub(super) nodes: usize,
    pub(super) memory: Vec<Option<u64>>,
    /// The nanoseconds of each task on each type.
    pub(super) time: Vec<Vec<Option<u64>>>,
    /// The picojoules of each task on each type, less those that its worker would take idle.
    pub(super) energy: Vec<Vec<i64>>,
    pub(super) arrays: Vec<Array>,
    /// The arrays that each task reads, and those that it writes.
    pub(super) reads: Vec<Vec<usize>>,
    pub(super) writes: Vec<Vec<usize>>,
    /// By array, from and to. `None` if there is no way.
    transfers: Vec<Vec<Option<Transfer>>>,
    /// Each task after those whose outputs it reads.
    pub(super) order: Vec<usize>,
    /// The idle power of all workers, in milliwatts: picojoules a nanosecond.
    pub(super) idle: u64,
    /// The bytes of inputs at each node from the beginning.
    pub(super) inputs: Vec<u64>,
}

fn find(what: &'static str, index: usize, count: usize) -> Result<(), Error> {
    if index < count { Ok(()) } else { Err(Error::Unknown { what, index, count }) }
}

impl Model {
    pub(super) fn new(problem: &Problem) -> Result<Self, Error> {
        let Problem { tasks, edges, machine } = problem;
        let nodes = machine.nodes.len();
        let mut types: Vec<Type> = Vec::new();
        for (index, worker) in machine.workers.iter().enumerate() {
            find("kind", worker.kind, machine.kinds)?;
            find("node", worker.node, nodes)?;
            match types.iter_mut().find(|one| one.worker == *worker) {
                Some(one) => one.workers.push(index),
                None => types.push(Type { worker: *worker, workers: vec![index] }),
            }
        }
        if nodes > 64 || types.len() > 64 {
            return Err(Error::TooMany { nodes, types: types.len() });
        }
        let idle =
            machine.workers.iter().try_fold(0_u64, |sum, worker| sum.checked_add(worker.idle_milliwatts));
        let (mut times, mut energies, mut bytes) = (0_u128, 0_u128, 0_u128);
        let (mut time, mut energy) = (Vec::new(), Vec::new());
        for (task, one) in tasks.iter().enumerate() {
            let cost = |kind: &Type| one.costs.get(kind.worker.kind).copied().flatten();
            let costs: Vec<_> = types.iter().map(cost).collect();
            if costs.iter().all(Option::is_none) {
                return Err(Error::NoWorker { task, name: one.name.clone() });
            }
            times += costs.iter().flatten().map(|cost| u128::from(cost.nanoseconds)).max().unwrap_or(0);
            energies += costs.iter().flatten().map(|cost| u128::from(cost.picojoules)).max().unwrap_or(0);
            time.push(costs.iter().map(|cost| cost.map(|cost| cost.nanoseconds)).collect());
            energy.push(costs);
        }
        let mut arrays = Vec::new();
        let (mut reads, mut writes) = (vec![Vec::new(); tasks.len()], vec![Vec::new(); tasks.len()]);
        let (mut transfers, mut inputs) = (Vec::new(), vec![0_u64; nodes]);
        for (index, edge) in edges.iter().enumerate() {
            let mut readers = edge.readers.clone();
            readers.sort_unstable();
            readers.dedup();
            for &reader in &readers {
                find("task", reader, tasks.len())?;
                reads[reader].push(index);
            }
            bytes += u128::from(edge.bytes);
            match edge.source {
                Source::Task(task) => {
                    find("task", task, tasks.len())?;
                    writes[task].push(index);
                }
                Source::Node(node) => {
                    find("node", node, nodes)?;
                    inputs[node] = inputs[node].saturating_add(edge.bytes);
                }
            }
            let ways = ways(problem, edge.bytes)?;
            times += ways.iter().flatten().map(|way| u128::from(way.nanoseconds)).max().unwrap_or(0);
            energies += ways.iter().flatten().map(|way| u128::from(way.picojoules)).sum::<u128>();
            transfers.push(ways);
            arrays.push(Array { source: edge.source, readers, bytes: edge.bytes });
        }
        if times >= u128::from(MOST) {
            return Err(Error::TooLarge { what: "times", unit: "ns" });
        }
        if bytes >= u128::from(MOST) {
            return Err(Error::TooLarge { what: "sizes", unit: "bytes" });
        }
        let too_much = Error::TooLarge { what: "energies", unit: "pJ" };
        let idle = idle.ok_or_else(|| too_much.clone())?;
        // No plan is longer than all tasks and transfers one after the other.
        if energies + times * u128::from(idle) >= u128::from(MOST) {
            return Err(too_much);
        }
        let energy = energy.iter().map(|costs| {
            let each = costs.iter().zip(&types);
            each.map(|(cost, one)| {
                let cost = cost.unwrap_or_default();
                cost.picojoules as i64 - (one.worker.idle_milliwatts * cost.nanoseconds) as i64
            })
            .collect()
        });
        let energy = energy.collect();
        let order = topological(problem, &reads, &writes)?;
        let memory =
            machine.nodes.iter().map(|node| node.bytes.filter(|&most| u128::from(most) < bytes)).collect();
        Ok(Self { types, nodes, memory, time, energy, arrays, reads, writes, transfers, order, idle, inputs })
    }

    pub(super) fn tasks(&self) -> usize {
        self.time.len()
    }

    /// The way of an array between two nodes.
    pub(super) fn transfer(&self, array: usize, from: usize, to: usize) -> Option<Transfer> {
        self.transfers[array][from * self.nodes + to]
    }

    /// Whether a node has a limit that some plan may exceed.
    pub(super) fn is_limited(&self) -> bool {
        self.memory.iter().any(Option::is_some)
    }
}

/// The fastest ways of so many bytes between all pairs of nodes, over links one after the other (Floyd and Warshall).
fn ways(problem: &Problem, bytes: u64) -> Result<Vec<Option<Transfer>>, Error> {
    let nodes = problem.machine.nodes.len();
    let nothing = Some(Transfer { nanoseconds: 0, picojoules: 0 });
    let mut ways = vec![None; nodes * nodes];
    for node in 0..nodes {
        ways[node * nodes + node] = nothing;
    }
    let shorter = |way: &mut Option<Transfer>, other: Transfer| {
        if way.is_none_or(|way| other < way) {
            *way = Some(other);
        }
    };
    for link in &problem.machine.links {
        find("node", link.from.max(link.to), nodes)?;
        if link.bytes_per_second.is_nan() || link.bytes_per_second <= 0.0 {
            return Err(Error::Bandwidth { from: link.from, to: link.to });
        }
        let carried = (bytes as f64 / link.bytes_per_second * 1e9).round() as u64;
        let nanoseconds = link.latency_nanoseconds.saturating_add(carried).min(MOST);
        let picojoules = ((bytes as f64 * link.picojoules_per_byte).round() as u64).min(MOST);
        shorter(&mut ways[link.from * nodes + link.to], Transfer { nanoseconds, picojoules });
    }
    if bytes == 0 {
        return Ok(vec![nothing; nodes * nodes]);
    }
    for over in 0..nodes {
        for from in 0..nodes {
            for to in 0..nodes {
                if let (Some(a), Some(b)) = (ways[from * nodes + over], ways[over * nodes + to]) {
                    let nanoseconds = a.nanoseconds.saturating_add(b.nanoseconds);
                    let picojoules = a.picojoules.saturating_add(b.picojoules);
                    shorter(&mut ways[from * nodes + to], Transfer { nanoseconds, picojoules });
                }
            }
        }
    }
    Ok(ways)
}

fn topological(problem: &Problem, reads: &[Vec<usize>], writes: &[Vec<usize>]) -> Result<Vec<usize>, Error> {
    let edges = &problem.edges;
    let is_written = |edge: &&usize| matches!(edges[**edge].source, Source::Task(_));
    let mut waits: Vec<usize> = reads.iter().map(|reads| reads.iter().filter(is_written).count()).collect();
    let mut order: Vec<usize> = (0..waits.len()).filter(|&task| waits[task] == 0).collect();
    let mut next = 0;
    while let Some(&task) = order.get(next) {
        next += 1;
        for &edge in &writes[task] {
            let mut readers = edges[edge].readers.clone();
            readers.sort_unstable();
            readers.dedup();
            for reader in readers {
                waits[reader] -= 1;
                if waits[reader] == 0 {
                    order.push(reader);
                }
            }
        }
    }
    match waits.iter().position(|&waits| waits > 0) {
        None => Ok(order),
        Some(task) => Err(Error::Cycle { task, name: problem.tasks[task].name.clone() }),
    }
}
