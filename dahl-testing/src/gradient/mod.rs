//! [`Gradient`]: checks whether a backward operation is the derivative of its forward operation.
//!
//! Both are closures over plain numbers, so that a single codelet, a layer and a whole network are checked alike. The
//! checks are:
//!
//! * for each input alone, along random directions, the slope of a weighted sum of the output by backward and by
//!   central differences of forward, whose steps are chosen for the function ([`Check::Directions`]);
//! * the adjoint identity `<J v, w> = <v, J' w>` for all inputs together, with another `w` each time, by differences,
//!   and to machine precision where forward is linear or a tangent is given ([`Check::Adjoint`], [`Check::Exact`]);
//! * backward is proportional to the gradient of the output ([`Check::Scales`]), and a repetition gives the same bits
//!   ([`Check::Repeats`]).
//!
//! ```
//! use dahl_testing::gradient::Gradient;
//!
//! // output[i] = a[i]^2 b[i]
//! let gradient = Gradient::new(
//!     "square times",
//!     |inputs| Ok(inputs[0].iter().zip(&inputs[1]).map(|(a, b)| a * a * b).collect()),
//!     |inputs, output_gradient| {
//!         let (a, b) = (&inputs[0], &inputs[1]);
//!         let by_a = (0..a.len()).map(|i| 2.0 * a[i] * b[i] * output_gradient[i]).collect();
//!         let by_b = (0..a.len()).map(|i| a[i] * a[i] * output_gradient[i]).collect();
//!         Ok(vec![by_a, by_b])
//!     },
//! );
//! gradient.input("a", &[3], vec![1.0, -2.0, 0.5]).input("b", &[3], vec![0.25, 3.0, -1.0]).assert();
//! ```
//!
//! [`gradients!`](crate::gradients) checks the gradients of an operation under a tape in one line.
//!
//! The modules: `direction` draws, `difference` estimates slopes, `examine` compares, `elements` finds wrong elements,
//! `failure` describes errors, `operation` checks one of a declaration, in all element types, and `under_tape` is the macro.

mod difference;
mod direction;
mod elements;
mod examine;
mod failure;
mod operation;
mod under_tape;

use std::error::Error;
use std::ops::Range;

use direction::{Purpose, draw};
pub use failure::{Check, Failure};
pub use operation::{Operation, compare_gradients};
#[doc(hidden)]
pub use under_tape::{Forwarded, or_zeros, runtime, weights};

/// The result of forward and backward: any error is a failure of the check.
pub type Outcome<T> = Result<T, Box<dyn Error>>;

type Forward<'a> = Box<dyn Fn(&[Vec<f64>]) -> Outcome<Vec<f64>> + 'a>;
type Backward<'a> = Box<dyn Fn(&[Vec<f64>], &[f64]) -> Outcome<Vec<Vec<f64>>> + 'a>;
type Tangent<'a> = Box<dyn Fn(&[Vec<f64>], &[Vec<f64>]) -> Outcome<Vec<f64>> + 'a>;

/// An input of forward.
#[derive(Debug, Clone)]
struct Input {
    name: String,
    shape: Vec<usize>,
    values: Vec<f64>,
}

/// A forward function and a backward one that should be its derivative, the inputs at which they are compared, and the
/// tolerance.
#[must_use = "`check` or `assert` runs it"]
pub struct Gradient<'a> {
    subject: String,
    forward: Forward<'a>,
    backward: Backward<'a>,
    tangent: Option<Tangent<'a>>,
    inputs: Vec<Input>,
    seed: u64,
    directions: usize,
    tolerance: f64,
    linear: bool,
    kinks: Vec<f64>,
}

impl<'a> Gradient<'a> {
    /// A check of `backward`.
    ///
    /// `forward` maps the inputs, each in row-major order, to the output. `backward` receives the inputs and the
    /// gradient of some scalar by the output, and returns the gradients by the inputs, in their order.
    pub fn new(
        subject: impl Into<String>,
        forward: impl Fn(&[Vec<f64>]) -> Outcome<Vec<f64>> + 'a,
        backward: impl Fn(&[Vec<f64>], &[f64]) -> Outcome<Vec<Vec<f64>>> + 'a,
    ) -> Self {
        Self {
            subject: subject.into(),
            forward: Box::new(forward),
            backward: Box::new(backward),
            tangent: None,
            inputs: Vec::new(),
            seed: 1,
            directions: 4,
            tolerance: 1e-7,
            linear: false,
            kinks: Vec::new(),
        }
    }

    /// Adds an input.
    ///
    /// # Panics
    /// If the number of values does not match the shape.
    #[track_caller]
    pub fn input(mut self, name: impl Into<String>, shape: &[usize], values: Vec<f64>) -> Self {
        let name = name.into();
        assert_eq!(values.len(), shape.iter().product::<usize>(), "values of `{name}`, of shape {shape:?}");
        self.inputs.push(Input { name, shape: shape.to_vec(), values });
        self
    }

    /// Adds an input of random values: magnitudes from 0.5 to 1, of both signs, different for each input.
    pub fn drawn(self, name: impl Into<String>, shape: &[usize]) -> Self {
        let values = draw(self.seed, Purpose::Values, self.inputs.len(), shape.iter().product());
        self.input(name, shape, values)
    }

    /// Adds an input of uniform random values from a range.
    pub fn drawn_from(self, name: impl Into<String>, shape: &[usize], range: Range<f64>) -> Self {
        let magnitudes = draw(self.seed, Purpose::Values, self.inputs.len(), shape.iter().product());
        // From 0.5 to 1.
        let even = magnitudes.into_iter().map(|magnitude| 2.0 * magnitude.abs() - 1.0);
        let values = even.map(|even| range.start + even * (range.end - range.start)).collect();
        self.input(name, shape, values)
    }

    /// Sets the seed of the directions; the default is 1. To be set before inputs are [drawn](Self::drawn).
    pub fn seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// Sets the number of directions for each input, and for all inputs together; the default is 4.
    pub fn directions(self, directions: usize) -> Self {
        Self { directions: directions.max(1), ..self }
    }

    /// Sets the tolerance of slopes, relative to the sum of the magnitudes of their terms; the default is 1e-7. The
    /// rounding errors of differences are added to it.
    pub fn tolerance(self, tolerance: f64) -> Self {
        Self { tolerance, ..self }
    }

    /// Declares that forward is affine in each input while the others are constant, so that the adjoint identity holds
    /// to machine precision.
    pub fn linear(self) -> Self {
        Self { linear: true, ..self }
    }

    /// Sets the directional derivative: from the inputs and the direction, the change of the output. With it the
    /// adjoint identity is checked to machine precision.
    pub fn tangent(self, tangent: impl Fn(&[Vec<f64>], &[Vec<f64>]) -> Outcome<Vec<f64>> + 'a) -> Self {
        Self { tangent: Some(Box::new(tangent)), ..self }
    }

    /// Declares a kink of the function, such as that of `relu` at 0: input values within a tenth of it are moved away.
    /// Other kinks, which show as different slopes to the left and to the right, are reported. It is an error if every
    /// direction has one.
    pub fn kink(mut self, at: f64) -> Self {
        self.kinks.push(at);
        self
    }

    /// Runs all checks.
    ///
    /// # Errors
    /// If one of them finds the gradient wrong.
    pub fn check(&self) -> Result<Report, Failure> {
        examine::examine(self)
    }

    /// Runs all checks.
    ///
    /// # Panics
    /// If one of them finds the gradient wrong, with a text that says where.
    #[track_caller]
    pub fn assert(&self) -> Report {
        self.check().unwrap_or_else(|failure| panic!("\n{failure}"))
    }
}

/// The result of a check that passed.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Report {
    /// The number of directions in which slopes were compared.
    pub directions: usize,
    /// The largest difference of two slopes, relative to the sum of the magnitudes of their terms.
    pub worst: f64,
    /// The directions that were skipped since the function is not smooth there.
    pub kinks: Vec<String>,
}
