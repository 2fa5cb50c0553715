//! [`Weights`]: one layer in one [`Direction`].

use dahl::ops::{self, Transposed};
use dahl::prelude::*;

use super::RecurrentCell;
use super::packed::Lengths;
use crate::module::{Init, Parameter};
use crate::step::Step;

/// Which way a layer reads the tokens.
#[derive(Clone, Copy, Debug)]
pub(super) enum Direction {
    /// From the first to the last.
    Forward,
    /// From the last to the first.
    Reverse,
}

impl Direction {
    /// What PyTorch appends to the names of its parameters.
    pub(super) fn suffix(self) -> &'static str {
        match self {
            Self::Forward => "",
            Self::Reverse => "_reverse",
        }
    }
}

/// The weights of one layer in one direction.
#[derive(Debug)]
pub(super) struct Weights<'m, T: Real> {
    input: Parameter<'m, T>,
    hidden: Parameter<'m, T>,
    /// Of the input and of the state, if there are any.
    biases: Option<[Parameter<'m, T>; 2]>,
}

impl<'m, T: Real> Weights<'m, T> {
    /// Weights of so many gates, each as wide as the state.
    #[track_caller]
    pub(super) fn new(init: &mut Init<'m>, inputs: usize, width: usize, gates: usize) -> dahl::Result<Self> {
        let (bound, rows) = (1.0 / (width as f64).sqrt(), gates.saturating_mul(width));
        Ok(Self {
            input: init.uniform(&[rows, inputs], bound)?,
            hidden: init.uniform(&[rows, width], bound)?,
            biases: Some([init.uniform(&[rows], bound)?, init.uniform(&[rows], bound)?]),
        })
    }

    /// Takes the biases away.
    pub(super) fn remove_biases(&mut self) {
        self.biases = None;
    }

    /// The features of a token.
    pub(super) fn inputs(&self) -> usize {
        self.input.shape[1]
    }

    /// The parameters, with the starts of their names.
    pub(super) fn named(&self) -> impl Iterator<Item = (&'static str, &Parameter<'m, T>)> {
        let weights = [("weight_ih", &self.input), ("weight_hh", &self.hidden)];
        let biases = self.biases.iter().flat_map(|[input, hidden]| [("bias_ih", input), ("bias_hh", hidden)]);
        weights.into_iter().chain(biases)
    }

    /// As [`named`](Self::named).
    pub(super) fn named_mut(&mut self) -> impl Iterator<Item = (&'static str, &mut Parameter<'m, T>)> {
        let weights = [("weight_ih", &mut self.input), ("weight_hh", &mut self.hidden)];
        let biases =
            self.biases.iter_mut().flat_map(|[input, hidden]| [("bias_ih", input), ("bias_hh", hidden)]);
        weights.into_iter().chain(biases)
    }

    /// The outputs of all tokens, `[batch, tokens, width]`, and the last states, from states of zero if none are given.
    ///
    /// In reverse, a sequence that ends before the others keeps its first states until its last token.
    #[track_caller]
    pub(super) fn run<'s, C: RecurrentCell>(
        &self,
        step: &'s Step<'_>,
        x: &Array<'_, T, 3>,
        lengths: Lengths<'_>,
        first: Option<&[Matrix<'_, T>]>,
        direction: Direction,
    ) -> dahl::Result<(Array<'s, T, 3>, Vec<Matrix<'s, T>>)> {
        let gates = self.input_gates(step, x)?;
        let [batch, tokens, rows] = gates.shape();
        let width = self.hidden.shape[1];
        let mut states = Vec::with_capacity(C::STATES);
        for index in 0..C::STATES {
            states.push(match first {
                Some(first) => ops::copy_init(step, &first[index])?,
                None => step.detached().zeros([batch, width])?,
            });
        }
        let mut gates: Vec<_> =
            ops::split_init(step, &gates, 1, &vec![1; tokens])?.into_iter().enumerate().collect();
        if let Direction::Reverse = direction {
            gates.reverse();
        }
        let mut outputs: Vec<Array<'s, T, 3>> = Vec::with_capacity(tokens);
        for (index, gates) in gates {
            let gates = gates.reshape([batch, rows])?;
            let hidden = self.hidden_gates(step, &states[0])?;
            let mut next = C::next(step, &gates, &hidden, &states)?;
            if let Some(mask) = lengths.mask(step, index)? {
                for (next, state) in next.iter_mut().zip(&states) {
                    *next = ops::select_init(step, &mask, next, state)?;
                }
            }
            outputs.push(ops::copy_init(step, &next[0])?.reshape([batch, 1, width])?);
            states = next;
        }
        if let Direction::Reverse = direction {
            outputs.reverse();
        }
        let joined = ops::concat_init(step, &outputs.iter().collect::<Vec<_>>(), 1)?;
        Ok((lengths.padded(step, joined)?, states))
    }

    /// The sums that the inputs of all tokens add to the gates: `[batch, tokens, gates * width]`.
    #[track_caller]
    fn input_gates<'s>(&self, step: &'s Step<'_>, x: &Array<'_, T, 3>) -> dahl::Result<Array<'s, T, 3>> {
        let ([batch, tokens, inputs], [rows, columns]) =
            (x.shape(), [self.input.shape[0], self.input.shape[1]]);
        if inputs != columns {
            let fact = format!("tokens have {inputs} features, but the layer is for {columns}");
            return Err(dahl::Error::invalid_shape("recurrent layer", fact));
        }
        let weight = self.input.value.reshaped([rows, columns])?;
        let x = x.reshaped([batch * tokens, inputs])?;
        let product = ops::matmul_transposed_init(step, &*x, &*weight, Transposed::RIGHT)?;
        let Some([bias, _]) = &self.biases else { return product.reshape([batch, tokens, rows]) };
        ops::bias_init(step, &product, &bias.value, 1)?.reshape([batch, tokens, rows])
    }

    /// The sums that the state adds to the gates: `[batch, gates * width]`.
    #[track_caller]
    fn hidden_gates<'s>(&self, step: &'s Step<'_>, hidden: &Matrix<'_, T>) -> dahl::Result<Matrix<'s, T>> {
        let weight = self.hidden.value.reshaped([self.hidden.shape[0], self.hidden.shape[1]])?;
        let product = ops::matmul_transposed_init(step, hidden, &*weight, Transposed::RIGHT)?;
        let Some([_, bias]) = &self.biases else { return Ok(product) };
        ops::bias_init(step, &product, &bias.value, 1)
    }
}
