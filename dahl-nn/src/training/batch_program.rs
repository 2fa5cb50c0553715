//! [`BatchProgram`]: the step of a trainer as a program, which is recorded once for each shape and replayed for each batch.

use std::marker::PhantomData;
use std::panic::Location;

use dahl::prelude::*;
use dahl::program::{Arguments, Bindings, Body, Program, ProgramScope as _, Slots};
use dahl::{Codelet, Recording};

use super::learning::{Learning, Share, learn_part, update};
use super::options::Options;
use crate::loader::Source;
use crate::metric_accumulator::MetricAccumulator;
use crate::module::{Module, bind_mut, name};
use crate::optimizer::Optimizer;
use crate::step::Step;

static BODY: Body = Body {
    codelet: Codelet::new("train_step", module_path!(), 0),
    parameters: &["model", "optimizer", "metrics", "batch"],
    draws: false,
};

/// The step of a trainer as a program.
#[derive(Debug)]
pub(super) struct BatchProgram {
    program: Program,
    /// Whether the function that computes the loss is called anew in each epoch.
    records_epochs: bool,
    /// Whether the arguments of a step are known to be arguments of programs.
    is_bound: bool,
}

/// The arguments of a step.
pub(super) struct Batch<'r, 'a, 's, T: Real, M, S: Source<T>, N, O> {
    pub(super) model: &'r mut M,
    pub(super) optimizer: &'r mut O,
    pub(super) learning: &'r N,
    pub(super) max_norm: Option<f64>,
    /// Samples of the batch.
    pub(super) samples: usize,
    pub(super) metrics: &'r mut MetricAccumulator<'a, T>,
    /// Its micro-batches, each with the number of its samples.
    pub(super) parts: &'r [(S::Part<'s>, usize)],
    pub(super) element: PhantomData<(T, S)>,
}

impl BatchProgram {
    /// The program on the runtime of an arena, or the reason why steps are submitted. Steps by a function of the user's are
    /// replayed only on demand, and are recorded anew in each epoch: what the function depends on besides may have changed. Each
    /// recording is made twice, so a function or a layer that submits something else in each step is noticed.
    ///
    /// With simulated devices, steps are submitted: a replay begins when the one before has ended, so no copy to or from a device
    /// would overlap with the tasks of another step.
    pub(super) fn new<T: Real, M>(
        arena: &Arena,
        options: &Options<'_, T, M>,
        by_function: bool,
    ) -> Result<Self, String> {
        if options.parallel.is_some() {
            return Err("`parallel` is set".to_owned());
        }
        if options.loss_scaler.is_some() {
            return Err("`loss_scaler` is set, which reads whether gradients are finite".to_owned());
        }
        if arena.ranks() > 1 {
            return Err("the runtime is one of several ranks".to_owned());
        }
        if !options.replays.unwrap_or(!by_function) {
            return Err(match options.replays {
                None => "the loss is computed by a function, and `replays(true)` is not set".to_owned(),
                Some(_) => "`replays(false)` is set".to_owned(),
            });
        }
        let has_devices = arena.worker_infos().iter().any(|worker| !worker.is_cpu());
        if has_devices && arena.is_simulated() {
            return Err("the runtime has simulated devices".to_owned());
        }
        let mut program = Program::beside(arena, &BODY);
        program.compare_recordings();
        Ok(Self { program, records_epochs: by_function, is_bound: false })
    }

    pub(super) fn begin_epoch(&mut self) {
        if self.records_epochs {
            self.program.forget();
        }
    }

    /// Submits a step, with the next random numbers of `step`. If it cannot be a program, nothing was submitted, and the
    /// result is the reason.
    ///
    /// # Errors
    /// Those of the step.
    pub(super) fn run<T, M, S, N, O>(
        &mut self,
        mut batch: Batch<'_, '_, '_, T, M, S, N, O>,
        step: &Step<'_>,
    ) -> dahl::Result<Result<(), String>>
    where
        T: Real,
        M: Module<T>,
        S: Source<T>,
        N: Learning<T, M, S>,
        O: Optimizer<T>,
    {
        self.is_bound = self.is_bound || batch.can_be_bound();
        if !self.is_bound {
            return Ok(Err("the optimizer or the source does not implement `bind`".to_owned()));
        }
        self.program.set_random(step.current_seed(), step.numbers_taken());
        let called = self
            .program
            .call::<_, ()>(&mut batch, Location::caller(), |batch, recording, _| batch.record(recording));
        match called {
            Ok(()) => {
                step.set_numbers_taken(step.numbers_taken().wrapping_add(self.program.drawn()));
                Ok(Ok(()))
            }
            // A value was read, or an array used that is no argument.
            Err(error) if matches!(error.code(), "D0026" | "D0027" | "D0028") => {
                batch.optimizer.refused();
                Ok(Err(error.to_string()))
            }
            Err(error) => Err(error),
        }
    }
}

impl<T, M, S, N, O> Batch<'_, '_, '_, T, M, S, N, O>
where
    T: Real,
    M: Module<T>,
    S: Source<T>,
    N: Learning<T, M, S>,
    O: Optimizer<T>,
{
    /// Whether optimizer and source let their arrays be arguments.
    fn can_be_bound(&mut self) -> bool {
        let mut bindings = Bindings::new();
        self.optimizer.bind(&mut bindings) && self.parts.iter().all(|(part, _)| S::bind(part, &mut bindings))
    }

    /// The step.
    fn record(&mut self, recording: &Recording<'_>) -> dahl::Result<()> {
        let mut step = Step::within(recording);
        self.model.zero_gradients()?;
        for (number, (part, samples)) in self.parts.iter().enumerate() {
            let share = Share { number, samples: *samples, of: self.samples };
            learn_part(self.learning, &step, self.model, part, share, self.metrics)?;
            step.forget();
        }
        update(self.model, self.optimizer, self.max_norm)
    }
}

impl<T, M, S, N, O> Arguments for Batch<'_, '_, '_, T, M, S, N, O>
where
    T: Real,
    M: Module<T>,
    S: Source<T>,
    O: Optimizer<T>,
{
    fn bind<'b>(&'b mut self, bindings: &mut Bindings<'b>) {
        bind_mut::<T, M>(self.model, bindings);
        self.optimizer.bind(bindings);
        bindings.write(&mut self.metrics.loss);
        bindings.write(&mut self.metrics.correct);
        bindings.value(self.samples);
        for (part, samples) in self.parts {
            bindings.value(*samples);
            S::bind(part, bindings);
        }
    }

    fn name(&self, parameters: &[&str], names: &mut Vec<String>) {
        name::<T, M>(self.model, parameters[0], names);
        for state in self.optimizer.states() {
            let arrays = state.array_names.iter();
            names.extend(arrays.map(|array| format!("{}.{}.{array}", parameters[1], state.name)));
        }
        names.extend(["loss", "correct"].map(|metric| format!("{}.{metric}", parameters[2])));
    }

    fn replayed(&mut self, slots: &Slots) {
        self.optimizer.replayed(slots);
    }
}
