//! What is wrong with a gradient, as a text that says which input and which element.

use std::fmt;

use super::Input;
use super::difference::Difference;
use crate::print::Printed;
use crate::testing::digits::Digits;

/// What a gradient is checked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Check {
    /// Forward and backward run without an error.
    Runs,
    /// Backward gives a gradient for each input, of as many elements.
    Shapes,
    /// Forward and backward give the same bits again.
    Repeats,
    /// The gradient of a weighted sum of the output, by one input in one direction, is what differences of forward give.
    Directions,
    /// The adjoint identity `<J v, w> = <v, J' w>`, for all inputs at once; `J v` from differences of forward.
    Adjoint,
    /// The adjoint identity to machine precision: forward is linear in each input, or a tangent is given.
    Exact,
    /// Twice the gradient of the output gives twice the gradients of the inputs, to the bit.
    Scales,
    /// There are directions in which the function is smooth.
    Smooth,
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Check::Runs => "it does not run",
            Check::Shapes => "gradients of other shapes",
            Check::Repeats => "not the same bits again",
            Check::Directions => "wrong by differences",
            Check::Adjoint => "not the adjoint",
            Check::Exact => "not the adjoint of a linear function",
            Check::Scales => "not proportional to the gradient of the output",
            Check::Smooth => "a kink in every direction",
        })
    }
}

/// A gradient that is wrong.
#[derive(Clone, PartialEq, Eq)]
pub struct Failure {
    pub(super) subject: String,
    pub(super) check: Check,
    pub(super) input: Option<String>,
    pub(super) seed: u64,
    pub(super) text: String,
}

impl Failure {
    /// Which check found it.
    pub fn check(&self) -> Check {
        self.check
    }

    /// The input whose gradient is wrong, if it is known.
    pub fn input(&self) -> Option<&str> {
        self.input.as_deref()
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { subject, check, input, seed, text } = self;
        write!(f, "gradient of {subject}: {check}")?;
        if let Some(input) = input {
            write!(f, ", by the input `{input}`")?;
        }
        write!(f, " (seed {seed})\n{text}")
    }
}

/// The text, so that `unwrap` shows it as it is meant.
impl fmt::Debug for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\n{self}")
    }
}

impl std::error::Error for Failure {}

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
