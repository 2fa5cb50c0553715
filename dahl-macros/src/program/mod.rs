//! `#[program]`: a struct that keeps what a function of arrays was recorded as, and replays it.

mod check;
mod expand;
mod model;

use proc_macro2::TokenStream;

use crate::errors::Errors;
use model::Program;

/// The function, and the struct for it.
pub(crate) fn expand(attribute: TokenStream, item: TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let program = Program::parse(attribute, item.clone(), &mut errors);
    let program = program.filter(|program| {
        check::check(program, &mut errors);
        errors.is_empty()
    });
    match program {
        Some(program) => expand::expand(&program),
        None => [item, errors.into_compile_errors()].into_iter().collect(),
    }
}
