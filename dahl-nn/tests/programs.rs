//! A training step as a program: the bits of a step that is submitted, for models, buffers and optimizers as arguments.

use dahl::ops::{mean_squared_error_init, relu_init, scale_init};
use dahl::prelude::*;
use dahl_nn::layer::{BatchNorm, Dropout, Linear};
use dahl_nn::module::Init;
use dahl_nn::optimizer::AdamW;
use dahl_nn::prelude::*;

#[derive(Module)]
struct Mlp<'m, T: Real> {
    first: Linear<'m, T>,
    norm: BatchNorm<'m, T>,
    dropout: Option<Dropout>,
    second: Linear<'m, T>,
}

impl<'m, T: Real> Mlp<'m, T> {
    fn new(arena: &'m Arena, dropout: bool) -> dahl::Result<Self> {
        let mut init = Init::new(arena, 7);
        Ok(Self {
            first: Linear::new(&mut init, 4, 16)?,
            norm: BatchNorm::new(&mut init, 16)?,
            dropout: dropout.then(|| Dropout::new(0.5)),
            second: Linear::new(&mut init, 16, 2)?,
        })
    }

    fn loss<'s>(
        &self,
        step: &'s Step<'_>,
        x: &Matrix<'_, T>,
        y: &Matrix<'_, T>,
    ) -> dahl::Result<Scalar<'s, T>> {
        let hidden = relu_init(step, &self.norm.forward(step, &self.first.forward(step, x)?)?)?;
        let hidden = match &self.dropout {
            Some(dropout) => dropout.forward(step, &hidden)?,
            None => hidden,
        };
        mean_squared_error_init(step, &self.second.forward(step, &hidden)?, y, 1.0 / 16.0)
    }
}

/// One step; the loss.
fn learn<'s, T: Real>(
    step: &'s Step<'_>,
    x: &Matrix<'_, T>,
    y: &Matrix<'_, T>,
    model: &mut Mlp<'_, T>,
    optimizer: &mut impl Optimizer<T>,
) -> dahl::Result<Scalar<'s, T>> {
    model.for_each_parameter(|_, parameter| parameter.gradient.invalidate())?;
    let loss = model.loss(step, x, y)?;
    step.accumulate(&loss, model)?;
    optimizer.step(model)?;
    scale_init(step, &loss, T::ONE)
}

#[program]
fn train_step<'s, T: Real>(
    step: &'s Step<'_>,
    x: &Matrix<'_, T>,
    y: &Matrix<'_, T>,
    model: &mut Mlp<'_, T>,
    sgd: &mut Sgd<T>,
) -> dahl::Result<Scalar<'s, T>> {
    learn(step, x, y, model, sgd)
}

#[program]
fn adam_step<'s, T: Real>(
    step: &'s Step<'_>,
    x: &Matrix<'_, T>,
    y: &Matrix<'_, T>,
    model: &mut Mlp<'_, T>,
    adam: &mut AdamW<T>,
) -> dahl::Result<Scalar<'s, T>> {
    learn(step, x, y, model, adam)
}

fn batch<T: Real>(rt: &Runtime, round: usize) -> dahl::Result<(Matrix<'static, T>, Matrix<'static, T>)> {
    let value = |i: usize| T::from_f64(((i * 31 + round * 17) % 23) as f64 / 11.0 - 1.0);
    Ok((
        rt.from_vec([8, 4], (0..32).map(value).collect())?,
        rt.from_vec([8, 2], (50..66).map(value).collect())?,
    ))
}

/// The bits of a model: parameters and buffers.
fn bits<T: Real>(model: &Mlp<'_, T>) -> dahl::Result<Vec<u64>> {
    let mut bits = Vec::new();
    for named in model.parameters() {
        bits.extend(named.parameter().value.to_vec()?.iter().map(|value| value.to_f64().to_bits()));
    }
    for buffer in [&model.norm.running_mean, &model.norm.running_var] {
        bits.extend(buffer.value().to_vec()?.iter().map(|value| value.to_f64().to_bits()));
    }
    Ok(bits)
}

fn check<T: Real>(momentum: f64, workers: usize) -> dahl::Result<()> {
    let rt = Runtime::builder().cpu_workers(workers).build()?;
    let arena = rt.arena();
    let (mut model, mut by_hand) = (Mlp::<T>::new(&arena, false)?, Mlp::<T>::new(&arena, false)?);
    let sgd = || Sgd::new(0.05).momentum(momentum).weight_decay(0.01);
    let (mut optimizer, mut other) = (sgd(), sgd());
    optimizer.prepare(&mut model)?;
    let mut program = TrainStep::new(&rt);
    for round in 0..6 {
        let (x, y) = batch(&rt, round)?;
        let loss = program.call(&x, &y, &mut model, &mut optimizer)?.to_vec()?;
        let step = Step::learning(&rt);
        let expected = learn(&step, &x, &y, &mut by_hand, &mut other)?.to_vec()?;
        assert_eq!(loss[0].to_f64().to_bits(), expected[0].to_f64().to_bits(), "round {round}");
        assert_eq!(bits(&model)?, bits(&by_hand)?, "round {round}");
    }
    assert_eq!((program.recordings(), program.replays()), (1, 5));
    let steps: Vec<_> = optimizer.states().iter().map(|state| state.steps).collect();
    assert_eq!(steps, other.states().iter().map(|state| state.steps).collect::<Vec<_>>());
    // A schedule's rate is a part of the recording.
    optimizer.set_learning_rate(0.01);
    let (x, y) = batch(&rt, 0)?;
    program.call(&x, &y, &mut model, &mut optimizer)?;
    assert_eq!(program.recordings(), 2);
    Ok(())
}

#[test]
fn training_steps_are_replayed_with_the_same_bits() -> dahl::Result<()> {
    check::<f32>(0.0, 1)?;
    check::<f32>(0.9, 2)?;
    check::<f64>(0.9, 2)
}

#[test]
fn an_optimizer_that_counts_its_steps_is_recorded_for_each() -> dahl::Result<()> {
    let rt = Runtime::builder().cpu_workers(1).build()?;
    let arena = rt.arena();
    let (mut model, mut by_hand) = (Mlp::<f32>::new(&arena, false)?, Mlp::<f32>::new(&arena, false)?);
    let (mut adam, mut other) = (AdamW::new(0.01), AdamW::new(0.01));
    adam.prepare(&mut model)?;
    let mut program = AdamStep::new(&rt);
    let (x, y) = batch(&rt, 1)?;
    for _ in 0..3 {
        program.call(&x, &y, &mut model, &mut adam)?;
        let step = Step::learning(&rt);
        learn(&step, &x, &y, &mut by_hand, &mut other)?;
    }
    assert_eq!(bits(&model)?, bits(&by_hand)?);
    assert_eq!((program.recordings(), program.replays()), (3, 0));
    Ok(())
}

#[test]
fn random_numbers_of_a_step_are_refused() -> dahl::Result<()> {
    let rt = Runtime::builder().cpu_workers(1).build()?;
    let arena = rt.arena();
    let mut model = Mlp::<f32>::new(&arena, true)?;
    let (x, y) = batch(&rt, 1)?;
    let error = TrainStep::new(&rt).call(&x, &y, &mut model, &mut Sgd::new(0.1)).expect_err("it drops");
    let text = error.to_string();
    assert!(
        text.contains("what draws random numbers of a step, such as dropout in training, cannot be replayed"),
        "{text}"
    );
    Ok(())
}
