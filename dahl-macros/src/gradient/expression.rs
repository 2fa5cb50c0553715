//! [`Expression`]: the body of a derived map as data, from which a program can derive further maps when it runs.

use dahl_expression::{Graph, Node, NodeId, Type};
use proc_macro2::{Ident, TokenStream};
use quote::quote;
use syn::{Expr, Lit, UnOp};

use super::Body;
use super::real_type::RealType;
use crate::compute;
use crate::model::Codelet;
use crate::tokens;

/// The body of a derived map as data.
pub(crate) struct Expression {
    /// As `Graph::of_text` reads it. The real type 0 is the compute type of the output's elements, 1 is `f32`, 2 is `f64`.
    pub(crate) text: String,
    /// The values of its leaves in `f64`, where the declaration's arguments and types are known.
    pub(crate) leaves: Vec<TokenStream>,
}

impl Expression {
    /// The expression `root`, whose inputs are those in `inputs`, then the gradient. None if it has real numbers of another
    /// type parameter than the output's, or leaves of types that are not known.
    pub(super) fn of(
        codelet: &Codelet,
        graph: &Graph,
        body: &Body,
        root: NodeId,
        inputs: &[usize],
    ) -> Option<Self> {
        let output = &codelet.parameters.last()?.element;
        let ty = |ty| match ty {
            Type::Bool | Type::Other => Some(ty),
            Type::Real(_) => Some(Type::Real(match body.types.real_type(ty)? {
                RealType::Parameter(name) | RealType::Compute(name) => {
                    compute::names(output, name).then_some(0)?
                }
                RealType::F32 => 1,
                RealType::F64 => 2,
            })),
        };
        // The leaves so far, and their numbers in the declaration.
        let (mut leaves, mut numbers) = (Vec::new(), Vec::new());
        let atom = |copy: &mut Graph, node, ty| {
            Some(match node {
                Node::Input(index) => {
                    let place = inputs.iter().position(|input| *input == usize::from(index));
                    copy.input(super::index(place.unwrap_or(inputs.len())), ty)
                }
                Node::Leaf(index) => match Leaf::of(codelet, &body.leaves[usize::from(index)], ty)? {
                    Leaf::Number(number) => copy.constant(number, ty),
                    Leaf::Computed(value) => {
                        let place = numbers.iter().position(|known| *known == (index, ty));
                        let place = place.unwrap_or_else(|| {
                            leaves.push(value);
                            numbers.push((index, ty));
                            leaves.len() - 1
                        });
                        copy.leaf(super::index(place), ty)
                    }
                },
                Node::Constant(number) => copy.constant(number.value(), ty),
                _ => return None,
            })
        };
        let mut copy = Graph::new();
        let root = copy.copy(graph, root, atom, ty)?;
        Some(Self { text: copy.to_text(root), leaves })
    }
}

/// The value of a leaf in `f64`.
enum Leaf {
    Number(f64),
    Computed(TokenStream),
}

impl Leaf {
    fn of(codelet: &Codelet, tokens: &TokenStream, ty: Type) -> Option<Self> {
        let expression = syn::parse2::<Expr>(tokens.clone()).ok()?;
        if let Some(number) = literal(&expression) {
            return Some(Self::Number(number));
        }
        // Where the leaves are computed, these names are those of the element types.
        if ["f16", "bf16"].iter().any(|half| tokens::mention(tokens, &quote::format_ident!("{half}"))) {
            return None;
        }
        let root = &codelet.root;
        Some(Self::Computed(match ty {
            Type::Real(_) => quote!(#root::Real::to_f64(#tokens)),
            Type::Bool => quote!((#tokens) as ::core::primitive::u8 as ::core::primitive::f64),
            Type::Other if is_integer(codelet, &expression) => quote!((#tokens) as ::core::primitive::f64),
            Type::Other => return None,
        }))
    }
}

/// The value of an integer or a truth that is written out.
fn literal(expression: &Expr) -> Option<f64> {
    match expression {
        Expr::Lit(literal) => match &literal.lit {
            Lit::Int(number) => number.base10_parse().ok(),
            Lit::Bool(truth) => Some(f64::from(u8::from(truth.value))),
            _ => None,
        },
        Expr::Paren(inner) => literal(&inner.expr),
        Expr::Group(inner) => literal(&inner.expr),
        Expr::Unary(inner) if matches!(inner.op, UnOp::Neg(_)) => Some(-literal(&inner.expr)?),
        _ => None,
    }
}

/// Whether an expression is known to be an integer: an argument or a constant parameter with such a type, or a constant of
/// such a type.
fn is_integer(codelet: &Codelet, expression: &Expr) -> bool {
    match expression {
        Expr::Unary(inner) if matches!(inner.op, UnOp::Neg(_)) => is_integer(codelet, &inner.expr),
        Expr::Path(path) if path.qself.is_none() => match path.path.get_ident() {
            Some(name) => {
                let argument = codelet.arguments.iter().find(|argument| argument.name == *name);
                let constant = || codelet.generics.const_params().find(|constant| constant.ident == *name);
                let ty = argument.map(|argument| &argument.ty).or_else(|| Some(&constant()?.ty));
                matches!(ty, Some(syn::Type::Path(ty)) if ty.path.get_ident().is_some_and(names_integer))
            }
            None => path.path.segments.first().is_some_and(|owner| names_integer(&owner.ident)),
        },
        _ => false,
    }
}

fn names_integer(name: &Ident) -> bool {
    ["u8", "u16", "u32", "u64", "u128", "usize", "i8", "i16", "i32", "i64", "i128", "isize"]
        .iter()
        .any(|integer| name == integer)
}
