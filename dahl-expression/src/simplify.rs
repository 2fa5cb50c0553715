//! The constructors of nodes. They simplify what derivatives are full of: zeros, ones, signs, and selections between them.
//!
//! Values stay the same up to the sign of a zero, with one intended exception: a product with a selection that is 0 on a
//! side is 0 on that side, also if the other factor is infinite or NaN.

use crate::function::{Binary, Ternary, Unary};
use crate::graph::Graph;
use crate::node::{Node, NodeId, Type};

impl Graph {
    /// `value`, converted to the real type `ty`.
    pub fn convert(&mut self, value: NodeId, ty: Type) -> NodeId {
        if self.ty(value) == ty {
            return value;
        }
        if let Some(number) = self.number(value).filter(|number| is_short(*number)) {
            return self.constant(number, ty);
        }
        if self.is_switch(value) {
            return self.in_sides(value, |graph, side| graph.convert(side, ty));
        }
        self.intern(Node::Convert(value), ty)
    }

    /// A function or an operator of one operand.
    pub fn unary(&mut self, function: Unary, operand: NodeId) -> NodeId {
        let ty = self.unary_type(function, operand);
        match (function, self.node(operand)) {
            (Unary::Neg | Unary::Not, Node::Unary(inner, value)) if inner == function => return value,
            (Unary::Neg, _) if matches!(ty, Type::Real(_)) => {
                if let Some(negated) = self.negated(operand) {
                    return negated;
                }
            }
            _ => {}
        }
        self.intern(Node::Unary(function, operand), ty)
    }

    /// `-operand` in a simpler form.
    fn negated(&mut self, operand: NodeId) -> Option<NodeId> {
        match self.node(operand) {
            Node::Constant(number) => {
                let value = if number.value() == 0.0 { 0.0 } else { -number.value() };
                Some(self.constant(value, self.ty(operand)))
            }
            Node::Binary(Binary::Sub, a, b) => Some(self.binary(Binary::Sub, b, a)),
            _ if self.is_switch(operand) => {
                Some(self.in_sides(operand, |graph, side| graph.unary(Unary::Neg, side)))
            }
            _ => None,
        }
    }

    /// `base` to an integer power.
    pub fn powi(&mut self, base: NodeId, exponent: i32) -> NodeId {
        let ty = self.ty(base);
        match exponent {
            0 => self.constant(1.0, ty),
            1 => base,
            _ => self.intern(Node::Powi(base, exponent), ty),
        }
    }

    /// A function or an operator of two operands of one type.
    pub fn binary(&mut self, function: Binary, left: NodeId, right: NodeId) -> NodeId {
        let ty = self.binary_type(function, left);
        if let Type::Real(_) = ty {
            if let (Some(a), Some(b)) = (self.number(left), self.number(right))
                && let Some(value) = folded(function, a, b)
            {
                return self.constant(value, ty);
            }
            let simpler = match function {
                Binary::Add => self.sum(left, right),
                Binary::Sub => self.difference(left, right),
                Binary::Mul => self.product(left, right),
                Binary::Div => self.quotient(left, right),
                Binary::Powf if self.is(right, 0.0) => Some(self.constant(1.0, ty)),
                Binary::Powf if self.is(right, 1.0) => Some(left),
                _ => None,
            };
            if let Some(simpler) = simpler {
                return simpler;
            }
        }
        self.intern(Node::Binary(function, left, right), ty)
    }

    fn sum(&mut self, left: NodeId, right: NodeId) -> Option<NodeId> {
        if self.is(left, 0.0) {
            return Some(right);
        }
        if self.is(right, 0.0) {
            return Some(left);
        }
        if let Some(negated) = self.operand_of_negation(right) {
            return Some(self.binary(Binary::Sub, left, negated));
        }
        if let Some(negated) = self.operand_of_negation(left) {
            return Some(self.binary(Binary::Sub, right, negated));
        }
        self.in_both_sides(Binary::Add, left, right)
    }

    fn difference(&mut self, left: NodeId, right: NodeId) -> Option<NodeId> {
        if self.is(right, 0.0) {
            return Some(left);
        }
        if self.is(left, 0.0) {
            return Some(self.unary(Unary::Neg, right));
        }
        if let Some(negated) = self.operand_of_negation(right) {
            return Some(self.binary(Binary::Add, left, negated));
        }
        self.cancelled(left, right).or_else(|| self.in_both_sides(Binary::Sub, left, right))
    }

    /// `(a - b) - (a + b)` as `-(b + b)`, which does not cancel, and the same with both sides times a common factor.
    fn cancelled(&mut self, left: NodeId, right: NodeId) -> Option<NodeId> {
        match (self.node(left), self.node(right)) {
            (Node::Binary(Binary::Sub, a, b), Node::Binary(Binary::Add, c, d)) if (a, b) == (c, d) => {
                let double = self.binary(Binary::Add, b, b);
                Some(self.unary(Unary::Neg, double))
            }
            (Node::Binary(Binary::Mul, a, b), Node::Binary(Binary::Mul, c, d)) => {
                let common = [(a, b, c, d), (a, b, d, c), (b, a, c, d), (b, a, d, c)];
                let (factor, left, _, right) =
                    common.into_iter().find(|(factor, _, other, _)| factor == other)?;
                let difference = self.cancelled(left, right)?;
                Some(self.binary(Binary::Mul, factor, difference))
            }
            _ => None,
        }
    }

    /// The operator applied to each side of two selections with one condition.
    fn in_both_sides(&mut self, function: Binary, left: NodeId, right: NodeId) -> Option<NodeId> {
        let (Node::Select(condition, a, b), Node::Select(other, c, d)) = (self.node(left), self.node(right))
        else {
            return None;
        };
        if condition != other || !(self.is_switch(left) || self.is_switch(right)) {
            return None;
        }
        let (then, otherwise) = (self.binary(function, a, c), self.binary(function, b, d));
        Some(self.select(condition, then, otherwise))
    }

    fn product(&mut self, left: NodeId, right: NodeId) -> Option<NodeId> {
        for (factor, other) in [(left, right), (right, left)] {
            if self.is(factor, 1.0) {
                return Some(other);
            }
            if self.is(factor, -1.0) {
                return Some(self.unary(Unary::Neg, other));
            }
            if let Some(negated) = self.operand_of_negation(factor) {
                let (left, right) = if factor == left { (negated, right) } else { (left, negated) };
                let product = self.binary(Binary::Mul, left, right);
                return Some(self.unary(Unary::Neg, product));
            }
            let quotient = self.in_place_of_one(factor, other);
            if let Some(quotient) = quotient.or_else(|| self.in_place_of_ones(factor, other)) {
                return Some(quotient);
            }
        }
        // The second factor first: it is the derivative, where the first is the gradient.
        for (switch, is_left) in [(right, false), (left, true)] {
            if self.is_switch(switch) {
                return Some(self.in_sides(switch, |graph, side| {
                    let (left, right) = if is_left { (side, right) } else { (left, side) };
                    graph.binary(Binary::Mul, left, right)
                }));
            }
        }
        None
    }

    fn quotient(&mut self, left: NodeId, right: NodeId) -> Option<NodeId> {
        if self.is(right, 1.0) {
            return Some(left);
        }
        for (operand, is_left) in [(left, true), (right, false)] {
            if let Some(negated) = self.operand_of_negation(operand) {
                let (left, right) = if is_left { (negated, right) } else { (left, negated) };
                let quotient = self.binary(Binary::Div, left, right);
                return Some(self.unary(Unary::Neg, quotient));
            }
        }
        self.is_switch(left)
            .then(|| self.in_sides(left, |graph, side| graph.binary(Binary::Div, side, right)))
    }

    /// `(1 / b) / c` with `value` in place of the one.
    fn in_place_of_one(&mut self, quotient: NodeId, value: NodeId) -> Option<NodeId> {
        let Node::Binary(Binary::Div, numerator, denominator) = self.node(quotient) else { return None };
        let numerator = if self.is(numerator, 1.0) { value } else { self.in_place_of_one(numerator, value)? };
        Some(self.binary(Binary::Div, numerator, denominator))
    }

    /// [`in_place_of_one`](Self::in_place_of_one) in both sides of a selection.
    fn in_place_of_ones(&mut self, selection: NodeId, value: NodeId) -> Option<NodeId> {
        let Node::Select(condition, then, otherwise) = self.node(selection) else { return None };
        let then = self.in_place_of_one(then, value)?;
        let otherwise = self.in_place_of_one(otherwise, value)?;
        Some(self.select(condition, then, otherwise))
    }

    /// A function of three operands of one type.
    pub fn ternary(&mut self, function: Ternary, a: NodeId, b: NodeId, c: NodeId) -> NodeId {
        self.intern(Node::Ternary(function, a, b, c), self.ty(a))
    }

    /// `then` if `condition` is true, else `otherwise`.
    pub fn select(&mut self, condition: NodeId, then: NodeId, otherwise: NodeId) -> NodeId {
        if let Node::Unary(Unary::Not, inner) = self.node(condition) {
            return self.select(inner, otherwise, then);
        }
        let then = self.decided(condition, true, then);
        let otherwise = self.decided(condition, false, otherwise);
        if then == otherwise {
            return then;
        }
        self.intern(Node::Select(condition, then, otherwise), self.ty(then))
    }

    /// The side of a selection that is taken where `condition` is known.
    fn decided(&self, condition: NodeId, is_true: bool, mut side: NodeId) -> NodeId {
        while let Node::Select(inner, then, otherwise) = self.node(side) {
            let known = if inner == condition {
                Some(is_true)
            } else if let (Node::Binary(outer, a, b), Node::Binary(function, c, d)) =
                (self.node(condition), self.node(inner))
                && (a, b) == (c, d)
            {
                implied(outer, is_true, function)
            } else {
                None
            };
            match known {
                Some(true) => side = then,
                Some(false) => side = otherwise,
                None => break,
            }
        }
        side
    }

    /// `a` of `-a`, of a real number.
    fn operand_of_negation(&mut self, id: NodeId) -> Option<NodeId> {
        match self.node(id) {
            Node::Unary(Unary::Neg, operand) => Some(operand),
            _ => None,
        }
    }

    /// Whether this selects between real numbers, of which one is 0, 1 or -1: operations on it go into its sides.
    fn is_switch(&self, id: NodeId) -> bool {
        let is_simple = |side| [0.0, 1.0, -1.0].iter().any(|value| self.is(side, *value));
        matches!(self.node(id), Node::Select(_, then, otherwise)
            if matches!(self.ty(id), Type::Real(_)) && (is_simple(then) || is_simple(otherwise)))
    }

    /// The selection with `change` applied to the sides. A side that is 0 stays 0: all changes are linear.
    fn in_sides(&mut self, selection: NodeId, change: impl Fn(&mut Self, NodeId) -> NodeId) -> NodeId {
        let Node::Select(condition, then, otherwise) = self.node(selection) else { return selection };
        let [then, otherwise] = [then, otherwise].map(|side| {
            let changed = change(self, side);
            if self.is(side, 0.0) { self.constant(0.0, self.ty(changed)) } else { changed }
        });
        self.select(condition, then, otherwise)
    }
}

/// The result of a comparison, if that of another one of the same two numbers decides it. Beside NaN only `!=` is true.
fn implied(known: Binary, is_true: bool, wanted: Binary) -> Option<bool> {
    use Binary::{Equal, Greater, GreaterEqual, Less, LessEqual, NotEqual};
    match (known, is_true, wanted) {
        (Less, true, LessEqual | NotEqual)
        | (Greater, true, GreaterEqual | NotEqual)
        | (Equal, true, LessEqual | GreaterEqual)
        | (Equal, false, NotEqual)
        | (NotEqual, false, Equal | LessEqual | GreaterEqual) => Some(true),
        (Less, true, Equal | Greater | GreaterEqual)
        | (Greater, true, Equal | Less | LessEqual)
        | (Equal, true, Less | Greater | NotEqual)
        | (NotEqual, false, Less | Greater)
        | (NotEqual, true, Equal)
        | (LessEqual, false, Less | Equal)
        | (LessEqual, true, Greater)
        | (GreaterEqual, false, Greater | Equal)
        | (GreaterEqual, true, Less) => Some(false),
        _ => None,
    }
}

/// The result of an operator on constants, if it is the same in each type that has at least the digits of `f32`.
fn folded(function: Binary, a: f64, b: f64) -> Option<f64> {
    let value = match function {
        Binary::Add => a + b,
        Binary::Sub => a - b,
        Binary::Mul => a * b,
        Binary::Div => a / b,
        _ => return None,
    };
    [a, b, value].into_iter().all(is_short).then_some(value)
}

/// Whether `f32` has exactly this number.
fn is_short(value: f64) -> bool {
    value.is_finite() && f64::from(value as f32) == value
}
