//! The free functions: `op`, `op_self` and `op_init`.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};
use syn::Lifetime;
use syn::ext::IdentExt;

use super::shapes::Checks;
use super::signature::Variant;
use super::{docs, everywhere, gradient, local, task};
use crate::mode::Access;
use crate::model::{Codelet, Form, Parameter};

/// All wrappers of the codelet.
pub(super) fn wrappers(codelet: &Codelet) -> TokenStream {
    let given = submitting(codelet, Variant::Given);
    let in_place = codelet.in_place.as_ref().map(|_| submitting(codelet, Variant::InPlace));
    let init = codelet.has_init.then(|| init(codelet));
    quote!(#given #in_place #init)
}

/// The name of a variant's wrapper.
pub(super) fn name(codelet: &Codelet, variant: Variant) -> Ident {
    let name = &codelet.name;
    match variant {
        Variant::Given => name.clone(),
        Variant::InPlace => format_ident!("{}_self", name.unraw(), span = name.span()),
        Variant::Init => format_ident!("{}_init", name.unraw(), span = name.span()),
    }
}

fn submitting(codelet: &Codelet, variant: Variant) -> TokenStream {
    let Codelet { root, visibility, type_name, .. } = codelet;
    let (docs, everywhere) = (docs::of_wrapper(codelet, variant), everywhere(codelet));
    let name = name(codelet, variant);
    let generics = codelet.declared_generics(None, true);
    let bounds = &codelet.generics.where_clause;
    let parameters = codelet.wrapper_parameters(variant, None);
    let (builder, _) = task::names(codelet, variant);
    let names = codelet.names(variant);
    let attributes = &codelet.attributes.wrappers;
    quote! {
        #docs
        #everywhere
        #(#attributes)*
        #[track_caller]
        #visibility fn #name #generics(#(#parameters),*) -> #root::Result<()> #bounds {
            #type_name::#builder(#(#names),*).submit()
        }
    }
}

fn init(codelet: &Codelet) -> TokenStream {
    let Codelet { root, visibility, type_name, .. } = codelet;
    let (docs, everywhere) = (docs::of_wrapper(codelet, Variant::Init), everywhere(codelet));
    let name = name(codelet, Variant::Init);
    let lifetime = codelet.lifetime("m");
    let generics = codelet.declared_generics(Some(&lifetime), true);
    let bounds = &codelet.generics.where_clause;
    let parameters = codelet.wrapper_parameters(Variant::Init, None);
    let result = made_type(codelet, &lifetime);
    let shapes = local("shapes");
    let checks = codelet.call_checks(Checks::OfInputs, Variant::Init).map(|call| quote!(#call?;));
    let call_shapes = match codelet.form {
        Form::Map => Some(map_shape(codelet)),
        Form::Kernel => codelet.call_shapes(Variant::Init),
    };
    let call_shapes = call_shapes.map(|call| quote!(let #shapes = #call;));
    let outputs = codelet.made().map(|(index, parameter)| {
        let name = &parameter.name;
        let reduces = parameter.access != Access::Write;
        let shape = match (codelet.form, &parameter.shape) {
            (Form::Map, _) => quote!(#shapes),
            (Form::Kernel, Some(_)) => codelet.shape_of(index, &shapes),
            (Form::Kernel, None) => quote!([]),
        };
        quote!(let mut #name = #root::Scope::<#type_name>::output(scope, #shape, #reduces)?;)
    });
    let made: Vec<_> = codelet.made().map(|(_, parameter)| &parameter.name).collect();
    let value = if made.len() == 1 { quote!(#(#made)*) } else { quote!((#(#made),*)) };
    let passed = codelet.given(Variant::Given).map(|(_, parameter)| pass(parameter));
    let arguments = codelet.arguments.iter().map(|argument| &argument.name);
    let attributes = &codelet.attributes.wrappers;
    let gradient = gradient::path(codelet);
    quote! {
        #docs
        #everywhere
        #(#attributes)*
        #[track_caller]
        #visibility fn #name #generics(scope: &#lifetime impl #root::Scope<#type_name>, #(#parameters),*) -> #root::Result<#result> #bounds {
            #checks
            #call_shapes
            #(#outputs)*
            #root::Scope::<#type_name>::submit(scope, #type_name::task(#(#passed,)* #(#arguments),*), #gradient)?;
            ::core::result::Result::Ok(#value)
        }
    }
}

/// `under()`: `op` under a scope, for rules of gradients: an output that the rule was given cannot be made by `_init`.
pub(super) fn under(codelet: &Codelet) -> Option<TokenStream> {
    codelet.gradient.as_ref()?;
    let Codelet { root, visibility, type_name, .. } = codelet;
    let generics = codelet.declared_generics(None, true);
    let bounds = &codelet.generics.where_clause;
    let parameters = codelet.wrapper_parameters(Variant::Given, None);
    let names = codelet.names(Variant::Given);
    let gradient = gradient::path(codelet);
    let wrapper = codelet.name.unraw().to_string();
    let docs = format!(" Submits the task of [`{wrapper}`] under a scope: a tape remembers it.");
    Some(quote! {
        #[doc = #docs]
        ///
        /// For rules of gradients, which are given arrays to write.
        #[track_caller]
        #visibility fn under #generics(scope: &impl #root::Scope<#type_name>, #(#parameters),*) -> #root::Result<()> #bounds {
            #root::Scope::<#type_name>::submit(scope, #type_name::task(#(#names),*), #gradient)
        }
    })
}

/// The arrays that `_init` returns.
pub(super) fn made_type(codelet: &Codelet, lifetime: &Lifetime) -> TokenStream {
    let types: Vec<_> = codelet.made().map(|(_, parameter)| codelet.array(parameter, lifetime)).collect();
    if types.len() == 1 { quote!(#(#types)*) } else { quote!((#(#types),*)) }
}

fn pass(parameter: &Parameter) -> TokenStream {
    let name = &parameter.name;
    if parameter.access.is_made() { quote!(&mut #name) } else { quote!(#name) }
}

/// The common shape of a map's inputs.
fn map_shape(codelet: &Codelet) -> TokenStream {
    let Codelet { root, type_name, .. } = codelet;
    let turbofish = codelet.turbofish(false);
    let broadcast = codelet.options.broadcast.is_some();
    let inputs = codelet.given(Variant::Init).map(|(_, parameter)| {
        let (name, shown) = (&parameter.name, parameter.name.unraw().to_string());
        quote!((#shown, #name.shape()))
    });
    quote!(#root::__private::map_shape(#type_name::codelet #turbofish(), &[#(#inputs),*], #broadcast)?)
}
