//! From a graph to the body of a map: values that are used more than once become variables, others stay in place.

use std::collections::{HashMap, HashSet};
use std::f64::consts;

use dahl_expression::{Binary, Graph, Node, NodeId, Ternary, Type, Unary};
use proc_macro2::{Ident, Literal, TokenStream};
use quote::{ToTokens, format_ident, quote};
use syn::{Block, Path, parse_quote};

use super::Body;
use super::name::{self, Names};
use super::real_type::RealType;

/// The block that computes `root`. `inputs` are the names of the graph's inputs, `arguments` those of plain arguments.
pub(super) fn block(
    graph: &Graph,
    body: &Body,
    dahl: &Path,
    (inputs, arguments): (&[Ident], &[Ident]),
    root: NodeId,
) -> Block {
    let mut names = Names::default();
    names.take(quote!(#(#inputs)* #(#arguments)*));
    body.leaves.iter().for_each(|leaf| names.take(leaf.clone()));
    let mut writer = Writer {
        graph,
        body,
        inputs,
        dahl,
        names,
        partial: partial(graph, root),
        bound: HashMap::new(),
        lets: Vec::new(),
    };
    writer.bind(root);
    let (lets, result) = (std::mem::take(&mut writer.lets), writer.write(root).tokens);
    parse_quote!({ #(#lets)* #result })
}

struct Writer<'a> {
    graph: &'a Graph,
    body: &'a Body,
    inputs: &'a [Ident],
    /// The path of the crate `dahl`.
    dahl: &'a Path,
    names: Names,
    partial: HashSet<NodeId>,
    /// The names of nodes that are variables.
    bound: HashMap<NodeId, Ident>,
    lets: Vec<TokenStream>,
}

/// An expression, with the precedence of its outermost operator.
struct Written {
    tokens: TokenStream,
    precedence: Precedence,
}

/// From loose to tight.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Precedence {
    If,
    Or,
    And,
    Comparison,
    BitOr,
    BitXor,
    BitAnd,
    Sum,
    Product,
    Sign,
    Atom,
}

/// The nodes that may fail the task, by arithmetic of integers: they stay in the branch that guards them.
fn partial(graph: &Graph, root: NodeId) -> HashSet<NodeId> {
    let mut partial = HashSet::new();
    for scheduled in graph.schedule(root) {
        let id = scheduled.id;
        let node = graph.node(id);
        let is_atom = matches!(node, Node::Input(_) | Node::Leaf(_) | Node::Constant(_));
        let computes = !is_atom && graph.ty(id) == Type::Other;
        if computes || node.operands().any(|operand| partial.contains(&operand)) {
            partial.insert(id);
        }
    }
    partial
}

impl Writer<'_> {
    /// Writes a `let` for each node that is used more than once.
    fn bind(&mut self, root: NodeId) {
        let schedule = self.graph.schedule(root);
        let is_reached = |id: NodeId| schedule.binary_search_by_key(&id, |scheduled| scheduled.id).is_ok();
        for scheduled in &schedule {
            let id = scheduled.id;
            if self.bound.contains_key(&id) || self.partial.contains(&id) {
                continue;
            }
            if let Some((sine, cosine)) =
                self.pair(id).filter(|(sine, cosine)| is_reached(*sine) && is_reached(*cosine))
            {
                self.bind_pair(id, sine, cosine);
            } else if scheduled.uses > 1 && !self.is_short(id) {
                let value = self.write(id).tokens;
                let name = self.name(id);
                self.lets.push(quote!(let #name = #value;));
                self.bound.insert(id, name);
            }
        }
    }

    /// Sine and cosine of the same angle, if this is one of them and the graph has the other.
    fn pair(&self, id: NodeId) -> Option<(NodeId, NodeId)> {
        let Node::Unary(function @ (Unary::Sin | Unary::Cos), angle) = self.graph.node(id) else {
            return None;
        };
        let other = if function == Unary::Sin { Unary::Cos } else { Unary::Sin };
        let other = self.graph.find(Node::Unary(other, angle), self.graph.ty(id))?;
        Some(if function == Unary::Sin { (id, other) } else { (other, id) })
    }

    fn bind_pair(&mut self, id: NodeId, sine: NodeId, cosine: NodeId) {
        let Node::Unary(_, angle) = self.graph.node(id) else { return };
        let value = self.call("sin_cos", angle, &[]).tokens;
        let names = [sine, cosine].map(|id| self.name(id));
        let [sine_name, cosine_name] = &names;
        self.lets.push(quote!(let (#sine_name, #cosine_name) = #value;));
        self.bound.extend([sine, cosine].into_iter().zip(names));
    }

    fn name(&mut self, id: NodeId) -> Ident {
        let given = self.body.names.iter().find(|(known, _)| *known == id);
        let given = given.map(|(_, name)| name.to_string());
        let name = given
            .as_deref()
            .map_or_else(|| name::of_node(self.graph, id), |name| name.trim_start_matches("r#"));
        let raw = given.as_ref().is_some_and(|given| given.starts_with("r#"));
        let fresh = self.names.fresh(name);
        if raw { format_ident!("r#{}", fresh) } else { fresh }
    }

    /// Whether the expression is as short as a name.
    fn is_short(&self, id: NodeId) -> bool {
        let is_atom = |id: NodeId| {
            let node = self.graph.node(id);
            matches!(node, Node::Input(_) | Node::Leaf(_) | Node::Constant(_)) || self.bound.contains_key(&id)
        };
        match self.graph.node(id) {
            Node::Unary(function, operand) => {
                is_atom(operand) && (matches!(function, Unary::Neg | Unary::Not) || function.is_predicate())
            }
            Node::Binary(function, left, right) => {
                function.is_comparison() && is_atom(left) && is_atom(right)
            }
            _ => is_atom(id),
        }
    }

    fn write(&mut self, id: NodeId) -> Written {
        if let Some(name) = self.bound.get(&id) {
            return Written::atom(name.to_token_stream());
        }
        match self.graph.node(id) {
            Node::Input(index) => Written::atom(self.inputs[usize::from(index)].to_token_stream()),
            Node::Leaf(index) => Written::leaf(&self.body.leaves[usize::from(index)]),
            Node::Constant(number) => self.constant(number.value(), self.graph.ty(id)),
            Node::Convert(value) => self.conversion(value, self.graph.ty(id)),
            Node::Unary(Unary::Neg, operand) => {
                let operand = self.write(operand).within(Precedence::Sign);
                Written { tokens: quote!(-#operand), precedence: Precedence::Sign }
            }
            Node::Unary(Unary::Not, operand) => {
                let operand = self.write(operand).within(Precedence::Sign);
                Written { tokens: quote!(!#operand), precedence: Precedence::Sign }
            }
            Node::Unary(function, operand) => self.call(function.name(), operand, &[]),
            Node::Powi(base, exponent) => {
                let digits = Literal::u32_unsuffixed(exponent.unsigned_abs());
                let exponent = if exponent < 0 { quote!(-#digits) } else { quote!(#digits) };
                self.call_with("powi", base, vec![exponent])
            }
            Node::Binary(function, left, right) => self.binary(function, left, right),
            Node::Ternary(function, a, b, c) => match function {
                Ternary::Clamp | Ternary::MulAdd => self.call(function.name(), a, &[b, c]),
            },
            Node::Select(condition, then, otherwise) => {
                let condition = self.write(condition).tokens;
                let then = self.write(then).tokens;
                let written = self.write(otherwise);
                let otherwise = written.tokens;
                let tokens = if written.precedence == Precedence::If {
                    quote!(if #condition { #then } else #otherwise)
                } else {
                    quote!(if #condition { #then } else { #otherwise })
                };
                Written { tokens, precedence: Precedence::If }
            }
        }
    }

    fn binary(&mut self, function: Binary, left: NodeId, right: NodeId) -> Written {
        let precedence = match function {
            Binary::Or => Precedence::Or,
            Binary::And => Precedence::And,
            Binary::BitOr => Precedence::BitOr,
            Binary::BitXor => Precedence::BitXor,
            Binary::BitAnd => Precedence::BitAnd,
            Binary::Add | Binary::Sub => Precedence::Sum,
            Binary::Mul | Binary::Div | Binary::Rem => Precedence::Product,
            _ if function.is_comparison() => Precedence::Comparison,
            // A function; on type parameters `max` is the one that keeps NaN.
            Binary::Maximum if !self.is_concrete(left) => return self.call("max", left, &[right]),
            Binary::Minimum if !self.is_concrete(left) => return self.call("min", left, &[right]),
            Binary::Maximum | Binary::Minimum => {
                let (dahl, name) = (self.dahl, format_ident!("{}", function.name()));
                let (left, right) = (self.write(left).tokens, self.write(right).tokens);
                return Written::atom(quote!(#dahl::Element::#name(#left, #right)));
            }
            // Rust's own, which ignore NaN.
            Binary::MaxNumber | Binary::MinNumber => {
                let name = format_ident!("{}", function.name());
                let (left, right) = (self.receiver(left), self.write(right).tokens);
                return Written::atom(quote!(#left.#name(#right)));
            }
            _ => return self.call(function.name(), left, &[right]),
        };
        let sign: TokenStream = function.name().parse().expect("a sign");
        // Comparisons stand in no chain.
        let left_precedence =
            if precedence == Precedence::Comparison { Precedence::BitOr } else { precedence };
        let left = self.write(left).within(left_precedence);
        let right = self.write(right).within(precedence.next());
        Written { tokens: quote!(#left #sign #right), precedence }
    }

    /// A function of `Real`: a method, and on `f32` and `f64` the function of the trait.
    fn call(&mut self, name: &str, receiver: NodeId, others: &[NodeId]) -> Written {
        let others = others.iter().map(|other| self.write(*other).tokens).collect();
        self.call_with(name, receiver, others)
    }

    fn call_with(&mut self, name: &str, receiver: NodeId, others: Vec<TokenStream>) -> Written {
        let method = format_ident!("{name}");
        Written::atom(if self.is_concrete(receiver) {
            let (dahl, receiver) = (self.dahl, self.write(receiver).tokens);
            quote!(#dahl::Real::#method(#receiver #(, #others)*))
        } else {
            let receiver = self.receiver(receiver);
            quote!(#receiver.#method(#(#others),*))
        })
    }

    fn receiver(&mut self, id: NodeId) -> TokenStream {
        self.write(id).within(Precedence::Atom)
    }

    fn is_concrete(&self, id: NodeId) -> bool {
        self.body.types.real_type(self.graph.ty(id)).is_some_and(RealType::is_concrete)
    }

    fn constant(&self, value: f64, ty: Type) -> Written {
        if value.is_sign_negative() {
            let positive = self.constant(-value, ty).within(Precedence::Sign);
            return Written { tokens: quote!(-#positive), precedence: Precedence::Sign };
        }
        let dahl = self.dahl;
        let Some(real) = self.body.types.real_type(ty) else { return Written::atom(TokenStream::new()) };
        Written::atom(match real {
            RealType::F32 | RealType::F64 => {
                let suffix = if *real == RealType::F32 { "f32" } else { "f64" };
                let literal: Literal = format!("{value:?}_{suffix}").parse().expect("a number");
                quote!(#literal)
            }
            RealType::Parameter(_) | RealType::Compute(_) => {
                let owner = real.owner(&quote!(#dahl::Real));
                match named(value) {
                    Some(name) => {
                        let name = format_ident!("{name}");
                        quote!(#owner::#name)
                    }
                    None => {
                        let literal = Literal::f64_unsuffixed(value);
                        quote!(#owner::from_f64(#literal))
                    }
                }
            }
        })
    }

    /// `value`, converted to `ty`.
    fn conversion(&mut self, value: NodeId, ty: Type) -> Written {
        let dahl = self.dahl;
        let types = &self.body.types;
        let (from, to) = (types.real_type(self.graph.ty(value)), types.real_type(ty));
        let (Some(from), Some(to)) = (from, to) else { return self.write(value) };
        let owner = to.owner(&quote!(#dahl::Real));
        let converts = match (from, to) {
            (RealType::F64, _) => "from_f64",
            (_, RealType::F64) => return self.call("to_f64", value, &[]),
            (RealType::Parameter(_), _) => return self.call("widen", value, &[]),
            _ => "narrow",
        };
        let function = format_ident!("{converts}");
        let value = match self.graph.number(value) {
            Some(number) if converts == "from_f64" => unsuffixed(number),
            _ => self.write(value).tokens,
        };
        Written::atom(quote!(#owner::#function(#value)))
    }
}

impl Precedence {
    /// The next tighter one.
    fn next(self) -> Self {
        match self {
            Self::If => Self::Or,
            Self::Or => Self::And,
            Self::And => Self::Comparison,
            Self::Comparison => Self::BitOr,
            Self::BitOr => Self::BitXor,
            Self::BitXor => Self::BitAnd,
            Self::BitAnd => Self::Sum,
            Self::Sum => Self::Product,
            Self::Product => Self::Sign,
            Self::Sign | Self::Atom => Self::Atom,
        }
    }
}

impl Written {
    fn atom(tokens: TokenStream) -> Self {
        Self { tokens, precedence: Precedence::Atom }
    }

    /// The owner's tokens: a name, a literal, or a literal with a sign.
    fn leaf(tokens: &TokenStream) -> Self {
        let is_signed = tokens.to_string().starts_with(['-', '!']);
        let precedence = if is_signed { Precedence::Sign } else { Precedence::Atom };
        Self { tokens: tokens.clone(), precedence }
    }

    /// The tokens, in parentheses if operators of this precedence around them require it.
    fn within(self, precedence: Precedence) -> TokenStream {
        let tokens = self.tokens;
        if self.precedence >= precedence { tokens } else { quote!((#tokens)) }
    }
}

fn unsuffixed(value: f64) -> TokenStream {
    let literal = Literal::f64_unsuffixed(value.abs());
    if value.is_sign_negative() { quote!(-#literal) } else { quote!(#literal) }
}

/// The constant of `Real` that has this value.
fn named(value: f64) -> Option<&'static str> {
    let known = [
        (0.0, "ZERO"),
        (1.0, "ONE"),
        (consts::FRAC_2_SQRT_PI, "FRAC_2_SQRT_PI"),
        (consts::LN_2, "LN_2"),
        (consts::LOG2_E, "LOG2_E"),
        (consts::LOG10_E, "LOG10_E"),
    ];
    known.into_iter().find(|(number, _)| *number == value).map(|(_, name)| name)
}
