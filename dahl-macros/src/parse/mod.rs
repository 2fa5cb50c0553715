//! Parsing: from tokens to a [`Declaration`], without checks.
//!
//! Entries of the attribute are parsed one by one, so that a malformed one hides no error in another.

mod error_class;
mod gradient;
mod options;
mod reduction;

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::ItemFn;
use syn::parse::{ParseStream, Parser};

use crate::errors::Errors;
use crate::mode::{Access, Mode};
pub(crate) use error_class::ErrorClass;
pub(crate) use gradient::GradientOption;
pub(crate) use options::{Check, Further, Options, RowsOption, is_c_kernel, kernel_name};

/// `#[codelet(modes, options)] fn ..` as the user wrote it.
pub(crate) struct Declaration {
    pub(crate) modes: Vec<Mode>,
    pub(crate) options: Options,
    pub(crate) function: ItemFn,
    /// The attribute's tokens, for the hash and to avoid their names.
    pub(crate) attribute: TokenStream,
}

impl Declaration {
    /// Parses a declaration. Returns none if the item is not a function.
    pub(crate) fn parse(attribute: TokenStream, item: TokenStream, errors: &mut Errors) -> Option<Self> {
        let function: ItemFn = match syn::parse2(item.clone()) {
            Ok(function) => function,
            Err(error) if is_function(&item) => {
                errors.push(error);
                return None;
            }
            Err(_) => {
                let message = "`#[codelet]` belongs on a function with a body: its kernel";
                errors.at(item.into_iter().next().map(TokenStream::from).unwrap_or_default(), message);
                return None;
            }
        };
        let (mut modes, mut options) = (Vec::new(), Options::default());
        for entry in entries(attribute.clone()) {
            if is_mode(&entry) {
                if options.is_any() {
                    errors.at(&entry, format!("`{entry}` comes after an option; the mode row comes first: `#[codelet(R, W, broadcast)]`"));
                }
                modes.extend(mode(entry, errors));
            } else {
                options.parse_entry(entry, errors);
            }
        }
        Some(Self { modes, options, function, attribute })
    }
}

fn is_function(item: &TokenStream) -> bool {
    item.clone().into_iter().any(|token| matches!(token, TokenTree::Ident(ident) if ident == "fn"))
}

/// The tokens between top-level commas.
fn entries(attribute: TokenStream) -> Vec<TokenStream> {
    let mut entries = vec![TokenStream::new()];
    for token in attribute {
        match token {
            TokenTree::Punct(comma) if comma.as_char() == ',' => entries.push(TokenStream::new()),
            other => entries.last_mut().expect("never empty").extend([other]),
        }
    }
    entries.retain(|entry| !entry.is_empty());
    entries
}

fn is_mode(entry: &TokenStream) -> bool {
    let first = entry.clone().into_iter().next();
    matches!(first, Some(TokenTree::Ident(word)) if Access::of_keyword(&word).is_some())
}

/// Parses `R` or `REDUX(max)`.
fn mode(entry: TokenStream, errors: &mut Errors) -> Option<Mode> {
    let parser = |input: ParseStream<'_>| {
        let keyword: Ident = input.parse()?;
        let access = Access::of_keyword(&keyword).expect("`is_mode` has looked");
        if let Access::Reduce(_) = access {
            return reduction::reduction(input);
        }
        if !input.is_empty() {
            let rest: TokenStream = input.parse()?;
            return Err(syn::Error::new_spanned(rest, format!("the mode `{keyword}` takes nothing more")));
        }
        Ok((access, None))
    };
    match parser.parse2(entry.clone()) {
        Ok((access, combination)) => Some(Mode { access, combination, tokens: entry }),
        Err(error) => {
            errors.push(error);
            // The mode counts nevertheless, so that later modes keep their parameters.
            let first = entry.into_iter().next().map(ToTokens::into_token_stream)?;
            let keyword = syn::parse2(first.clone()).ok()?;
            Some(Mode { access: Access::of_keyword(&keyword)?, combination: None, tokens: quote!(#first) })
        }
    }
}
