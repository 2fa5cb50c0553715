//! The reduction after `REDUX`: nothing, `(max)`, `(min)`, or `(identity = T::ONE, combine = mul)`.

use proc_macro2::{Ident, TokenStream};
use syn::parse::{Parse, ParseBuffer, ParseStream};
use syn::{Error, Expr, Path, Result, Token, parenthesized};

use crate::mode::{Access, Combination, Reduction};

/// The end of an error about an unknown reduction.
const KNOWN: &str = "reductions are `REDUX` (a sum), `REDUX(max)`, `REDUX(min)`, and by a codelet of your own `REDUX(identity = T::ONE, combine = mul)`";

/// Parses the rest of a `REDUX` mode.
pub(super) fn reduction(input: ParseStream<'_>) -> Result<(Access, Option<Combination>)> {
    if input.is_empty() {
        return Ok((Access::Reduce(Reduction::Sum), None));
    }
    let rest: TokenStream = input.fork().parse()?;
    let unknown = || Error::new_spanned(&rest, KNOWN);
    let content = parenthesised(input).map_err(|_| unknown())?;
    if content.peek(syn::Ident) && content.peek2(Token![=]) {
        let combination = combination(&content, &rest)?;
        return Ok((Access::Reduce(Reduction::Custom), Some(combination)));
    }
    let name: Ident = content.parse().map_err(|_| unknown())?;
    if !content.is_empty() || !input.is_empty() {
        return Err(unknown());
    }
    match name.to_string().as_str() {
        "max" => Ok((Access::Reduce(Reduction::Max), None)),
        "min" => Ok((Access::Reduce(Reduction::Min), None)),
        other => {
            Err(Error::new_spanned(&name, format!("`{other}` is no reduction that dahl knows; {KNOWN}")))
        }
    }
}

fn parenthesised(input: ParseStream<'_>) -> Result<ParseBuffer<'_>> {
    let content;
    parenthesized!(content in input);
    Ok(content)
}

/// `identity = EXPR` and `combine = PATH`, in any order.
fn combination(content: ParseStream<'_>, all: &TokenStream) -> Result<Combination> {
    let (mut identity, mut combine) = (None, None);
    while !content.is_empty() {
        match content.parse()? {
            ReductionPart::Identity(name, _) if identity.is_some() => return Err(twice(&name)),
            ReductionPart::Combine(name, _) if combine.is_some() => return Err(twice(&name)),
            ReductionPart::Identity(_, value) => identity = Some(value),
            ReductionPart::Combine(_, path) => combine = Some(path),
        }
        if !content.is_empty() {
            let _: Token![,] = content.parse()?;
        }
    }
    let missing = |what: &str| Error::new_spanned(all, format!("a reduction of your own needs {what}"));
    Ok(Combination {
        identity: identity.ok_or_else(|| {
            missing("what its private buffers begin with; add `identity = ..`, such as `identity = T::ONE`")
        })?,
        combine: combine.ok_or_else(|| {
            missing(
                "a codelet that combines two partial results; add `combine = ..`, such as `combine = mul`",
            )
        })?,
    })
}

fn twice(name: &Ident) -> Error {
    Error::new_spanned(name, format!("`{name}` is given twice; keep one"))
}

enum ReductionPart {
    Identity(Ident, Expr),
    Combine(Ident, Path),
}

impl Parse for ReductionPart {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let name: Ident = input.parse()?;
        let _: Token![=] = input.parse()?;
        if name == "identity" {
            return Ok(Self::Identity(name, input.parse()?));
        }
        if name != "combine" {
            return Err(Error::new_spanned(&name, format!("a reduction has no `{name}`; {KNOWN}")));
        }
        let path: Path = input.parse()?;
        if path.segments.iter().any(|segment| !segment.arguments.is_none()) {
            return Err(Error::new_spanned(
                path,
                "the combining codelet gets its type from the parameter; leave the type arguments out",
            ));
        }
        Ok(Self::Combine(name, path))
    }
}
