//! Finds the wrong elements of one input's gradient.

use std::ops::Range;

use super::difference::Difference;
use super::examine::{Examination, dot};
use super::{Failure, Input};
use crate::digits::Digits;
use dahl_core::print::Printed;

/// The most elements of an input that are examined one by one; larger inputs are halved, repeatedly.
const MOST_ELEMENTS: usize = 4096;

/// The elements of one input's gradient: by differences, and by backward.
pub(super) struct Elements {
    /// NaN if unknown.
    expected: Vec<f64>,
    got: Vec<f64>,
    /// By how much the error of each exceeds its bound.
    excess: Vec<f64>,
}

impl Elements {
    /// The results of backward, before any differences are known.
    pub(super) fn unknown(got: &[f64]) -> Self {
        let (expected, excess) = (vec![f64::NAN; got.len()], vec![f64::NEG_INFINITY; got.len()]);
        Self { expected, got: got.to_vec(), excess }
    }

    /// Sets the result of differences for element `i`, moved in units of `scale`.
    pub(super) fn set(&mut self, i: usize, difference: Difference, scale: f64, tolerance: f64) {
        let (expected, error) = (difference.value / scale, difference.error / scale);
        let off = (expected - self.got[i]).abs();
        let allowed = tolerance * expected.abs().max(self.got[i].abs()) + 10.0 * error;
        self.expected[i] = expected;
        self.excess[i] = if off.is_nan() { f64::INFINITY } else { off - allowed };
    }

    /// The largest excess over the bound.
    pub(super) fn worst_excess(&self) -> f64 {
        self.excess.iter().copied().fold(f64::NEG_INFINITY, f64::max)
    }

    /// Describes the errors, element by element.
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

/// The index of element number `i`, in row-major order.
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
    /// The gradient by one input, element by element, by differences and by backward.
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

    /// At most [`MOST_ELEMENTS`] of an input: repeatedly the half whose slope is more wrong.
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
