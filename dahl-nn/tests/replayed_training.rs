//! Trainers that replay their steps: the same bits as trainers that submit each step, and steps that cannot be programs.

use std::cell::Cell;

use dahl::ops::{add_init, relu_init, scale_init};
use dahl::prelude::*;
use dahl::program::Numbers;
use dahl_nn::layer::{BatchNorm, Dropout, Linear};
use dahl_nn::loss::{ElementwiseLoss as _, Mse};
use dahl_nn::module::Init;
use dahl_nn::optimizer::{AdamW, Stateful, UpdateRule};
use dahl_nn::prelude::*;
use dahl_nn::schedule::Cosine;

#[derive(Module)]
struct Mlp<'m> {
    first: Linear<'m, f32>,
    norm: BatchNorm<'m, f32>,
    dropout: Dropout,
    second: Linear<'m, f32>,
}

impl<'m> Mlp<'m> {
    fn new(arena: &'m Arena) -> dahl::Result<Self> {
        let mut init = Init::new(arena, 7);
        Ok(Self {
            first: Linear::new(&mut init, 6, 16)?,
            norm: BatchNorm::new(&mut init, 16)?,
            dropout: Dropout::new(0.25),
            second: Linear::new(&mut init, 16, 6)?,
        })
    }

    fn output<'s>(&self, step: &'s Step<'_>, x: &Matrix<'_, f32>) -> dahl::Result<Matrix<'s, f32>> {
        let hidden = relu_init(step, &self.norm.forward(step, &self.first.forward(step, x)?)?)?;
        self.second.forward(step, &self.dropout.forward(step, &hidden)?)
    }
}

/// What a training leaves: the losses, the bits of parameters, and why steps were submitted.
#[derive(Debug)]
struct Trace {
    losses: Vec<u64>,
    bits: Vec<u32>,
    submitted: Option<String>,
}

impl Trace {
    /// Requires the same bits as those of another training, and this reason.
    fn require(&self, other: &Self, reason: Option<&str>) {
        assert_eq!((&self.losses, &self.bits), (&other.losses, &other.bits));
        let is_given = |reason: &str| self.submitted.as_ref().is_some_and(|text| text.contains(reason));
        assert!(reason.map_or(self.submitted.is_none(), is_given), "{:?}", self.submitted);
        assert_eq!(other.submitted.as_deref(), Some("`replays(false)` is set"));
    }
}

fn trace<M: Module<f32>>(history: &History, model: &M) -> dahl::Result<Trace> {
    let mut bits = Vec::new();
    for named in model.parameters() {
        bits.extend(named.parameter().value.to_vec()?.into_iter().map(f32::to_bits));
    }
    let losses = history.epochs.iter().map(|epoch| epoch.loss.to_bits()).collect();
    Ok(Trace { losses, bits, submitted: history.submitted.clone() })
}

/// Trains on 50 samples in batches of 16, of which the last one is shorter, with a schedule, clipping and dropout; the loss
/// is computed by `loss`.
fn train(
    workers: usize,
    micro_batch: usize,
    replays: bool,
    loss: impl for<'s> Fn(&'s Step<'_>, &Mlp<'_>, &Matrix<'_, f32>) -> dahl::Result<Scalar<'s, f32>>,
) -> dahl::Result<Trace> {
    let rt = Runtime::builder().cpu_workers(workers).build()?;
    let arena = rt.arena();
    let mut model = Mlp::new(&arena)?;
    let data = Synthetic::new(&[6], 2, 50, 1);
    let trainer = Trainer::of(&rt, &mut model, AdamW::new(1e-2)).batch_size(16).micro_batch_size(micro_batch);
    let trainer = trainer.schedule(Cosine::new(1e-2, 20)).clip_gradient_norm(1.0).epochs(3).replays(replays);
    let history = trainer.fit_with(&data, |step, model, part| loss(step, model, &part.features))?;
    trace(&history, &model)
}

#[test]
fn replayed_steps_leave_the_bits_of_submitted_ones() -> dahl::Result<()> {
    for (workers, micro_batch) in [(1, 16), (2, 8), (2, 4), (2, 2)] {
        let (calls, submitted_calls) = (Cell::new(0), Cell::new(0));
        let run = |replays: bool, calls: &Cell<usize>| {
            train(workers, micro_batch, replays, |step, model, x| {
                calls.set(calls.get() + 1);
                Mse.mean(step, &model.output(step, x)?, x)
            })
        };
        let (replayed, submitted) = (run(true, &calls)?, run(false, &submitted_calls)?);
        replayed.require(&submitted, (micro_batch == 2).then_some("more than 4 micro-batches"));
        // Three batches of 16 and one of 2 in each of three epochs. A batch of eight micro-batches is submitted.
        let parts = 16 / micro_batch;
        assert_eq!(submitted_calls.get(), 3 * (3 * parts + 1));
        // The first two batches of a shape are recorded in each epoch.
        let expected = if parts > 4 { 3 * (3 * parts + 1) } else { 3 * (2 * parts + 1) };
        assert_eq!(calls.get(), expected, "{workers} workers, micro-batches of {micro_batch}");
    }
    Ok(())
}

#[test]
fn what_a_function_looks_at_may_change_between_epochs() -> dahl::Result<()> {
    // An epoch has three whole batches, each of one micro-batch, and one that is shorter.
    let run = |replays: bool, calls_an_epoch: usize| {
        let calls = Cell::new(0);
        train(1, 16, replays, |step, model, x| {
            let factor = 1.0 + (calls.get() / calls_an_epoch) as f32;
            calls.set(calls.get() + 1);
            scale_init(step, &Mse.mean(step, &model.output(step, x)?, x)?, factor)
        })
    };
    run(true, 3)?.require(&run(false, 4)?, None);
    Ok(())
}

#[test]
fn a_function_that_submits_something_else_in_each_step_is_submitted() -> dahl::Result<()> {
    let run = |replays: bool| {
        let calls = Cell::new(0);
        train(1, 16, replays, |step, model, x| {
            calls.set(calls.get() + 1);
            // A warm-up by a counter of the caller's. The second recording of a refused step is called again.
            let factor = 1.0 / calls.get() as f32;
            scale_init(step, &Mse.mean(step, &model.output(step, x)?, x)?, factor)
        })
    };
    let reason = run(true)?.submitted;
    assert!(reason.as_ref().is_some_and(|reason| reason.contains("called twice")), "{reason:?}");
    Ok(())
}

#[test]
fn a_step_that_reads_a_value_is_submitted_each_time() -> dahl::Result<()> {
    let run = |replays: bool| {
        let losses = Cell::new(0);
        let trace = train(2, 16, replays, |step, model, x| {
            let loss = Mse.mean(step, &model.output(step, x)?, x)?;
            assert!(loss.to_vec()?[0].is_finite());
            losses.set(losses.get() + 1);
            Ok(loss)
        });
        trace.map(|trace| (trace, losses.get()))
    };
    let ((replayed, losses), (submitted, _)) = (run(true)?, run(false)?);
    replayed.require(&submitted, Some("D0026"));
    assert_eq!(losses, 3 * 4);
    Ok(())
}

#[test]
fn a_step_that_uses_an_array_of_its_own_is_submitted_each_time() -> dahl::Result<()> {
    let rt = Runtime::builder().cpu_workers(2).build()?;
    let noise = rt.from_vec([1, 6], vec![0.5_f32, -0.5, 0.25, 0.0, 1.0, -1.0])?;
    let run = |replays: bool| {
        let arena = rt.arena();
        let mut model = Mlp::new(&arena)?;
        let data = Synthetic::new(&[6], 2, 50, 1);
        let trainer = Trainer::of(&rt, &mut model, AdamW::new(1e-2)).batch_size(8).epochs(2).replays(replays);
        let history = trainer.fit_with(&data, |step, model, part| {
            let output = model.output(step, &part.features)?;
            Mse.mean(step, &add_init(step, &output, &noise)?, &part.features)
        })?;
        trace(&history, &model)
    };
    run(true)?.require(&run(false)?, Some("D0028"));
    Ok(())
}

/// Gradient descent whose rate depends on the step, and which announces other numbers than it uses.
#[derive(Clone, Copy, Debug)]
struct WrongNumbers(f64);

#[codelet(RW, R, check(value.len() == gradient.len()), cpu_only)]
fn shift<T: Real>(value: &mut [T], gradient: &[T], rate: f64) {
    for (value, gradient) in value.iter_mut().zip(gradient) {
        *value = T::from_f64(value.to_f64() - rate * gradient.to_f64());
    }
}

impl UpdateRule for WrongNumbers {
    const LEARNING_RATE: &'static str = "WrongNumbers: learning_rate";

    fn learning_rate(&mut self) -> &mut f64 {
        &mut self.0
    }

    fn state_names(&self) -> &'static [&'static str] {
        &[]
    }

    fn numbers(&self, _: u64, numbers: &mut Numbers<'_>) {
        numbers.push(7.0);
    }

    fn update<T: Real>(
        &self,
        step: u64,
        value: &mut Vector<'_, T>,
        gradient: &Vector<'_, T>,
        _: &mut [Vector<'static, T::Compute>],
    ) -> dahl::Result<()> {
        shift(value, gradient, self.0 / step as f64)
    }
}

#[test]
fn a_refused_recording_counts_no_step() -> dahl::Result<()> {
    let rt = Runtime::builder().cpu_workers(1).build()?;
    let run = |replays: bool| {
        let arena = rt.arena();
        let mut model = Mlp::new(&arena)?;
        let mut optimizer = Stateful::with_rule(WrongNumbers(0.1));
        let data = Synthetic::new(&[6], 2, 48, 1);
        let trainer = Trainer::of(&rt, &mut model, &mut optimizer).batch_size(16).replays(replays);
        let history = trainer.fit_with(&data, |step, model, part| {
            Mse.mean(step, &model.output(step, &part.features)?, &part.features)
        })?;
        assert!(optimizer.states().iter().all(|state| state.steps == 3), "{:?}", optimizer.states());
        trace(&history, &model)
    };
    run(true)?.require(&run(false)?, Some("has other plain arguments than were announced"));
    Ok(())
}
