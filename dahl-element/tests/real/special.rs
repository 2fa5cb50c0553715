//! Special values, domain errors and thresholds, against the standard library, for all four types.

use dahl_element::element::Real;
use half::{bf16, f16};

const VALUES: [f64; 31] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    -0.5,
    0.25,
    1.5,
    -1.5,
    2.0,
    -2.0,
    2.5,
    -2.5,
    3.0,
    -3.0,
    0.49999999999999994,
    100.0,
    -100.0,
    1e4,
    -1e4,
    1e30,
    -1e30,
    1e-30,
    -1e-30,
    1e300,
    1e-310,
    -1e-310,
    4_503_599_627_370_497.5,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::NAN,
];

/// Whether the numbers are equal or both NaN; zeros must have the same sign.
fn same(a: f64, b: f64) -> bool {
    a.is_nan() && b.is_nan() || a.to_bits() == b.to_bits()
}

macro_rules! exact_functions {
    ($($function:ident),*) => {$(
        #[test]
        fn $function() {
            fn check<T: Real>(reference: impl Fn(f64) -> f64) {
                for x in VALUES {
                    let x = T::from_f64(x);
                    let (ours, exact) = (x.$function().to_f64(), T::from_f64(reference(x.to_f64())).to_f64());
                    assert!(same(ours, exact), "{} {x}: {ours}, not {exact}", T::NAME);
                }
            }
            check::<f16>(f64::$function);
            check::<bf16>(f64::$function);
            check::<f32>(f64::$function);
            check::<f64>(f64::$function);
        }
    )*};
}

exact_functions!(floor, ceil, round, round_ties_even, trunc, fract, abs, signum, sqrt, recip);

/// Each function at the values for which IEEE 754 or C's annex F fixes the result: zeros, infinities, NaN, the ends of
/// the domain and values outside.
macro_rules! special_values {
    ($($function:ident at [$($x:expr),* $(,)?];)*) => {$(
        mod $function {
            use super::*;

            fn check<T: Real>() {
                for x in [$($x,)* f64::NAN] {
                    let (ours, exact) = (T::from_f64(x).$function().to_f64(), x.$function());
                    assert!(same(ours, T::from_f64(exact).to_f64()), "{} {x}: {ours}, not {exact}", T::NAME);
                }
            }

            #[test]
            fn special_values() {
                check::<f16>();
                check::<bf16>();
                check::<f32>();
                check::<f64>();
            }
        }
    )*};
}

const INFINITY: f64 = f64::INFINITY;

special_values! {
    exp at [0.0, -0.0, INFINITY, -INFINITY, 1e4, -1e4];
    exp2 at [0.0, -0.0, 1.0, -1.0, 10.0, INFINITY, -INFINITY, 1e4, -1e4];
    exp_m1 at [0.0, -0.0, INFINITY, -INFINITY, 1e4, -1e4];
    ln at [0.0, -0.0, 1.0, -1.0, INFINITY, -INFINITY];
    ln_1p at [0.0, -0.0, -1.0, -2.0, INFINITY, -INFINITY];
    log2 at [0.0, -0.0, 1.0, 2.0, 0.25, 1024.0, -1.0, INFINITY, -INFINITY];
    log10 at [0.0, -0.0, 1.0, 10.0, 100.0, -1.0, INFINITY, -INFINITY];
    sin at [0.0, -0.0, INFINITY, -INFINITY];
    cos at [0.0, -0.0, INFINITY, -INFINITY];
    tan at [0.0, -0.0, INFINITY, -INFINITY];
    asin at [0.0, -0.0, 1.0, -1.0, 2.0, -2.0, INFINITY];
    acos at [0.0, -0.0, 1.0, -1.0, 2.0, -2.0, INFINITY];
    atan at [0.0, -0.0, INFINITY, -INFINITY];
    sinh at [0.0, -0.0, INFINITY, -INFINITY, 1e4, -1e4];
    cosh at [0.0, -0.0, INFINITY, -INFINITY, 1e4, -1e4];
    tanh at [0.0, -0.0, INFINITY, -INFINITY, 1e4, -1e4];
    asinh at [0.0, -0.0, INFINITY, -INFINITY];
    acosh at [1.0, 0.5, -1.0, INFINITY, -INFINITY];
    atanh at [0.0, -0.0, 1.0, -1.0, 2.0, -2.0];
    cbrt at [0.0, -0.0, 1.0, -1.0, 8.0, -27.0, INFINITY, -INFINITY];
}

/// The standard library has neither function.
#[test]
fn erf_and_erfc_at_special_values() {
    fn check<T: Real>() {
        for (x, erf, erfc) in [
            (0.0, 0.0, 1.0),
            (-0.0, -0.0, 1.0),
            (INFINITY, 1.0, 0.0),
            (-INFINITY, -1.0, 2.0),
            (1e4, 1.0, 0.0),
            (-1e4, -1.0, 2.0),
            (f64::NAN, f64::NAN, f64::NAN),
        ] {
            let x = T::from_f64(x);
            assert!(same(x.erf().to_f64(), erf), "{} erf({x}): {}, not {erf}", T::NAME, x.erf());
            assert!(same(x.erfc().to_f64(), erfc), "{} erfc({x}): {}, not {erfc}", T::NAME, x.erfc());
        }
    }
    check::<f16>();
    check::<bf16>();
    check::<f32>();
    check::<f64>();
}

#[test]
fn maximum_and_minimum_are_those_of_ieee_754_2019() {
    fn check<T: Real>() {
        for a in VALUES.map(T::from_f64) {
            for b in VALUES.map(T::from_f64) {
                let (max, min) = (a.max(b), a.min(b));
                assert_eq!(
                    (max.to_f64().to_bits(), min.to_f64().to_bits()),
                    (a.maximum(b).to_f64().to_bits(), a.minimum(b).to_f64().to_bits())
                );
                if a.is_nan() || b.is_nan() {
                    assert!(max.is_nan() && min.is_nan());
                } else if a == T::ZERO && b == T::ZERO {
                    assert_eq!(max.is_sign_negative(), a.is_sign_negative() && b.is_sign_negative());
                    assert_eq!(min.is_sign_negative(), a.is_sign_negative() || b.is_sign_negative());
                } else {
                    assert!(
                        max >= a
                            && max >= b
                            && min <= a
                            && min <= b
                            && (max == a || max == b)
                            && (min == a || min == b)
                    );
                }
            }
        }
    }
    check::<f16>();
    check::<bf16>();
    check::<f32>();
    check::<f64>();
}

#[test]
fn clamp_limits_and_keeps_nan() {
    assert_eq!(Real::clamp(5.0_f32, 0.0, 1.0), 1.0);
    assert_eq!(Real::clamp(-5.0_f64, 0.0, 1.0), 0.0);
    assert_eq!(Real::clamp(f16::from_f32(0.5), f16::ZERO, f16::ONE), f16::from_f32(0.5));
    assert!(Real::clamp(f32::NAN, 0.0, 1.0).is_nan());
}

#[test]
fn classes() {
    fn check<T: Real>() {
        let subnormal = T::MIN_POSITIVE / (T::ONE + T::ONE);
        assert!(T::ONE.is_normal() && T::MIN_POSITIVE.is_normal() && T::MAX.is_normal());
        assert!(!subnormal.is_normal() && subnormal.is_finite() && subnormal > T::ZERO);
        assert!(!T::ZERO.is_normal() && !T::INFINITY.is_normal() && !T::NAN.is_normal());
        assert!(
            T::INFINITY.is_infinite()
                && T::NEG_INFINITY.is_infinite()
                && !T::NAN.is_infinite()
                && !T::MAX.is_infinite()
        );
        assert!(T::NEG_ZERO.is_sign_negative() && T::ZERO.is_sign_positive());
        assert!(!T::NAN.is_finite() && !T::INFINITY.is_finite() && T::MIN.is_finite());
        assert_eq!(T::ONE.copysign(T::NEG_ZERO), -T::ONE);
        assert_eq!((T::ONE + T::EPSILON) - T::ONE, T::EPSILON);
        assert_eq!(T::PI, T::from_f64(std::f64::consts::PI));
        assert_eq!(T::LOG10_2, T::from_f64(std::f64::consts::LOG10_2));
    }
    check::<f16>();
    check::<bf16>();
    check::<f32>();
    check::<f64>();
}

/// Functions of two numbers at all pairs of the special values and some ordinary ones.
fn pairs<T: Real>(function: impl Fn(T, T) -> T, reference: impl Fn(f64, f64) -> f64, relative: f64) {
    for a in VALUES.map(T::from_f64) {
        for b in VALUES.map(T::from_f64) {
            let (ours, exact) =
                (function(a, b).to_f64(), T::from_f64(reference(a.to_f64(), b.to_f64())).to_f64());
            let near = (ours - exact).abs() <= relative * exact.abs().max(T::MIN_POSITIVE.to_f64());
            assert!(
                same(ours, exact) || near && ours.is_sign_negative() == exact.is_sign_negative(),
                "{} ({a}, {b}): {ours}, not {exact}",
                T::NAME
            );
        }
    }
}

#[test]
fn powf_of_all_pairs() {
    pairs::<f16>(Real::powf, f64::powf, 0.0);
    pairs::<bf16>(Real::powf, f64::powf, 0.0);
    pairs::<f32>(Real::powf, f64::powf, 1.2e-7);
    pairs::<f64>(Real::powf, f64::powf, 4.5e-16);
}

#[test]
fn hypot_of_all_pairs() {
    pairs::<f16>(Real::hypot, f64::hypot, 0.0);
    pairs::<f32>(Real::hypot, f64::hypot, 1.2e-7);
    pairs::<f64>(Real::hypot, f64::hypot, 4.5e-16);
}

#[test]
fn atan2_of_all_pairs() {
    pairs::<f16>(Real::atan2, f64::atan2, 0.0);
    pairs::<f32>(Real::atan2, f64::atan2, 4e-7);
    pairs::<f64>(Real::atan2, f64::atan2, 8e-16);
}

#[test]
fn powi_is_repeated_multiplication() {
    for (x, n) in
        [(2.0, 10), (2.0, -3), (-3.0, 3), (1.5, 0), (0.0, 0), (f64::NAN, 0), (0.0, -1), (-2.0, 5), (10.0, 22)]
    {
        assert_eq!(Real::powi(x, n).to_bits(), x.powi(n).to_bits(), "{x} {n}");
        assert_eq!(Real::powi(x as f32, n), x.powi(n) as f32, "{x} {n}");
    }
    assert_eq!(Real::powi(1.0_f32, i32::MIN), 1.0);
    assert_eq!(Real::powi(f16::from_f32(2.0), 10), f16::from_f32(1024.0));
}

#[test]
fn angles_and_bases() {
    assert_eq!(Real::to_degrees(std::f64::consts::PI), 180.0);
    assert_eq!(Real::to_radians(180.0_f32), std::f32::consts::PI);
    assert_eq!(Real::log(8.0_f64, 2.0).round(), 3.0);
    assert_eq!(Real::sin_cos(0.0_f32), (0.0, 1.0));
    assert_eq!(Real::mul_add(f32::EPSILON + 1.0, 1.0 - f32::EPSILON, -1.0), -f32::EPSILON * f32::EPSILON);
}

#[test]
fn half_precision_computes_in_f32_and_rounds_once() {
    for bits in 0..=u16::MAX {
        let x = f16::from_bits(bits);
        let (ours, wide) = (Real::exp(x), <f16 as Real>::narrow(Real::exp(x.widen())));
        assert_eq!(ours.to_bits(), wide.to_bits());
        let x = bf16::from_bits(bits);
        let (ours, wide) = (Real::tanh(x), <bf16 as Real>::narrow(Real::tanh(x.widen())));
        assert_eq!(ours.to_bits(), wide.to_bits());
    }
}
