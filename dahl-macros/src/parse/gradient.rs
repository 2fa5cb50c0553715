//! [`GradientOption`]: what the option `gradient` says.

use proc_macro2::Ident;
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Path, Token, parenthesized};

/// What a declaration says of its gradient.
#[derive(Clone)]
pub(crate) enum GradientOption {
    /// `none`: nothing flows.
    Nothing(Ident),
    /// `derived`: of a map, whose body must be one that can be differentiated.
    Derived(Ident),
    /// `adjoint(PATH)`: the codelet is linear in its only input.
    Adjoint(Path),
    /// `data(PATH)`: a function of the declaration's generics that gives what a tape gets.
    Data(Path),
    /// `PATH`, or `PATH(a, b)` with the arrays that it reads.
    Function { path: Path, reads: Option<Vec<Ident>> },
}

impl Parse for GradientOption {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let path = input.call(Path::parse_mod_style)?;
        if path.is_ident("none") {
            return Ok(Self::Nothing(path.segments[0].ident.clone()));
        }
        if path.is_ident("derived") {
            return Ok(Self::Derived(path.segments[0].ident.clone()));
        }
        if input.is_empty() {
            return Ok(Self::Function { path, reads: None });
        }
        let content;
        parenthesized!(content in input);
        if path.is_ident("adjoint") {
            return content.call(Path::parse_mod_style).map(Self::Adjoint);
        }
        if path.is_ident("data") {
            return content.call(Path::parse_mod_style).map(Self::Data);
        }
        let reads = Punctuated::<Ident, Token![,]>::parse_terminated(&content)?;
        Ok(Self::Function { path, reads: Some(reads.into_iter().collect()) })
    }
}
