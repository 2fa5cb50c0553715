//! `#[derive(Argument)]`: a plain struct as an argument of tasks.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Data, DataStruct, DeriveInput, Fields, Index, Path, parse_quote};

use crate::errors::Errors;

/// The implementation for the struct in `item`.
pub(crate) fn derive(item: TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let input: DeriveInput = match syn::parse2(item) {
        Ok(input) => input,
        Err(error) => return error.into_compile_error(),
    };
    let root = root(&input, &mut errors);
    let Data::Struct(DataStruct { fields, .. }) = &input.data else {
        let name = &input.ident;
        errors.at(
            name,
            format!(
                "`{name}` is not a struct; an argument is plain data: a `#[repr(C)]` struct of arguments"
            ),
        );
        return errors.into_compile_errors();
    };
    if !is_repr_c(&input) {
        let name = &input.ident;
        errors
            .at(name, format!("`{name}` has no fixed layout, which kernels in C rely on; add `#[repr(C)]`"));
    }
    let implementation = implementation(&input, fields, &root);
    [implementation, errors.into_compile_errors()].into_iter().collect()
}

fn implementation(input: &DeriveInput, fields: &Fields, root: &Path) -> TokenStream {
    let name = &input.ident;
    let mut generics = input.generics.clone();
    if generics.type_params().next().is_some() {
        // Of a struct without parameters, a field that is no argument is reported at the field below.
        let bounds = generics.make_where_clause();
        for field in fields {
            let ty = &field.ty;
            bounds.predicates.push(parse_quote!(#ty: #root::Argument));
        }
        bounds.predicates.push(parse_quote!(Self: ::core::marker::Copy + ::core::fmt::Debug + ::core::marker::Send + ::core::marker::Sync + 'static));
    }
    let (impl_generics, type_generics, bounds) = generics.split_for_impl();
    let members: Vec<_> = fields
        .iter()
        .enumerate()
        .map(|(index, field)| {
            field
                .ident
                .as_ref()
                .map_or_else(|| Index::from(index).into_token_stream(), ToTokens::to_token_stream)
        })
        .collect();
    let encoded = fields.iter().zip(&members).map(|(field, member)| {
        let ty = &field.ty;
        let bytes = bytes_of(ty, member, root);
        quote_spanned!(ty.span()=> <#ty as #root::Argument>::encode(self.#member, &mut bytes[#bytes]);)
    });
    let decoded = fields.iter().zip(&members).map(|(field, member)| {
        let ty = &field.ty;
        let bytes = bytes_of(ty, member, root);
        quote_spanned!(ty.span()=> #member: <#ty as #root::Argument>::decode(&bytes[#bytes]))
    });
    quote! {
        impl #impl_generics #root::Argument for #name #type_generics #bounds {
            fn encode(self, bytes: &mut [u8]) {
                // Padding is zero, so that equal values have equal bytes.
                bytes.fill(0);
                #(#encoded)*
            }

            fn decode(bytes: &[u8]) -> Self {
                Self { #(#decoded),* }
            }
        }
    }
}

/// The range of bytes where a field lies.
fn bytes_of(ty: &syn::Type, member: &TokenStream, root: &Path) -> TokenStream {
    quote_spanned! {ty.span()=>
        ::core::mem::offset_of!(Self, #member)..::core::mem::offset_of!(Self, #member) + <#ty as #root::Argument>::SIZE_BYTES
    }
}

fn is_repr_c(input: &DeriveInput) -> bool {
    input.attrs.iter().filter(|attribute| attribute.path().is_ident("repr")).any(|attribute| {
        let mut is_c = false;
        // A malformed `repr` is the compiler's to report.
        let _ = attribute.parse_nested_meta(|meta| {
            is_c |= meta.path.is_ident("C");
            if meta.input.peek(syn::token::Paren) {
                let _: proc_macro2::Group = meta.input.parse()?;
            }
            Ok(())
        });
        is_c
    })
}

/// The path of dahl: `::dahl`, or that of `#[argument(crate = PATH)]`.
fn root(input: &DeriveInput, errors: &mut Errors) -> Path {
    let mut root: Path = parse_quote!(::dahl);
    for attribute in input.attrs.iter().filter(|attribute| attribute.path().is_ident("argument")) {
        let parsed = attribute.parse_nested_meta(|meta| {
            if !meta.path.is_ident("crate") {
                return Err(meta.error("the only option of `#[argument(..)]` is `crate = PATH`"));
            }
            root = meta.value()?.call(Path::parse_mod_style)?;
            Ok(())
        });
        if let Err(error) = parsed {
            errors.push(error);
        }
    }
    root
}
