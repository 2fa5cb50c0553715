//! The parts of signatures that generated functions share: generics, array types, parameter lists.

use proc_macro2::{Ident, Literal, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{ConstParam, GenericParam, Lifetime, Type};

use crate::model::{Codelet, InPlace, Kind, Parameter, Rank};
use crate::tokens;

/// Which variant of the wrapper.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Variant {
    /// `op`: takes every array.
    Given,
    /// `op_self`: takes the target, not the output.
    InPlace,
    /// `op_init`: creates the outputs.
    Init,
}

impl Codelet {
    /// `<'task, T: Real, const N: usize>`, or nothing.
    pub(super) fn declared_generics(&self, lifetime: Option<&Lifetime>, with_rank: bool) -> TokenStream {
        let params = self.generics.params.iter();
        let rank = (with_rank && self.has_shared_rank()).then(|| {
            let rank = &self.shared_rank;
            quote!(const #rank: usize)
        });
        let all: Vec<TokenStream> = lifetime
            .map(ToTokens::to_token_stream)
            .into_iter()
            .chain(params.map(ToTokens::to_token_stream))
            .chain(rank)
            .collect();
        if all.is_empty() { TokenStream::new() } else { quote!(<#(#all),*>) }
    }

    /// `::<T>`, or nothing: the user's generics as arguments of a path.
    pub(super) fn turbofish(&self, with_rank: bool) -> TokenStream {
        let rank = (with_rank && self.has_shared_rank()).then(|| self.shared_rank.to_token_stream());
        let all: Vec<TokenStream> = self.generic_names().chain(rank).collect();
        if all.is_empty() { TokenStream::new() } else { quote!(::<#(#all),*>) }
    }

    /// `<'views, T>`: the arguments of a type declared with a lifetime and the user's generics.
    pub(super) fn type_arguments(&self, lifetime: &Lifetime) -> TokenStream {
        let names = self.generic_names();
        quote!(<#lifetime #(, #names)*>)
    }

    fn generic_names(&self) -> impl Iterator<Item = TokenStream> {
        self.generics.params.iter().map(|param| match param {
            GenericParam::Type(param) => param.ident.to_token_stream(),
            GenericParam::Const(param) => param.ident.to_token_stream(),
            GenericParam::Lifetime(param) => param.lifetime.to_token_stream(),
        })
    }

    /// Whether some array's rank is the shared one.
    pub(super) fn has_shared_rank(&self) -> bool {
        self.parameters.iter().any(|parameter| parameter.rank == Rank::Shared)
    }

    /// `2`, or `N`.
    pub(super) fn rank(&self, parameter: &Parameter) -> TokenStream {
        match parameter.rank {
            Rank::Fixed(axes) => Literal::usize_unsuffixed(axes).into_token_stream(),
            Rank::Shared => self.shared_rank.to_token_stream(),
        }
    }

    /// `::dahl::Array<'_, T, N>`, with the lifetime given.
    pub(super) fn array(&self, parameter: &Parameter, lifetime: &Lifetime) -> TokenStream {
        let (root, element, rank) = (&self.root, &parameter.element, self.rank(parameter));
        quote!(#root::Array<#lifetime, #element, #rank>)
    }

    /// A lifetime whose name the declaration does not mention.
    pub(super) fn lifetime(&self, name: &str) -> Lifetime {
        let ident = tokens::fresh(name, &self.tokens);
        Lifetime::new(&format!("'{ident}"), ident.span())
    }

    /// The arrays that a variant takes, with their indices.
    pub(super) fn given(&self, variant: Variant) -> impl Iterator<Item = (usize, &Parameter)> {
        let replaced = match (&self.in_place, variant) {
            (Some(in_place), Variant::InPlace) => Some(in_place.output),
            _ => None,
        };
        self.parameters.iter().enumerate().filter(move |(index, parameter)| {
            parameter.is_given()
                && Some(*index) != replaced
                && (variant != Variant::Init || !parameter.access.is_made())
        })
    }

    /// Whether a variant takes the parameter by `&mut`.
    pub(super) fn is_mutable(&self, index: usize, variant: Variant) -> bool {
        let is_target = matches!(self.in_place, Some(InPlace { target, .. }) if target == index);
        self.parameters[index].access.is_mutable() || (variant == Variant::InPlace && is_target)
    }

    /// The parameter list of a wrapper: arrays, then plain arguments.
    pub(super) fn wrapper_parameters(&self, variant: Variant, borrow: Option<&Lifetime>) -> Vec<TokenStream> {
        let elided = Lifetime::new("'_", proc_macro2::Span::call_site());
        let arrays = self.given(variant).map(|(index, parameter)| {
            let (name, array) = (&parameter.name, self.array(parameter, &elided));
            let mutable = self.is_mutable(index, variant).then(|| quote!(mut));
            match parameter.kind {
                Kind::Unknown => quote!(#name: impl ::core::marker::Sized),
                _ => quote!(#name: & #borrow #mutable #array),
            }
        });
        arrays.chain(self.argument_parameters()).collect()
    }

    /// The plain arguments as parameters of a function.
    pub(super) fn argument_parameters(&self) -> impl Iterator<Item = TokenStream> {
        self.arguments.iter().map(|argument| {
            let (name, ty) = (&argument.name, &argument.ty);
            quote!(#name: #ty)
        })
    }

    /// The plain arguments, as the check of a kernel compares them.
    pub(super) fn declared_arguments(&self) -> impl Iterator<Item = TokenStream> {
        let is_mentioned = |name: &Ident| {
            self.arguments.iter().any(|argument| tokens::mention(&argument.ty.to_token_stream(), name))
        };
        let constants = self.generics.const_params().filter(|constant| is_mentioned(&constant.ident));
        let (lengths, others): (Vec<_>, Vec<_>) = constants
            .partition(|constant| matches!(&constant.ty, Type::Path(ty) if ty.path.is_ident("usize")));
        self.arguments.iter().map(move |argument| {
            let (root, ty) = (&self.root, &argument.ty);
            let declared = quote!(#root::__private::DeclaredArgument);
            let text = ty.to_token_stream();
            let written = text.to_string();
            // A constant parameter stands for a length, which a kernel learns from the encoding.
            let lengths =
                lengths.iter().enumerate().filter(|(_, length)| tokens::mention(&text, &length.ident));
            let lengths: Vec<_> = lengths
                .map(|(index, ConstParam { ident, ty, .. })| {
                    quote!(const #ident: #ty = #root::__private::ANY_LEN + #index;)
                })
                .collect();
            if self.is_generic(ty) || others.iter().any(|other| tokens::mention(&text, &other.ident)) {
                quote!(#declared::named(#written))
            } else {
                let of = quote_spanned!(ty.span()=> #declared::of::<#ty>(#written));
                if lengths.is_empty() { of } else { quote!({ #(#lengths)* #of }) }
            }
        })
    }

    /// The names of a variant's parameters, for a call.
    pub(super) fn names(&self, variant: Variant) -> Vec<TokenStream> {
        let arrays = self.given(variant).map(|(_, parameter)| parameter.name.to_token_stream());
        arrays.chain(self.arguments.iter().map(|argument| argument.name.to_token_stream())).collect()
    }
}
