//! The derived maps of a map: codelets without wrappers, each of which computes the gradient by one input.
//!
//! Most are `Pointwise`: their code here is their body and what is known of them, and the core has the rest once.

use proc_macro2::{Ident, Literal, TokenStream};
use quote::{ToTokens, quote};
use syn::ext::IdentExt;
use syn::{FnArg, ReturnType};

use super::{cuda, descriptor, everywhere, kernel, local};
use crate::compute::{self, Passing};
use crate::gradient::DerivedMap;
use crate::model::Codelet;

/// The derived maps, to be printed where their names meet no others.
pub(super) struct Printed {
    pub(super) items: TokenStream,
    /// `&[DerivedMap { .. }, ..]`.
    pub(super) table: TokenStream,
}

impl Printed {
    pub(super) fn new(codelet: &Codelet, maps: &[DerivedMap]) -> Self {
        let root = &codelet.root;
        let mut items = TokenStream::new();
        let mut has_arguments = false;
        let mut entries = Vec::new();
        for map in maps {
            if map.passes() {
                let by = Literal::usize_unsuffixed(map.by);
                entries.push(quote!(#root::__private::DerivedMap::passes(#by)));
                continue;
            }
            let derived = codelet.derived(map);
            if derived.is_pointwise() {
                if !derived.arguments.is_empty() && !has_arguments {
                    items.extend(arguments(codelet, &derived));
                    has_arguments = true;
                }
                items.extend(pointwise(codelet, &derived, map));
                entries.push(pointwise_entry(codelet, &derived, map));
            } else {
                items.extend(item(&derived, map));
                entries.push(entry(codelet, &derived, map));
            }
        }
        Self { items, table: quote!(const { &[#(#entries),*] }) }
    }
}

/// The implementation of `PointwiseArguments`, which all derived maps of a declaration share.
fn arguments(codelet: &Codelet, derived: &Codelet) -> TokenStream {
    let (root, type_name, generics) = (&codelet.root, &codelet.type_name, &derived.generics);
    let (declared, bounds) = (derived.declared_generics(None, false), &generics.where_clause);
    let element = &derived.parameters.last().expect("a map has an output").element;
    let types = derived.arguments.iter().map(|argument| {
        let ty = &argument.ty;
        Passing::of(ty, generics).widened_type(root, ty)
    });
    let encoded = local("encoded");
    let taken = decoded(derived, &encoded.to_token_stream());
    quote! {
        impl #declared #root::__private::PointwiseArguments<#element> for #type_name #bounds {
            type Passed = (#(#types,)*);

            fn decode(#encoded: &mut #root::__private::EncodedArguments<'_>) -> Self::Passed {
                (#(#taken,)*)
            }
        }
    }
}

/// The plain arguments, taken from encoded ones, as the body gets them.
fn decoded(derived: &Codelet, encoded: &TokenStream) -> Vec<TokenStream> {
    let (root, generics) = (&derived.root, &derived.generics);
    let taken = derived.arguments.iter().map(|argument| {
        let ty = &argument.ty;
        Passing::of(ty, generics).widen(root, quote!(#encoded.next::<#ty>()))
    });
    taken.collect()
}

/// The implementation of `Pointwise`.
fn pointwise(codelet: &Codelet, derived: &Codelet, map: &DerivedMap) -> TokenStream {
    let (root, type_name) = (&codelet.root, &codelet.type_name);
    let (declared, bounds) = (derived.declared_generics(None, false), &derived.generics.where_clause);
    let (signature, block) = kernel::in_compute_types(derived);
    let ReturnType::Type(_, compute) = &signature.output else { unreachable!("a map returns a value") };
    let typed = signature.inputs.iter().filter_map(|input| match input {
        FnArg::Typed(input) => Some((&input.pat, &input.ty)),
        FnArg::Receiver(_) => None,
    });
    let (inputs, arguments): (Vec<_>, Vec<_>) =
        typed.enumerate().partition(|(index, _)| *index < derived.parameters.len() - 1);
    let inputs: Vec<_> = inputs.into_iter().map(|(_, (name, _))| name).collect();
    let (names, types): (Vec<_>, Vec<_>) = arguments.into_iter().map(|(_, typed)| typed).unzip();
    let [count, by] = [inputs.len(), map.by].map(Literal::usize_unsuffixed);
    let name = derived.name.to_string();
    let hash = descriptor::hash(derived);
    let (read_parameters, text) =
        (&derived.parameters[..inputs.len()], |name: &Ident| name.unraw().to_string());
    let input_names = read_parameters.iter().map(|parameter| text(&parameter.name));
    let argument_names = derived.arguments.iter().map(|argument| text(&argument.name));
    let broadcasts = derived.options.broadcast.is_some();
    let cuda = cuda::pointwise(derived);
    let read = read(map);
    let expression = expression(map);
    let leaves = map.leaves().map(|leaves| {
        quote! {
            fn leaves((#(#names,)*): (#(#types,)*)) -> #root::__private::Leaves {
                [#(#leaves),*].to_vec()
            }
        }
    });
    quote! {
        #[allow(unused_variables, unused_parens, clippy::all)]
        impl #declared #root::__private::Pointwise<#compute, (#(#types,)*), #count, #by> for #type_name #bounds {
            const MAP: #root::__private::PointwiseMap = #root::__private::PointwiseMap {
                name: #name,
                module: ::core::module_path!(),
                declaration: #hash,
                parameters: &[#(#input_names),*],
                arguments: &[#(#argument_names),*],
                broadcasts: #broadcasts,
                cuda: #cuda,
                inputs: #read,
                expression: #expression,
            };

            #[inline(always)]
            fn value([#(#inputs),*]: [#compute; #count], (#(#names,)*): (#(#types,)*)) -> #compute #block

            #leaves
        }
    }
}

/// The entry of a [`pointwise`] map in the table.
fn pointwise_entry(codelet: &Codelet, derived: &Codelet, map: &DerivedMap) -> TokenStream {
    let (root, type_name) = (&codelet.root, &codelet.type_name);
    let private = quote!(#root::__private);
    let element = &derived.parameters.last().expect("a map has an output").element;
    let arrays = derived.parameters.len();
    let [inputs, arrays, by] = [arrays - 1, arrays, map.by].map(Literal::usize_unsuffixed);
    let arguments = if derived.arguments.is_empty() {
        quote!(#private::NoArguments)
    } else {
        type_name.to_token_stream()
    };
    quote!(#private::DerivedMap::pointwise::<#type_name, #arguments, #element, #inputs, #arrays, #by>())
}

/// The items of any other derived map.
fn item(derived: &Codelet, map: &DerivedMap) -> TokenStream {
    let (type_name, everywhere) = (&derived.type_name, everywhere(derived));
    let name = derived.name.to_string();
    let map_in_cuda = cuda::map(derived);
    let cuda = cuda::constant(derived, map_in_cuda.as_ref());
    let descriptor = descriptor::codelet(derived, map_in_cuda.as_ref());
    let cpu = kernel::cpu(derived);
    let body = kernel::body(derived);
    let leaves = leaves(derived, map);
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
    }
}

/// Its entry in the table.
fn entry(codelet: &Codelet, derived: &Codelet, map: &DerivedMap) -> TokenStream {
    let (root, type_name) = (&codelet.root, &derived.type_name);
    let turbofish = derived.turbofish(false);
    let by = Literal::usize_unsuffixed(map.by);
    let (inputs, expression) = (read(map), expression(map));
    let leaves = match map.leaves() {
        None => quote!(#root::__private::no_leaves),
        Some(_) => {
            let (turbofish, encoded) = (compute::turbofish(&derived.generics, root), local("encoded"));
            let arguments = decoded(derived, &encoded.to_token_stream());
            quote!(|#encoded| #type_name::leaves #turbofish(#(#arguments),*).to_vec())
        }
    };
    quote! {
        #root::__private::DerivedMap {
            by: #by,
            inputs: #inputs,
            passes: false,
            codelet: #type_name::codelet #turbofish,
            expression: #expression,
            leaves: #leaves,
        }
    }
}

/// `leaves`: the values of the leaves of the map's expression, from arguments in their compute type.
fn leaves(derived: &Codelet, map: &DerivedMap) -> Option<TokenStream> {
    let leaves = map.leaves()?;
    let root = &derived.root;
    let (generics, bounds) = (derived.declared_generics(None, false), &derived.generics.where_clause);
    let arguments = derived.arguments.iter().map(|argument| {
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

/// The parameters of the declaration that a derived map reads.
fn read(map: &DerivedMap) -> TokenStream {
    let inputs = map.inputs.iter().map(|input| Literal::usize_unsuffixed(*input));
    quote!(&[#(#inputs),*])
}

fn expression(map: &DerivedMap) -> TokenStream {
    match &map.expression {
        Some(expression) => {
            let text = &expression.text;
            quote!(::core::option::Option::Some(#text))
        }
        None => quote!(::core::option::Option::None),
    }
}
