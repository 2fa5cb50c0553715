//! What to compare the gradient of a kernel in a narrow type with: that in `f64`, with a bound from how it depends on the
//! numbers that it reads.
//!
//! A rule that is stable gives the exact gradient of numbers that are rounded: the inputs, the outputs that it reads and the
//! gradient by the output, a few units each. So random changes of these numbers, of the size of the roundoff, tell the size of
//! its error (Higham, "Accuracy and Stability of Numerical Algorithms" (2002), section 1.5). Sums in the compute type add the
//! bound of the forward operation's terms.

use dahl_core::__testing;
use dahl_core::codelet::ErrorClass;

use super::calls::Calls;
use super::{Expected, round_off};
use crate::bound::{LAMBDA, PER_TERM};
use crate::format::Format;
use crate::gradient::Outcome;
use crate::gradient::direction::{Purpose, draw};

/// How often the numbers are changed.
const CHANGES: usize = 8;
/// The relative size of changes: small beside numbers, large beside the roundoff of `f64`.
const SIZE: f64 = 1.0 / 1024.0 / 1024.0;
/// The least estimate of an element, relative to that of all: few changes may cancel in one of many elements.
const LEAST: f64 = 0.125;

/// The gradients by each input in `f64`, at numbers that the narrow type has, with the allowed errors in that type.
pub(super) fn expected(
    wide: &Calls<'_>,
    narrow: &Calls<'_>,
    values: &[Vec<f64>],
    weights: &[f64],
) -> Outcome<Vec<Vec<Expected>>> {
    let exact = wide.backward(values, weights)?;
    let arrays = values.len();
    let mut squares: Vec<Vec<f64>> = exact.iter().map(|gradient| vec![0.0; gradient.len()]).collect();
    for change in 0..CHANGES {
        let changed = |number: usize, values: &[f64]| -> Vec<f64> {
            let number = change * (arrays + 1) + number;
            let changes = draw(1, Purpose::Direction, number, values.len());
            values.iter().zip(changes).map(|(value, change)| value * (1.0 + SIZE * change)).collect()
        };
        let moved: Vec<Vec<f64>> =
            values.iter().enumerate().map(|(number, values)| changed(number + 1, values)).collect();
        let gradients = wide.backward(&moved, &changed(0, weights))?;
        for ((squares, exact), got) in squares.iter_mut().zip(&exact).zip(&gradients) {
            for ((square, exact), got) in squares.iter_mut().zip(exact).zip(got) {
                *square += ((got - exact) / SIZE).powi(2) / CHANGES as f64;
            }
        }
    }
    let terms = terms(narrow)?;
    let bounded = |((&place, exact), squares): ((&usize, &Vec<f64>), &Vec<f64>)| {
        let format = Format::of(narrow.element(place)).expect("a differentiated input is real");
        let mean = (squares.iter().sum::<f64>() / squares.len().max(1) as f64).sqrt();
        // Of the stores, and of sums in the compute type: a sum's magnitude is at most the root of the number of its terms
        // times what they are together.
        let stores = PER_TERM * LAMBDA * format.unit_roundoff();
        let growth = terms.min(LAMBDA * terms.sqrt()) * terms.sqrt();
        let sums = PER_TERM * growth * format.compute().unit_roundoff();
        let element = |(&value, &square): (&f64, &f64)| {
            let sensitivity = square.sqrt().max(LEAST * mean);
            Expected { value, bound: (stores + sums) * sensitivity + round_off(format, value) }
        };
        exact.iter().zip(squares).map(element).collect()
    };
    Ok(narrow.inputs.iter().zip(&exact).zip(&squares).map(bounded).collect())
}

/// The number of terms of a sum, as the declaration says; otherwise that of the elements of the largest array.
fn terms(calls: &Calls<'_>) -> Outcome<f64> {
    let largest = calls.data.iter().map(|buffer| buffer.len()).max().unwrap_or(0) as f64;
    let Some(ErrorClass::Sum { terms, .. }) = calls.subject.numerics().error else { return Ok(largest) };
    let runtime = Calls::runtime()?;
    let task = calls.subject.description(&runtime, &calls.data)?;
    let mut places = 0..calls.data.len();
    let shapes: Vec<&[usize]> = (0..calls.subject.codelet().parameters.len())
        .map(|index| match calls.parameters.iter().any(|(own, _)| *own == index) {
            true => calls.data[places.next().expect("an array for each parameter")].extents.as_slice(),
            false => [].as_slice(),
        })
        .collect();
    Ok(__testing::evaluate(terms, &shapes, task.arguments()).clamp(1.0, largest.max(1.0)))
}
