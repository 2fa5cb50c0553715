//! Literals in operations with values of a type parameter: in Rust `2.0` is not a `T`, and the compiler's error
//! suggests no remedy.

use quote::ToTokens;
use syn::visit::{self, Visit};
use syn::{BinOp, Block, Expr, ExprBinary, ExprMethodCall, Ident, Lit, PatIdent, Type, UnOp};

use crate::errors::Errors;
use crate::model::Codelet;
use crate::tokens;

/// Methods of a number whose argument is a number of the same type.
const OF_EQUALS: [&str; 12] = [
    "atan2", "clamp", "copysign", "hypot", "log", "max", "maximum", "min", "minimum", "mul_add", "plus",
    "powf",
];

/// Methods of a number whose result is something else, or a number of another type.
const TO_OTHERS: [&str; 10] = [
    "is_finite",
    "is_infinite",
    "is_nan",
    "is_normal",
    "is_sign_negative",
    "is_sign_positive",
    "narrow",
    "sin_cos",
    "to_f64",
    "widen",
];

/// Reports number literals in a map's body where a value of a type parameter is needed.
pub(super) fn check(codelet: &Codelet, errors: &mut Errors) {
    let block = &codelet.function.block;
    let mut search = Search { codelet, rebound: Rebound::of(block), errors };
    search.visit_block(block);
}

struct Search<'a> {
    codelet: &'a Codelet,
    rebound: Rebound,
    errors: &'a mut Errors,
}

/// The names that the body binds: their types are not inferred.
#[derive(Default)]
struct Rebound(Vec<Ident>);

impl Rebound {
    fn of(block: &Block) -> Self {
        let mut rebound = Self::default();
        rebound.visit_block(block);
        rebound
    }
}

impl<'ast> Visit<'ast> for Rebound {
    fn visit_pat_ident(&mut self, pattern: &'ast PatIdent) {
        self.0.push(pattern.ident.clone());
    }
}

impl<'ast> Visit<'ast> for Search<'_> {
    fn visit_expr_binary(&mut self, binary: &'ast ExprBinary) {
        if is_of_equals(&binary.op) {
            for (literal, other) in [(&binary.left, &binary.right), (&binary.right, &binary.left)] {
                self.compare(literal, other);
            }
        }
        visit::visit_expr_binary(self, binary);
    }

    fn visit_expr_method_call(&mut self, call: &'ast ExprMethodCall) {
        if OF_EQUALS.contains(&call.method.to_string().as_str()) {
            for argument in &call.args {
                self.compare(argument, &call.receiver);
            }
        }
        visit::visit_expr_method_call(self, call);
    }
}

impl Search<'_> {
    fn compare(&mut self, literal: &Expr, other: &Expr) {
        let Some(number) = number(literal) else { return };
        let Some(ty) = self.parameter_of(other) else { return };
        let remedy = match number {
            0.0 => format!("{ty}::ZERO"),
            1.0 => format!("{ty}::ONE"),
            number => format!("{ty}::from_f64({number:?})"),
        };
        let text = tokens::text(&literal.to_token_stream());
        self.errors.at(
            literal,
            format!("`{text}` is a literal, and what it meets is of type `{ty}`; write `{remedy}`"),
        );
    }

    /// The type parameter that is the type of `value`, if that is evident.
    fn parameter_of(&self, value: &Expr) -> Option<Ident> {
        match value {
            Expr::Paren(paren) => self.parameter_of(&paren.expr),
            Expr::Group(group) => self.parameter_of(&group.expr),
            Expr::Unary(unary) if matches!(unary.op, UnOp::Neg(_)) => self.parameter_of(&unary.expr),
            Expr::Binary(binary) if is_arithmetic(&binary.op) => {
                self.parameter_of(&binary.left).or_else(|| self.parameter_of(&binary.right))
            }
            Expr::MethodCall(call) if !TO_OTHERS.contains(&call.method.to_string().as_str()) => {
                self.parameter_of(&call.receiver)
            }
            // `T::PI`.
            Expr::Path(path) if path.path.segments.len() == 2 => {
                self.type_parameter(&path.path.segments[0].ident)
            }
            Expr::Path(path) => {
                let name = path.path.get_ident().filter(|name| !self.rebound.0.contains(name))?;
                let data =
                    self.codelet.parameters.iter().map(|parameter| (&parameter.name, &parameter.element));
                let plain = self.codelet.arguments.iter().map(|argument| (&argument.name, &argument.ty));
                let (_, ty) = data.chain(plain).find(|(own, _)| *own == name)?;
                let Type::Path(ty) = ty else { return None };
                self.type_parameter(ty.path.get_ident()?)
            }
            _ => None,
        }
    }

    fn type_parameter(&self, name: &Ident) -> Option<Ident> {
        self.codelet.generics.type_params().find(|parameter| parameter.ident == *name).map(|_| name.clone())
    }
}

/// The value of a number's literal, without a suffix.
fn number(literal: &Expr) -> Option<f64> {
    match literal {
        Expr::Lit(literal) => match &literal.lit {
            Lit::Float(float) => float.base10_parse().ok(),
            Lit::Int(int) => int.base10_parse().ok(),
            _ => None,
        },
        Expr::Unary(unary) if matches!(unary.op, UnOp::Neg(_)) => number(&unary.expr).map(|number| -number),
        Expr::Paren(paren) => number(&paren.expr),
        _ => None,
    }
}

fn is_arithmetic(operator: &BinOp) -> bool {
    matches!(operator, BinOp::Add(_) | BinOp::Sub(_) | BinOp::Mul(_) | BinOp::Div(_) | BinOp::Rem(_))
}

/// Whether both sides of the operator have one type.
fn is_of_equals(operator: &BinOp) -> bool {
    let compares = matches!(
        operator,
        BinOp::Eq(_) | BinOp::Ne(_) | BinOp::Lt(_) | BinOp::Le(_) | BinOp::Gt(_) | BinOp::Ge(_)
    );
    compares || is_arithmetic(operator)
}
