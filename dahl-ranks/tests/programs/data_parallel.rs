//! A linear model trained by data parallel ranks has the same bits for any number of ranks.
//!
//! The batch is cut into as many shards for any number of ranks. The gradient of each shard is computed on one rank, and
//! the owner of the sum adds them up in the fixed tree of a reduction.

use dahl_core::__private::{Kernel, Parameter, Views};
use dahl_core::{AccessMode, Codelet, ElementType, Result, Runtime, Task};

use super::kernels::{V, sum};
use crate::launch::on_ranks;

const F32: ElementType = ElementType::of::<f32>();
const SHARDS: usize = 6;
const EXAMPLES: usize = 8;
const WEIGHTS: usize = 3;
const STEPS: usize = 20;

/// `out = d/dw sum (x w - y)^2` over the examples of a shard.
static GRADIENT: Codelet = Codelet::new("gradient", module_path!(), 1)
    .parameters(&[
        Parameter::new("x", AccessMode::R, F32),
        Parameter::new("y", AccessMode::R, F32),
        Parameter::new("w", AccessMode::R, F32),
        Parameter::new("out", AccessMode::W, F32),
    ])
    .kernels(&[Some(Kernel::new("rust", |views: &mut Views<'_>| {
        let (x, y, w) = (views.slice::<f32>(), views.slice::<f32>(), views.slice::<f32>());
        let out = views.slice_mut::<f32>();
        out.fill(0.0);
        for (x, y) in x.chunks(w.len()).zip(y) {
            let error = x.iter().zip(w).map(|(x, w)| x * w).sum::<f32>() - y;
            out.iter_mut().zip(x).for_each(|(out, x)| *out += 2.0 * error * x);
        }
    }))]);

/// `out = 0`
static ZERO: Codelet = Codelet::new("zero", module_path!(), 2)
    .parameters(&[Parameter::new("out", AccessMode::W, F32)])
    .kernels(&[Some(Kernel::new("rust", |views: &mut Views<'_>| views.slice_mut::<f32>().fill(0.0)))]);

/// `w -= 0.005 gradient`
static STEP: Codelet = Codelet::new("step", module_path!(), 3)
    .parameters(&[Parameter::new("gradient", AccessMode::R, F32), Parameter::new("w", AccessMode::RW, F32)])
    .kernels(&[Some(Kernel::new("rust", |views: &mut Views<'_>| {
        let (gradient, w) = (views.slice::<f32>(), views.slice_mut::<f32>());
        w.iter_mut().zip(gradient).for_each(|(w, gradient)| *w -= 0.005 * gradient);
    }))]);

/// The weights after each step.
fn train(rt: &Runtime) -> Result<Vec<Vec<f32>>> {
    let mut random = fastrand::Rng::with_seed(1);
    let mut shards: Vec<(V, V, V)> = Vec::new();
    for _ in 0..SHARDS {
        let x: Vec<f32> = (0..EXAMPLES * WEIGHTS).map(|_| random.f32() - 0.5).collect();
        let y = x.chunks(WEIGHTS).map(|x| x[0] * 2.0 - x[1] + x[2] * 0.5).collect();
        let gradient = rt.zeros([WEIGHTS])?;
        shards.push((rt.from_vec([EXAMPLES * WEIGHTS], x)?, rt.from_vec([EXAMPLES], y)?, gradient));
    }
    let (mut w, mut total): (V, V) = (rt.zeros([WEIGHTS])?, rt.zeros([WEIGHTS])?);
    let mut weights = Vec::new();
    for _ in 0..STEPS {
        let mut zero = Task::new(&ZERO);
        zero.write(&mut total);
        zero.submit()?;
        for (shard, (x, y, gradient)) in shards.iter_mut().enumerate() {
            let mut task = Task::new(&GRADIENT);
            task.read(x);
            task.read(y);
            task.read(&w);
            task.write(gradient);
            task.on_rank(shard % rt.ranks()).submit()?;
            sum(gradient, &mut total)?;
        }
        let mut step = Task::new(&STEP);
        step.read(&total);
        step.write(&mut w);
        step.submit()?;
        weights.push(w.to_vec()?);
    }
    Ok(weights)
}

pub(crate) fn a_model_has_the_same_bits_for_any_number_of_ranks() {
    let builder = || Runtime::builder().cpu_workers(1).cuda_devices(0);
    let alone = train(&builder().build().expect("a runtime")).expect("every call is right");
    let error = |w: &[f32]| w.iter().zip([2.0, -1.0, 0.5]).map(|(w, right)| (w - right).abs()).sum::<f32>();
    assert!(error(&alone[STEPS - 1]) < 0.9 * error(&alone[0]), "it learns: {alone:?}");
    for ranks in [1, 2, 3, 4, 7] {
        let Some(results) = on_ranks(ranks, ranks as u64, builder, train) else { continue };
        let results = results.expect("no rank fails");
        let bits = |weights: &[Vec<f32>]| weights.concat().iter().map(|w| w.to_bits()).collect::<Vec<_>>();
        assert!(results.iter().all(|result| bits(result) == bits(&alone)), "{ranks} ranks: {results:?}");
    }
}
