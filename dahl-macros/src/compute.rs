//! The conversion of a map's values between the storage type and the compute type, in which its body is compiled.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote};
use syn::{GenericParam, Generics, Path, Type, TypeParamBound, WherePredicate};

/// How a value of some type is passed to the body of a map.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Passing {
    /// As it is: integers, `f32`, `f64`, parameters that are not bounded by `Real`.
    AsIs,
    /// In its compute type: type parameters bounded by `Real`, and `f16` and `bf16`.
    Widened,
    /// An array of such values.
    WidenedArray,
}

impl Passing {
    /// How values of type `ty` are passed.
    pub(crate) fn of(ty: &Type, generics: &Generics) -> Self {
        if is_real_parameter(ty, generics) || half(ty).is_some() {
            return Self::Widened;
        }
        match ty {
            Type::Array(array) if Self::of(&array.elem, generics) == Self::Widened => Self::WidenedArray,
            _ => Self::AsIs,
        }
    }

    /// The type of what is passed to the body.
    pub(crate) fn widened_type(self, root: &Path, ty: &Type) -> TokenStream {
        match (self, ty) {
            (Self::Widened, _) => quote!(<#ty as #root::Real>::Compute),
            (Self::WidenedArray, Type::Array(array)) => {
                let (element, len) = (&array.elem, &array.len);
                quote!([<#element as #root::Real>::Compute; #len])
            }
            (Self::AsIs | Self::WidenedArray, _) => quote!(#ty),
        }
    }

    /// `value` as passed to the body.
    pub(crate) fn widen(self, root: &Path, value: TokenStream) -> TokenStream {
        match self {
            Self::AsIs => value,
            Self::Widened => quote!(#root::Real::widen(#value)),
            Self::WidenedArray => quote!(#value.map(#root::Real::widen)),
        }
    }

    /// `value` as passed to the body, in a loop that is compiled for the level `at`.
    pub(crate) fn widen_at(self, root: &Path, value: TokenStream, at: &Ident) -> TokenStream {
        match self {
            Self::Widened => quote!(#root::__private::widen(#at, #value)),
            Self::AsIs | Self::WidenedArray => self.widen(root, value),
        }
    }

    /// The body's result, converted to the type of an array of `ty`.
    pub(crate) fn narrow(self, root: &Path, ty: &Type, value: TokenStream) -> TokenStream {
        match self {
            Self::Widened => quote!(<#ty as #root::Real>::narrow(#value)),
            Self::AsIs | Self::WidenedArray => value,
        }
    }
}

/// `::<T::Compute>`, or nothing: the generic arguments of the body, compute types for the parameters bounded by `Real`.
pub(crate) fn turbofish(generics: &Generics, root: &Path) -> TokenStream {
    let argument = |param: &GenericParam| match param {
        GenericParam::Type(param) if is_real(param, generics) => {
            let ident = &param.ident;
            quote!(<#ident as #root::Real>::Compute)
        }
        GenericParam::Type(param) => param.ident.to_token_stream(),
        GenericParam::Const(param) => param.ident.to_token_stream(),
        GenericParam::Lifetime(param) => param.lifetime.to_token_stream(),
    };
    let all: Vec<_> = generics.params.iter().map(argument).collect();
    if all.is_empty() { TokenStream::new() } else { quote!(::<#(#all),*>) }
}

/// `f16` or `bf16`, if `ty` names one of them.
pub(crate) fn half(ty: &Type) -> Option<&Path> {
    match ty {
        Type::Path(path) if path.qself.is_none() => {
            let last = &path.path.segments.last()?.ident;
            (last == "f16" || last == "bf16").then_some(&path.path)
        }
        Type::Group(group) => half(&group.elem),
        _ => None,
    }
}

/// Whether `ty` is a real number: a type parameter bounded by `Real`, or one of the four types.
pub(crate) fn is_real_type(ty: &Type, generics: &Generics) -> bool {
    let is_primitive = |ty: &Type| {
        matches!(ty, Type::Path(path) if path.qself.is_none()
            && path.path.segments.last().is_some_and(|last| last.ident == "f32" || last.ident == "f64"))
    };
    Passing::of(ty, generics) == Passing::Widened || is_primitive(ty)
}

/// Whether `ty` is the type parameter `name`.
pub(crate) fn names(ty: &Type, name: &Ident) -> bool {
    match ty {
        Type::Path(path) if path.qself.is_none() => path.path.is_ident(name),
        Type::Group(group) => names(&group.elem, name),
        _ => false,
    }
}

fn is_real_parameter(ty: &Type, generics: &Generics) -> bool {
    match ty {
        Type::Path(path) if path.qself.is_none() => {
            generics.type_params().any(|param| path.path.is_ident(&param.ident) && is_real(param, generics))
        }
        Type::Group(group) => is_real_parameter(&group.elem, generics),
        _ => false,
    }
}

/// Whether a bound is `Real` or `Element`, which every type of real numbers has.
pub(crate) fn is_of_numbers(bound: &TypeParamBound) -> bool {
    matches!(bound, TypeParamBound::Trait(bound)
        if bound.path.segments.last().is_some_and(|last| last.ident == "Real" || last.ident == "Element"))
}

/// Whether a type parameter is bounded by `Real`, at its declaration or in the where clause.
fn is_real(param: &syn::TypeParam, generics: &Generics) -> bool {
    let names_real = |bound: &TypeParamBound| match bound {
        TypeParamBound::Trait(bound) => bound.path.segments.last().is_some_and(|last| last.ident == "Real"),
        _ => false,
    };
    let in_where =
        generics.where_clause.iter().flat_map(|clause| &clause.predicates).any(|predicate| match predicate {
            WherePredicate::Type(predicate) => {
                matches!(&predicate.bounded_ty, Type::Path(path) if path.path.is_ident(&param.ident))
                    && predicate.bounds.iter().any(names_real)
            }
            _ => false,
        });
    in_where || param.bounds.iter().any(names_real)
}
