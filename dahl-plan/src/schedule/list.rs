//! Schedules from lists: tasks by priority, each where it ends first.
//!
//! This is HEFT (Topcuoglu, Hariri and Wu, 2002): the priority of a task is the time from its start to the end of all, and each
//! goes into the first gap of a worker that is long enough. With other priorities near these, and with a weight for energy against
//! time, there are many such schedules.

use super::goal::Goal;
use super::model::Model;
use super::problem::Source;
use super::state::{NEVER, State};

/// The most lists that are tried.
const LISTS: u64 = 400;

/// Where a task is.
#[derive(Clone, Copy, Debug)]
struct Place {
    one: usize,
    worker: usize,
    start: u64,
    end: u64,
}

/// Offers the schedules of many lists to the goal.
pub(super) fn search(goal: &mut Goal<'_>, root: &State, stop: &mut dyn FnMut() -> bool) {
    let model = goal.model;
    let least = |task: usize| {
        let tails =
            (0..model.types.len()).map(|one| goal.bounds.tail(task, one)).filter(|&tail| tail != NEVER);
        tails.min().unwrap_or(NEVER)
    };
    let mean = |task: usize| {
        let tails =
            (0..model.types.len()).map(|one| goal.bounds.tail(task, one)).filter(|&tail| tail != NEVER);
        let (sum, count) = tails.fold((0, 0), |(sum, count), tail| (sum + u128::from(tail), count + 1));
        sum.checked_div(count).map_or(NEVER, |mean| mean as u64)
    };
    let ranks: [Vec<u64>; 2] =
        [(0..model.tasks()).map(mean).collect(), (0..model.tasks()).map(least).collect()];
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    for list in 0..LISTS.min(4 * (model.tasks() as u64).pow(2)) {
        if list > 0 && stop() {
            return;
        }
        // Up to a third more or less, beginning with none.
        let spread = list / 2 % 16 * 2;
        let rank = |task: &u64| {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            let factor = 100 - spread + random % (2 * spread + 1);
            (u128::from(*task) * u128::from(factor) / 100) as u64
        };
        let ranks: Vec<u64> = ranks[list as usize % 2].iter().map(rank).collect();
        // With energy in the objective the weight of time goes from much to nothing.
        let weight = if goal.is_energy() { list / 8 % 10 } else { 0 };
        let weights = if goal.is_energy() { (8_i128.pow(9 - weight as u32) - 1, 1 << 12) } else { (1, 0) };
        if let Some(state) = schedule(model, &ranks, weights).and_then(|places| replay(model, root, &places))
        {
            goal.offer(&state);
        }
    }
}

/// Places tasks in the order of their ranks, each after those that it reads.
fn schedule(model: &Model, ranks: &[u64], (time, energy): (i128, i128)) -> Option<Vec<Place>> {
    let is_written = |array: &&usize| matches!(model.arrays[**array].source, Source::Task(_));
    let mut waits: Vec<usize> =
        model.reads.iter().map(|reads| reads.iter().filter(is_written).count()).collect();
    let mut ready: Vec<usize> = (0..model.tasks()).filter(|&task| waits[task] == 0).collect();
    let mut places: Vec<Option<Place>> = vec![None; model.tasks()];
    // The tasks of each worker in the order of their starts.
    let mut busy: Vec<Vec<(u64, u64)>> =
        vec![Vec::new(); model.types.iter().map(|one| one.workers.len()).sum()];
    while let Some(next) =
        (0..ready.len()).max_by_key(|&index| (ranks[ready[index]], std::cmp::Reverse(ready[index])))
    {
        let task = ready.swap_remove(next);
        let mut best: Option<(i128, Place)> = None;
        for (one, kind) in model.types.iter().enumerate() {
            let Some(duration) = model.time[task][one] else { continue };
            let mut begin = Some(0);
            for &array in &model.reads[task] {
                let (from, time) = match model.arrays[array].source {
                    Source::Node(node) => (node, 0),
                    Source::Task(writer) => {
                        let place = places[writer].expect("it was placed before");
                        (model.types[place.one].worker.node, place.end)
                    }
                };
                let way = model.transfer(array, from, kind.worker.node);
                begin = begin.zip(way).map(|(begin, way)| begin.max(time + way.nanoseconds));
            }
            let Some(begin) = begin else { continue };
            for &worker in &kind.workers {
                let start = gap(&busy[worker], begin, duration);
                let end = start + duration;
                let cost = i128::from(end) * time * i128::from(model.idle.max(1))
                    + i128::from(model.energy[task][one]) * energy;
                if best.is_none_or(|best| cost < best.0) {
                    best = Some((cost, Place { one, worker, start, end }));
                }
            }
        }
        let (_, place) = best?;
        let at = busy[place.worker].partition_point(|other| *other <= (place.start, place.end));
        busy[place.worker].insert(at, (place.start, place.end));
        places[task] = Some(place);
        for &array in &model.writes[task] {
            for &reader in &model.arrays[array].readers {
                waits[reader] -= 1;
                if waits[reader] == 0 {
                    ready.push(reader);
                }
            }
        }
    }
    places.into_iter().collect()
}

/// The first start from `begin` on at which a worker is free for so long.
fn gap(busy: &[(u64, u64)], begin: u64, duration: u64) -> u64 {
    let mut start = begin;
    for &(from, to) in busy {
        if start + duration <= from {
            break;
        }
        start = start.max(to);
    }
    start
}

/// The same tasks on the same types, in the order of their starts. `None` if they do not fit into memory.
fn replay(model: &Model, root: &State, places: &[Place]) -> Option<State> {
    // Tasks without duration may start together with those that read them.
    let mut rank = vec![0; places.len()];
    model.order.iter().enumerate().for_each(|(at, &task)| rank[task] = at);
    let mut order: Vec<usize> = (0..places.len()).collect();
    order.sort_by_key(|&task| (places[task].start, rank[task]));
    let mut state = root.clone();
    for task in order {
        let step = state.step(model, task, places[task].one)?;
        state.take(model, step);
    }
    Some(state)
}
