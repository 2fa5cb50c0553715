//! [`Options`]: the settings of a trainer.

use dahl::prelude::*;

use super::order::Order;
use crate::schedule::Schedule;
use crate::setting::Settings;

/// What a trainer was set to.
pub(super) struct Options<'t> {
    pub(super) batch_size: usize,
    pub(super) epochs: usize,
    pub(super) micro_batch_size: Option<usize>,
    pub(super) order: Order<'t>,
    /// Of the random numbers of steps.
    pub(super) seed: u64,
    pub(super) threads: usize,
    pub(super) schedule: Option<Box<dyn Schedule + 't>>,
    pub(super) max_norm: Option<f64>,
    pub(super) progress: bool,
    pub(super) runtime: Option<&'t Runtime>,
    pub(super) settings: Settings,
}

impl Default for Options<'_> {
    fn default() -> Self {
        Self {
            batch_size: 64,
            epochs: 1,
            micro_batch_size: None,
            order: Order::Shuffled(1),
            seed: 1,
            threads: 0,
            schedule: None,
            max_norm: None,
            progress: false,
            runtime: None,
            settings: Settings::default(),
        }
    }
}

impl Options<'_> {
    /// The error of the first invalid setting.
    pub(super) fn check(&self) -> dahl::Result<()> {
        self.settings.check()?;
        self.schedule.as_ref().map_or(Ok(()), |schedule| schedule.check_settings())
    }
}
