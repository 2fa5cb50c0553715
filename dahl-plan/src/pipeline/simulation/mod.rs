//! [`simulate`]: a plan run in virtual time, with one forward and one backward pass in turn.
//!
//! Each worker is busy with one pass at a time. Each end of a link has one transfer at a time, in either direction. A worker
//! that has both a forward and a backward pass to do takes them in turn ("1F1B", PipeDream, section 3.2); it starts no
//! further minibatch while it has as many in flight as its limit says. The exchange of gradients between replicas occupies a worker
//! at the end of the backward pass, and the links inside of a machine that is a replica. Replicas do not wait for each other:
//! they are equal, so in the steady state they arrive together or one after the other at one distance.

mod line;
mod run;

use line::Line;

use super::cluster::Cluster;
use super::stage::Plan;

/// The most further minibatches in flight that are tried for each cut after a stage.
const MOST_EXTRA: usize = 16;

/// How far the steady state may be from the planner's seconds: 5 %.
const TOLERANCE: f64 = 0.05;

/// What a plan does in virtual time.
#[derive(Clone, Debug, PartialEq)]
pub struct Simulation {
    /// The seconds of a minibatch in the steady state, with the minibatches in flight that PipeDream's rule gives.
    pub rule_seconds: f64,
    /// The seconds of a minibatch in the steady state, with as many more in flight as hide the transfers.
    pub seconds: f64,
    /// How many more minibatches a worker has in flight then, for each cut between its stage and the end.
    pub extra: usize,
    /// The minibatches that a worker of each innermost stage has in flight then.
    pub in_flight: Vec<usize>,
    /// Whether `seconds` is within 5 % of the plan's.
    pub agrees: bool,
}

/// Runs a plan until its steady state.
///
/// PipeDream's rule for the minibatches in flight counts stages and no transfers. Where transfers take long the workers then
/// wait for them, and the pipeline is slower than planned. So the simulation also looks for the fewest further minibatches
/// with which the plan's seconds are met within 5 %.
#[must_use]
pub fn simulate(plan: &Plan, cluster: &Cluster) -> Simulation {
    let line = Line::new(plan, cluster);
    let stations = line.stations.len();
    let limits = |extra: usize| -> Vec<usize> {
        (0..stations)
            .map(|station| line.stations[station].in_flight + extra * (stations - 1 - station))
            .collect()
    };
    let rule_seconds = steady(&line, &limits(0));
    let is_near = |seconds: f64| (seconds - plan.seconds).abs() <= TOLERANCE * plan.seconds;
    let (mut extra, mut seconds) = (0, rule_seconds);
    while !is_near(seconds) && extra < MOST_EXTRA && stations > 1 {
        extra += 1;
        seconds = steady(&line, &limits(extra));
    }
    Simulation { rule_seconds, seconds, extra, in_flight: limits(extra), agrees: is_near(seconds) }
}

/// The seconds of a minibatch in the middle of a long run. Replicas end minibatches in groups, so the time from one end to another
/// says little: the means of two quarters of the run, in which groups are averaged, are compared.
fn steady(line: &Line, limits: &[usize]) -> f64 {
    // In the steady state the same happens again after as many minibatches as all numbers of workers divide.
    let workers = (0..line.stations.len()).map(|at| line.machines(at, line.stations[at].turns.len()));
    let period = workers.clone().fold(1, least_common_multiple);
    let warm_up = limits.iter().zip(workers).map(|(limit, workers)| limit * workers).max().unwrap_or(1);
    let quarter = (4 * warm_up).max(120).next_multiple_of(period);
    let ended = run::run(line, limits, 4 * quarter);
    let mean = |from: usize| {
        ended[from..from + quarter].iter().map(|&ended| ended as f64 / 1e9).sum::<f64>() / quarter as f64
    };
    (mean(2 * quarter) - mean(quarter)) / quarter as f64
}

fn least_common_multiple(a: usize, b: usize) -> usize {
    let (mut divisor, mut rest) = (a, b);
    while rest != 0 {
        (divisor, rest) = (rest, divisor % rest);
    }
    a / divisor * b
}
