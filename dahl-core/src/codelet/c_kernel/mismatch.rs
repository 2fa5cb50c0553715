//! The check that a C kernel fits the codelet that names it, and the sentence if it does not. All in constants.

use super::{CKernel, CView};
use crate::access::AccessMode;
use crate::codelet::sentence::{Text, after_last_colon, equal_but_spaces};

/// Panics, with both sides in the message, unless `kernel` fits.
#[track_caller]
pub(super) const fn check(
    kernel: &CKernel,
    codelet: &str,
    modes: &[AccessMode],
    elements: &[&str],
    arguments: &[&str],
) {
    if !modes_fit(kernel.views, modes) {
        let mut text = subject(kernel);
        text = text.push(" takes ").list_views(kernel.views).declares(codelet).list_modes(modes);
        panic!("{}", text.as_str());
    }
    if !elements_agree(elements) {
        let mut text = subject(kernel);
        text = text.push(" takes arrays of one type").declares(codelet).list(elements);
        panic!("{}", text.as_str());
    }
    let real = if elements.is_empty() { "" } else { elements[0] };
    if !arguments_fit(kernel, arguments, real) {
        let mut text = subject(kernel);
        text =
            text.push(" takes the arguments ").list_arguments(kernel, real).declares(codelet).list(arguments);
        panic!("{}", text.as_str());
    }
}

const fn subject(kernel: &CKernel) -> Text {
    Text::new().push("C kernel `").push(kernel.function_name).push("` (").push(kernel.place).push(")")
}

const fn modes_fit(views: &[CView], modes: &[AccessMode]) -> bool {
    let mut i = 0;
    while i < views.len() && i < modes.len() {
        if views[i].writes() == matches!(modes[i], AccessMode::R) {
            return false;
        }
        i += 1;
    }
    views.len() == modes.len()
}

/// Whether all are the first, or its compute type (which is the first, for the types that C has).
const fn elements_agree(elements: &[&str]) -> bool {
    let mut i = 1;
    while i < elements.len() {
        let (first, this) = (elements[0].as_bytes(), elements[i].as_bytes());
        if !equal_but_spaces(first, b"", this) && !equal_but_spaces(first, b"::Compute", this) {
            return false;
        }
        i += 1;
    }
    true
}

const fn arguments_fit(kernel: &CKernel, arguments: &[&str], real: &str) -> bool {
    let mut i = 0;
    while i < arguments.len() && i < kernel.arguments.len() {
        let expected = match kernel.arguments[i] {
            super::CArgument::Real => real,
            other => other.name(),
        };
        let argument = arguments[i].as_bytes();
        if !equal_but_spaces(expected.as_bytes(), b"", argument)
            && !equal_but_spaces(expected.as_bytes(), b"", after_last_colon(argument))
        {
            return false;
        }
        i += 1;
    }
    arguments.len() == kernel.arguments.len()
}

/// The lists of both sides.
impl Text {
    const fn list_views(self, views: &[CView]) -> Self {
        let (mut text, mut i) = (self.push("("), 0);
        while i < views.len() {
            text = text.separate(i).push(if views[i].writes() { "out" } else { "in" });
            i += 1;
        }
        text.push(")")
    }

    const fn list_modes(self, modes: &[AccessMode]) -> Self {
        let (mut text, mut i) = (self.push("("), 0);
        while i < modes.len() {
            text = text.separate(i).push(modes[i].name());
            i += 1;
        }
        text.push(")")
    }

    const fn list_arguments(self, kernel: &CKernel, real: &str) -> Self {
        let (mut text, mut i) = (self.push("("), 0);
        while i < kernel.arguments.len() {
            text = text.separate(i).push(match kernel.arguments[i] {
                super::CArgument::Real => real,
                other => other.name(),
            });
            i += 1;
        }
        text.push(")")
    }
}
