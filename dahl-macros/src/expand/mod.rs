//! Generates, from a checked [`Codelet`], the items that replace the user's function. This module takes no decisions.
//!
//! The items are a type with the name in Pascal case, whose associated functions are the codelet's descriptor, its
//! kernel, its task builders and its shapes, and one free function for each variant of the wrapper. Names that the
//! macro binds have `mixed_site` spans and so cannot clash with the user's; the user's expressions keep their own
//! spans.

mod cuda;
mod derived;
mod descriptor;
mod docs;
mod entry;
mod gradient;
mod kernel;
mod shapes;
mod signature;
mod stub;
mod task;
mod variants;
mod wrappers;

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote};
use syn::ext::IdentExt;

use crate::gradient_rule::GradientRule;
use crate::model::Codelet;
use derived::Printed;
pub(crate) use stub::stubs;

/// All items of a declaration without errors.
pub(crate) fn expand(codelet: &Codelet) -> TokenStream {
    let Codelet { type_name, visibility, .. } = codelet;
    let everywhere = everywhere(codelet);
    let docs = docs::of_type(codelet);
    let constants = descriptor::constants(codelet);
    let map_in_cuda = cuda::map(codelet);
    let cuda = cuda::constant(codelet, map_in_cuda.as_ref());
    let descriptor = descriptor::codelet(codelet, map_in_cuda.as_ref());
    let cpu = kernel::cpu(codelet);
    let cpu_self = kernel::cpu_self(codelet);
    let task = task::task(codelet);
    let task_self = task::task_self(codelet);
    let body = kernel::body(codelet);
    let checks = shapes::checks(codelet);
    let shapes = shapes::shapes(codelet);
    let c_kernels = descriptor::c_kernel_checks(codelet);
    let cuda_kernel = cuda::check(codelet).map(|item| quote!(#everywhere #item));
    let combines = descriptor::combines(codelet).map(|item| quote!(#everywhere #item));
    let variants = variants::variants(codelet).map(|item| quote!(#everywhere #item));
    // Derived maps are in a scope of their own, where their names meet no others.
    let (gradient, derived) = match &codelet.gradient {
        Some(GradientRule::Maps(maps)) => {
            let Printed { items, table } = Printed::new(codelet, maps);
            let gradient = gradient::gradient(codelet, &table);
            (None, Some(quote!(#everywhere const _: () = { #items impl #type_name { #gradient } };)))
        }
        _ => (gradient::gradient(codelet, &TokenStream::new()), None),
    };
    let under = wrappers::under(codelet);
    let rule_struct = gradient::rule_struct(codelet).map(|item| quote!(#everywhere #item));
    let differentiable = gradient::differentiable(codelet).map(|item| quote!(#everywhere #item));
    let wrappers = wrappers::wrappers(codelet);
    let alias = codelet_alias(codelet, &everywhere);
    let debug = quote!(#[derive(::core::clone::Clone, ::core::marker::Copy, ::core::fmt::Debug)]);
    quote! {
        #docs
        #everywhere
        #debug
        #visibility struct #type_name;

        #alias

        #everywhere
        impl #type_name {
            #constants
            #cuda
            #descriptor
            #cpu
            #cpu_self
            #task
            #task_self
            #shapes
            #checks
            #gradient
            #under
            #body
        }

        #(#everywhere #c_kernels)*

        #cuda_kernel

        #combines

        #variants

        #rule_struct

        #differentiable

        #derived

        #wrappers
    }
}

/// The alias by which `combine = path::of::the_function` finds the type. It is always beside the function; the type may
/// be elsewhere (`dahl::ops::codelets`).
fn codelet_alias(codelet: &Codelet, everywhere: &TokenStream) -> TokenStream {
    let Codelet { name, type_name, visibility, .. } = codelet;
    let alias = alias_of(name);
    quote! {
        #everywhere
        #[doc(hidden)]
        #[allow(non_camel_case_types, dead_code)]
        #visibility type #alias = #type_name;
    }
}

/// `__codelet_of_mul` for `mul`.
fn alias_of(function: &Ident) -> Ident {
    format_ident!("__codelet_of_{}", function.unraw(), span = function.span())
}

/// Attributes of every item: the user's `cfg`s and lint levels. Items that are not public may be unused.
fn everywhere(codelet: &Codelet) -> TokenStream {
    let user = &codelet.attributes.everywhere;
    let unused = match codelet.visibility {
        syn::Visibility::Public(_) => TokenStream::new(),
        _ => quote!(#[allow(dead_code)]),
    };
    let parameters = codelet.parameters.len() + codelet.arguments.len();
    // Clippy's limit is 7, and `_init` also takes the arena.
    let many =
        if parameters >= 7 { quote!(#[allow(clippy::too_many_arguments)]) } else { TokenStream::new() };
    quote!(#(#user)* #unused #many)
}

/// A local variable that the user's expressions cannot see.
pub(crate) fn local(name: &str) -> Ident {
    Ident::new(name, Span::mixed_site())
}
