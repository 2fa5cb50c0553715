//! The implementation of `Variants`: all parts of the codelet, for code that is generic over operations.

use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{ToTokens, quote};
use syn::{Expr, GenericArgument, GenericParam, Lifetime, Path, PathArguments, Type};

use super::descriptor;
use super::entry::{self, Numbers};
use super::signature::Variant;
use super::{local, wrappers};
use crate::compute;
use crate::model::{Codelet, Form, Rank};
use crate::parse::ErrorClass;
use crate::tokens;

/// The most arrays or arguments of a codelet that has this trait: the standard library implements its traits for tuples
/// up to this length.
const MOST: usize = 12;

/// The implementation, unless the arrays and arguments do not determine the codelet's generics.
pub(super) fn variants(codelet: &Codelet) -> Option<TokenStream> {
    let Codelet { root, type_name, .. } = codelet;
    let arrays: Vec<_> = codelet.given(Variant::Given).collect();
    if arrays.len() > MOST || codelet.arguments.len() > MOST || !is_determined(codelet) {
        return None;
    }
    let owned = Lifetime::new("'static", Span::call_site());
    let types = arrays.iter().map(|(_, parameter)| codelet.array(parameter, &owned));
    let types = quote!((#(#types,)*));
    let arguments = codelet.arguments.iter().map(|argument| &argument.ty);
    let arguments = quote!((#(#arguments,)*));
    let generics = codelet.declared_generics(None, true);
    let bounds = &codelet.generics.where_clause;
    let turbofish = codelet.turbofish(false);
    let lifetime = codelet.lifetime("task");
    let task = task(codelet, Variant::Given);
    let task_self = codelet.in_place.as_ref().map(|_| {
        let task = self::task(codelet, Variant::InPlace);
        quote! {
            fn task_self<#lifetime>(arrays: &#lifetime mut #types, arguments: #arguments) -> ::core::option::Option<#root::Task<#lifetime>> {
                ::core::option::Option::Some(#task)
            }
        }
    });
    let init = init(codelet, &types, &arguments);
    let numerics = numerics(codelet);
    let declaration = declaration(codelet);
    let gradient = codelet.gradient.as_ref().map(|_| {
        let gradient = super::gradient::path(codelet);
        quote! {
            fn gradient() -> ::core::option::Option<&'static #root::__private::Gradient> {
                ::core::option::Option::Some(#gradient())
            }
        }
    });
    // The generated code does not warn about a deprecated codelet.
    let deprecated = (!codelet.attributes.wrappers.is_empty()).then(|| quote!(#[allow(deprecated)]));
    Some(quote! {
        #[allow(unused_variables)]
        #deprecated
        impl #generics #root::__private::Variants<#types, #arguments> for #type_name #bounds {
            fn descriptor() -> &'static #root::Codelet {
                Self::codelet #turbofish()
            }

            fn task<#lifetime>(arrays: &#lifetime mut #types, arguments: #arguments) -> #root::Task<#lifetime> {
                #task
            }

            #task_self

            #init

            fn numerics() -> #root::__private::Numerics {
                #numerics
            }

            #gradient

            #declaration
        }
    })
}

fn task(codelet: &Codelet, variant: Variant) -> TokenStream {
    let type_name = &codelet.type_name;
    let (builder, _) = super::task::names(codelet, variant);
    let (turbofish, passed) = (codelet.turbofish(true), passed(codelet, variant));
    quote!(#type_name::#builder #turbofish(#passed))
}

/// The fields of `arrays` and `arguments` as a variant takes them.
fn passed(codelet: &Codelet, variant: Variant) -> TokenStream {
    let arrays = codelet.given(variant).map(|(index, _)| {
        let field = place(codelet, index);
        let mutable = codelet.is_mutable(index, variant).then(|| quote!(mut));
        quote!(&#mutable arrays.#field)
    });
    let arguments = (0..codelet.arguments.len()).map(|index| {
        let field = Literal::usize_unsuffixed(index);
        quote!(arguments.#field)
    });
    let all: Vec<_> = arrays.chain(arguments).collect();
    quote!(#(#all),*)
}

/// The index of a parameter among the arrays.
fn place(codelet: &Codelet, index: usize) -> Literal {
    let place = codelet.given(Variant::Given).position(|(given, _)| given == index);
    Literal::usize_unsuffixed(place.unwrap_or_default())
}

/// `init`, unless `op_init` takes an array that it changes.
fn init(codelet: &Codelet, types: &TokenStream, arguments: &TokenStream) -> Option<TokenStream> {
    let changes = codelet.given(Variant::Init).any(|(index, _)| codelet.is_mutable(index, Variant::Init));
    if !codelet.has_init || changes {
        return None;
    }
    let root = &codelet.root;
    let wrapper = wrappers::name(codelet, Variant::Init);
    let (turbofish, passed) = (codelet.turbofish(true), passed(codelet, Variant::Init));
    let outputs: Vec<_> = codelet
        .made()
        .enumerate()
        .map(|(order, (index, _))| (local(&format!("made_{order}")), place(codelet, index)))
        .collect();
    let calls = outputs.iter().map(|(name, place)| quote!(made(#place, &#name);));
    let names: Vec<_> = outputs.iter().map(|(name, _)| name).collect();
    let pattern = if names.len() == 1 { quote!(#(#names)*) } else { quote!((#(#names),*)) };
    Some(quote! {
        fn init(
            arena: &#root::Arena,
            arrays: &#types,
            arguments: #arguments,
            made: &mut dyn ::core::ops::FnMut(usize, &dyn #root::AnyArray),
        ) -> ::core::option::Option<#root::Result<()>> {
            ::core::option::Option::Some(#wrapper #turbofish(arena, #passed).map(|#pattern| { #(#calls)* }))
        }
    })
}

/// The values of the options `reference` and `error`.
fn numerics(codelet: &Codelet) -> TokenStream {
    let root = &codelet.root;
    let generic = codelet.parameters.iter().map(|parameter| codelet.is_type_parameter(&parameter.element));
    let is_map = codelet.form == Form::Map;
    let reference = codelet.options.reference.as_ref().map(|path| {
        let kernel = kernel(codelet, "reference", path);
        quote!(.reference(#kernel))
    });
    let error = codelet.options.error.as_ref().map(|class| {
        let class = error_class(codelet, class);
        quote!(.error(#root::__private::ErrorClass::#class))
    });
    quote!(#root::__private::Numerics::new(&[#(#generic),*], #is_map) #reference #error)
}

fn error_class(codelet: &Codelet, class: &ErrorClass) -> TokenStream {
    match class {
        ErrorClass::Rounded => quote!(Rounded),
        ErrorClass::Ulp(units) => quote!(Ulp(#units)),
        ErrorClass::Sum { n, terms } => {
            let counting = descriptor::counting(codelet, n);
            let magnitude = match terms {
                Some(path) => {
                    let kernel = kernel(codelet, "magnitude", path);
                    quote!(::core::option::Option::Some(#kernel))
                }
                None => quote!(::core::option::Option::None),
            };
            quote!(Sum { terms: #counting, magnitude: #magnitude })
        }
    }
}

/// A kernel in `f64` that calls the user's function.
fn kernel(codelet: &Codelet, name: &str, path: &Path) -> TokenStream {
    let root = &codelet.root;
    let entry = match codelet.form {
        Form::Map => entry::entry_of_scalars(codelet, path),
        Form::Kernel => entry::entry_of_user(codelet, path, Variant::Given, Numbers::F64),
    };
    quote!(#root::__private::Kernel::new(#name, #entry))
}

/// `declaration`, which replaces a missing reference, and computes the derivatives of a map, if the type parameters can be any real number.
fn declaration(codelet: &Codelet) -> Option<TokenStream> {
    if codelet.options.reference.is_some() && codelet.form == Form::Kernel {
        return None; // nobody would call what is slow to compile
    }
    let root = &codelet.root;
    let mut parameters = codelet.generics.type_params().peekable();
    parameters.peek()?;
    let are_numbers = parameters
        .all(|parameter| !parameter.bounds.is_empty() && parameter.bounds.iter().all(compute::is_of_numbers));
    // A struct with a type parameter cannot be instantiated with numbers.
    let is_opaque = |ty: &Type| codelet.is_generic(ty) && !codelet.is_type_parameter(ty);
    let opaque = codelet.parameters.iter().any(|parameter| is_opaque(&parameter.element))
        || codelet.arguments.iter().any(|argument| is_opaque(&argument.ty));
    if !are_numbers || opaque || codelet.generics.where_clause.is_some() {
        return None;
    }
    let number = tokens::fresh("P", &codelet.tokens);
    let entry = entry::entry_of_declaration(codelet, &number);
    Some(quote! {
        fn declaration<#number: #root::Real>() -> ::core::option::Option<#root::__private::Kernel> {
            ::core::option::Option::Some(#root::__private::Kernel::new("declaration", #entry))
        }
    })
}

impl Codelet {
    /// `::<P>`: the user's generics as arguments of a path, with `number` for each type parameter.
    pub(super) fn turbofish_with(&self, number: &Ident) -> TokenStream {
        let names = self.generics.params.iter().map(|parameter| match parameter {
            GenericParam::Const(parameter) => parameter.ident.to_token_stream(),
            GenericParam::Type(_) | GenericParam::Lifetime(_) => number.to_token_stream(),
        });
        quote!(::<#(#names),*>)
    }
}

/// Whether the types of the arrays and arguments determine every generic, as an implementation requires.
fn is_determined(codelet: &Codelet) -> bool {
    let arrays = codelet.given(Variant::Given).map(|(_, parameter)| &parameter.element);
    let types: Vec<_> = arrays.chain(codelet.arguments.iter().map(|argument| &argument.ty)).collect();
    let has_rank = codelet.given(Variant::Given).any(|(_, parameter)| parameter.rank == Rank::Shared);
    let is_given = |name: &Ident| types.iter().any(|ty| determines(ty, name));
    (has_rank || !codelet.has_shared_rank())
        && codelet.generics.params.iter().all(|parameter| match parameter {
            GenericParam::Type(parameter) => is_given(&parameter.ident),
            GenericParam::Const(parameter) => is_given(&parameter.ident),
            GenericParam::Lifetime(_) => true,
        })
}

/// Whether the generic `name` follows from the type: `T` from `[T; 4]`, but not from `T::Compute`.
fn determines(ty: &Type, name: &Ident) -> bool {
    let is_name = |value: &Expr| matches!(value, Expr::Path(path) if path.path.is_ident(name));
    match ty {
        Type::Path(path) if path.qself.is_none() => {
            let segments = &path.path.segments;
            path.path.is_ident(name)
                || segments.first().is_some_and(|first| first.ident != *name)
                    && segments.iter().any(|segment| match &segment.arguments {
                        PathArguments::AngleBracketed(arguments) => {
                            arguments.args.iter().any(|argument| match argument {
                                GenericArgument::Type(ty) => determines(ty, name),
                                GenericArgument::Const(value) => is_name(value),
                                _ => false,
                            })
                        }
                        _ => false,
                    })
        }
        Type::Array(array) => determines(&array.elem, name) || is_name(&array.len),
        Type::Group(group) => determines(&group.elem, name),
        Type::Paren(paren) => determines(&paren.elem, name),
        Type::Tuple(tuple) => tuple.elems.iter().any(|ty| determines(ty, name)),
        _ => false,
    }
}
