//! The value of an expression in f64.

use std::collections::HashMap;

use crate::error_function::{erf, erfc};
use crate::function::{Binary, Ternary, Unary};
use crate::graph::Graph;
use crate::node::{Node, NodeId, Type};

impl Graph {
    /// The value of the expression `root` for these values of inputs and leaves by their index. All types compute in
    /// f64: a `bool` is 0 or 1, integers are numbers below 2^53.
    ///
    /// # Panics
    /// If an input or a leaf of the expression has no value.
    pub fn evaluate(&self, root: NodeId, inputs: &[f64], leaves: &[f64]) -> f64 {
        let mut values: HashMap<NodeId, f64> = HashMap::new();
        for id in self.reached(root) {
            let of = |operand: NodeId| values[&operand];
            let value = match self.node(id) {
                Node::Input(index) => inputs[usize::from(index)],
                Node::Leaf(index) => leaves[usize::from(index)],
                Node::Constant(number) => number.value(),
                Node::Convert(a) => of(a),
                Node::Unary(function, a) => unary(function, of(a), self.ty(a)),
                Node::Powi(a, exponent) => of(a).powi(exponent),
                Node::Binary(function, a, b) => binary(function, of(a), of(b)),
                Node::Ternary(Ternary::MulAdd, a, b, c) => of(a).mul_add(of(b), of(c)),
                Node::Ternary(Ternary::Clamp, a, b, c) => minimum(maximum(of(a), of(b)), of(c)),
                Node::Select(condition, a, b) => of(if of(condition) != 0.0 { a } else { b }),
            };
            values.insert(id, value);
        }
        values[&root]
    }
}

fn unary(function: Unary, a: f64, ty: Type) -> f64 {
    let truth = |value: bool| f64::from(u8::from(value));
    match function {
        Unary::Neg => -a,
        Unary::Not if ty == Type::Bool => truth(a == 0.0),
        Unary::Not => !(a as i64) as f64,
        Unary::Abs => a.abs(),
        Unary::Acos => a.acos(),
        Unary::Acosh => a.acosh(),
        Unary::Asin => a.asin(),
        Unary::Asinh => a.asinh(),
        Unary::Atan => a.atan(),
        Unary::Atanh => a.atanh(),
        Unary::Cbrt => a.cbrt(),
        Unary::Ceil => a.ceil(),
        Unary::Cos => a.cos(),
        Unary::Cosh => a.cosh(),
        Unary::Erf => erf(a),
        Unary::Erfc => erfc(a),
        Unary::Exp => a.exp(),
        Unary::Exp2 => a.exp2(),
        Unary::ExpM1 => a.exp_m1(),
        Unary::Floor => a.floor(),
        Unary::Fract => a.fract(),
        Unary::IsFinite => truth(a.is_finite()),
        Unary::IsInfinite => truth(a.is_infinite()),
        Unary::IsNan => truth(a.is_nan()),
        Unary::IsNormal => truth(a.is_normal()),
        Unary::IsSignNegative => truth(a.is_sign_negative()),
        Unary::IsSignPositive => truth(a.is_sign_positive()),
        Unary::Ln => a.ln(),
        Unary::Ln1p => a.ln_1p(),
        Unary::Log10 => a.log10(),
        Unary::Log2 => a.log2(),
        Unary::Recip => a.recip(),
        Unary::Round => a.round(),
        Unary::RoundTiesEven => a.round_ties_even(),
        Unary::Signum => a.signum(),
        Unary::Sin => a.sin(),
        Unary::Sinh => a.sinh(),
        Unary::Sqrt => a.sqrt(),
        Unary::Tan => a.tan(),
        Unary::Tanh => a.tanh(),
        Unary::ToDegrees => a.to_degrees(),
        Unary::ToRadians => a.to_radians(),
        Unary::Trunc => a.trunc(),
    }
}

fn binary(function: Binary, a: f64, b: f64) -> f64 {
    let truth = |value: bool| f64::from(u8::from(value));
    match function {
        Binary::Add | Binary::Plus => a + b,
        Binary::Sub => a - b,
        Binary::Mul => a * b,
        Binary::Div => a / b,
        Binary::Rem => a % b,
        Binary::And => truth(a != 0.0 && b != 0.0),
        Binary::Or => truth(a != 0.0 || b != 0.0),
        Binary::BitAnd => (a as i64 & b as i64) as f64,
        Binary::BitOr => (a as i64 | b as i64) as f64,
        Binary::BitXor => (a as i64 ^ b as i64) as f64,
        Binary::Equal => truth(a == b),
        Binary::NotEqual => truth(a != b),
        Binary::Less => truth(a < b),
        Binary::LessEqual => truth(a <= b),
        Binary::Greater => truth(a > b),
        Binary::GreaterEqual => truth(a >= b),
        Binary::Atan2 => a.atan2(b),
        Binary::Copysign => a.copysign(b),
        Binary::Hypot => a.hypot(b),
        Binary::Log => a.ln() / b.ln(),
        Binary::Maximum => maximum(a, b),
        Binary::Minimum => minimum(a, b),
        Binary::MaxNumber => a.max(b),
        Binary::MinNumber => a.min(b),
        Binary::Powf => a.powf(b),
    }
}

/// `+0` is above `-0`.
fn maximum(a: f64, b: f64) -> f64 {
    match () {
        () if a.is_nan() || b.is_nan() => f64::NAN,
        () if a == b => {
            if a.is_sign_negative() {
                b
            } else {
                a
            }
        }
        () => a.max(b),
    }
}

fn minimum(a: f64, b: f64) -> f64 {
    -maximum(-a, -b)
}
