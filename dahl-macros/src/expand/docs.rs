//! The documentation of generated items: the user's own, with a sentence about the item and its shapes.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::Expr;
use syn::ext::IdentExt;

use super::signature::Variant;
use super::wrappers;
use crate::mode::Access;
use crate::model::{Codelet, Form, InPlace};
use crate::tokens;

/// The documentation of the codelet's type.
pub(super) fn of_type(codelet: &Codelet) -> TokenStream {
    let wrappers =
        [Variant::Given, Variant::InPlace, Variant::Init].into_iter().filter(|variant| match variant {
            Variant::Given => true,
            Variant::InPlace => codelet.in_place.is_some(),
            Variant::Init => codelet.has_init,
        });
    let links = wrappers.map(|variant| format!("[`{}`]", wrappers::name(codelet, variant).unraw()));
    let links = links.collect::<Vec<_>>().join(", ");
    with_users(codelet, &format!("The codelet behind {links}: its name, access modes and kernels."))
}

/// The documentation of `op`, `op_self` or `op_init`.
pub(super) fn of_wrapper(codelet: &Codelet, variant: Variant) -> TokenStream {
    let what = match variant {
        Variant::Given => "Submits a task on the given arrays.".to_owned(),
        Variant::InPlace => format!("Submits a task that overwrites `{}` with the result.", target(codelet)),
        Variant::Init => {
            let made: Vec<_> =
                codelet.made().map(|(_, output)| format!("`{}`", output.name.unraw())).collect();
            let noun = if made.len() == 1 { "a new array" } else { "new arrays" };
            format!("Makes {} in `scope`, as {noun}, and submits the task.", made.join(" and "))
        }
    };
    with_users(codelet, &format!("{what}{}", shapes(codelet, variant)))
}

/// The documentation of `task` or `task_self`.
pub(super) fn of_task(codelet: &Codelet, variant: Variant) -> TokenStream {
    let wrapper = wrappers::name(codelet, variant).unraw();
    sentence(&format!("The task of [`{wrapper}`], to be given options and submitted."))
}

/// The documentation of `cpu` or `cpu_self`.
pub(super) fn of_cpu(codelet: &Codelet, variant: Variant) -> TokenStream {
    let over =
        if variant == Variant::InPlace { format!(", over `{}`", target(codelet)) } else { String::new() };
    let kernel = format!("Runs the kernel on the calling thread, without a runtime{over}.");
    if codelet.form == Form::Kernel {
        return sentence(&kernel);
    }
    let kernel = sentence(&kernel);
    quote! {
        #kernel
        #[doc = ""]
        #[doc = " # Panics"]
        #[doc = " If the slices differ in length."]
    }
}

/// The required shapes, or the shapes of new outputs.
fn shapes(codelet: &Codelet, variant: Variant) -> String {
    let map = match (codelet.form, variant) {
        (Form::Map, _) if codelet.parameters.len() == 1 => return String::new(),
        (Form::Map, Variant::Init) => Some("It has the inputs' shape".to_owned()),
        (Form::Map, Variant::InPlace) => Some(format!("All arrays have the shape of `{}`", target(codelet))),
        (Form::Map, Variant::Given) => Some("All arrays have one shape".to_owned()),
        (Form::Kernel, _) => None,
    };
    if let Some(map) = map {
        let stretches =
            if codelet.options.broadcast.is_some() { "; an input's extent of 1 stretches" } else { "" };
        return format!(" {map}{stretches}.");
    }
    let outputs = codelet.shaped().filter(|(_, parameter)| parameter.access != Access::Scratch);
    let lines = outputs.filter_map(|(index, parameter)| {
        let replaced = |in_place: &InPlace| variant == Variant::InPlace && in_place.output == index;
        let is_replaced = codelet.in_place.as_ref().is_some_and(replaced);
        let name = if is_replaced { target(codelet) } else { parameter.name.unraw().to_string() };
        match (&parameter.shape, tokens::text(&parameter.shape.to_token_stream())) {
            (_, text) if text == name => None,
            (Some(Expr::Array(_)), text) => Some(format!(" The shape of `{name}` is `{text}`.")),
            (_, text) => Some(format!(" The shape of `{name}` is that of `{text}`.")),
        }
    });
    lines.collect()
}

fn target(codelet: &Codelet) -> String {
    let target = codelet.in_place.as_ref().map(|in_place| &codelet.parameters[in_place.target]);
    target.map(|parameter| parameter.name.unraw().to_string()).unwrap_or_default()
}

fn with_users(codelet: &Codelet, generated: &str) -> TokenStream {
    let docs = &codelet.attributes.docs;
    let generated = sentence(generated);
    if docs.is_empty() {
        return generated;
    }
    quote! {
        #(#docs)*
        #[doc = ""]
        #generated
    }
}

/// A line of a doc comment, with the space that follows the slashes.
fn sentence(text: &str) -> TokenStream {
    let text = format!(" {text}");
    quote!(#[doc = #text])
}
