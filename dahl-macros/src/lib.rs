//! The attributes `#[codelet]` and `#[program]`, and the derive macros `Argument` and `Module` of dahl.
//!
//! A declaration passes four modules: `parse` (from tokens to the parts that the user wrote), `model` (their meaning),
//! `check` (whether they agree) and `expand` (the items that replace the function). Errors are collected on the way and
//! reported together, each at the user's own tokens; then stubs replace the items, so that callers do not fail too.
//!
//! The examples in `docs` are tested by `tests/user-crate`, since this crate is compiled before dahl.

mod argument;
mod attributes;
mod check;
mod compute;
mod errors;
mod expand;
mod gradient;
mod gradient_rule;
mod mode;
mod model;
mod module;
mod parse;
mod program;
mod rule_fields;
mod selection;
mod tokens;
mod view;

#[cfg(test)]
#[path = "../tests/expansion/mod.rs"]
mod expansion;

use proc_macro2::TokenStream;

use crate::errors::Errors;
use crate::model::Codelet;
use crate::parse::Declaration;

#[doc = include_str!("../docs/codelet.md")]
#[proc_macro_attribute]
pub fn codelet(attribute: proc_macro::TokenStream, item: proc_macro::TokenStream) -> proc_macro::TokenStream {
    expand_codelet(attribute.into(), item.into()).into()
}

#[doc = include_str!("../docs/program.md")]
#[proc_macro_attribute]
pub fn program(attribute: proc_macro::TokenStream, item: proc_macro::TokenStream) -> proc_macro::TokenStream {
    program::expand(attribute.into(), item.into()).into()
}

#[doc = include_str!("../docs/argument.md")]
#[proc_macro_derive(Argument, attributes(argument))]
pub fn argument(item: proc_macro::TokenStream) -> proc_macro::TokenStream {
    argument::derive(item.into()).into()
}

#[doc = include_str!("../docs/module.md")]
#[proc_macro_derive(Module, attributes(module))]
pub fn module(item: proc_macro::TokenStream) -> proc_macro::TokenStream {
    module::derive(item.into()).into()
}

/// `#[codelet(attribute)] item`, as a function of tokens for tests.
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
