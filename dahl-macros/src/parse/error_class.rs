//! `error = CLASS`: the allowed error of results.

use proc_macro2::{Ident, TokenStream};
use syn::parse::{Parse, ParseBuffer, ParseStream};
use syn::{Error, Expr, Lit, Path, Result, Token, parenthesized};

use super::options::value;

/// The class of a codelet's errors.
pub(crate) enum ErrorClass {
    /// `rounded`: the nearest number.
    Rounded,
    /// `ulp(2)`: units in the last place of the compute type.
    Ulp(f64),
    /// `sum(n = EXPR, terms = PATH)`: a sum of `n` terms; `terms` computes the sum of their absolute values.
    Sum { n: Box<Expr>, terms: Option<Path> },
}

/// The end of an error about an unknown class.
const KNOWN: &str = "classes of errors are `rounded`, `ulp(2)`, `sum(n = a.ncols())` and `sum(n = a.ncols(), terms = add_magnitudes)`";

impl Parse for ErrorClass {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let all: TokenStream = input.fork().parse()?;
        let class: Ident = input.parse().map_err(|_| Error::new_spanned(&all, KNOWN))?;
        let malformed = |usage: &str| Error::new_spanned(&all, format!("`{class}` is malformed; {usage}"));
        let parsed = match class.to_string().as_str() {
            "rounded" => Self::Rounded,
            "ulp" => {
                let usage = "it takes the number of units: `error = ulp(2)`";
                Self::Ulp(units(input).map_err(|_| malformed(usage))?)
            }
            "sum" => {
                let usage = "it takes the number of terms: `error = sum(n = a.ncols())`";
                sum(&parenthesised(input).map_err(|_| malformed(usage))?, &all)?
            }
            other => {
                let message = format!("`{other}` is no class of errors that dahl knows; {KNOWN}");
                return Err(Error::new_spanned(&class, message));
            }
        };
        if input.is_empty() {
            return Ok(parsed);
        }
        let rest: TokenStream = input.parse()?;
        Err(Error::new_spanned(rest, format!("`{class}` takes nothing more")))
    }
}

/// `(2)` or `(0.5)`.
fn units(input: ParseStream<'_>) -> Result<f64> {
    let content = parenthesised(input)?;
    let units = match content.parse()? {
        Lit::Int(units) => units.base10_parse(),
        Lit::Float(units) => units.base10_parse(),
        other => Err(Error::new_spanned(other, "no number")),
    }?;
    if content.is_empty() { Ok(units) } else { Err(content.error("more than a number")) }
}

/// `n = EXPR` and `terms = PATH`, in any order.
fn sum(content: ParseStream<'_>, all: &TokenStream) -> Result<ErrorClass> {
    let (mut n, mut terms) = (None, None);
    while !content.is_empty() {
        let name: Ident = content.parse()?;
        let is_twice = match name.to_string().as_str() {
            "n" => n.replace(Box::new(value(content)?)).is_some(),
            "terms" => terms.replace(value(content)?).is_some(),
            _ => return Err(Error::new_spanned(&name, format!("`sum` has no `{name}`; {KNOWN}"))),
        };
        if is_twice {
            return Err(Error::new_spanned(&name, format!("`{name}` is given twice; keep one")));
        }
        if !content.is_empty() {
            let _: Token![,] = content.parse()?;
        }
    }
    let missing = "a sum's error grows with the number of its terms; add `n = ..`, such as `n = a.ncols()`";
    Ok(ErrorClass::Sum { n: n.ok_or_else(|| Error::new_spanned(all, missing))?, terms })
}

fn parenthesised(input: ParseStream<'_>) -> Result<ParseBuffer<'_>> {
    let content;
    parenthesized!(content in input);
    Ok(content)
}
