//! Logarithms of `f32` and `f64`.

/// Logarithms; the meanings and errors are stated at [`Real`](crate::element::Real).
pub(crate) trait Logarithm: Sized {
    fn ln(self) -> Self;
    fn ln_1p(self) -> Self;
    fn log2(self) -> Self;
    fn log10(self) -> Self;
}

impl Logarithm for f32 {
    #[inline(always)]
    fn ln(self) -> Self {
        f32::ln(self)
    }

    #[inline(always)]
    fn ln_1p(self) -> Self {
        f32::ln_1p(self)
    }

    #[inline(always)]
    fn log2(self) -> Self {
        f32::log2(self)
    }

    #[inline(always)]
    fn log10(self) -> Self {
        f32::log10(self)
    }
}

impl Logarithm for f64 {
    #[inline(always)]
    fn ln(self) -> Self {
        f64::ln(self)
    }

    #[inline(always)]
    fn ln_1p(self) -> Self {
        f64::ln_1p(self)
    }

    #[inline(always)]
    fn log2(self) -> Self {
        f64::log2(self)
    }

    #[inline(always)]
    fn log10(self) -> Self {
        f64::log10(self)
    }
}
