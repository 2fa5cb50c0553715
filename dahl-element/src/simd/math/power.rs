//! Powers and roots of `f32` and `f64`.
//!
//! `f32` computes in `f64`, whose error does not count there: `powf` as `exp2(y * log2(x))`, `hypot` as it is defined.
//! The cube root starts from a third of the exponent, an integer division of the bits, and is refined by Halley's or
//! Newton's method (FreeBSD's msun, `s_cbrtf.c`, `s_cbrt.c`). `hypot` of `f64` scales by a power of two.

use super::exponential::{EXP_SERIES, Exponential, limit};
use super::logarithm::Logarithm;
use super::polynomial::horner;
use super::scale::Scale;

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

/// `x` to the power `y`, from the power `size` of `|x|`: adds the sign, and NaN where the power is not real.
macro_rules! real_power {
    ($float:ident, $x:expr, $y:expr, $size:expr) => {{
        let (x, y, size): ($float, $float, $float) = ($x, $y, $size);
        // A negative number has real powers only for integers. A number without a fraction may be large, and then it is
        // even.
        let integer = y == y.trunc();
        let half = 0.5 * y;
        let odd = integer && half != half.trunc();
        let negative = if odd { -size } else { size };
        let negative = if integer || x == 0.0 || x == $float::NEG_INFINITY { negative } else { $float::NAN };
        let power = if x.is_sign_negative() { negative } else { size };
        let power = if x.is_nan() || y.is_nan() { $float::NAN } else { power };
        // Powers with exponent zero, powers of one, and infinite powers of -1 are 1, even if the other number is NaN.
        let unit = y == 0.0 || x == 1.0 || x == -1.0 && y.is_infinite();
        if unit { 1.0 } else { power }
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
        real_power!(f32, self, exponent, size)
    }

    #[inline(always)]
    fn cbrt(self) -> Self {
        // (127 - 127 / 3 - 0.03306235651) * 2^23: the bias, with the approximation's error balanced.
        const BIAS: u32 = 709_958_130;
        let magnitude = self.abs();
        // Scales a subnormal number to a normal one, by 2^24.
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
        // Even if the other one is NaN.
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
        // From 2^65 on, every power of a number other than ±1 is zero or infinite.
        let y = limit(exponent, -3.7e19, 3.7e19);
        let size = power_f64(self.abs(), y);
        let size = if self == 0.0 || self.is_infinite() { power_of_end(self, exponent) } else { size };
        real_power!(f64, self, exponent, size)
    }

    #[inline(always)]
    fn cbrt(self) -> Self {
        // (1023 - 1023 / 3 - 0.03306235651) * 2^20, for the upper half of the bits.
        const BIAS: u32 = 715_094_163;
        let magnitude = self.abs();
        // Scales a subnormal number to a normal one, by 2^54.
        let subnormal = magnitude < f64::MIN_POSITIVE;
        let x = if subnormal { magnitude * 18_014_398_509_481_984.0 } else { magnitude };
        let upper = (x.to_bits() >> 32) as u32;
        let root = f64::from_bits(u64::from(upper / 3 + BIAS) << 32);
        // To 23 bits, by a polynomial in the ratio; then rounded to that many, so that its square is exact.
        let ratio = (root * root) * (root / x);
        let root = root
            * horner(
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
        // Powers of two: scaling with them is exact.
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

/// The power of zero or infinity, without its sign.
#[inline(always)]
fn power_of_end(x: f64, y: f64) -> f64 {
    if (x == 0.0) == (y > 0.0) { 0.0 } else { f64::INFINITY }
}

/// The number with only the upper half of its bits: products of two such numbers are exact.
#[inline(always)]
fn upper(x: f64) -> f64 {
    f64::from_bits(x.to_bits() & 0xffff_ffff_0000_0000)
}

/// `x^y` for finite positive `x` and `|y| < 2^66`.
///
/// `log2(x)` and its product with `y` are sums of two numbers, the first with only an upper half. `x = 2^n * a` with
/// `a` from `sqrt(3) / 2` to `sqrt(3)`; `log2(a) = log2(b) + 2 / ln(2) * atanh(s)` with `b = 1` or `3/2`, `s = (a - b)
/// / (a + b)`.
#[inline(always)]
fn power_f64(x: f64, y: f64) -> f64 {
    // Scales a subnormal number to a normal one, by 2^53.
    let subnormal = x < f64::MIN_POSITIVE;
    let x = if subnormal { x * 9_007_199_254_740_992.0 } else { x };
    let bias = if subnormal { 1076.0 } else { 1023.0 };
    // Converts the exponent to floating point by way of the low bits of 2^52 (AVX2 does not convert 64-bit integers).
    let large = 4_503_599_627_370_496.0_f64;
    let exponent = f64::from_bits(large.to_bits() | (x.to_bits() >> 52)) - large - bias;
    let mantissa = f64::from_bits(x.to_bits() & 0x000f_ffff_ffff_ffff | 1.0_f64.to_bits());
    let outer = mantissa >= 1.732_050_807_568_877_2;
    let middle = mantissa >= 1.224_744_871_391_589 && !outer;
    let a = if outer { 0.5 * mantissa } else { mantissa };
    let n = if outer { exponent + 1.0 } else { exponent };
    let b = if middle { 1.5 } else { 1.0 };
    let log2_b_high = if middle { 5.849_624_872_207_642e-1 } else { 0.0 };
    let log2_b_low = if middle { 1.350_039_202_129_749e-8 } else { 0.0 };

    // s as a sum of two.
    let difference = a - b;
    let inverse = 1.0 / (a + b);
    let s = difference * inverse;
    let s_high = upper(s);
    let sum_high = upper(a + b);
    let sum_low = a - (sum_high - b);
    let s_low = inverse * ((difference - s_high * sum_high) - s_high * sum_low);
    // atanh(s) * 3 / s = 3 + s^2 + .., as a sum of two; then times s.
    let square = s * s;
    let rest = square * square * horner(square, ATANH) + s_low * (s_high + s);
    let square = s_high * s_high;
    let series_high = upper(3.0 + square + rest);
    let series_low = rest - ((series_high - 3.0) - square);
    let product = s_high * series_high;
    let error = s_low * series_high + series_low * s;
    let atanh_high = upper(product + error);
    let atanh_low = error - (atanh_high - product);
    // Times 2 / (3 ln(2)).
    let log_high = 9.617_967_009_544_373e-1 * atanh_high;
    let log_low = -7.028_461_650_952_758e-9 * atanh_high + atanh_low * 9.617_966_939_259_756e-1 + log2_b_low;
    let log2_high = upper(((log_high + log_low) + log2_b_high) + n);
    let log2_low = log_low - (((log2_high - n) - log2_b_high) - log_high);

    // y * log2(x), limited to the range where the result is neither zero nor infinity.
    let y_high = upper(y);
    let low = (y - y_high) * log2_high + y * log2_low;
    let high = y_high * log2_high;
    let beyond = (low + high).abs() > 1100.0;
    let high = if beyond { 1100.0_f64.copysign(high) } else { high };
    let low = if beyond { 0.0 } else { low };

    // 2 to that power.
    let (whole, integer) = (low + high).nearest();
    let high = high - whole;
    let t = upper(low + high);
    let main = t * 6.931_471_824_645_996e-1;
    let error = (low - (t - high)) * std::f64::consts::LN_2 + t * -1.904_654_299_957_768e-9;
    let r = main + error;
    let lost = error - (r - main);
    (1.0 + (r + (lost + r * r * horner(r, EXP_SERIES)))).scale(integer)
}

/// `(3 atanh(s) / s - 3 - s^2) / s^4` in `s^2`.
const ATANH: [f64; 6] = [
    5.999_999_999_999_946e-1,
    4.285_714_285_785_502e-1,
    3.333_333_298_183_774_3e-1,
    2.727_281_238_085_34e-1,
    2.306_607_457_755_617_5e-1,
    2.069_750_178_003_384_2e-1,
];
