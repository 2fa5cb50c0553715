//! [`Reader`]: from the body of a map to a graph.
//!
//! Types are inferred as far as constants need it: a literal takes the type of what it meets.

use dahl_expression::{Binary, Graph, NodeId, Type, Unary};
use proc_macro2::{Ident, TokenStream};
use quote::ToTokens;
use syn::{BinOp, Block, Expr, ExprBinary, ExprIf, ExprPath, ExprUnary, Lit, Local, Pat, Stmt, UnOp};

use super::Refusal;
use super::literal::is_literal;
use super::real_type::{RealType, Types};
use crate::model::Codelet;

/// A body on its way to a graph.
pub(super) struct Reader<'a> {
    pub(super) graph: &'a mut Graph,
    pub(super) types: Types,
    /// The tokens of each leaf.
    pub(super) leaves: Vec<TokenStream>,
    /// The names that the body gives to values.
    pub(super) names: Vec<(NodeId, Ident)>,
    /// The visible variables, the innermost last.
    variables: Vec<(Ident, Value)>,
    pub(super) output: Option<Type>,
}

/// The value of an expression.
#[derive(Clone)]
pub(super) enum Value {
    Node(NodeId),
    /// An expression whose type the place determines where it is used: a literal, a constant, an argument of a type that
    /// is not known here.
    Loose(Loose),
    /// Sine and cosine.
    Pair(NodeId, NodeId),
}

#[derive(Clone)]
pub(super) enum Loose {
    Number(f64),
    Tokens(TokenStream),
}

impl<'a> Reader<'a> {
    /// A reader that knows the parameters of the declaration.
    pub(super) fn new(graph: &'a mut Graph, types: Types, codelet: &Codelet) -> Self {
        let mut reader =
            Self { graph, types, leaves: Vec::new(), names: Vec::new(), variables: Vec::new(), output: None };
        let inputs = codelet.parameters.split_last().map_or(&[][..], |(_, inputs)| inputs);
        for (index, input) in inputs.iter().enumerate() {
            let ty = reader.types.of(&input.element).unwrap_or(Type::Other);
            let node = reader.graph.input(super::index(index), ty);
            reader.variables.push((input.name.clone(), Value::Node(node)));
        }
        for argument in &codelet.arguments {
            let tokens = argument.name.to_token_stream();
            let value = match reader.types.of(&argument.ty) {
                Some(ty) => Value::Node(reader.leaf(tokens, ty)),
                None => Value::Loose(Loose::Tokens(tokens)),
            };
            reader.variables.push((argument.name.clone(), value));
        }
        reader
    }

    /// The value of the body, of the output's type.
    pub(super) fn body(&mut self, block: &Block, output: Type) -> Result<NodeId, Refusal> {
        self.output = Some(output);
        let value = self.block(block, Some(output))?;
        let node = self.resolve(value, Some(output), block)?;
        self.require(node, output, block)
    }

    fn leaf(&mut self, tokens: TokenStream, ty: Type) -> NodeId {
        let text = tokens.to_string();
        let known = self.leaves.iter().position(|leaf| leaf.to_string() == text);
        let index = known.unwrap_or_else(|| {
            self.leaves.push(tokens);
            self.leaves.len() - 1
        });
        self.graph.leaf(super::index(index), ty)
    }

    fn block(&mut self, block: &Block, expected: Option<Type>) -> Result<Value, Refusal> {
        let outer = self.variables.len();
        let mut result = None;
        for statement in &block.stmts {
            match statement {
                Stmt::Local(local) => self.binding(local)?,
                Stmt::Expr(value, None) => result = Some(self.expression(value, expected)?),
                other => {
                    return Err(Refusal::new(other, "only `let` and values are differentiated; give a rule"));
                }
            }
        }
        self.variables.truncate(outer);
        result.ok_or_else(|| Refusal::new(block, "this block has no value"))
    }

    fn binding(&mut self, local: &Local) -> Result<(), Refusal> {
        let Some(init) = &local.init else { return Err(Refusal::new(local, "a `let` without a value")) };
        let (mut pattern, mut expected) = (&local.pat, None);
        loop {
            match pattern {
                Pat::Type(typed) => {
                    expected = self.types.of(&typed.ty);
                    pattern = &typed.pat;
                }
                Pat::Paren(paren) => pattern = &paren.pat,
                _ => break,
            }
        }
        let mut value = self.expression(&init.expr, expected)?;
        if expected.is_some() {
            value = Value::Node(self.resolve(value, expected, &init.expr)?);
        }
        match (pattern, value) {
            (Pat::Wild(_), _) => Ok(()),
            (Pat::Ident(name), value) => {
                self.bind(&name.ident, value);
                Ok(())
            }
            (Pat::Tuple(pair), Value::Pair(sine, cosine)) if pair.elems.len() == 2 => {
                for (pattern, node) in pair.elems.iter().zip([sine, cosine]) {
                    match pattern {
                        Pat::Ident(name) => self.bind(&name.ident, Value::Node(node)),
                        Pat::Wild(_) => {}
                        other => {
                            return Err(Refusal::new(
                                other,
                                "this pattern is not differentiated; give a rule",
                            ));
                        }
                    }
                }
                Ok(())
            }
            (other, _) => Err(Refusal::new(other, "this pattern is not differentiated; give a rule")),
        }
    }

    fn bind(&mut self, name: &Ident, value: Value) {
        if let Value::Node(node) = value {
            self.names.push((node, name.clone()));
        }
        self.variables.push((name.clone(), value));
    }

    /// The node of an expression of this type, if one is expected.
    pub(super) fn node(&mut self, value: &Expr, expected: Option<Type>) -> Result<NodeId, Refusal> {
        let read = self.expression(value, expected)?;
        let node = self.resolve(read, expected, value)?;
        match expected {
            Some(expected) => self.require(node, expected, value),
            None => Ok(node),
        }
    }

    pub(super) fn resolve(
        &mut self,
        value: Value,
        expected: Option<Type>,
        at: &impl syn::spanned::Spanned,
    ) -> Result<NodeId, Refusal> {
        match value {
            Value::Node(node) => Ok(node),
            Value::Loose(Loose::Number(number)) => {
                let ty = match expected {
                    Some(ty) => ty,
                    None => self.types.real(RealType::F64),
                };
                Ok(self.graph.constant(number, ty))
            }
            Value::Loose(Loose::Tokens(tokens)) => match expected {
                Some(ty) => Ok(self.leaf(tokens, ty)),
                None => Err(Refusal::new(
                    at,
                    "the type of this value is not clear here; give it a `let` with a type, or give a rule",
                )),
            },
            Value::Pair(..) => Err(Refusal::new(at, "a pair is not a value; take it apart with `let`")),
        }
    }

    pub(super) fn require(
        &self,
        node: NodeId,
        ty: Type,
        at: &impl syn::spanned::Spanned,
    ) -> Result<NodeId, Refusal> {
        if self.graph.ty(node) == ty {
            return Ok(node);
        }
        Err(Refusal::new(
            at,
            "the types of these values are not known to agree; convert them, or give a rule",
        ))
    }

    pub(super) fn expression(&mut self, value: &Expr, expected: Option<Type>) -> Result<Value, Refusal> {
        match value {
            Expr::Lit(literal) => self.literal(&literal.lit, value),
            Expr::Path(path) => Ok(self.path(path)),
            Expr::Paren(inner) => self.expression(&inner.expr, expected),
            Expr::Group(inner) => self.expression(&inner.expr, expected),
            Expr::Block(inner) => self.block(&inner.block, expected),
            Expr::If(choice) => self.choice(choice, expected),
            Expr::Unary(unary) => self.unary(unary, expected),
            Expr::Binary(pair) => self.binary(pair, expected).map(Value::Node),
            Expr::MethodCall(call) => {
                let arguments: Vec<&Expr> = std::iter::once(&*call.receiver).chain(&call.args).collect();
                self.call(&call.method.to_string(), &arguments, (None, expected), (value, false))
            }
            Expr::Call(call) => self.associated(call, (value, expected)),
            other => Err(Refusal::new(other, "this expression is not differentiated; give a rule")),
        }
    }

    fn literal(&mut self, literal: &Lit, at: &Expr) -> Result<Value, Refusal> {
        let of_suffix = |suffix: &str| match suffix {
            "f32" => Some(RealType::F32),
            "f64" => Some(RealType::F64),
            _ => None,
        };
        let (number, suffix) = match literal {
            Lit::Float(number) => (number.base10_parse::<f64>(), number.suffix()),
            // The parser treats `2_f32` as an integer.
            Lit::Int(number) if number.suffix().starts_with('f') => (
                number.base10_digits().parse().map_err(|_| syn::Error::new_spanned(number, "")),
                number.suffix(),
            ),
            Lit::Bool(_) => return Ok(Value::Node(self.leaf(literal.to_token_stream(), Type::Bool))),
            // An integer, which is compared, or the exponent of a power.
            _ => return Ok(Value::Loose(Loose::Tokens(literal.to_token_stream()))),
        };
        let number = number.map_err(|_| Refusal::new(at, "this literal is not a number"))?;
        Ok(match of_suffix(suffix) {
            Some(real) => {
                let ty = self.types.real(real);
                Value::Node(self.graph.constant(number, ty))
            }
            None => Value::Loose(Loose::Number(number)),
        })
    }

    /// A variable or a constant.
    fn path(&mut self, path: &ExprPath) -> Value {
        if let (None, Some(name)) = (&path.qself, path.path.get_ident()) {
            if let Some((_, value)) = self.variables.iter().rev().find(|(known, _)| known == name) {
                return value.clone();
            }
            if self.types.is_constant(name) {
                return Value::Node(self.leaf(path.to_token_stream(), Type::Other));
            }
        }
        let Some(ty) = self.types.of_owner(path) else {
            return Value::Loose(Loose::Tokens(path.to_token_stream()));
        };
        let last = path.path.segments.last().map(|last| last.ident.to_string()).unwrap_or_default();
        Value::Node(match (ty, &*last) {
            (Type::Real(_), "ZERO") => self.graph.constant(0.0, ty),
            (Type::Real(_), "ONE") => self.graph.constant(1.0, ty),
            _ => self.leaf(path.to_token_stream(), ty),
        })
    }

    fn choice(&mut self, choice: &ExprIf, expected: Option<Type>) -> Result<Value, Refusal> {
        let condition = self.node(&choice.cond, Some(Type::Bool))?;
        let Some((_, otherwise)) = &choice.else_branch else {
            return Err(Refusal::new(choice, "an `if` without `else` has no value"));
        };
        let then = self.block(&choice.then_branch, expected)?;
        let other = self.expression(otherwise, expected)?;
        let ty = match (&then, &other) {
            (Value::Node(node), _) | (_, Value::Node(node)) => Some(self.graph.ty(*node)),
            _ => expected,
        };
        let then = self.resolve(then, ty, &choice.then_branch)?;
        let other = self.resolve(other, ty, otherwise)?;
        let other = self.require(other, self.graph.ty(then), otherwise)?;
        Ok(Value::Node(self.graph.select(condition, then, other)))
    }

    fn unary(&mut self, unary: &ExprUnary, expected: Option<Type>) -> Result<Value, Refusal> {
        let function = match unary.op {
            UnOp::Neg(_) => Unary::Neg,
            UnOp::Not(_) => Unary::Not,
            _ => return Err(Refusal::new(unary, "this operator is not differentiated; give a rule")),
        };
        match (function, self.expression(&unary.expr, expected)?) {
            (Unary::Neg, Value::Loose(Loose::Number(number))) => Ok(Value::Loose(Loose::Number(-number))),
            (_, Value::Loose(Loose::Tokens(_))) if !matches!(expected, Some(Type::Real(_))) => {
                // The sign of an integer.
                Ok(Value::Loose(Loose::Tokens(unary.to_token_stream())))
            }
            (_, value) => {
                let node = self.resolve(value, expected, unary)?;
                Ok(Value::Node(self.graph.unary(function, node)))
            }
        }
    }

    fn binary(&mut self, pair: &ExprBinary, expected: Option<Type>) -> Result<NodeId, Refusal> {
        let function = operator(&pair.op)
            .ok_or_else(|| Refusal::new(pair, "this operator is not differentiated; give a rule"))?;
        let expected = match function {
            Binary::And | Binary::Or => Some(Type::Bool),
            _ if function.is_comparison() => None,
            _ => expected,
        };
        let known = |reader: &Self, value: &Value| match value {
            Value::Node(node) => Some(reader.graph.ty(*node)),
            _ => expected,
        };
        // A literal takes the type of the other side.
        let (left, right) = if is_literal(&pair.left) {
            let right = self.expression(&pair.right, expected)?;
            (self.expression(&pair.left, known(self, &right))?, right)
        } else {
            let left = self.expression(&pair.left, expected)?;
            let right = self.expression(&pair.right, known(self, &left))?;
            (left, right)
        };
        let ty = match (&left, &right) {
            (Value::Node(node), _) | (_, Value::Node(node)) => Some(self.graph.ty(*node)),
            // Two integers: numbers with a point are `f64`.
            (Value::Loose(Loose::Tokens(_)), _) => expected.or(Some(Type::Other)),
            _ => expected,
        };
        let right = self.resolve(right, ty, &pair.right)?;
        let left = self.resolve(left, Some(self.graph.ty(right)), &pair.left)?;
        let right = self.require(right, self.graph.ty(left), pair)?;
        Ok(self.graph.binary(function, left, right))
    }
}

fn operator(operator: &BinOp) -> Option<Binary> {
    Some(match operator {
        BinOp::Add(_) => Binary::Add,
        BinOp::Sub(_) => Binary::Sub,
        BinOp::Mul(_) => Binary::Mul,
        BinOp::Div(_) => Binary::Div,
        BinOp::Rem(_) => Binary::Rem,
        BinOp::And(_) => Binary::And,
        BinOp::Or(_) => Binary::Or,
        BinOp::BitAnd(_) => Binary::BitAnd,
        BinOp::BitOr(_) => Binary::BitOr,
        BinOp::BitXor(_) => Binary::BitXor,
        BinOp::Eq(_) => Binary::Equal,
        BinOp::Ne(_) => Binary::NotEqual,
        BinOp::Lt(_) => Binary::Less,
        BinOp::Le(_) => Binary::LessEqual,
        BinOp::Gt(_) => Binary::Greater,
        BinOp::Ge(_) => Binary::GreaterEqual,
        _ => return None,
    })
}
