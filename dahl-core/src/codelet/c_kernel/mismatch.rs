//! The check that a C kernel fits the codelet that names it, and the message if it does not. All of it is evaluated at
//! compile time.

use super::{CKernel, CView};
use crate::access::AccessMode;
use crate::argument::{ArgumentLayout, DeclaredArgument};
use crate::codelet::sentence::{Text, after_last_colon, equal, equal_but_spaces};

/// Panics unless `kernel` matches, with both sides in the message.
#[track_caller]
pub(super) const fn check(
    kernel: &CKernel,
    codelet: &str,
    modes: &[AccessMode],
    elements: &[&str],
    arguments: &[DeclaredArgument<'_>],
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
        text = text.push(" takes the arguments ").list_arguments(kernel, real).declares(codelet);
        text = text.list_declared(arguments);
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

/// Whether all types are the first one or its compute type (which is the same for the types that C has).
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

const fn arguments_fit(kernel: &CKernel, arguments: &[DeclaredArgument<'_>], real: &str) -> bool {
    let (mut taken, mut i) = (0, 0);
    while i < arguments.len() {
        if let Some(fields) = arguments[i].fields() {
            match fields_taken(kernel, taken, fields) {
                Some(after) => taken = after,
                None => return false,
            }
        } else if taken < kernel.arguments.len()
            && argument_fits(kernel.arguments[taken], arguments[i].written, real)
        {
            taken += 1;
        } else {
            return false;
        }
        i += 1;
    }
    taken == kernel.arguments.len()
}

const fn argument_fits(argument: super::CArgument, written: &str, real: &str) -> bool {
    let expected = match argument {
        super::CArgument::Real => real,
        other => other.name(),
    };
    let written = written.as_bytes();
    equal_but_spaces(expected.as_bytes(), b"", written)
        || equal_but_spaces(expected.as_bytes(), b"", after_last_colon(written))
}

/// The number of the kernel's argument after those of the fields, which begin at number `taken`; none if they do not
/// match.
const fn fields_taken(kernel: &CKernel, mut taken: usize, fields: &[ArgumentLayout]) -> Option<usize> {
    let mut i = 0;
    while i < fields.len() {
        match fields[i] {
            ArgumentLayout::Fields(fields) => match fields_taken(kernel, taken, fields) {
                Some(after) => taken = after,
                None => return None,
            },
            ArgumentLayout::Value(name)
                if taken < kernel.arguments.len()
                    && equal(kernel.arguments[taken].name().as_bytes(), name.as_bytes()) =>
            {
                taken += 1;
            }
            _ => return None,
        }
        i += 1;
    }
    Some(taken)
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
