//! [`Plain`]: what a pipeline computes, as a plain program on one runtime.

use std::num::NonZeroUsize;

use dahl::LEAF_LEN;
use dahl::prelude::*;
use dahl_nn::loader::Source;
use dahl_nn::prelude::*;

use crate::models::dense;

/// The stages of the dense network: layers 0 and 1, 2 and 3, 4.
pub(crate) const CUTS: [usize; 2] = [2, 4];
/// The stage of each parameter: a weight and a bias for each dense layer.
const STAGE_OF: [usize; 6] = [0, 0, 1, 1, 2, 2];

/// A training of the dense network in plain loops.
pub(crate) struct Plain {
    pub(crate) data: Synthetic,
    pub(crate) batch: usize,
    pub(crate) micro_batch: usize,
    /// The replicas of each stage.
    pub(crate) replicas: Vec<usize>,
}

type Values = Vec<Vec<f32>>;

impl Plain {
    /// The bits of the parameters after all batches. The gradient of batch `t` is by the parameters of stage `s` after
    /// `t - delay(s)` updates, and updates the latest ones.
    pub(crate) fn train(&self, rt: &Runtime, delay: impl Fn(usize) -> usize) -> dahl::Result<Vec<u64>> {
        let arena = rt.arena();
        let mut model = dense::<f32>(&arena)?;
        let mut optimizer = AdamW::new(1e-2);
        let mut history = vec![values(&model)?];
        for t in 0..self.data.len().div_ceil(self.batch) {
            let seen = STAGE_OF.iter().enumerate();
            let seen = seen.map(|(index, stage)| history[t.saturating_sub(delay(*stage))][index].clone());
            set(&mut model, &seen.collect())?;
            self.share_leaves(&mut model)?;
            let gradients = self.gradients(rt, &mut model, t)?;
            set(&mut model, &history[t])?;
            let mut gradients = gradients.iter();
            model.for_each_parameter(|_, parameter| {
                let gradient = gradients.next().expect("one for each");
                parameter.gradient.write()?.iter_mut().zip(gradient).for_each(|(old, new)| *old = *new);
                Ok(())
            })?;
            optimizer.step(&mut model)?;
            history.push(values(&model)?);
        }
        let last = history.pop().expect("the initial values");
        Ok(last.into_iter().flatten().map(|value| f64::from(value).to_bits()).collect())
    }

    /// As a trainer: contributions to small gradients have a leaf each if there are few.
    fn share_leaves(&self, model: &mut Sequential<'_, f32>) -> dahl::Result<()> {
        let are_few = self.batch.div_ceil(self.micro_batch) < LEAF_LEN.get();
        model.for_each_parameter(|_, parameter| {
            parameter.gradient.set_leaf_len(if are_few { NonZeroUsize::MIN } else { LEAF_LEN });
            Ok(())
        })
    }

    /// The gradients of batch `t`: those of each replica of a stage, added by a tree.
    fn gradients(&self, rt: &Runtime, model: &mut Sequential<'_, f32>, t: usize) -> dahl::Result<Values> {
        let samples = self.batch.min(self.data.len() - t * self.batch);
        let micro_batches = samples.div_ceil(self.micro_batch);
        let mut sums = vec![Vec::new(); STAGE_OF.len()];
        for (stage, replicas) in self.replicas.iter().enumerate() {
            let mut of_replicas = Vec::new();
            for replica in 0..(*replicas).min(micro_batches) {
                model.zero_gradients()?;
                for number in (replica..micro_batches).step_by(*replicas) {
                    self.accumulate(rt, model, t, number, samples)?;
                }
                of_replicas.push(gradients(model)?);
            }
            for (index, sum) in sums.iter_mut().enumerate().filter(|(index, _)| STAGE_OF[*index] == stage) {
                *sum = tree(&of_replicas.iter().map(|of| of[index].as_slice()).collect::<Vec<_>>());
            }
        }
        Ok(sums)
    }

    /// Adds the gradients of a micro-batch of batch `t`.
    fn accumulate(
        &self,
        rt: &Runtime,
        model: &mut Sequential<'_, f32>,
        t: usize,
        number: usize,
        samples: usize,
    ) -> dahl::Result<()> {
        let arena = rt.arena();
        let start = number * self.micro_batch;
        let of_batch = start..samples.min(start + self.micro_batch);
        let (indices, mut read): (Vec<_>, _) =
            (of_batch.map(|index| t * self.batch + index).collect(), Default::default());
        Source::<f32>::read(&self.data, &indices, 0, &mut read)?;
        let part = Source::<f32>::arrays(&self.data, &arena, &read)?;
        let step = Step::learning(rt);
        let output = model.forward(&step, &part.features)?;
        let loss = CrossEntropy.of(&step, &output, &part.labels, 1.0 / samples as f64)?;
        step.accumulate(&loss, model)
    }
}

/// `((0 + 1) + (2 + 3)) + ..`
fn tree(parts: &[&[f32]]) -> Vec<f32> {
    if let [one] = parts {
        return one.to_vec();
    }
    let (first, second) = parts.split_at(parts.len().next_power_of_two() / 2);
    tree(first).iter().zip(tree(second)).map(|(first, second)| first + second).collect()
}

fn values(model: &Sequential<'_, f32>) -> dahl::Result<Values> {
    model.parameters().map(|named| named.parameter().value.to_vec()).collect()
}

fn gradients(model: &mut Sequential<'_, f32>) -> dahl::Result<Values> {
    let mut gradients = Vec::new();
    model.for_each_parameter(|_, parameter| {
        gradients.push(parameter.gradient.to_vec()?);
        Ok(())
    })?;
    Ok(gradients)
}

fn set(model: &mut Sequential<'_, f32>, values: &Values) -> dahl::Result<()> {
    let mut values = values.iter();
    model.for_each_parameter(|_, parameter| {
        let value = values.next().expect("a value for each");
        parameter.value.write()?.iter_mut().zip(value).for_each(|(old, new)| *old = *new);
        Ok(())
    })
}
