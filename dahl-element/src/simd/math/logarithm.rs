//! Logarithms of `f32` and `f64`.
//!
//! `x = 2^k * (1 + f)` with `1 + f` in `sqrt(1/2) .. sqrt(2)`, and `ln(1 + f) = f - (f^2 / 2 - s * (f^2 / 2 + R(s^2)))`
//! with `s = f / (2 + f)` and `R` a polynomial; `k * ln(2)` is added in two parts. For `log2` and `log10`, `ln(1 + f)` is
//! split in a high part of few bits, whose product with the constant is exact, and a low part. After FreeBSD's msun
//! (`e_log.c`, `s_log1p.c`, `e_log2.c`, `e_log10.c` and their `f` variants; Sun Microsystems, 1993), with selects in the
//! place of branches.

use super::polynomial::horner;

/// Logarithms; the meanings and errors are stated at [`Real`](crate::element::Real).
pub(crate) trait Logarithm: Sized {
    fn ln(self) -> Self;
    fn ln_1p(self) -> Self;
    fn log2(self) -> Self;
    fn log10(self) -> Self;
}

macro_rules! impl_logarithm {
    (
        $float:ident, $bits:ident, $signed:ident,
        mantissa_bits: $mantissa_bits:literal,
        sqrt_half_bits: $sqrt_half_bits:literal,
        high_mask: $high_mask:literal,
        ln_2: [$ln_2_high:literal, $ln_2_low:literal],
        log2_e: [$log2_e_high:literal, $log2_e_low:literal],
        log10_e: [$log10_e_high:literal, $log10_e_low:literal],
        log10_2: [$log10_2_high:literal, $log10_2_low:literal],
        polynomial: $polynomial:expr,
    ) => {
        const _: () = {
            /// `k` and `f` of `x = 2^k * (1 + f)`, for a positive number.
            #[inline(always)]
            fn reduce(x: $float) -> ($float, $float) {
                // Scales a subnormal number to a normal one.
                let subnormal = x < $float::MIN_POSITIVE;
                let shift = (1_u64 << ($mantissa_bits + 2)) as $float;
                let normal = if subnormal { x * shift } else { x };
                let bias = if subnormal { ($mantissa_bits + 2) as $float } else { 0.0 };
                // The exponent increases at sqrt(1/2) instead of at 1.
                let one = (1.0 as $float).to_bits();
                let bits = normal.to_bits().wrapping_add(one - $sqrt_half_bits);
                // Converts the exponent to floating point by way of the low bits of a large number (AVX2 does not
                // convert 64-bit integers).
                let large = (1_u64 << $mantissa_bits) as $float;
                let exponent = $float::from_bits(large.to_bits() | (bits >> $mantissa_bits)) - large;
                let mantissa = (bits & ((1 << $mantissa_bits) - 1)).wrapping_add($sqrt_half_bits);
                (exponent - (one >> $mantissa_bits) as $float - bias, $float::from_bits(mantissa) - 1.0)
            }

            /// `f^2 / 2`, and `s * (f^2 / 2 + R)`: `ln(1 + f) = f - (f^2 / 2 - that)`.
            #[inline(always)]
            fn series(f: $float) -> ($float, $float) {
                let s = f / (2.0 + f);
                let square = s * s;
                let half = 0.5 * f * f;
                (half, s * (half + square * horner(square, $polynomial)))
            }

            /// `ln(1 + f)` as a sum of two numbers, the first with few bits.
            #[inline(always)]
            fn split(f: $float) -> ($float, $float) {
                let (half, rest) = series(f);
                let high = $float::from_bits((f - half).to_bits() & $high_mask);
                (high, (f - high) - half + rest)
            }

            /// The logarithm of zero, infinity, negative numbers and NaN; else `result`.
            #[inline(always)]
            fn special(x: $float, result: $float) -> $float {
                let result = if x == $float::INFINITY { x } else { result };
                let result = if x == 0.0 { $float::NEG_INFINITY } else { result };
                // Also false for NaN.
                if x >= 0.0 { result } else { $float::NAN }
            }

            impl Logarithm for $float {
                #[inline(always)]
                fn ln(self) -> Self {
                    let (k, f) = reduce(self);
                    let (half, rest) = series(f);
                    special(self, rest + k * $ln_2_low - half + f + k * $ln_2_high)
                }

                #[inline(always)]
                fn ln_1p(self) -> Self {
                    let sum = 1.0 + self;
                    // The rounding error of the addition, relative to the sum.
                    let lost = if sum > 2.0 { 1.0 - (sum - self) } else { self - (sum - 1.0) };
                    let (k, f) = reduce(sum);
                    // With an exponent of 0, `self` itself is exactly f.
                    let near = k == 0.0;
                    let f = if near { self } else { f };
                    let correction = if near { 0.0 } else { lost / sum };
                    let (half, rest) = series(f);
                    let result = rest + (k * $ln_2_low + correction) - half + f + k * $ln_2_high;
                    let result = if self == 0.0 { self } else { result };
                    special(sum, result)
                }

                #[inline(always)]
                fn log2(self) -> Self {
                    let (k, f) = reduce(self);
                    let (high, low) = split(f);
                    let leading = high * $log2_e_high;
                    let sum = k + leading;
                    let trailing = (low + high) * $log2_e_low + low * $log2_e_high;
                    special(self, trailing + ((k - sum) + leading) + sum)
                }

                #[inline(always)]
                fn log10(self) -> Self {
                    let (k, f) = reduce(self);
                    let (high, low) = split(f);
                    let leading = high * $log10_e_high;
                    let exponent = k * $log10_2_high;
                    let sum = exponent + leading;
                    let trailing = k * $log10_2_low + (low + high) * $log10_e_low + low * $log10_e_high;
                    special(self, trailing + ((exponent - sum) + leading) + sum)
                }
            }
        };
    };
}

impl_logarithm! {
    f32, u32, i32,
    mantissa_bits: 23,
    sqrt_half_bits: 0x3f35_04f3,
    high_mask: 0xffff_f000,
    ln_2: [6.931_381e-1, 9.058_001e-6],
    log2_e: [1.442_871_1, -1.760_528_5e-4],
    log10_e: [4.343_261_7e-1, -3.168_997e-5],
    log10_2: [3.010_292e-1, 7.903_415e-7],
    polynomial: [0.666_666_6, 0.400_009_72, 0.284_987_87, 0.242_790_79],
}

impl_logarithm! {
    f64, u64, i64,
    mantissa_bits: 52,
    sqrt_half_bits: 0x3fe6_a09e_667f_3bcd,
    high_mask: 0xffff_ffff_0000_0000,
    ln_2: [6.931_471_803_691_238e-1, 1.908_214_929_270_587_7e-10],
    log2_e: [1.442_695_040_721_446_3, 1.675_171_316_488_651_2e-10],
    log10_e: [4.342_944_818_781_689e-1, 2.508_294_671_164_527_5e-11],
    log10_2: [3.010_299_956_636_117_7e-1, 3.694_239_077_158_931e-13],
    polynomial: [
        6.666_666_666_666_735e-1, 3.999_999_999_940_942e-1, 2.857_142_874_366_239e-1, 2.222_219_843_214_978_4e-1,
        1.818_357_216_161_805e-1, 1.531_383_769_920_937_3e-1, 1.479_819_860_511_658_6e-1,
    ],
}
