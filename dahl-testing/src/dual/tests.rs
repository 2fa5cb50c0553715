//! Slopes against central differences.

use super::*;

/// The derivative of a function at a number, and its slope in double-double by a central difference: with a step of
/// 1e-9 its error is about 1e-18.
fn assert_slope(
    name: &str,
    at: f64,
    by_dual: impl Fn(Dual) -> Dual,
    f: impl Fn(DoubleDouble) -> DoubleDouble,
) {
    let slope = by_dual(Dual::moving(at, 1.0)).slope.value.to_f64();
    let (at_exactly, step) = (DoubleDouble::from(at), DoubleDouble::from(1e-9));
    let difference = (f(at_exactly + step) - f(at_exactly - step)) / (step + step);
    let difference = difference.to_f64();
    assert!(
        (slope - difference).abs() <= 1e-14 * (1.0 + difference.abs()),
        "{name} at {at}: {slope}, {difference}"
    );
}

macro_rules! agree {
    ($($name:ident at $at:expr;)*) => {
        $(for at in $at {
            assert_slope(stringify!($name), at, Dual::$name, DoubleDouble::$name);
        })*
    };
}

#[test]
fn derivatives_are_the_slopes_of_the_functions() {
    agree! {
        abs at [-0.5, 2.0]; fract at [0.25, -1.5]; recip at [-0.5, 2.0]; sqrt at [0.5, 9.0]; cbrt at [0.5, 9.0];
        exp at [-2.0, 0.5]; exp2 at [-2.0, 0.5]; exp_m1 at [-2.0, 0.5]; ln at [0.25, 9.0]; ln_1p at [-0.5, 9.0];
        log2 at [0.25, 9.0]; log10 at [0.25, 9.0]; sin at [-2.0, 0.5]; cos at [-2.0, 0.5]; tan at [-1.0, 0.5];
        asin at [-0.5, 0.75]; acos at [-0.5, 0.75]; atan at [-0.5, 3.0]; sinh at [-0.5, 2.0]; cosh at [-0.5, 2.0];
        tanh at [-0.5, 2.0]; asinh at [-0.5, 2.0]; acosh at [1.5, 9.0]; atanh at [-0.5, 0.75];
        erf at [-0.5, 1.5]; erfc at [-0.5, 1.5]; to_degrees at [0.5]; to_radians at [30.0];
        floor at [0.5]; signum at [-2.0];
    }
}

#[test]
fn operators_and_functions_of_two_numbers() {
    let other = || Dual::from_f64(0.75);
    let low = || DoubleDouble::from(0.75);
    for at in [0.5, 2.0] {
        assert_slope("mul", at, |x| x * x * other(), |x| x * x * low());
        assert_slope("div", at, |x| other() / x - x / other(), |x| low() / x - x / low());
        assert_slope("rem", at, |x| x % other(), |x| x % low());
        assert_slope("rem by", at, |x| Dual::from_f64(5.25) % x, |x| DoubleDouble::from(5.25) % x);
        assert_slope("max", at, |x| Real::max(x, other()), |x| Real::max(x, low()));
        assert_slope("min", at, |x| Real::min(x, other()), |x| Real::min(x, low()));
        assert_slope("hypot", at, |x| x.hypot(other()), |x| x.hypot(low()));
        assert_slope("powi", at, |x| x.powi(-3), |x| x.powi(-3));
        assert_slope("powf", at, |x| x.powf(other()), |x| x.powf(low()));
        assert_slope("exponent", at, |x| other().powf(x), |x| low().powf(x));
        assert_slope("log", at, |x| x.log(other()), |x| x.log(low()));
        assert_slope("atan2", at, |x| x.atan2(other()), |x| x.atan2(low()));
        assert_slope("angle", at, |x| other().atan2(x), |x| low().atan2(x));
        assert_slope("mul_add", at, |x| x.mul_add(x, other()), |x| x.mul_add(x, low()));
    }
}

#[test]
fn ties_and_kinks_are_shared() {
    let at = |value: f64| Dual::moving(value, 1.0);
    assert_eq!(Real::max(at(1.0), Dual::ONE).slope.value.to_f64(), 0.5);
    assert_eq!(at(0.0).abs().slope.value.to_f64(), 0.0);
    assert_eq!(at(1.0).clamp(Dual::ZERO, Dual::ONE).slope.value.to_f64(), 1.0);
    assert_eq!(at(2.0).powf(Dual::ZERO).slope.value.to_f64(), 0.0);
}

/// The bound holds for what it bounds: the same computation in `f32`, and its derivative written out.
#[test]
fn errors_of_rounding_stay_within_their_bound() {
    let unit = f64::from(f32::EPSILON) / 2.0;
    let mut largest = 0.0_f64;
    for i in 1..2000 {
        let x = i as f32 / 400.0;
        let dual = |x: Dual| (x * x - Dual::from_f64(6.0) * x).exp() / (x + Dual::ONE);
        let got = dual(Dual::moving(f64::from(x), 1.0));
        let power = (x * x - 6.0 * x).exp();
        let value = power / (x + 1.0);
        let slope = (power * (x + x - 6.0) - value) / (x + 1.0);
        for (rounded, got) in [(got.value, value), (got.slope, slope)] {
            let off = (rounded.value.to_f64() - f64::from(got)).abs() / unit;
            assert!(off <= rounded.error, "{x}: {off} of {}", rounded.error);
            largest = largest.max(off / rounded.error);
        }
    }
    // And it is not so far above that a wrong digit would pass.
    assert!(largest > 0.05, "{largest}");
}
