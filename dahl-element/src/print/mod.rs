//! [`Printed`]: arrays as text, in the manner of NumPy.
//!
//! One format serves all elements that are shown: columns are aligned on the decimal point, all numbers are scientific
//! or none is, trailing zeros go, and of a large array the middle of each axis is left out. `number` decides the
//! format and writes one element, `nesting` puts brackets, separators and line breaks around them.
//!
//! For `f32` and `f64` the text is NumPy's, character by character, and for `f16` too: the shortest digits that tell a
//! number from its neighbours of the same type. `bf16`, which NumPy lacks, follows the rules of `f16`. Arrays of rank 0
//! print as `numpy.array2string` does (`1.`), not as a scalar (`1.0`).
//!
//! Not here: waiting for the elements. That is `Array::display`, and the guards.

mod nesting;
mod number;

use std::fmt;

use ndarray::{ArrayView, ArrayViewD, Dimension, IxDyn};

use crate::element::Element;
use nesting::Nesting;
use number::{Cell, Format};

/// The elements of an array as text: the result of `Array::display` and of the guards' `display`.
///
/// ```text
/// [[ 1.    2.5   3.  ]
///  [-0.25  0.   10.  ]]
/// ```
///
/// The methods set the format, and so do the formatter's options: `{:.3}` at most three digits after the point, `{:12}`
/// at least twelve characters for each element, `{:e}` scientific, `{:+}` signs on all numbers.
///
/// ```
/// use dahl_element::print::Printed;
///
/// let printed = Printed::from_slice(&[2, 2], &[1.0, 0.5, -2.0, 1.0 / 3.0]);
/// assert_eq!(format!("{printed:.4}"), "[[ 1.      0.5   ]\n [-2.      0.3333]]");
/// assert_eq!(printed.precision(1).to_string(), "[[ 1.   0.5]\n [-2.   0.3]]");
/// ```
#[derive(Clone)]
#[must_use = "it is text only when it is formatted"]
pub struct Printed<'a, T> {
    elements: ArrayViewD<'a, T>,
    precision: Option<usize>,
    width: usize,
    edge: usize,
    threshold: usize,
    line_width: usize,
    scientific: Option<bool>,
}

impl<'a, T: Element> Printed<'a, T> {
    /// The text of a view.
    pub fn new<D: Dimension>(view: ArrayView<'a, T, D>) -> Self {
        Self {
            elements: view.into_dyn(),
            precision: None,
            width: 0,
            edge: 3,
            threshold: 1000,
            line_width: 75,
            scientific: None,
        }
    }

    /// The text of elements in row-major order.
    ///
    /// # Panics
    /// If the number of elements does not match the shape.
    #[track_caller]
    pub fn from_slice(shape: &[usize], elements: &'a [T]) -> Self {
        let view = ArrayView::from_shape(IxDyn(shape), elements);
        Self::new(view.unwrap_or_else(|_| panic!("{} elements do not fill {shape:?}", elements.len())))
    }

    /// Sets the most digits after the decimal point; the default is 8. Fewer are shown if fewer distinguish the numbers
    /// from their neighbours.
    pub fn precision(self, digits: usize) -> Self {
        Self { precision: Some(digits), ..self }
    }

    /// Sets the least number of characters for each element; the default is the length of the longest.
    pub fn width(self, characters: usize) -> Self {
        Self { width: characters, ..self }
    }

    /// Sets how many elements are shown at each end of an axis that is abbreviated; the default is 3.
    pub fn edge(self, elements: usize) -> Self {
        Self { edge: elements.max(1), ..self }
    }

    /// Sets the most elements of an array that is not abbreviated; the default is 1000.
    pub fn threshold(self, elements: usize) -> Self {
        Self { threshold: elements, ..self }
    }

    /// Sets the most characters in a line, after which a row continues in the next one; the default is 75.
    pub fn line_width(self, characters: usize) -> Self {
        Self { line_width: characters, ..self }
    }

    /// Sets whether numbers are scientific. By default they are if one is large (10^8; 10^6 for `f32`, 10^3 for the
    /// half types), one is below 10^-4, or the largest is over 1000 times the smallest.
    pub fn scientific(self, scientific: bool) -> Self {
        Self { scientific: Some(scientific), ..self }
    }

    /// Abbreviates so much that the text is short for any rank; for messages.
    #[doc(hidden)]
    pub fn brief(self) -> Self {
        const MOST: usize = 1000;
        let rank = self.elements.ndim() as u32;
        let fits = |edge: &usize| (2 * edge).checked_pow(rank).is_some_and(|shown| shown <= MOST);
        let edge = (1..=3).rev().find(fits).unwrap_or(1);
        self.threshold(200).edge(edge)
    }

    fn write(&self, f: &mut fmt::Formatter<'_>, scientific: Option<bool>) -> fmt::Result {
        let elides = self.elements.len() > self.threshold;
        let nesting = Nesting {
            shape: self.elements.shape(),
            edge: elides.then_some(self.edge),
            line_width: self.line_width,
        };
        let precision = f.precision().or(self.precision);
        let mut cells = Vec::new();
        nesting.for_each_shown(&mut |index| cells.push(Cell::of(self.elements[index], precision)));
        let format = Format::of(&cells, precision.unwrap_or(8), scientific, f.sign_plus());
        let width = f.width().unwrap_or(self.width);
        let mut words = cells.iter().map(|cell| format!("{:>width$}", format.word(cell)));
        f.write_str(&nesting.text(&mut words))
    }
}

impl<T: Element> fmt::Display for Printed<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, self.scientific)
    }
}

impl<T: Element> fmt::LowerExp for Printed<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, Some(true))
    }
}

/// As [`Display`](fmt::Display).
impl<T: Element> fmt::Debug for Printed<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, self.scientific)
    }
}
