//! [`Ctc`]: connectionist temporal classification.

use dahl::ops::{self, CtcOptions};
use dahl::prelude::*;

use crate::step::Step;

/// Minus the logarithm of the probability that the output spells the target, over all alignments of the two; PyTorch's
/// `CTCLoss` (Graves, Fernández, Gomez and Schmidhuber 2006, *Connectionist Temporal Classification*).
///
/// A path takes one class at each step; it spells what is left when repetitions are joined and blanks are dropped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ctc {
    /// The class that spells nothing; 0 by default.
    pub blank: u32,
    /// Whether an output that is too short for its target has the loss 0 and no gradient; otherwise its loss is
    /// infinite.
    pub zero_infinity: bool,
}

/// The targets of a batch of sequences, and the lengths of both sides.
#[derive(Clone, Copy, Debug)]
pub struct CtcTargets<'a> {
    /// The classes to spell, padded at the end: `[batch, longest]`.
    pub targets: &'a Matrix<'a, u32>,
    /// The steps of each output that count: `[batch]`.
    pub input_lengths: &'a Vector<'a, u32>,
    /// The targets of each sequence that count: `[batch]`.
    pub target_lengths: &'a Vector<'a, u32>,
}

impl Ctc {
    /// The loss of each sequence, PyTorch's `reduction="none"`.
    ///
    /// # Shapes
    /// `output: [steps, batch, classes]`, logarithms of probabilities, as from a log-softmax; the result: `[batch]`.
    ///
    /// # Errors
    /// Those of the operation. A length beyond its array, and a target that is no class, fail the task.
    #[track_caller]
    pub fn each<'s, T: Real>(
        &self,
        step: &'s Step<'_>,
        output: &Array<'_, T, 3>,
        target: CtcTargets<'_>,
    ) -> dahl::Result<Vector<'s, T>> {
        self.losses(step, output, target, false)
    }

    /// The sum over all sequences, PyTorch's `reduction="sum"`. Shapes and errors as for [`each`](Self::each).
    #[track_caller]
    pub fn sum<'s, T: Real>(
        &self,
        step: &'s Step<'_>,
        output: &Array<'_, T, 3>,
        target: CtcTargets<'_>,
    ) -> dahl::Result<Scalar<'s, T>> {
        ops::sum_init(step, &self.each(step, output, target)?)
    }

    /// The mean over all sequences of the loss divided by the length of the target (by 1 if that is 0), PyTorch's
    /// default. Shapes and errors as for [`each`](Self::each).
    #[track_caller]
    pub fn mean<'s, T: Real>(
        &self,
        step: &'s Step<'_>,
        output: &Array<'_, T, 3>,
        target: CtcTargets<'_>,
    ) -> dahl::Result<Scalar<'s, T>> {
        ops::mean_init(step, &self.losses(step, output, target, true)?)
    }

    #[track_caller]
    fn losses<'s, T: Real>(
        &self,
        step: &'s Step<'_>,
        output: &Array<'_, T, 3>,
        target: CtcTargets<'_>,
        per_target: bool,
    ) -> dahl::Result<Vector<'s, T>> {
        let CtcTargets { targets, input_lengths, target_lengths } = target;
        let options = CtcOptions { blank: self.blank, zero_infinity: self.zero_infinity, per_target };
        ops::ctc_init(step, output, targets, input_lengths, target_lengths, options)
    }
}
