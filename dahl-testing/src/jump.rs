//! Jumps of the error from one element type to another by more than [`JUMP`]: a sign that a type computes in another's
//! precision.

use super::failure::{Check, Failure};
use super::report::{Compared, Summary};

/// A difference of methods between types, such as polynomials of different degree, stays below this factor.
const JUMP: f64 = 64.0;
/// Errors below this many units are always rounding errors.
const SMALL: f64 = 4.0;

/// Requires that the error, in units of the roundoff, is about the same for all types. A type with a much larger error
/// computes in another precision than its own: an `f32` constant in `f64` code, a sum of `f16` in `f16`.
///
/// Comparisons that failed are left to the tests that report them, unless all did.
///
/// # Errors
/// The types between which the error jumps; or, if no type passed, the first one's.
pub fn compare_types<const N: usize>(compared: [&Compared; N]) -> Result<(), Box<Failure>> {
    let summaries: Vec<&Summary> = compared.iter().filter_map(|result| result.as_ref().ok()).collect();
    let first_failure = compared.iter().find_map(|result| result.as_ref().err());
    if let (true, Some(failure)) = (summaries.is_empty(), first_failure) {
        return Err(failure.clone());
    }
    let least = summaries.iter().min_by(|a, b| a.units.total_cmp(&b.units));
    let most = summaries.iter().max_by(|a, b| a.units.total_cmp(&b.units));
    let (Some(least), Some(most)) = (least, most) else { return Ok(()) };
    if most.units <= JUMP * least.units.max(SMALL) {
        return Ok(());
    }
    let fact = format!(
        "the error is {:.3e} units of the roundoff in {}, but {:.3e} in {}: does it compute in its own precision?",
        most.units, most.element, least.units, least.element
    );
    Err(Box::new(Failure {
        op: most.op.clone(),
        element: most.element,
        check: Check::ElementTypes,
        way: None,
        drawn: None,
        fact,
        worst: None,
        histogram: None,
        smallest: None,
    }))
}
