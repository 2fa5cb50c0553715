//! Identities, and special values as in `f64`.

use super::DoubleDouble;
use dahl_core::element::{Element, Real};

/// Numbers with full low parts, of both signs and from 1e-20 to 1e20.
fn numbers() -> impl Iterator<Item = DoubleDouble> {
    let mut state = 1_u64;
    let mut next = move || {
        // Marsaglia's xorshift
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state as f64 / u64::MAX as f64 - 0.5
    };
    (0..1000).map(move |_| {
        let (sign, exponent) = (next().signum(), (next() * 132.0) as i32);
        (DoubleDouble::from(next() + 1.0) + DoubleDouble::from(next() * f64::EPSILON / 4.0)).scale(exponent)
            * DoubleDouble::from(sign)
    })
}

/// Asserts that `a` and `b` differ by less than `bound` of `b`.
#[track_caller]
fn assert_near(a: DoubleDouble, b: DoubleDouble, bound: f64) {
    let error = ((a - b) / b).to_f64().abs();
    assert!(error < bound, "{a} is not {b}: {error:e}");
}

#[test]
fn operators_undo_each_other() {
    for (x, y) in numbers().zip(numbers().skip(1)) {
        assert_near(x * y / y, x, 1e-31);
        assert_near(x / y * y, x, 1e-31);
        assert_near((x * x).sqrt(), x.abs(), 1e-31);
        assert_near((x * x * x).cbrt(), x, 1e-31);
        assert_eq!(x - x, DoubleDouble::ZERO);
        assert_eq!(x + y, y + x);
        // The parts do not overlap.
        assert_eq!((x + y).high, (x + y).high + (x + y).low);
        if (x / y).abs().high > 1e29 {
            continue;
        }
        let rest = x % y;
        assert!(rest.abs() < y.abs() && (rest == DoubleDouble::ZERO || rest.signum() == x.signum()));
    }
}

#[test]
fn functions_undo_each_other() {
    for x in numbers() {
        let x = x.abs();
        assert_near(x.ln().exp(), x, 1e-29);
        assert_near(x.log2().exp2(), x, 1e-29);
        assert_near(x.ln_1p().exp_m1(), x, 1e-29);
        assert_near(x.asinh().sinh(), x, 1e-29);
        assert_near(x.atan().tan(), x, if x.high > 1.0 { 1e-31 * x.high } else { 1e-29 });
        let (sine, cosine) = x.sin_cos();
        assert_near(sine * sine + cosine * cosine, DoubleDouble::ONE, 1e-31);
        assert_near(x.erf() + x.erfc(), DoubleDouble::ONE, 1e-30);
    }
}

#[test]
fn the_low_part_counts() {
    let one_more = DoubleDouble::ONE + DoubleDouble::from(1e-25);
    assert_near(one_more.ln(), DoubleDouble::from(1e-25), 1e-7);
    assert_near((DoubleDouble::PI + DoubleDouble::from(1e-20)).sin(), DoubleDouble::from(-1e-20), 1e-11);
    assert_eq!((DoubleDouble::from(3.0) - DoubleDouble::from(1e-25)).floor(), DoubleDouble::from(2.0));
    assert_eq!((DoubleDouble::from(3.0) + DoubleDouble::from(1e-25)).ceil(), DoubleDouble::from(4.0));
    assert_eq!((DoubleDouble::from(2.5) - DoubleDouble::from(1e-25)).round(), DoubleDouble::from(2.0));
}

#[test]
fn special_values_are_those_of_f64() {
    macro_rules! special {
        ($($function:ident $(($argument:expr))?),*) => {
            for x in [0.0, -0.0, 1.0, -1.0, 0.5, 1.5, 2.5, -2.5, 2.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 1e308, -1e308] {
                $({
                    let value = Real::$function(DoubleDouble::from(x) $(, DoubleDouble::from($argument))?).to_f64();
                    let expected = Real::$function(x $(, $argument)?);
                    let is_near = value == expected || (value - expected).abs() < 1e-13 * expected.abs();
                    let is_same_zero = expected != 0.0 || value.is_sign_negative() == expected.is_sign_negative();
                    assert!(
                        value.is_nan() && expected.is_nan() || is_near && is_same_zero,
                        "{}({x}): {value}, not {expected}", stringify!($function $($argument)?)
                    );
                })*
            }
        };
    }
    special!(
        abs,
        signum,
        floor,
        ceil,
        round,
        round_ties_even,
        trunc,
        recip,
        sqrt,
        cbrt,
        exp,
        exp2,
        exp_m1,
        ln,
        ln_1p,
        log2,
        log10,
        sin,
        cos,
        tan,
        asin,
        acos,
        atan,
        sinh,
        cosh,
        tanh,
        asinh,
        acosh,
        atanh,
        erf,
        erfc,
        to_degrees,
        to_radians
    );
    special!(
        max(0.0),
        max(-0.0),
        max(1.0),
        max(f64::NAN),
        min(0.0),
        min(-0.0),
        min(1.0),
        min(f64::NAN),
        copysign(-0.0),
        atan2(0.0),
        atan2(-0.0),
        atan2(-1.0),
        atan2(2.0),
        atan2(f64::INFINITY),
        atan2(f64::NEG_INFINITY),
        hypot(0.0),
        hypot(f64::INFINITY),
        hypot(f64::NAN),
        powf(0.0),
        powf(0.5),
        powf(2.0),
        powf(-3.0),
        powf(0.1),
        powf(f64::INFINITY),
        powf(f64::NEG_INFINITY),
        powf(f64::NAN)
    );
    for (x, y) in [
        (1.0, 0.0),
        (f64::INFINITY, f64::NEG_INFINITY),
        (0.0, 0.0),
        (1.0, f64::INFINITY),
        (-7.5, 2.0),
        (7.0, f64::INFINITY),
    ] {
        let (a, b) = (DoubleDouble::from(x), DoubleDouble::from(y));
        let values = [(a + b, x + y), (a - b, x - y), (a * b, x * y), (a / b, x / y), (a % b, x % y)];
        for (value, expected) in values {
            assert!(
                value.to_f64().to_bits() == expected.to_bits() || value.is_nan() && expected.is_nan(),
                "{x} {y}: {value}"
            );
        }
    }
    assert_eq!((DoubleDouble::NEG_ZERO + DoubleDouble::NEG_ZERO).to_f64().to_bits(), (-0.0_f64).to_bits());
    assert!(DoubleDouble::MAX.is_finite() && (DoubleDouble::MAX + DoubleDouble::MAX).is_infinite());
}
