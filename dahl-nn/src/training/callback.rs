//! [`Callback`]: code of the user's between the steps and epochs of a trainer.

use super::history::History;

/// Code that a trainer calls when a step or an epoch has ended.
///
/// ```
/// use dahl::prelude::*;
/// use dahl_nn::prelude::*;
///
/// /// Stops after so many steps.
/// struct Budget(usize);
///
/// impl<M> Callback<M> for Budget {
///     fn step_ended(&mut self, progress: &mut Progress<'_, M>) -> dahl::Result<()> {
///         if progress.steps() >= self.0 {
///             progress.stop();
///         }
///         Ok(())
///     }
/// }
///
/// # fn main() -> dahl::Result<()> {
/// let rt = Runtime::new()?;
/// let arena = rt.arena();
/// let mut model = Sequential::<f32>::new(&arena, [4], 1).dense(2)?;
/// let trainer = Trainer::new(&mut model, CrossEntropy, Sgd::new(0.1)).batch_size(8).epochs(100);
/// let history = trainer.callback(Budget(30)).fit(&Synthetic::new(&[4], 2, 80, 1))?;
/// assert_eq!(history.epochs.len(), 3);
/// # Ok(())
/// # }
/// ```
///
/// A callback with state of its own saves it in checkpoints by [`state`](Self::state).
pub trait Callback<M> {
    /// A step has ended: the tasks of a batch are submitted, and perhaps not all done.
    ///
    /// # Errors
    /// Any error ends the training.
    fn step_ended(&mut self, progress: &mut Progress<'_, M>) -> dahl::Result<()> {
        let _ = progress;
        Ok(())
    }

    /// An epoch has ended; its results are the last ones of the history.
    ///
    /// # Errors
    /// Any error ends the training.
    fn epoch_ended(&mut self, progress: &mut Progress<'_, M>) -> dahl::Result<()> {
        let _ = progress;
        Ok(())
    }

    /// Its state, as text for a checkpoint. The default is empty.
    fn state(&self) -> String {
        String::new()
    }

    /// Takes the state that a checkpoint has. The default ignores it.
    ///
    /// # Errors
    /// If the state is not one of this callback.
    fn set_state(&mut self, state: &str) -> dahl::Result<()> {
        let _ = state;
        Ok(())
    }
}

/// A callback that its owner keeps.
impl<M, C: Callback<M> + ?Sized> Callback<M> for &mut C {
    fn step_ended(&mut self, progress: &mut Progress<'_, M>) -> dahl::Result<()> {
        (**self).step_ended(progress)
    }

    fn epoch_ended(&mut self, progress: &mut Progress<'_, M>) -> dahl::Result<()> {
        (**self).epoch_ended(progress)
    }

    fn state(&self) -> String {
        (**self).state()
    }

    fn set_state(&mut self, state: &str) -> dahl::Result<()> {
        (**self).set_state(state)
    }
}

/// How far a training is, and what a callback asks of it.
#[derive(Debug)]
pub struct Progress<'p, M> {
    pub(super) model: &'p M,
    pub(super) history: &'p History,
    pub(super) epoch: usize,
    pub(super) steps: usize,
    pub(super) stops: bool,
    pub(super) learning_rate: Option<f64>,
}

impl<M> Progress<'_, M> {
    /// The model.
    pub fn model(&self) -> &M {
        self.model
    }

    /// The results of the epochs that have ended.
    pub fn history(&self) -> &History {
        self.history
    }

    /// The number of the epoch that has ended, or that the step belongs to, from 1.
    pub fn epoch(&self) -> usize {
        self.epoch
    }

    /// The steps that have ended, in all epochs.
    pub fn steps(&self) -> usize {
        self.steps
    }

    /// Ends the training: after a step, its epoch ends with it.
    pub fn stop(&mut self) {
        self.stops = true;
    }

    /// Sets the learning rate from the next step on; a trainer with a schedule sets that of the schedule in each step.
    pub fn set_learning_rate(&mut self, rate: f64) {
        self.learning_rate = Some(rate);
    }
}
