//! The derived maps of a map: codelets without wrappers, each of which computes the gradient by one input.

use proc_macro2::{Literal, TokenStream};
use quote::quote;

use super::{cuda, descriptor, everywhere, kernel, local};
use crate::compute::{self, Passing};
use crate::gradient::DerivedMap;
use crate::model::Codelet;

/// The items of the derived maps, to be printed where their names meet no others.
pub(super) fn items(codelet: &Codelet, maps: &[DerivedMap]) -> TokenStream {
    maps.iter().map(|map| item(&codelet.derived(map), map)).collect()
}

fn item(codelet: &Codelet, map: &DerivedMap) -> TokenStream {
    if map.passes() {
        return TokenStream::new();
    }
    let (type_name, everywhere) = (&codelet.type_name, everywhere(codelet));
    let name = codelet.name.to_string();
    let map_in_cuda = cuda::map(codelet);
    let cuda = cuda::constant(codelet, map_in_cuda.as_ref());
    let descriptor = descriptor::codelet(codelet, map_in_cuda.as_ref());
    let cpu = (!codelet.is_pointwise()).then(|| kernel::cpu(codelet));
    let pointwise = codelet.is_pointwise().then(|| pointwise(codelet));
    let body = kernel::body(codelet);
    let leaves = leaves(codelet, map);
    quote! {
        #everywhere
        struct #type_name;

        #everywhere
        impl #type_name {
            const NAME: &'static str = #name;
            #cuda
            #descriptor
            #cpu
            #body
            #leaves
        }

        #pointwise
    }
}

/// The implementation of `Pointwise`, whose kernel has the loop.
fn pointwise(codelet: &Codelet) -> TokenStream {
    let Codelet { root, type_name, generics, .. } = codelet;
    let private = quote!(#root::__private);
    let element = &codelet.parameters.last().expect("a map has an output").element;
    let (declared, bounds) = (codelet.declared_generics(None, false), &generics.where_clause);
    let inputs: Vec<_> =
        (0..codelet.parameters.len() - 1).map(|index| local(&format!("input_{index}"))).collect();
    let count = Literal::usize_unsuffixed(inputs.len());
    let names: Vec<_> =
        (0..codelet.arguments.len()).map(|index| local(&format!("argument_{index}"))).collect();
    let passing = |ty| Passing::of(ty, generics);
    let types =
        codelet.arguments.iter().map(|argument| passing(&argument.ty).widened_type(root, &argument.ty));
    let views = local("views");
    let taken = codelet.arguments.iter().map(|argument| {
        let ty = &argument.ty;
        passing(ty).widen(root, quote!(#views.argument::<#ty>()))
    });
    let taken = (!codelet.arguments.is_empty()).then(|| quote!((#(#taken,)*)));
    let turbofish = compute::turbofish(generics, root);
    let compute = quote!(<#element as #root::Real>::Compute);
    quote! {
        impl #declared #private::Pointwise<#element, #count> for #type_name #bounds {
            type Arguments = (#(#types,)*);

            fn arguments(#views: &mut #private::Views<'_>) -> Self::Arguments {
                #taken
            }

            #[inline(always)]
            fn value([#(#inputs),*]: [#compute; #count], (#(#names,)*): Self::Arguments) -> #compute {
                Self::body #turbofish(#(#inputs,)* #(#names),*)
            }
        }
    }
}

/// `leaves`: the values of the leaves of the map's expression, from arguments in their compute type.
fn leaves(codelet: &Codelet, map: &DerivedMap) -> Option<TokenStream> {
    let leaves = map.leaves()?;
    let root = &codelet.root;
    let (generics, bounds) = (codelet.declared_generics(None, false), &codelet.generics.where_clause);
    let arguments = codelet.arguments.iter().map(|argument| {
        let (name, ty) = (&argument.name, &argument.ty);
        compute::half(ty)
            .map_or_else(|| quote!(#name: #ty), |half| quote!(#name: <#half as #root::Real>::Compute))
    });
    let count = Literal::usize_unsuffixed(leaves.len());
    Some(quote! {
        #[allow(unused_variables, unused_parens, clippy::all)]
        fn leaves #generics(#(#arguments),*) -> [::core::primitive::f64; #count] #bounds {
            [#(#leaves),*]
        }
    })
}

/// The function that computes the leaves from the encoded arguments.
fn leaves_of_arguments(codelet: &Codelet, map: &DerivedMap) -> TokenStream {
    let root = &codelet.root;
    if map.passes() || map.leaves().is_none() {
        return quote!(#root::__private::no_leaves);
    }
    let (type_name, generics) =
        (crate::model::type_name(&map.function.sig.ident), &map.function.sig.generics);
    let turbofish = compute::turbofish(generics, root);
    let encoded = local("encoded");
    let arguments = codelet.arguments.iter().map(|argument| {
        let ty = &argument.ty;
        Passing::of(ty, generics).widen(root, quote!(#encoded.next::<#ty>()))
    });
    quote!(|#encoded| #type_name::leaves #turbofish(#(#arguments),*).to_vec())
}

/// `&[DerivedMap { .. }, ..]`.
pub(super) fn table(codelet: &Codelet, maps: &[DerivedMap]) -> TokenStream {
    let root = &codelet.root;
    let entries = maps.iter().map(|map| {
        let type_name = crate::model::type_name(&map.function.sig.ident);
        let turbofish = codelet.turbofish(false);
        let by = Literal::usize_unsuffixed(map.by);
        let passes = map.passes();
        let descriptor = if passes {
            quote!(#root::__private::no_codelet)
        } else {
            quote!(|| #type_name::codelet #turbofish())
        };
        let inputs = map.inputs.iter().map(|input| Literal::usize_unsuffixed(*input));
        let expression = match &map.expression {
            Some(expression) if !passes => {
                let text = &expression.text;
                quote!(::core::option::Option::Some(#text))
            }
            _ => quote!(::core::option::Option::None),
        };
        let leaves = leaves_of_arguments(codelet, map);
        quote! {
            #root::__private::DerivedMap {
                by: #by,
                inputs: &[#(#inputs),*],
                passes: #passes,
                codelet: #descriptor,
                expression: #expression,
                leaves: #leaves,
            }
        }
    });
    quote!(const { &[#(#entries),*] })
}
