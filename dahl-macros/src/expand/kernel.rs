//! The kernel: the user's body, and the functions that run it vectorised.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{FnArg, Signature, Type, parse_quote};

use super::signature::Variant;
use super::{docs, local};
use crate::compute::{self, Passing};
use crate::model::{Codelet, Form, Kind};
use crate::{selection, tokens};

/// The function's body, as written, to be inlined into a loop for each instruction set.
pub(super) fn body(codelet: &Codelet) -> TokenStream {
    let attributes = codelet.attributes.everywhere.iter().chain(&codelet.attributes.kernel);
    let (mut signature, block) = in_compute_types(codelet);
    signature.ident = Ident::new("body", signature.ident.span());
    quote! {
        #(#attributes)*
        #[inline(always)]
        #signature #block
    }
}

/// The function's signature and block. In those of a map, `f16` and `bf16` stand for their compute type.
pub(super) fn in_compute_types(codelet: &Codelet) -> (Signature, TokenStream) {
    let Codelet { root, function, .. } = codelet;
    let mut signature = function.sig.clone();
    let mut aliases = TokenStream::new();
    if codelet.form == Form::Map {
        let mut compute_type = |ty: &mut Type| {
            let Some(half) = compute::half(ty).cloned() else { return };
            if let Some(name) = half.get_ident()
                && !tokens::mention(&aliases, name)
            {
                aliases.extend(quote! {
                    #[allow(non_camel_case_types, dead_code)]
                    type #name = <#root::#name as #root::Real>::Compute;
                });
            }
            *ty = parse_quote!(<#half as #root::Real>::Compute);
        };
        for input in &mut signature.inputs {
            if let FnArg::Typed(input) = input {
                compute_type(&mut input.ty);
            }
        }
        if let syn::ReturnType::Type(_, ty) = &mut signature.output {
            compute_type(ty);
        }
    }
    let statements = &function.block.stmts;
    (signature, quote_spanned!(function.block.span()=> { #aliases #(#statements)* }))
}

/// `cpu`: the kernel without a runtime.
pub(super) fn cpu(codelet: &Codelet) -> TokenStream {
    match codelet.form {
        Form::Map => map(codelet, Variant::Given),
        Form::Kernel => call(codelet),
    }
}

/// `cpu_self`: the same in place, for maps only.
pub(super) fn cpu_self(codelet: &Codelet) -> Option<TokenStream> {
    (codelet.form == Form::Map && codelet.in_place.is_some()).then(|| map(codelet, Variant::InPlace))
}

/// Whether the body of a map is computed in the compute type. A body that only selects is not, unless it names `f16` or
/// `bf16`, which stand for their compute type in it.
fn widens(codelet: &Codelet) -> bool {
    let elements = codelet.parameters.iter().map(|parameter| &parameter.element);
    let mut types = elements.chain(codelet.arguments.iter().map(|argument| &argument.ty));
    !selection::only_selects(&codelet.function) || types.any(|ty| compute::half(ty).is_some())
}

/// The loop of a map.
fn map(codelet: &Codelet, variant: Variant) -> TokenStream {
    let Codelet { root, visibility, type_name, generics, .. } = codelet;
    let docs = docs::of_cpu(codelet, variant);
    let function =
        Ident::new(if variant == Variant::InPlace { "cpu_self" } else { "cpu" }, codelet.name.span());
    let slices: Vec<_> = codelet.given(variant).collect();
    let is_mutable = |index: usize| codelet.is_mutable(index, variant);
    let arguments: Vec<_> = codelet.argument_parameters().collect();
    let parameters = slices.iter().map(|(index, parameter)| {
        let (name, element) = (&parameter.name, &parameter.element);
        if is_mutable(*index) { quote!(#name: &mut [#element]) } else { quote!(#name: &[#element]) }
    });
    let lifetime = codelet.lifetime("slices");
    let fields = slices.iter().filter(|(index, _)| !is_mutable(*index)).map(|(_, parameter)| {
        let (name, element) = (&parameter.name, &parameter.element);
        quote!(#name: &#lifetime [#element])
    });
    let inputs: Vec<_> = slices
        .iter()
        .filter(|(index, _)| !is_mutable(*index))
        .map(|(_, parameter)| &parameter.name)
        .collect();
    let output = slices.iter().find(|(index, _)| is_mutable(*index)).map(|(_, parameter)| &parameter.name);

    let [at, begin, wide, len, i, value] = ["at", "begin", "wide", "len", "i", "map"].map(local);
    let [map, level, of_output] =
        ["Map", "LEVEL", "of_output"].map(|name| tokens::fresh(name, &codelet.tokens));
    let widens = widens(codelet);
    let passing = |ty: &Type| if widens { Passing::of(ty, generics) } else { Passing::AsIs };
    let loads =
        codelet.parameters.iter().filter(|parameter| !parameter.access.is_mutable()).map(|parameter| {
            let name = &parameter.name;
            passing(&parameter.element).widen_at(root, quote!(#name[#i]), &at)
        });
    let plain: Vec<_> = codelet.arguments.iter().map(|argument| &argument.name).collect();
    let widened = codelet.arguments.iter().filter_map(|argument| {
        let passing = passing(&argument.ty);
        let name = &argument.name;
        let value = passing.widen(root, name.to_token_stream());
        (passing != Passing::AsIs).then(|| quote!(let #name = #value;))
    });
    let turbofish = if widens { compute::turbofish(generics, root) } else { codelet.turbofish(false) };
    let result = quote!(#type_name::body #turbofish(#(#loads,)* #(#plain),*));
    let element = &codelet.parameters.last().expect("a map has an output").element;
    let passing = passing(element);
    let narrowed = passing.narrow(root, element, result.clone());
    let one_by_one = quote! {
        for #i in 0..#len {
            #output[#i] = #narrowed;
        }
    };
    let (wide_type, narrows, compute) = if passing == Passing::Widened {
        let narrows = quote!(#root::__private::narrows_in_blocks::<#element, #level>(#at));
        let compute = quote! {
            if #narrows {
                let #wide = &mut #wide[..#len];
                for #i in 0..#len {
                    #wide[#i] = #result;
                }
                #root::__private::narrow_block(#at, #wide, #output);
            } else {
                #one_by_one
            }
        };
        (quote!(<#element as #root::Real>::Compute), narrows, compute)
    } else {
        (quote!(u8), quote!(false), one_by_one)
    };
    let run = if variant == Variant::InPlace { quote!(map_in_place) } else { quote!(map) };
    let same_lengths = (!inputs.is_empty()).then(|| {
        let message = format!("{}: the slices differ in length", codelet.name);
        quote!(::core::assert!(#(#inputs.len() == #output.len())&&*, #message);)
    });

    let outer_generics = codelet.declared_generics(None, false);
    let inner_generics = codelet.declared_generics(Some(&lifetime), false);
    let inner_arguments = codelet.type_arguments(&lifetime);
    let bounds = &generics.where_clause;
    quote! {
        #docs
        #[track_caller]
        #visibility fn #function #outer_generics(#(#parameters,)* #(#arguments),*) #bounds {
            struct #map #inner_generics #bounds {
                #(#fields,)*
                #(#arguments,)*
                #of_output: ::core::marker::PhantomData<&#lifetime [#element]>,
            }

            impl #inner_generics #root::__private::Body<#element> for #map #inner_arguments #bounds {
                type Wide = #wide_type;

                #[inline(always)]
                fn narrows_in_blocks<const #level: u8>(#at: #root::__private::At<#level>) -> bool {
                    #narrows
                }

                #[inline(always)]
                fn compute<const #level: u8>(
                    &self,
                    #at: #root::__private::At<#level>,
                    #begin: usize,
                    #output: &mut [#element],
                    #wide: &mut [Self::Wide],
                ) {
                    let Self { #(#inputs,)* #(#plain,)* .. } = *self;
                    let #len = #output.len();
                    #(let #inputs = &#inputs[#begin..][..#len];)*
                    #(#widened)*
                    #compute
                }
            }

            #same_lengths
            let #value = #map { #(#inputs,)* #(#plain,)* #of_output: ::core::marker::PhantomData };
            #root::__private::#run(#output, #value)
        }
    }
}

/// The call of a kernel.
fn call(codelet: &Codelet) -> TokenStream {
    let Codelet { root, visibility, type_name, generics, .. } = codelet;
    let docs = docs::of_cpu(codelet, Variant::Given);
    let lifetime = codelet.lifetime("views");
    let views = || {
        codelet.parameters.iter().filter_map(|parameter| match &parameter.kind {
            Kind::View(view) => Some((&parameter.name, view)),
            Kind::Scalar | Kind::Unknown => None,
        })
    };
    let parameters = views().map(|(name, view)| {
        let written = &view.written;
        quote!(#name: #written)
    });
    let fields = views().map(|(name, view)| {
        let ty = view.with_lifetime(&lifetime);
        quote!(#name: #ty)
    });
    let arguments: Vec<_> = codelet.argument_parameters().collect();
    let names: Vec<_> = views()
        .map(|(name, _)| name)
        .chain(codelet.arguments.iter().map(|argument| &argument.name))
        .collect();
    let call = tokens::fresh("Call", &codelet.tokens);
    let outer_generics = codelet.declared_generics(None, false);
    let inner_generics = codelet.declared_generics(Some(&lifetime), false);
    let inner_arguments = codelet.type_arguments(&lifetime);
    let turbofish = codelet.turbofish(false);
    let bounds = &generics.where_clause;
    quote! {
        #docs
        #visibility fn cpu #outer_generics(#(#parameters,)* #(#arguments),*) #bounds {
            struct #call #inner_generics #bounds { #(#fields,)* #(#arguments),* }

            impl #inner_generics #root::__private::Vectorised for #call #inner_arguments #bounds {
                type Output = ();

                #[inline(always)]
                fn run(self) {
                    #type_name::body #turbofish(#(self.#names),*)
                }
            }

            #root::__private::dispatch(#call { #(#names),* })
        }
    }
}
