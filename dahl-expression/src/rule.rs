//! The derivatives of single functions: in forms that keep their digits, and with values that occur already.

use crate::function::{Binary, Ternary, Unary};
use crate::graph::Graph;
use crate::node::NodeId;
use crate::tangent::Tangent;

use Binary::{Add, And, Div, Equal, Greater, GreaterEqual, Less, LessEqual, Mul, Or, Sub};
use std::f64::consts;

impl Graph {
    /// The tangent of `value`, which is `function(a)`.
    pub(crate) fn unary_rule(
        &mut self,
        function: Unary,
        value: NodeId,
        a: NodeId,
        tangent: NodeId,
    ) -> Tangent {
        let derivative = match function {
            Unary::Neg => return Some(self.unary(Unary::Neg, tangent)),
            Unary::Fract => return Some(tangent),
            Unary::Ceil
            | Unary::Floor
            | Unary::Not
            | Unary::Round
            | Unary::RoundTiesEven
            | Unary::Signum
            | Unary::Trunc
            | Unary::IsFinite
            | Unary::IsInfinite
            | Unary::IsNan
            | Unary::IsNormal
            | Unary::IsSignNegative
            | Unary::IsSignPositive => return None,
            _ => self.derivative(function, value, a),
        };
        Some(self.binary(Mul, derivative, tangent))
    }

    /// The derivative of `value`, which is `function(a)`.
    fn derivative(&mut self, function: Unary, value: NodeId, a: NodeId) -> NodeId {
        let ty = self.ty(a);
        let one = self.constant(1.0, ty);
        match function {
            Unary::Abs => {
                let sign = self.unary(Unary::Signum, a);
                self.zero_at_zero(a, sign)
            }
            Unary::Asin => self.inverse_sine(a),
            Unary::Acos => {
                let derivative = self.inverse_sine(a);
                self.unary(Unary::Neg, derivative)
            }
            Unary::Atan => self.inverse_tangent(a),
            Unary::Asinh => {
                let root = self.binary(Binary::Hypot, a, one);
                self.binary(Div, one, root)
            }
            Unary::Acosh => {
                // Two roots, since the square could overflow.
                let [below, above] = [Sub, Add].map(|sign| {
                    let sum = self.binary(sign, a, one);
                    self.unary(Unary::Sqrt, sum)
                });
                let root = self.binary(Mul, below, above);
                self.binary(Div, one, root)
            }
            Unary::Atanh => {
                let rest = self.one_minus_square(a);
                self.binary(Div, one, rest)
            }
            Unary::Cbrt => {
                let square = self.binary(Mul, value, value);
                let three = self.constant(3.0, ty);
                let denominator = self.binary(Mul, three, square);
                self.binary(Div, one, denominator)
            }
            Unary::Cos => {
                let sine = self.unary(Unary::Sin, a);
                self.unary(Unary::Neg, sine)
            }
            Unary::Cosh => self.unary(Unary::Sinh, a),
            Unary::Erf => self.bell(a),
            Unary::Erfc => {
                let bell = self.bell(a);
                self.unary(Unary::Neg, bell)
            }
            Unary::Exp => value,
            Unary::Exp2 => self.times(value, consts::LN_2),
            // From the argument, since the value does not distinguish small powers.
            Unary::ExpM1 => self.unary(Unary::Exp, a),
            Unary::Ln => self.binary(Div, one, a),
            Unary::Ln1p => {
                let sum = self.binary(Add, one, a);
                self.binary(Div, one, sum)
            }
            Unary::Log10 => self.reciprocal_over(a, consts::LN_10),
            Unary::Log2 => self.reciprocal_over(a, consts::LN_2),
            Unary::Recip => {
                let square = self.binary(Mul, value, value);
                self.unary(Unary::Neg, square)
            }
            Unary::Sin => self.unary(Unary::Cos, a),
            Unary::Sinh => self.unary(Unary::Cosh, a),
            Unary::Sqrt => {
                let double = self.binary(Add, value, value);
                self.binary(Div, one, double)
            }
            Unary::Tan => {
                let square = self.binary(Mul, value, value);
                self.binary(Add, one, square)
            }
            Unary::Tanh => self.one_minus_square(value),
            Unary::ToDegrees => self.constant(180.0 / consts::PI, ty),
            Unary::ToRadians => self.constant(consts::PI / 180.0, ty),
            Unary::Neg
            | Unary::Not
            | Unary::Ceil
            | Unary::Floor
            | Unary::Fract
            | Unary::IsFinite
            | Unary::IsInfinite
            | Unary::IsNan
            | Unary::IsNormal
            | Unary::IsSignNegative
            | Unary::IsSignPositive
            | Unary::Round
            | Unary::RoundTiesEven
            | Unary::Signum
            | Unary::Trunc => unreachable!("`unary_rule` has these"),
        }
    }

    /// The derivative of `value = a^exponent`.
    pub(crate) fn powi_rule(&mut self, value: NodeId, a: NodeId, exponent: i32) -> NodeId {
        let factor = self.constant(f64::from(exponent), self.ty(a));
        let power = match exponent.checked_sub(1) {
            Some(less) => self.powi(a, less),
            None => self.binary(Div, value, a),
        };
        self.binary(Mul, factor, power)
    }

    /// The tangent of `value`, which is `function(a, b)`.
    pub(crate) fn binary_rule(
        &mut self,
        function: Binary,
        value: NodeId,
        (a, b): (NodeId, NodeId),
        (by_a, by_b): (Tangent, Tangent),
    ) -> Tangent {
        match function {
            Add => self.added(by_a, by_b),
            Sub => self.subtracted(by_a, by_b),
            Mul => self.product_rule((a, b), (by_a, by_b)),
            Div => {
                let right = by_b.map(|tangent| self.binary(Mul, value, tangent));
                let numerator = self.subtracted(by_a, right)?;
                Some(self.binary(Div, numerator, b))
            }
            Binary::Rem => {
                let right = by_b.map(|tangent| {
                    let quotient = self.binary(Div, a, b);
                    let whole = self.unary(Unary::Trunc, quotient);
                    self.binary(Mul, whole, tangent)
                });
                self.subtracted(by_a, right)
            }
            Binary::Atan2 => {
                let radius = self.binary(Binary::Hypot, a, b);
                let [left, right] = [(by_a, b), (by_b, a)].map(|(tangent, coordinate)| {
                    tangent.map(|tangent| {
                        let cosine = self.binary(Div, coordinate, radius);
                        let over = self.binary(Div, cosine, radius);
                        self.binary(Mul, over, tangent)
                    })
                });
                self.subtracted(left, right)
            }
            Binary::Copysign => {
                let tangent = by_a?;
                let one = self.constant(1.0, self.ty(a));
                let (sign, wanted) = (self.unary(Unary::Signum, a), self.binary(Binary::Copysign, one, b));
                let ratio = self.binary(Mul, sign, wanted);
                let derivative = self.zero_at_zero(a, ratio);
                Some(self.binary(Mul, derivative, tangent))
            }
            Binary::Hypot => {
                let [left, right] = [(by_a, a), (by_b, b)].map(|(tangent, coordinate)| {
                    tangent.map(|tangent| {
                        let over = self.binary(Div, coordinate, value);
                        self.binary(Mul, over, tangent)
                    })
                });
                self.added(left, right)
            }
            Binary::Log => {
                let logarithm = self.unary(Unary::Ln, b);
                let left = by_a.map(|tangent| {
                    let denominator = self.binary(Mul, a, logarithm);
                    self.binary(Div, tangent, denominator)
                });
                let right = by_b.map(|tangent| {
                    let denominator = self.binary(Mul, b, logarithm);
                    let derivative = self.binary(Div, value, denominator);
                    self.binary(Mul, derivative, tangent)
                });
                self.subtracted(left, right)
            }
            Binary::Maximum => Some(self.extreme_rule(Less, (a, b), (by_a, by_b))),
            Binary::Minimum => Some(self.extreme_rule(Greater, (a, b), (by_a, by_b))),
            Binary::MaxNumber => Some(self.number_rule(GreaterEqual, (a, b), (by_a, by_b))),
            Binary::MinNumber => Some(self.number_rule(LessEqual, (a, b), (by_a, by_b))),
            Binary::Powf => {
                let left = by_a.map(|tangent| {
                    let derivative = self.by_base(a, b);
                    self.binary(Mul, derivative, tangent)
                });
                let right = by_b.map(|tangent| {
                    let derivative = self.by_exponent(value, a);
                    self.binary(Mul, derivative, tangent)
                });
                self.added(left, right)
            }
            And | Or | Binary::BitAnd | Binary::BitOr | Binary::BitXor | Binary::Plus => None,
            Equal | Binary::NotEqual | Less | LessEqual | Greater | GreaterEqual => None,
        }
    }

    /// The tangent of `a.clamp(low, high)`.
    pub(crate) fn clamp_rule(
        &mut self,
        [a, low, high]: [NodeId; 3],
        [by_a, by_low, by_high]: [Tangent; 3],
    ) -> NodeId {
        let ty = self.ty(a);
        let mut derivative = self.or_zero(None, ty);
        if let Some(tangent) = by_high {
            let is_above = self.binary(Greater, a, high);
            let is_empty = self.binary(Less, high, low);
            let binds = self.binary(Or, is_above, is_empty);
            derivative = self.select(binds, tangent, derivative);
        }
        if let Some(tangent) = by_low {
            let is_below = self.binary(Less, a, low);
            let is_range = self.binary(Less, low, high);
            let binds = self.binary(And, is_below, is_range);
            derivative = self.select(binds, tangent, derivative);
        }
        let is_above = self.binary(LessEqual, low, a);
        let is_below = self.binary(LessEqual, a, high);
        let is_inside = self.binary(And, is_above, is_below);
        let by_a = self.or_zero(by_a, ty);
        self.select(is_inside, by_a, derivative)
    }

    /// The tangent of `maximum` (`loses` is `<`) or `minimum` (`>`): equal values share it in halves; beside NaN both get it.
    fn extreme_rule(
        &mut self,
        loses: Binary,
        (a, b): (NodeId, NodeId),
        (by_a, by_b): (Tangent, Tangent),
    ) -> NodeId {
        let ty = self.ty(a);
        let both = self.added(by_a, by_b);
        let both = self.or_zero(both, ty);
        let half = self.times(both, 0.5);
        let are_equal = self.binary(Equal, a, b);
        let mut tangent = self.select(are_equal, half, both);
        let wins = if loses == Less { Greater } else { Less };
        for (comparison, one, other) in [(wins, by_a, by_b), (loses, by_b, by_a)] {
            // Without `other`, the side that is taken is `both`.
            if other.is_some() {
                let is_one = self.binary(comparison, a, b);
                let one = self.or_zero(one, ty);
                tangent = self.select(is_one, one, tangent);
            }
        }
        tangent
    }

    /// The tangent of a `max` or `min` that ignores NaN; `takes` is `>=` or `<=`.
    fn number_rule(
        &mut self,
        takes: Binary,
        (a, b): (NodeId, NodeId),
        (by_a, by_b): (Tangent, Tangent),
    ) -> NodeId {
        let mut is_first = self.binary(takes, a, b);
        if self.number(b).is_none() {
            let is_alone = self.unary(Unary::IsNan, b);
            is_first = self.binary(Or, is_first, is_alone);
        }
        let [then, otherwise] = [by_a, by_b].map(|tangent| self.or_zero(tangent, self.ty(a)));
        self.select(is_first, then, otherwise)
    }

    /// The derivative of `base^exponent` by the base: 0 where the exponent is 0.
    fn by_base(&mut self, base: NodeId, exponent: NodeId) -> NodeId {
        let ty = self.ty(base);
        let (zero, one) = (self.constant(0.0, ty), self.constant(1.0, ty));
        let less = self.binary(Sub, exponent, one);
        let power = self.binary(Binary::Powf, base, less);
        let derivative = self.binary(Mul, exponent, power);
        match self.number(exponent) {
            Some(0.0) => zero,
            Some(_) => derivative,
            None => {
                let is_zero = self.binary(Equal, exponent, zero);
                self.select(is_zero, zero, derivative)
            }
        }
    }

    /// The derivative of `power = base^exponent` by the exponent: 0 where the base is 0 and the power finite.
    fn by_exponent(&mut self, power: NodeId, base: NodeId) -> NodeId {
        let zero = self.constant(0.0, self.ty(base));
        let logarithm = self.unary(Unary::Ln, base);
        let derivative = self.binary(Mul, power, logarithm);
        let is_zero = self.binary(Equal, base, zero);
        let is_finite = self.unary(Unary::IsFinite, power);
        let is_flat = self.binary(And, is_zero, is_finite);
        self.select(is_flat, zero, derivative)
    }

    /// `1 / sqrt(1 - a * a)`.
    fn inverse_sine(&mut self, a: NodeId) -> NodeId {
        let one = self.constant(1.0, self.ty(a));
        let rest = self.one_minus_square(a);
        let root = self.unary(Unary::Sqrt, rest);
        self.binary(Div, one, root)
    }

    /// `1 / (1 + a * a)`, without overflow of the square.
    fn inverse_tangent(&mut self, a: NodeId) -> NodeId {
        let one = self.constant(1.0, self.ty(a));
        let square = self.binary(Mul, a, a);
        let sum = self.binary(Add, one, square);
        let near = self.binary(Div, one, sum);
        let reciprocal = self.binary(Div, one, a);
        let sum = self.binary(Add, a, reciprocal);
        let far = self.binary(Div, reciprocal, sum);
        let distance = self.unary(Unary::Abs, a);
        let is_far = self.binary(Greater, distance, one);
        self.select(is_far, far, near)
    }

    /// `1 - a * a`, which loses nothing near ±1.
    fn one_minus_square(&mut self, a: NodeId) -> NodeId {
        let one = self.constant(1.0, self.ty(a));
        let (below, above) = (self.binary(Sub, one, a), self.binary(Add, one, a));
        self.binary(Mul, below, above)
    }

    /// `2 / sqrt(π) * exp(-a * a)`, with the rounding error of the square, which the exponential would multiply.
    fn bell(&mut self, a: NodeId) -> NodeId {
        // Farther out it is 0.
        let far = self.constant(40.0, self.ty(a));
        let distance = self.unary(Unary::Abs, a);
        let near = self.binary(Binary::Minimum, distance, far);
        let square = self.binary(Mul, near, near);
        let negative = self.unary(Unary::Neg, square);
        let lost = self.ternary(Ternary::MulAdd, near, near, negative);
        let power = self.unary(Unary::Exp, negative);
        let correction = self.binary(Mul, power, lost);
        let power = self.binary(Sub, power, correction);
        self.times(power, consts::FRAC_2_SQRT_PI)
    }

    /// `derivative`, and 0 where `a` is 0.
    fn zero_at_zero(&mut self, a: NodeId, derivative: NodeId) -> NodeId {
        let zero = self.constant(0.0, self.ty(a));
        let is_zero = self.binary(Equal, a, zero);
        self.select(is_zero, zero, derivative)
    }

    /// `value` times a number.
    fn times(&mut self, value: NodeId, number: f64) -> NodeId {
        let number = self.constant(number, self.ty(value));
        self.binary(Mul, number, value)
    }

    /// `1 / value / number`, where a gradient can take the place of the one: `1 / value` may be out of range.
    fn reciprocal_over(&mut self, value: NodeId, number: f64) -> NodeId {
        let ty = self.ty(value);
        let (one, number) = (self.constant(1.0, ty), self.constant(number, ty));
        let reciprocal = self.binary(Div, one, value);
        self.binary(Div, reciprocal, number)
    }

    /// The difference of two tangents.
    fn subtracted(&mut self, a: Tangent, b: Tangent) -> Tangent {
        match (a, b) {
            (Some(a), Some(b)) => Some(self.binary(Sub, a, b)),
            (None, Some(b)) => Some(self.unary(Unary::Neg, b)),
            (a, None) => a,
        }
    }
}
