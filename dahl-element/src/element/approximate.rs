//! [`Approximate`] and [`ApproximateFloat`]: the operations on elements that the traits of `approx` need, for all
//! element types.
//!
//! The crate `half` does not implement `approx`, and no other crate can; therefore dahl has traits of its own.

use half::{bf16, f16};

use super::{Element, Real};

/// Elements that can be compared up to an absolute difference.
///
/// [`approx::AbsDiffEq`] on arrays requires it. Implement it for an element type of your own.
pub trait Approximate: Element {
    /// The type of a tolerance: the element's own, but `f32` for `f16` and `bf16`.
    type Epsilon: Copy;

    /// The default tolerance: see [`approx::AbsDiffEq::default_epsilon`].
    fn default_epsilon() -> Self::Epsilon;

    /// Whether the difference is at most `epsilon`.
    fn abs_diff_eq(self, other: Self, epsilon: Self::Epsilon) -> bool;
}

/// Elements that can be compared up to a relative difference, and up to a number of units in the last place.
///
/// [`approx::RelativeEq`] and [`approx::UlpsEq`] on arrays require it.
pub trait ApproximateFloat: Approximate {
    /// The default relative tolerance.
    fn default_max_relative() -> Self::Epsilon;

    /// Whether the difference is at most `epsilon`, or at most `max_relative` times the larger of the two.
    fn relative_eq(self, other: Self, epsilon: Self::Epsilon, max_relative: Self::Epsilon) -> bool;

    /// Whether the difference is at most `epsilon`, or the two have the same sign and less than `max_ulps` numbers lie
    /// between them.
    fn ulps_eq(self, other: Self, epsilon: Self::Epsilon, max_ulps: u32) -> bool;
}

macro_rules! impl_by_approx {
    ($($ty:ident),*) => {$(
        impl Approximate for $ty {
            type Epsilon = $ty;

            fn default_epsilon() -> $ty {
                <$ty as approx::AbsDiffEq>::default_epsilon()
            }

            fn abs_diff_eq(self, other: Self, epsilon: $ty) -> bool {
                approx::AbsDiffEq::abs_diff_eq(&self, &other, epsilon)
            }
        }
    )*};
}

impl_by_approx!(f32, f64, u8, u32, i32, i64);

macro_rules! impl_float_by_approx {
    ($($ty:ident),*) => {$(
        impl ApproximateFloat for $ty {
            fn default_max_relative() -> $ty {
                <$ty as approx::RelativeEq>::default_max_relative()
            }

            fn relative_eq(self, other: Self, epsilon: $ty, max_relative: $ty) -> bool {
                approx::RelativeEq::relative_eq(&self, &other, epsilon, max_relative)
            }

            fn ulps_eq(self, other: Self, epsilon: $ty, max_ulps: u32) -> bool {
                approx::UlpsEq::ulps_eq(&self, &other, epsilon, max_ulps)
            }
        }
    )*};
}

impl_float_by_approx!(f32, f64);

macro_rules! impl_half {
    ($($half:ident),*) => {$(
        impl Approximate for $half {
            type Epsilon = f32;

            fn default_epsilon() -> f32 {
                Self::EPSILON.to_f32()
            }

            fn abs_diff_eq(self, other: Self, epsilon: f32) -> bool {
                approx::AbsDiffEq::abs_diff_eq(&self.to_f32(), &other.to_f32(), epsilon)
            }
        }

        impl ApproximateFloat for $half {
            fn default_max_relative() -> f32 {
                Self::EPSILON.to_f32()
            }

            fn relative_eq(self, other: Self, epsilon: f32, max_relative: f32) -> bool {
                approx::RelativeEq::relative_eq(&self.to_f32(), &other.to_f32(), epsilon, max_relative)
            }

            fn ulps_eq(self, other: Self, epsilon: f32, max_ulps: u32) -> bool {
                let (a, b) = (self.to_bits(), other.to_bits());
                let comparable = !Real::is_nan(self) && !Real::is_nan(other) && a >> 15 == b >> 15;
                Approximate::abs_diff_eq(self, other, epsilon)
                    || comparable && u32::from(a.abs_diff(b)) <= max_ulps
            }
        }
    )*};
}

impl_half!(f16, bf16);
