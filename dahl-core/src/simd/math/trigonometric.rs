//! Trigonometric functions of `f32` and `f64`.

/// Trigonometric functions; the meanings and errors are stated at [`Real`](crate::element::Real).
pub(crate) trait Trigonometric: Sized {
    fn sin(self) -> Self;
    fn cos(self) -> Self;
    fn tan(self) -> Self;
}

impl Trigonometric for f32 {
    #[inline(always)]
    fn sin(self) -> Self {
        f32::sin(self)
    }

    #[inline(always)]
    fn cos(self) -> Self {
        f32::cos(self)
    }

    #[inline(always)]
    fn tan(self) -> Self {
        f32::tan(self)
    }
}

impl Trigonometric for f64 {
    #[inline(always)]
    fn sin(self) -> Self {
        f64::sin(self)
    }

    #[inline(always)]
    fn cos(self) -> Self {
        f64::cos(self)
    }

    #[inline(always)]
    fn tan(self) -> Self {
        f64::tan(self)
    }
}
