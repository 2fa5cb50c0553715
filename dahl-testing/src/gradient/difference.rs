//! The derivative of a function of one number at 0, from its values, with an estimate of how good it is.
//!
//! Central differences at steps that halve, each pair extrapolated (Richardson). Large steps err by the function's
//! curvature, small ones by rounding; two neighbouring extrapolations tell the first, the size of the sums the second.
//! The best of them is taken, so that no step must be guessed.

/// Steps go from `2^-FIRST` to `2^-LAST`.
const FIRST: i32 = 6;
const LAST: i32 = 20;
/// The error of a sum, in units in the last place of its terms.
const SUM_ERROR: f64 = 4.0 * f64::EPSILON;

/// A function's value, and the sum of the magnitudes of its terms.
#[derive(Clone, Copy, Debug)]
pub(super) struct Value {
    pub(super) sum: f64,
    pub(super) magnitude: f64,
}

/// A derivative, and an estimate of its error.
#[derive(Clone, Copy, Debug)]
pub(super) struct Difference {
    pub(super) value: f64,
    /// The estimated error: of truncation, and of rounding.
    pub(super) error: f64,
    /// The part of it that comes from rounding.
    pub(super) rounding: f64,
}

impl Difference {
    /// The derivative of `f`; stops once the error is at most `enough`.
    pub(super) fn of<E>(enough: f64, mut f: impl FnMut(f64) -> Result<Value, E>) -> Result<Self, E> {
        let mut best = Self { value: f64::NAN, error: f64::INFINITY, rounding: 0.0 };
        let (mut central, mut extrapolated) = (None, None);
        for k in FIRST..=LAST {
            let step = 2.0_f64.powi(-k);
            let (above, below) = (f(step)?, f(-step)?);
            let now = (above.sum - below.sum) / (2.0 * step);
            let rounding = SUM_ERROR * above.magnitude.max(below.magnitude) / step;
            let extrapolation = central.replace(now).map(|before: f64| (4.0 * now - before) / 3.0);
            let before = std::mem::replace(&mut extrapolated, extrapolation);
            if let (Some(before), Some(value)) = (before, extrapolation) {
                let error = (value - before).abs() + rounding;
                // A step outside the function's domain gives NaN, with which every comparison is false.
                if error < best.error {
                    best = Self { value, error, rounding };
                }
                if best.error <= enough {
                    break;
                }
            }
        }
        Ok(best)
    }
}

/// The difference between the left and the right slope at 0, if curvature and rounding do not explain it.
pub(super) fn jump<E>(mut f: impl FnMut(f64) -> Result<Value, E>) -> Result<Option<f64>, E> {
    const FAR: i32 = LAST - 6;
    const NEAR: i32 = LAST - 2;
    let here = f(0.0)?;
    let mut at = |k: i32| -> Result<f64, E> {
        let step = 2.0_f64.powi(-k);
        Ok(((f(step)?.sum - here.sum) - (here.sum - f(-step)?.sum)).abs() / step)
    };
    let (far, near) = (at(FAR)?, at(NEAR)?);
    let rounding = 4.0 * SUM_ERROR * here.magnitude * 2.0_f64.powi(NEAR);
    // The effect of curvature shrinks with the step, to a sixteenth.
    Ok((near > far / 2.0 && near > rounding).then_some(near))
}
