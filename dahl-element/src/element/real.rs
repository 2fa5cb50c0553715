//! [`Real`]: the interface that kernel bodies rely on.

use std::any::TypeId;
use std::iter::{Product, Sum};
use std::ops::Neg;

use num_traits::{NumAssignOps, NumOps};

use super::Element;

/// A real number: `f16`, `bf16`, `f32`, `f64`, or a type of the user's.
///
/// It has the functions and constants of [`num_traits::Float`] and [`num_traits::FloatConst`], with two differences. A
/// plain loop over a function vectorises (see [`simd::dispatch`](crate::simd::dispatch)), with an error bound in ULP
/// (units in the last place of the compute type) and the same results on every level of the instruction set. And
/// [`max`](Real::max) and [`min`](Real::min) propagate NaN (IEEE 754-2019 `maximum` and `minimum`), on every device.
///
/// For `f16` and `bf16` a function widens, computes in `f32`, and rounds once.
///
/// The errors are measured against a reference of twice the precision (`tests/real`): the largest over millions of
/// arguments of the whole range, rounded up. A function whose description states none is exact or correctly rounded, or
/// describes what its error depends on. The algorithms and their sources are described in `simd/math/`.
///
/// On a value of a concrete type, `1.0_f32.exp()` calls the standard library's method of the same name. That does not
/// vectorise; `Real::exp(x)` does.
///
/// # Implementing it
/// A type with another type as its [`Compute`](Real::Compute) needs the constants, the conversions and the operators;
/// the functions have defaults that widen, compute there, and narrow. A type that is its own compute type must
/// implement each function that is called on it: the defaults would call themselves, so they panic.
pub trait Real:
    Element + Neg<Output = Self> + NumOps + NumAssignOps + Sum + for<'a> Sum<&'a Self> + Product
{
    /// The type in which kernels compute and accumulate sums: `f32` for `f16` and `bf16`, else the type itself.
    type Compute: Real<Compute = Self::Compute>;

    /// Positive infinity.
    const INFINITY: Self;
    /// Negative infinity.
    const NEG_INFINITY: Self;
    /// Not a number.
    const NAN: Self;
    /// Negative zero.
    const NEG_ZERO: Self;
    /// The distance from one to the next larger number: twice the unit roundoff.
    const EPSILON: Self;
    /// The smallest positive normal number.
    const MIN_POSITIVE: Self;
    /// The largest finite number.
    const MAX: Self;
    /// The smallest finite number.
    const MIN: Self;
    /// π, the ratio of a circle's circumference to its diameter.
    const PI: Self;
    /// 2π.
    const TAU: Self;
    /// π / 2.
    const FRAC_PI_2: Self;
    /// π / 3.
    const FRAC_PI_3: Self;
    /// π / 4.
    const FRAC_PI_4: Self;
    /// π / 6.
    const FRAC_PI_6: Self;
    /// π / 8.
    const FRAC_PI_8: Self;
    /// 1 / π.
    const FRAC_1_PI: Self;
    /// 2 / π.
    const FRAC_2_PI: Self;
    /// 2 / sqrt(π).
    const FRAC_2_SQRT_PI: Self;
    /// sqrt(2).
    const SQRT_2: Self;
    /// 1 / sqrt(2).
    const FRAC_1_SQRT_2: Self;
    /// Euler's number.
    const E: Self;
    /// ln(2).
    const LN_2: Self;
    /// ln(10).
    const LN_10: Self;
    /// log2(e).
    const LOG2_E: Self;
    /// log2(10).
    const LOG2_10: Self;
    /// log10(e).
    const LOG10_E: Self;
    /// log10(2).
    const LOG10_2: Self;

    /// The same value in the compute type; exact.
    fn widen(self) -> Self::Compute;

    /// The nearest value of this type, ties to even; overflow becomes infinity.
    fn narrow(value: Self::Compute) -> Self;

    /// `to[i] = from[i].widen()`, vectorised.
    ///
    /// # Panics
    /// If the lengths differ.
    fn widen_slice(from: &[Self], to: &mut [Self::Compute]);

    /// `to[i] = narrow(from[i])`, vectorised.
    ///
    /// # Panics
    /// If the lengths differ.
    fn narrow_slice(from: &[Self::Compute], to: &mut [Self]);

    /// `values[i] = (values[i] - largest).exp()`, if no value is larger than `largest`: with the bits of [`exp`](Self::exp), in
    /// fewer operations. A larger value has no meaning.
    #[inline(always)]
    fn exp_below_slice(values: &mut [Self::Compute], largest: Self::Compute) {
        for value in values {
            *value = (*value - largest).exp();
        }
    }

    /// The nearest number to `value`, ties to even, rounded once.
    fn from_f64(value: f64) -> Self;

    /// The same value in `f64`; exact for the four types here.
    fn to_f64(self) -> f64;

    /// Whether this is NaN.
    #[inline(always)]
    fn is_nan(self) -> bool {
        compute(self).is_nan()
    }

    /// Whether this is an infinity.
    #[inline(always)]
    fn is_infinite(self) -> bool {
        compute(self).is_infinite()
    }

    /// Whether this is neither infinite nor NaN.
    #[inline(always)]
    fn is_finite(self) -> bool {
        compute(self).is_finite()
    }

    /// Whether this is neither zero, subnormal, infinite nor NaN, in this type.
    #[inline(always)]
    fn is_normal(self) -> bool {
        Self::MIN_POSITIVE <= self.abs() && self.is_finite()
    }

    /// Whether the sign bit is clear: of `+0`, positive numbers, and some NaN.
    #[inline(always)]
    fn is_sign_positive(self) -> bool {
        compute(self).is_sign_positive()
    }

    /// Whether the sign bit is set: of `-0`, negative numbers, and some NaN.
    #[inline(always)]
    fn is_sign_negative(self) -> bool {
        compute(self).is_sign_negative()
    }

    /// `self` without its sign; exact.
    #[inline(always)]
    fn abs(self) -> Self {
        Self::narrow(compute(self).abs())
    }

    /// `1` with the sign of `self` (`-1` for `-0`); NaN for NaN.
    #[inline(always)]
    fn signum(self) -> Self {
        Self::narrow(compute(self).signum())
    }

    /// `self` with the sign of `sign`; exact.
    #[inline(always)]
    fn copysign(self, sign: Self) -> Self {
        Self::narrow(compute(self).copysign(compute(sign)))
    }

    /// The larger of two; NaN if either is NaN, and `+0` is above `-0` (IEEE 754-2019 `maximum`).
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        Self::narrow(compute(self).max(compute(other)))
    }

    /// The smaller of two; NaN if either is NaN, and `-0` is below `+0` (IEEE 754-2019 `minimum`).
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        Self::narrow(compute(self).min(compute(other)))
    }

    /// `self` limited to `low ..= high`; NaN for NaN. If `low` is above `high`, the result is `high`.
    #[inline(always)]
    fn clamp(self, low: Self, high: Self) -> Self {
        self.max(low).min(high)
    }

    /// The largest integer that is not above `self`; exact.
    #[inline(always)]
    fn floor(self) -> Self {
        Self::narrow(compute(self).floor())
    }

    /// The smallest integer that is not below `self`; exact.
    #[inline(always)]
    fn ceil(self) -> Self {
        Self::narrow(compute(self).ceil())
    }

    /// The nearest integer, ties away from zero; exact.
    #[inline(always)]
    fn round(self) -> Self {
        Self::narrow(compute(self).round())
    }

    /// The nearest integer, ties to even; exact, and faster than [`round`](Real::round).
    #[inline(always)]
    fn round_ties_even(self) -> Self {
        Self::narrow(compute(self).round_ties_even())
    }

    /// The integer part, rounded toward zero; exact.
    #[inline(always)]
    fn trunc(self) -> Self {
        Self::narrow(compute(self).trunc())
    }

    /// `self - self.trunc()`; exact.
    #[inline(always)]
    fn fract(self) -> Self {
        Self::narrow(compute(self).fract())
    }

    /// `self * factor + summand`, rounded once. Below level v3 of x86-64 it calls libm for each element: prefer `*` and
    /// `+` unless the single rounding matters.
    #[inline(always)]
    fn mul_add(self, factor: Self, summand: Self) -> Self {
        Self::narrow(compute(self).mul_add(compute(factor), compute(summand)))
    }

    /// `1 / self`; correctly rounded.
    #[inline(always)]
    fn recip(self) -> Self {
        Self::narrow(compute(self).recip())
    }

    /// The square root; correctly rounded.
    #[inline(always)]
    fn sqrt(self) -> Self {
        Self::narrow(compute(self).sqrt())
    }

    /// The cube root.
    ///
    /// Error: at most 0.51 ULP (`f32`), 0.7 (`f64`).
    #[inline(always)]
    fn cbrt(self) -> Self {
        Self::narrow(compute(self).cbrt())
    }

    /// `sqrt(self * self + other * other)` without intermediate overflow or underflow.
    ///
    /// Error: at most 0.51 ULP (`f32`), 1.2 (`f64`).
    #[inline(always)]
    fn hypot(self, other: Self) -> Self {
        Self::narrow(compute(self).hypot(compute(other)))
    }

    /// `self` to an integer power, by repeated squaring; the error grows with the exponent, about `0.5 * |exponent|`
    /// ULP. With a negative exponent the result is 0 if the power of the absolute value overflows, though some exact
    /// results there are subnormal numbers.
    #[inline(always)]
    fn powi(self, exponent: i32) -> Self {
        Self::narrow(compute(self).powi(exponent))
    }

    /// `self` to a real power.
    ///
    /// Error: at most 0.51 ULP (`f32`), 1.1 (`f64`).
    #[inline(always)]
    fn powf(self, exponent: Self) -> Self {
        Self::narrow(compute(self).powf(compute(exponent)))
    }

    /// e to the power `self`.
    ///
    /// Error: at most 1.0 ULP (`f32`), 1.2 (`f64`).
    #[inline(always)]
    fn exp(self) -> Self {
        Self::narrow(compute(self).exp())
    }

    /// 2 to the power `self`.
    ///
    /// Error: at most 1.2 ULP.
    #[inline(always)]
    fn exp2(self) -> Self {
        Self::narrow(compute(self).exp2())
    }

    /// `exp(self) - 1`, accurate near zero.
    ///
    /// Error: at most 1.6 ULP (`f32`), 2.2 (`f64`).
    #[inline(always)]
    fn exp_m1(self) -> Self {
        Self::narrow(compute(self).exp_m1())
    }

    /// The natural logarithm.
    ///
    /// Error: at most 0.9 ULP.
    #[inline(always)]
    fn ln(self) -> Self {
        Self::narrow(compute(self).ln())
    }

    /// `ln(1 + self)`, accurate near zero.
    ///
    /// Error: at most 0.9 ULP.
    #[inline(always)]
    fn ln_1p(self) -> Self {
        Self::narrow(compute(self).ln_1p())
    }

    /// The logarithm to base 2.
    ///
    /// Error: at most 0.9 ULP; exact for powers of two.
    #[inline(always)]
    fn log2(self) -> Self {
        Self::narrow(compute(self).log2())
    }

    /// The logarithm to base 10.
    ///
    /// Error: at most 0.8 ULP.
    #[inline(always)]
    fn log10(self) -> Self {
        Self::narrow(compute(self).log10())
    }

    /// The logarithm to any base: `ln(self) / ln(base)`, with the error of three roundings.
    #[inline(always)]
    fn log(self, base: Self) -> Self {
        Self::narrow(compute(self).log(compute(base)))
    }

    /// The sine of an angle in radians.
    ///
    /// Error: at most 0.6 ULP for every `f32`. For `f64` it calls libm for each element, which does not vectorise.
    #[inline(always)]
    fn sin(self) -> Self {
        Self::narrow(compute(self).sin())
    }

    /// The cosine of an angle in radians.
    ///
    /// Error: at most 0.6 ULP for every `f32`. For `f64` it calls libm for each element, which does not vectorise.
    #[inline(always)]
    fn cos(self) -> Self {
        Self::narrow(compute(self).cos())
    }

    /// Sine and cosine.
    ///
    /// As [`sin`](Real::sin) and [`cos`](Real::cos), with one reduction of the angle.
    #[inline(always)]
    fn sin_cos(self) -> (Self, Self) {
        let (sin, cos) = compute(self).sin_cos();
        (Self::narrow(sin), Self::narrow(cos))
    }

    /// The tangent of an angle in radians.
    ///
    /// Error: at most 0.6 ULP for every `f32`. For `f64` it calls libm for each element, which does not vectorise.
    #[inline(always)]
    fn tan(self) -> Self {
        Self::narrow(compute(self).tan())
    }

    /// The arcsine, in `-π/2 ..= π/2`.
    ///
    /// Error: at most 1.3 ULP (`f32`), 1.4 (`f64`).
    #[inline(always)]
    fn asin(self) -> Self {
        Self::narrow(compute(self).asin())
    }

    /// The arccosine, in `0 ..= π`.
    ///
    /// Error: at most 1.2 ULP.
    #[inline(always)]
    fn acos(self) -> Self {
        Self::narrow(compute(self).acos())
    }

    /// The arctangent, in `-π/2 ..= π/2`.
    ///
    /// Error: at most 2.0 ULP.
    #[inline(always)]
    fn atan(self) -> Self {
        Self::narrow(compute(self).atan())
    }

    /// The angle of the point `(x = other, y = self)`, in `-π ..= π`; the signs of zeros count, as in C.
    ///
    /// Error: at most 2.1 ULP.
    #[inline(always)]
    fn atan2(self, other: Self) -> Self {
        Self::narrow(compute(self).atan2(compute(other)))
    }

    /// The hyperbolic sine.
    ///
    /// Error: at most 1.7 ULP (`f32`), 1.8 (`f64`).
    #[inline(always)]
    fn sinh(self) -> Self {
        Self::narrow(compute(self).sinh())
    }

    /// The hyperbolic cosine.
    ///
    /// Error: at most 1.5 ULP (`f32`), 1.6 (`f64`).
    #[inline(always)]
    fn cosh(self) -> Self {
        Self::narrow(compute(self).cosh())
    }

    /// The hyperbolic tangent.
    ///
    /// Error: at most 1.4 ULP (`f32`), 1.5 (`f64`).
    #[inline(always)]
    fn tanh(self) -> Self {
        Self::narrow(compute(self).tanh())
    }

    /// The inverse hyperbolic sine.
    ///
    /// Error: at most 1.8 ULP.
    #[inline(always)]
    fn asinh(self) -> Self {
        Self::narrow(compute(self).asinh())
    }

    /// The inverse hyperbolic cosine.
    ///
    /// Error: at most 2.0 ULP.
    #[inline(always)]
    fn acosh(self) -> Self {
        Self::narrow(compute(self).acosh())
    }

    /// The inverse hyperbolic tangent.
    ///
    /// Error: at most 2.1 ULP (`f32`), 2.0 (`f64`).
    #[inline(always)]
    fn atanh(self) -> Self {
        Self::narrow(compute(self).atanh())
    }

    /// The error function, `2 / sqrt(π)` times the integral of `exp(-t * t)` from 0 to `self`.
    ///
    /// Error: at most 1.2 ULP.
    #[inline(always)]
    fn erf(self) -> Self {
        Self::narrow(compute(self).erf())
    }

    /// The complement of the error function, `1 - erf(self)`, accurate where it is small.
    ///
    /// Error: at most 3.6 ULP (`f32`), 4.0 (`f64`).
    #[inline(always)]
    fn erfc(self) -> Self {
        Self::narrow(compute(self).erfc())
    }

    /// Radians to degrees: `self * (180 / π)`.
    #[inline(always)]
    fn to_degrees(self) -> Self {
        Self::narrow(compute(self).to_degrees())
    }

    /// Degrees to radians: `self * (π / 180)`.
    #[inline(always)]
    fn to_radians(self) -> Self {
        Self::narrow(compute(self).to_radians())
    }
}

/// `x` in its compute type, for the default methods.
#[inline(always)]
fn compute<T: Real>(x: T) -> T::Compute {
    // A compile-time constant: the comparison disappears after inlining.
    assert!(
        TypeId::of::<T>() != TypeId::of::<T::Compute>(),
        "{} computes in itself: implement this function of Real",
        T::NAME
    );
    x.widen()
}
