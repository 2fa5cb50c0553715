//! [`Options`]: the options after the mode row.

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::{Expr, Path, Token, bracketed, parenthesized};

use super::error_class::ErrorClass;
use super::gradient::GradientOption;
use crate::errors::Errors;
use crate::mode;
use crate::tokens;

/// The options of a declaration, each as the user wrote it.
#[derive(Default)]
pub(crate) struct Options {
    pub(crate) shapes: Vec<Shape>,
    pub(crate) checks: Vec<Check>,
    pub(crate) in_place: Option<Ident>,
    pub(crate) in_place_kernel: Option<Path>,
    pub(crate) cpu: Vec<Further>,
    pub(crate) cpu_only: Option<Ident>,
    pub(crate) cuda: Option<Path>,
    pub(crate) cuda_call: Vec<Further>,
    pub(crate) broadcast: Option<Ident>,
    pub(crate) parallel: Option<Ident>,
    pub(crate) parallel_kernel: Option<Path>,
    pub(crate) blocks: Option<Expr>,
    pub(crate) rows: Option<RowsOption>,
    pub(crate) moves: Option<Expr>,
    pub(crate) flops: Option<Expr>,
    pub(crate) bytes: Option<Expr>,
    pub(crate) reference: Option<Path>,
    pub(crate) error: Option<ErrorClass>,
    pub(crate) gradient: Option<GradientOption>,
    pub(crate) root: Option<Path>,
    /// The names so far, to report duplicates.
    seen: Vec<String>,
}

/// `shape(name = extents)`.
#[derive(Clone)]
pub(crate) struct Shape {
    pub(crate) name: Ident,
    pub(crate) extents: Expr,
}

/// `check(EXPR)`.
pub(crate) struct Check {
    pub(crate) expression: Expr,
    /// The source, with its parentheses.
    source: Option<String>,
}

/// `rows(axes, whole = [names], least = rows)`.
pub(crate) struct RowsOption {
    pub(crate) axes: Expr,
    pub(crate) whole: Vec<Ident>,
    pub(crate) least: Option<Expr>,
}

/// A kernel of `cpu = [..]` or `cuda_call = [..]`: `PATH`, with words before it that describe it.
pub(crate) struct Further {
    pub(crate) words: Vec<Ident>,
    pub(crate) path: Path,
}

impl Further {
    /// The word `word`, if it is given.
    pub(crate) fn word(&self, word: &str) -> Option<&Ident> {
        self.words.iter().find(|said| *said == word)
    }
}

/// The name of the kernel at a path.
pub(crate) fn kernel_name(path: &Path) -> String {
    path.segments.last().map(|segment| segment.ident.unraw().to_string()).unwrap_or_default()
}

/// Whether the path names a constant: a kernel of `dahl-build`, which exists for some element types.
pub(crate) fn is_c_kernel(path: &Path) -> bool {
    kernel_name(path).chars().all(|letter| !letter.is_lowercase())
}

/// Every option with an example for errors.
const USAGE: [(&str, &str); 19] = [
    ("shape", "shape(out = [a.nrows(), b.ncols()])"),
    ("check", "check(a.ncols() == b.nrows())"),
    ("in_place", "in_place = x"),
    ("in_place_kernel", "in_place_kernel = scale_in_place"),
    ("cpu", "cpu = [dot_unrolled, parallel dot_of_parts]"),
    ("cpu_only", "cpu_only"),
    ("cuda", "cuda = kernels::CONV2D"),
    ("cuda_call", "cuda_call = [cublas matmul_by_cublas]"),
    ("broadcast", "broadcast"),
    ("parallel", "parallel = softmax_by_rows"),
    ("blocks", "blocks = simd::BLOCK"),
    ("rows", "rows(axis, whole = [weight, bias])"),
    ("moves", "moves = (strides, offset)"),
    ("flops", "flops = 2 * x.len()"),
    ("bytes", "bytes = 8 * x.len()"),
    ("reference", "reference = softmax_in_f64"),
    ("error", "error = ulp(2)"),
    ("gradient", "gradient = matmul_gradient"),
    ("crate", "crate = my_crate::dahl"),
];

impl Options {
    /// Whether an option was given.
    pub(crate) fn is_any(&self) -> bool {
        !self.seen.is_empty()
    }

    /// Parses one entry of the attribute.
    pub(crate) fn parse_entry(&mut self, entry: TokenStream, errors: &mut Errors) {
        let first = |input: ParseStream<'_>| {
            let name = input.call(Ident::parse_any)?;
            let _: TokenStream = input.parse()?;
            Ok(name)
        };
        let Ok(name) = first.parse2(entry.clone()) else {
            return errors.at(
                &entry,
                format!("`{entry}` is neither a mode nor an option; modes are {}", list(&mode::KEYWORDS)),
            );
        };
        let text = name.to_string();
        let Some((_, usage)) = USAGE.iter().find(|(known, _)| *known == text) else {
            return errors.at(name, unknown(&text));
        };
        let may_repeat = ["shape", "check"].contains(&text.as_str());
        if self.seen.contains(&text) && !may_repeat {
            errors.at(&name, format!("`{text}` is given twice; keep one"));
        }
        self.seen.push(text.clone());
        if text == "error" && has_value(&entry) {
            // Its classes have examples of their own.
            match value::<ErrorClass>.parse2(entry.into_iter().skip(1).collect()) {
                Ok(class) => self.error = Some(class),
                Err(error) => errors.push(error),
            }
            return;
        }
        if (|input: ParseStream<'_>| self.parse_known(input)).parse2(entry.clone()).is_err() {
            errors.at(&entry, format!("`{text}` is malformed; it is used as `{usage}`"));
        }
    }

    fn parse_known(&mut self, input: ParseStream<'_>) -> syn::Result<()> {
        let name = input.call(Ident::parse_any)?;
        match name.to_string().as_str() {
            "shape" => {
                let content;
                parenthesized!(content in input);
                self.shapes.extend(Punctuated::<Shape, Token![,]>::parse_terminated(&content)?);
            }
            "check" => {
                let content;
                let source = parenthesized!(content in input).span.join().source_text();
                self.checks.push(Check { expression: content.parse()?, source });
                let _: Option<Token![,]> = content.parse()?;
            }
            "in_place" => self.in_place = Some(value(input)?),
            "in_place_kernel" => self.in_place_kernel = Some(value(input)?),
            "cpu" => self.cpu = list_of_kernels(input)?,
            "cpu_only" => self.cpu_only = Some(name),
            "cuda" => self.cuda = Some(value(input)?),
            "cuda_call" => self.cuda_call = list_of_kernels(input)?,
            "broadcast" => self.broadcast = Some(name),
            "parallel" => {
                self.parallel = Some(name);
                if !input.is_empty() {
                    self.parallel_kernel = Some(value(input)?);
                }
            }
            "blocks" => self.blocks = Some(value(input)?),
            "rows" => {
                let content;
                parenthesized!(content in input);
                self.rows = Some(content.parse()?);
            }
            "moves" => self.moves = Some(value(input)?),
            "flops" => self.flops = Some(value(input)?),
            "bytes" => self.bytes = Some(value(input)?),
            "reference" => self.reference = Some(value(input)?),
            "error" => self.error = Some(value(input)?),
            "gradient" => self.gradient = Some(value(input)?),
            "crate" => {
                let _: Token![=] = input.parse()?;
                self.root = Some(input.call(Path::parse_mod_style)?);
            }
            other => unreachable!("`{other}` is not in the table"),
        }
        if input.is_empty() { Ok(()) } else { Err(input.error("more than the option")) }
    }
}

impl Check {
    /// The text of the expression or of a part of it, as written. In a declaration that a macro has generated, which
    /// has no source, it is formatted.
    pub(crate) fn text(&self, part: impl ToTokens) -> String {
        let tokens = part.to_token_stream();
        self.source
            .as_deref()
            .and_then(|source| tokens::written(source, &tokens))
            .unwrap_or_else(|| tokens::text(&tokens))
    }
}

impl Parse for Shape {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        Ok(Self { name: input.parse()?, extents: value(input)? })
    }
}

impl Parse for RowsOption {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let mut rows = Self { axes: input.parse()?, whole: Vec::new(), least: None };
        while !input.is_empty() {
            let _: Token![,] = input.parse()?;
            if input.is_empty() {
                break;
            }
            let name: Ident = input.parse()?;
            if name == "whole" && rows.whole.is_empty() {
                let _: Token![=] = input.parse()?;
                let content;
                bracketed!(content in input);
                rows.whole =
                    Punctuated::<Ident, Token![,]>::parse_terminated(&content)?.into_iter().collect();
            } else if name == "least" && rows.least.is_none() {
                rows.least = Some(value(input)?);
            } else {
                return Err(syn::Error::new(name.span(), "not a part of the option"));
            }
        }
        Ok(rows)
    }
}

impl Parse for Further {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let mut words = Vec::new();
        while input.peek(Ident::peek_any) && input.peek2(Ident::peek_any) {
            words.push(input.call(Ident::parse_any)?);
        }
        Ok(Self { words, path: input.parse()? })
    }
}

/// Parses `= [WORD .. PATH, ..]`.
fn list_of_kernels(input: ParseStream<'_>) -> syn::Result<Vec<Further>> {
    let _: Token![=] = input.parse()?;
    let content;
    bracketed!(content in input);
    Ok(Punctuated::<Further, Token![,]>::parse_terminated(&content)?.into_iter().collect())
}

/// Parses `= VALUE`.
pub(super) fn value<V: Parse>(input: ParseStream<'_>) -> syn::Result<V> {
    let _: Token![=] = input.parse()?;
    input.parse()
}

/// Whether something follows `NAME =`.
fn has_value(entry: &TokenStream) -> bool {
    let mut rest = entry.clone().into_iter().skip(1);
    matches!(rest.next(), Some(TokenTree::Punct(sign)) if sign.as_char() == '=') && rest.next().is_some()
}

/// The end of an error about a name that is neither mode nor option, with the most similar known name.
fn unknown(name: &str) -> String {
    let options = USAGE.map(|(known, _)| known);
    let known = || mode::KEYWORDS.iter().chain(&options).copied();
    let same_letters = known().find(|known| known.eq_ignore_ascii_case(name));
    let nearest = same_letters.or_else(|| known().min_by_key(|known| distance(known, name)));
    match nearest
        .filter(|known| same_letters.is_some() || distance(known, name) <= name.len().min(known.len()) / 2)
    {
        Some(nearest) => format!("`{name}` is neither a mode nor an option; did you mean `{nearest}`?"),
        None => format!(
            "`{name}` is neither a mode nor an option; modes are {}, options are {}",
            list(&mode::KEYWORDS),
            list(&options)
        ),
    }
}

/// The names in backquotes, separated by commas.
fn list(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// The Levenshtein distance: the fewest characters to insert, delete or replace.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, to) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(from != *to);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}
