//! The expressions of `shape(..)` and `check(..)`, as functions of the extents of the arrays that they mention.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote};
use syn::{BinOp, Expr};

use super::local;
use super::signature::Variant;
use crate::model::{Codelet, Parameter};
use crate::parse::Check;
use crate::tokens;

/// The functions that hold the `check(..)`s.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Checks {
    /// Those of the inputs: they run before the shapes are computed, whose expressions may rely on them.
    OfInputs,
    /// Those that mention an output that `_init` creates.
    OfOutputs,
}

impl Codelet {
    /// The parameters with a `shape(..)`, with their indices.
    pub(super) fn shaped(&self) -> impl Iterator<Item = (usize, &Parameter)> {
        self.parameters.iter().enumerate().filter(|(_, parameter)| parameter.shape.is_some())
    }

    /// The value of `shapes()` for the parameter of this index: the value itself, or a field of the tuple.
    pub(super) fn shape_of(&self, index: usize, shapes: &Ident) -> TokenStream {
        if self.shaped().count() == 1 {
            return quote!(#shapes);
        }
        let field = self.shaped().position(|(shaped, _)| shaped == index).unwrap_or_default();
        let field = syn::Index::from(field);
        quote!(#shapes.#field)
    }

    fn checks(&self, which: Checks) -> Vec<&Check> {
        let mentions_output = |check: &Check| {
            let tokens = check.expression.to_token_stream();
            self.made().any(|(_, output)| tokens::mention(&tokens, &output.name))
        };
        let wanted = which == Checks::OfOutputs;
        self.options.checks.iter().filter(|check| mentions_output(check) == wanted).collect()
    }

    /// The call of the function of these checks in a variant; none if there are no checks.
    pub(super) fn call_checks(&self, which: Checks, variant: Variant) -> Option<TokenStream> {
        let checks = self.checks(which);
        checks.first()?;
        let text: TokenStream = checks.iter().map(|check| check.expression.to_token_stream()).collect();
        let function = which.function();
        let (type_name, turbofish) = (&self.type_name, self.turbofish(true));
        let values = self.mentioned_values(&text, variant);
        Some(quote!(#type_name::#function #turbofish(#(#values),*)))
    }

    /// The call of `shapes` in a variant; none if there is no such function.
    pub(super) fn call_shapes(&self, variant: Variant) -> Option<TokenStream> {
        self.shaped().next()?;
        let (type_name, turbofish) = (&self.type_name, self.turbofish(true));
        let values = self.mentioned_values(&self.shape_tokens(), variant);
        Some(quote!(#type_name::shapes #turbofish(#(#values),*)))
    }

    fn shape_tokens(&self) -> TokenStream {
        self.shaped().map(|(_, parameter)| parameter.shape.to_token_stream()).collect()
    }

    /// The names that the expressions mention, as parameters: an array's name stands for its extents.
    fn mentioned_parameters(&self, text: &TokenStream) -> Vec<TokenStream> {
        let root = &self.root;
        let arrays = self.parameters.iter().filter(|parameter| tokens::mention(text, &parameter.name)).map(
            |parameter| {
                let (name, rank) = (&parameter.name, self.rank(parameter));
                quote!(#name: #root::Extents<#rank>)
            },
        );
        let arguments = self.arguments.iter().zip(self.argument_parameters());
        let arguments = arguments.filter(|(argument, _)| tokens::mention(text, &argument.name));
        arrays.chain(arguments.map(|(_, parameter)| parameter)).collect()
    }

    /// The values for [`Codelet::mentioned_parameters`]. In place, the target is also the output.
    fn mentioned_values(&self, text: &TokenStream, variant: Variant) -> Vec<TokenStream> {
        let arrays = self
            .parameters
            .iter()
            .enumerate()
            .filter(|(_, parameter)| tokens::mention(text, &parameter.name));
        let arrays = arrays.map(|(index, parameter)| {
            let array = match (&self.in_place, variant) {
                (Some(in_place), Variant::InPlace) if in_place.output == index => {
                    &self.parameters[in_place.target]
                }
                _ => parameter,
            };
            let name = &array.name;
            quote!(#name.extents())
        });
        let arguments = self.arguments.iter().filter(|argument| tokens::mention(text, &argument.name));
        arrays.chain(arguments.map(|argument| argument.name.to_token_stream())).collect()
    }
}

impl Checks {
    fn function(self) -> Ident {
        local(match self {
            Self::OfInputs => "checks",
            Self::OfOutputs => "output_checks",
        })
    }
}

/// `shapes()`: the extents of every parameter with `shape(..)`; a tuple if there are several.
pub(super) fn shapes(codelet: &Codelet) -> Option<TokenStream> {
    codelet.shaped().next()?;
    let root = &codelet.root;
    let generics = codelet.declared_generics(None, true);
    let bounds = &codelet.generics.where_clause;
    let parameters = codelet.mentioned_parameters(&codelet.shape_tokens());
    let types = codelet.shaped().map(|(_, parameter)| {
        let rank = codelet.rank(parameter);
        quote!([usize; #rank])
    });
    let values = codelet.shaped().map(|(_, parameter)| {
        let (rank, extents) = (codelet.rank(parameter), &parameter.shape);
        quote!(#root::__private::IntoShape::<#rank>::into_shape(#extents))
    });
    let (result, value) = if codelet.shaped().count() == 1 {
        (quote!(#(#types)*), quote!(#(#values)*))
    } else {
        (quote!((#(#types),*)), quote!((#(#values),*)))
    };
    let name = local("shapes");
    Some(quote! {
        /// What the option `shape` says.
        fn #name #generics(#(#parameters),*) -> #result #bounds {
            #value
        }
    })
}

/// The functions of the option `check` that are needed.
pub(super) fn checks(codelet: &Codelet) -> TokenStream {
    [Checks::OfInputs, Checks::OfOutputs].into_iter().filter_map(|which| checks_of(codelet, which)).collect()
}

fn checks_of(codelet: &Codelet, which: Checks) -> Option<TokenStream> {
    let checks = codelet.checks(which);
    checks.first()?;
    let root = &codelet.root;
    let text: TokenStream = checks.iter().map(|check| check.expression.to_token_stream()).collect();
    let name = which.function();
    let generics = codelet.declared_generics(None, true);
    let bounds = &codelet.generics.where_clause;
    let parameters = codelet.mentioned_parameters(&text);
    let requirements = checks.iter().map(|check| requirement(codelet, check));
    Some(quote! {
        /// What the option `check` says.
        #[track_caller]
        fn #name #generics(#(#parameters),*) -> #root::Result<()> #bounds {
            #(#requirements)*
            ::core::result::Result::Ok(())
        }
    })
}

/// One check. Its error shows both sides of a comparison, and everything else that it mentions.
fn requirement(codelet: &Codelet, check: &Check) -> TokenStream {
    let Codelet { root, type_name, .. } = codelet;
    let turbofish = codelet.turbofish(false);
    let expression = &check.expression;
    let tokens = expression.to_token_stream();
    let text = check.text(expression);
    let names = codelet.parameters.iter().map(|p| &p.name).chain(codelet.arguments.iter().map(|a| &a.name));
    let mentioned: Vec<_> = names.filter(|name| tokens::mention(&tokens, name)).collect();
    let value = |name: &&Ident| {
        let shown = name.to_string();
        quote!((#shown, &#name))
    };
    let Some((left, operator, right)) = comparison(expression) else {
        let values = mentioned.iter().map(value);
        let holds = local("holds");
        return quote! {
            let #holds: bool = #expression;
            #root::__private::require(#type_name::codelet #turbofish(), #holds, #text, &[#(#values),*])?;
        };
    };
    let sides = [check.text(left), check.text(right)];
    let values = mentioned.iter().filter(|name| !sides.contains(&name.to_string())).map(value);
    let (left_text, right_text) = (&sides[0], &sides[1]);
    let (left_value, right_value) = (local("left"), local("right"));
    let sides = [(left_text, left, &left_value), (right_text, right, &right_value)];
    // A literal's value adds nothing to the expression.
    let shown = sides
        .iter()
        .filter(|(_, side, _)| !matches!(side, Expr::Lit(_)))
        .map(|(text, _, value)| quote!((#text, &#value)));
    // A `match` keeps the temporaries alive that the sides borrow from, as in `assert_eq!`.
    quote! {
        match (&(#left), &(#right)) {
            (#left_value, #right_value) => #root::__private::require(
                #type_name::codelet #turbofish(),
                #left_value #operator #right_value,
                #text,
                &[#(#shown,)* #(#values),*],
            )?,
        }
    }
}

/// The sides of a comparison.
fn comparison(expression: &Expr) -> Option<(&Expr, &BinOp, &Expr)> {
    match expression {
        Expr::Binary(binary) => match binary.op {
            BinOp::Eq(_) | BinOp::Ne(_) | BinOp::Lt(_) | BinOp::Le(_) | BinOp::Gt(_) | BinOp::Ge(_) => {
                Some((&binary.left, &binary.op, &binary.right))
            }
            _ => None,
        },
        Expr::Paren(paren) => comparison(&paren.expr),
        Expr::Group(group) => comparison(&group.expr),
        _ => None,
    }
}
