//! Entries: the closures by which workers call a codelet's kernels, and tests its reference.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Path, Type, TypeParam, parse_quote};

use super::local;
use super::signature::Variant;
use crate::compute;
use crate::model::{Codelet, Form, Kind, Parameter};
use crate::tokens;
use crate::view::View;

/// What replaces the declaration's type parameters.
#[derive(Clone, Copy)]
pub(super) enum Numbers<'a> {
    /// Nothing.
    Declared,
    /// `f64`, also for their compute types: for a reference.
    F64,
    /// Another type parameter.
    Of(&'a Ident),
}

/// The closure through which a worker calls `function`, which has `cpu`'s signature (in place: without the output).
pub(super) fn entry(codelet: &Codelet, function: &TokenStream, variant: Variant) -> TokenStream {
    closure(codelet, &TokenStream::new(), function, variant, Numbers::Declared)
}

/// The closure that calls the declaration's own kernel for elements of `number`.
pub(super) fn entry_of_declaration(codelet: &Codelet, number: &Ident) -> TokenStream {
    let type_name = &codelet.type_name;
    let turbofish = codelet.turbofish_with(number);
    let function = quote!(#type_name::cpu #turbofish);
    closure(codelet, &TokenStream::new(), &function, Variant::Given, Numbers::Of(number))
}

/// The closure for a user's function, which should have `cpu`'s signature.
pub(super) fn entry_of_user(
    codelet: &Codelet,
    function: &Path,
    variant: Variant,
    numbers: Numbers<'_>,
) -> TokenStream {
    let kernel = local("kernel");
    let types =
        accessed(codelet, variant).map(|(index, _)| match as_accessed(codelet, index, variant, numbers) {
            Some(view) => view.absolute(&codelet.root),
            None => {
                let element = numbers.element(codelet, index);
                let mutable = codelet.is_mutable(index, variant).then(|| quote!(mut));
                quote!(&#mutable [#element])
            }
        });
    let arguments = codelet.arguments.iter().map(|argument| numbers.argument_type(codelet, &argument.ty));
    let coerced = quote_spanned!(function.span()=> #[allow(clippy::type_complexity)] let #kernel: fn(#(#types,)* #(#arguments),*) = #function;);
    closure(codelet, &coerced, &kernel.to_token_stream(), variant, numbers)
}

/// The closure that calls `function` on scalars for every element of a map, with `f64` for the type parameters.
pub(super) fn entry_of_scalars(codelet: &Codelet, function: &Path) -> TokenStream {
    let numbers = Numbers::F64;
    let (views, run, scalar, i) = (local("views"), local("run"), local("scalar"), local("i"));
    let (inputs, output) = codelet.parameters.split_at(codelet.parameters.len() - 1);
    let output = output.iter().map(|parameter| &parameter.name).next();
    let inputs: Vec<_> = inputs.iter().map(|parameter| &parameter.name).collect();
    let elements: Vec<_> =
        (0..codelet.parameters.len()).map(|index| numbers.element(codelet, index)).collect();
    let (result, operands) = elements.split_last().expect("a map has an output");
    let types = codelet.arguments.iter().map(|argument| numbers.argument_type(codelet, &argument.ty));
    let names: Vec<_> = codelet.arguments.iter().map(|argument| &argument.name).collect();
    let taken = codelet.arguments.iter().map(|argument| numbers.argument(codelet, &views, &argument.ty));
    let coerced = quote_spanned! {function.span()=>
        #[allow(clippy::type_complexity)]
        let #scalar: fn(#(#operands,)* #(#types),*) -> #result = #function;
    };
    quote! {
        |#views| {
            #coerced
            #(let #names = #taken;)*
            #views.for_each_run(|#run| {
                #(let #inputs = #run.slice::<#operands>();)*
                let #output = #run.slice_mut::<#result>();
                for #i in 0..#output.len() {
                    #output[#i] = #scalar(#(#inputs[#i],)* #(#names),*);
                }
            })
        }
    }
}

fn closure(
    codelet: &Codelet,
    first: &TokenStream,
    function: &TokenStream,
    variant: Variant,
    numbers: Numbers<'_>,
) -> TokenStream {
    let (root, views, run) = (&codelet.root, local("views"), local("run"));
    let taken: Vec<_> = accessed(codelet, variant)
        .map(|(index, _)| match as_accessed(codelet, index, variant, numbers) {
            Some(view) => view.take(root, &views),
            None => {
                let element = numbers.element(codelet, index);
                let method = local(if codelet.is_mutable(index, variant) { "slice_mut" } else { "slice" });
                quote!(#run.#method::<#element>())
            }
        })
        .collect();
    let arguments = codelet.arguments.iter().map(|argument| numbers.argument(codelet, &views, &argument.ty));
    let names: Vec<_> = codelet.arguments.iter().map(|argument| &argument.name).collect();
    let (loads, call) = match codelet.form {
        Form::Kernel => (None, quote!(#function(#(#taken,)* #(#arguments),*))),
        // A map's arguments are the same for every run of elements.
        Form::Map => (
            Some(quote!(#(let #names = #arguments;)*)),
            quote!(#views.for_each_run(|#run| #function(#(#taken,)* #(#names),*))),
        ),
    };
    if first.is_empty() && loads.as_ref().is_none_or(TokenStream::is_empty) {
        return quote!(|#views| #call);
    }
    quote! {
        |#views| {
            #first
            #loads
            #call
        }
    }
}

/// The parameters that a kernel accesses in a variant, with their indices.
fn accessed(codelet: &Codelet, variant: Variant) -> impl Iterator<Item = (usize, &Parameter)> {
    let replaced =
        codelet.in_place.as_ref().filter(|_| variant == Variant::InPlace).map(|in_place| in_place.output);
    codelet.parameters.iter().enumerate().filter(move |(index, _)| Some(*index) != replaced)
}

/// The view that a kernel receives in a variant: a mutable one for the target. A map receives none.
fn as_accessed(codelet: &Codelet, index: usize, variant: Variant, numbers: Numbers<'_>) -> Option<View> {
    let Kind::View(view) = &codelet.parameters[index].kind else { return None };
    let mutable = codelet.is_mutable(index, variant);
    Some(View { mutable, element: numbers.element(codelet, index), ..(**view).clone() })
}

impl Numbers<'_> {
    /// The element type that the kernel sees for the parameter of this index.
    fn element(self, codelet: &Codelet, index: usize) -> Type {
        let parameter = &codelet.parameters[index];
        let declared = parameter.kernel_element().clone();
        match self {
            Self::F64 if codelet.is_type_parameter(&parameter.element) => parse_quote!(f64),
            Self::Of(number) if codelet.is_type_parameter(&parameter.element) => {
                let root = &codelet.root;
                if parameter.accumulates_in_compute {
                    parse_quote!(<#number as #root::Real>::Compute)
                } else {
                    parse_quote!(#number)
                }
            }
            Self::Declared | Self::F64 | Self::Of(_) => declared,
        }
    }

    fn argument_type(self, codelet: &Codelet, ty: &Type) -> Type {
        match self {
            Self::F64 if codelet.is_number(ty) => parse_quote!(f64),
            Self::Of(number) if codelet.is_number(ty) => parse_quote!(#number),
            Self::Declared | Self::F64 | Self::Of(_) => ty.clone(),
        }
    }

    /// The next argument, of this declared type.
    fn argument(self, codelet: &Codelet, views: &Ident, ty: &Type) -> TokenStream {
        let root = &codelet.root;
        match self {
            Self::F64 if codelet.is_number(ty) => quote!(#views.argument_in_f64::<#ty>()),
            Self::Of(number) if codelet.is_number(ty) => {
                quote!(<#number as #root::Real>::from_f64(#views.argument_in_f64::<#ty>()))
            }
            Self::Declared | Self::F64 | Self::Of(_) => quote!(#views.argument::<#ty>()),
        }
    }
}

impl Codelet {
    /// Whether `ty` is one of the declaration's type parameters.
    pub(super) fn is_type_parameter(&self, ty: &Type) -> bool {
        let name = match ty {
            Type::Path(path) if path.qself.is_none() => path.path.get_ident(),
            Type::Group(group) => return self.is_type_parameter(&group.elem),
            _ => None,
        };
        name.is_some_and(|name| self.generics.type_params().any(|parameter| parameter.ident == *name))
    }

    /// Whether `ty` is a type parameter that must be an element type: that of an array, or by its bounds.
    fn is_number(&self, ty: &Type) -> bool {
        let text = |ty: &Type| ty.to_token_stream().to_string();
        let is_element = || self.parameters.iter().any(|parameter| text(&parameter.element) == text(ty));
        let is_bounded = |parameter: &TypeParam| {
            parameter.ident == text(ty) && parameter.bounds.iter().any(compute::is_of_numbers)
        };
        self.is_type_parameter(ty) && (is_element() || self.generics.type_params().any(is_bounded))
    }

    /// Whether the type mentions a type parameter of the declaration.
    pub(super) fn is_generic(&self, ty: &Type) -> bool {
        let text = ty.to_token_stream();
        self.generics.type_params().any(|parameter| tokens::mention(&text, &parameter.ident))
    }
}
