//! [`Recurrent`]: layers over sequences, with the cells [`RnnCell`], [`LstmCell`] and [`GruCell`].

use std::marker::PhantomData;

use dahl::ops::{self, Transposed};
use dahl::prelude::*;

use crate::module::{Init, Module, Parameter, Visit, VisitMut};
use crate::setting;
use crate::step::Step;

/// A recurrent network with hyperbolic tangents (Elman 1990); PyTorch's `RNN`.
pub type Rnn<'m, T> = Recurrent<'m, T, RnnCell>;
/// A long short-term memory (Hochreiter and Schmidhuber 1997); PyTorch's `LSTM`. States are the hidden one and the cell's.
pub type Lstm<'m, T> = Recurrent<'m, T, LstmCell>;
/// A gated recurrent unit (Cho et al. 2014); PyTorch's `GRU`.
pub type Gru<'m, T> = Recurrent<'m, T, GruCell>;

mod sealed {
    /// Implemented by the cells of this crate.
    pub trait Sealed {}
    impl Sealed for super::RnnCell {}
    impl Sealed for super::LstmCell {}
    impl Sealed for super::GruCell {}
}

/// What a recurrent layer computes of a token.
pub trait RecurrentCell: sealed::Sealed {
    /// The type's name in tables.
    const NAME: &'static str;
    /// The gates, each as wide as the state.
    const GATES: usize;
    /// The states; the first is the output.
    const STATES: usize;

    /// The next states, from the sums that the input and the state add to the gates, `[batch, gates * width]`.
    ///
    /// # Errors
    /// Those of the operations.
    fn next<'s, T: Real>(
        step: &'s Step<'_>,
        input: &Matrix<'_, T>,
        hidden: &Matrix<'_, T>,
        states: &[Matrix<'s, T>],
    ) -> dahl::Result<Vec<Matrix<'s, T>>>;
}

/// `tanh(input + hidden)`.
#[derive(Clone, Copy, Debug)]
pub enum RnnCell {}

/// [`dahl::ops::lstm_cell`].
#[derive(Clone, Copy, Debug)]
pub enum LstmCell {}

/// [`dahl::ops::gru_cell`].
#[derive(Clone, Copy, Debug)]
pub enum GruCell {}

impl RecurrentCell for RnnCell {
    const NAME: &'static str = "Rnn";
    const GATES: usize = 1;
    const STATES: usize = 1;

    fn next<'s, T: Real>(
        step: &'s Step<'_>,
        input: &Matrix<'_, T>,
        hidden: &Matrix<'_, T>,
        _: &[Matrix<'s, T>],
    ) -> dahl::Result<Vec<Matrix<'s, T>>> {
        Ok(vec![ops::tanh_init(step, &ops::add_init(step, input, hidden)?)?])
    }
}

impl RecurrentCell for LstmCell {
    const NAME: &'static str = "Lstm";
    const GATES: usize = 4;
    const STATES: usize = 2;

    fn next<'s, T: Real>(
        step: &'s Step<'_>,
        input: &Matrix<'_, T>,
        hidden: &Matrix<'_, T>,
        states: &[Matrix<'s, T>],
    ) -> dahl::Result<Vec<Matrix<'s, T>>> {
        let gates = ops::add_init(step, input, hidden)?;
        let (hidden, cell) = ops::lstm_cell_init(step, &gates, &states[1])?;
        Ok(vec![hidden, cell])
    }
}

impl RecurrentCell for GruCell {
    const NAME: &'static str = "Gru";
    const GATES: usize = 3;
    const STATES: usize = 1;

    fn next<'s, T: Real>(
        step: &'s Step<'_>,
        input: &Matrix<'_, T>,
        hidden: &Matrix<'_, T>,
        states: &[Matrix<'s, T>],
    ) -> dahl::Result<Vec<Matrix<'s, T>>> {
        Ok(vec![ops::gru_cell_init(step, input, hidden, &states[0])?])
    }
}

/// One or several recurrent layers over sequences: the outputs of a layer are the inputs of the next one.
///
/// Weights have PyTorch's names, `weight_ih_l0: [gates * width, inputs]`, `weight_hh_l0: [gates * width, width]`,
/// `bias_ih_l0` and `bias_hh_l0: [gates * width]`, and are drawn uniformly from `-1 / sqrt(width) .. 1 / sqrt(width)`.
///
/// # Shapes
/// `[batch, tokens, inputs]` to `[batch, tokens, width]`: batches come first, as with PyTorch's `batch_first`.
#[derive(Debug)]
pub struct Recurrent<'m, T: Real, C: RecurrentCell> {
    layers: Vec<Weights<'m, T>>,
    width: usize,
    cell: PhantomData<C>,
}

/// The weights of one layer.
#[derive(Debug)]
struct Weights<'m, T: Real> {
    input: Parameter<'m, T>,
    hidden: Parameter<'m, T>,
    input_bias: Parameter<'m, T>,
    hidden_bias: Parameter<'m, T>,
}

/// The results of [`Recurrent::forward_packed`].
#[derive(Debug)]
pub struct Packed<'s, T: Real> {
    /// The outputs of the last layer, `[batch, tokens, width]`; zero behind the end of a sequence.
    pub output: Array<'s, T, 3>,
    /// The states of each layer at the ends of the sequences, `[batch, width]` each; the first is the output.
    pub states: Vec<Vec<Matrix<'s, T>>>,
}

impl<'m, T: Real, C: RecurrentCell> Recurrent<'m, T, C> {
    /// `layers` layers of `width` features over tokens of `inputs` features.
    ///
    /// # Errors
    /// If a number is 0, or memory cannot be allocated.
    #[track_caller]
    pub fn new(init: &mut Init<'m>, inputs: usize, width: usize, layers: usize) -> dahl::Result<Self> {
        setting::require(inputs > 0, "recurrent layer: inputs", inputs, "a number from 1")?;
        setting::require(width > 0, "recurrent layer: width", width, "a number from 1")?;
        setting::require(layers > 0, "recurrent layer: layers", layers, "a number from 1")?;
        let (bound, rows) = (1.0 / (width as f64).sqrt(), C::GATES.saturating_mul(width));
        let mut weights = Vec::new();
        for index in 0..layers {
            let inputs = if index == 0 { inputs } else { width };
            weights.push(Weights {
                input: init.uniform(&[rows, inputs], bound)?,
                hidden: init.uniform(&[rows, width], bound)?,
                input_bias: init.uniform(&[rows], bound)?,
                hidden_bias: init.uniform(&[rows], bound)?,
            });
        }
        Ok(Self { layers: weights, width, cell: PhantomData })
    }

    /// The output of each token, from states of zero.
    ///
    /// # Errors
    /// If the tokens have another number of features, and those of the operations.
    #[track_caller]
    pub fn forward<'s>(&self, step: &'s Step<'_>, x: &Array<'_, T, 3>) -> dahl::Result<Array<'s, T, 3>> {
        Ok(self.run(step, x, None, None)?.output)
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
        self.require_lengths(x, lengths)?;
        self.run(step, x, Some(lengths), None)
    }

    /// As [`forward_packed`](Self::forward_packed), from these states of each layer in place of zeros: for a sequence that
    /// goes on, those of [`Packed::states`]. Gradients reach the states, unless they are of another step.
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
        let (batch, layers) = (x.shape()[0], self.layers.len());
        let fits = |state: &Matrix<'_, T>| state.shape() == [batch, self.width];
        let of_layer = |states: &Vec<Matrix<'_, T>>| states.len() == C::STATES && states.iter().all(fits);
        if states.len() != layers || !states.iter().all(of_layer) {
            let shapes: Vec<Vec<_>> =
                states.iter().map(|states| states.iter().map(Array::shape).collect()).collect();
            let (count, width) = (C::STATES, self.width);
            let fact = format!(
                "the states have the shapes {shapes:?}, but each of {layers} layers needs {count} of [{batch}, {width}]"
            );
            return Err(dahl::Error::invalid_shape("recurrent layer", fact));
        }
        self.require_lengths(x, lengths)?;
        self.run(step, x, Some(lengths), Some(states))
    }

    #[track_caller]
    fn require_lengths(&self, x: &Array<'_, T, 3>, lengths: &[usize]) -> dahl::Result<()> {
        let [batch, tokens, _] = x.shape();
        if lengths.len() != batch || lengths.iter().any(|length| !(1..=tokens).contains(length)) {
            let fact = format!("{lengths:?} are no lengths from 1 to {tokens} of {batch} sequences");
            return Err(dahl::Error::invalid_shape("recurrent layer", fact));
        }
        Ok(())
    }

    #[track_caller]
    fn run<'s>(
        &self,
        step: &'s Step<'_>,
        x: &Array<'_, T, 3>,
        lengths: Option<&[usize]>,
        first: Option<&[Vec<Matrix<'_, T>>]>,
    ) -> dahl::Result<Packed<'s, T>> {
        let [batch, tokens, _] = x.shape();
        if tokens == 0 {
            return Err(dahl::Error::invalid_shape("recurrent layer", "there are no tokens".to_owned()));
        }
        let mut last_states = Vec::with_capacity(self.layers.len());
        let mut output: Option<Array<'s, T, 3>> = None;
        for (layer, weights) in self.layers.iter().enumerate() {
            let gates = match &output {
                Some(output) => weights.input_gates(step, output)?,
                None => weights.input_gates(step, x)?,
            };
            let rows = gates.shape()[2];
            let mut states = Vec::with_capacity(C::STATES);
            for index in 0..C::STATES {
                states.push(match first {
                    Some(first) => ops::copy_init(step, &first[layer][index])?,
                    None => step.detached().zeros([batch, self.width])?,
                });
            }
            let mut outputs: Vec<Array<'s, T, 3>> = Vec::with_capacity(tokens);
            for (index, gates) in ops::split_init(step, &gates, 1, &vec![1; tokens])?.into_iter().enumerate()
            {
                let gates = gates.reshape([batch, rows])?;
                let hidden = weights.hidden_gates(step, &states[0])?;
                let mut next = C::next(step, &gates, &hidden, &states)?;
                if let Some(mask) = mask(step, lengths, index)? {
                    for (next, state) in next.iter_mut().zip(&states) {
                        *next = ops::select_init(step, &mask, next, state)?;
                    }
                }
                outputs.push(ops::copy_init(step, &next[0])?.reshape([batch, 1, self.width])?);
                states = next;
            }
            let joined = ops::concat_init(step, &outputs.iter().collect::<Vec<_>>(), 1)?;
            output = Some(padded(step, lengths, joined)?);
            last_states.push(states);
        }
        let output = output.expect("there is a layer");
        Ok(Packed { output, states: last_states })
    }
}

impl<T: Real> Weights<'_, T> {
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
        ops::bias_init(step, &product, &self.input_bias.value, 1)?.reshape([batch, tokens, rows])
    }

    /// The sums that the state adds to the gates: `[batch, gates * width]`.
    #[track_caller]
    fn hidden_gates<'s>(&self, step: &'s Step<'_>, hidden: &Matrix<'_, T>) -> dahl::Result<Matrix<'s, T>> {
        let weight = self.hidden.value.reshaped([self.hidden.shape[0], self.hidden.shape[1]])?;
        let product = ops::matmul_transposed_init(step, hidden, &*weight, Transposed::RIGHT)?;
        ops::bias_init(step, &product, &self.hidden_bias.value, 1)
    }
}

/// `[batch, 1]`: 1 for each sequence that has a token of this index; nothing if all have.
#[track_caller]
fn mask<'s>(
    step: &'s Step<'_>,
    lengths: Option<&[usize]>,
    index: usize,
) -> dahl::Result<Option<Matrix<'s, u8>>> {
    let Some(lengths) = lengths.filter(|lengths| lengths.iter().any(|&length| length <= index)) else {
        return Ok(None);
    };
    let goes_on = lengths.iter().map(|&length| u8::from(index < length)).collect();
    step.detached().from_vec([lengths.len(), 1], goes_on).map(Some)
}

/// Sets what follows the ends of sequences to zero, as PyTorch's `pad_packed_sequence`.
#[track_caller]
fn padded<'s, T: Real>(
    step: &'s Step<'_>,
    lengths: Option<&[usize]>,
    x: Array<'s, T, 3>,
) -> dahl::Result<Array<'s, T, 3>> {
    let [batch, tokens, _] = x.shape();
    let Some(lengths) = lengths.filter(|lengths| lengths.iter().any(|&length| length < tokens)) else {
        return Ok(x);
    };
    let inside = |at: usize| if at % tokens < lengths[at / tokens] { T::ONE } else { T::ZERO };
    let mask = step.detached().from_vec([batch, tokens, 1], (0..batch * tokens).map(inside).collect())?;
    ops::mul_init(step, &x, &mask)
}

impl<T: Real, C: RecurrentCell> Module<T> for Recurrent<'_, T, C> {
    fn visit<'a>(&'a self, visit: &mut Visit<'_, 'a, T>) {
        let inputs = self.layers[0].input.shape[1];
        visit.module(C::NAME, format_args!("{inputs} -> {}, {} layers", self.width, self.layers.len()));
        for (index, weights) in self.layers.iter().enumerate() {
            visit.field(format_args!("weight_ih_l{index}"), &weights.input);
            visit.field(format_args!("weight_hh_l{index}"), &weights.hidden);
            visit.field(format_args!("bias_ih_l{index}"), &weights.input_bias);
            visit.field(format_args!("bias_hh_l{index}"), &weights.hidden_bias);
        }
    }

    fn visit_mut(&mut self, visit: &mut VisitMut<'_, T>) {
        for (index, weights) in self.layers.iter_mut().enumerate() {
            visit.field(format_args!("weight_ih_l{index}"), &mut weights.input);
            visit.field(format_args!("weight_hh_l{index}"), &mut weights.hidden);
            visit.field(format_args!("bias_ih_l{index}"), &mut weights.input_bias);
            visit.field(format_args!("bias_hh_l{index}"), &mut weights.hidden_bias);
        }
    }
}
