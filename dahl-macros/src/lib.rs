//! The attribute `#[codelet]` and the derive macro `Argument` of dahl.
//!
//! A declaration goes through four rooms: `parse` (tokens to what the user wrote), `model` (what it means), `check`
//! (whether its parts agree) and `expand` (the items that replace it). Errors are collected on the way and reported
//! at once, each under the user's own tokens; then stubs take the items' place, so that callers do not fail too.

mod argument;
mod check;
mod compute;
mod errors;
mod expand;
mod mode;
mod model;
mod parse;
mod tokens;
mod view;

#[cfg(test)]
#[path = "../tests/expansion/mod.rs"]
mod expansion;

use proc_macro2::TokenStream;

use crate::errors::Errors;
use crate::model::Codelet;
use crate::parse::Declaration;

/// Declares a codelet.
#[proc_macro_attribute]
pub fn codelet(attribute: proc_macro::TokenStream, item: proc_macro::TokenStream) -> proc_macro::TokenStream {
    expand_codelet(attribute.into(), item.into()).into()
}

/// Derives `Argument`.
#[proc_macro_derive(Argument, attributes(argument))]
pub fn argument(item: proc_macro::TokenStream) -> proc_macro::TokenStream {
    argument::derive(item.into()).into()
}

/// `#[codelet(attribute)] item`, as a function of tokens that tests can call.
pub(crate) fn expand_codelet(attribute: TokenStream, item: TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let Some(declaration) = Declaration::parse(attribute, item.clone(), &mut errors) else {
        return [item, errors.into_compile_errors()].into_iter().collect();
    };
    let is_method = declaration.function.sig.receiver().is_some();
    let codelet = Codelet::new(declaration, &mut errors);
    check::check(&codelet, &mut errors);
    if errors.is_empty() {
        return expand::expand(&codelet);
    }
    // A type cannot be declared inside an `impl`.
    let instead = if is_method { item } else { expand::stubs(codelet) };
    [instead, errors.into_compile_errors()].into_iter().collect()
}
