//! `task` and `task_self`, which return the task before its submission.

use proc_macro2::{Ident, Literal, TokenStream};
use quote::quote;

use super::shapes::Checks;
use super::signature::Variant;
use super::{docs, local};
use crate::model::{Codelet, Form};

/// `task()`: a task on given arrays.
pub(super) fn task(codelet: &Codelet) -> TokenStream {
    builder(codelet, Variant::Given)
}

/// `task_self()`: a task that overwrites one of its inputs.
pub(super) fn task_self(codelet: &Codelet) -> Option<TokenStream> {
    codelet.in_place.as_ref().map(|_| builder(codelet, Variant::InPlace))
}

/// The names of the builder and of the constructor that it calls.
pub(super) fn names(codelet: &Codelet, variant: Variant) -> (Ident, Ident) {
    let ident = |name: &str| Ident::new(name, codelet.name.span());
    match variant {
        Variant::InPlace => (ident("task_self"), ident("new_in_place")),
        Variant::Given | Variant::Init => (ident("task"), ident("new")),
    }
}

fn builder(codelet: &Codelet, variant: Variant) -> TokenStream {
    let Codelet { root, visibility, type_name, .. } = codelet;
    let docs = docs::of_task(codelet, variant);
    let (name, constructor) = names(codelet, variant);
    let lifetime = codelet.lifetime("task");
    let generics = codelet.declared_generics(Some(&lifetime), true);
    let bounds = &codelet.generics.where_clause;
    let parameters = codelet.wrapper_parameters(variant, Some(&lifetime));
    let turbofish = codelet.turbofish(false);
    let (task, shapes) = (local("task"), local("shapes"));
    let fail = |checks: TokenStream| {
        let error = local("error");
        quote! {
            if let ::core::result::Result::Err(#error) = #checks {
                #task.fail(#error);
                return #task;
            }
        }
    };
    let input_checks = codelet.call_checks(Checks::OfInputs, variant).map(fail);
    let output_checks = codelet.call_checks(Checks::OfOutputs, variant).map(fail);
    let call_shapes = codelet.call_shapes(variant).map(|call| quote!(let #shapes = #call;));
    let replaced =
        codelet.in_place.as_ref().filter(|_| variant == Variant::InPlace).map(|in_place| in_place.output);
    let accesses = codelet.parameters.iter().enumerate().filter(|(index, _)| Some(*index) != replaced);
    let accesses = accesses.map(|(index, parameter)| {
        let name = &parameter.name;
        if !parameter.is_given() {
            let (element, rank) = (&parameter.element, codelet.rank(parameter));
            let shape = codelet.shape_of(index, &shapes);
            return quote!(#task.scratch::<#element, #rank>(#shape););
        }
        let method = local(if codelet.is_mutable(index, variant) { "write" } else { "read" });
        quote!(#task.#method(#name);)
    });
    let arguments = codelet.arguments.iter().map(|argument| &argument.name);
    let requirements = requirements(codelet, &task, &shapes);
    quote! {
        #docs
        #[track_caller]
        #visibility fn #name #generics(#(#parameters),*) -> #root::Task<#lifetime> #bounds {
            let mut #task = #root::Task::#constructor(#type_name::codelet #turbofish());
            #input_checks
            #call_shapes
            #output_checks
            #(#accesses)*
            #(#task.argument(#arguments);)*
            #requirements
            #task
        }
    }
}

/// The calls that compare the shapes of the arrays.
fn requirements(codelet: &Codelet, task: &Ident, shapes: &Ident) -> TokenStream {
    match codelet.form {
        Form::Map if codelet.parameters.len() == 1 => TokenStream::new(),
        Form::Map if codelet.options.broadcast.is_some() => quote!(#task.require_broadcast();),
        Form::Map => quote!(#task.require_same_shapes();),
        Form::Kernel => {
            let given = codelet.shaped().filter(|(_, parameter)| parameter.is_given());
            given
                .map(|(index, _)| {
                    let shape = codelet.shape_of(index, shapes);
                    let index = Literal::usize_unsuffixed(index);
                    quote!(#task.require_shape(#index, #shape);)
                })
                .collect()
        }
    }
}
