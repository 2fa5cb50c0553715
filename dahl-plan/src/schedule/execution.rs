//! [`execute`]: a plan run as discrete events, which says what it takes.

use super::error::Error;
use super::model::Model;
use super::problem::{Problem, Source};

/// What a plan takes when it runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Execution {
    /// The start and the end of each task.
    pub times: Vec<(u64, u64)>,
    /// The last end.
    pub nanoseconds: u64,
    /// The energy of tasks, transfers and idle workers until the last end.
    pub picojoules: u64,
}

/// Runs tasks on their workers, in this order of their starts, each as early as its worker, its inputs, the start of the one before
/// it and the memory allow.
///
/// It uses no part of the search: time goes from one end or arrival to the next, and the energy is the sum over tasks,
/// transfers, and the gaps between the tasks of each worker.
///
/// # Errors
/// If the problem is not valid, if the order does not have each task once, or if a task waits for ever: for memory, for the
/// output of a later one, or since its worker cannot run it or get its inputs.
pub fn execute(problem: &Problem, order: &[(usize, usize)]) -> Result<Execution, Error> {
    // Checks the numbers, and knows the ways of transfers.
    let model = Model::new(problem)?;
    let never = || Error::Infeasible { limit: "the order of the tasks".to_owned() };
    let inputs_fit = |(node, &bytes): (&super::Node, &u64)| node.bytes.is_none_or(|most| bytes <= most);
    if !problem.machine.nodes.iter().zip(&model.inputs).all(inputs_fit) {
        return Err(Error::Infeasible { limit: "the memory, since the inputs do not fit".to_owned() });
    }
    let (tasks, workers) = (problem.tasks.len(), &problem.machine.workers);
    let mut times: Vec<Option<(u64, u64)>> = vec![None; tasks];
    let mut places = vec![0; tasks];
    let (mut now, mut picojoules) = (0_u64, 0_u64);
    for &(task, worker) in order {
        let place = workers.get(worker).ok_or_else(never)?;
        let cost = problem.tasks.get(task).and_then(|task| *task.costs.get(place.kind)?).ok_or_else(never)?;
        if times[task].is_some() {
            return Err(never());
        }
        // The times at which something changes: ends of tasks, and arrivals of what this one reads.
        let mut events: Vec<u64> = times.iter().flatten().map(|times| times.1).collect();
        let mut ready = now;
        for (index, edge) in problem.edges.iter().enumerate().filter(|(_, edge)| edge.readers.contains(&task))
        {
            let (from, written) = match edge.source {
                Source::Node(node) => (node, 0),
                Source::Task(writer) => {
                    (workers[places[writer]].node, times[writer].map(|times| times.1).ok_or_else(never)?)
                }
            };
            let way = model.transfer(index, from, place.node).ok_or_else(never)?;
            ready = ready.max(written + way.nanoseconds);
            let is_here =
                |reader: &usize| times[*reader].is_some() && workers[places[*reader]].node == place.node;
            if from != place.node && !edge.readers.iter().any(is_here) {
                picojoules += way.picojoules;
            }
        }
        events.push(ready);
        events.sort_unstable();
        let is_free = |at: u64| {
            let mut others = (0..tasks).filter(|&other| times[other].is_some() && places[other] == worker);
            others.all(|other| times[other].is_some_and(|times| times.1 <= at))
        };
        let fits = |at: u64| {
            let most = problem.machine.nodes[place.node].bytes;
            most.is_none_or(|most| held(problem, &times, &places, place.node, (task, worker), at) <= most)
        };
        let start =
            events.into_iter().find(|&at| at >= ready && is_free(at) && fits(at)).ok_or_else(never)?;
        now = start;
        places[task] = worker;
        times[task] = Some((start, start + cost.nanoseconds));
        picojoules += cost.picojoules;
    }
    let times: Vec<(u64, u64)> = times.into_iter().collect::<Option<_>>().ok_or_else(never)?;
    let nanoseconds = times.iter().map(|times| times.1).max().unwrap_or(0);
    for (worker, one) in workers.iter().enumerate() {
        let mut busy: Vec<(u64, u64)> =
            (0..tasks).filter(|&task| places[task] == worker).map(|task| times[task]).collect();
        busy.sort_unstable();
        let mut free = 0;
        for (start, end) in busy {
            picojoules += (start - free) * one.idle_milliwatts;
            free = end;
        }
        picojoules += (nanoseconds - free) * one.idle_milliwatts;
    }
    Ok(Execution { times, nanoseconds, picojoules })
}

/// The bytes at a node at a time, with what a task that starts then brings there.
fn held(
    problem: &Problem,
    times: &[Option<(u64, u64)>],
    places: &[usize],
    node: usize,
    (task, worker): (usize, usize),
    at: u64,
) -> u64 {
    let node_of = |place: usize| problem.machine.workers[place].node;
    let has_begun = |other: usize| times[other].is_some_and(|times| times.0 <= at);
    let mut bytes = 0;
    for edge in &problem.edges {
        let is_here = |other: usize| {
            (has_begun(other) && node_of(places[other]) == node) || (other == task && node_of(worker) == node)
        };
        let came = match edge.source {
            Source::Node(home) => home == node,
            Source::Task(writer) => is_here(writer),
        };
        let is_copied = edge.readers.iter().any(|&reader| is_here(reader));
        let has_ended = |reader: &usize| times[*reader].is_some_and(|times| times.1 <= at);
        let is_over = !edge.readers.is_empty() && edge.readers.iter().all(has_ended);
        if (came || is_copied) && !is_over {
            bytes += edge.bytes;
        }
    }
    bytes
}
