//! The settings of a [`Trainer`].

use std::panic::Location;
use std::path::PathBuf;

use dahl::prelude::*;

use super::callback::Callback;
use super::checkpoints::Checkpoints;
use super::early_stop::EarlyStop;
use super::monitor::Monitor;
use super::on_plateau::OnPlateau;
use super::order::Order;
use super::parallel::Parallel;
use super::records::Record;
use super::trainer::Trainer;
use crate::loader::Sampler;
use crate::optimizer::{LossScaler, WeightAverage};
use crate::schedule::{Plateau, Schedule};

impl<'t, T: Real, L, O, M> Trainer<'t, '_, T, L, O, M> {
    /// Sets the samples per update of the parameters. The last batch of an epoch may be shorter.
    #[track_caller]
    pub fn batch_size(mut self, samples: usize) -> Self {
        self.options.settings.require(samples > 0, "Trainer: batch_size", samples, "a number from 1");
        self.options.batch_size = samples;
        self
    }

    /// Sets how often every sample is seen.
    #[track_caller]
    pub fn epochs(mut self, epochs: usize) -> Self {
        self.options.settings.require(epochs > 0, "Trainer: epochs", epochs, "a number from 1");
        self.options.epochs = epochs;
        self
    }

    /// Sets the samples per task; the default of a [`Sequential`](crate::Sequential) depends only on the shapes, that of other modules is the
    /// batch. A small part saves activations, but not over ranks that divide a batch: there each submits all its parts before it waits.
    #[track_caller]
    pub fn micro_batch_size(mut self, samples: usize) -> Self {
        self.options.settings.require(samples > 0, "Trainer: micro_batch_size", samples, "a number from 1");
        self.options.micro_batch_size = Some(samples);
        self
    }

    /// Shuffles the samples before each epoch with the random numbers of `seed`, which also determines what dropout draws.
    /// The default, with seed 1.
    pub fn shuffle(mut self, seed: u64) -> Self {
        (self.options.order, self.options.seed) = (Order::Shuffled(seed), seed);
        self
    }

    /// Keeps the samples in their order.
    pub fn no_shuffle(mut self) -> Self {
        (self.options.order, self.options.seed) = (Order::OfSource, 0);
        self
    }

    /// Sets which samples an epoch has, and their order. What dropout draws does not depend on it.
    pub fn sampler(mut self, sampler: impl Sampler + 't) -> Self {
        self.options.order = Order::Sampled(Box::new(sampler));
        self
    }

    /// Sets the number of threads that read samples ahead. With 0, the default, the program's thread reads them: enough
    /// for samples that are in memory. Results do not depend on it.
    pub fn threads(mut self, threads: usize) -> Self {
        self.options.threads = threads;
        self
    }

    /// Sets whether steps are recorded as a program and replayed, with the bits of submitted ones. A step is submitted in any
    /// case if it reads a value, if it uses an array that belongs neither to the model nor to the optimizer nor to the
    /// batch, if the optimizer or the source cannot be bound, for batches of more than four micro-batches, with
    /// [`loss_scaler`](Self::loss_scaler), with [`parallel`](Self::parallel) or several ranks, and on simulated machines with devices.
    ///
    /// [`fit`](Self::fit) replays by default. It calls the layers and the loss of a [`Sequential`](crate::Sequential) once for
    /// each shape of a batch and for each change of their settings. It compares the
    /// recordings of the first two batches of each shape. Turn it off if a layer or a loss of your own uses a value that changes later
    /// and is not one of its bound settings: the value of the first step would be used for all.
    ///
    /// `fit_with` submits by default. With `replays(true)` the function that computes the loss is called for the first two
    /// batches of each shape in each epoch. If it submits the same tasks with the same arguments for both, these are
    /// replayed for the other batches; otherwise steps are submitted. So values that it captures may change between epochs, or
    /// with each batch. What the function does besides, such as drawing seeds of the runtime, happens only when it is called.
    pub fn replays(mut self, replays: bool) -> Self {
        self.options.replays = Some(replays);
        self
    }

    /// Leaves out the last batch of an epoch if it has fewer samples than the others. By default it is kept.
    pub fn drop_last(mut self, drop_last: bool) -> Self {
        self.options.drop_last = drop_last;
        self
    }

    /// Sets the learning rate of each step, from 0, to that of a schedule. The optimizer needs
    /// [`use_learning_rate`](crate::Optimizer::use_learning_rate).
    pub fn schedule(mut self, schedule: impl Schedule + 't) -> Self {
        self.options.schedule = Some(Box::new(schedule));
        self
    }

    /// Clips the norm of the gradients before each update, as [`clip_gradient_norm`](crate::optimizer::clip_gradient_norm).
    #[track_caller]
    pub fn clip_gradient_norm(mut self, max_norm: f64) -> Self {
        let expected = "a number from 0";
        self.options.settings.require(max_norm >= 0.0, "Trainer: max_norm", max_norm, expected);
        self.options.max_norm = Some(max_norm);
        self
    }

    /// Scales the loss before the reverse pass, and skips the steps whose gradients are not all finite: for models in half
    /// precision. [`History::skipped_steps`](super::History::skipped_steps) says which ones; a callback sees it after each
    /// step. Each step waits for its gradients, and is submitted, not replayed. A checkpoint has the scale. Not
    /// together with [`parallel`](Self::parallel).
    ///
    /// ```
    /// use dahl::prelude::*;
    /// use dahl_nn::prelude::*;
    ///
    /// # fn main() -> dahl::Result<()> {
    /// let rt = Runtime::new()?;
    /// let arena = rt.arena();
    /// let mut model = Sequential::<f16>::new(&arena, [4], 1).dense(2)?;
    /// let adamw = AdamW::new(1e-2).eps(1e-7).master_weights(true);
    /// let trainer = Trainer::new(&mut model, CrossEntropy, adamw).batch_size(8).epochs(20);
    /// let history = trainer.loss_scaler(LossScaler::new()).fit(&Synthetic::new(&[4], 2, 80, 1))?;
    /// println!("skipped: {:?}", history.skipped_steps);
    /// # assert_eq!(history.skipped_steps.first(), Some(&1));
    /// # Ok(())
    /// # }
    /// ```
    pub fn loss_scaler(mut self, scaler: LossScaler) -> Self {
        self.options.loss_scaler = Some(scaler);
        self
    }

    /// Updates an average of the parameters after each step, but for those that were skipped: see [`WeightAverage`], whose
    /// settings say which steps count. A checkpoint has the average: a training that goes on has the same bits. Not together
    /// with [`parallel`](Self::parallel).
    ///
    /// ```
    /// use dahl::prelude::*;
    /// use dahl_nn::prelude::*;
    ///
    /// # fn main() -> dahl::Result<()> {
    /// let rt = Runtime::new()?;
    /// let arena = rt.arena();
    /// let mut model = Sequential::<f32>::new(&arena, [4], 1).dense(2)?;
    /// let mut average = WeightAverage::exponential(0.99);
    /// let trainer = Trainer::new(&mut model, CrossEntropy, AdamW::new(1e-2)).batch_size(8).epochs(2);
    /// trainer.average(&mut average).fit(&Synthetic::new(&[4], 2, 80, 1))?;
    /// assert_eq!(average.updates(), 20);
    /// average.copy_to(&mut model)?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn average(mut self, average: &'t mut WeightAverage<T>) -> Self {
        self.options.average = Some(average);
        self
    }

    /// Computes each batch by several ranks, or as several ranks would: see [`Parallel`]. Steps are submitted, not replayed.
    #[track_caller]
    pub fn parallel(mut self, parallel: impl Into<Parallel>) -> Self {
        self.options.parallel = Some(parallel.into().set_at(Location::caller()));
        self
    }

    /// Shows a progress bar on the terminal.
    pub fn progress(mut self, progress: bool) -> Self {
        self.options.progress = progress;
        self
    }

    /// Says which runtime the model has. A checkpoint then holds how many seeds it has drawn.
    pub fn runtime(mut self, rt: &'t Runtime) -> Self {
        self.options.runtime = Some(rt);
        self
    }

    /// Calls `callback` at the end of each step and epoch, after those that were added before.
    pub fn callback(mut self, callback: impl Callback<M> + 't) -> Self {
        self.options.callbacks.push(Box::new(callback));
        self
    }

    /// Gives a result of each epoch to `plateau`, and sets the learning rate to what it returns. The optimizer needs
    /// [`use_learning_rate`](crate::Optimizer::use_learning_rate).
    #[track_caller]
    pub fn plateau(mut self, plateau: Plateau, monitor: Monitor) -> Self {
        self.options.monitors.push((monitor, Location::caller()));
        if let Err(error) = plateau.check_settings() {
            self.options.wrong.get_or_insert(error);
        }
        self.callback(OnPlateau { plateau, monitor })
    }

    /// Ends the training when a result no longer becomes better.
    #[track_caller]
    pub fn early_stop(mut self, early_stop: EarlyStop) -> Self {
        self.options.monitors.push((early_stop.monitor, Location::caller()));
        self.options.early_stop = Some(early_stop);
        self
    }

    /// Writes checkpoints, from which [`resume`](Self::resume) goes on.
    #[track_caller]
    pub fn checkpoints(mut self, checkpoints: Checkpoints) -> Self {
        self.options.monitors.extend(checkpoints.best.map(|monitor| (monitor, Location::caller())));
        self.options.checkpoints = Some(checkpoints);
        self
    }

    /// Goes on from a checkpoint: `path` is a file, or the folder of [`Checkpoints`], of which the one with the most steps is
    /// taken. If that folder has none, or is not there, the training begins.
    ///
    /// The program is the same as the one that was interrupted: model, optimizer, data set and settings, except for the
    /// number of epochs. Parameters, optimizer, place in the data, random numbers, learning rate, early stop, callbacks and
    /// history are those of the checkpoint. The training then computes the same bits as one that was not interrupted.
    pub fn resume(mut self, path: impl Into<PathBuf>) -> Self {
        self.options.resume = Some(path.into());
        self
    }

    /// Writes the history as CSV after each epoch, as [`History::to_csv`](super::History::to_csv).
    pub fn csv(mut self, path: impl Into<PathBuf>) -> Self {
        self.options.records.push(Record::Csv(path.into()));
        self
    }

    /// Writes the history as JSON lines after each epoch, as [`History::to_json_lines`](super::History::to_json_lines).
    pub fn json_lines(mut self, path: impl Into<PathBuf>) -> Self {
        self.options.records.push(Record::JsonLines(path.into()));
        self
    }

    /// Writes the results of each epoch to an event file for TensorBoard in `folder`. After a [`resume`](Self::resume) a
    /// new file goes on from the checkpoint, and TensorBoard forgets later epochs of the files before.
    pub fn tensorboard(mut self, folder: impl Into<PathBuf>) -> Self {
        self.options.records.push(Record::TensorBoard(folder.into()));
        self
    }
}
