//! [`Bounds`]: what no completion of a schedule goes below.

use super::model::Model;
use super::state::{NEVER, State};

/// The most combinations of weights of types.
const SHARES: u64 = 12;

/// The bits behind the point of a price.
const POINT: u32 = 24;

/// Times after which a task and all that follow it have ended, and loads.
#[derive(Debug)]
pub(super) struct Bounds {
    /// The least time from the start of each task on a type to the end of all.
    tail: Vec<Vec<u64>>,
    /// The least time from the end of each task to the end of all.
    rest: Vec<u64>,
    /// The tasks, those with the most time after their end first.
    by_rest: Vec<usize>,
    loads: Vec<Load>,
    prices: Vec<Price>,
    /// The least energy of each task.
    least: Vec<i64>,
}

/// The work of all tasks, where each type has a weight: what they occupy at least of the weighted time of the workers.
#[derive(Debug)]
struct Load {
    weights: Vec<u64>,
    tasks: Vec<u64>,
}

/// Energy and time in one sum: each weighted nanosecond of a worker has a price in picojoules.
///
/// A schedule that ends by `deadline` has no more than `total x deadline` weighted nanoseconds. So its energy is at least
/// that of the sum over tasks, where each chooses the cheapest type at that price, less the price of the whole time.
#[derive(Debug)]
struct Price {
    load: usize,
    /// In picojoules, with [`POINT`] bits behind the point.
    price: i128,
    tasks: Vec<i64>,
    until: Until,
}

/// The time that a price is paid for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Until {
    /// The end of the schedule, at which all workers stop being idle: the price is the idle power.
    End,
    /// The deadline.
    Deadline(u64),
}

impl Bounds {
    pub(super) fn new(model: &Model, deadline: Option<u64>) -> Self {
        let tail = tails(model);
        let rest = |task: usize| {
            let tails = tail[task].iter().zip(&model.time[task]);
            tails.filter_map(|(&tail, time)| Some(tail.saturating_sub((*time)?))).min().unwrap_or(0)
        };
        let rest: Vec<u64> = (0..model.tasks()).map(rest).collect();
        let mut by_rest: Vec<usize> = (0..model.tasks()).collect();
        by_rest.sort_by_key(|&task| std::cmp::Reverse(rest[task]));
        let loads = shares(model.types.len())
            .map(|shares| {
                let all: u64 = model.types.iter().map(|one| one.workers.len() as u64).product();
                let weight =
                    |(share, one): (&u64, &super::model::Type)| share * all / one.workers.len() as u64;
                let weights: Vec<u64> = shares.iter().zip(&model.types).map(weight).collect();
                let least = |times: &Vec<Option<u64>>| {
                    let each = times.iter().zip(&weights);
                    each.filter_map(|(time, weight)| Some((*time)?.saturating_mul(*weight)))
                        .min()
                        .unwrap_or(0)
                };
                Load { tasks: model.time.iter().map(least).collect(), weights }
            })
            .collect();
        let cheapest = |task: usize| {
            let each = model.energy[task].iter().zip(&model.time[task]);
            each.filter(|(_, time)| time.is_some()).map(|(energy, _)| *energy).min().unwrap_or(0)
        };
        let least = (0..model.tasks()).map(cheapest).collect();
        let deadline = deadline.map(|deadline| deadline.min(1 << 62));
        let mut bounds = Self { tail, rest, by_rest, loads, prices: Vec::new(), least };
        bounds.prices = bounds.prices(model, deadline);
        bounds
    }

    /// The least end of all tasks.
    pub(super) fn time(&self, model: &Model, state: &State) -> u64 {
        let (starts, mut bound) = self.starts(model, state);
        bound = bound.max(state.latest);
        // No worker takes a further task before one of them can start.
        let mut earliest = vec![u64::MAX; model.types.len()];
        let types = model.types.len();
        for task in (0..model.tasks()).filter(|&task| state.end[task] == NEVER) {
            for (one, start) in starts[task * types..][..types]
                .iter()
                .enumerate()
                .filter(|(one, _)| model.time[task][*one].is_some())
            {
                earliest[one] = earliest[one].min(*start);
            }
        }
        for load in &self.loads {
            bound = self.load(model, state, load, &earliest, bound);
        }
        bound
    }

    /// The earliest start of each task on each type, one task after the other, and the end of all that follows from one task after the other.
    fn starts(&self, model: &Model, state: &State) -> (Vec<u64>, u64) {
        let types = model.types.len();
        let free: Vec<u64> = (0..types).map(|one| state.time.max(state.first_free(model, one).0)).collect();
        let mut starts = vec![NEVER; model.tasks() * types];
        let mut bound = state.time;
        for &task in model.order.iter().filter(|&&task| state.end[task] == NEVER) {
            let mut least = u64::MAX;
            for one in 0..types {
                let mut start = free[one];
                let node = model.types[one].worker.node;
                for &array in &model.reads[task] {
                    let arrival = match model.arrays[array].source {
                        super::Source::Task(from) if state.end[from] == NEVER => {
                            let after = |other: usize| {
                                let way = model.transfer(array, model.types[other].worker.node, node)?;
                                let begin = starts[from * types + other];
                                let time = model.time[from][other]?;
                                (begin != NEVER).then(|| begin + time + way.nanoseconds)
                            };
                            (0..types).filter_map(after).min()
                        }
                        _ => state.arrival(model, array, node),
                    };
                    start = start.max(arrival.unwrap_or(NEVER));
                }
                starts[task * types + one] = start;
                if start != NEVER && model.time[task][one].is_some() && self.tail[task][one] != NEVER {
                    least = least.min(start + self.tail[task][one]);
                }
            }
            bound = bound.max(least);
        }
        (starts, bound)
    }

    /// The least end of all tasks by their load, or `bound` if that is more: of those with the most time after them, for each number of them.
    fn load(&self, model: &Model, state: &State, load: &Load, earliest: &[u64], bound: u64) -> u64 {
        let mut bound = bound;
        // When the workers are free, with the sum of the weights of those that are free by then.
        let mut free: Vec<(u64, u64)> = Vec::with_capacity(state.free.len());
        for (one, kind) in model.types.iter().enumerate().filter(|(one, _)| load.weights[*one] > 0) {
            if earliest[one] != NEVER {
                let begin = |&worker: &usize| (state.free[worker].max(earliest[one]), load.weights[one]);
                free.extend(kind.workers.iter().map(begin));
            }
        }
        free.sort_unstable();
        let (mut sum, mut weight, mut begun, mut next) = (0_u128, 0_u128, 0_u128, 0);
        for &task in self.by_rest.iter().filter(|&&task| state.end[task] == NEVER && load.tasks[task] > 0) {
            sum += u128::from(load.tasks[task]);
            // At a time the workers have had `weight x time - begun`.
            while let Some(&(begin, other)) = free.get(next) {
                if u128::from(begin) * weight >= sum + begun && weight > 0 {
                    break;
                }
                weight += u128::from(other);
                begun += u128::from(begin) * u128::from(other);
                next += 1;
            }
            if weight == 0 {
                return NEVER;
            }
            // A division only where it raises the bound.
            let rest = self.rest[task];
            if rest >= bound || sum + begun > weight * u128::from(bound - rest) {
                let end = u64::try_from((sum + begun).div_ceil(weight)).unwrap_or(NEVER);
                bound = bound.max(end.saturating_add(rest));
            }
        }
        bound
    }

    /// The least energy, if no schedule ends before `time`, and all by the deadline.
    pub(super) fn energy(&self, model: &Model, state: &State, time: u64) -> i64 {
        let open = || (0..model.tasks()).filter(|&task| state.end[task] == NEVER);
        let least: i64 = open().map(|task| self.least[task]).sum();
        let idle = (i128::from(model.idle) * i128::from(time)) as i64;
        let mut bound = state.energy.saturating_add(least).saturating_add(idle);
        for price in &self.prices {
            let sum: i128 = open().map(|task| i128::from(price.tasks[task])).sum();
            let weights = &self.loads[price.load].weights;
            let (mut begun, mut all) = (0_i128, 0_i128);
            for (one, kind) in model.types.iter().enumerate() {
                for &worker in &kind.workers {
                    begun += i128::from(weights[one]) * i128::from(state.free[worker].max(state.time));
                    all += i128::from(weights[one]);
                }
            }
            let weighted = match price.until {
                Until::End => begun * price.price,
                Until::Deadline(deadline) => (begun - all * i128::from(deadline)) * price.price,
            };
            let mut energy = i128::from(state.energy) + sum + (weighted >> POINT);
            if price.until != Until::End {
                energy += i128::from(idle);
            }
            bound = bound.max(i64::try_from(energy).unwrap_or(i64::MAX));
        }
        bound
    }

    /// For each weighting of types the price of the idle power, and the price at which the bound by the deadline is best.
    fn prices(&self, model: &Model, deadline: Option<u64>) -> Vec<Price> {
        let mut prices = Vec::new();
        for (load, Load { weights, .. }) in self.loads.iter().enumerate() {
            let all: u64 =
                model.types.iter().zip(weights).map(|(one, weight)| one.workers.len() as u64 * weight).sum();
            let price = (i128::from(model.idle) << POINT) / i128::from(all);
            if price > 0 {
                prices.push(self.price(model, load, price, Until::End));
            }
            let Some(deadline) = deadline else { continue };
            // Prices above keep all products in range, and any price gives a bound.
            let most = (1_i128 << 120) / (i128::from(all) << 62);
            let bound = |price: i128| {
                let sum: i128 = self
                    .price(model, load, price, Until::End)
                    .tasks
                    .iter()
                    .map(|&task| i128::from(task))
                    .sum();
                sum - ((price * i128::from(all) * i128::from(deadline)) >> POINT)
            };
            // The bound is concave in the price, and the best price is the slope between two types of a task.
            let mut best = (bound(0), 0);
            for task in 0..model.tasks() {
                for (one, other) in
                    (0..model.types.len()).flat_map(|one| (0..one).map(move |other| (one, other)))
                {
                    let (Some(a), Some(b)) = (model.time[task][one], model.time[task][other]) else {
                        continue;
                    };
                    let time =
                        i128::from(a) * i128::from(weights[one]) - i128::from(b) * i128::from(weights[other]);
                    let energy = i128::from(model.energy[task][other]) - i128::from(model.energy[task][one]);
                    if time != 0 && (energy > 0) == (time > 0) {
                        let price = ((energy << POINT) / time).min(most);
                        best = best.max((bound(price), price));
                    }
                }
            }
            if best.1 > 0 {
                prices.push(self.price(model, load, best.1, Until::Deadline(deadline)));
            }
        }
        prices
    }

    fn price(&self, model: &Model, load: usize, price: i128, until: Until) -> Price {
        let weights = &self.loads[load].weights;
        let least = |task: usize| {
            let types = (0..model.types.len()).filter_map(|one| {
                let weighted = i128::from(model.time[task][one]?) * i128::from(weights[one]);
                Some(i128::from(model.energy[task][one]) + ((weighted * price) >> POINT))
            });
            types.min().map_or(0, |least| i64::try_from(least).unwrap_or(i64::MAX))
        };
        Price { load, price, tasks: (0..model.tasks()).map(least).collect(), until }
    }

    /// The least time from the start of a task on a type to the end of all.
    pub(super) fn tail(&self, task: usize, one: usize) -> u64 {
        self.tail[task][one]
    }
}

fn tails(model: &Model) -> Vec<Vec<u64>> {
    let types = model.types.len();
    let mut tails = vec![vec![0; types]; model.tasks()];
    for &task in model.order.iter().rev() {
        for one in 0..types {
            let Some(time) = model.time[task][one] else {
                tails[task][one] = NEVER;
                continue;
            };
            let mut rest = 0;
            for &array in &model.writes[task] {
                for &reader in &model.arrays[array].readers {
                    let after = |other: usize| {
                        let (from, to) = (model.types[one].worker.node, model.types[other].worker.node);
                        let way = model.transfer(array, from, to)?;
                        let tail: u64 = tails[reader][other];
                        (tail != NEVER).then(|| way.nanoseconds + tail)
                    };
                    rest = rest.max((0..types).filter_map(after).min().unwrap_or(NEVER));
                }
            }
            tails[task][one] = if rest == NEVER { NEVER } else { time + rest };
        }
    }
    tails
}

/// All divisions of some number of shares among types. With many types there are fewer shares.
fn shares(types: usize) -> impl Iterator<Item = Vec<u64>> {
    let shares = match types {
        0..=2 => SHARES,
        3 => 6,
        4 => 4,
        _ => 2,
    };
    let mut all = vec![Vec::new()];
    for left in (0..types).rev() {
        let longer = |division: &Vec<u64>| {
            let division = division.clone();
            let rest = shares - division.iter().sum::<u64>();
            let least = if left == 0 { rest } else { 0 };
            (least..=rest).map(move |share| [&division[..], &[share]].concat()).collect::<Vec<_>>()
        };
        all = all.iter().flat_map(longer).collect();
    }
    all.into_iter()
}
