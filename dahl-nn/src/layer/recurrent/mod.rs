//! [`Recurrent`]: layers over sequences, with the cells [`RnnCell`], [`LstmCell`] and [`GruCell`].

mod cell;
mod packed;
mod weights;

use std::marker::PhantomData;

use dahl::ops;
use dahl::prelude::*;

use super::Dropout;
use crate::module::{Init, Module, Visit, VisitMut};
use crate::setting;
use crate::step::Step;

pub use cell::{GruCell, LstmCell, RecurrentCell, RnnCell};
pub use packed::Packed;

use packed::Lengths;
use weights::{Direction, Weights};

/// A recurrent network with hyperbolic tangents (Elman 1990); PyTorch's `RNN`.
pub type Rnn<'m, T> = Recurrent<'m, T, RnnCell>;
/// A long short-term memory (Hochreiter and Schmidhuber 1997); PyTorch's `LSTM`. States are the hidden one and the cell's.
pub type Lstm<'m, T> = Recurrent<'m, T, LstmCell>;
/// A gated recurrent unit (Cho et al. 2014); PyTorch's `GRU`.
pub type Gru<'m, T> = Recurrent<'m, T, GruCell>;

/// One or several recurrent layers over sequences: the outputs of a layer are the inputs of the next one.
///
/// Weights have PyTorch's names, `weight_ih_l0: [gates * width, inputs]`, `weight_hh_l0: [gates * width, width]`,
/// `bias_ih_l0` and `bias_hh_l0: [gates * width]`, if there are biases, and are drawn uniformly from `-1 / sqrt(width) .. 1 / sqrt(width)`. Those
/// that go from the end of a sequence to its start have the suffix `_reverse`.
///
/// # Shapes
/// `[batch, tokens, inputs]` to `[batch, tokens, width]`, or `[batch, tokens, 2 * width]` in both directions: batches come
/// first, as with PyTorch's `batch_first`.
#[derive(Debug)]
pub struct Recurrent<'m, T: Real, C: RecurrentCell> {
    /// Of each layer and, in it, of each direction.
    weights: Vec<Weights<'m, T>>,
    directions: &'static [Direction],
    width: usize,
    /// Between layers, if any.
    dropout: Option<Dropout>,
    cell: PhantomData<C>,
}

impl<'m, T: Real, C: RecurrentCell> Recurrent<'m, T, C> {
    /// `layers` layers of `width` features over tokens of `inputs` features.
    ///
    /// # Errors
    /// If a number is 0, or memory cannot be allocated.
    #[track_caller]
    pub fn new(init: &mut Init<'m>, inputs: usize, width: usize, layers: usize) -> dahl::Result<Self> {
        Self::of_directions(init, &[Direction::Forward], [inputs, width, layers])
    }

    /// As [`new`](Self::new), in both directions: each layer reads the tokens from the first to the last, and with other
    /// weights from the last to the first. Its outputs are those of the first direction, then those of the second
    /// (Schuster and Paliwal 1997, *Bidirectional recurrent neural networks*).
    ///
    /// ```
    /// use dahl::prelude::*;
    /// use dahl_nn::prelude::*;
    ///
    /// # fn main() -> dahl::Result<()> {
    /// let rt = Runtime::new()?;
    /// let arena = rt.arena();
    /// let lstm = Lstm::<f32>::bidirectional(&mut Init::new(&arena, 1), 3, 4, 2)?.dropout(0.1);
    /// let x = rt.zeros([2, 5, 3])?;
    /// let output = lstm.evaluate(&rt, |step, lstm| Ok(lstm.forward(step, &x)?.shape()))?;
    /// assert_eq!(output, [2, 5, 8]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`new`](Self::new).
    #[track_caller]
    pub fn bidirectional(
        init: &mut Init<'m>,
        inputs: usize,
        width: usize,
        layers: usize,
    ) -> dahl::Result<Self> {
        Self::of_directions(init, &[Direction::Forward, Direction::Reverse], [inputs, width, layers])
    }

    #[track_caller]
    fn of_directions(
        init: &mut Init<'m>,
        directions: &'static [Direction],
        [inputs, width, layers]: [usize; 3],
    ) -> dahl::Result<Self> {
        setting::require(inputs > 0, "recurrent layer: inputs", inputs, "a number from 1")?;
        setting::require(width > 0, "recurrent layer: width", width, "a number from 1")?;
        setting::require(layers > 0, "recurrent layer: layers", layers, "a number from 1")?;
        let mut weights = Vec::new();
        for layer in 0..layers {
            let inputs = if layer == 0 { inputs } else { directions.len() * width };
            for _ in directions {
                weights.push(Weights::new(init, inputs, width, C::GATES)?);
            }
        }
        Ok(Self { weights, directions, width, dropout: None, cell: PhantomData })
    }

    /// Takes the biases of all layers away, as PyTorch's `bias=False`.
    pub fn without_bias(mut self) -> Self {
        self.weights.iter_mut().for_each(Weights::remove_biases);
        self
    }

    /// Sets random outputs of each layer but the last to 0 in training, with this probability: at least 0, below 1. An
    /// invalid probability is an error of [`forward`](Self::forward).
    #[track_caller]
    pub fn dropout(mut self, probability: f64) -> Self {
        self.dropout = if probability == 0.0 { None } else { Some(Dropout::new(probability)) };
        self
    }

    /// The output of each token, from states of zero.
    ///
    /// # Errors
    /// If the tokens have another number of features, and those of the operations.
    #[track_caller]
    pub fn forward<'s>(&self, step: &'s Step<'_>, x: &Array<'_, T, 3>) -> dahl::Result<Array<'s, T, 3>> {
        Ok(self.run(step, x, Lengths::whole(), None)?.output)
    }

    /// As [`forward`](Self::forward), for sequences of these lengths in `x`: what follows their ends, finite numbers, has no effect.
    ///
    /// # Errors
    /// As [`forward`](Self::forward), and if a length is 0 or larger than the number of tokens.
    #[track_caller]
    pub fn forward_packed<'s>(
        &self,
        step: &'s Step<'_>,
        x: &Array<'_, T, 3>,
        lengths: &[usize],
    ) -> dahl::Result<Packed<'s, T>> {
        self.run(step, x, Lengths::of(x, lengths)?, None)
    }

    /// As [`forward_packed`](Self::forward_packed), from these states of each layer in place of zeros: for a sequence that
    /// goes on, those of [`Packed::states`], which have the same order. Gradients reach the states, unless they are of
    /// another step. The other direction begins with its states at the end of each sequence.
    ///
    /// ```
    /// use dahl::prelude::*;
    /// use dahl_nn::prelude::*;
    ///
    /// # fn main() -> dahl::Result<()> {
    /// let rt = Runtime::new()?;
    /// let arena = rt.arena();
    /// let gru = Gru::<f32>::new(&mut Init::new(&arena, 1), 3, 4, 2)?;
    /// let (first, second) = (rt.zeros([1, 5, 3])?, rt.zeros([1, 2, 3])?);
    /// let step = Step::evaluating(&rt);
    /// let states = gru.forward_packed(&step, &first, &[5])?.states;
    /// let output = gru.forward_from(&step, &second, &[2], &states)?.output;
    /// assert_eq!(output.shape(), [1, 2, 4]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`forward_packed`](Self::forward_packed), and if the states are not those of as many layers and sequences.
    #[track_caller]
    pub fn forward_from<'s>(
        &self,
        step: &'s Step<'_>,
        x: &Array<'_, T, 3>,
        lengths: &[usize],
        states: &[Vec<Matrix<'_, T>>],
    ) -> dahl::Result<Packed<'s, T>> {
        let (batch, layers) = (x.shape()[0], self.weights.len());
        let fits = |state: &Matrix<'_, T>| state.shape() == [batch, self.width];
        let of_layer = |states: &Vec<Matrix<'_, T>>| states.len() == C::STATES && states.iter().all(fits);
        if states.len() != layers || !states.iter().all(of_layer) {
            let shapes: Vec<Vec<_>> =
                states.iter().map(|states| states.iter().map(Array::shape).collect()).collect();
            let (count, width) = (C::STATES, self.width);
            let of = if self.directions.len() > 1 { "layers and directions" } else { "layers" };
            let fact = format!(
                "the states have the shapes {shapes:?}, but each of {layers} {of} needs {count} of [{batch}, {width}]"
            );
            return Err(dahl::Error::invalid_shape("recurrent layer", fact));
        }
        self.run(step, x, Lengths::of(x, lengths)?, Some(states))
    }

    #[track_caller]
    fn run<'s>(
        &self,
        step: &'s Step<'_>,
        x: &Array<'_, T, 3>,
        lengths: Lengths<'_>,
        first: Option<&[Vec<Matrix<'_, T>>]>,
    ) -> dahl::Result<Packed<'s, T>> {
        if x.shape()[1] == 0 {
            return Err(dahl::Error::invalid_shape("recurrent layer", "there are no tokens".to_owned()));
        }
        // Also if there is one layer, whose outputs are not dropped.
        self.dropout.iter().try_for_each(Dropout::check)?;
        let mut states = Vec::with_capacity(self.weights.len());
        let mut output: Option<Array<'s, T, 3>> = None;
        for weights in self.weights.chunks(self.directions.len()) {
            if let Some(dropout) = &self.dropout
                && let Some(layer) = output.take()
            {
                output = Some(dropout.forward_owned(step, layer)?);
            }
            let mut outputs = Vec::with_capacity(self.directions.len());
            for (weights, direction) in weights.iter().zip(self.directions) {
                let first = first.map(|first| first[states.len()].as_slice());
                let (of_direction, last) = match &output {
                    Some(output) => weights.run::<C>(step, output, lengths, first, *direction)?,
                    None => weights.run::<C>(step, x, lengths, first, *direction)?,
                };
                outputs.push(of_direction);
                states.push(last);
            }
            output = Some(match <[_; 1]>::try_from(outputs) {
                Ok([output]) => output,
                Err(outputs) => ops::concat_init(step, &outputs.iter().collect::<Vec<_>>(), 2)?,
            });
        }
        let output = output.expect("there is a layer");
        Ok(Packed { output, states })
    }
}

impl<T: Real, C: RecurrentCell> Module<T> for Recurrent<'_, T, C> {
    fn visit<'a>(&'a self, visit: &mut Visit<'_, 'a, T>) {
        let (inputs, directions) = (self.weights[0].inputs(), self.directions.len());
        let layers = self.weights.len() / directions;
        let both = if directions > 1 { ", both directions" } else { "" };
        visit.module(C::NAME, format_args!("{inputs} -> {}, {layers} layers{both}", self.width));
        for (index, weights) in self.weights.iter().enumerate() {
            let (layer, suffix) = (index / directions, self.directions[index % directions].suffix());
            for (name, parameter) in weights.named() {
                visit.field(format_args!("{name}_l{layer}{suffix}"), parameter);
            }
        }
    }

    fn visit_mut(&mut self, visit: &mut VisitMut<'_, T>) {
        let directions = self.directions;
        for (index, weights) in self.weights.iter_mut().enumerate() {
            let (layer, suffix) = (index / directions.len(), directions[index % directions.len()].suffix());
            for (name, parameter) in weights.named_mut() {
                visit.field(format_args!("{name}_l{layer}{suffix}"), parameter);
            }
        }
    }
}
