//! The fields of the struct that a gradient's rule gets: their names, and whose gradients they are.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident};
use syn::ext::IdentExt;
use syn::{Generics, parse_quote};

use crate::compute;
use crate::errors::Errors;
use crate::gradient_rule::GradientRule;
use crate::mode::Access;
use crate::model::{Codelet, Parameter};
use crate::tokens;

/// `by_x`.
pub(crate) fn by_name(parameter: &Parameter) -> Ident {
    format_ident!("by_{}", parameter.name.unraw(), span = parameter.name.span())
}

/// `gradient`, or `gradient_out` if there are several, or an array is called so.
pub(crate) fn gradient_name(codelet: &Codelet, output: &Parameter) -> Ident {
    let several = codelet.outputs_with_gradient().count() > 1;
    let is_taken = codelet.parameters.iter().any(|parameter| parameter.name == "gradient")
        || codelet.arguments.iter().any(|argument| argument.name == "gradient");
    if several || is_taken {
        format_ident!("gradient_{}", output.name.unraw())
    } else {
        Ident::new("gradient", Span::call_site())
    }
}

/// The type parameters that no field of the rule's struct mentions.
pub(crate) fn unmentioned(codelet: &Codelet) -> Vec<Ident> {
    let rule = codelet.gradient.as_ref().expect("the codelet has a rule");
    let in_struct = |(index, parameter): &(usize, &Parameter)| {
        rule.reads(*index, parameter)
            || codelet.is_differentiated(parameter)
            || codelet.has_gradient(parameter)
    };
    let arrays = codelet.parameters.iter().enumerate().filter(in_struct);
    let arrays = arrays.map(|(_, parameter)| parameter.element.to_token_stream());
    let arguments = codelet.arguments.iter().map(|argument| argument.ty.to_token_stream());
    let types: TokenStream = arrays.chain(arguments).collect();
    let parameters = codelet.generics.type_params().map(|parameter| parameter.ident.clone());
    parameters.filter(|name| !tokens::mention(&types, name)).collect()
}

/// Reports arrays and arguments whose names the struct gives to other fields.
pub(crate) fn check(codelet: &Codelet, errors: &mut Errors) {
    let Some(rule @ GradientRule::Function { .. }) = &codelet.gradient else { return };
    let mut made: Vec<(Ident, String)> = Vec::new();
    for parameter in codelet.parameters.iter().filter(|parameter| codelet.is_differentiated(parameter)) {
        made.push((by_name(parameter), format!("the gradient by `{}`", parameter.name)));
    }
    for (_, output) in codelet.outputs_with_gradient() {
        made.push((gradient_name(codelet, output), format!("the gradient by `{}`", output.name)));
    }
    if !unmentioned(codelet).is_empty() {
        made.push((Ident::new("types", Span::call_site()), "types that no other field mentions".to_owned()));
    }
    let arrays = codelet.parameters.iter().enumerate();
    let arrays = arrays.filter(|(index, parameter)| rule.reads(*index, parameter));
    let arrays = arrays.map(|(_, parameter)| &parameter.name);
    for name in arrays.chain(codelet.arguments.iter().map(|argument| &argument.name)) {
        if let Some((_, what)) = made.iter().find(|(made, _)| *made == name.unraw()) {
            errors.at(
                name,
                format!("`{name}` is the name of a field of the struct that the gradient's rule gets, for {what}; choose another"),
            );
        }
    }
}

impl Codelet {
    /// Whether there is a gradient by the parameter.
    pub(crate) fn is_differentiated(&self, parameter: &Parameter) -> bool {
        parameter.access == Access::Read && self.is_real(parameter)
    }

    /// Whether the gradient by the parameter is an input of the rule.
    pub(crate) fn has_gradient(&self, parameter: &Parameter) -> bool {
        parameter.access.is_made() && self.is_real(parameter)
    }

    pub(crate) fn outputs_with_gradient(&self) -> impl Iterator<Item = (usize, &Parameter)> {
        self.made().filter(|(_, parameter)| self.has_gradient(parameter))
    }

    /// Whether its elements are real numbers, in an instance that has a gradient.
    fn is_real(&self, parameter: &Parameter) -> bool {
        compute::is_real_type(&parameter.element, &self.with_real_bound())
    }

    /// The type parameter of the output, if it may be any element: the gradient is that of real numbers.
    pub(crate) fn element_made_real(&self) -> Option<&Ident> {
        let (_, output) = self.made().next()?;
        let parameter = self
            .generics
            .type_params()
            .find(|parameter| compute::names(&output.element, &parameter.ident))?;
        (!compute::is_real_type(&output.element, &self.generics)).then_some(&parameter.ident)
    }

    /// The user's generics, with the output's type parameter bounded by `Real`.
    pub(crate) fn with_real_bound(&self) -> Generics {
        let mut generics = self.generics.clone();
        if let Some(element) = self.element_made_real() {
            let root = &self.root;
            for parameter in generics.type_params_mut().filter(|parameter| parameter.ident == *element) {
                parameter.bounds.push(parse_quote!(#root::Real));
            }
        }
        generics
    }
}
