//! Elementary functions to about 100 bits, the reference for `f64`: slow and plain.
//!
//! A number is the unevaluated sum of two `f64`. The operations are those of T. Dekker (*A floating-point technique for
//! extending the available precision*, 1971); the functions are Taylor series after an argument reduction, or one step
//! of Newton's method from the standard library's result, which doubles its digits.

use std::ops::{Add, Div, Mul, Neg, Sub};

/// `high + low`, with `|low|` at most half a unit in the last place of `high`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DoubleDouble {
    pub(crate) high: f64,
    pub(crate) low: f64,
}

use DoubleDouble as D;

const LN_2: D = D { high: std::f64::consts::LN_2, low: 2.319_046_813_846_299_6e-17 };

fn number(x: f64) -> D {
    D { high: x, low: 0.0 }
}

/// `a + b`, exactly.
fn two_sum(a: f64, b: f64) -> D {
    let high = a + b;
    let part = high - a;
    D { high, low: (a - (high - part)) + (b - part) }
}

/// `a + b`, exactly, if `|a| >= |b|`.
fn fast_two_sum(a: f64, b: f64) -> D {
    let high = a + b;
    D { high, low: b - (high - a) }
}

/// `a * b`, exactly.
fn two_product(a: f64, b: f64) -> D {
    let high = a * b;
    D { high, low: a.mul_add(b, -high) }
}

impl Add for D {
    type Output = D;

    fn add(self, other: D) -> D {
        let high = two_sum(self.high, other.high);
        let low = two_sum(self.low, other.low);
        let sum = fast_two_sum(high.high, high.low + low.high);
        fast_two_sum(sum.high, sum.low + low.low)
    }
}

impl Neg for D {
    type Output = D;

    fn neg(self) -> D {
        D { high: -self.high, low: -self.low }
    }
}

impl Sub for D {
    type Output = D;

    fn sub(self, other: D) -> D {
        self + -other
    }
}

impl Mul for D {
    type Output = D;

    fn mul(self, other: D) -> D {
        let product = two_product(self.high, other.high);
        fast_two_sum(product.high, product.low + (self.high * other.low + self.low * other.high))
    }
}

impl Div for D {
    type Output = D;

    fn div(self, other: D) -> D {
        let first = self.high / other.high;
        let rest = self - other * number(first);
        let second = rest.high / other.high;
        let rest = rest - other * number(second);
        fast_two_sum(first, second) + number(rest.high / other.high)
    }
}

impl D {
    fn times(self, factor: f64) -> D {
        self * number(factor)
    }

    /// `self * 2^n`; exact unless the result is subnormal.
    fn scale(self, n: i32) -> D {
        let (half, rest) = (2.0_f64.powi(n / 2), 2.0_f64.powi(n - n / 2));
        D { high: self.high * half * rest, low: self.low * half * rest }
    }

    fn sqrt(self) -> D {
        if self.high == 0.0 {
            return self;
        }
        let root = number(self.high.sqrt());
        root + (self - root * root) / root.times(2.0)
    }

    /// `n` and `exp(r) - 1`, where `exp(self) = 2^n * exp(r)`.
    fn exp_parts(self) -> (i32, D) {
        let n = (self.high / LN_2.high).round_ties_even();
        let r = (self - LN_2.times(n)).scale(-9);
        let mut p = number(0.0);
        for k in (1..=12).rev() {
            p = (p + number(1.0)) * r / number(f64::from(k));
        }
        for _ in 0..9 {
            p = p * (p + number(2.0));
        }
        (n as i32, p)
    }

    fn exp(self) -> D {
        let (n, p) = self.exp_parts();
        (p + number(1.0)).scale(n)
    }

    /// The natural logarithm of a positive number with a normal `high`.
    fn ln(self) -> D {
        if (self.high - 1.0).abs() < 1e-3 {
            return (self - number(1.0)).ln_1p();
        }
        let n = (self.high.to_bits() >> 52) as i32 - 1023;
        let mantissa = self.scale(-n);
        let guess = number(mantissa.high.ln());
        LN_2.times(f64::from(n)) + (guess + (mantissa * (-guess).exp() - number(1.0)))
    }

    fn ln_1p(self) -> D {
        if self.high.abs() >= 1e-3 {
            return (self + number(1.0)).ln();
        }
        let mut sum = number(0.0);
        for k in (1..=12).rev() {
            sum = number(1.0) / number(f64::from(k)) - self * sum;
        }
        self * sum
    }

    /// Cosine and sine of an angle of at most π.
    fn circle(self) -> (D, D) {
        let square = self * self;
        let (mut cosine, mut sine) = (number(1.0), number(1.0));
        for k in (1..=18).rev() {
            let k = f64::from(k);
            cosine = number(1.0) - square * cosine / number((2.0 * k - 1.0) * (2.0 * k));
            sine = number(1.0) - square * sine / number((2.0 * k) * (2.0 * k + 1.0));
        }
        (cosine, self * sine)
    }
}

/// The angle of the point `(x, y)`.
fn angle(y: D, x: D) -> D {
    let guess = y.high.atan2(x.high);
    let (cosine, sine) = number(guess).circle();
    number(guess) + (y * cosine - x * sine) / (x * cosine + y * sine)
}

/// `reference`, if the standard library's result is an ordinary number; else that result.
fn ordinary(guess: f64, reference: impl FnOnce() -> D) -> D {
    if guess.is_finite() && guess.abs() > 1e-290 { reference() } else { number(guess) }
}

pub(crate) fn exact(x: f64) -> D {
    number(x)
}

pub(crate) fn sqrt(x: f64) -> D {
    // Scaled, so that no product of low parts underflows.
    let shift = if x < 1e-200 { 400 } else { 0 };
    ordinary(x.sqrt(), || number(x).scale(shift).sqrt().scale(-shift / 2))
}

/// For sizes from `2^-400` to `2^400`.
pub(crate) fn hypot(x: f64, y: f64) -> D {
    (number(x) * number(x) + number(y) * number(y)).sqrt()
}

/// For positive `x`.
pub(crate) fn powf(x: f64, y: f64) -> D {
    ordinary(x.powf(y), || (ln(x) * number(y)).exp())
}

pub(crate) fn atan2(y: f64, x: f64) -> D {
    angle(number(y), number(x))
}

pub(crate) fn cbrt(x: f64) -> D {
    let shift = if x.abs() < 1.0 { 300 } else { -300 };
    ordinary(x.cbrt(), || {
        let x = number(x).scale(shift);
        let root = number(x.high.cbrt());
        let ratio = x / root / root / root;
        (root + root * (ratio - number(1.0)) / number(3.0)).scale(-shift / 3)
    })
}

pub(crate) fn exp(x: f64) -> D {
    ordinary(x.exp(), || number(x).exp())
}

pub(crate) fn exp2(x: f64) -> D {
    ordinary(x.exp2(), || {
        let n = x.round_ties_even();
        LN_2.times(x - n).exp().scale(n as i32)
    })
}

pub(crate) fn exp_m1(x: f64) -> D {
    ordinary(x.exp_m1(), || {
        let (n, p) = number(x.max(-100.0)).exp_parts();
        if n == 0 { p } else { (p + number(1.0)).scale(n) - number(1.0) }
    })
}

pub(crate) fn ln(x: f64) -> D {
    let shift = if x < 1e-300 { 128 } else { 0 };
    ordinary(x.ln(), || number(x).scale(shift).ln() - LN_2.times(f64::from(shift)))
}

pub(crate) fn ln_1p(x: f64) -> D {
    ordinary(x.ln_1p(), || number(x).ln_1p())
}

pub(crate) fn log2(x: f64) -> D {
    ordinary(x.log2(), || ln(x) / LN_2)
}

pub(crate) fn log10(x: f64) -> D {
    ordinary(x.log10(), || ln(x) / number(10.0).ln())
}

pub(crate) fn asin(x: f64) -> D {
    ordinary(x.asin(), || angle(number(x), ((number(1.0) - number(x)) * (number(1.0) + number(x))).sqrt()))
}

pub(crate) fn acos(x: f64) -> D {
    ordinary(x.acos(), || angle(((number(1.0) - number(x)) * (number(1.0) + number(x))).sqrt(), number(x)))
}

pub(crate) fn atan(x: f64) -> D {
    // Above 1e100 the angle is a right one to more digits than these numbers have.
    ordinary(x.atan(), || angle(number(x.clamp(-1e100, 1e100)), number(1.0)))
}

pub(crate) fn sinh(x: f64) -> D {
    ordinary(x.sinh(), || {
        let (n, p) = number(x.abs()).exp_parts();
        let sinh = if n == 0 {
            (p + p / (p + number(1.0))).times(0.5)
        } else {
            let half = (p + number(1.0)).scale(n - 1);
            half - number(0.25) / half
        };
        if x < 0.0 { -sinh } else { sinh }
    })
}

pub(crate) fn cosh(x: f64) -> D {
    ordinary(x.cosh(), || {
        let (n, p) = number(x.abs()).exp_parts();
        let half = (p + number(1.0)).scale(n - 1);
        half + number(0.25) / half
    })
}

pub(crate) fn tanh(x: f64) -> D {
    ordinary(x.tanh(), || {
        let p = exp_m1(2.0 * x.clamp(-100.0, 100.0));
        p / (p + number(2.0))
    })
}

pub(crate) fn asinh(x: f64) -> D {
    let size = number(x.abs());
    let asinh = if x.abs() > 1e100 {
        ordinary(x.abs(), || size.ln() + LN_2)
    } else {
        let square = size * size;
        ordinary(x.abs(), || (size + square / (number(1.0) + (number(1.0) + square).sqrt())).ln_1p())
    };
    if x < 0.0 { -asinh } else { asinh }
}

pub(crate) fn acosh(x: f64) -> D {
    if x > 1e100 {
        return ordinary(x, || number(x).ln() + LN_2);
    }
    let t = number(x) - number(1.0);
    ordinary(x.acosh(), || (t + (t.times(2.0) + t * t).sqrt()).ln_1p())
}

pub(crate) fn atanh(x: f64) -> D {
    let size = number(x.abs());
    let atanh = ordinary(x.abs().atanh(), || (size.times(2.0) / (number(1.0) - size)).ln_1p().times(0.5));
    if x < 0.0 { -atanh } else { atanh }
}

/// `2 / sqrt(π)`.
const FRAC_2_SQRT_PI: D = D { high: std::f64::consts::FRAC_2_SQRT_PI, low: 1.533545961316588e-17 };

/// `2 / sqrt(π)` times the integral of `exp(-t^2)` from 0 to `x`, by the series whose terms have one sign:
/// `x * exp(-x^2) * sum of (2x^2)^n / (1 * 3 * .. * (2n + 1))` (Abramowitz and Stegun 7.1.6).
fn erf_series(x: f64) -> D {
    let square = number(x) * number(x);
    let (mut term, mut sum, mut n) = (number(1.0), number(1.0), 1.0);
    while term.high > 1e-25 * sum.high {
        term = term * square.times(2.0) / number(2.0 * n + 1.0);
        sum = sum + term;
        n += 1.0;
    }
    FRAC_2_SQRT_PI * number(x) * (-square).exp() * sum
}

/// `erfc(x)` for `x` from 3 on, by its continued fraction (Abramowitz and Stegun 7.1.14).
fn erfc_fraction(x: f64) -> D {
    // Farther out the result is 0.
    let x = x.min(30.0);
    let mut denominator = number(x);
    for k in (1..=60).rev() {
        denominator = number(x) + number(0.5 * f64::from(k)) / denominator;
    }
    FRAC_2_SQRT_PI.times(0.5) * (-(number(x) * number(x))).exp() / denominator
}

pub(crate) fn erf(x: f64) -> D {
    // Below this, the series is its first term, and its low parts would underflow.
    if x.abs() < 1e-250 {
        return number(x) + number(FRAC_2_SQRT_PI.high - 1.0).times(x);
    }
    if x.is_nan() {
        return number(x);
    }
    let size = x.abs();
    let erf = if size < 3.0 { erf_series(size) } else { number(1.0) - erfc_fraction(size) };
    if x < 0.0 { -erf } else { erf }
}

pub(crate) fn erfc(x: f64) -> D {
    if x.is_nan() {
        return number(x);
    }
    if x < 3.0 { number(1.0) - erf(x) } else { erfc_fraction(x) }
}
