//! Logarithms of `f32` and `f64`.
//!
//! `x = 2^k * (1 + f)` with `1 + f` in `sqrt(1/2) .. sqrt(2)`, and `ln(1 + f) = f - (f^2 / 2 - s * (f^2 / 2 + R(s^2)))`
//! with `s = f / (2 + f)` and `R` a polynomial; `k * ln(2)` is added in two parts. For `log2` and `log10`, `ln(1 + f)` is
//! split in a high part of few bits, whose product with the constant is exact, and a low part. After FreeBSD's msun
//! (`e_log.c`, `s_log1p.c`, `e_log2.c`, `e_log10.c` and their `f` variants; Sun Microsystems, 1993), with selects in the
//! place of branches.

use super::polynomial::polynomial;

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
                // A subnormal number is first made a normal one.
                let subnormal = x < $float::MIN_POSITIVE;
                let shift = (1_u64 << ($mantissa_bits + 2)) as $float;
                let normal = if subnormal { x * shift } else { x };
                let bias = if subnormal { ($mantissa_bits + 2) as $float } else { 0.0 };
                // The exponent rises at sqrt(1/2) in the place of 1.
                let one = (1.0 as $float).to_bits();
                let bits = normal.to_bits().wrapping_add(one - $sqrt_half_bits);
                // The exponent as a number: it is put in the low bits of a large one (AVX2 converts no 64-bit integers).
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
                (half, s * (half + square * polynomial(square, $polynomial)))
            }

            /// `ln(1 + f)` as a sum of two, the first of few bits.
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
                // False for NaN too.
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
                    // What the addition lost, relative to the sum.
                    let lost = if sum > 2.0 { 1.0 - (sum - self) } else { self - (sum - 1.0) };
                    let (k, f) = reduce(sum);
                    // Where no exponent is taken out, `self` itself is the f, exactly.
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
    ln_2: [6.9313812256e-01, 9.0580006145e-06],
    log2_e: [1.4428710938e+00, -1.7605285393e-04],
    log10_e: [4.3432617188e-01, -3.1689971365e-05],
    log10_2: [3.0102920532e-01, 7.9034151668e-07],
    polynomial: [0.66666662693, 0.40000972152, 0.28498786688, 0.24279078841],
}

impl_logarithm! {
    f64, u64, i64,
    mantissa_bits: 52,
    sqrt_half_bits: 0x3fe6_a09e_667f_3bcd,
    high_mask: 0xffff_ffff_0000_0000,
    ln_2: [6.93147180369123816490e-01, 1.90821492927058770002e-10],
    log2_e: [1.44269504072144627571e+00, 1.67517131648865118353e-10],
    log10_e: [4.34294481878168880939e-01, 2.50829467116452752298e-11],
    log10_2: [3.01029995663611771306e-01, 3.69423907715893078616e-13],
    polynomial: [
        6.666666666666735130e-01, 3.999999999940941908e-01, 2.857142874366239149e-01, 2.222219843214978396e-01,
        1.818357216161805012e-01, 1.531383769920937332e-01, 1.479819860511658591e-01,
    ],
}
