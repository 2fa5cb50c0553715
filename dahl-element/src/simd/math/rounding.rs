//! Rounding to integers of `f32` and `f64`.

/// Rounding to integers; the meanings and errors are stated at [`Real`](crate::element::Real).
pub(crate) trait Rounding: Sized {
    fn floor(self) -> Self;
    fn ceil(self) -> Self;
    fn round(self) -> Self;
    fn round_ties_even(self) -> Self;
    fn trunc(self) -> Self;
    fn fract(self) -> Self;
}

impl Rounding for f32 {
    #[inline(always)]
    fn floor(self) -> Self {
        f32::floor(self)
    }

    #[inline(always)]
    fn ceil(self) -> Self {
        f32::ceil(self)
    }

    #[inline(always)]
    fn round(self) -> Self {
        f32::round(self)
    }

    #[inline(always)]
    fn round_ties_even(self) -> Self {
        f32::round_ties_even(self)
    }

    #[inline(always)]
    fn trunc(self) -> Self {
        f32::trunc(self)
    }

    #[inline(always)]
    fn fract(self) -> Self {
        f32::fract(self)
    }
}

impl Rounding for f64 {
    #[inline(always)]
    fn floor(self) -> Self {
        f64::floor(self)
    }

    #[inline(always)]
    fn ceil(self) -> Self {
        f64::ceil(self)
    }

    #[inline(always)]
    fn round(self) -> Self {
        f64::round(self)
    }

    #[inline(always)]
    fn round_ties_even(self) -> Self {
        f64::round_ties_even(self)
    }

    #[inline(always)]
    fn trunc(self) -> Self {
        f64::trunc(self)
    }

    #[inline(always)]
    fn fract(self) -> Self {
        f64::fract(self)
    }
}
