//! The elementary functions: each reduces its argument until a series converges fast, and avoids subtractions of nearly
//! equal numbers. Special values are those of `f64`.

use super::{DoubleDouble, angle};
use dahl_core::element::{Element, Real};

/// Above this, `exp` is infinite; below its negative, minus the subnormal range, it is zero.
const LARGEST_EXPONENT: f64 = 709.79;
const SMALLEST_EXPONENT: f64 = -745.2;
/// The fourth power of a larger number may overflow, and that of a number below `TINY` loses digits to underflow.
const HUGE: f64 = 1e75;
const TINY: f64 = 1e-75;

impl DoubleDouble {
    /// An integer or another number that is exact in `f64`.
    fn exactly(value: f64) -> Self {
        Self::from(value)
    }

    /// The value of `function` at `self`, computed in `f64`, for values where that is exact.
    fn by(self, function: impl Fn(f64) -> f64) -> Self {
        Self::from(function(self.high))
    }

    /// `self = mantissa * 2^exponent` with a mantissa from 1/sqrt(2) to sqrt(2). For positive, finite numbers.
    fn split(self) -> (Self, i32) {
        let (scaled, shift) = if self.high < f64::MIN_POSITIVE { (self.scale(100), -100) } else { (self, 0) };
        let mut exponent = (scaled.high.to_bits() >> 52) as i32 - 1023;
        if scaled.scale(-exponent).high > std::f64::consts::SQRT_2 {
            exponent += 1;
        }
        (scaled.scale(-exponent), exponent + shift)
    }

    /// Karp's method: one Newton step from the square root in `f64`.
    pub(super) fn square_root(self) -> Self {
        if self.high == 0.0 || !self.high.is_finite() || self.high < 0.0 {
            return self.by(f64::sqrt);
        }
        if self.high < 1e-200 {
            return self.scale(400).square_root().scale(-200);
        }
        let root = self.high.sqrt();
        let rest = self - Self::two_product(root, root);
        let first = Self::quick_sum(root, rest.high / (2.0 * root));
        // A second step, for the last bits.
        let rest = self - first * first;
        first + Self::from(rest.high / (2.0 * root))
    }

    /// One Newton step from the cube root in `f64`.
    pub(super) fn cube_root(self) -> Self {
        if self.high == 0.0 || !self.high.is_finite() {
            return self.by(f64::cbrt);
        }
        if self.high.abs() < 1e-200 {
            return self.scale(600).cube_root().scale(-200);
        }
        let root = Self::from(self.high.cbrt());
        let square = root * root;
        root + (self - square * root) / (Self::exactly(3.0) * square)
    }

    /// `exp(self) - 1`, for magnitudes below 0.36: by Taylor's series of a 512th, doubled nine times.
    fn small_exponential(self) -> Self {
        let x = self.scale(-9);
        let mut term = x;
        let mut sum = x;
        for n in 2..=9 {
            term = term * x / Self::from(f64::from(n));
            sum += term;
        }
        for _ in 0..9 {
            // exp(2x) - 1 = 2 (exp(x) - 1) + (exp(x) - 1)^2
            sum = sum.scale(1) + sum * sum;
        }
        if sum == Self::ZERO { self } else { sum }
    }

    /// e to the power `self`.
    pub(super) fn exponential(self) -> Self {
        if self.high.is_nan() || self.high > LARGEST_EXPONENT || self.high < SMALLEST_EXPONENT {
            return self.by(|x| {
                if x > 0.0 {
                    f64::INFINITY
                } else if x < 0.0 {
                    0.0
                } else {
                    x
                }
            });
        }
        let twos = (self.high * std::f64::consts::LOG2_E).round();
        let rest = self - Self::from(twos) * Self::LN_2;
        (rest.small_exponential() + Self::ONE).scale(twos as i32)
    }

    /// 2 to the power `self`.
    pub(super) fn power_of_two(self) -> Self {
        if self.high.is_nan() || self.high.abs() > 1100.0 {
            return self.by(f64::exp2);
        }
        let twos = self.high.round();
        let rest = (self - Self::from(twos)) * Self::LN_2;
        (rest.small_exponential() + Self::ONE).scale(twos as i32)
    }

    /// `exp(self) - 1`, precise near zero.
    pub(super) fn exponential_less_one(self) -> Self {
        if self.high.abs() < 0.35 { self.small_exponential() } else { self.exponential() - Self::ONE }
    }

    /// `2 artanh(self)`, for magnitudes below 0.18: by its series.
    fn twice_artanh(self) -> Self {
        let square = self * self;
        let mut power = self;
        let mut sum = self;
        for n in (3..=45).step_by(2) {
            power *= square;
            sum += power / Self::from(f64::from(n));
        }
        sum.scale(1)
    }

    /// The logarithm of a mantissa of [`split`](Self::split).
    fn logarithm_of_mantissa(self) -> Self {
        ((self - Self::ONE) / (self + Self::ONE)).twice_artanh()
    }

    /// The natural logarithm.
    pub(super) fn logarithm(self) -> Self {
        if !(self.high > 0.0 && self.high.is_finite()) {
            return self.by(f64::ln);
        }
        let (mantissa, exponent) = self.split();
        Self::from(f64::from(exponent)) * Self::LN_2 + mantissa.logarithm_of_mantissa()
    }

    /// The logarithm to base 2.
    pub(super) fn binary_logarithm(self) -> Self {
        if !(self.high > 0.0 && self.high.is_finite()) {
            return self.by(f64::log2);
        }
        let (mantissa, exponent) = self.split();
        Self::from(f64::from(exponent)) + mantissa.logarithm_of_mantissa() * Self::LOG2_E
    }

    /// `ln(1 + self)`, precise near zero.
    pub(super) fn logarithm_of_one_more(self) -> Self {
        if self.high == 0.0 || !self.high.is_finite() {
            return self.by(f64::ln_1p);
        }
        if -0.25 < self.high && self.high < 0.4 {
            return (self / (self + Self::exactly(2.0))).twice_artanh();
        }
        (self + Self::ONE).logarithm()
    }

    /// Sine and cosine.
    pub(super) fn sine_and_cosine(self) -> (Self, Self) {
        if !self.high.is_finite() {
            return (Self::NAN, Self::NAN);
        }
        if self.high == 0.0 {
            return (self, Self::ONE);
        }
        let (quadrant, angle) = angle::reduce(self);
        let square = angle * angle;
        let (mut sine, mut cosine) = (angle, Self::ONE);
        let (mut sine_term, mut cosine_term) = (angle, Self::ONE);
        for n in (2..=32).step_by(2) {
            let n = f64::from(n);
            cosine_term = -(cosine_term * square) / Self::from(n * (n - 1.0));
            sine_term = -(sine_term * square) / Self::from(n * (n + 1.0));
            cosine += cosine_term;
            sine += sine_term;
        }
        match quadrant {
            0 => (sine, cosine),
            1 => (cosine, -sine),
            2 => (-sine, -cosine),
            _ => (-cosine, sine),
        }
    }

    /// The arctangent, by a step of Newton's method from that in `f64`.
    pub(super) fn arctangent(self) -> Self {
        if self.high == 0.0 || self.high.is_nan() {
            return self;
        }
        if self.high.abs() > 1.0 {
            let right = Self::FRAC_PI_2.copysign(self);
            return right - self.recip().arctangent();
        }
        let guess = Self::from(self.high.atan());
        let (sine, cosine) = guess.sine_and_cosine();
        // The difference is so small that its arctangent equals its tangent.
        guess + (self * cosine - sine) / (cosine + self * sine)
    }

    /// The angle of the point `(x, self)`.
    pub(super) fn angle_of_point(self, x: Self) -> Self {
        let (y, is_left) = (self, x.high.is_sign_negative());
        if y.high.is_nan() || x.high.is_nan() {
            return Self::NAN;
        }
        if y.high == 0.0 {
            return if is_left { Self::PI.copysign(y) } else { y };
        }
        if y.high.is_infinite() && x.high.is_infinite() {
            let eighths = Self::exactly(if is_left { 3.0 } else { 1.0 });
            return (eighths * Self::FRAC_PI_4).copysign(y);
        }
        if x.high.abs() < y.high.abs() {
            return Self::FRAC_PI_2.copysign(y) - (x / y).arctangent();
        }
        let angle = (y / x).arctangent();
        if is_left { angle + Self::PI.copysign(y) } else { angle }
    }

    /// `sqrt(1 - self^2)`.
    pub(super) fn other_leg(self) -> Self {
        ((Self::ONE - self) * (Self::ONE + self)).square_root()
    }

    /// The hypotenuse.
    pub(super) fn hypotenuse(self, other: Self) -> Self {
        let largest = self.high.abs().max(other.high.abs());
        if self.high.is_infinite() || other.high.is_infinite() {
            return Self::INFINITY;
        }
        if self.high.is_nan() || other.high.is_nan() || largest == 0.0 {
            return Self::from(self.high.hypot(other.high));
        }
        let exponent = if largest > HUGE {
            600
        } else if largest < TINY {
            -600
        } else {
            0
        };
        let (a, b) = (self.scale(-exponent), other.scale(-exponent));
        (a * a + b * b).square_root().scale(exponent)
    }

    /// The hyperbolic sine.
    pub(super) fn hyperbolic_sine(self) -> Self {
        if self.high.abs() > 40.0 {
            // The other exponential is below the last digit.
            let half = self.abs().scale(-1).exponential();
            return (half * half.scale(-1)).copysign(self);
        }
        if self.high == 0.0 || self.high.is_nan() {
            return self;
        }
        let less_one = self.exponential_less_one();
        (less_one + less_one / (less_one + Self::ONE)).scale(-1)
    }

    /// The hyperbolic cosine.
    pub(super) fn hyperbolic_cosine(self) -> Self {
        if self.high.abs() > 40.0 {
            let half = self.abs().scale(-1).exponential();
            return half * half.scale(-1);
        }
        let exponential = self.exponential();
        (exponential + exponential.recip()).scale(-1)
    }

    /// The hyperbolic tangent.
    pub(super) fn hyperbolic_tangent(self) -> Self {
        if self.high.abs() > 40.0 {
            return Self::ONE.copysign(self);
        }
        if self.high == 0.0 || self.high.is_nan() {
            return self;
        }
        let less_one = self.scale(1).exponential_less_one();
        less_one / (less_one + Self::exactly(2.0))
    }

    /// The inverse hyperbolic sine.
    pub(super) fn inverse_hyperbolic_sine(self) -> Self {
        let x = self.abs();
        if x.high == 0.0 || !x.high.is_finite() {
            return self;
        }
        let value = if x.high > HUGE {
            x.logarithm() + Self::LN_2
        } else {
            let square = x * x;
            (x + square / (Self::ONE + (Self::ONE + square).square_root())).logarithm_of_one_more()
        };
        value.copysign(self)
    }

    /// The inverse hyperbolic cosine.
    pub(super) fn inverse_hyperbolic_cosine(self) -> Self {
        if !(self.high >= 1.0 && self.high.is_finite()) {
            return self.by(f64::acosh);
        }
        if self.high > HUGE {
            return self.logarithm() + Self::LN_2;
        }
        let more = self - Self::ONE;
        (more + (more.scale(1) + more * more).square_root()).logarithm_of_one_more()
    }

    /// The inverse hyperbolic tangent.
    pub(super) fn inverse_hyperbolic_tangent(self) -> Self {
        if self.high == 0.0 || self.high.is_nan() || self.abs() >= Self::ONE {
            return self.by(f64::atanh);
        }
        (self.scale(1) / (Self::ONE - self)).logarithm_of_one_more().scale(-1)
    }

    /// `self` to an integer power, by repeated squaring.
    pub(super) fn integer_power(self, exponent: i32) -> Self {
        let (mut power, mut square, mut rest) = (Self::ONE, self, exponent.unsigned_abs());
        while rest > 0 {
            if rest % 2 == 1 {
                power *= square;
            }
            square *= square;
            rest /= 2;
        }
        let is_lost = power.high.is_infinite() || power.high == 0.0;
        match exponent {
            // The reciprocal of the power may be representable where the power is not.
            ..0 if is_lost && self.high.is_finite() && self.high != 0.0 => {
                self.recip().integer_power(-exponent)
            }
            ..0 => power.recip(),
            0.. => power,
        }
    }

    /// `self` to a real power.
    pub(super) fn power(self, exponent: Self) -> Self {
        let is_special = |value: Self| value.high == 0.0 || !value.high.is_finite();
        if is_special(self) || is_special(exponent) || self == Self::ONE {
            return Self::from(self.high.powf(exponent.high));
        }
        let is_integer = exponent.fract() == Self::ZERO;
        if is_integer && exponent.high.abs() <= 64.0 {
            return self.integer_power(exponent.high as i32);
        }
        let magnitude = (self.abs().logarithm() * exponent).exponential();
        if self.high > 0.0 {
            magnitude
        } else if !is_integer {
            Self::NAN
        } else if (exponent.scale(-1)).fract() == Self::ZERO {
            magnitude
        } else {
            -magnitude
        }
    }

    /// The error function: a series of positive terms.
    pub(super) fn error_function(self) -> Self {
        if self.high == 0.0 || self.high.is_nan() {
            return self;
        }
        if self.high.abs() > 9.0 {
            return Self::ONE.copysign(self);
        }
        let square = self * self;
        let (mut term, mut sum, mut n) = (self, self, 1.0);
        while term.high.abs() > 1e-34 * sum.high.abs() {
            term = term * square.scale(1) / Self::from(2.0 * n + 1.0);
            sum += term;
            n += 1.0;
        }
        Self::FRAC_2_SQRT_PI * (-square).exponential() * sum
    }

    /// `1 - erf`: from 1 on by its continued fraction, which converges faster for larger numbers.
    pub(super) fn complementary_error_function(self) -> Self {
        if self.high < 1.0 {
            return Self::ONE - self.error_function();
        }
        if self.high > 28.0 || self.high.is_nan() {
            return self.by(|x| if x.is_nan() { x } else { 0.0 });
        }
        let levels = 20 + (1600.0 / (self.high * self.high)) as u32;
        let mut fraction = self;
        for n in (1..=levels).rev() {
            fraction = self + Self::from(f64::from(n) / 2.0) / fraction;
        }
        Self::FRAC_2_SQRT_PI.scale(-1) * (-(self * self)).exponential() / fraction
    }
}
