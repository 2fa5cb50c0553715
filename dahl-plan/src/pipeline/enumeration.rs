//! [`enumerate`]: the least seconds of all plans, looked at one by one.

use super::cluster::Cluster;
use super::cost::{Context, Costs};
use super::error::Error;
use super::profile::Profile;
use super::state::States;

/// The result of an enumeration of all plans.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Enumeration {
    /// How many pipelines were looked at, those inside of machines included.
    pub pipelines: u64,
    /// The least seconds of a minibatch. Without end if no plan keeps to the memory.
    pub seconds: f64,
}

/// Looks at every plan: all sequences of cuts with all numbers of replicas. `None` if there are more than `most` pipelines.
///
/// It shares the formulas of stages and transfers with [`plan`](super::plan()), and nothing else: neither the tables nor the
/// argument that a best pipeline contains best pipelines.
///
/// # Errors
/// As [`plan`](super::plan()), apart from the memory.
pub fn enumerate(profile: &Profile, cluster: &Cluster, most: u64) -> Result<Option<Enumeration>, Error> {
    cluster.check()?;
    let states = States::new(profile)?;
    let costs = Costs { states: &states, cluster };
    let mut all = All { costs: &costs, left: most };
    let seconds = all.least(cluster.levels.len(), Context::ALONE, 0, states.states.len() - 1);
    Ok(seconds.map(|seconds| Enumeration { pipelines: most - all.left, seconds }))
}

struct All<'a> {
    costs: &'a Costs<'a>,
    left: u64,
}

/// The stages that have been chosen, from the last one on.
#[derive(Clone, Copy)]
struct Chosen {
    /// The cut before them.
    from: usize,
    /// The machines that they use.
    machines: usize,
    /// The machines of the first of them.
    first: usize,
    /// The most seconds of them and of the transfers between them.
    seconds: f64,
}

impl All<'_> {
    fn least(&mut self, level: usize, context: Context, from: usize, to: usize) -> Option<f64> {
        if level == 0 {
            return Some(self.costs.worker(context, from, to));
        }
        let none = Chosen { from: to, machines: 0, first: 0, seconds: 0.0 };
        self.before(level, context, from, to, none)
    }

    /// The least seconds with any stages before those that are chosen.
    fn before(
        &mut self,
        level: usize,
        context: Context,
        from: usize,
        end: usize,
        chosen: Chosen,
    ) -> Option<f64> {
        if chosen.from == from {
            self.left = self.left.checked_sub(1)?;
            return Some(chosen.seconds);
        }
        let costs = self.costs;
        let (mut least, to) = (f64::INFINITY, chosen.from);
        let machines = costs.most(costs.cluster.levels[level - 1].machines - chosen.machines);
        let later = &costs.states.later;
        let starts = (from..to).filter(|&cut| cut == from || later[from].binary_search(&cut).is_ok());
        for cut in starts.filter(|&cut| later[cut].binary_search(&to).is_ok()) {
            for used in 1..=machines {
                let inside = costs.context(level, context, used, chosen.machines);
                let inner = self.least(level - 1, inside, cut, to)?;
                let mut seconds = chosen.seconds.max(costs.stage(level, used, inner, cut, to));
                if to != end {
                    let sent = costs.transfer(level, used, to);
                    seconds = seconds.max(sent).max(costs.transfer(level, chosen.first, to));
                }
                let all = chosen.machines + used;
                let chosen = Chosen { from: cut, machines: all, first: used, seconds };
                least = least.min(self.before(level, context, from, end, chosen)?);
            }
        }
        Some(least)
    }
}
