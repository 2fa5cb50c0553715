//! CUDA kernels: the one that the option `cuda` names, the one generated from a map's body, and those that call
//! libraries.

use std::path::Path;

use dahl_cuda::map::{Element, Map, Refusal};
use proc_macro2::{Literal, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;

use super::local;
use super::signature::Variant;
use crate::model::{Codelet, Form, Kind};
use crate::parse::{Further, kernel_name};
use crate::view::Layout;

/// The result of translating a map's body.
pub(super) type MapInCuda = Result<Map, Refusal>;

/// The body of a map in CUDA; none for a kernel with views, and with `cpu_only`.
pub(super) fn map(codelet: &Codelet) -> Option<MapInCuda> {
    let is_wanted = codelet.form == Form::Map && codelet.options.cpu_only.is_none();
    is_wanted.then(|| Map::translate(&codelet.function, codelet.parameters.len() - 1))
}

/// `.cuda(..)`: the kernel for the declaration's types.
pub(super) fn kernel(codelet: &Codelet, map: Option<&MapInCuda>) -> Option<TokenStream> {
    let root = &codelet.root;
    let types = codelet.generics.type_params().map(|parameter| &parameter.ident);
    let types = quote!(const { &[#(#root::ElementType::of::<#types>()),*] });
    match map {
        Some(Ok(_)) => Some(quote!(.cuda(Self::CUDA.instance(#types)))),
        Some(Err(refusal)) => {
            let reason = &refusal.message;
            Some(quote!(.no_cuda(#reason)))
        }
        None => {
            let path = codelet.options.cuda.as_ref()?;
            let kernel = quote_spanned!(path.span()=> #path.instance(#types));
            Some(quote!(.cuda(#kernel)))
        }
    }
}

/// `.cuda_calls(..)`: the kernels that call libraries.
pub(super) fn calls(codelet: &Codelet) -> Option<TokenStream> {
    let calls = codelet.options.cuda_call.iter().map(|call| self::call(codelet, call));
    (!codelet.options.cuda_call.is_empty()).then(|| quote!(.cuda_calls(const { &[#(#calls),*] })))
}

fn call(codelet: &Codelet, call: &Further) -> TokenStream {
    let (root, path) = (&codelet.root, &call.path);
    let (name, kernel, views) = (kernel_name(path), local("kernel"), local("views"));
    let private = quote!(#root::__private);
    let arrays: Vec<_> = codelet
        .parameters
        .iter()
        .enumerate()
        .map(|(index, parameter)| {
            let rank = match &parameter.kind {
                Kind::View(view) => view.layout,
                Kind::Scalar | Kind::Unknown => Layout::AnyAxes,
            };
            let rank = Literal::usize_unsuffixed(if let Layout::Axes(axes) = rank { axes } else { 0 });
            (codelet.is_mutable(index, Variant::Given), parameter.kernel_element(), rank)
        })
        .collect();
    let types = arrays.iter().map(|(is_mutable, element, rank)| {
        let array = local(if *is_mutable { "CudaArrayMut" } else { "CudaArray" });
        quote!(#private::#array<'_, #element, #rank>)
    });
    let taken = arrays.iter().map(|(is_mutable, element, rank)| {
        let method = local(if *is_mutable { "array_mut" } else { "array" });
        quote!(#views.#method::<#element, #rank>())
    });
    let names: Vec<_> = (0..arrays.len()).map(|index| local(&format!("array_{index}"))).collect();
    let argument_types: Vec<_> = codelet.arguments.iter().map(|argument| &argument.ty).collect();
    let argument_names: Vec<_> = codelet.arguments.iter().map(|argument| &argument.name).collect();
    let library = if call.word("cublas").is_some() {
        quote!(::core::option::Option::Some(#private::CudaLibrary::Cublas))
    } else if call.word("cudnn").is_some() {
        quote!(::core::option::Option::Some(#private::CudaLibrary::Cudnn))
    } else {
        quote!(::core::option::Option::None)
    };
    let equal = call.word("equal").map(|_| quote!(.equal()));
    let last = call.word("last").map(|_| quote!(.last()));
    let coerced = quote_spanned! {path.span()=>
        #[allow(clippy::type_complexity)]
        let #kernel: fn(&mut #private::CudaCall<'_>, #(#types,)* #(#argument_types),*)
            -> ::core::result::Result<(), #private::CudaCallError> = #path;
    };
    quote! {
        #private::Kernel::call(#name, #library, |#views| {
            #coerced
            #(let #names = #taken;)*
            #(let #argument_names = #views.argument::<#argument_types>();)*
            #kernel(#views, #(#names,)* #(#argument_names),*)
        }) #equal #last
    }
}

/// `CUDA`: the kernel of a map, described like a handwritten kernel of `dahl-build`.
pub(super) fn constant(codelet: &Codelet, map: Option<&MapInCuda>) -> Option<TokenStream> {
    let Some(Ok(map)) = map else { return None };
    let root = &codelet.root;
    let private = quote!(#root::__private);
    let last = map.elements.len() - 1;
    let is_of_one_type = map.elements.iter().all(|of| matches!(of, Element::Parameter(0)));
    let views = if is_of_one_type {
        let arrays = Literal::usize_unsuffixed(map.elements.len());
        quote!(&#private::views_of_map::<#arrays>())
    } else {
        let views = map.elements.iter().enumerate().map(|(index, of)| {
            let (is_const, element) = (index != last, element(root, of));
            quote!(#private::CudaView { is_const: #is_const, element: #element, rank: ::core::option::Option::None })
        });
        quote!(&[#(#views),*])
    };
    let (arguments, types) = (arguments(root, map), types(root, map));
    let (name, function, text) = (codelet.name.unraw().to_string(), &map.function, &map.element);
    let image = image(codelet, map);
    let last = Literal::usize_unsuffixed(last);
    Some(quote! {
        /// The kernel in CUDA, written from the body.
        const CUDA: &'static #private::CudaKernel = &#private::CudaKernel::new(
            #name,
            ::core::concat!(::core::file!(), ":", ::core::line!()),
            &#image,
        )
        .types(#types)
        .takes(#views, #arguments)
        .passes(&[#private::pass_of_map::<#last>(#function)])
        .element(#text);
    })
}

/// The same for a derived map of arrays of one type: what its codelet gets.
pub(super) fn pointwise(codelet: &Codelet) -> TokenStream {
    let map = match map(codelet) {
        Some(Ok(map)) => map,
        Some(Err(Refusal { message, .. })) => return quote!(::core::result::Result::Err(#message)),
        None => unreachable!("a derived map is not `cpu_only`"),
    };
    let root = &codelet.root;
    let (arguments, types) = (arguments(root, &map), types(root, &map));
    let (image, function, text) = (image(codelet, &map), &map.function, &map.element);
    let element = element(root, map.elements.last().expect("a map has an output"));
    quote! {
        ::core::result::Result::Ok(#root::__private::PointwiseCuda {
            place: ::core::concat!(::core::file!(), ":", ::core::line!()),
            image: &#image,
            text: #text,
            function: #function,
            types: #types,
            element: #element,
            arguments: #arguments,
        })
    }
}

fn element(root: &syn::Path, element: &Element) -> TokenStream {
    match element {
        Element::Parameter(index) => {
            let index = Literal::usize_unsuffixed(*index);
            quote!(#root::__private::CudaElement::Parameter(#index))
        }
        Element::Fixed(stored) => {
            let name = stored.rust();
            quote!(#root::__private::CudaElement::Fixed(#name))
        }
    }
}

/// The plain arguments of a map's kernel.
fn arguments(root: &syn::Path, map: &Map) -> TokenStream {
    let arguments = map.arguments.iter().map(|of| {
        let element = element(root, of);
        quote!(#root::__private::CudaArgument { element: #element, len: #root::__private::CudaLen::One })
    });
    quote!(&[#(#arguments),*])
}

/// The type parameters of a map's kernel.
fn types(root: &syn::Path, map: &Map) -> TokenStream {
    let types = map.types.iter().map(|(name, types)| {
        let types = types.iter().map(|stored| stored.rust());
        quote!(#root::__private::CudaTypeParameter { name: #name, types: &[#(#types),*] })
    });
    quote!(&[#(#types),*])
}

/// The image that `dahl-build` compiled from exactly this text, or the text.
fn image(codelet: &Codelet, map: &Map) -> TokenStream {
    let (root, source) = (&codelet.root, &map.source);
    if let Ok(folder) = std::env::var("OUT_DIR") {
        let file = format!("/maps/{}.fatbin", Map::file_stem(source));
        if Path::new(&(folder + &file)).is_file() {
            return quote! {
                #root::__private::CudaImage::Fatbin(::core::include_bytes!(::core::concat!(::core::env!("OUT_DIR"), #file)))
            };
        }
    }
    quote!(#root::__private::CudaImage::Source(#source))
}

/// The constant whose evaluation fails if the parameters of the kernel in CUDA are not those of the declaration.
pub(super) fn check(codelet: &Codelet) -> Option<TokenStream> {
    let Codelet { root, type_name, .. } = codelet;
    let path = codelet.options.cuda.as_ref()?;
    let codelet_name = type_name.unraw().to_string();
    let text = |ty: &dyn ToTokens| ty.to_token_stream().to_string();
    let elements = codelet.parameters.iter().map(|parameter| text(parameter.kernel_element()));
    let ranks = codelet.parameters.iter().map(|parameter| match &parameter.kind {
        Kind::View(view) => match view.layout {
            Layout::Axes(axes) => {
                let axes = Literal::usize_unsuffixed(axes);
                quote!(::core::option::Option::Some(#axes))
            }
            Layout::Slice | Layout::AnyAxes => quote!(::core::option::Option::None),
        },
        Kind::Scalar | Kind::Unknown => quote!(::core::option::Option::None),
    });
    let arguments = codelet.declared_arguments();
    let types = codelet.generics.type_params().map(|parameter| text(&parameter.ident));
    Some(quote_spanned! {path.span()=>
        const _: () = #path.check(#codelet_name, #root::__private::CudaDeclared {
            modes: &#type_name::MODES,
            elements: &[#(#elements),*],
            ranks: &[#(#ranks),*],
            arguments: &[#(#arguments),*],
            types: &[#(#types),*],
        });
    })
}
