//! Finds the maps that a file declares, by the same rules as `#[codelet]`.

use proc_macro2::{TokenStream, TokenTree};
use syn::visit::{self, Visit};
use syn::{FnArg, ItemFn, Meta, ReturnType, Type};

use super::{Map, Refusal};

/// A map that a file declares.
#[derive(Debug)]
pub struct Declaration {
    /// The function's name.
    pub name: String,
    /// The line of the name, counted from 1.
    pub line: usize,
    /// The map in CUDA, or why there is none.
    pub map: Result<Map, Refusal>,
}

/// The maps that `source` declares, except those that are `cpu_only`, in the order of the file.
///
/// # Errors
/// If it is not valid Rust.
pub fn declarations(source: &str) -> syn::Result<Vec<Declaration>> {
    let file = syn::parse_file(source)?;
    let mut search = Search(Vec::new());
    search.visit_file(&file);
    Ok(search.0)
}

struct Search(Vec<Declaration>);

impl<'ast> Visit<'ast> for Search {
    fn visit_item_fn(&mut self, function: &'ast ItemFn) {
        let is_codelet = |attribute: &&syn::Attribute| {
            attribute.path().segments.last().is_some_and(|last| last.ident == "codelet")
        };
        if let Some(attribute) = function.attrs.iter().find(is_codelet)
            && let Meta::List(list) = &attribute.meta
            && let Some(inputs) = inputs_of_a_map(function, &list.tokens)
        {
            let name = function.sig.ident.to_string();
            let line = function.sig.ident.span().start().line;
            self.0.push(Declaration { name, line, map: Map::translate(function, inputs) });
        }
        visit::visit_item_fn(self, function);
    }
}

/// The number of inputs, if the function is a map that is not `cpu_only`.
fn inputs_of_a_map(function: &ItemFn, attribute: &TokenStream) -> Option<usize> {
    let returns = match &function.sig.output {
        ReturnType::Default => false,
        ReturnType::Type(_, ty) => !matches!(&**ty, Type::Tuple(tuple) if tuple.elems.is_empty()),
    };
    let has_view =
        function.sig.inputs.iter().any(|input| matches!(input, FnArg::Typed(input) if is_view(&input.ty)));
    let mut firsts = Vec::new();
    let mut is_first = true;
    for token in attribute.clone() {
        match token {
            TokenTree::Punct(comma) if comma.as_char() == ',' => is_first = true,
            TokenTree::Ident(word) if is_first => {
                firsts.push(word.to_string());
                is_first = false;
            }
            _ => is_first = false,
        }
    }
    let modes = firsts
        .iter()
        .filter(|word| ["R", "W", "RW", "REDUX", "COMMUTE", "SCRATCH"].contains(&&***word))
        .count();
    let is_map = returns && !has_view && !firsts.iter().any(|word| word == "cpu_only");
    if is_map { modes.checked_sub(1) } else { None }
}

/// Whether a type is a view by its name: a slice, or one of ndarray's.
fn is_view(ty: &Type) -> bool {
    match ty {
        Type::Reference(reference) => matches!(&*reference.elem, Type::Slice(_)),
        Type::Path(path) => {
            path.path.segments.last().is_some_and(|last| last.ident.to_string().starts_with("ArrayView"))
        }
        Type::Group(group) => is_view(&group.elem),
        Type::Paren(paren) => is_view(&paren.elem),
        _ => false,
    }
}
