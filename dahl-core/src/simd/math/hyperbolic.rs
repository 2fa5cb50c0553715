//! Hyperbolic functions and their inverses of `f32` and `f64`.

/// Hyperbolic functions and their inverses; the meanings and errors are stated at [`Real`](crate::element::Real).
pub(crate) trait Hyperbolic: Sized {
    fn sinh(self) -> Self;
    fn cosh(self) -> Self;
    fn tanh(self) -> Self;
    fn asinh(self) -> Self;
    fn acosh(self) -> Self;
    fn atanh(self) -> Self;
}

impl Hyperbolic for f32 {
    #[inline(always)]
    fn sinh(self) -> Self {
        f32::sinh(self)
    }

    #[inline(always)]
    fn cosh(self) -> Self {
        f32::cosh(self)
    }

    #[inline(always)]
    fn tanh(self) -> Self {
        f32::tanh(self)
    }

    #[inline(always)]
    fn asinh(self) -> Self {
        f32::asinh(self)
    }

    #[inline(always)]
    fn acosh(self) -> Self {
        f32::acosh(self)
    }

    #[inline(always)]
    fn atanh(self) -> Self {
        f32::atanh(self)
    }
}

impl Hyperbolic for f64 {
    #[inline(always)]
    fn sinh(self) -> Self {
        f64::sinh(self)
    }

    #[inline(always)]
    fn cosh(self) -> Self {
        f64::cosh(self)
    }

    #[inline(always)]
    fn tanh(self) -> Self {
        f64::tanh(self)
    }

    #[inline(always)]
    fn asinh(self) -> Self {
        f64::asinh(self)
    }

    #[inline(always)]
    fn acosh(self) -> Self {
        f64::acosh(self)
    }

    #[inline(always)]
    fn atanh(self) -> Self {
        f64::atanh(self)
    }
}
