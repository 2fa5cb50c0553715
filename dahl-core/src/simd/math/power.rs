//! Powers and roots of `f32` and `f64`.
//!
//! `f32` computes in `f64`, whose error does not count there: `powf` as `exp2(y * log2(x))`, `hypot` as it is defined.
//! The cube root starts from a third of the exponent, an integer division of the bits, and is refined by Halley's or
//! Newton's method (FreeBSD's msun, `s_cbrtf.c`, `s_cbrt.c`). `hypot` of `f64` scales by a power of two.

use super::exponential::Exponential;
use super::logarithm::Logarithm;
use super::polynomial::polynomial;

/// Powers and roots; the meanings and errors are stated at [`Real`](crate::element::Real).
pub(crate) trait Power: Sized {
    fn powi(self, exponent: i32) -> Self;
    fn powf(self, exponent: Self) -> Self;
    fn cbrt(self) -> Self;
    fn hypot(self, other: Self) -> Self;
}

/// `x` to the power `n`, by repeated squaring.
macro_rules! power_of_integer {
    ($x:expr, $n:expr) => {{
        let (mut square, mut n) = ($x, $n.unsigned_abs());
        let mut product = 1.0;
        while n > 0 {
            if n & 1 == 1 {
                product *= square;
            }
            square *= square;
            n >>= 1;
        }
        if $n < 0 { 1.0 / product } else { product }
    }};
}

impl Power for f32 {
    #[inline(always)]
    fn powi(self, exponent: i32) -> Self {
        power_of_integer!(self, exponent)
    }

    #[inline(always)]
    fn powf(self, exponent: Self) -> Self {
        let (x, y) = (self as f64, exponent as f64);
        let size = Exponential::exp2(y * Logarithm::log2(x.abs())) as f32;
        // Of a negative number only integer powers are real. From 2^24 on, every f32 is even.
        let integer = exponent == exponent.trunc();
        let half = 0.5 * exponent;
        let odd = integer && half != half.trunc();
        let negative = if odd { -size } else { size };
        let negative = if integer || self == 0.0 || self == f32::NEG_INFINITY { negative } else { f32::NAN };
        let power = if self.is_sign_negative() { negative } else { size };
        // Of an infinite power of -1, and of a zeroth or first one, there is no doubt: not even if the other is NaN.
        let unit = exponent == 0.0 || self == 1.0 || self == -1.0 && exponent.is_infinite();
        let power = if self.is_nan() { f32::NAN } else { power };
        if unit { 1.0 } else { power }
    }

    #[inline(always)]
    fn cbrt(self) -> Self {
        // (127 - 127 / 3 - 0.03306235651) * 2^23: the bias, with the error of the approximation balanced.
        const BIAS: u32 = 709_958_130;
        let magnitude = self.abs();
        // A subnormal number is first made a normal one, by 2^24.
        let subnormal = magnitude < f32::MIN_POSITIVE;
        let normal = if subnormal { magnitude * 16_777_216.0 } else { magnitude };
        let x = normal as f64;
        let mut root = f32::from_bits(normal.to_bits() / 3 + BIAS) as f64;
        for _ in 0..2 {
            let cube = root * root * root;
            root = root * (x + x + cube) / (x + cube + cube);
        }
        let root = if subnormal { root * (1.0 / 256.0) } else { root };
        let root = if magnitude > 0.0 && magnitude < f32::INFINITY { root as f32 } else { magnitude };
        root.copysign(self)
    }

    #[inline(always)]
    fn hypot(self, other: Self) -> Self {
        let (a, b) = (self as f64, other as f64);
        let root = (a * a + b * b).sqrt() as f32;
        // Even if the other is NaN.
        if self.is_infinite() || other.is_infinite() { f32::INFINITY } else { root }
    }
}

impl Power for f64 {
    #[inline(always)]
    fn powi(self, exponent: i32) -> Self {
        power_of_integer!(self, exponent)
    }

    #[inline(always)]
    fn powf(self, exponent: Self) -> Self {
        f64::powf(self, exponent)
    }

    #[inline(always)]
    fn cbrt(self) -> Self {
        // (1023 - 1023 / 3 - 0.03306235651) * 2^20, for the upper half of the bits.
        const BIAS: u32 = 715_094_163;
        let magnitude = self.abs();
        // A subnormal number is first made a normal one, by 2^54.
        let subnormal = magnitude < f64::MIN_POSITIVE;
        let x = if subnormal { magnitude * 18_014_398_509_481_984.0 } else { magnitude };
        let upper = (x.to_bits() >> 32) as u32;
        let root = f64::from_bits(u64::from(upper / 3 + BIAS) << 32);
        // To 23 bits, by a polynomial in the ratio; then rounded to that many, so that its square is exact.
        let ratio = (root * root) * (root / x);
        let root = root
            * polynomial(
                ratio,
                [
                    1.875_951_824_271_77,
                    -1.884_979_795_433_771_7,
                    1.621_429_720_105_354_5,
                    -0.758_397_934_778_766,
                    0.145_996_192_886_612_45,
                ],
            );
        let root = f64::from_bits((root.to_bits() + 0x8000_0000) & 0xffff_ffff_c000_0000);
        let quotient = x / (root * root);
        let root = root + root * ((quotient - root) / (root + root + quotient));
        let root = if subnormal { root * (1.0 / 262_144.0) } else { root };
        let root = if magnitude > 0.0 && magnitude < f64::INFINITY { root } else { magnitude };
        root.copysign(self)
    }

    #[inline(always)]
    fn hypot(self, other: Self) -> Self {
        let (a, b) = (self.abs(), other.abs());
        let larger = if a > b { a } else { b };
        // Powers of two: exact, and undone exactly.
        let (huge, tiny) = (larger > 1e150, larger < 1e-140);
        let scale = f64::from_bits(if huge { 0x1a70_0000_0000_0000 } else { 0x3ff0_0000_0000_0000 });
        let scale = if tiny { f64::from_bits(0x6570_0000_0000_0000) } else { scale };
        let inverse = f64::from_bits(if huge { 0x6570_0000_0000_0000 } else { 0x3ff0_0000_0000_0000 });
        let inverse = if tiny { f64::from_bits(0x1a70_0000_0000_0000) } else { inverse };
        let (a, b) = (a * scale, b * scale);
        let root = (a * a + b * b).sqrt() * inverse;
        if self.is_infinite() || other.is_infinite() { f64::INFINITY } else { root }
    }
}
