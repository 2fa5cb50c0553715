//! `#[derive(Argument)]`: a plain struct, or an enum without fields, as an argument of tasks.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Data, DataEnum, DataStruct, DeriveInput, Fields, Index, Path, parse_quote};

use crate::errors::Errors;

/// The integer types that can be the representation of an enum.
const INTEGERS: [&str; 10] = ["u8", "u16", "u32", "u64", "usize", "i8", "i16", "i32", "i64", "isize"];

/// The implementation of `Argument` for the struct or enum in `item`.
pub(crate) fn derive(item: TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let input: DeriveInput = match syn::parse2(item) {
        Ok(input) => input,
        Err(error) => return error.into_compile_error(),
    };
    let root = root(&input, &mut errors);
    let name = &input.ident;
    let implementation = match &input.data {
        Data::Struct(DataStruct { fields, .. }) => {
            if !is_repr(&input, "C") {
                errors.at(
                    name,
                    format!("`{name}` has no fixed layout, which kernels in C rely on; add `#[repr(C)]`"),
                );
            }
            implementation(&input, fields, &root)
        }
        Data::Enum(data) => of_enum(&input, data, &root, &mut errors),
        Data::Union(_) => {
            errors.at(
                name,
                format!("`{name}` is a union; an argument is a `#[repr(C)]` struct of arguments, or an enum without fields"),
            );
            TokenStream::new()
        }
    };
    [implementation, errors.into_compile_errors()].into_iter().collect()
}

/// An enum is encoded as the integer of its `repr`.
fn of_enum(input: &DeriveInput, data: &DataEnum, root: &Path, errors: &mut Errors) -> TokenStream {
    let name = &input.ident;
    let Some(integer) = INTEGERS.into_iter().find(|integer| is_repr(input, integer)) else {
        errors.at(
            name,
            format!("`{name}` is of no fixed size, which kernels in C rely on; add `#[repr(u8)]` or another integer"),
        );
        return TokenStream::new();
    };
    for variant in data.variants.iter().filter(|variant| !matches!(variant.fields, Fields::Unit)) {
        errors.at(
            &variant.ident,
            format!(
                "`{}` has fields; an enum that is an argument has none, write a struct of it and its fields",
                variant.ident
            ),
        );
    }
    if data.variants.is_empty() {
        errors.at(name, format!("`{name}` has no value"));
    }
    if !errors.is_empty() {
        return TokenStream::new();
    }
    let integer = proc_macro2::Ident::new(integer, proc_macro2::Span::call_site());
    let (impl_generics, type_generics, bounds) = input.generics.split_for_impl();
    let variants: Vec<_> = data.variants.iter().map(|variant| &variant.ident).collect();
    quote! {
        impl #impl_generics #root::Argument for #name #type_generics #bounds {
            const LAYOUT: #root::ArgumentLayout = <::core::primitive::#integer as #root::Argument>::LAYOUT;

            fn encode(self, bytes: &mut [u8]) {
                #root::Argument::encode(self as ::core::primitive::#integer, bytes);
            }

            fn decode(bytes: &[u8]) -> Self {
                let value = <::core::primitive::#integer as #root::Argument>::decode(bytes);
                #(
                    if value == Self::#variants as ::core::primitive::#integer {
                        return Self::#variants;
                    }
                )*
                ::core::panic!("{value} is no variant of {}", ::core::stringify!(#name))
            }
        }
    }
}

fn implementation(input: &DeriveInput, fields: &Fields, root: &Path) -> TokenStream {
    let name = &input.ident;
    let mut generics = input.generics.clone();
    if generics.type_params().next().is_some() {
        // For a struct without type parameters, a field that is not an argument is reported at the field below.
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
    let types: Vec<_> = fields.iter().map(|field| &field.ty).collect();
    let encoded = types.iter().zip(&members).map(|(ty, member)| {
        quote_spanned! {ty.span()=>
            let (field, bytes) = bytes.split_at_mut(<#ty as #root::Argument>::SIZE_BYTES);
            <#ty as #root::Argument>::encode(self.#member, field);
        }
    });
    let split = types.iter().enumerate().map(|(index, ty)| {
        let field = field_bytes(index);
        quote_spanned!(ty.span()=> let (#field, bytes) = bytes.split_at(<#ty as #root::Argument>::SIZE_BYTES);)
    });
    let decoded = types.iter().zip(&members).enumerate().map(|(index, (ty, member))| {
        let field = field_bytes(index);
        quote_spanned!(ty.span()=> #member: <#ty as #root::Argument>::decode(#field))
    });
    let layouts = types.iter().map(|ty| quote_spanned!(ty.span()=> <#ty as #root::Argument>::LAYOUT));
    let sizes = types.iter().map(|ty| quote_spanned!(ty.span()=> <#ty as #root::Argument>::SIZE_BYTES));
    quote! {
        impl #impl_generics #root::Argument for #name #type_generics #bounds {
            const SIZE_BYTES: usize = 0 #(+ #sizes)*;

            const LAYOUT: #root::ArgumentLayout = #root::ArgumentLayout::Fields(&[#(#layouts),*]);

            fn encode(self, bytes: &mut [u8]) {
                #(#encoded)*
                let _ = bytes;
            }

            fn decode(bytes: &[u8]) -> Self {
                #(#split)*
                let _ = bytes;
                Self { #(#decoded),* }
            }
        }
    }
}

/// The name of a field's bytes.
fn field_bytes(index: usize) -> proc_macro2::Ident {
    quote::format_ident!("field_{index}")
}

/// Whether `#[repr(..)]` has this word.
fn is_repr(input: &DeriveInput, word: &str) -> bool {
    input.attrs.iter().filter(|attribute| attribute.path().is_ident("repr")).any(|attribute| {
        let mut is_there = false;
        // A malformed `repr` is reported by the compiler.
        let _ = attribute.parse_nested_meta(|meta| {
            is_there |= meta.path.is_ident(word);
            if meta.input.peek(syn::token::Paren) {
                let _: proc_macro2::Group = meta.input.parse()?;
            }
            Ok(())
        });
        is_there
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
