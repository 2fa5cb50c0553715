//! The check that a C kernel fits the codelet that names it, and the sentence if it does not. All in constants.

use super::{CKernel, CView};
use crate::access::AccessMode;

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

/// `usize` of `core::primitive::usize`.
const fn after_last_colon(path: &[u8]) -> &[u8] {
    let mut start = path.len();
    while start > 0 && path[start - 1] != b':' {
        start -= 1;
    }
    path.split_at(start).1
}

pub(super) const fn equal(a: &[u8], b: &[u8]) -> bool {
    equal_but_spaces(a, b"", b)
}

/// Whether `start` followed by `end` is `whole`, spaces aside.
const fn equal_but_spaces(start: &[u8], end: &[u8], whole: &[u8]) -> bool {
    let (mut i, mut j) = (0, 0);
    let total = start.len() + end.len();
    loop {
        while i < total && at(start, end, i) == b' ' {
            i += 1;
        }
        while j < whole.len() && whole[j] == b' ' {
            j += 1;
        }
        if i == total || j == whole.len() {
            return i == total && j == whole.len();
        }
        if at(start, end, i) != whole[j] {
            return false;
        }
        i += 1;
        j += 1;
    }
}

const fn at(start: &[u8], end: &[u8], index: usize) -> u8 {
    if index < start.len() { start[index] } else { end[index - start.len()] }
}

/// A text that constants can assemble. What does not fit is cut off.
struct Text {
    bytes: [u8; 1024],
    len: usize,
}

impl Text {
    const fn new() -> Self {
        Self { bytes: [0; 1024], len: 0 }
    }

    const fn push(mut self, text: &str) -> Self {
        let text = text.as_bytes();
        if text.len() > self.bytes.len() - self.len {
            return self;
        }
        let mut i = 0;
        while i < text.len() {
            self.bytes[self.len] = text[i];
            self.len += 1;
            i += 1;
        }
        self
    }

    const fn as_str(&self) -> &str {
        match std::str::from_utf8(self.bytes.split_at(self.len).0) {
            Ok(text) => text,
            Err(_) => "the C kernel does not fit the codelet",
        }
    }

    const fn declares(self, codelet: &str) -> Self {
        self.push(" but codelet `").push(codelet).push("` declares ")
    }

    /// The comma before all items but the first.
    const fn separate(self, index: usize) -> Self {
        if index == 0 { self } else { self.push(", ") }
    }

    const fn list(self, items: &[&str]) -> Self {
        let (mut text, mut i) = (self.push("("), 0);
        while i < items.len() {
            text = text.separate(i).push(items[i]);
            i += 1;
        }
        text.push(")")
    }

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
