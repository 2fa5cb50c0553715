//! [`Bound`]: the allowed error of a result, derived from the error class of the declaration.
//!
//! Of a sum of `n` terms in a format of unit roundoff `u`, whatever its order, the error is at most
//! `gamma_n sum|terms|`, about `n u sum|terms|`, and, with a probability that is one for all practical purposes, at
//! most `lambda sqrt(n) u sum|terms|` (N. J. Higham and T. Mary, *A new approach to probabilistic rounding error
//! analysis*, SIAM J. Sci. Comput. 41, 2019). Terms that are products are rounded themselves, which doubles the bound.

use super::format::Format;
use super::oracle::Exact;
use dahl_core::codelet::ErrorClass;

/// Rounding errors per term: its own, and that of adding it.
pub(super) const PER_TERM: f64 = 2.0;
/// The bound fails with probability at most `2 n exp(-lambda^2 / 2)`: 1e-5 for a million terms needs 6.9.
pub(super) const LAMBDA: f64 = 7.0;

/// A bound on the errors of one array.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bound {
    format: Format,
    class: Class,
    /// Whether the expected values are those of a reference, rounded to `f64`.
    rounded_reference: bool,
}

#[derive(Clone, Copy, Debug)]
enum Class {
    Rounded,
    Ulp(f64),
    /// With the number of terms.
    Sum(f64),
}

/// The comparison of one result.
#[derive(Clone, Copy, Debug)]
pub(super) struct Judgement {
    /// The error, in units in the last place of the element type.
    pub(super) ulps: f64,
    /// The bound in the same units.
    pub(super) bound_ulps: f64,
    /// The error in units of the class's bound, without the rounding to the element type.
    pub(super) units: f64,
    pub(super) verdict: Verdict,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Right,
    /// Finite as expected, but beyond the bound.
    BeyondBound,
    /// NaN, an infinity or the sign of a zero is wrong.
    WrongSpecial,
}

impl Bound {
    /// A bound for results of `format`; `terms` is the number of terms of the class `sum`.
    pub(super) fn new(format: Format, class: ErrorClass, terms: f64, rounded_reference: bool) -> Self {
        let class = match class {
            ErrorClass::Rounded => Class::Rounded,
            ErrorClass::Ulp(ulps) => Class::Ulp(ulps),
            ErrorClass::Sum { .. } => Class::Sum(terms),
        };
        Self { format, class, rounded_reference }
    }

    /// Compares a result with the exact one. `magnitude` is the sum of the terms' absolute values.
    pub(super) fn judge(&self, expected: Exact, magnitude: f64, got: f64) -> Judgement {
        let error = ((got - expected.high) - expected.low).abs();
        // The magnitude is at least the sum. NaN among the terms has no magnitude, and `max` drops it.
        let magnitude =
            magnitude.abs().max(if expected.high.is_finite() { expected.high.abs() } else { 0.0 });
        let (bound, unit) = self.bound(expected.high, magnitude);
        let ulp = self.format.ulp(if expected.high.is_finite() { expected.high } else { 0.0 });
        let rounding = if self.is_narrow() { 0.5 * ulp } else { 0.0 };
        let is_measured = error.is_finite() && bound.is_finite();
        let units = if is_measured { ((error - rounding) / unit).max(0.0) } else { 0.0 };
        let ulps = if is_measured { error / ulp } else { 0.0 };
        let verdict = self.verdict(expected.high, magnitude, got, error, bound);
        Judgement { ulps, bound_ulps: bound / ulp, units, verdict }
    }

    fn verdict(&self, expected: f64, magnitude: f64, got: f64, error: f64, bound: f64) -> Verdict {
        let compute = self.format.compute();
        // A partial sum may overflow, and the result then depends on the order.
        if matches!(self.class, Class::Sum(_)) && magnitude >= compute.max {
            return if !got.is_finite() || error <= bound { Verdict::Right } else { Verdict::BeyondBound };
        }
        if expected.is_nan() || got.is_nan() {
            return right_if(expected.is_nan() && got.is_nan());
        }
        let overflow = self.format.overflow();
        let same_sign = expected.is_sign_negative() == got.is_sign_negative();
        if got.is_infinite() {
            return right_if(same_sign && (expected.is_infinite() || expected.abs() + bound >= overflow));
        }
        if expected.is_infinite() {
            return Verdict::WrongSpecial;
        }
        // Double-double arithmetic loses the signs of zeros.
        let is_exact_zero = got == 0.0 && self.rounded_reference && !matches!(self.class, Class::Sum(_));
        if is_exact_zero && !same_sign && error <= bound {
            return Verdict::WrongSpecial;
        }
        if error <= bound { Verdict::Right } else { Verdict::BeyondBound }
    }

    /// The bound, and the unit in which the class counts errors.
    fn bound(&self, expected: f64, magnitude: f64) -> (f64, f64) {
        let compute = self.format.compute();
        let (half_ulp, ulp) = (0.5 * self.format.ulp(expected), compute.ulp(expected));
        let rounding = if self.is_narrow() { half_ulp } else { 0.0 };
        // The reference itself has an error of up to one unit of `f64`.
        let reference = if self.rounded_reference && self.format.is_widest() { ulp } else { 0.0 };
        match self.class {
            Class::Rounded => (half_ulp, ulp),
            Class::Ulp(ulps) => (ulps * ulp + rounding + reference, ulp),
            Class::Sum(terms) => {
                let unit = compute.unit_roundoff() * magnitude + compute.smallest();
                let growth = terms.min(LAMBDA * terms.sqrt());
                (PER_TERM * growth * unit + half_ulp + reference, unit)
            }
        }
    }

    /// Whether the element type is narrower than the compute type.
    fn is_narrow(&self) -> bool {
        self.format.unit_roundoff() > self.format.compute().unit_roundoff()
    }
}

fn right_if(right: bool) -> Verdict {
    if right { Verdict::Right } else { Verdict::WrongSpecial }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dahl_core::element::{Element, ElementType};

    fn judge<T: Element>(class: ErrorClass, terms: f64, expected: f64, magnitude: f64, got: f64) -> Verdict {
        let format = Format::of(ElementType::of::<T>()).unwrap();
        let bound = Bound::new(format, class, terms, true);
        bound.judge(Exact { high: expected, low: 0.0 }, magnitude, got).verdict
    }

    #[test]
    fn rounded_takes_the_nearest_number_alone() {
        let third = f64::from(1.0_f32 / 3.0);
        assert_eq!(judge::<f32>(ErrorClass::Rounded, 1.0, 1.0 / 3.0, 0.0, third), Verdict::Right);
        let next = f64::from((1.0_f32 / 3.0).next_up());
        assert_eq!(judge::<f32>(ErrorClass::Rounded, 1.0, 1.0 / 3.0, 0.0, next), Verdict::BeyondBound);
    }

    #[test]
    fn special_values_are_told_apart() {
        let (nan, infinity) = (f64::NAN, f64::INFINITY);
        let of = |expected, got| judge::<half::f16>(ErrorClass::Ulp(1.0), 1.0, expected, 0.0, got);
        assert_eq!(of(nan, nan), Verdict::Right);
        assert_eq!(of(nan, 1.0), Verdict::WrongSpecial);
        assert_eq!(of(1.0, nan), Verdict::WrongSpecial);
        assert_eq!(of(infinity, infinity), Verdict::Right);
        assert_eq!(of(infinity, -infinity), Verdict::WrongSpecial);
        assert_eq!(of(infinity, 65504.0), Verdict::WrongSpecial);
        assert_eq!(of(65520.0, infinity), Verdict::Right);
        assert_eq!(of(65000.0, infinity), Verdict::WrongSpecial);
        assert_eq!(of(-0.0, 0.0), Verdict::WrongSpecial);
        assert_eq!(of(0.0, 0.0), Verdict::Right);
    }

    #[test]
    fn sums_are_bounded_by_their_terms() {
        let sum = ErrorClass::Sum { terms: |_| 0.0, magnitude: None };
        let unit = f64::from(f32::EPSILON) / 2.0;
        assert_eq!(judge::<f32>(sum, 4.0, 0.0, 10.0, 70.0 * unit), Verdict::Right);
        assert_eq!(judge::<f32>(sum, 4.0, 0.0, 10.0, 90.0 * unit), Verdict::BeyondBound);
        // With many terms the square root dominates.
        assert_eq!(judge::<f32>(sum, 1e6, 0.0, 1.0, 14_001.0 * unit), Verdict::BeyondBound);
    }
}
