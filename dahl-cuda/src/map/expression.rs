//! Expressions: arithmetic, comparisons, calls and constants, each as the text of a value and its kind.

use quote::ToTokens;
use syn::{BinOp, Expr, ExprBinary, ExprCall, ExprLit, ExprPath, ExprUnary, Lit, UnOp};

use super::Refusal;
use super::constant::{constant, is_of_consts};
use super::function::{Shape, call, shape};
use super::kind::{Kind, PRODUCT, SUM, Value};
use super::statement::{Scope, block_value, choice};
use crate::Stored;

/// Translates an expression. `expected` is the kind that the context requires, if any.
pub(super) fn expression(
    scope: &mut Scope<'_>,
    value: &Expr,
    expected: Option<Kind>,
) -> Result<Value, Refusal> {
    match value {
        Expr::Lit(literal) => number(scope, literal, expected),
        Expr::Path(path) => name(scope, path, expected),
        Expr::Paren(inner) => expression(scope, &inner.expr, expected),
        Expr::Group(inner) => expression(scope, &inner.expr, expected),
        Expr::Block(block) => block_value(scope, &block.block, expected),
        Expr::If(value) => choice(scope, value, expected),
        Expr::Unary(unary) => negation(scope, unary, expected),
        Expr::Binary(value) => binary(scope, value, expected),
        Expr::MethodCall(call) => {
            let receiver = expression(scope, &call.receiver, None)?;
            let name = call.method.to_string();
            function(scope, (&name, call), receiver, call.args.iter(), expected)
        }
        Expr::Call(call) => associated(scope, call, expected),
        other => {
            Err(Refusal::new(other, format!("`{}` has no counterpart in CUDA", other.to_token_stream())))
        }
    }
}

fn number(scope: &Scope<'_>, literal: &ExprLit, expected: Option<Kind>) -> Result<Value, Refusal> {
    let value = match &literal.lit {
        Lit::Bool(value) => return Ok(Value::atom(value.value.to_string(), Kind::Bool)),
        Lit::Float(value) => {
            let digits = value.base10_digits();
            let digits =
                if digits.contains(['.', 'e', 'E']) { digits.to_owned() } else { format!("{digits}.0") };
            Value::atom(digits, Kind::FloatLiteral)
        }
        // The parser treats `2_f32` as an integer.
        Lit::Int(value) if value.suffix().starts_with('f') => {
            Value::atom(format!("{}.0", value.base10_digits()), Kind::FloatLiteral)
        }
        Lit::Int(value) => Value::atom(value.base10_digits().to_owned(), Kind::IntegerLiteral),
        other => return Err(Refusal::new(other, "this literal has no counterpart in CUDA")),
    };
    let suffix = match &literal.lit {
        Lit::Float(value) => Kind::named(value.suffix()),
        Lit::Int(value) => Kind::named(value.suffix()),
        _ => None,
    };
    let is_of_literals = |kind: &Kind| match value.kind {
        Kind::FloatLiteral => matches!(kind, Kind::Float(_)),
        _ => matches!(kind, Kind::Integer(_)),
    };
    match suffix.or(expected.filter(is_of_literals)) {
        Some(kind) => scope.fit(value, kind, literal),
        None => Ok(value),
    }
}

/// A variable or a constant.
fn name(scope: &Scope<'_>, path: &ExprPath, expected: Option<Kind>) -> Result<Value, Refusal> {
    if let (None, Some(ident)) = (&path.qself, path.path.get_ident())
        && let Some(value) = scope.variable(&ident.to_string())
    {
        return Ok(value.clone());
    }
    let text = path.to_token_stream().to_string().replace(' ', "");
    let unknown = || {
        Refusal::new(
            path,
            format!(
                "the value of `{text}` cannot be seen from here; write it out, or pass it as an argument"
            ),
        )
    };
    let last = path.path.segments.last().ok_or_else(unknown)?.ident.to_string();
    let kind = scope.signature.kind_of_owner(path, is_of_consts(&last)).or(expected).ok_or_else(unknown)?;
    constant(&last, kind, &scope.cuda(kind)).ok_or_else(unknown)
}

fn negation(scope: &mut Scope<'_>, unary: &ExprUnary, expected: Option<Kind>) -> Result<Value, Refusal> {
    let value = expression(scope, &unary.expr, expected)?;
    let ty = scope.cuda(value.kind);
    match unary.op {
        UnOp::Neg(_) if value.kind.is_float() || value.kind == Kind::IntegerLiteral => Ok(value.negated()),
        UnOp::Neg(_) if value.kind.is_integer() => {
            Ok(Value::atom(format!("real::wrapping_sub({ty}(0), {})", value.text), value.kind))
        }
        UnOp::Not(_) if value.kind == Kind::Bool => {
            Ok(Value::atom(format!("!{}", value.operand()), Kind::Bool))
        }
        UnOp::Not(_) if matches!(value.kind, Kind::Integer(_)) => {
            Ok(Value::atom(format!("{ty}(~{})", value.operand()), value.kind))
        }
        _ => Err(Refusal::new(unary, "this operator has no counterpart in CUDA for these values")),
    }
}

fn binary(scope: &mut Scope<'_>, value: &ExprBinary, expected: Option<Kind>) -> Result<Value, Refusal> {
    use BinOp::{Add, And, BitAnd, BitOr, BitXor, Div, Mul, Or, Rem, Sub};
    let gives_operands =
        matches!(value.op, Add(_) | Sub(_) | Mul(_) | Div(_) | Rem(_) | BitAnd(_) | BitOr(_) | BitXor(_));
    let expected = match value.op {
        And(_) | Or(_) => Some(Kind::Bool),
        _ => expected.filter(|_| gives_operands),
    };
    let mut left = expression(scope, &value.left, expected)?;
    let known = if left.kind.is_literal() { expected } else { Some(left.kind) };
    let mut right = expression(scope, &value.right, known)?;
    if left.kind.is_literal() && !right.kind.is_literal() {
        left = expression(scope, &value.left, Some(right.kind))?;
    }
    left = if left.kind == right.kind { left } else { scope.fit(left, right.kind, value)? };
    right = scope.fit(right, left.kind, value)?;
    let sign = value.op.to_token_stream().to_string();
    operation(scope, value, (left, &sign, right))
}

/// `left sign right`, both of one kind.
fn operation(
    scope: &Scope<'_>,
    at: &ExprBinary,
    (left, sign, right): (Value, &str, Value),
) -> Result<Value, Refusal> {
    let (kind, ty) = (left.kind, scope.cuda(left.kind));
    if matches!(kind, Kind::Opaque(_)) {
        return Err(Refusal::new(
            at,
            "elements of a type that is not `Real` are moved and not computed with",
        ));
    }
    if ["==", "!=", "<", "<=", ">", ">="].contains(&sign) {
        return Ok(Value::loose(format!("{} {sign} {}", left.operand(), right.operand()), Kind::Bool));
    }
    let text = match (sign, kind) {
        ("+" | "-", _) if kind.is_float() => return Ok(Value::binary(&left, sign, &right, SUM)),
        ("*" | "/", _) if kind.is_float() => return Ok(Value::binary(&left, sign, &right, PRODUCT)),
        ("%", _) if kind.is_float() => format!("real::remainder({}, {})", left.text, right.text),
        ("+", _) if kind.is_integer() => format!("real::wrapping_add({}, {})", left.text, right.text),
        ("-", _) if kind.is_integer() => format!("real::wrapping_sub({}, {})", left.text, right.text),
        ("*", _) if kind.is_integer() => format!("real::wrapping_mul({}, {})", left.text, right.text),
        ("/" | "%", _) if kind.is_integer() && is_positive_literal(&at.right) => {
            format!("{ty}({} {sign} {})", left.operand(), right.operand())
        }
        ("&&" | "||", Kind::Bool) => {
            return Ok(Value::loose(format!("{} {sign} {}", left.operand(), right.operand()), Kind::Bool));
        }
        ("&" | "|" | "^", _) if kind == Kind::Bool || kind.is_integer() => {
            format!("{ty}({} {sign} {})", left.operand(), right.operand())
        }
        ("/" | "%", _) => {
            return Err(Refusal::new(
                at,
                "a division of integers fails the task where the divisor is 0, which CUDA cannot; divide by a number that is written out",
            ));
        }
        _ => return Err(Refusal::new(at, format!("`{sign}` has no counterpart in CUDA for these values"))),
    };
    Ok(Value::atom(text, kind))
}

fn is_positive_literal(value: &Expr) -> bool {
    matches!(value, Expr::Lit(ExprLit { lit: Lit::Int(number), .. }) if number.base10_parse::<u64>().is_ok_and(|number| number > 0))
}

/// `T::from_f64(0.5)`, `Real::max(x, y)`.
fn associated(scope: &mut Scope<'_>, call: &ExprCall, expected: Option<Kind>) -> Result<Value, Refusal> {
    let Expr::Path(path) = &*call.func else {
        return Err(Refusal::new(call, "this call has no counterpart in CUDA"));
    };
    let name = path.path.segments.last().map(|last| last.ident.to_string()).unwrap_or_default();
    let owner = scope.signature.kind_of_owner(path, false);
    let mut arguments = call.args.iter();
    let Some(first) = arguments.next() else {
        return Err(Refusal::new(call, "this call has no counterpart in CUDA"));
    };
    if name == "from_f64" {
        let value = expression(scope, first, Some(Kind::Float("f64")))?;
        let value = scope.fit(value, Kind::Float("f64"), first)?;
        let kind = owner.or(expected).filter(|kind| kind.is_float());
        let kind = kind.ok_or_else(|| {
            Refusal::new(call, "it is not clear which type this gives; write `T::from_f64(..)`")
        })?;
        return Ok(match kind {
            Kind::Float("f64") => value,
            kind => Value::atom(format!("{}({})", scope.cuda(kind), value.text), kind),
        });
    }
    let first = expression(scope, first, owner.or(expected))?;
    function(scope, (&name, call), first, arguments, expected)
}

/// A function of `Real` on `receiver`.
fn function<'e>(
    scope: &mut Scope<'_>,
    (name, at): (&str, &dyn ToTokens),
    receiver: Value,
    others: impl Iterator<Item = &'e Expr>,
    expected: Option<Kind>,
) -> Result<Value, Refusal> {
    let at = at.to_token_stream();
    let unknown = || Refusal::new(&at, format!("`{name}` has no counterpart in CUDA for these values"));
    let shape = shape(name).ok_or_else(unknown)?;
    let receiver = match (receiver.kind.is_literal(), expected) {
        (true, Some(kind)) => scope.fit(receiver, kind, &at)?,
        _ => receiver,
    };
    let kind = receiver.kind;
    if kind.is_literal() || matches!(kind, Kind::Opaque(_) | Kind::Bool) {
        return Err(unknown());
    }
    let mut values = vec![receiver];
    for other in others {
        let wanted = if shape == Shape::Exponent { Kind::Integer(Stored::I32) } else { kind };
        let value = expression(scope, other, Some(wanted))?;
        values.push(scope.fit(value, wanted, other)?);
    }
    let count = match shape {
        Shape::Same(more) => more,
        Shape::Exponent => 1,
        Shape::Question | Shape::Itself | Shape::ToDouble => 0,
    };
    if values.len() != count + 1 {
        return Err(unknown());
    }
    match shape {
        Shape::Itself if kind.is_float() => Ok(values.swap_remove(0)),
        Shape::ToDouble if kind == Kind::Float("f64") => Ok(values.swap_remove(0)),
        Shape::ToDouble if kind.is_float() => {
            Ok(Value::atom(format!("double({})", values[0].text), Kind::Float("f64")))
        }
        _ => call(name, kind, &values).ok_or_else(unknown),
    }
}
