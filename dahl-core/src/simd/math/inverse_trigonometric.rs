//! Inverse trigonometric functions of `f32` and `f64`.

/// Inverse trigonometric functions; the meanings and errors are stated at [`Real`](crate::element::Real).
pub(crate) trait InverseTrigonometric: Sized {
    fn asin(self) -> Self;
    fn acos(self) -> Self;
    fn atan(self) -> Self;
    fn atan2(self, other: Self) -> Self;
}

impl InverseTrigonometric for f32 {
    #[inline(always)]
    fn asin(self) -> Self {
        f32::asin(self)
    }

    #[inline(always)]
    fn acos(self) -> Self {
        f32::acos(self)
    }

    #[inline(always)]
    fn atan(self) -> Self {
        f32::atan(self)
    }

    #[inline(always)]
    fn atan2(self, other: Self) -> Self {
        f32::atan2(self, other)
    }
}

impl InverseTrigonometric for f64 {
    #[inline(always)]
    fn asin(self) -> Self {
        f64::asin(self)
    }

    #[inline(always)]
    fn acos(self) -> Self {
        f64::acos(self)
    }

    #[inline(always)]
    fn atan(self) -> Self {
        f64::atan(self)
    }

    #[inline(always)]
    fn atan2(self, other: Self) -> Self {
        f64::atan2(self, other)
    }
}
