//! Comparing arrays with a tolerance: the traits of `approx`, for guards, so that `assert_relative_eq!` and its kin work
//! on `x.read()?`.

use approx::{AbsDiffEq, RelativeEq, UlpsEq};
use ndarray::{Dim, Dimension};

use super::ReadGuard;
use crate::element::Element;

/// Equal shapes, and `equal` for each pair of elements.
fn all<T: Element, const N: usize>(
    a: &ReadGuard<'_, T, N>,
    b: &ReadGuard<'_, T, N>,
    equal: impl Fn(&T, &T) -> bool,
) -> bool
where
    Dim<[usize; N]>: Dimension,
{
    a.shape() == b.shape() && a.iter().zip(b.iter()).all(|(a, b)| equal(a, b))
}

impl<T: Element, const N: usize> PartialEq for ReadGuard<'_, T, N>
where
    Dim<[usize; N]>: Dimension,
{
    fn eq(&self, other: &Self) -> bool {
        all(self, other, T::eq)
    }
}

impl<T: Element + AbsDiffEq<Epsilon: Copy>, const N: usize> AbsDiffEq for ReadGuard<'_, T, N>
where
    Dim<[usize; N]>: Dimension,
{
    type Epsilon = T::Epsilon;

    fn default_epsilon() -> Self::Epsilon {
        T::default_epsilon()
    }

    fn abs_diff_eq(&self, other: &Self, epsilon: Self::Epsilon) -> bool {
        all(self, other, |a, b| a.abs_diff_eq(b, epsilon))
    }
}

impl<T: Element + RelativeEq<Epsilon: Copy>, const N: usize> RelativeEq for ReadGuard<'_, T, N>
where
    Dim<[usize; N]>: Dimension,
{
    fn default_max_relative() -> Self::Epsilon {
        T::default_max_relative()
    }

    fn relative_eq(&self, other: &Self, epsilon: Self::Epsilon, max_relative: Self::Epsilon) -> bool {
        all(self, other, |a, b| a.relative_eq(b, epsilon, max_relative))
    }
}

impl<T: Element + UlpsEq<Epsilon: Copy>, const N: usize> UlpsEq for ReadGuard<'_, T, N>
where
    Dim<[usize; N]>: Dimension,
{
    fn default_max_ulps() -> u32 {
        T::default_max_ulps()
    }

    fn ulps_eq(&self, other: &Self, epsilon: Self::Epsilon, max_ulps: u32) -> bool {
        all(self, other, |a, b| a.ulps_eq(b, epsilon, max_ulps))
    }
}
