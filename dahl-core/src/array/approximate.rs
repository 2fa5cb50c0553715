//! Comparison of arrays, exact and with a tolerance: `==` and the traits of `approx`, for arrays and for guards, so
//! that `assert_relative_eq!(a, b)` and the like work on both. Arrays of different shapes are never equal.

use approx::{AbsDiffEq, RelativeEq, UlpsEq};
use ndarray::{ArrayViewD, Dim, Dimension};

use super::{Array, ReadGuard, guard};
use crate::element::{Approximate, ApproximateFloat, Element};

/// Waits for the tasks that write an array, and returns its elements.
///
/// # Panics
/// If one of them failed.
#[track_caller]
fn elements<'a, T: Element, const N: usize>(array: &'a Array<'_, T, N>) -> ArrayViewD<'a, T> {
    guard::view(array).unwrap_or_else(|error| panic!("an array that is compared has no value: {error}"))
}

/// Requires equal shapes, and `equal` for each pair of elements.
fn all<T: Element, D: Dimension>(
    a: ndarray::ArrayView<'_, T, D>,
    b: ndarray::ArrayView<'_, T, D>,
    equal: impl Fn(T, T) -> bool,
) -> bool {
    a.shape() == b.shape() && a.iter().zip(b.iter()).all(|(&a, &b)| equal(a, b))
}

macro_rules! impl_comparison {
    ($(#[$doc:meta])* $array:ident, $view:expr, [$($bound:tt)*]) => {
        $(#[$doc])*
        impl<T: Element, const N: usize> PartialEq<$array<'_, T, N>> for $array<'_, T, N>
        $($bound)*
        {
            #[track_caller]
            fn eq(&self, other: &$array<'_, T, N>) -> bool {
                all($view(self), $view(other), |a, b| a == b)
            }
        }

        $(#[$doc])*
        impl<T: Approximate, const N: usize> AbsDiffEq<$array<'_, T, N>> for $array<'_, T, N>
        $($bound)*
        {
            type Epsilon = T::Epsilon;

            fn default_epsilon() -> Self::Epsilon {
                T::default_epsilon()
            }

            #[track_caller]
            fn abs_diff_eq(&self, other: &$array<'_, T, N>, epsilon: Self::Epsilon) -> bool {
                all($view(self), $view(other), |a, b| a.abs_diff_eq(b, epsilon))
            }
        }

        $(#[$doc])*
        impl<T: ApproximateFloat, const N: usize> RelativeEq<$array<'_, T, N>> for $array<'_, T, N>
        $($bound)*
        {
            fn default_max_relative() -> Self::Epsilon {
                T::default_max_relative()
            }

            #[track_caller]
            fn relative_eq(
                &self,
                other: &$array<'_, T, N>,
                epsilon: Self::Epsilon,
                max_relative: Self::Epsilon,
            ) -> bool {
                all($view(self), $view(other), |a, b| a.relative_eq(b, epsilon, max_relative))
            }
        }

        $(#[$doc])*
        impl<T: ApproximateFloat, const N: usize> UlpsEq<$array<'_, T, N>> for $array<'_, T, N>
        $($bound)*
        {
            fn default_max_ulps() -> u32 {
                4
            }

            #[track_caller]
            fn ulps_eq(&self, other: &$array<'_, T, N>, epsilon: Self::Epsilon, max_ulps: u32) -> bool {
                all($view(self), $view(other), |a, b| a.ulps_eq(b, epsilon, max_ulps))
            }
        }
    };
}

impl_comparison! {
    /// Waits for the tasks that write the two arrays, as [`read`](Array::read) does, and panics with the error of one
    /// that failed. `Debug` of an array, which assertions print, then shows its elements.
    Array, elements, []
}

impl_comparison! {
    /// Compares the elements without waiting.
    ReadGuard, ReadGuard::view, [where Dim<[usize; N]>: Dimension]
}
