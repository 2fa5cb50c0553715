//! Powers and roots of `f32` and `f64`.

/// Powers and roots; the meanings and errors are stated at [`Real`](crate::element::Real).
pub(crate) trait Power: Sized {
    fn powi(self, exponent: i32) -> Self;
    fn powf(self, other: Self) -> Self;
    fn cbrt(self) -> Self;
    fn hypot(self, other: Self) -> Self;
}

impl Power for f32 {
    #[inline(always)]
    fn powi(self, exponent: i32) -> Self {
        f32::powi(self, exponent)
    }

    #[inline(always)]
    fn powf(self, other: Self) -> Self {
        f32::powf(self, other)
    }

    #[inline(always)]
    fn cbrt(self) -> Self {
        f32::cbrt(self)
    }

    #[inline(always)]
    fn hypot(self, other: Self) -> Self {
        f32::hypot(self, other)
    }
}

impl Power for f64 {
    #[inline(always)]
    fn powi(self, exponent: i32) -> Self {
        f64::powi(self, exponent)
    }

    #[inline(always)]
    fn powf(self, other: Self) -> Self {
        f64::powf(self, other)
    }

    #[inline(always)]
    fn cbrt(self) -> Self {
        f64::cbrt(self)
    }

    #[inline(always)]
    fn hypot(self, other: Self) -> Self {
        f64::hypot(self, other)
    }
}
