//! Number literals.

use syn::{Expr, Lit, UnOp};

/// Whether an expression consists of number literals.
pub(super) fn is_literal(value: &Expr) -> bool {
    match value {
        Expr::Lit(literal) => matches!(literal.lit, Lit::Float(_) | Lit::Int(_)),
        Expr::Paren(inner) => is_literal(&inner.expr),
        Expr::Group(inner) => is_literal(&inner.expr),
        Expr::Unary(inner) => is_literal(&inner.expr),
        Expr::Binary(pair) => is_literal(&pair.left) && is_literal(&pair.right),
        _ => false,
    }
}

/// The value of an integer literal, with its sign.
pub(super) fn integer(value: &Expr) -> Option<i32> {
    fn read(value: &Expr) -> Option<i64> {
        match value {
            Expr::Lit(literal) => match &literal.lit {
                Lit::Int(number) => number.base10_parse().ok(),
                _ => None,
            },
            Expr::Paren(inner) => read(&inner.expr),
            Expr::Group(inner) => read(&inner.expr),
            Expr::Unary(inner) if matches!(inner.op, UnOp::Neg(_)) => read(&inner.expr)?.checked_neg(),
            _ => None,
        }
    }
    i32::try_from(read(value)?).ok()
}
