//! The codelet as immutable data: its name, its modes, and the descriptor that the runtime gets.

use proc_macro2::{Ident, Literal, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{Expr, Path};

use super::cuda::{self, MapInCuda};
use super::entry::{self, Numbers};
use super::local;
use super::signature::Variant;
use crate::mode::{Access, Combination};
use crate::model::{Codelet, Form, Parameter, type_name};
use crate::parse::{Further, RowsOption, is_c_kernel, kernel_name};
use crate::tokens;

/// `NAME` and `MODES`.
pub(super) fn constants(codelet: &Codelet) -> TokenStream {
    let Codelet { root, visibility, .. } = codelet;
    let name = codelet.name.unraw().to_string();
    let modes = codelet.modes.iter().map(|mode| mode.access.expand(root));
    let count = Literal::usize_unsuffixed(codelet.modes.len());
    quote! {
        /// The name, for display.
        #visibility const NAME: &'static str = #name;
        /// The access modes of the data parameters, in order.
        #visibility const MODES: [#root::AccessMode; #count] = [#(#modes),*];
    }
}

/// `codelet()`: the descriptor for given element types.
pub(super) fn codelet(codelet: &Codelet, in_cuda: Option<&MapInCuda>) -> TokenStream {
    let Codelet { root, visibility, .. } = codelet;
    let generics = codelet.declared_generics(None, false);
    let bounds = &codelet.generics.where_clause;
    let hash = hash(codelet);
    let parameters = parameters(codelet);
    let arguments = codelet.arguments.iter().map(|argument| argument.name.unraw().to_string());
    let arguments = (!codelet.arguments.is_empty()).then(|| quote!(.arguments(&[#(#arguments),*])));
    let kernels = kernels(codelet);
    let cuda = cuda::kernel(codelet, in_cuda);
    let cuda_calls = cuda::calls(codelet);
    let in_place = in_place(codelet);
    let broadcasts = codelet.options.broadcast.is_some().then(|| quote!(.broadcasts()));
    let map = (codelet.form == Form::Map).then(|| quote!(.map()));
    let blocks = codelet.options.blocks.as_ref().map(|elements| quote!(.blocks(#elements)));
    let rows = codelet.options.rows.as_ref().map(|declared| rows(codelet, declared));
    let moves = codelet.options.moves.as_ref().map(|from| moves(codelet, from));
    let flops = codelet.options.flops.as_ref().map(|flops| count(codelet, "flops", flops));
    let bytes = codelet.options.bytes.as_ref().map(|bytes| count(codelet, "bytes", bytes));
    quote! {
        /// The descriptor that the runtime gets.
        #visibility fn codelet #generics() -> &'static #root::Codelet #bounds {
            const {
                &#root::Codelet::new(Self::NAME, ::core::module_path!(), #hash)
                    .parameters(const { &[#(#parameters),*] })
                    #arguments
                    .kernels(const { &[#(#kernels),*] })
                    #cuda
                    #cuda_calls
                    #in_place
                    #broadcasts
                    #map
                    #blocks
                    #rows
                    #moves
                    #flops
                    #bytes
            }
        }
    }
}

/// The hash of the declaration.
pub(super) fn hash(codelet: &Codelet) -> Literal {
    format!("{:#018x}", codelet.hash).parse().expect("a number in hexadecimal is a literal")
}

fn parameters(codelet: &Codelet) -> impl Iterator<Item = TokenStream> {
    let root = &codelet.root;
    codelet.parameters.iter().map(move |parameter| {
        let (name, element) = (parameter.name.unraw().to_string(), &parameter.element);
        let mode = parameter.access.expand(root);
        let accumulator = accumulator(root, parameter);
        quote!(#root::__private::Parameter::new(#name, #mode, #root::ElementType::of::<#element>()) #accumulator)
    })
}

/// The identity of a `REDUX` parameter's private buffers, and how they are combined.
fn accumulator(root: &Path, parameter: &Parameter) -> Option<TokenStream> {
    let Access::Reduce(reduction) = parameter.access else { return None };
    let stored = &parameter.element;
    let accumulator = match &parameter.combination {
        None => {
            let kind = local(if parameter.accumulates_in_compute { "compute" } else { "same" });
            let reduction = reduction.expand(root);
            quote!(#kind::<#stored>(#reduction))
        }
        Some(Combination { identity, combine }) => {
            let kind = local(if parameter.accumulates_in_compute { "compute_by" } else { "same_by" });
            let mut combine = combine.clone();
            let is_in_scope = combine.leading_colon.is_none() && combine.segments.len() == 1;
            if let Some(last) = combine.segments.last_mut() {
                last.ident = if is_in_scope { type_name(&last.ident) } else { super::alias_of(&last.ident) };
            }
            let (text, views) = (tokens::text(&identity.to_token_stream()), local("views"));
            let element = parameter.kernel_element();
            let fill =
                quote_spanned!(identity.span()=> |#views| #views.slice_mut::<#element>().fill(#identity));
            quote!(#kind::<#stored, #combine>(#text, #fill))
        }
    };
    Some(quote!(.accumulates_in(#root::__private::Accumulator::#accumulator)))
}

/// The implementation of `Combines`, if the codelet can combine partial results of reductions.
pub(super) fn combines(codelet: &Codelet) -> Option<TokenStream> {
    let element = codelet.combines()?;
    let Codelet { root, type_name, .. } = codelet;
    let generics = codelet.declared_generics(None, false);
    let bounds = &codelet.generics.where_clause;
    let turbofish = codelet.turbofish(false);
    // A crate's codelets are not listed in the errors of another crate.
    Some(quote! {
        #[diagnostic::do_not_recommend]
        impl #generics #root::__private::Combines<#element> for #type_name #bounds {
            fn codelet() -> &'static #root::Codelet {
                Self::codelet #turbofish()
            }
        }
    })
}

/// The kernels: first the function's own body, then those of `cpu = [..]`.
fn kernels(codelet: &Codelet) -> Vec<TokenStream> {
    let root = &codelet.root;
    let type_name = &codelet.type_name;
    let turbofish = codelet.turbofish(false);
    let own = entry::entry(codelet, &quote!(#type_name::cpu #turbofish), Variant::Given);
    let parallel = parallel(codelet);
    let own = quote!(::core::option::Option::Some(#root::__private::Kernel::new("rust", #own) #parallel));
    let further = codelet.options.cpu.iter().map(|kernel| further_kernel(codelet, kernel));
    std::iter::once(own).chain(further).collect()
}

/// What the option `parallel` adds to the declaration's own kernel: a flag that its body is parallel, or a parallel
/// entry. The runtime divides the calls of a map.
fn parallel(codelet: &Codelet) -> Option<TokenStream> {
    codelet.options.parallel.as_ref()?;
    match (codelet.form, &codelet.options.parallel_kernel) {
        (Form::Map, _) => None,
        (Form::Kernel, None) => Some(quote!(.parallel())),
        (Form::Kernel, Some(path)) => {
            let entry = entry::entry_of_user(codelet, path, Variant::Given, Numbers::Declared);
            Some(quote!(.parallel_entry(#entry)))
        }
    }
}

fn further_kernel(codelet: &Codelet, kernel: &Further) -> TokenStream {
    let root = &codelet.root;
    let Further { path, .. } = kernel;
    let name = kernel_name(path);
    if is_c_kernel(path) {
        let element = codelet.parameters.first().map(|parameter| &parameter.element);
        let c_kernel = quote_spanned!(path.span()=> #path.kernel::<#element>());
        return match kernel.word("equal") {
            Some(_) => quote!(#root::__private::Kernel::equal_if_any(#c_kernel)),
            None => c_kernel,
        };
    }
    let entry = entry::entry_of_user(codelet, path, Variant::Given, Numbers::Declared);
    let parallel = kernel.word("parallel").map(|_| quote!(.parallel()));
    let equal = kernel.word("equal").map(|_| quote!(.equal()));
    quote!(::core::option::Option::Some(#root::__private::Kernel::new(#name, #entry) #parallel #equal))
}

/// For each kernel in C, the constant whose evaluation fails if its parameters are not those of the declaration.
pub(super) fn c_kernel_checks(codelet: &Codelet) -> Vec<TokenStream> {
    let type_name = &codelet.type_name;
    let codelet_name = type_name.unraw().to_string();
    let elements = codelet.parameters.iter().map(|parameter| parameter.element.to_token_stream().to_string());
    let elements: Vec<_> = elements.collect();
    let arguments: Vec<_> = codelet.declared_arguments().collect();
    let paths = codelet.options.cpu.iter().map(|kernel| &kernel.path);
    let checks = paths.filter(|path| is_c_kernel(path)).map(|path| {
        quote_spanned! {path.span()=>
            const _: () = #path.check(#codelet_name, &#type_name::MODES, &[#(#elements),*], &[#(#arguments),*]);
        }
    });
    checks.collect()
}

fn in_place(codelet: &Codelet) -> Option<TokenStream> {
    let (root, type_name) = (&codelet.root, &codelet.type_name);
    let target = codelet.in_place.as_ref()?.target;
    let target = Literal::usize_unsuffixed(target);
    let (name, entry) = match (&codelet.options.in_place_kernel, codelet.form) {
        (Some(path), _) => {
            let entry = entry::entry_of_user(codelet, path, Variant::InPlace, Numbers::Declared);
            (kernel_name(path), entry)
        }
        (None, Form::Map) => {
            let turbofish = codelet.turbofish(false);
            let cpu_self = quote!(#type_name::cpu_self #turbofish);
            ("rust".to_owned(), entry::entry(codelet, &cpu_self, Variant::InPlace))
        }
        (None, Form::Kernel) => return Some(quote!(.in_place(#root::__private::InPlace::rename(#target)))),
    };
    Some(
        quote!(.in_place(#root::__private::InPlace::kernel(#target, #root::__private::Kernel::new(#name, #entry)))),
    )
}

/// `.rows(..)`.
fn rows(codelet: &Codelet, declared: &RowsOption) -> TokenStream {
    let (root, axes) = (&codelet.root, counting(codelet, &declared.axes));
    let number = |name: &Ident| codelet.parameters.iter().position(|parameter| parameter.name == *name);
    let whole = declared.whole.iter().filter_map(number).map(Literal::usize_unsuffixed);
    let least = declared.least.as_ref().map_or_else(|| quote!(1), ToTokens::to_token_stream);
    quote!(.rows(#root::__private::Rows::new(#axes, &[#(#whole),*], #least)))
}

/// `.flops(..)` or `.bytes(..)`.
fn count(codelet: &Codelet, method: &str, expression: &Expr) -> TokenStream {
    let (method, counting) = (local(method), counting(codelet, expression));
    quote!(.#method(#counting))
}

/// `.moves(..)`.
fn moves(codelet: &Codelet, from: &Expr) -> TokenStream {
    let root = &codelet.root;
    let closure = of_shapes(codelet, from, |from| quote!(#root::__private::Moved::new(#from)));
    quote!(.moves(#closure))
}

/// The closure that computes a number: the names of the data parameters are bound to their extents.
pub(super) fn counting(codelet: &Codelet, expression: &Expr) -> TokenStream {
    of_shapes(codelet, expression, |count| quote!(#count as f64))
}

/// The closure that computes a value of shapes and arguments, which `finish` converts.
fn of_shapes(
    codelet: &Codelet,
    expression: &Expr,
    finish: impl FnOnce(&Ident) -> TokenStream,
) -> TokenStream {
    let (operands, count) = (local("operands"), local("count"));
    let text = expression.to_token_stream();
    let bind = |name: &Ident, value: TokenStream| {
        if tokens::mention(&text, name) { quote!(let #name = #value;) } else { quote!(let _ = #value;) }
    };
    let extents =
        codelet.parameters.iter().map(|parameter| bind(&parameter.name, quote!(#operands.extents())));
    let arguments = codelet.arguments.iter().map(|argument| {
        let ty = &argument.ty;
        bind(&argument.name, quote!(#operands.argument::<#ty>()))
    });
    let value = quote_spanned!(expression.span()=> let #count = #expression;);
    let finish = finish(&count);
    quote! {
        |#operands| {
            #(#extents)*
            #(#arguments)*
            #value
            #finish
        }
    }
}
