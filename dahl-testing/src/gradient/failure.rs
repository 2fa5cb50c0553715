//! An error in a gradient, as a text that names the input and the element.

use std::fmt;

/// A check of a gradient.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Check {
    /// Forward and backward run without an error.
    Runs,
    /// Backward returns a gradient for each input, with as many elements.
    Shapes,
    /// Backward returns finite numbers.
    Finite,
    /// Repeated calls of forward and backward give the same bits.
    Repeats,
    /// The gradient of a weighted sum of the output, by one input in one direction, agrees with differences of forward.
    Directions,
    /// The adjoint identity `<J v, w> = <v, J' w>`, for all inputs together; `J v` by differences of forward.
    Adjoint,
    /// The adjoint identity to machine precision: forward is linear in each input, or a tangent is given.
    Exact,
    /// Twice the gradient of the output gives exactly twice the gradients of the inputs.
    Scales,
    /// The gradient in an element type is within the bound of its rounding.
    Rounding,
    /// Derived maps give the same bits for strided parts of arrays.
    Strided,
    /// There are directions in which the function is smooth.
    Smooth,
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Check::Runs => "it does not run",
            Check::Shapes => "gradients of other shapes",
            Check::Finite => "gradients that are no numbers",
            Check::Repeats => "not the same bits again",
            Check::Directions => "wrong by differences",
            Check::Adjoint => "not the adjoint",
            Check::Exact => "not the adjoint of a linear function",
            Check::Scales => "not proportional to the gradient of the output",
            Check::Rounding => "beyond the bound of rounding",
            Check::Strided => "other bits for strided parts",
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

/// The text, so that `unwrap` shows it unescaped.
impl fmt::Debug for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\n{self}")
    }
}

impl std::error::Error for Failure {}
