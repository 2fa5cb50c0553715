//! Writing checkpoints of a training, and going on from one.

use std::path::Path;

use dahl::prelude::*;

use super::checkpoints::latest;
use super::learning::Learning;
use super::run::Run;
use super::state::{Fixed, State};
use crate::checkpoint::{Content, OF_TRAINER, tensors};
use crate::error::Error;
use crate::loader::Source;
use crate::module::{Module, TensorFile, TensorName};
use crate::optimizer::{LossScaler, Optimizer, WeightAverage};

/// Where the parameters and buffers of the best epoch are, which an early stop restores.
const BEST: &str = "trainer.best";

impl<T, M, S, N, O> Run<'_, '_, T, M, S, N, O>
where
    T: Real,
    M: Module<T>,
    S: Source<T>,
    N: Learning<T, M, S>,
    O: Optimizer<T>,
{
    /// The state from which the training begins or goes on.
    pub(super) fn begin(&mut self) -> dahl::Result<State<T>> {
        let path = match &self.options.resume {
            Some(path) if is_folder(path) => latest(path)?,
            path => path.clone(),
        };
        if let Some(checkpoints) = self.options.checkpoints.as_ref().filter(|_| self.writes_files()) {
            checkpoints.prepare(path.is_some())?;
        }
        match path {
            Some(path) => self.restore(&path),
            None => Ok(State::default()),
        }
    }

    /// Takes all that a checkpoint has. If anything does not match, model and optimizer stay as they are.
    fn restore(&mut self, path: &Path) -> dahl::Result<State<T>> {
        let file = TensorFile::read(path)?;
        let (mut state, of_callbacks) = State::read(&file, &self.fixed())?;
        if of_callbacks.len() != self.options.callbacks.len() {
            return Err(Error::Checkpoint {
                path: path.to_owned(),
                what: "callbacks".to_owned(),
                expected: self.options.callbacks.len().to_string(),
                found: of_callbacks.len().to_string(),
            }
            .into());
        }
        let content = Content::read(&file, &*self.model, &self.optimizer)?;
        if file.has_within(BEST) {
            let name_of = |name: &str| TensorName::new(format!("{BEST}.{name}"));
            state.seen.best_values = Some(file.values_as(&*self.model, name_of)?);
        }
        let of_average = match &self.options.average {
            Some(_) => Some(WeightAverage::read(&file, &*self.model)?),
            None => None,
        };
        for (callback, of_callback) in self.options.callbacks.iter_mut().zip(&of_callbacks) {
            callback.set_state(of_callback)?;
        }
        content.write_to(&mut *self.model, &mut self.optimizer)?;
        if let (Some(average), Some(of_average)) = (&mut self.options.average, of_average) {
            average.set(of_average);
        }
        if let Some(rate) = state.learning_rate {
            self.optimizer.use_learning_rate(rate)?;
        }
        if let (Some(scaler), Some(of_checkpoint)) = (&mut self.options.loss_scaler, state.scaler) {
            scaler.set_state(of_checkpoint);
        }
        if let (Some(rt), Some(drawn)) = (self.options.runtime, state.seeds_drawn) {
            rt.set_seeds_drawn(drawn);
        }
        Ok(state)
    }

    /// Writes a checkpoint. Waits for the parameters, and until the file is there, on all ranks.
    pub(super) fn save(&self, state: &mut State<T>, path: &Path) -> dahl::Result<()> {
        state.seeds_drawn = self.options.runtime.map(Runtime::seeds_drawn);
        state.scaler = self.options.loss_scaler.as_ref().map(LossScaler::state);
        let mut tensors = tensors(&*self.model, &self.optimizer)?;
        if let Some(values) = &state.seen.best_values {
            tensors.add_values(BEST, &*self.model, values)?;
        }
        if let Some(average) = &self.options.average {
            average.add_to(&mut tensors, &*self.model)?;
        }
        let callbacks: Vec<String> = self.options.callbacks.iter().map(|callback| callback.state()).collect();
        tensors.note(OF_TRAINER, state.text(&self.fixed(), &callbacks));
        if self.writes_files() {
            tensors.save(path)?;
        }
        self.meet()
    }

    /// Waits until all ranks are here: what one of them has written, the others find.
    fn meet(&self) -> dahl::Result<()> {
        if self.arena.ranks() > 1 {
            self.arena.zeros::<T, 0>([])?.read()?;
        }
        Ok(())
    }

    /// Whether this is the rank that writes files: one of all that compute the same.
    pub(super) fn writes_files(&self) -> bool {
        self.arena.rank() == 0
    }

    /// Removes checkpoints before this number of steps that are not kept.
    pub(super) fn prune(&self, steps: usize) -> dahl::Result<()> {
        if let Some(checkpoints) = self.options.checkpoints.as_ref().filter(|_| self.writes_files()) {
            checkpoints.prune(steps)?;
        }
        Ok(())
    }

    fn fixed(&self) -> Fixed {
        Fixed {
            samples: self.source.samples(),
            batch_size: self.options.batch_size,
            micro_batch_size: self.micro_batch_size,
            seed: self.options.seed,
            drop_last: self.options.drop_last,
            shards: self.shards().map(|shards| shards.count),
            scales_loss: self.options.loss_scaler.is_some(),
            averages: self.options.average.is_some(),
            replicas: self.stash.as_ref().and_then(|stash| stash.stages().replicated()),
        }
    }
}

/// Whether a path is that of a folder, which need not be there yet.
fn is_folder(path: &Path) -> bool {
    path.is_dir() || !path.exists() && path.extension().is_none_or(|extension| extension != "safetensors")
}
