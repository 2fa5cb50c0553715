//! The scheduler that the settings name, and the plans that it follows or writes.

use std::path::PathBuf;
use std::sync::Arc;

use super::variables;
use crate::error::{Error, ErrorKind, Result};
use crate::scheduler::{self, EnergyWeight, Plan, PlanDivergences, Recording, Scheduler, Static};

/// The sizes that a scheduler is created for.
pub(super) struct Size {
    pub(super) workers: usize,
    pub(super) tasks_in_flight: usize,
    pub(super) rand_seed: u64,
    /// If energy has a weight.
    pub(super) energy: Option<EnergyWeight>,
}

pub(super) type NamedScheduler = (Box<dyn Scheduler>, Option<Arc<PlanDivergences>>);

#[track_caller]
pub(super) fn named_scheduler(
    set: Option<String>,
    plan: Option<PathBuf>,
    size: Size,
) -> Result<NamedScheduler> {
    let default = || scheduler::NAMES[0].to_owned();
    let (setting, name) = match (set, &plan) {
        (Some(name), _) => ("scheduler", name),
        (None, Some(_)) => ("plan", scheduler::STATIC.to_owned()),
        (None, None) => ("DAHL_SCHED", variables::text("DAHL_SCHED")?.unwrap_or_else(default)),
    };
    if size.energy.is_some() && !scheduler::weighs_energy(&name) {
        let expected =
            "one that weighs energy, since `energy_weight` is set: dm, dmda, dmdas, heft".to_owned();
        return Err(Error::new(ErrorKind::Config { setting, value: name, expected }));
    }
    if name == scheduler::STATIC {
        return static_scheduler(plan, setting, size.tasks_in_flight);
    }
    if plan.is_some() {
        let expected = format!("`{}`, since a plan is given", scheduler::STATIC);
        return Err(Error::new(ErrorKind::Config { setting, value: name, expected }));
    }
    let Size { workers, tasks_in_flight, rand_seed, energy } = size;
    if let Some(scheduler) = scheduler::by_name(&name, workers, tasks_in_flight, rand_seed, energy) {
        return Ok((scheduler, None));
    }
    let expected = format!("one of {}, {}", scheduler::NAMES.join(", "), scheduler::STATIC);
    Err(Error::new(ErrorKind::Config { setting, value: name, expected }))
}

/// The scheduler that follows the plan in a file.
#[track_caller]
pub(super) fn static_scheduler(
    set: Option<PathBuf>,
    setting: &'static str,
    tasks: usize,
) -> Result<NamedScheduler> {
    let (setting, path) = match (set, variables::path("DAHL_PLAN")) {
        (Some(path), _) => ("plan", path),
        (None, Some(path)) => ("DAHL_PLAN", path),
        (None, None) => {
            let expected = "a plan besides: `.plan(path)` or DAHL_PLAN".to_owned();
            let value = scheduler::STATIC.to_owned();
            return Err(Error::new(ErrorKind::Config { setting, value, expected }));
        }
    };
    match Plan::from_file(&path) {
        Ok(plan) => {
            let divergences = Arc::new(PlanDivergences::new(&path));
            Ok((Box::new(Static::new(plan, Arc::clone(&divergences), tasks)), Some(divergences)))
        }
        Err(fact) => {
            let (value, expected) = (path.display().to_string(), format!("a plan: {fact}"));
            Err(Error::new(ErrorKind::Config { setting, value, expected }))
        }
    }
}

/// The recording of the run's plan, if one is written.
#[track_caller]
pub(super) fn recording(set: Option<PathBuf>) -> Result<Option<Arc<Recording>>> {
    let (setting, path) = match (set, variables::path("DAHL_WRITE_PLAN")) {
        (Some(path), _) => ("write_plan", path),
        (None, Some(path)) => ("DAHL_WRITE_PLAN", path),
        (None, None) => return Ok(None),
    };
    match Recording::create(&path) {
        Ok(recording) => Ok(Some(Arc::new(recording))),
        Err(error) => {
            let (value, expected) = (path.display().to_string(), format!("a file to write: {error}"));
            Err(Error::new(ErrorKind::Config { setting, value, expected }))
        }
    }
}
