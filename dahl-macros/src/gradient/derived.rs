//! The codelet of a derived map.

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::GenericParam;

use super::DerivedMap;
use crate::compute;
use crate::errors::Errors;
use crate::mode::{Access, Mode};
use crate::model::{Codelet, Parameter};
use crate::parse::{Declaration, Options};

impl Codelet {
    /// The codelet of a derived map: a map without wrappers.
    pub(crate) fn derived(&self, map: &DerivedMap) -> Codelet {
        let mode = |access| Mode { access, combination: None, tokens: TokenStream::new() };
        // The gradient by the output comes after the inputs.
        let reads = (0..=map.inputs.len()).map(|_| mode(Access::Read));
        let modes = reads.chain([mode(Access::Write)]).collect();
        let mut options = Options::default();
        options.broadcast.clone_from(&self.options.broadcast);
        options.root = Some(self.root.clone());
        let declaration =
            Declaration { modes, options, function: map.function.clone(), attribute: TokenStream::new() };
        let mut derived = Codelet::of(declaration, &mut Errors::default());
        derived.in_place = None;
        derived.is_derived = true;
        derived
    }

    /// Whether it is a derived map of arrays of one real type: its loop is that of `Pointwise`.
    pub(crate) fn is_pointwise(&self) -> bool {
        let Some((output, inputs)) = self.parameters.split_last() else { return false };
        let text = |parameter: &Parameter| parameter.element.to_token_stream().to_string();
        // The element type determines all generics.
        let is_determined = self.generics.params.iter().all(|parameter| match parameter {
            GenericParam::Type(parameter) => compute::names(&output.element, &parameter.ident),
            GenericParam::Const(_) | GenericParam::Lifetime(_) => false,
        });
        self.is_derived
            && is_determined
            && compute::is_real_type(&output.element, &self.generics)
            && inputs.iter().all(|input| text(input) == text(output))
    }
}
