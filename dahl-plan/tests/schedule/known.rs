//! Problems whose optimum can be seen, and one of the literature.

use dahl_plan::schedule::{
    Cost, Edge, Link, Machine, Node, Objective, Options, Problem, Source, Task, Worker, plan,
};

use super::graphs::{cholesky, run};

fn time(problem: &Problem) -> u64 {
    let plan = plan(problem, Objective::Time, &Options::default()).expect("there is a schedule");
    run(problem, &plan);
    assert!(plan.optimal, "{plan:?}");
    plan.nanoseconds
}

/// Each worker is a kind with a node of its own; times are by task and worker, edges have a time between nodes.
fn unrelated(times: &[&[u64]], edges: &[(usize, usize, u64)]) -> Problem {
    let count = times[0].len();
    let task = |times: &&[u64]| {
        let cost = |&nanoseconds: &u64| Some(Cost { nanoseconds, picojoules: 0 });
        Task { costs: times.iter().map(cost).collect(), ..Task::default() }
    };
    let pairs =
        (0..count).flat_map(|from| (0..count).map(move |to| (from, to))).filter(|(from, to)| from != to);
    let link = |(from, to)| Link {
        from,
        to,
        latency_nanoseconds: 0,
        bytes_per_second: 1e9,
        picojoules_per_byte: 0.0,
    };
    let machine = Machine {
        kinds: count,
        nodes: vec![Node::default(); count],
        workers: (0..count).map(|kind| Worker { kind, node: kind, idle_milliwatts: 0 }).collect(),
        links: pairs.map(link).collect(),
    };
    let edge = |&(from, to, bytes): &(usize, usize, u64)| Edge {
        source: Source::Task(from),
        readers: vec![to],
        bytes,
    };
    Problem { tasks: times.iter().map(task).collect(), edges: edges.iter().map(edge).collect(), machine }
}

/// The graph of ten tasks on three processors of Topcuoglu, Hariri and Wu, "Performance-Effective and Low-Complexity Task
/// Scheduling for Heterogeneous Computing", IEEE TPDS 13(3), 2002, figure 2 and table 1. Their HEFT gives 80.
#[test]
fn the_graph_of_heft() {
    let times: [&[u64]; 10] = [
        &[14, 16, 9],
        &[13, 19, 18],
        &[11, 13, 19],
        &[13, 8, 17],
        &[12, 13, 10],
        &[13, 16, 9],
        &[7, 15, 11],
        &[5, 11, 14],
        &[18, 12, 20],
        &[21, 7, 16],
    ];
    let edges = [
        (0, 1, 18),
        (0, 2, 12),
        (0, 3, 9),
        (0, 4, 11),
        (0, 5, 14),
        (1, 7, 19),
        (1, 8, 16),
        (2, 6, 23),
        (3, 7, 27),
        (3, 8, 23),
        (4, 8, 13),
        (5, 7, 15),
        (6, 9, 17),
        (7, 9, 11),
        (8, 9, 13),
    ];
    let optimum = time(&unrelated(&times, &edges));
    assert!(optimum <= 80, "{optimum}");
    assert_eq!(optimum, 73);
}

/// Graham's anomaly: nine tasks on three processors, of which a list schedule takes 12, which is the optimum, and with times
/// shortened by one 13, where the optimum is 10 (Graham, "Bounds on Multiprocessing Timing Anomalies", 1969, figures 2 and 5).
#[test]
fn the_graph_of_grahams_anomaly() {
    let times = [3, 2, 2, 2, 4, 4, 4, 4, 9];
    let edges = [(0, 8), (3, 4), (3, 5), (3, 6), (3, 7)];
    let problem = |less: u64| {
        let task = |time: &u64| {
            let cost = Cost { nanoseconds: time - less, picojoules: 0 };
            Task { costs: vec![Some(cost)], ..Task::default() }
        };
        let edge =
            |&(from, to): &(usize, usize)| Edge { source: Source::Task(from), readers: vec![to], bytes: 0 };
        let machine = Machine {
            kinds: 1,
            nodes: vec![Node::default()],
            workers: vec![Worker::default(); 3],
            links: vec![],
        };
        Problem { tasks: times.iter().map(task).collect(), edges: edges.iter().map(edge).collect(), machine }
    };
    assert_eq!((time(&problem(0)), time(&problem(1))), (12, 10));
}

/// Chains of equal tasks: as many as workers take as long as one.
#[test]
fn forty_tasks_in_chains() {
    let chains = 4;
    let mut problem = cholesky(1, chains, 0);
    let task = Task { costs: vec![Some(Cost { nanoseconds: 7, picojoules: 1 }), None], ..Task::default() };
    problem.tasks = vec![task; 10 * chains];
    problem.edges = (0..9 * chains)
        .map(|from| Edge { source: Source::Task(from), readers: vec![from + chains], bytes: 1 })
        .collect();
    assert_eq!(time(&problem), 70);
}

#[test]
fn factorisations_of_ten_and_twenty_tasks() {
    assert_eq!((cholesky(3, 2, 1).tasks.len(), cholesky(4, 2, 1).tasks.len()), (10, 20));
    for (tiles, processors, devices) in [(3, 2, 1), (3, 1, 2), (4, 2, 1)] {
        time(&cholesky(tiles, processors, devices));
    }
}
