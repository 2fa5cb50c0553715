//! [`Program`]: what a declaration says.

use proc_macro2::{Ident, TokenStream};
use syn::parse::Parser;
use syn::{
    FnArg, GenericArgument, GenericParam, ItemFn, Pat, Path, PathArguments, ReturnType, Type, TypeReference,
    parse_quote,
};

use crate::errors::Errors;

/// A function that is a program.
pub(super) struct Program {
    pub(super) root: Path,
    pub(super) function: ItemFn,
    /// The name of the struct.
    pub(super) type_name: Ident,
    /// The type of the scope, without its reference.
    pub(super) scope: Option<Type>,
    /// The other parameters.
    pub(super) parameters: Vec<Parameter>,
    /// The type in the `Result` that it returns.
    pub(super) returned: Option<Type>,
}

/// A parameter of a program.
pub(super) struct Parameter {
    pub(super) name: Option<Ident>,
    pub(super) ty: Type,
    pub(super) pattern: Pat,
}

impl Parameter {
    /// Whether the function gets a reference; otherwise it gets a copy.
    pub(super) fn is_reference(&self) -> bool {
        matches!(self.ty, Type::Reference(_))
    }

    /// Whether it is a plain value, not references to arrays.
    pub(super) fn is_value(&self) -> bool {
        matches!(self.ty, Type::Path(_))
    }
}

impl Program {
    /// The parts of a function; none if it is no function.
    pub(super) fn parse(attribute: TokenStream, item: TokenStream, errors: &mut Errors) -> Option<Self> {
        let function: ItemFn = match syn::parse2(item) {
            Ok(function) => function,
            Err(error) => {
                errors.push(error);
                return None;
            }
        };
        let root = root(attribute, errors);
        let mut inputs = function.sig.inputs.iter();
        let scope = inputs.next().and_then(|input| match input {
            FnArg::Typed(typed) => match &*typed.ty {
                Type::Reference(TypeReference { elem, mutability: None, .. }) => Some((**elem).clone()),
                _ => None,
            },
            FnArg::Receiver(_) => None,
        });
        let parameters = inputs.filter_map(|input| match input {
            FnArg::Typed(typed) => {
                let name = match &*typed.pat {
                    Pat::Ident(ident) if ident.subpat.is_none() => Some(ident.ident.clone()),
                    _ => None,
                };
                Some(Parameter { name, ty: (*typed.ty).clone(), pattern: (*typed.pat).clone() })
            }
            FnArg::Receiver(_) => None,
        });
        let parameters = parameters.collect();
        let type_name = crate::model::type_name(&function.sig.ident);
        let returned = returned(&function.sig.output);
        Some(Self { root, type_name, scope, parameters, returned, function })
    }

    /// Whether its scope is the recording itself.
    pub(super) fn is_under_recording(&self) -> bool {
        matches!(&self.scope, Some(Type::Path(path))
            if path.path.segments.last().is_some_and(|last| last.ident == "Recording"))
    }

    /// The generics of the struct: those of the function, without lifetimes.
    pub(super) fn type_parameters(&self) -> Vec<&GenericParam> {
        let parameters = self.function.sig.generics.params.iter();
        parameters.filter(|parameter| !matches!(parameter, GenericParam::Lifetime(_))).collect()
    }
}

/// The path of dahl: `crate = PATH`, or `::dahl`.
fn root(attribute: TokenStream, errors: &mut Errors) -> Path {
    let mut root: Path = parse_quote!(::dahl);
    let parser = syn::meta::parser(|meta| {
        if !meta.path.is_ident("crate") {
            return Err(meta.error("expected `crate = PATH`"));
        }
        root = meta.value()?.call(Path::parse_mod_style)?;
        Ok(())
    });
    if let Err(error) = parser.parse2(attribute) {
        errors.push(error);
    }
    root
}

/// `T` of `Result<T>`.
fn returned(output: &ReturnType) -> Option<Type> {
    let ReturnType::Type(_, ty) = output else { return None };
    let Type::Path(path) = &**ty else { return None };
    let last = path.path.segments.last().filter(|last| last.ident == "Result")?;
    let PathArguments::AngleBracketed(arguments) = &last.arguments else { return None };
    match arguments.args.first() {
        Some(GenericArgument::Type(ty)) => Some(ty.clone()),
        _ => None,
    }
}
