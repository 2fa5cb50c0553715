//! Rules between the parts of a declaration: the mode row, the types, the options.
//!
//! `model` checks each part by itself.

mod body;
mod literals;
mod options;
mod signature;

use syn::{ReturnType, Type};

use crate::errors::Errors;
use crate::mode::Access;
use crate::model::{Codelet, Form, Kind};
use crate::rule_fields;
use crate::view::View;

/// Reports all contradictions between the parts of a declaration.
pub(crate) fn check(codelet: &Codelet, errors: &mut Errors) {
    signature::check(codelet, errors);
    names(codelet, errors);
    if codelet.modes.is_empty() {
        let name = &codelet.name;
        errors.at(name, format!("`{name}` has no access modes; give one for each array: `#[codelet(R, W)]`"));
        return;
    }
    arguments(codelet, errors);
    // With too many or too few modes, each would be compared with the wrong parameter.
    let has_stray_view = codelet.arguments.iter().any(|argument| View::of(&argument.ty).is_some());
    if codelet.modes.len() == codelet.parameters.len() && !has_stray_view {
        modes(codelet, errors);
        match codelet.form {
            Form::Map => map(codelet, errors),
            Form::Kernel => kernel(codelet, errors),
        }
    }
    options::check(codelet, errors);
    rule_fields::check(codelet, errors);
}

fn modes(codelet: &Codelet, errors: &mut Errors) {
    let name = &codelet.name;
    let changes = |access: Access| !matches!(access, Access::Read | Access::Scratch);
    if !codelet.modes.iter().any(|mode| changes(mode.access)) {
        let all: proc_macro2::TokenStream = codelet.modes.iter().map(|mode| mode.tokens.clone()).collect();
        errors.at(all, format!("`{name}` changes no array, so running it has no effect; give an output the mode `W`, `RW`, `REDUX` or `COMMUTE`"));
    }
}

fn names(codelet: &Codelet, errors: &mut Errors) {
    let inputs = codelet.parameters.iter().map(|parameter| &parameter.name);
    let inputs = inputs.chain(codelet.arguments.iter().map(|argument| &argument.name));
    // The `out` that stands for a map's return value is the last data parameter.
    let is_return = |index: usize| codelet.form == Form::Map && index + 1 == codelet.parameters.len();
    for (index, name) in inputs.enumerate() {
        if *name == "scope" {
            errors.at(name, "`scope` is the name of a parameter of `_init`; choose another");
        }
        if codelet.form == Form::Map && *name == "out" && !is_return(index) {
            errors.at(name, "`out` is the name of a map's return value in its options; choose another");
        }
    }
}

fn arguments(codelet: &Codelet, errors: &mut Errors) {
    for argument in &codelet.arguments {
        let (name, ty) = (&argument.name, &argument.ty);
        if View::of(ty).is_some() {
            errors
                .at(ty, format!("`{name}` is a view and has no mode; add one to the mode row, at its place"));
        } else if matches!(ty, Type::Reference(_)) {
            errors.at(ty, format!("`{name}` is a reference; a plain argument is kept with the task: pass it by value, as a type that implements `Argument`"));
        }
    }
}

fn map(codelet: &Codelet, errors: &mut Errors) {
    let Some((_, inputs)) = codelet.modes.split_last() else { return };
    for mode in inputs.iter().filter(|mode| mode.access != Access::Read) {
        let access = mode.access;
        errors.at(&mode.tokens, format!("the inputs of a map are `R`, this one is `{access}`; a kernel with views can have it: `fn {}(.., x: &mut [T])`", codelet.name));
    }
    if let Some(last) = codelet.modes.last()
        && last.access != Access::Write
    {
        let access = last.access;
        errors.at(&last.tokens, format!("the last mode of a map is its return value's, which is `W`, not `{access}`; a kernel with views can have other outputs"));
    }
    for parameter in &codelet.parameters {
        let is_return = parameter.name == "out";
        let subject = if is_return { "the return value".to_owned() } else { format!("`{}`", parameter.name) };
        match &parameter.element {
            Type::Path(_) | Type::Group(_) | Type::Paren(_) => {}
            // It has an error of its own.
            Type::ImplTrait(_) if !is_return => {}
            Type::Tuple(tuple) if is_return => {
                errors.at(tuple, "a map returns one scalar; several outputs need a kernel with views: `fn f(x: &[T], a: &mut [T], b: &mut [T])`");
            }
            other => errors.at(
                other,
                format!("{subject} is not a scalar; a map takes and returns elements of arrays, by value"),
            ),
        }
    }
    if codelet.options.cpu_only.is_none() {
        body::check(&codelet.function, errors);
        literals::check(codelet, errors);
    }
}

fn kernel(codelet: &Codelet, errors: &mut Errors) {
    if let ReturnType::Type(_, ty) = &codelet.function.sig.output {
        errors.at(ty, "a kernel with views returns nothing; its outputs are parameters: `out: &mut [T]`");
    }
    // A task takes its runtime from its first array.
    if let Some(first) = codelet.modes.first()
        && first.access == Access::Scratch
    {
        errors.at(
            &first.tokens,
            "the first parameter is a scratch, whose memory follows the arrays; put an array before it",
        );
    }
    for (parameter, mode) in codelet.parameters.iter().zip(&codelet.modes) {
        let (name, access) = (&parameter.name, parameter.access);
        let Kind::View(view) = &parameter.kind else { continue };
        if view.mutable && !access.is_mutable() {
            errors.at(&view.written, format!("`{name}` has the mode `{access}`, which takes a shared view, and is a mutable one; make it shared, or give it the mode `W` or `RW`"));
        }
        if !view.mutable && access.is_mutable() {
            errors.at(&view.written, format!("`{name}` has the mode `{access}`, which takes a mutable view, and is a shared one; make it mutable, or give it the mode `R`"));
        }
        if parameter.accumulates_in_compute && !matches!(access, Access::Reduce(_)) {
            errors.at(&view.element, format!("`{name}` has the mode `{access}`, and only `REDUX` accumulates in the compute type; arrays hold `{}`", quote::ToTokens::to_token_stream(&parameter.element)));
        }
        if access == Access::Scratch && parameter.shape.is_none() {
            errors.at(
                &mode.tokens,
                format!("the extents of the scratch `{name}` are not known; add `shape({name} = [..])`"),
            );
        }
    }
}
