//! A training step as a program: the bits of a step that is submitted, for models, buffers and optimizers as arguments.

use dahl::ops::{dropout_init, mean_squared_error_init, relu_init, scale_init};
use dahl::prelude::*;
use dahl::program::Numbers;
use dahl_nn::layer::{BatchNorm, Dropout, Linear};
use dahl_nn::module::Init;
use dahl_nn::optimizer::{Adadelta, Adagrad, Adam, AdamW, Lamb, Lion, RmsProp, Stateful, UpdateRule};
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
fn any_step<'s, T: Real, R: UpdateRule>(
    step: &'s Step<'_>,
    x: &Matrix<'_, T>,
    y: &Matrix<'_, T>,
    model: &mut Mlp<'_, T>,
    optimizer: &mut Stateful<T, R>,
) -> dahl::Result<Scalar<'s, T>> {
    learn(step, x, y, model, optimizer)
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
    Ok(())
}

#[test]
fn training_steps_are_replayed_with_the_same_bits() -> dahl::Result<()> {
    check::<f32>(0.0, 1)?;
    check::<f32>(0.9, 2)?;
    check::<f64>(0.9, 2)
}

/// Steps by an optimizer, with another learning rate in each, in a program and submitted: the recordings of the program.
fn check_rule<T: Real, R: UpdateRule>(
    optimizer: impl Fn() -> Stateful<T, R>,
    dropout: bool,
) -> dahl::Result<u64> {
    let runtime = || Runtime::builder().cpu_workers(2).rand_seed(3).build();
    let (rt, other_rt) = (runtime()?, runtime()?);
    let (arena, other_arena) = (rt.arena(), other_rt.arena());
    let (mut model, mut by_hand) = (Mlp::<T>::new(&arena, dropout)?, Mlp::<T>::new(&other_arena, dropout)?);
    let (mut optimizer, mut other) = (optimizer(), optimizer());
    optimizer.prepare(&mut model)?;
    let mut program = AnyStep::new(&rt);
    for round in 0..5 {
        let rate = 0.01 / (1 + round) as f64;
        optimizer.set_learning_rate(rate);
        other.set_learning_rate(rate);
        let (x, y) = batch(&rt, round)?;
        let loss = program.call(&x, &y, &mut model, &mut optimizer)?.to_vec()?;
        let (x, y) = batch(&other_rt, round)?;
        let step = Step::learning(&other_rt);
        let expected = learn(&step, &x, &y, &mut by_hand, &mut other)?.to_vec()?;
        assert_eq!(loss, expected, "round {round} of {optimizer:?}");
        assert_eq!(bits(&model)?, bits(&by_hand)?, "round {round} of {optimizer:?}");
        let steps = |optimizer: &Stateful<T, R>| -> Vec<u64> {
            optimizer.states().iter().map(|state| state.steps).collect()
        };
        assert_eq!(steps(&optimizer), steps(&other));
    }
    assert_eq!(program.recordings() + program.replays(), 5);
    Ok(program.recordings())
}

#[test]
fn steps_and_rates_of_optimizers_need_no_other_recording() -> dahl::Result<()> {
    assert_eq!(check_rule::<f32, _>(|| Sgd::new(0.1).weight_decay(0.1), false)?, 1);
    assert_eq!(check_rule::<f32, _>(|| Sgd::new(0.1).momentum(0.9).nesterov(), false)?, 1);
    assert_eq!(check_rule::<f32, _>(|| Adam::new(0.1).weight_decay(0.1), false)?, 1);
    assert_eq!(check_rule::<f32, _>(|| AdamW::new(0.1).amsgrad(), false)?, 1);
    assert_eq!(check_rule::<f32, _>(|| Lamb::new(0.1), false)?, 1);
    assert_eq!(check_rule::<f32, _>(|| Lion::new(0.1), false)?, 1);
    assert_eq!(check_rule::<f32, _>(|| RmsProp::new(0.1), false)?, 1);
    assert_eq!(check_rule::<f32, _>(|| RmsProp::new(0.1).centered().momentum(0.9), false)?, 1);
    assert_eq!(check_rule::<f32, _>(|| Adagrad::new(0.1).lr_decay(0.1), false)?, 1);
    assert_eq!(check_rule::<f32, _>(|| Adadelta::new(1.0), false)?, 1);
    let mastered = || Lion::<bf16>::new(0.1).master_weights(true);
    assert_eq!(check_rule::<bf16, _>(mastered, false)?, 1);
    let mastered = || Sgd::<f16>::new(0.1).momentum(0.9).master_weights(true);
    assert_eq!(check_rule::<f16, _>(mastered, false)?, 1);
    let mastered = || AdamW::<bf16>::new(0.1).master_weights(true);
    assert_eq!(check_rule::<bf16, _>(mastered, false)?, 1);
    let grouped = || AdamW::new(0.1).group(|name| name.ends_with("bias"), |group| group.learning_rate(0.5));
    assert_eq!(check_rule::<f32, _>(grouped, false)?, 1);
    Ok(())
}

#[test]
fn dropout_draws_the_numbers_of_the_runtimes_next_seed_in_each_replay() -> dahl::Result<()> {
    assert_eq!(check_rule::<f32, _>(|| Sgd::new(0.1), true)?, 1);
    assert_eq!(check_rule::<f32, _>(|| AdamW::new(0.1), true)?, 1);
    let rt = Runtime::builder().cpu_workers(1).build()?;
    let arena = rt.arena();
    let mut model = Mlp::<f32>::new(&arena, true)?;
    let (x, y) = batch(&rt, 1)?;
    let mut program = AnyStep::new(&rt);
    let mut stands = Sgd::new(0.0);
    stands.prepare(&mut model)?;
    let losses: Vec<_> = (0..4)
        .map(|_| program.call(&x, &y, &mut model, &mut stands)?.to_vec())
        .collect::<dahl::Result<_>>()?;
    assert!((1..4).all(|call| losses[call] != losses[0]), "the same elements were dropped: {losses:?}");
    assert_eq!(program.replays(), 3);
    Ok(())
}

#[test]
fn an_optimizer_that_was_not_prepared_is_recorded_with_its_settings() -> dahl::Result<()> {
    let rt = Runtime::builder().cpu_workers(1).build()?;
    let arena = rt.arena();
    let (x, y) = batch(&rt, 1)?;
    let mut program = AnyStep::new(&rt);
    for rate in [0.1, 0.2, 0.3] {
        let (mut model, mut by_hand) = (Mlp::<f32>::new(&arena, false)?, Mlp::<f32>::new(&arena, false)?);
        let (mut optimizer, mut other) = (Sgd::new(rate), Sgd::new(rate));
        for _ in 0..3 {
            program.call(&x, &y, &mut model, &mut optimizer)?;
            learn(&Step::learning(&rt), &x, &y, &mut by_hand, &mut other)?;
        }
        assert_eq!(bits(&model)?, bits(&by_hand)?, "rate {rate}");
    }
    // The first call of each is recorded with its rate; those after it are recorded once.
    assert_eq!((program.recordings(), program.replays()), (4, 5));
    Ok(())
}

#[codelet(RW, R, check(value.len() == gradient.len()), cpu_only)]
fn descend<T: Real>(value: &mut [T], gradient: &[T], rate: f64, least: f64) {
    for (value, gradient) in value.iter_mut().zip(gradient) {
        *value = T::from_f64((value.to_f64() - rate * gradient.to_f64()).max(least));
    }
}

/// Gradient descent by a rule of the test's own, which announces `ANNOUNCED` of its two numbers.
#[derive(Clone, Copy, Debug)]
struct OwnRule<const ANNOUNCED: usize>(f64);

impl<const ANNOUNCED: usize> UpdateRule for OwnRule<ANNOUNCED> {
    const LEARNING_RATE: &'static str = "OwnRule: learning_rate";

    fn learning_rate(&mut self) -> &mut f64 {
        &mut self.0
    }

    fn state_names(&self) -> &'static [&'static str] {
        &[]
    }

    fn numbers(&self, _: u64, numbers: &mut Numbers<'_>) {
        [self.0, -9.0, 7.0].into_iter().take(ANNOUNCED).for_each(|number| numbers.push(number));
    }

    fn update<T: Real>(
        &self,
        _: u64,
        value: &mut Vector<'_, T>,
        gradient: &Vector<'_, T>,
        _: &mut [Vector<'static, T::Compute>],
    ) -> dahl::Result<()> {
        descend(value, gradient, self.0, -9.0)
    }
}

#[test]
fn a_rule_that_announces_no_numbers_is_recorded_for_each_step() -> dahl::Result<()> {
    assert_eq!(check_rule::<f32, _>(|| Stateful::with_rule(OwnRule::<0>(0.1)), false)?, 5);
    assert_eq!(check_rule::<f32, _>(|| Stateful::with_rule(OwnRule::<2>(0.1)), false)?, 1);
    Ok(())
}

#[test]
fn numbers_that_are_not_those_of_the_tasks_are_refused() {
    for (announced, expected) in [
        (
            check_rule::<f32, _>(|| Stateful::with_rule(OwnRule::<1>(0.1)), false),
            "has other plain arguments than were announced",
        ),
        (
            check_rule::<f32, _>(|| Stateful::with_rule(OwnRule::<3>(0.1)), false),
            "are more than the arguments of the tasks",
        ),
    ] {
        let text = announced.expect_err("the numbers are wrong").to_string();
        assert!(text.contains(expected), "{text}");
    }
}

#[program]
fn draws<'s>(step: &'s Step<'_>, x: &Vector<'_, f32>, changes: u64) -> dahl::Result<Vector<'s, f32>> {
    let mut numbers = step.numbers(x.len());
    numbers.seed ^= changes;
    dropout_init(step, x, 0.5, numbers.skip(2))
}

#[test]
fn a_seed_that_is_computed_from_a_steps_is_refused() -> dahl::Result<()> {
    let rt = Runtime::builder().cpu_workers(1).build()?;
    let x = rt.from_vec([64], vec![1.0_f32; 64])?;
    let mut program = Draws::new(&rt);
    let error = program.call(&x, 1).expect_err("the seed is another one");
    assert!(error.to_string().contains("no task of the program gets them as they were drawn"), "{error}");
    // Numbers may be skipped.
    let (first, second) = (program.call(&x, 0)?.to_vec()?, program.call(&x, 0)?.to_vec()?);
    assert_ne!(first, second);
    Ok(())
}
