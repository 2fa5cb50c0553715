//! [`OnPlateau`]: a callback that lowers the learning rate when a result stops improving.

use super::callback::{Callback, Progress};
use super::monitor::Monitor;
use crate::schedule::Plateau;

/// Gives each epoch's result to a [`Plateau`], and sets the learning rate to what it returns.
#[derive(Debug)]
pub(super) struct OnPlateau {
    pub(super) plateau: Plateau,
    pub(super) monitor: Monitor,
}

impl<M> Callback<M> for OnPlateau {
    fn epoch_ended(&mut self, progress: &mut Progress<'_, M>) -> dahl::Result<()> {
        if let Some(epoch) = progress.history().epochs.last() {
            let rate = self.plateau.observe(self.monitor.value(epoch));
            progress.set_learning_rate(rate);
        }
        Ok(())
    }

    fn state(&self) -> String {
        self.plateau.state()
    }

    fn set_state(&mut self, state: &str) -> dahl::Result<()> {
        Ok(self.plateau.set_state(state)?)
    }
}
