//! The modules of a crate: the file of each, the items that it defines, re-exports and names.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use proc_macro2::{TokenStream, TokenTree};
use syn::visit::{self, Visit};
use syn::{Attribute, Item, UseTree};

/// The path of a module from the crate's root; empty for the crate itself.
pub type ModulePath = Vec<String>;

/// One module.
#[derive(Debug, Default)]
pub struct Module {
    /// Its file, relative to the folder of sources.
    pub file: PathBuf,
    /// The names of the items that it defines, except modules.
    pub items: Vec<String>,
    /// The names that it imports by `use`: the name here, and the path.
    pub uses: Vec<(String, Vec<String>)>,
    /// The paths that it imports by `use PATH::*`.
    pub globs: Vec<Vec<String>>,
    /// All other paths that it names, from `crate`, `self` or `super` on.
    pub paths: Vec<Vec<String>>,
}

/// The modules of the crate whose sources are in `sources`.
///
/// # Panics
/// If a file cannot be read or is not Rust.
pub fn read(sources: &Path) -> BTreeMap<ModulePath, Module> {
    let mut modules = BTreeMap::new();
    read_file(sources, PathBuf::from("lib.rs"), Vec::new(), &mut modules);
    modules
}

fn read_file(sources: &Path, file: PathBuf, path: ModulePath, modules: &mut BTreeMap<ModulePath, Module>) {
    let whole = sources.join(&file);
    let text = fs::read_to_string(&whole).unwrap_or_else(|error| panic!("{}: {error}", whole.display()));
    let parsed = syn::parse_file(&text).unwrap_or_else(|error| panic!("{}: {error}", whole.display()));
    read_items(sources, &file, path, &parsed.items, modules);
}

fn read_items(
    sources: &Path,
    file: &Path,
    path: ModulePath,
    items: &[Item],
    modules: &mut BTreeMap<ModulePath, Module>,
) {
    let mut module = Module { file: file.to_owned(), ..Module::default() };
    for item in items {
        match item {
            Item::Mod(inner) if is_of_tests(&inner.attrs) => {}
            Item::Mod(inner) => {
                let mut below = path.clone();
                below.push(inner.ident.to_string());
                match &inner.content {
                    Some((_, items)) => read_items(sources, file, below, items, modules),
                    None => {
                        let flat = PathBuf::from(below.join("/")).with_extension("rs");
                        let folder = PathBuf::from(below.join("/")).join("mod.rs");
                        let file = if sources.join(&flat).exists() { flat } else { folder };
                        read_file(sources, file, below, modules);
                    }
                }
            }
            Item::Use(item) if is_of_tests(&item.attrs) => {}
            Item::Use(item) => module.take(&item.tree, Vec::new()),
            other => {
                module.items.extend(name(other));
                Paths(&mut module).visit_item(other);
            }
        }
    }
    modules.insert(path, module);
}

/// Whether it is `#[cfg(test)]`.
fn is_of_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("cfg")
            && attribute.meta.require_list().is_ok_and(|list| list.tokens.to_string() == "test")
    })
}

fn name(item: &Item) -> Option<String> {
    let name = match item {
        Item::Const(item) => &item.ident,
        Item::Enum(item) => &item.ident,
        Item::Fn(item) => &item.sig.ident,
        Item::Macro(item) => item.ident.as_ref()?,
        Item::Static(item) => &item.ident,
        Item::Struct(item) => &item.ident,
        Item::Trait(item) => &item.ident,
        Item::Type(item) => &item.ident,
        Item::Union(item) => &item.ident,
        _ => return None,
    };
    Some(name.to_string())
}

impl Module {
    fn take(&mut self, tree: &UseTree, mut before: Vec<String>) {
        match tree {
            UseTree::Path(path) => {
                before.push(path.ident.to_string());
                self.take(&path.tree, before);
            }
            UseTree::Name(name) if name.ident == "self" => {
                self.uses.extend(before.last().cloned().map(|last| (last, before.clone())));
            }
            UseTree::Name(name) => {
                before.push(name.ident.to_string());
                self.uses.push((name.ident.to_string(), before));
            }
            UseTree::Rename(rename) => {
                if rename.ident != "self" {
                    before.push(rename.ident.to_string());
                }
                self.uses.push((rename.rename.to_string(), before));
            }
            UseTree::Glob(_) => self.globs.push(before),
            UseTree::Group(group) => group.items.iter().for_each(|tree| self.take(tree, before.clone())),
        }
    }

    /// The paths in a macro's arguments, which need not be valid syntax.
    fn take_tokens(&mut self, tokens: TokenStream) {
        let mut path: Vec<String> = Vec::new();
        let mut colons = 0;
        for token in tokens {
            match token {
                TokenTree::Ident(ident) if colons == 2 => path.push(ident.to_string()),
                TokenTree::Ident(ident) => self.end_of(&mut path, ident.to_string()),
                TokenTree::Punct(punct) if punct.as_char() == ':' && !path.is_empty() => {
                    colons += 1;
                    continue;
                }
                TokenTree::Group(group) => {
                    self.end_of(&mut path, String::new());
                    self.take_tokens(group.stream());
                }
                _ => self.end_of(&mut path, String::new()),
            }
            colons = 0;
        }
        self.end_of(&mut path, String::new());
    }

    /// A path ends, and another begins with `next`.
    fn end_of(&mut self, path: &mut Vec<String>, next: String) {
        let whole = std::mem::take(path);
        if whole.len() > 1 {
            self.paths.push(whole);
        }
        if !next.is_empty() {
            path.push(next);
        }
    }
}

/// Collects the paths of an item.
struct Paths<'a>(&'a mut Module);

impl<'ast> Visit<'ast> for Paths<'_> {
    fn visit_path(&mut self, path: &'ast syn::Path) {
        if path.segments.len() > 1 {
            self.0.paths.push(path.segments.iter().map(|segment| segment.ident.to_string()).collect());
        }
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        self.0.take_tokens(call.tokens.clone());
        visit::visit_macro(self, call);
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        self.0.take(&item.tree, Vec::new());
    }
}
