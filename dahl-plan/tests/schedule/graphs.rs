//! Random problems, and some that programs have.

use dahl_plan::schedule::{
    Cost, Edge, Execution, Link, Machine, Node, Plan, Problem, Source, Task, Worker, execute,
};
use proptest::prelude::*;
use proptest::sample::Index;

/// Two kinds of workers on one or two nodes; small numbers, so that ties and zeros come up.
pub(super) fn machines(most: usize, memory: bool) -> impl Strategy<Value = Machine> {
    let worker = (0_usize..2, 0_usize..2, 0_u64..3).prop_map(|(kind, node, idle_milliwatts)| Worker {
        kind,
        node,
        idle_milliwatts,
    });
    let workers = proptest::collection::vec(worker, 1..=most);
    let link = (0_u64..3, prop_oneof![Just(5e8), Just(1e9), Just(4e9)], 0_u32..3);
    let limits = if memory { (3_u64..12).prop_map(Some).boxed() } else { Just(None).boxed() };
    let nodes = proptest::collection::vec(limits, 2);
    (workers, proptest::array::uniform2(link), nodes).prop_map(|(mut workers, links, limits)| {
        // Each kind has a worker, at a node of its own.
        for kind in 0..2 {
            if workers.iter().all(|worker| worker.kind != kind) {
                workers.push(Worker { kind, node: kind, idle_milliwatts: 1 });
            }
        }
        workers.truncate(4);
        let link = |(from, (latency_nanoseconds, bytes_per_second, joules)): (usize, (u64, f64, u32))| Link {
            from,
            to: 1 - from,
            latency_nanoseconds,
            bytes_per_second,
            picojoules_per_byte: f64::from(joules),
        };
        Machine {
            kinds: 2,
            nodes: limits.into_iter().map(|bytes| Node { bytes }).collect(),
            workers,
            links: links.into_iter().enumerate().map(link).collect(),
        }
    })
}

pub(super) fn problems(tasks: usize, workers: usize, memory: bool) -> impl Strategy<Value = Problem> {
    // What a task without duration has in memory is there at no time.
    let least = u64::from(memory);
    let cost = || {
        let some =
            (least..7, 0_u64..9).prop_map(|(nanoseconds, picojoules)| Cost { nanoseconds, picojoules });
        proptest::option::weighted(0.8, some)
    };
    let edge = (proptest::collection::vec(any::<Index>(), 0..3), 0_u64..5, 0_u8..6);
    let one = (cost(), cost(), proptest::collection::vec(edge, 0..3));
    let tasks = proptest::collection::vec(one, 1..=tasks);
    (tasks, machines(workers, memory)).prop_map(move |(all, machine)| {
        let mut problem = Problem { machine, ..Problem::default() };
        for (index, (first, second, edges)) in all.iter().enumerate() {
            // One of the kinds can run it.
            let other = Cost { nanoseconds: least, picojoules: 0 };
            let second = if first.is_none() && second.is_none() { Some(other) } else { *second };
            problem.tasks.push(Task { name: format!("task {index}"), costs: vec![*first, second] });
            for (readers, bytes, source) in edges {
                let later = all.len() - index - 1;
                let (source, begin, count) = match source {
                    0 => (Source::Node(0), index, later + 1),
                    _ => (Source::Task(index), index + 1, later),
                };
                let readers = readers.iter().filter(|_| count > 0).map(|reader| begin + reader.index(count));
                problem.edges.push(Edge { source, readers: readers.collect(), bytes: *bytes });
            }
        }
        problem
    })
}

/// What a plan takes, after a check that it takes that when it is run.
pub(super) fn run(problem: &Problem, plan: &Plan) -> Execution {
    let order: Vec<(usize, usize)> = plan.placements.iter().map(|one| (one.task, one.worker)).collect();
    let run = execute(problem, &order).expect("it can be run");
    assert_eq!(
        (run.nanoseconds, run.picojoules),
        (plan.nanoseconds, plan.picojoules),
        "{problem:?} {plan:?}"
    );
    for one in &plan.placements {
        assert_eq!(run.times[one.task], (one.start, one.end), "{problem:?} {plan:?}");
    }
    run
}

/// Cholesky's factorisation of `tiles` by `tiles` tiles, on processors and a device.
pub(super) fn cholesky(tiles: usize, processors: usize, devices: usize) -> Problem {
    // potrf, trsm, syrk, gemm: microseconds and microjoules on a processor and on a device.
    let costs = [
        [(900, 9_000), (1100, 60_000)],
        [(2200, 22_000), (300, 30_000)],
        [(2100, 21_000), (250, 27_000)],
        [(4100, 41_000), (280, 31_000)],
    ];
    let mut problem = Problem { machine: machine(processors, devices), ..Problem::default() };
    // Which array holds a tile now: those of inputs begin at the host.
    let mut held = vec![vec![0; tiles]; tiles];
    for row in held.iter_mut() {
        for tile in row.iter_mut() {
            *tile = problem.edges.len();
            problem.edges.push(Edge { source: Source::Node(0), readers: vec![], bytes: 1 << 20 });
        }
    }
    let add = |problem: &mut Problem, kind: usize, reads: &[usize]| {
        let cost = |(micro, joules): (u64, u64)| {
            Some(Cost { nanoseconds: micro * 1000, picojoules: joules * 1_000_000 })
        };
        problem.tasks.push(Task { name: format!("{kind}"), costs: costs[kind].map(cost).to_vec() });
        let task = problem.tasks.len() - 1;
        reads.iter().for_each(|&read| problem.edges[read].readers.push(task));
        problem.edges.push(Edge { source: Source::Task(task), readers: vec![], bytes: 1 << 20 });
        problem.edges.len() - 1
    };
    for step in 0..tiles {
        held[step][step] = add(&mut problem, 0, &[held[step][step]]);
        for row in step + 1..tiles {
            held[row][step] = add(&mut problem, 1, &[held[row][step], held[step][step]]);
        }
        for row in step + 1..tiles {
            held[row][row] = add(&mut problem, 2, &[held[row][row], held[row][step]]);
            for column in step + 1..row {
                let reads = [held[row][column], held[row][step], held[column][step]];
                held[row][column] = add(&mut problem, 3, &reads);
            }
        }
    }
    problem
}

/// Processors at the host, and devices with a node each.
pub(super) fn machine(processors: usize, devices: usize) -> Machine {
    let mut machine = Machine { kinds: 2, nodes: vec![Node::default(); devices + 1], ..Machine::default() };
    machine.workers = vec![Worker { kind: 0, node: 0, idle_milliwatts: 2000 }; processors];
    for device in 1..=devices {
        machine.workers.push(Worker { kind: 1, node: device, idle_milliwatts: 25_000 });
        for (from, to) in [(0, device), (device, 0)] {
            machine.links.push(Link {
                from,
                to,
                latency_nanoseconds: 10_000,
                bytes_per_second: 12e9,
                picojoules_per_byte: 60.0,
            });
        }
    }
    machine
}
