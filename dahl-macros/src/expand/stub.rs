//! Stubs in place of the items of a declaration with errors, so that its callers do not fail as well.

use proc_macro2::TokenStream;
use quote::{ToTokens, format_ident, quote};
use syn::{GenericParam, Lifetime};

use super::signature::Variant;
use super::{everywhere, task, wrappers};
use crate::mode::Access;
use crate::model::{Codelet, InPlace, Parameter};
use crate::tokens;

/// The type, the wrappers and the task builders, with the correct signatures as far as these are known.
///
/// All variants are generated: which ones the corrected declaration has is unknown.
pub(crate) fn stubs(mut codelet: Codelet) -> TokenStream {
    codelet.in_place = codelet.in_place.or_else(|| likely_in_place(&codelet.parameters));
    // The errors may be about names, and callers do not use them.
    for (index, parameter) in codelet.parameters.iter_mut().enumerate() {
        parameter.name = format_ident!("array_{index}");
    }
    for (index, argument) in codelet.arguments.iter_mut().enumerate() {
        argument.name = format_ident!("argument_{index}");
    }
    let Codelet { root, visibility, type_name, .. } = &codelet;
    let name = codelet.name.to_string();
    let modes = codelet.modes.iter().map(|mode| mode.access.expand(root));
    let count = codelet.modes.len();
    let everywhere = everywhere(&codelet);
    let cpu = cpu(&codelet);
    let body = body(&codelet);
    let mut tasks = TokenStream::new();
    let mut functions = TokenStream::new();
    for variant in [Variant::Given, Variant::InPlace] {
        if variant == Variant::InPlace && codelet.in_place.is_none() {
            continue;
        }
        let (builder, _) = task::names(&codelet, variant);
        let lifetime = codelet.lifetime("task");
        let parameters = wrapper_parameters(&codelet, variant, Some(&lifetime));
        let generics = mentioned_generics(&codelet, &parameters, Some(&lifetime));
        tasks.extend(stub(
            &quote!(#visibility fn #builder #generics(#(#parameters),*) -> #root::Task<#lifetime>),
            &name,
        ));
        let wrapper = wrappers::name(&codelet, variant);
        let parameters = wrapper_parameters(&codelet, variant, None);
        let generics = mentioned_generics(&codelet, &parameters, None);
        let function =
            stub(&quote!(#visibility fn #wrapper #generics(#(#parameters),*) -> #root::Result<()>), &name);
        functions.extend(quote!(#everywhere #function));
    }
    let wrapper = wrappers::name(&codelet, Variant::Init);
    let lifetime = codelet.lifetime("m");
    let parameters = codelet.wrapper_parameters(Variant::Init, None);
    let made = wrappers::made_type(&codelet, &lifetime);
    let mut mentioning = parameters.clone();
    mentioning.push(made.clone());
    let generics = mentioned_generics(&codelet, &mentioning, Some(&lifetime));
    let init = stub(
        &quote!(#visibility fn #wrapper #generics(scope: &#lifetime impl ::core::marker::Sized, #(#parameters),*) -> #root::Result<#made>),
        &name,
    );
    let message = has_errors(&name);
    quote! {
        #everywhere
        #[allow(missing_docs)]
        #visibility struct #type_name;

        #everywhere
        #[allow(missing_docs)]
        impl #type_name {
            #visibility const NAME: &'static str = #name;
            #visibility const MODES: [#root::AccessMode; #count] = [#(#modes),*];
            #cpu
            #tasks
            #body
        }

        #everywhere
        #[diagnostic::do_not_recommend]
        impl<A: #root::Element> #root::__private::Combines<A> for #type_name {
            fn codelet() -> &'static #root::Codelet {
                ::core::panic!(#message)
            }
        }

        #functions
        #everywhere
        #init
    }
}

/// The parameters of a wrapper. The input that `_self` overwrites is uncertain, so its arrays have any type.
fn wrapper_parameters(codelet: &Codelet, variant: Variant, borrow: Option<&Lifetime>) -> Vec<TokenStream> {
    if variant != Variant::InPlace {
        return codelet.wrapper_parameters(variant, borrow);
    }
    let arrays = codelet.given(variant).map(|(_, parameter)| {
        let name = &parameter.name;
        quote!(#name: impl ::core::marker::Sized)
    });
    arrays.chain(codelet.argument_parameters()).collect()
}

/// The panic of a stub, which is never called since the program does not compile.
fn has_errors(name: &str) -> String {
    format!("the declaration of `{name}` has errors")
}

fn stub(signature: &TokenStream, name: &str) -> TokenStream {
    let message = has_errors(name);
    quote! {
        #[allow(missing_docs, unused_mut, unused_variables)]
        #signature {
            ::core::panic!(#message)
        }
    }
}

/// `cpu` with any parameters: the errors may be about its views.
fn cpu(codelet: &Codelet) -> TokenStream {
    let visibility = &codelet.visibility;
    let names = codelet.parameters.iter().map(|parameter| &parameter.name);
    let names = names.chain(codelet.arguments.iter().map(|argument| &argument.name));
    stub(&quote!(#visibility fn cpu(#(#names: impl ::core::marker::Sized),*)), &codelet.name.to_string())
}

/// The user's signature, so that imports for it are used. The body is left out, since its errors are reported.
fn body(codelet: &Codelet) -> TokenStream {
    let mut signature = codelet.function.sig.clone();
    signature.ident = format_ident!("body");
    let stub = stub(&signature.to_token_stream(), &codelet.name.to_string());
    quote!(#[allow(dead_code)] #stub)
}

/// The first input and the first output, whatever their types.
fn likely_in_place(parameters: &[Parameter]) -> Option<InPlace> {
    let target = parameters.iter().position(|parameter| parameter.access == Access::Read)?;
    let output = parameters.iter().position(|parameter| parameter.access == Access::Write)?;
    Some(InPlace { target, output })
}

/// The generics that `parts` of a signature mention: callers could not infer others.
fn mentioned_generics(codelet: &Codelet, parts: &[TokenStream], lifetime: Option<&Lifetime>) -> TokenStream {
    let parts: TokenStream = parts.iter().cloned().collect();
    let user = codelet.generics.params.iter().filter(|param| match param {
        GenericParam::Type(param) => tokens::mention(&parts, &param.ident),
        GenericParam::Const(param) => tokens::mention(&parts, &param.ident),
        GenericParam::Lifetime(_) => false,
    });
    let rank = &codelet.shared_rank;
    let rank = tokens::mention(&parts, rank).then(|| quote!(const #rank: usize));
    let lifetime = lifetime.map(ToTokens::to_token_stream);
    let all = lifetime.into_iter().chain(user.map(ToTokens::to_token_stream)).chain(rank);
    quote!(<#(#all),*>)
}
