//! The language of map bodies: expressions that every device can compute.

use quote::ToTokens;
use syn::{BinOp, Block, Expr, ExprCall, ExprMethodCall, ItemFn, Lit, Pat, Stmt, UnOp};

use crate::errors::Errors;

/// What a map's body may contain, for the end of an error.
const ALLOWED: &str = "a map's body has arithmetic, comparisons, boolean operators, `let`, `if`/`else` and the functions of `Real`; \
     the option `cpu_only` lifts this";

/// The functions of `Real` and `Element`, callable as methods and as associated functions.
const FUNCTIONS: &[&str] = &[
    "abs",
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "cbrt",
    "ceil",
    "clamp",
    "copysign",
    "cos",
    "cosh",
    "erf",
    "erfc",
    "exp",
    "exp2",
    "exp_m1",
    "floor",
    "fract",
    "from_f64",
    "hypot",
    "is_finite",
    "is_infinite",
    "is_nan",
    "is_normal",
    "is_sign_negative",
    "is_sign_positive",
    "ln",
    "ln_1p",
    "log",
    "log10",
    "log2",
    "max",
    "maximum",
    "min",
    "minimum",
    "mul_add",
    "narrow",
    "plus",
    "powf",
    "powi",
    "recip",
    "round",
    "round_ties_even",
    "signum",
    "sin",
    "sin_cos",
    "sinh",
    "sqrt",
    "tan",
    "tanh",
    "to_degrees",
    "to_f64",
    "to_radians",
    "trunc",
    "widen",
];

/// The types and traits whose functions a body may call by their names: the declaration's type parameters, and those of
/// numbers.
type Owners = Vec<String>;

/// Reports everything in the body of `function` that a map's body may not contain.
pub(super) fn check(function: &ItemFn, errors: &mut Errors) {
    let parameters = function.sig.generics.type_params().map(|parameter| parameter.ident.to_string());
    let known = ["Real", "Element", "f16", "bf16", "f32", "f64", "u8", "u32", "i32", "i64", "Compute"];
    let owners = parameters.chain(known.map(str::to_owned)).collect();
    statements(&function.block, &owners, errors);
}

/// Reports everything in `block` that a map's body may not contain.
fn statements(block: &Block, owners: &Owners, errors: &mut Errors) {
    for statement in &block.stmts {
        match statement {
            Stmt::Local(local) => {
                binding(&local.pat, errors);
                match &local.init {
                    Some(init) => {
                        expression(&init.expr, owners, errors);
                        if let Some((otherwise, _)) = &init.diverge {
                            refuse(otherwise, "`let`-`else`", errors);
                        }
                    }
                    None => refuse(local, "a `let` without a value", errors),
                }
            }
            Stmt::Expr(value, None) => expression(value, owners, errors),
            Stmt::Expr(value, Some(_)) => {
                if !matches!(
                    value,
                    Expr::Assign(_)
                        | Expr::Binary(_)
                        | Expr::ForLoop(_)
                        | Expr::While(_)
                        | Expr::Loop(_)
                        | Expr::Return(_)
                ) {
                    refuse(value, "a statement without a value", errors);
                } else {
                    expression(value, owners, errors);
                }
            }
            Stmt::Item(item) => refuse(item, "an item", errors),
            Stmt::Macro(call) => refuse(&call.mac.path, "a macro", errors),
        }
    }
}

fn binding(pattern: &Pat, errors: &mut Errors) {
    match pattern {
        Pat::Ident(ident) if ident.by_ref.is_none() && ident.subpat.is_none() => {}
        Pat::Wild(_) => {}
        Pat::Type(typed) => binding(&typed.pat, errors),
        Pat::Paren(paren) => binding(&paren.pat, errors),
        // `let (sin, cos) = x.sin_cos();`
        Pat::Tuple(tuple) => tuple.elems.iter().for_each(|element| binding(element, errors)),
        other => refuse(other, "this pattern", errors),
    }
}

fn expression(value: &Expr, owners: &Owners, errors: &mut Errors) {
    match value {
        Expr::Binary(binary) => {
            if !is_allowed(&binary.op) {
                refuse(binary.op, format!("`{}`", binary.op.to_token_stream()), errors);
            }
            expression(&binary.left, owners, errors);
            expression(&binary.right, owners, errors);
        }
        Expr::Unary(unary) => {
            if let UnOp::Deref(star) = unary.op {
                refuse(star, "a dereference", errors);
            }
            expression(&unary.expr, owners, errors);
        }
        Expr::Paren(paren) => expression(&paren.expr, owners, errors),
        Expr::Group(group) => expression(&group.expr, owners, errors),
        Expr::Block(block) if block.label.is_none() => statements(&block.block, owners, errors),
        Expr::If(choice) => {
            expression(&choice.cond, owners, errors);
            statements(&choice.then_branch, owners, errors);
            if let Some((_, otherwise)) = &choice.else_branch {
                expression(otherwise, owners, errors);
            }
        }
        Expr::Lit(literal) => {
            if !matches!(literal.lit, Lit::Int(_) | Lit::Float(_) | Lit::Bool(_)) {
                refuse(literal, "this literal", errors);
            }
        }
        // A variable or a constant: the compiler reports an unknown one.
        Expr::Path(_) => {}
        Expr::MethodCall(call) => method_call(call, owners, errors),
        Expr::Call(call) => function_call(call, owners, errors),
        other => refuse_expression(other, errors),
    }
}

fn method_call(call: &ExprMethodCall, owners: &Owners, errors: &mut Errors) {
    if !FUNCTIONS.contains(&call.method.to_string().as_str()) {
        let message = format!("`{}` is not a function of `Real`; {ALLOWED}", call.method);
        errors.at(&call.method, message);
    }
    expression(&call.receiver, owners, errors);
    call.args.iter().for_each(|argument| expression(argument, owners, errors));
}

fn function_call(call: &ExprCall, owners: &Owners, errors: &mut Errors) {
    let known = match &*call.func {
        Expr::Path(path) => {
            let last = path.path.segments.last().map(|last| last.ident.to_string());
            // `T::from_f64` and `Real::max`; a function of another module with such a name is not one of `Real`.
            let owner = path.path.segments.iter().rev().nth(1).map(|owner| owner.ident.to_string());
            let is_associated = path.qself.is_some() || owner.is_some_and(|owner| owners.contains(&owner));
            is_associated && last.is_some_and(|last| FUNCTIONS.contains(&last.as_str()))
        }
        _ => false,
    };
    if !known {
        refuse(&call.func, "a call of a function that is not one of `Real`", errors);
    }
    call.args.iter().for_each(|argument| expression(argument, owners, errors));
}

fn is_allowed(operator: &BinOp) -> bool {
    use BinOp::{Add, And, BitAnd, BitOr, BitXor, Div, Eq, Ge, Gt, Le, Lt, Mul, Ne, Or, Rem, Sub};
    matches!(
        operator,
        Add(_)
            | Sub(_)
            | Mul(_)
            | Div(_)
            | Rem(_)
            | And(_)
            | Or(_)
            | BitAnd(_)
            | BitOr(_)
            | BitXor(_)
            | Eq(_)
            | Ne(_)
            | Lt(_)
            | Le(_)
            | Gt(_)
            | Ge(_)
    )
}

/// Reports an expression of a kind that a map's body may not contain, under the token that makes it one.
fn refuse_expression(value: &Expr, errors: &mut Errors) {
    match value {
        Expr::ForLoop(repeat) => refuse(repeat.for_token, "a loop", errors),
        Expr::While(repeat) => refuse(repeat.while_token, "a loop", errors),
        Expr::Loop(repeat) => refuse(repeat.loop_token, "a loop", errors),
        Expr::Match(choice) => refuse(choice.match_token, "`match`", errors),
        Expr::Closure(closure) => refuse(closure.inputs_begin, "a closure", errors),
        Expr::Macro(call) => refuse(&call.mac.path, "a macro", errors),
        Expr::Reference(reference) => refuse(reference.and_token, "a reference", errors),
        Expr::Assign(assign) => refuse(assign.eq_token, "an assignment", errors),
        Expr::Return(ret) => refuse(ret.return_token, "`return`", errors),
        Expr::Cast(cast) => refuse(cast.as_token, "`as`", errors),
        Expr::Index(index) => refuse(index, "an index", errors),
        Expr::Let(binding) => refuse(binding.let_token, "`if let`", errors),
        Expr::Tuple(tuple) => refuse(tuple, "a tuple", errors),
        Expr::Array(array) => refuse(array, "an array", errors),
        Expr::Unsafe(block) => refuse(block.unsafe_token, "`unsafe`", errors),
        other => refuse(other, "this expression", errors),
    }
}

fn refuse(tokens: impl ToTokens, what: impl std::fmt::Display, errors: &mut Errors) {
    errors.at(tokens, format!("{what} is not possible here: {ALLOWED}"));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_function_of_real_is_known() {
        let real = include_str!("../../../dahl-element/src/element/real.rs");
        let (_, real) = real.split_once("pub trait Real").unwrap();
        let (real, _) = real.split_once("\n}\n").unwrap();
        for function in real.lines().filter_map(|line| line.strip_prefix("    fn ")) {
            let name = function.split('(').next().unwrap();
            assert!(FUNCTIONS.contains(&name) || name.ends_with("_slice"), "`{name}` is missing");
        }
    }
}
