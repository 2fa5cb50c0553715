//! [`Line`]: a plan as workers and links, one stage after the other.

use super::super::cluster::Cluster;
use super::super::stage::{Plan, Stage};

/// The innermost stages of a plan in a line, with the links between them.
#[derive(Debug)]
pub(super) struct Line {
    pub(super) stations: Vec<Station>,
    /// Before each station but the first.
    pub(super) cuts: Vec<Cut>,
}

/// An innermost stage: workers that take turns.
#[derive(Debug)]
pub(super) struct Station {
    /// The replicas at each level, the outermost first.
    pub(super) turns: Vec<usize>,
    pub(super) forward: u64,
    /// With the exchange of gradients.
    pub(super) backward: u64,
    /// The minibatches that a worker has in flight by PipeDream's rule.
    pub(super) in_flight: usize,
}

/// The transfers between two stations.
#[derive(Debug)]
pub(super) struct Cut {
    /// The nanoseconds of one transfer in one direction.
    pub(super) duration: u64,
    /// The nanoseconds in which the machines around the cut exchange gradients, for each minibatch of a machine before and
    /// after it. The links inside of a machine carry what it exchanges with others, and so have no transfers meanwhile.
    pub(super) exchange: [u64; 2],
    /// How many levels, from the outermost, the ends of the link belong to.
    pub(super) levels: usize,
}

/// Seconds as whole nanoseconds.
pub(super) fn nanoseconds(seconds: f64) -> u64 {
    (seconds * 1e9).round() as u64
}

/// Which of the machines that take turns has a minibatch.
pub(super) fn machine(turns: &[usize], minibatch: usize) -> usize {
    let (mut index, mut left) = (0, minibatch);
    for replicas in turns {
        index = index * replicas + left % replicas;
        left /= replicas;
    }
    index
}

/// The seconds of exchanges for each minibatch of a machine that takes turns at these levels: it has one of the minibatches of
/// the machines around it, and takes part in the exchanges for all.
fn shares(exchanges: &[f64], turns: &[usize]) -> f64 {
    let share =
        |(around, seconds): (usize, &f64)| seconds * turns[around + 1..].iter().product::<usize>() as f64;
    exchanges.iter().enumerate().map(share).sum()
}

impl Line {
    pub(super) fn new(plan: &Plan, cluster: &Cluster) -> Self {
        let mut line = Self { stations: Vec::new(), cuts: Vec::new() };
        line.add(&plan.stages, cluster, cluster.levels.len(), &[], &[]);
        if line.stations.is_empty() {
            line.stations.push(Station {
                turns: Vec::new(),
                forward: 0,
                backward: nanoseconds(plan.one_worker_seconds),
                in_flight: 1,
            });
        }
        line
    }

    /// Adds the stages of a level. `exchanges` are the seconds that each machine around them spends for each of its
    /// minibatches.
    fn add(&mut self, stages: &[Stage], cluster: &Cluster, level: usize, turns: &[usize], exchanges: &[f64]) {
        for (index, stage) in stages.iter().enumerate() {
            if index > 0 {
                let seconds = stages[index - 1].output_bytes / cluster.levels[level - 1].bandwidth;
                let exchange = [index - 1, index].map(|end| {
                    let turns = [turns, &[stages[end].replicas]].concat();
                    nanoseconds(shares(exchanges, &turns))
                });
                self.cuts.push(Cut { duration: nanoseconds(seconds), exchange, levels: turns.len() + 1 });
            }
            let turns = [turns, &[stage.replicas]].concat();
            let exchanges = [exchanges, &[stage.exchange_seconds]].concat();
            if level > 1 {
                self.add(&stage.inner, cluster, level - 1, &turns, &exchanges);
                continue;
            }
            let exchange = shares(&exchanges, &turns);
            self.stations.push(Station {
                turns,
                forward: nanoseconds(stage.forward_seconds),
                backward: nanoseconds(stage.backward_seconds + exchange),
                in_flight: stage.in_flight,
            });
        }
    }

    /// The machines of a station at the first of its levels.
    pub(super) fn machines(&self, station: usize, levels: usize) -> usize {
        self.stations[station].turns[..levels].iter().product()
    }
}
