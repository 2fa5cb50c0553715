//! The elements of one input's gradient: which of them are wrong.

use std::ops::Range;

use super::difference::Difference;
use super::examine::{Examination, dot};
use super::{Failure, Input};
use crate::digits::Digits;
use dahl_core::print::Printed;

/// The most elements of an input that are looked at one by one; in a larger one, halves are, and halves of these.
const MOST_ELEMENTS: usize = 4096;

/// The elements of one input's gradient: from differences, and from backward.
pub(super) struct Elements {
    /// NaN where it is not known.
    expected: Vec<f64>,
    got: Vec<f64>,
    /// How far each is off more than it may be.
    excess: Vec<f64>,
}

impl Elements {
    /// What backward gives, before any differences are known.
    pub(super) fn unknown(got: &[f64]) -> Self {
        let (expected, excess) = (vec![f64::NAN; got.len()], vec![f64::NEG_INFINITY; got.len()]);
        Self { expected, got: got.to_vec(), excess }
    }

    /// Sets what differences give for element `i`, moved in units of `scale`.
    pub(super) fn set(&mut self, i: usize, difference: Difference, scale: f64, tolerance: f64) {
        let (expected, error) = (difference.value / scale, difference.error / scale);
        let off = (expected - self.got[i]).abs();
        let allowed = tolerance * expected.abs().max(self.got[i].abs()) + 10.0 * error;
        self.expected[i] = expected;
        self.excess[i] = if off.is_nan() { f64::INFINITY } else { off - allowed };
    }

    /// How much the worst element is off more than it may.
    pub(super) fn worst_excess(&self) -> f64 {
        self.excess.iter().copied().fold(f64::NEG_INFINITY, f64::max)
    }

    /// What is wrong, element by element.
    pub(super) fn describe(&self, input: &Input) -> String {
        let known = self.excess.iter().filter(|&&excess| excess > f64::NEG_INFINITY).count();
        let wrong = self.excess.iter().filter(|&&excess| excess > 0.0).count();
        let by_excess = |&a: &usize, &b: &usize| self.excess[a].total_cmp(&self.excess[b]);
        let Some(worst) = (0..self.got.len()).max_by(by_excess) else {
            return format!("`{}` has no elements", input.name);
        };
        let brief = |elements| Printed::from_slice(&input.shape, elements).brief().to_string();
        format!(
            "the worst element is {}{:?}; of {known} that were looked at {wrong} are wrong\n{}\n\
             the gradient by `{0}`, as differences give it, and as it is:\n{}\n{}",
            input.name,
            place(worst, &input.shape),
            Digits::new(self.expected[worst], self.got[worst]),
            brief(&self.expected),
            brief(&self.got),
        )
    }
}

/// The index of an element of which `i` come before, in row-major order.
pub(super) fn place(i: usize, shape: &[usize]) -> Vec<usize> {
    let mut rest = i;
    let mut place: Vec<usize> = shape
        .iter()
        .rev()
        .map(|&extent| {
            let index = rest % extent;
            rest /= extent;
            index
        })
        .collect();
    place.reverse();
    place
}

impl Examination<'_> {
    /// The gradient by one input, element by element, from differences and from backward.
    pub(super) fn elements(
        &self,
        input: usize,
        weights: &[f64],
        gradients: &[Vec<f64>],
    ) -> Result<Elements, Failure> {
        let len = self.inputs[input].len();
        let range = self.most_wrong_range(input, weights, gradients)?;
        let mut elements = Elements::unknown(&gradients[input]);
        let mut direction = vec![0.0; len];
        for i in range {
            direction[i] = self.scale(input);
            let difference =
                Difference::of(0.0, |step| self.weighted(weights, &[(input, &direction)], step))?;
            direction[i] = 0.0;
            elements.set(i, difference, self.scale(input), self.gradient.tolerance);
        }
        Ok(elements)
    }

    /// At most [`MOST_ELEMENTS`] of an input: of halves, again and again the one whose slope is more wrong.
    fn most_wrong_range(
        &self,
        input: usize,
        weights: &[f64],
        gradients: &[Vec<f64>],
    ) -> Result<Range<usize>, Failure> {
        let whole = self.direction(input, 0);
        let off = |range: &Range<usize>| -> Result<f64, Failure> {
            let mut direction = vec![0.0; whole.len()];
            direction[range.clone()].copy_from_slice(&whole[range.clone()]);
            let moves = [(input, &direction[..])];
            let difference = Difference::of(0.0, |step| self.weighted(weights, &moves, step))?;
            Ok((difference.value - dot(&gradients[input], &direction)).abs())
        };
        let mut range = 0..whole.len();
        while range.len() > MOST_ELEMENTS {
            let middle = range.start + range.len() / 2;
            let halves = [range.start..middle, middle..range.end];
            let (first, second) = (off(&halves[0])?, off(&halves[1])?);
            let [left, right] = halves;
            range = if second > first { right } else { left };
        }
        Ok(range)
    }
}
