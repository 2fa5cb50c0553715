//! The schedulers that come with the runtime, by their names.

use super::deque_model::{DequeModel, EnergyWeight, Rule};
use super::eager::Eager;
use super::lws::LocalityWorkStealing;
use super::policy::Scheduler;
use super::prio::Prio;
use super::random::Random;
use super::sequential::Sequential;
use super::ws::WorkStealing;

/// The names of the runtime's schedulers, except the one that needs a plan. The first is the default.
pub(crate) const NAMES: [&str; 10] =
    ["ws", "eager", "lws", "prio", "random", "dm", "dmda", "dmdas", "heft", "sequential"];

/// The name of the scheduler that follows a plan.
pub(crate) const STATIC: &str = "static";

/// The schedulers that can weigh energy.
const RULES: [Rule; 4] = [Rule::DM, Rule::DMDA, Rule::DMDAS, Rule::HEFT];

/// Whether the scheduler with that name can weigh energy.
pub(crate) fn weighs_energy(name: &str) -> bool {
    RULES.iter().any(|rule| rule.name == name)
}

/// The scheduler with that name, except the one that follows a plan, for so many workers and tasks in flight; `seed` is
/// for a random one, `energy` for one that weighs energy.
pub(crate) fn by_name(
    name: &str,
    workers: usize,
    tasks: usize,
    seed: u64,
    energy: Option<EnergyWeight>,
) -> Option<Box<dyn Scheduler>> {
    if let Some(rule) = RULES.into_iter().find(|rule| rule.name == name) {
        return Some(Box::new(DequeModel::new(rule, tasks, energy)));
    }
    match name {
        "eager" => Some(Box::new(Eager::new(tasks))),
        "ws" => Some(Box::new(WorkStealing::new(workers, tasks))),
        "lws" => Some(Box::new(LocalityWorkStealing::new(workers, tasks))),
        "prio" => Some(Box::new(Prio::new(workers, tasks))),
        "random" => Some(Box::new(Random::new(workers, tasks, seed))),
        "sequential" => Some(Box::new(Sequential::new(tasks))),
        _ => None,
    }
}
