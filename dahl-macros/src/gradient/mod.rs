//! Derived maps: for each real input of a map, the map that computes the gradient by it.
//!
//! `real_type` has the types of values in a body, `reading` makes a graph of `dahl-expression` from the body, with `call`
//! for the functions of `Real` and `literal` for numbers. `writing` makes a body from a graph, `name` finds names for its
//! variables, and `expression` has the body as data. A derived map is a function in the language of maps, so it passes
//! through the expansion as the user's own functions do: `derived` makes its declaration.

mod call;
mod derived;
mod expression;
mod literal;
mod name;
mod reading;
mod real_type;
mod writing;

#[cfg(test)]
mod tests;

use dahl_expression::{Graph, Node, NodeId, Type};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{GenericParam, Generics, ItemFn, WherePredicate, parse_quote};

use crate::model::{Codelet, Form};
use crate::tokens;
pub(crate) use expression::Expression;
use reading::Reader;
use real_type::Types;

/// A derived map: the gradient by one input.
pub(crate) struct DerivedMap {
    /// The index of the input among the data parameters of the declaration.
    pub(crate) by: usize,
    /// The indices of the declaration's data parameters whose values `function` takes first, ascending; the last of
    /// them may be the output. Then it takes the gradient by the output and all plain arguments.
    pub(crate) inputs: Vec<usize>,
    pub(crate) function: ItemFn,
    /// The body as data, if it can be given so.
    pub(crate) expression: Option<Expression>,
}

impl DerivedMap {
    /// The values of the leaves of its expression, if it has any.
    pub(crate) fn leaves(&self) -> Option<&[TokenStream]> {
        let expression = self.expression.as_ref()?;
        (!expression.leaves.is_empty()).then_some(&expression.leaves)
    }

    /// Whether it is the gradient by the output itself.
    pub(crate) fn passes(&self) -> bool {
        let first = self.function.sig.inputs.first();
        let (Some(syn::FnArg::Typed(gradient)), true) = (first, self.inputs.is_empty()) else { return false };
        let [syn::Stmt::Expr(value, None)] = self.function.block.stmts.as_slice() else { return false };
        value.to_token_stream().to_string() == gradient.pat.to_token_stream().to_string()
    }
}

/// The reason why a map has no derived maps, and the place.
#[derive(Clone, Debug)]
pub(crate) struct Refusal {
    pub(crate) message: String,
    pub(crate) span: Span,
}

impl Refusal {
    fn new(at: &impl Spanned, message: impl Into<String>) -> Self {
        Self { message: message.into(), span: at.span() }
    }
}

/// The derived maps of a map: one for each input of the output's type on which the output depends differentiably.
///
/// A derived map takes the output in place of inputs where the derivative contains the output's value.
pub(crate) fn derive(codelet: &Codelet) -> Result<Vec<DerivedMap>, Refusal> {
    let name = &codelet.name;
    let Some((output, inputs)) = codelet.parameters.split_last().filter(|_| codelet.form == Form::Map) else {
        return Err(Refusal::new(name, format!("`{name}` is not a map; give it a rule")));
    };
    let mut types = Types::new(&codelet.generics);
    let ty = match types.of(&output.element) {
        Some(ty @ Type::Real(_)) => ty,
        Some(_) if !types.is_parameter(&output.element) => return Ok(Vec::new()),
        _ => {
            let ty = output.element.to_token_stream();
            let message = format!(
                "`{name}` returns `{ty}`, which is not known to be a real type; bound it by `Real`, or give a rule"
            );
            return Err(Refusal::new(&output.element, message));
        }
    };
    if let Some(option) = &codelet.options.cpu_only {
        return Err(Refusal::new(
            option,
            format!(
                "the body of `{name}` may contain anything, since it is `cpu_only`, and is not differentiated; give a rule"
            ),
        ));
    }
    let mut graph = Graph::new();
    let mut reader = Reader::new(&mut graph, types, codelet);
    let root = reader.body(&codelet.function.block, ty)?;
    let body = Body::of(reader);
    let mut maps = Vec::new();
    for (by, input) in inputs.iter().enumerate() {
        let Some(derivative) = graph.tangent(root, index(by)) else { continue };
        if body.types.known(&input.element) != Some(ty) {
            let message = format!(
                "`{}` has another real type than the result of `{name}`, which depends on it; give a rule",
                input.name
            );
            return Err(Refusal::new(&input.name, message));
        }
        maps.push(derived(codelet, &mut graph, &body, Derivation { by, root, derivative })?);
    }
    Ok(maps)
}

/// What was read of a body, beside its graph.
pub(super) struct Body {
    types: Types,
    /// The tokens of each leaf.
    leaves: Vec<TokenStream>,
    /// The names that the body gives to values.
    names: Vec<(NodeId, Ident)>,
}

impl Body {
    fn of(reader: Reader<'_>) -> Self {
        let Reader { types, leaves, names, .. } = reader;
        Self { types, leaves, names }
    }
}

/// The derivative of `root` by the input `by`.
struct Derivation {
    by: usize,
    root: NodeId,
    derivative: NodeId,
}

fn derived(
    codelet: &Codelet,
    graph: &mut Graph,
    body: &Body,
    Derivation { by, root, derivative }: Derivation,
) -> Result<DerivedMap, Refusal> {
    let ty = graph.ty(root);
    let output = codelet.parameters.len() - 1;
    // One more than the output's.
    let gradient = graph.input(index(output + 1), ty);
    let product =
        |graph: &mut Graph, derivative| graph.binary(dahl_expression::Binary::Mul, gradient, derivative);
    let from_inputs = product(graph, derivative);
    let mut result = from_inputs;
    if !matches!(graph.node(root), Node::Input(_)) {
        let value = graph.input(index(output), ty);
        let derivative = graph.substitute(derivative, root, value);
        let from_output = product(graph, derivative);
        let taken =
            |graph: &Graph, root| inputs_of(graph, root, output).filter(|input| *input != output).count();
        if taken(graph, from_output) < taken(graph, from_inputs) {
            result = from_output;
        }
    }
    let mut inputs: Vec<usize> = inputs_of(graph, result, output).collect();

    let declared = codelet.function.to_token_stream();
    let [output_name, gradient_name] = ["output", "gradient"].map(|name| tokens::fresh(name, &declared));
    let name_of = |input: usize| match input {
        _ if input < output => codelet.parameters[input].name.clone(),
        _ if input == output => output_name.clone(),
        _ => gradient_name.clone(),
    };
    let names: Vec<Ident> = (0..=output + 1).map(name_of).collect();
    let arguments: Vec<Ident> = codelet.arguments.iter().map(|argument| argument.name.clone()).collect();
    let block = writing::block(graph, body, &codelet.root, (&names, &arguments), result);
    keep_types(codelet, &block.to_token_stream(), &mut inputs);
    let parameters = inputs.iter().map(|&input| {
        let (name, ty) = (&names[input], &codelet.parameters[input].element);
        quote!(#name: #ty)
    });
    let parameters: Vec<_> = parameters.collect();
    let (output_type, result_type) = (&codelet.parameters[output].element, &codelet.parameters[by].element);
    let argument_types = codelet.arguments.iter().map(|argument| &argument.ty);
    let name = format_ident!(
        "{}_by_{}",
        codelet.name.unraw(),
        codelet.parameters[by].name.unraw(),
        span = codelet.name.span()
    );
    let mut function: ItemFn = parse_quote! {
        #[allow(unused_variables, clippy::all)]
        fn #name(#(#parameters,)* #gradient_name: #output_type, #(#arguments: #argument_types),*) -> #result_type #block
    };
    let signature = &function.sig;
    let mentioned = quote!(#signature);
    function.sig.generics = kept(&codelet.generics, &mentioned);
    let expression = Expression::of(codelet, graph, body, result, &inputs);
    Ok(DerivedMap { by, inputs, function, expression })
}

/// The data parameters in an expression, ascending.
fn inputs_of(graph: &Graph, root: NodeId, output: usize) -> impl Iterator<Item = usize> {
    graph.mentions(root).into_iter().map(usize::from).filter(move |input| *input <= output)
}

/// Adds inputs until each type parameter that the body mentions is the type of an input, the output or an argument.
fn keep_types(codelet: &Codelet, body: &TokenStream, inputs: &mut Vec<usize>) {
    for parameter in codelet.generics.type_params().map(|parameter| &parameter.ident) {
        let has =
            |input: usize| tokens::mention(&codelet.parameters[input].element.to_token_stream(), parameter);
        let is_argument = codelet
            .arguments
            .iter()
            .any(|argument| tokens::mention(&argument.ty.to_token_stream(), parameter));
        let output = codelet.parameters.len() - 1;
        if tokens::mention(body, parameter)
            && !is_argument
            && !has(output)
            && !inputs.iter().any(|input| has(*input))
        {
            inputs.extend((0..output).find(|input| has(*input)));
            inputs.sort_unstable();
        }
    }
}

/// The generic parameters that `signature` mentions, with their bounds.
fn kept(generics: &Generics, signature: &TokenStream) -> Generics {
    let mut kept = generics.clone();
    let is_kept = |name: &Ident| tokens::mention(signature, name);
    let params = std::mem::take(&mut kept.params).into_iter();
    kept.params = params
        .filter(|param| match param {
            GenericParam::Type(param) => is_kept(&param.ident),
            GenericParam::Const(param) => is_kept(&param.ident),
            GenericParam::Lifetime(_) => false,
        })
        .collect();
    let dropped: Vec<&Ident> =
        generics.type_params().map(|param| &param.ident).filter(|name| !is_kept(name)).collect();
    if let Some(clause) = &mut kept.where_clause {
        let predicates = std::mem::take(&mut clause.predicates).into_iter();
        let is_kept = |predicate: &WherePredicate| {
            let tokens = predicate.to_token_stream();
            !dropped.iter().any(|name| tokens::mention(&tokens, name))
        };
        clause.predicates = predicates.filter(is_kept).collect();
    }
    kept
}

/// An index of the graph's inputs.
fn index(parameter: usize) -> u16 {
    u16::try_from(parameter).expect("fewer than 2^16 parameters")
}
