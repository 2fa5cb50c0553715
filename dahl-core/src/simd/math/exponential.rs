//! Exponential functions of `f32` and `f64`.

/// Exponential functions; the meanings and errors are stated at [`Real`](crate::element::Real).
pub(crate) trait Exponential: Sized {
    fn exp(self) -> Self;
    fn exp2(self) -> Self;
    fn exp_m1(self) -> Self;
}

impl Exponential for f32 {
    #[inline(always)]
    fn exp(self) -> Self {
        f32::exp(self)
    }

    #[inline(always)]
    fn exp2(self) -> Self {
        f32::exp2(self)
    }

    #[inline(always)]
    fn exp_m1(self) -> Self {
        f32::exp_m1(self)
    }
}

impl Exponential for f64 {
    #[inline(always)]
    fn exp(self) -> Self {
        f64::exp(self)
    }

    #[inline(always)]
    fn exp2(self) -> Self {
        f64::exp2(self)
    }

    #[inline(always)]
    fn exp_m1(self) -> Self {
        f64::exp_m1(self)
    }
}
