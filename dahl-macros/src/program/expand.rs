//! The struct of a program, and its methods.

use proc_macro2::{Literal, TokenStream};
use quote::{quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::visit_mut::VisitMut;
use syn::{GenericParam, Index, Lifetime, Type};

use super::model::{Parameter, Program};
use crate::expand::local;

pub(super) fn expand(program: &Program) -> TokenStream {
    let Program { root, function, type_name, .. } = program;
    let (visibility, name) = (&function.vis, &function.sig.ident);
    let (declared, arguments) = generics(program);
    let bounds = &function.sig.generics.where_clause;
    let shown = name.unraw().to_string();
    let names = program.parameters.iter().map(|parameter| match &parameter.name {
        Some(name) => name.unraw().to_string(),
        None => String::new(),
    });
    let hash = hash(program);
    let docs = format!(
        " The program [`{shown}`]: recorded when it is called with new shapes, and replayed afterwards."
    );
    let draws = !program.is_under_recording();
    let call = call(program);
    let phantom = program.type_parameters().into_iter().filter_map(|parameter| match parameter {
        GenericParam::Type(parameter) => Some(&parameter.ident),
        GenericParam::Lifetime(_) | GenericParam::Const(_) => None,
    });
    quote! {
        #function

        #[doc = #docs]
        #[derive(::core::fmt::Debug)]
        #visibility struct #type_name #declared #bounds {
            program: #root::program::Program,
            types: ::core::marker::PhantomData<fn() -> (#(#phantom,)*)>,
        }

        impl #declared #type_name #arguments #bounds {
            /// A program on a runtime, which has not been called.
            #visibility fn new(runtime: &#root::Runtime) -> Self {
                static BODY: #root::program::Body = #root::program::Body {
                    codelet: #root::Codelet::new(#shown, ::core::module_path!(), #hash),
                    parameters: &[#(#names),*],
                    draws: #draws,
                };
                Self { program: #root::program::Program::new(runtime, &BODY), types: ::core::marker::PhantomData }
            }

            /// Sets the passes that its graphs go through; the default is all of them.
            #visibility fn passes(mut self, passes: #root::program::Passes) -> Self {
                self.program.set_passes(passes);
                self
            }

            /// Gives the tasks an order in which little memory is in use at one time, which then holds for every run: less
            /// memory, and fewer tasks side by side.
            #visibility fn tight(mut self) -> Self {
                self.program.set_tight(true);
                self
            }

            /// Limits the bytes of the arrays that it makes. It is tight, tasks run again for later readers where that saves
            /// memory, and a call that would record more is an error, which says how much is needed.
            #visibility fn within(mut self, bytes: usize) -> Self {
                self.program.set_most_bytes(bytes);
                self
            }

            /// Lets it record only what a file has that its graph was saved in, or another file that was loaded. A call that
            /// would record something else is an error, which names what differs.
            ///
            /// # Errors
            /// If the file cannot be read, is no saved program, or has changed since it was saved.
            #[track_caller]
            #visibility fn load(mut self, path: impl ::core::convert::AsRef<::std::path::Path>) -> #root::Result<Self> {
                self.program.load(path)?;
                ::core::result::Result::Ok(self)
            }

            /// Sets for how many shapes recordings are kept; the default is 16.
            #visibility fn keeps(mut self, shapes: usize) -> Self {
                self.program.set_kept(shapes);
                self
            }

            #call
        }

        impl #declared ::core::ops::Deref for #type_name #arguments #bounds {
            type Target = #root::program::Program;

            fn deref(&self) -> &Self::Target {
                &self.program
            }
        }
    }
}

/// `<T: Real, const N: usize>` and `<T, N>`.
fn generics(program: &Program) -> (TokenStream, TokenStream) {
    let parameters = program.type_parameters();
    if parameters.is_empty() {
        return (TokenStream::new(), TokenStream::new());
    }
    let names = parameters.iter().map(|parameter| match parameter {
        GenericParam::Type(parameter) => &parameter.ident,
        GenericParam::Const(parameter) => &parameter.ident,
        GenericParam::Lifetime(_) => unreachable!("lifetimes are left out"),
    });
    (quote!(<#(#parameters),*>), quote!(<#(#names),*>))
}

fn call(program: &Program) -> TokenStream {
    let Program { root, function, .. } = program;
    let (visibility, name) = (&function.vis, &function.sig.ident);
    let (_, arguments) = generics(program);
    let turbofish = (!arguments.is_empty()).then(|| quote!(::#arguments));
    let parameters = program.parameters.iter().map(|parameter| {
        let (name, ty) = (&parameter.name, elided(&parameter.ty));
        quote!(#name: #ty)
    });
    let names: Vec<_> = program.parameters.iter().map(|parameter| &parameter.name).collect();
    // At the parameter's type: an error that it is no argument names it.
    let given = program.parameters.iter().map(|parameter| {
        let (name, span) = (&parameter.name, parameter.ty.span());
        let value = if parameter.is_value() { quote!(#root::program::Value(#name)) } else { quote!(#name) };
        quote_spanned!(span=> #root::program::argument(#value))
    });
    // The names of the wrapper are spanned so that no name of the user's can meet them.
    let [scope, outputs, returned] = ["scope", "outputs", "returned"].map(local);
    let [all, location] = ["arguments", "location"].map(local);
    let passed = program.parameters.iter().map(|parameter| {
        let name = &parameter.name;
        let span = parameter.ty.span();
        match parameter {
            parameter if parameter.is_reference() => quote_spanned!(span=> #name),
            parameter if parameter.is_value() => quote_spanned!(span=> #name.0),
            Parameter { ty: Type::Tuple(tuple), .. } => {
                let elements = tuple.elems.iter().enumerate().map(|(index, element)| {
                    let index = Index::from(index);
                    match element {
                        Type::Reference(reference) if reference.mutability.is_some() => {
                            quote_spanned!(span=> &mut *#name.#index)
                        }
                        _ => quote_spanned!(span=> #name.#index),
                    }
                });
                quote_spanned!(span=> (#(#elements,)*))
            }
            _ => quote_spanned!(span=> *#name),
        }
    });
    let result = kept(program.returned.as_ref().expect("checked"));
    let scope_type = program.scope.as_ref().expect("checked");
    let (before, scope_value) = if program.is_under_recording() {
        (TokenStream::new(), quote!(#scope))
    } else {
        let ty = elided(scope_type);
        let step = local("step");
        let within =
            quote_spanned!(scope_type.span()=> <#ty as #root::program::ProgramScope>::within(#scope));
        (quote!(let #step = #within;), quote!(&#step))
    };
    quote! {
        /// Calls the program. The first call with these shapes records it; later ones replay what was recorded. It returns
        /// immediately.
        ///
        /// # Errors
        /// Those of the function, when it is recorded; and if one array is passed twice, or one of another runtime.
        #[track_caller]
        #[allow(clippy::too_many_arguments, reason = "they are the function's")]
        #visibility fn call(&mut self, #(#parameters),*) -> #root::Result<<#result as #root::program::Returned>::Kept> {
            let #location = ::core::panic::Location::caller();
            let mut #all = (#(#given,)*);
            self.program.call::<_, #result>(&mut #all, #location, |(#(#names,)*), #scope, #outputs| {
                #before
                let #returned = #name #turbofish(#scope_value, #(#passed),*)?;
                #root::program::Returned::note(&#returned, #outputs);
                ::core::result::Result::Ok(())
            })
        }
    }
}

/// A type whose lifetimes are elided.
fn elided(ty: &Type) -> Type {
    struct Elide;
    impl VisitMut for Elide {
        fn visit_lifetime_mut(&mut self, lifetime: &mut Lifetime) {
            if lifetime.ident != "static" {
                *lifetime = Lifetime::new("'_", lifetime.span());
            }
        }
    }
    let mut ty = ty.clone();
    Elide.visit_type_mut(&mut ty);
    ty
}

/// A type whose lifetimes are `'static`: what a call returns is on its own.
fn kept(ty: &Type) -> Type {
    struct Keep;
    impl VisitMut for Keep {
        fn visit_lifetime_mut(&mut self, lifetime: &mut Lifetime) {
            *lifetime = Lifetime::new("'static", lifetime.span());
        }
    }
    let mut ty = ty.clone();
    Keep.visit_type_mut(&mut ty);
    ty
}

/// A hash of the declaration.
fn hash(program: &Program) -> Literal {
    let hash = crate::tokens::hash(&quote::ToTokens::to_token_stream(&program.function));
    Literal::u64_suffixed(hash)
}
