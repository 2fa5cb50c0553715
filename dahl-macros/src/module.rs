//! `#[derive(Module)]`: the parameters, buffers and modules in the fields of a struct or an enum.

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{
    Attribute, Data, DeriveInput, Field, Fields, GenericParam, Ident, Index, LitStr, Path, Type,
    TypeParamBound,
};

use crate::errors::Errors;

/// The implementation of `Module` for the struct or enum in `item`.
pub(crate) fn derive(item: TokenStream) -> TokenStream {
    let input: DeriveInput = match syn::parse2(item) {
        Ok(input) => input,
        Err(error) => return error.into_compile_error(),
    };
    let mut errors = Errors::default();
    let implementation = implementation(&input, &mut errors);
    // Without the implementation, each call of a method of `Module` would be one more error.
    [implementation, errors.into_compile_errors()].into_iter().collect()
}

/// How a field takes part.
enum Part {
    /// With the name of the field, or another one.
    Named(String),
    /// What is inside has the names of this module.
    Flat,
    /// Not at all.
    Skipped,
}

fn implementation(input: &DeriveInput, errors: &mut Errors) -> TokenStream {
    let root = root(input, errors);
    let name = &input.ident;
    let element = element(input, errors);
    let (arms, arms_mut): (Vec<_>, Vec<_>) = match &input.data {
        Data::Struct(data) => vec![arm(quote! { #name }, &data.fields, &element, &root, errors)],
        Data::Enum(data) => data
            .variants
            .iter()
            .map(|variant| {
                let variant_name = &variant.ident;
                arm(quote! { #name::#variant_name }, &variant.fields, &element, &root, errors)
            })
            .collect(),
        Data::Union(_) => {
            errors.at(name, format!("`{name}` is a union; a module is a struct or an enum"));
            return TokenStream::new();
        }
    }
    .into_iter()
    .unzip();
    let mut generics = input.generics.clone();
    if element.is_new {
        let element = &element.name;
        generics.params.push(syn::parse_quote! { #element: #root::__private::Real });
        let types: Vec<&Type> = visited(&input.data).collect();
        let bounds = generics.make_where_clause();
        for kind in types {
            bounds.predicates.push(syn::parse_quote! { #kind: #root::Module<#element> });
        }
    }
    let (impl_generics, _, bounds) = generics.split_for_impl();
    let (_, type_generics, _) = input.generics.split_for_impl();
    let is_argument = !element.is_new;
    let (element, kind) = (&element.name, name.to_string());
    let argument = is_argument.then(|| argument(input, element, &root));
    quote! {
        #argument

        #[automatically_derived]
        impl #impl_generics #root::Module<#element> for #name #type_generics #bounds {
            fn visit<'__a>(&'__a self, __visit: &mut #root::module::Visit<'_, '__a, #element>) {
                __visit.module(#kind, ::core::format_args!(""));
                match self { #(#arms)* }
            }

            fn visit_mut(&mut self, __visit: &mut #root::module::VisitMut<'_, #element>) {
                match self { #(#arms_mut)* }
            }
        }
    }
}

/// The implementations that let a module be an argument of a program, behind `&` and `&mut`.
fn argument(input: &DeriveInput, element: &Ident, root: &Path) -> TokenStream {
    let name = &input.ident;
    let (impl_generics, type_generics, bounds) = input.generics.split_for_impl();
    let implement = |reference: TokenStream, bind: TokenStream| {
        quote! {
            #[automatically_derived]
            impl #impl_generics #root::__private::ProgramArgument for #reference #name #type_generics #bounds {
                fn bind<'__b>(&'__b mut self, __bindings: &mut #root::__private::Bindings<'__b>) {
                    #bind;
                }

                fn name(&self, __name: &str, __names: &mut ::std::vec::Vec<::std::string::String>) {
                    #root::__private::name::<#element, _>(&**self, __name, __names);
                }
            }
        }
    };
    let shared = implement(quote!(&), quote!(#root::__private::bind::<#element, _>(&**self, __bindings)));
    let exclusive =
        implement(quote!(&mut), quote!(#root::__private::bind_mut::<#element, _>(&mut **self, __bindings)));
    quote!(#shared #exclusive)
}

/// The element type of a module.
struct ElementType {
    name: Ident,
    /// Whether the module is one for every element type that its fields have.
    is_new: bool,
}

/// The type parameter with the bound `Real`.
fn element(input: &DeriveInput, errors: &mut Errors) -> ElementType {
    let is_real = |bound: &TypeParamBound| matches!(bound, TypeParamBound::Trait(bound) if bound.path.segments.last().is_some_and(|last| last.ident == "Real"));
    let in_clause = |name: &Ident| {
        input.generics.where_clause.iter().flat_map(|clause| &clause.predicates).any(|predicate| {
            matches!(predicate, syn::WherePredicate::Type(predicate)
                if matches!(&predicate.bounded_ty, Type::Path(path) if path.path.is_ident(name))
                    && predicate.bounds.iter().any(is_real))
        })
    };
    let mut reals = input.generics.params.iter().filter_map(|parameter| match parameter {
        GenericParam::Type(parameter)
            if parameter.bounds.iter().any(is_real) || in_clause(&parameter.ident) =>
        {
            Some(&parameter.ident)
        }
        _ => None,
    });
    let first = reals.next();
    if let Some(second) = reals.next() {
        let first = first.map(ToString::to_string).unwrap_or_default();
        errors.at(
            second,
            format!(
                "`{second}` is a second element type beside `{first}`; the parameters of a module have one"
            ),
        );
    }
    match first {
        Some(name) => ElementType { name: name.clone(), is_new: false },
        None => ElementType { name: Ident::new("__Element", Span::call_site()), is_new: true },
    }
}

/// The arms of `match self` for a struct or a variant, shared and mutable.
fn arm(
    path: TokenStream,
    fields: &Fields,
    element: &ElementType,
    root: &Path,
    errors: &mut Errors,
) -> (TokenStream, TokenStream) {
    let (mut bindings, mut visits, mut visits_mut) = (Vec::new(), Vec::new(), Vec::new());
    for (index, field) in fields.iter().enumerate() {
        let part = part(index, field, errors);
        if matches!(part, Part::Skipped) {
            continue;
        }
        let place = match &field.ident {
            Some(name) => quote! { #name },
            None => {
                let index = Index::from(index);
                quote! { #index }
            }
        };
        let binding = format_ident!("__field{index}");
        bindings.push(quote! { #place: #binding });
        let element = &element.name;
        // At the field's type: an error that it is no module names it.
        let span = field.ty.span();
        let (visit, visit_mut) = match part {
            Part::Named(name) => (
                quote_spanned! { span => __visit.field(#name, #binding); },
                quote_spanned! { span => __visit.field(#name, #binding); },
            ),
            _ => (
                quote_spanned! { span => #root::Module::<#element>::visit(#binding, __visit); },
                quote_spanned! { span => #root::Module::<#element>::visit_mut(#binding, __visit); },
            ),
        };
        visits.push(visit);
        visits_mut.push(visit_mut);
    }
    (
        quote! { #path { #(#bindings,)* .. } => { #(#visits)* } },
        quote! { #path { #(#bindings,)* .. } => { #(#visits_mut)* } },
    )
}

/// What the attributes `#[module(..)]` of a field say.
fn part(index: usize, field: &Field, errors: &mut Errors) -> Part {
    let own = field.ident.as_ref().map_or_else(|| index.to_string(), unraw);
    let mut part = Part::Named(own);
    for attribute in field.attrs.iter().filter(|attribute| attribute.path().is_ident("module")) {
        let result = attribute.parse_nested_meta(|meta| {
            if meta.path.is_ident("skip") {
                part = Part::Skipped;
            } else if meta.path.is_ident("flatten") {
                part = Part::Flat;
            } else if meta.path.is_ident("name") {
                part = Part::Named(meta.value()?.parse::<LitStr>()?.value());
            } else {
                return Err(meta.error("expected `skip`, `flatten` or `name = \"..\"`"));
            }
            Ok(())
        });
        if let Err(error) = result {
            errors.push(error);
        }
    }
    part
}

fn unraw(name: &Ident) -> String {
    let name = name.to_string();
    name.strip_prefix("r#").unwrap_or(&name).to_owned()
}

/// The types of the fields that are visited.
fn visited(data: &Data) -> impl Iterator<Item = &Type> {
    let fields: Vec<&Field> = match data {
        Data::Struct(data) => data.fields.iter().collect(),
        Data::Enum(data) => data.variants.iter().flat_map(|variant| &variant.fields).collect(),
        Data::Union(_) => Vec::new(),
    };
    fields.into_iter().filter(|field| !has_word(&field.attrs, "skip")).map(|field| &field.ty)
}

/// Whether an attribute `#[module(..)]` has this word.
fn has_word(attributes: &[Attribute], word: &str) -> bool {
    attributes.iter().filter(|attribute| attribute.path().is_ident("module")).any(|attribute| {
        let mut found = false;
        let _ = attribute.parse_nested_meta(|meta| {
            found |= meta.path.is_ident(word);
            if let Ok(value) = meta.value() {
                value.parse::<LitStr>()?;
            }
            Ok(())
        });
        found
    })
}

/// The path of `dahl_nn`: `#[module(crate = PATH)]`, or the crate of that name.
fn root(input: &DeriveInput, errors: &mut Errors) -> Path {
    let mut root = syn::parse_quote! { ::dahl_nn };
    for attribute in input.attrs.iter().filter(|attribute| attribute.path().is_ident("module")) {
        let result = attribute.parse_nested_meta(|meta| {
            if !meta.path.is_ident("crate") {
                return Err(meta.error("expected `crate = PATH`"));
            }
            root = meta.value()?.call(Path::parse_mod_style)?;
            Ok(())
        });
        if let Err(error) = result {
            errors.push(error);
        }
    }
    root
}
