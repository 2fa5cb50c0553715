//! The functions of `Real`: their errors in ULP over the whole range, and their special values.
//!
//! Both types are compared with a double-double reference (`double_double`), except the trigonometric functions, whose
//! reference is the standard library's `f64` (which is what `f64` calls). `cargo test -p dahl-element real:: -- --nocapture` prints the measured errors.

mod double_double;
mod special;

use dahl_element::element::Real;
use double_double::DoubleDouble;

/// Pseudorandom bits (splitmix64).
fn random(seed: u64) -> u64 {
    let x = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

trait Sampled: Real {
    /// Every exponent with some thousand mantissas each, both signs, and more where functions have special points.
    fn sample() -> Vec<Self>;

    /// The distance from `self` to `exact`, in units of the last place of this type at `exact`; 0 if both are NaN.
    fn error_ulp(self, exact: DoubleDouble) -> f64;
}

const EDGES: [f64; 29] = [
    // Where errors in f32 are largest: of erfc, exp_m1 and asin.
    0.500_406_92,
    0.348_679_84,
    0.505_877_5,
    0.0,
    -0.0,
    0.5,
    -0.5,
    0.625,
    1.0,
    -1.0,
    2.0,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::NAN,
    f64::MAX,
    f64::MIN,
    f64::MIN_POSITIVE,
    88.722_83,
    88.722_84,
    -87.33,
    -103.97,
    -103.98,
    709.782_712_893_384,
    709.782_712_893_385,
    -708.39,
    -745.133_219,
    -745.133_22,
    128.0,
    1024.0,
];

impl Sampled for f32 {
    fn sample() -> Vec<f32> {
        let everywhere = (0..=u32::MAX).step_by(9973).map(f32::from_bits);
        let near = (0..100_000).map(|i| (i as f32 - 50_000.0) * 2.4e-3);
        let ordinary = (0..200_000).map(|i| (i as f32 - 100_000.0) * 2.2e-5);
        everywhere.chain(near).chain(ordinary).chain(EDGES.map(|x| x as f32)).collect()
    }

    fn error_ulp(self, exact: DoubleDouble) -> f64 {
        if self.is_nan() && exact.high.is_nan() || self.is_infinite() && exact.high as f32 == self {
            return 0.0;
        }
        ((self as f64 - exact.high) - exact.low).abs() / ulp(exact.high, -126, 23)
    }
}

impl Sampled for f64 {
    fn sample() -> Vec<f64> {
        let everywhere = (0..150_000).map(|i| f64::from_bits(random(i)));
        let near = (0..100_000).map(|i| (random(i) as f64 / 2.0_f64.powi(63) - 1.0) * 750.0);
        let ordinary = (0..200_000).map(|i| (random(i) as f64 / 2.0_f64.powi(63) - 1.0) * 3.0);
        let exponents = (0..150_000).map(|i| {
            let x = f64::from_bits(random(i) >> 12 | 0x3ff0_0000_0000_0000);
            x * 2.0_f64.powi((i % 80) as i32 - 60) * if i / 80 % 2 == 0 { 1.0 } else { -1.0 }
        });
        everywhere.chain(near).chain(ordinary).chain(exponents).chain(EDGES).collect()
    }

    fn error_ulp(self, exact: DoubleDouble) -> f64 {
        if self.is_nan() && exact.high.is_nan() || self.is_infinite() && exact.high == self {
            return 0.0;
        }
        let ulp = ulp(exact.high, -1022, 52);
        (((self - exact.high) - exact.low) / ulp).abs()
    }
}

/// The unit in the last place at `x`, in a format with this least exponent and this many bits of mantissa.
fn ulp(x: f64, least_exponent: i32, mantissa_bits: i32) -> f64 {
    let exponent = ((x.to_bits() >> 52 & 0x7ff) as i32 - 1023).max(least_exponent);
    2.0_f64.powi(exponent) * 2.0_f64.powi(-mantissa_bits)
}

/// The largest error of `function` against `exact`, and its argument.
fn worst<T: Sampled>(function: impl Fn(T) -> T, exact: impl Fn(f64) -> DoubleDouble) -> (f64, T) {
    let mut worst = (0.0, T::ZERO);
    for x in T::sample() {
        let error = function(x).error_ulp(exact(x.to_f64()));
        if error > worst.0 || error.is_nan() {
            worst = (if error.is_nan() { f64::INFINITY } else { error }, x);
        }
    }
    worst
}

macro_rules! errors {
    ($($function:ident, $reference:expr, $f32_ulp:literal, $f64_ulp:literal;)*) => {$(
        #[test]
        fn $function() {
            let (single, at_single) = worst::<f32>(Real::$function, $reference);
            let (double, at_double) = worst::<f64>(Real::$function, $reference);
            println!("{:8} f32 {single:.2} ULP at {at_single:e}; f64 {double:.2} ULP at {at_double:e}", stringify!($function));
            assert!(single <= $f32_ulp, "f32: {single} ULP at {at_single:e}");
            assert!(double <= $f64_ulp, "f64: {double} ULP at {at_double:e}");
        }
    )*};
}

errors! {
    sqrt, double_double::sqrt, 0.501, 0.501;
    cbrt, double_double::cbrt, 0.51, 0.7;
    exp, double_double::exp, 1.0, 1.2;
    exp2, double_double::exp2, 1.2, 1.2;
    exp_m1, double_double::exp_m1, 1.6, 2.2;
    ln, double_double::ln, 0.9, 0.9;
    ln_1p, double_double::ln_1p, 0.9, 0.9;
    log2, double_double::log2, 0.9, 0.9;
    log10, double_double::log10, 0.8, 0.8;
    sin, |x| double_double::exact(x.sin()), 0.6, 0.0;
    cos, |x| double_double::exact(x.cos()), 0.6, 0.0;
    tan, |x| double_double::exact(x.tan()), 0.6, 0.0;
    asin, double_double::asin, 1.3, 1.4;
    acos, double_double::acos, 1.2, 1.2;
    atan, double_double::atan, 2.0, 2.0;
    sinh, double_double::sinh, 1.7, 1.8;
    cosh, double_double::cosh, 1.5, 1.6;
    tanh, double_double::tanh, 1.4, 1.5;
    asinh, double_double::asinh, 1.8, 1.8;
    acosh, double_double::acosh, 2.0, 2.0;
    atanh, double_double::atanh, 2.1, 2.0;
    erf, double_double::erf, 1.2, 1.2;
    erfc, double_double::erfc, 3.6, 4.0;
}

#[test]
fn exp_below_slice_has_the_bits_of_exp() {
    fn check<T: Sampled + Real<Compute = T>>() {
        for largest in [T::ZERO, T::from_f64(-2.75), T::from_f64(30.5)] {
            let sample: Vec<T> = T::sample().into_iter().filter(|x| *x <= largest || x.is_nan()).collect();
            let mut powers = sample.clone();
            T::exp_below_slice(&mut powers, largest);
            for (x, power) in sample.into_iter().zip(powers) {
                let expected = Real::exp(x - largest);
                assert!(power == expected || power.is_nan() && expected.is_nan(), "{} {x}: {power}", T::NAME);
            }
        }
    }
    check::<f32>();
    check::<f64>();
}

/// The largest error of a function of two numbers over random pairs, of sizes from `2^-size` to `2^size`.
fn worst_of_pairs<T: Sampled>(
    size: i32,
    function: impl Fn(T, T) -> T,
    exact: impl Fn(f64, f64) -> DoubleDouble,
) -> f64 {
    let number = |seed: u64| {
        let bits = random(seed);
        let mantissa = f64::from_bits(bits >> 12 | 0x3ff0_0000_0000_0000);
        T::from_f64(
            mantissa
                * 2.0_f64.powi((bits % 4093) as i32 % (2 * size) - size)
                * if bits & 4096 == 0 { 1.0 } else { -1.0 },
        )
    };
    (0..400_000).map(|i| (number(2 * i), number(2 * i + 1))).fold(0.0, |worst: f64, (a, b)| {
        let error = function(a, b).error_ulp(exact(a.to_f64(), b.to_f64()));
        assert!(!error.is_nan(), "{a} {b}");
        worst.max(error)
    })
}

#[test]
fn functions_of_two_numbers() {
    let power =
        worst_of_pairs::<f32>(8, |x, y| Real::powf(x.abs(), y), |x, y| double_double::powf(x.abs(), y));
    let power_double =
        worst_of_pairs::<f64>(8, |x, y| Real::powf(x.abs(), y), |x, y| double_double::powf(x.abs(), y));
    let hypot_single = worst_of_pairs::<f32>(40, Real::hypot, double_double::hypot);
    let hypot_double = worst_of_pairs::<f64>(400, Real::hypot, double_double::hypot);
    let atan2_single = worst_of_pairs::<f32>(10, Real::atan2, double_double::atan2);
    let atan2_double = worst_of_pairs::<f64>(10, Real::atan2, double_double::atan2);
    println!("powf     f32 {power:.2} ULP; f64 {power_double:.2} ULP");
    println!("hypot    f32 {hypot_single:.2} ULP; f64 {hypot_double:.2} ULP");
    println!("atan2    f32 {atan2_single:.2} ULP; f64 {atan2_double:.2} ULP");
    assert!(
        power <= 0.51
            && power_double <= 1.1
            && hypot_single <= 0.51
            && hypot_double <= 1.2
            && atan2_single <= 2.1
            && atan2_double <= 2.1
    );
}
