//! [`Real`]: the interface that kernel bodies rely on, and its implementation for `f32` and `f64`.

use std::iter::{Product, Sum};
use std::ops::Neg;

use num_traits::{FromPrimitive, NumAssignOps, NumOps, ToPrimitive};

use super::Element;

/// A real number: `f16`, `bf16`, `f32`, `f64`, or a type of the user's.
///
/// It has the functions of [`num_traits::Float`], with two differences. Each is written so that a plain loop over it
/// vectorises, with its error stated in ULP (units in the last place, of the compute type); and [`max`](Real::max)
/// and [`min`](Real::min) propagate NaN (IEEE 754-2019 `maximum` and `minimum`), on every device.
///
/// For `f16` and `bf16` a function widens, computes in `f32`, and rounds once.
pub trait Real:
    Element
    + Neg<Output = Self>
    + NumOps
    + NumAssignOps
    + Sum
    + for<'a> Sum<&'a Self>
    + Product
    + FromPrimitive
    + ToPrimitive
{
    /// The type in which kernels compute and sums accumulate: `f32` for `f16` and `bf16`, else the type itself.
    type Compute: Real<Compute = Self::Compute>;

    /// Positive infinity.
    const INFINITY: Self;
    /// Negative infinity.
    const NEG_INFINITY: Self;
    /// Not a number.
    const NAN: Self;
    /// The distance from one to the next larger number: twice the unit roundoff.
    const EPSILON: Self;
    /// The smallest positive normal number.
    const MIN_POSITIVE: Self;
    /// The largest finite number.
    const MAX: Self;
    /// The smallest finite number.
    const MIN: Self;
    /// The ratio of a circle's circumference to its diameter.
    const PI: Self;
    /// Euler's number.
    const E: Self;

    /// The same value in the compute type; exact.
    fn widen(self) -> Self::Compute;

    /// The nearest value of this type, ties to even; overflow goes to infinity.
    fn narrow(value: Self::Compute) -> Self;

    /// `to[i] = from[i].widen()`, in vectors.
    ///
    /// # Panics
    /// If the lengths differ.
    fn widen_slice(from: &[Self], to: &mut [Self::Compute]) {
        assert_eq!(from.len(), to.len());
        for (to, from) in to.iter_mut().zip(from) {
            *to = from.widen();
        }
    }

    /// `to[i] = narrow(from[i])`, in vectors.
    ///
    /// # Panics
    /// If the lengths differ.
    fn narrow_slice(from: &[Self::Compute], to: &mut [Self]) {
        assert_eq!(from.len(), to.len());
        for (to, from) in to.iter_mut().zip(from) {
            *to = Self::narrow(*from);
        }
    }

    /// The nearest number to `value`, ties to even.
    fn from_f64(value: f64) -> Self;

    /// The same value in `f64`; exact for the four types here.
    fn to_f64(self) -> f64;
}
