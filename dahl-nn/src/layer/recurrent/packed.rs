//! [`Packed`]: sequences of several lengths in one array; [`Lengths`].

use dahl::ops;
use dahl::prelude::*;

use crate::step::Step;

/// The results of [`Recurrent::forward_packed`](super::Recurrent::forward_packed).
#[derive(Debug)]
pub struct Packed<'s, T: Real> {
    /// The outputs of the last layer, `[batch, tokens, width]`, or twice as wide in both directions; zero behind the end of a
    /// sequence.
    pub output: Array<'s, T, 3>,
    /// The states of each layer at the ends of the sequences, `[batch, width]` each; the first is the output. In both
    /// directions, those of a layer that goes from the end to the start, there, follow those of the layer that goes the
    /// other way, as in PyTorch.
    pub states: Vec<Vec<Matrix<'s, T>>>,
}

/// The lengths of the sequences of a batch, if they are given.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lengths<'l>(Option<&'l [usize]>);

impl<'l> Lengths<'l> {
    /// All sequences have all tokens.
    pub(super) fn whole() -> Self {
        Self(None)
    }

    /// These lengths, if they are those of sequences in `x`.
    #[track_caller]
    pub(super) fn of<T: Real>(x: &Array<'_, T, 3>, lengths: &'l [usize]) -> dahl::Result<Self> {
        let [batch, tokens, _] = x.shape();
        if lengths.len() != batch || lengths.iter().any(|length| !(1..=tokens).contains(length)) {
            let fact = format!("{lengths:?} are no lengths from 1 to {tokens} of {batch} sequences");
            return Err(dahl::Error::invalid_shape("recurrent layer", fact));
        }
        Ok(Self(Some(lengths)))
    }

    /// `[batch, 1]`: 1 for each sequence that has a token of this index; nothing if all have.
    #[track_caller]
    pub(super) fn mask<'s>(self, step: &'s Step<'_>, index: usize) -> dahl::Result<Option<Matrix<'s, u8>>> {
        let Some(lengths) = self.0.filter(|lengths| lengths.iter().any(|&length| length <= index)) else {
            return Ok(None);
        };
        let goes_on = lengths.iter().map(|&length| u8::from(index < length)).collect();
        step.detached().from_vec([lengths.len(), 1], goes_on).map(Some)
    }

    /// Sets what follows the ends of sequences to zero, as PyTorch's `pad_packed_sequence`.
    #[track_caller]
    pub(super) fn padded<'s, T: Real>(
        self,
        step: &'s Step<'_>,
        x: Array<'s, T, 3>,
    ) -> dahl::Result<Array<'s, T, 3>> {
        let [batch, tokens, _] = x.shape();
        let Some(lengths) = self.0.filter(|lengths| lengths.iter().any(|&length| length < tokens)) else {
            return Ok(x);
        };
        let inside = |at: usize| if at % tokens < lengths[at / tokens] { T::ONE } else { T::ZERO };
        let mask = step.detached().from_vec([batch, tokens, 1], (0..batch * tokens).map(inside).collect())?;
        ops::mul_init(step, &x, &mask)
    }
}
