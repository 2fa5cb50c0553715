//! [`ColumnLinear`] and [`RowLinear`]: fully connected layers whose weights several ranks share, and [`on_parts`], for what
//! is between them.
//!
//! Shoeybi et al. 2019, "Megatron-LM", [arXiv:1909.08053](https://arxiv.org/abs/1909.08053), section 3. Here the number of parts is
//! a setting, and part `i` of `n` is on rank `i * ranks / n`. So results depend on the number of parts, by rounding, and have the same
//! bits for any number of ranks.

use dahl::ops;
use dahl::prelude::*;

use super::Linear;
use crate::module::{Init, Module, Parameter, Visit, VisitMut};
use crate::setting;
use crate::step::Step;

/// The rank of a part.
fn rank_of(arena: &Arena, part: usize, parts: usize) -> usize {
    part * arena.ranks() / parts
}

/// Requires that all parts have the same number of features, and returns it.
#[track_caller]
fn features_of_part(setting: &'static str, features: usize, parts: usize) -> dahl::Result<usize> {
    let is_divided = features > 0 && parts > 0 && features.is_multiple_of(parts);
    setting::require(is_divided, setting, format!("{parts} of {features}"), "a divisor of the features")?;
    Ok(features / parts)
}

/// Gives a parameter to the rank of its part.
fn own<T: Real>(arena: &Arena, parameter: &Parameter<'_, T>, rank: usize) -> dahl::Result<()> {
    arena.set_owner(&parameter.value, rank)?;
    arena.set_owner(&parameter.gradient, rank)
}

/// Calls `f` with each part and its number, where the part is: activations between a [`ColumnLinear`] and a
/// [`RowLinear`], or attention of the heads of a part.
///
/// # Errors
/// That of `f`.
pub fn on_parts<'s, T: Real, const N: usize, const M: usize>(
    step: &'s Step<'_>,
    parts: &[Array<'_, T, N>],
    f: impl Fn(usize, &Array<'_, T, N>) -> dahl::Result<Array<'s, T, M>>,
) -> dahl::Result<Vec<Array<'s, T, M>>> {
    let arena = step.detached();
    let call = |(number, part)| arena.on_rank(rank_of(arena, number, parts.len()), || f(number, part));
    parts.iter().enumerate().map(call).collect()
}

/// A fully connected layer whose outputs are in parts, each with the weights of its outputs: `output[i] = input x
/// transposed(weight[i]) + bias[i]`. A layer of the projections of an attention has the queries, keys and values of some heads in each
/// part.
///
/// # Shapes
/// `input: [.., inputs]`; each output: `[.., outputs / parts]`.
///
/// ```
/// use dahl::ops::relu_init;
/// use dahl::prelude::*;
/// use dahl_nn::layer::{ColumnLinear, RowLinear, on_parts};
/// use dahl_nn::prelude::*;
///
/// # fn main() -> dahl::Result<()> {
/// let rt = Runtime::new()?; // or one of several ranks
/// let arena = rt.arena();
/// let mut init = Init::new(&arena, 42);
/// let first = ColumnLinear::<f32>::new(&mut init, 6, 16, 4)?;
/// let second = RowLinear::new(&mut init, 16, 6, 4)?;
/// let step = Step::evaluating(&rt);
/// let hidden = first.forward(&step, &rt.zeros([5, 6])?)?;
/// let hidden = on_parts(&step, &hidden, |_, part| relu_init(&step, part))?;
/// assert_eq!(second.forward(&step, &hidden)?.shape(), [5, 6]);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct ColumnLinear<'m, T: Real> {
    /// The layer of each part.
    pub parts: Vec<Linear<'m, T>>,
}

impl<'m, T: Real> ColumnLinear<'m, T> {
    /// A layer from `inputs` to `outputs` features in `parts` parts, drawn as a [`Linear`].
    ///
    /// # Errors
    /// If `parts` does not divide `outputs`; and those of [`Linear::new`].
    #[track_caller]
    pub fn new(init: &mut Init<'m>, inputs: usize, outputs: usize, parts: usize) -> dahl::Result<Self> {
        let outputs = features_of_part("ColumnLinear: parts", outputs, parts)?;
        let arena = init.arena();
        let mut layers = Vec::with_capacity(parts);
        for part in 0..parts {
            let (layer, rank) = (Linear::new(init, inputs, outputs)?, rank_of(arena, part, parts));
            own(arena, &layer.weight, rank)?;
            layer.bias.iter().try_for_each(|bias| own(arena, bias, rank))?;
            layers.push(layer);
        }
        Ok(Self { parts: layers })
    }

    /// Maps the last axis of `input`, to an output for each part.
    ///
    /// # Errors
    /// Those of [`Linear::forward`].
    #[track_caller]
    pub fn forward<'s, const N: usize>(
        &self,
        step: &'s Step<'_>,
        input: &Array<'_, T, N>,
    ) -> dahl::Result<Vec<Array<'s, T, N>>> {
        let (arena, count) = (step.detached(), self.parts.len());
        let mut outputs = Vec::with_capacity(count);
        for (number, part) in self.parts.iter().enumerate() {
            outputs.push(arena.on_rank(rank_of(arena, number, count), || part.forward(step, input))?);
        }
        Ok(outputs)
    }
}

/// A fully connected layer whose inputs are in parts, each with the weights of its inputs: `output = input[0] x
/// transposed(weight[0]) + input[1] x transposed(weight[1]) + .. + bias`. The products are added by a tree over the parts, as
/// [`tree_sum`](dahl::ops::tree_sum) does.
///
/// # Shapes
/// Each input: `[.., inputs / parts]`; `output: [.., outputs]`; `bias: [outputs]`.
#[derive(Debug)]
pub struct RowLinear<'m, T: Real> {
    /// The layer of each part, without a bias.
    pub parts: Vec<Linear<'m, T>>,
    /// `[outputs]`.
    pub bias: Parameter<'m, T>,
}

impl<'m, T: Real> RowLinear<'m, T> {
    /// A layer from `inputs` to `outputs` features in `parts` parts, drawn as a [`Linear`].
    ///
    /// # Errors
    /// If `parts` does not divide `inputs`; and those of [`Linear::new`].
    #[track_caller]
    pub fn new(init: &mut Init<'m>, inputs: usize, outputs: usize, parts: usize) -> dahl::Result<Self> {
        let of_part = features_of_part("RowLinear: parts", inputs, parts)?;
        let (arena, bound) = (init.arena(), 1.0 / (inputs as f64).sqrt());
        let mut layers = Vec::with_capacity(parts);
        for part in 0..parts {
            let layer = Linear::drawn_within(init, of_part, outputs, bound)?;
            own(arena, &layer.weight, rank_of(arena, part, parts))?;
            layers.push(layer);
        }
        let bias = init.uniform(&[outputs], bound)?;
        own(arena, &bias, 0)?;
        Ok(Self { parts: layers, bias })
    }

    /// Maps the last axis of the parts of an input, such as the output of a [`ColumnLinear`].
    ///
    /// # Errors
    /// If there are more or fewer inputs than parts of the layer, or none; and those of [`Linear::forward`].
    #[track_caller]
    pub fn forward<'s, const N: usize>(
        &self,
        step: &'s Step<'_>,
        inputs: &[Array<'_, T, N>],
    ) -> dahl::Result<Array<'s, T, N>> {
        let (arena, count) = (step.detached(), self.parts.len());
        if inputs.len() != count || count == 0 {
            let fact = format!(
                "there are {} inputs and {count} parts; a layer has at least one part, and an input for each",
                inputs.len()
            );
            return Err(dahl::Error::invalid_shape("RowLinear", fact));
        }
        let mut sums = Vec::with_capacity(count);
        for (number, (part, input)) in self.parts.iter().zip(inputs).enumerate() {
            let rank = rank_of(arena, number, count);
            sums.push((rank, arena.on_rank(rank, || part.forward(step, input))?));
        }
        while sums.len() > 1 {
            let (mut next, mut of_now) = (Vec::with_capacity(sums.len().div_ceil(2)), sums.into_iter());
            while let Some((rank, sum)) = of_now.next() {
                next.push(match of_now.next() {
                    Some((_, other)) => (rank, arena.on_rank(rank, || ops::add_init(step, &sum, &other))?),
                    None => (rank, sum),
                });
            }
            sums = next;
        }
        let (rank, sum) = sums.swap_remove(0);
        let (shape, outputs) = (sum.shape(), self.bias.len());
        let rows = sum.reshape([shape[..N - 1].iter().product(), outputs])?;
        arena.on_rank(rank, || ops::bias_init(step, &rows, &self.bias.value, 1))?.reshape(shape)
    }
}

impl<T: Real> Module<T> for ColumnLinear<'_, T> {
    fn visit<'a>(&'a self, visit: &mut Visit<'_, 'a, T>) {
        visit.module("ColumnLinear", format_args!("{} parts", self.parts.len()));
        visit.field("parts", &self.parts);
    }

    fn visit_mut(&mut self, visit: &mut VisitMut<'_, T>) {
        visit.field("parts", &mut self.parts);
    }
}

impl<T: Real> Module<T> for RowLinear<'_, T> {
    fn visit<'a>(&'a self, visit: &mut Visit<'_, 'a, T>) {
        visit.module("RowLinear", format_args!("{} parts", self.parts.len()));
        visit.field("parts", &self.parts);
        visit.field("bias", &self.bias);
    }

    fn visit_mut(&mut self, visit: &mut VisitMut<'_, T>) {
        visit.field("parts", &mut self.parts);
        visit.field("bias", &mut self.bias);
    }
}
