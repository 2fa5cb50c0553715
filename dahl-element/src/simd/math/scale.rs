//! [`Scale`]: powers of two, and the integers next to numbers, by the bits of the format.

/// Operations on the exponent of a number, without branches.
pub(super) trait Scale: Sized {
    /// The signed integer of the same size.
    type Integer;

    /// The nearest integer, ties to even, as a number and as an integer. For `|self| < 2^21` (`f32`), `2^50` (`f64`);
    /// for NaN, NaN and an unspecified integer.
    ///
    /// Adding `1.5 * 2^p`, with `p` the mantissa's bits, leaves no bits for a fraction: the addition rounds, and the
    /// integer is in the low bits.
    fn nearest(self) -> (Self, Self::Integer);

    /// `2^n`, for `n` an exponent of normal numbers.
    fn power_of_two(n: Self::Integer) -> Self;

    /// `self * 2^n`, rounded once, for `n` between twice the least and twice the largest exponent.
    fn scale(self, n: Self::Integer) -> Self;

    /// The same in fewer steps, for `n` between one and a half times the least exponent and half of the largest.
    fn scale_down(self, n: Self::Integer) -> Self;
}

impl Scale for f32 {
    type Integer = i32;

    #[inline(always)]
    fn nearest(self) -> (f32, i32) {
        const MAGIC: f32 = 12_582_912.0;
        let shifted = self + MAGIC;
        (shifted - MAGIC, shifted.to_bits().wrapping_sub(MAGIC.to_bits()) as i32)
    }

    #[inline(always)]
    fn power_of_two(n: i32) -> f32 {
        f32::from_bits((n.wrapping_add(127) as u32) << 23)
    }

    #[inline(always)]
    fn scale(self, n: i32) -> f32 {
        // In two steps, since 2^n itself may be out of range; only the second can round.
        let half = n >> 1;
        self * Self::power_of_two(half) * Self::power_of_two(n.wrapping_sub(half))
    }

    #[inline(always)]
    fn scale_down(self, n: i32) -> f32 {
        self * Self::power_of_two(n.wrapping_add(63)) * const { f32::from_bits((127 - 63) << 23) }
    }
}

impl Scale for f64 {
    type Integer = i64;

    #[inline(always)]
    fn nearest(self) -> (f64, i64) {
        const MAGIC: f64 = 6_755_399_441_055_744.0;
        let shifted = self + MAGIC;
        (shifted - MAGIC, shifted.to_bits().wrapping_sub(MAGIC.to_bits()) as i64)
    }

    #[inline(always)]
    fn power_of_two(n: i64) -> f64 {
        f64::from_bits((n.wrapping_add(1023) as u64) << 52)
    }

    #[inline(always)]
    fn scale(self, n: i64) -> f64 {
        // Halved as an unsigned number: AVX2 has no arithmetic shift of 64 bits.
        let half = ((n.wrapping_add(8192) as u64) >> 1) as i64 - 4096;
        self * Self::power_of_two(half) * Self::power_of_two(n.wrapping_sub(half))
    }

    #[inline(always)]
    fn scale_down(self, n: i64) -> f64 {
        self * Self::power_of_two(n.wrapping_add(511)) * const { f64::from_bits((1023 - 511) << 52) }
    }
}
