//! Calls of functions of `Real`, read to a graph.

use dahl_expression::{Binary, Ternary, Type, Unary};
use syn::{Expr, ExprCall};

use super::Refusal;
use super::literal::integer;
use super::reading::{Loose, Reader, Value};
use super::real_type::{RealType, is_of_trait};

impl Reader<'_> {
    /// `T::from_f64(0.5)`, `Real::max(x, y)`.
    pub(super) fn associated(
        &mut self,
        call: &ExprCall,
        (at, expected): (&Expr, Option<Type>),
    ) -> Result<Value, Refusal> {
        let Expr::Path(path) = &*call.func else {
            return Err(Refusal::new(call, "this call is not differentiated; give a rule"));
        };
        let name = path.path.segments.last().map(|last| last.ident.to_string()).unwrap_or_default();
        let owner = self.types.of_owner(path);
        let arguments: Vec<&Expr> = call.args.iter().collect();
        let is_of_trait = is_of_trait(&mut self.types, &call.func);
        self.call(&name, &arguments, (owner, expected), (at, is_of_trait))
    }

    /// A function of `Real`: as a method, of `owner`, or of the trait.
    pub(super) fn call(
        &mut self,
        name: &str,
        arguments: &[&Expr],
        (owner, expected): (Option<Type>, Option<Type>),
        (at, is_of_trait): (&Expr, bool),
    ) -> Result<Value, Refusal> {
        let unknown = || Refusal::new(at, format!("`{name}` is not differentiated here; give a rule"));
        let (&first, others) = arguments.split_first().ok_or_else(unknown)?;
        let wanted = owner.or(expected).or(self.output);
        if let "from_f64" | "narrow" = name {
            let ty = wanted.filter(|ty| matches!(ty, Type::Real(_))).ok_or_else(unknown)?;
            let from = if name == "from_f64" {
                Some(self.types.real(RealType::F64))
            } else {
                self.types.compute(ty)
            };
            let value = self.expression(first, from)?;
            // The number is rounded once, to the type.
            if let Value::Loose(Loose::Number(number)) = value {
                return Ok(Value::Node(self.graph.constant(number, ty)));
            }
            let value = self.resolve(value, from, first)?;
            let value = self.require(value, from.ok_or_else(unknown)?, first)?;
            return Ok(Value::Node(self.graph.convert(value, ty)));
        }
        let receiver = self.expression(first, owner)?;
        let changes_type = matches!(name, "to_f64" | "widen") || name.starts_with("is_");
        let receiver = self.resolve(receiver, owner.or(expected.filter(|_| !changes_type)), first)?;
        let ty = self.graph.ty(receiver);
        let concrete = self.types.real_type(ty).is_some_and(RealType::is_concrete);
        let node = match (name, others) {
            ("to_f64", []) => {
                let to = self.types.real(RealType::F64);
                self.graph.convert(receiver, to)
            }
            ("widen", []) => {
                let to = self.types.compute(ty).ok_or_else(unknown)?;
                self.graph.convert(receiver, to)
            }
            ("sin_cos", []) => {
                let [sine, cosine] =
                    [Unary::Sin, Unary::Cos].map(|function| self.graph.unary(function, receiver));
                return Ok(Value::Pair(sine, cosine));
            }
            ("powi", [exponent]) => {
                let exponent = integer(exponent).ok_or_else(|| {
                    Refusal::new(
                        exponent,
                        "this exponent is not known here; write it out, use `powf`, or give a rule",
                    )
                })?;
                self.graph.powi(receiver, exponent)
            }
            (_, []) => {
                let function =
                    Unary::ALL.iter().find(|function| function.name() == name).ok_or_else(unknown)?;
                self.graph.unary(*function, receiver)
            }
            (_, [other]) => {
                let function = match (name, ty) {
                    ("plus", Type::Real(_)) => Binary::Add,
                    ("max", _) if !concrete || is_of_trait => Binary::Maximum,
                    ("min", _) if !concrete || is_of_trait => Binary::Minimum,
                    _ => *Binary::ALL.iter().find(|function| function.name() == name).ok_or_else(unknown)?,
                };
                let other = self.node(other, Some(ty))?;
                self.graph.binary(function, receiver, other)
            }
            (_, [second, third]) => {
                let function =
                    Ternary::ALL.iter().find(|function| function.name() == name).ok_or_else(unknown)?;
                let (second, third) = (self.node(second, Some(ty))?, self.node(third, Some(ty))?);
                self.graph.ternary(*function, receiver, second, third)
            }
            _ => return Err(unknown()),
        };
        Ok(Value::Node(node))
    }
}
