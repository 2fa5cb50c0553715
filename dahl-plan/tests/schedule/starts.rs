//! Against all starts at whole nanoseconds, by what the documentation of `plan` says of a schedule.

use dahl_plan::schedule::{Objective, Options, Problem, Source, plan};
use proptest::prelude::*;

use super::graphs::{problems, run};

/// The energy of tasks at these places and starts, if that is a schedule; and its end.
fn energy(problem: &Problem, places: &[usize], starts: &[u64]) -> Option<(u64, u64)> {
    let workers = &problem.machine.workers;
    let node = |task: usize| workers[places[task]].node;
    let cost = |task: usize| problem.tasks[task].costs[workers[places[task]].kind];
    let mut ends = Vec::new();
    let mut energy = 0;
    for (task, start) in starts.iter().enumerate() {
        ends.push(start + cost(task)?.nanoseconds);
        energy += cost(task)?.picojoules;
    }
    for one in 0..starts.len() {
        for other in (0..starts.len()).filter(|&other| other != one && places[other] == places[one]) {
            let is_before = ends[one] <= starts[other] || ends[other] <= starts[one];
            if !is_before {
                return None;
            }
        }
    }
    let end = ends.iter().copied().max().unwrap_or(0);
    // Of each array at each node: from when to when.
    let mut held: Vec<(usize, u64, u64, u64)> = Vec::new();
    for edge in &problem.edges {
        let last = edge.readers.iter().map(|&reader| ends[reader]).max().unwrap_or(u64::MAX);
        let (home, begin, written) = match edge.source {
            Source::Node(node) => (node, 0, 0),
            Source::Task(task) => (node(task), starts[task], ends[task]),
        };
        held.push((home, begin, last, edge.bytes));
        for to in (0..2).filter(|&to| to != home) {
            let here: Vec<usize> =
                edge.readers.iter().copied().filter(|&reader| node(reader) == to).collect();
            let Some(first) = here.iter().map(|&reader| starts[reader]).min() else { continue };
            // Without bytes it is only an order.
            let mut nanoseconds = 0;
            if edge.bytes > 0 {
                let link = problem.machine.links.iter().find(|link| (link.from, link.to) == (home, to))?;
                let carried = (edge.bytes as f64 / link.bytes_per_second * 1e9).round() as u64;
                nanoseconds = link.latency_nanoseconds + carried;
                energy += (edge.bytes as f64 * link.picojoules_per_byte).round() as u64;
            }
            if first < written + nanoseconds {
                return None;
            }
            held.push((to, first, last, edge.bytes));
        }
        if edge.readers.iter().any(|&reader| node(reader) == home && starts[reader] < written) {
            return None;
        }
    }
    for (node, one) in problem.machine.nodes.iter().enumerate() {
        for at in 0..=end {
            let there = held.iter().filter(|held| held.0 == node && held.1 <= at && at < held.2);
            if one.bytes.is_some_and(|most| there.map(|held| held.3).sum::<u64>() > most) {
                return None;
            }
        }
    }
    for (index, worker) in workers.iter().enumerate() {
        let tasks = (0..starts.len()).filter(|&task| places[task] == index);
        let busy: u64 = tasks.map(|task| ends[task] - starts[task]).sum();
        energy += (end - busy) * worker.idle_milliwatts;
    }
    Some((end, energy))
}

/// The least time and the least energy over all places and all starts up to a time.
fn least(problem: &Problem, latest: u64) -> Option<(u64, u64)> {
    let (tasks, workers) = (problem.tasks.len(), problem.machine.workers.len());
    let mut best: Option<(u64, u64)> = None;
    let choices = workers as u64 * (latest + 1);
    for mut number in 0..choices.pow(tasks as u32) {
        let (mut places, mut starts) = (Vec::new(), Vec::new());
        for _ in 0..tasks {
            let choice = number % choices;
            number /= choices;
            places.push((choice % workers as u64) as usize);
            starts.push(choice / workers as u64);
        }
        if let Some((end, energy)) = energy(problem, &places, &starts) {
            best = Some(best.map_or((end, energy), |best| (best.0.min(end), best.1.min(energy))));
        }
    }
    best
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, ..ProptestConfig::default() })]

    #[test]
    fn no_starts_are_better(problem in problems(3, 2, true)) {
        let time = plan(&problem, Objective::Time, &Options::default());
        let energy = plan(&problem, Objective::Energy { deadline: None }, &Options::default());
        // Without a schedule within a few nanoseconds there is none at all, or the test says nothing.
        let latest = time.as_ref().map_or(6, |plan| plan.nanoseconds.min(12));
        let expected = least(&problem, latest);
        match (&time, &energy) {
            (Ok(time), Ok(energy)) => {
                run(&problem, time);
                run(&problem, energy);
                if let Some(expected) = expected {
                    prop_assert_eq!(time.nanoseconds, expected.0);
                    prop_assert!(energy.picojoules <= expected.1, "{} {}", energy.picojoules, expected.1);
                } else {
                    prop_assert!(time.nanoseconds > latest);
                }
            }
            _ => prop_assert_eq!(expected, None),
        }
    }
}
