//! [`only_selects`]: bodies of maps that compute nothing, and so need no wider type.

use syn::{BinOp, Block, Expr, ItemFn, Stmt, UnOp};

/// The constants of `Real` that have the same value in each element type and its compute type.
const CONSTANTS: [&str; 6] = ["INFINITY", "NAN", "NEG_INFINITY", "NEG_ZERO", "ONE", "ZERO"];
/// The predicates with the same result in both. (A number that is normal in the compute type may be subnormal in the
/// element type.)
const QUESTIONS: [&str; 3] = ["is_finite", "is_infinite", "is_nan"];

/// Whether the body only compares values and chooses among them. Then its result in the element type is the same as in
/// any wider type.
pub(crate) fn only_selects(function: &ItemFn) -> bool {
    is_selection_in(&function.block)
}

fn is_selection_in(block: &Block) -> bool {
    matches!(block.stmts.as_slice(), [Stmt::Expr(value, None)] if is_selection(value))
}

/// A parameter, a constant, or a choice between such values.
fn is_selection(value: &Expr) -> bool {
    match value {
        Expr::Path(path) => {
            let name = &path.path.segments.last().expect("a path has a segment").ident;
            path.path.get_ident().is_some() || CONSTANTS.iter().any(|constant| name == constant)
        }
        Expr::Paren(inner) => is_selection(&inner.expr),
        Expr::Group(inner) => is_selection(&inner.expr),
        Expr::Block(inner) => is_selection_in(&inner.block),
        Expr::If(choice) => {
            let other = choice.else_branch.as_ref().is_some_and(|(_, other)| is_selection(other));
            is_condition(&choice.cond) && is_selection_in(&choice.then_branch) && other
        }
        _ => false,
    }
}

fn is_condition(condition: &Expr) -> bool {
    match condition {
        Expr::Path(_) => true,
        Expr::Paren(inner) => is_condition(&inner.expr),
        Expr::Group(inner) => is_condition(&inner.expr),
        Expr::Unary(inner) => matches!(inner.op, UnOp::Not(_)) && is_condition(&inner.expr),
        Expr::Binary(pair) => match pair.op {
            BinOp::And(_) | BinOp::Or(_) => is_condition(&pair.left) && is_condition(&pair.right),
            BinOp::Eq(_) | BinOp::Ne(_) | BinOp::Lt(_) | BinOp::Le(_) | BinOp::Gt(_) | BinOp::Ge(_) => {
                is_compared(&pair.left) && is_compared(&pair.right)
            }
            _ => false,
        },
        Expr::MethodCall(call) => {
            let is_question = QUESTIONS.iter().any(|question| call.method == question);
            is_question && call.args.is_empty() && is_selection(&call.receiver)
        }
        _ => false,
    }
}

/// Values, or literals: these have types that are not widened.
fn is_compared(value: &Expr) -> bool {
    matches!(value, Expr::Lit(_)) || is_selection(value)
}

#[cfg(test)]
mod tests {
    use syn::parse_quote;

    use super::*;

    #[test]
    fn choices_by_comparisons_select() {
        for body in [
            parse_quote!({ x }),
            parse_quote!({ T::NAN }),
            parse_quote!({ if x <= T::ZERO { T::ZERO } else { x } }),
            parse_quote!({ if mask != 0 { x } else { y } }),
            parse_quote!({
                if x.is_nan() || !(x > limit) {
                    x
                } else if (y < x) && flag {
                    y
                } else {
                    T::ONE
                }
            }),
        ] {
            assert!(is_selection_in(&body), "{body:?}");
        }
    }

    #[test]
    fn what_computes_does_not() {
        for body in [
            parse_quote!({ x + y }),
            parse_quote!({ -x }),
            parse_quote!({ x.abs() }),
            parse_quote!({ if x > T::ZERO { x } else { slope * x } }),
            parse_quote!({ if x + y > T::ZERO { x } else { y } }),
            // Compares with other values of the compute type.
            parse_quote!({ if x > T::from_f64(0.1) { x } else { y } }),
            parse_quote!({ if x == T::MAX { x } else { y } }),
            parse_quote!({ if x.is_normal() { x } else { y } }),
            parse_quote!({
                let z = x;
                z
            }),
        ] {
            assert!(!is_selection_in(&body), "{body:?}");
        }
    }
}
