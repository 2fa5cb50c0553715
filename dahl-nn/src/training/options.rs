//! [`Options`]: the settings of a trainer.

use std::panic::Location;
use std::path::PathBuf;

use dahl::prelude::*;

use super::callback::Callback;
use super::checkpoints::Checkpoints;
use super::early_stop::EarlyStop;
use super::monitor::Monitor;
use super::order::Order;
use super::parallel::{Parallel, Pipeline};
use super::records::Record;
use crate::error::{Error, Result};
use crate::optimizer::{LossScaler, WeightAverage};
use crate::schedule::Schedule;
use crate::setting::Settings;

/// What a trainer was set to.
pub(super) struct Options<'t, T: Real, M> {
    pub(super) batch_size: usize,
    pub(super) epochs: usize,
    pub(super) micro_batch_size: Option<usize>,
    pub(super) order: Order<'t>,
    /// Of the random numbers of steps.
    pub(super) seed: u64,
    pub(super) threads: usize,
    /// Whether the last batch of an epoch is left out if it is shorter.
    pub(super) drop_last: bool,
    pub(super) schedule: Option<Box<dyn Schedule + 't>>,
    pub(super) max_norm: Option<f64>,
    pub(super) loss_scaler: Option<LossScaler>,
    /// An average of the parameters, which is updated after each step.
    pub(super) average: Option<&'t mut WeightAverage<T>>,
    /// How a batch is computed by several ranks.
    pub(super) parallel: Option<Parallel>,
    /// Whether steps are recorded and replayed.
    /// None: as the call that trains has it by default.
    pub(super) replays: Option<bool>,
    pub(super) progress: bool,
    pub(super) runtime: Option<&'t Runtime>,
    pub(super) callbacks: Vec<Box<dyn Callback<M> + 't>>,
    pub(super) early_stop: Option<EarlyStop>,
    pub(super) checkpoints: Option<Checkpoints>,
    /// A checkpoint to go on from, or a folder of some.
    pub(super) resume: Option<PathBuf>,
    pub(super) records: Vec<Record>,
    /// The results that are watched, and the lines that say so.
    pub(super) monitors: Vec<(Monitor, &'static Location<'static>)>,
    pub(super) settings: Settings,
    /// The first invalid setting of what was passed.
    pub(super) wrong: Option<dahl::Error>,
}

impl<T: Real, M> Default for Options<'_, T, M> {
    fn default() -> Self {
        Self {
            batch_size: 64,
            epochs: 1,
            micro_batch_size: None,
            order: Order::Shuffled(1),
            seed: 1,
            threads: 0,
            drop_last: false,
            schedule: None,
            max_norm: None,
            loss_scaler: None,
            average: None,
            parallel: None,
            replays: None,
            progress: false,
            runtime: None,
            callbacks: Vec::new(),
            early_stop: None,
            checkpoints: None,
            resume: None,
            records: Vec::new(),
            monitors: Vec::new(),
            settings: Settings::default(),
            wrong: None,
        }
    }
}

impl<T: Real, M> Options<'_, T, M> {
    /// The pipeline, if there is one, and the line that set it.
    pub(super) fn pipeline(&self) -> Option<(&Pipeline, &'static Location<'static>)> {
        let parallel = self.parallel.as_ref()?;
        Some((parallel.as_pipeline()?, parallel.location))
    }

    /// The samples of a shard of a batch, if there are shards.
    pub(super) fn shard_size(&self) -> Option<usize> {
        self.parallel.as_ref()?.shard_size(self.batch_size)
    }

    /// The error of the first invalid setting. A watched result needs validation data, or a count of predictions.
    pub(super) fn check(&mut self, validates: bool, counts: bool) -> dahl::Result<()> {
        self.settings.check()?;
        if let Some(error) = self.wrong.take() {
            return Err(error);
        }
        if let Some(early_stop) = &self.early_stop {
            early_stop.settings.check()?;
        }
        if let Some(checkpoints) = &self.checkpoints {
            checkpoints.settings.check()?;
        }
        if let Some(parallel) = &self.parallel {
            parallel.check(self.batch_size, self.micro_batch_size)?;
            if parallel.as_pipeline().is_some_and(Pipeline::stashes)
                && (self.checkpoints.is_some() || self.resume.is_some())
            {
                let (value, expected) =
                    ("weights are stashed".to_owned(), "a pipeline that is flushed, with checkpoints");
                let location = parallel.location;
                return Err(
                    Error::Setting { setting: "Parallel: pipeline", value, expected, location }.into()
                );
            }
        }
        if let Some(scaler) = &self.loss_scaler {
            scaler.check_settings()?;
            self.require_not_parallel("Trainer: loss_scaler")?;
        }
        if let Some(average) = &self.average {
            average.check_settings()?;
            self.require_not_parallel("Trainer: average")?;
        }
        for &(monitor, location) in &self.monitors {
            require_result(monitor, location, validates, counts)?;
        }
        self.schedule.as_ref().map_or(Ok(()), |schedule| schedule.check_settings())
    }

    /// Requires that each batch is computed by this rank alone, which a setting depends on.
    fn require_not_parallel(&self, setting: &'static str) -> Result<()> {
        let Some(parallel) = &self.parallel else { return Ok(()) };
        let (value, expected) = ("with `parallel`".to_owned(), "a trainer without `parallel`");
        Err(Error::Setting { setting, value, expected, location: parallel.location })
    }
}

/// Requires that epochs have the result that is watched.
fn require_result(
    monitor: Monitor,
    location: &'static Location<'static>,
    validates: bool,
    counts: bool,
) -> Result<()> {
    let of_validation = matches!(monitor, Monitor::ValidationLoss | Monitor::ValidationAccuracy);
    let expected = if of_validation && !validates {
        "another result, or `validation` of the trainer"
    } else if monitor == Monitor::Accuracy && !counts {
        "another result: a trainer by a function counts no predictions"
    } else {
        return Ok(());
    };
    let value = format!("{monitor:?}");
    Err(Error::Setting { setting: "Trainer: monitor", value, expected, location })
}
