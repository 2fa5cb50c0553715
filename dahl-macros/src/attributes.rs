//! [`Attributes`]: the user's attributes, by the items that they go to.

use syn::Attribute;

/// The user's attributes, sorted by the items that they go to.
#[derive(Default)]
pub(crate) struct Attributes {
    /// Documentation: on everything that is public.
    pub(crate) docs: Vec<Attribute>,
    /// `cfg` and lint levels: on every item.
    pub(crate) everywhere: Vec<Attribute>,
    /// Deprecation: on the wrappers.
    pub(crate) wrappers: Vec<Attribute>,
    /// All others: on the kernel.
    pub(crate) kernel: Vec<Attribute>,
}

impl Attributes {
    pub(crate) fn sort(attributes: &[Attribute]) -> Self {
        let mut sorted = Self::default();
        for attribute in attributes {
            let path = attribute.path();
            let is = |name: &str| path.is_ident(name);
            if is("doc") {
                sorted.docs.push(attribute.clone());
            } else if ["cfg", "cfg_attr", "allow", "expect", "warn", "deny", "forbid"].into_iter().any(is) {
                sorted.everywhere.push(attribute.clone());
            } else if is("deprecated") {
                sorted.wrappers.push(attribute.clone());
            } else if !is("inline") {
                // The kernel is always inlined, into one loop for each instruction set.
                sorted.kernel.push(attribute.clone());
            }
        }
        sorted
    }
}
