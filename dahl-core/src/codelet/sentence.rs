//! Messages about kernels that do not fit, assembled at compile time, and the comparison of types as declarations write
//! them.

use crate::argument::DeclaredArgument;

pub(crate) const fn equal(a: &[u8], b: &[u8]) -> bool {
    equal_but_spaces(a, b"", b)
}

/// Whether `start` followed by `end` is `whole`, ignoring spaces.
pub(crate) const fn equal_but_spaces(start: &[u8], end: &[u8], whole: &[u8]) -> bool {
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

/// The last name of a path: `usize` of `core::primitive::usize`.
pub(crate) const fn after_last_colon(path: &[u8]) -> &[u8] {
    let mut start = path.len();
    while start > 0 && path[start - 1] != b':' {
        start -= 1;
    }
    path.split_at(start).1
}

/// A text that constants can assemble. Text beyond its capacity is cut off.
pub(crate) struct Text {
    bytes: [u8; 1024],
    len: usize,
}

impl Text {
    pub(crate) const fn new() -> Self {
        Self { bytes: [0; 1024], len: 0 }
    }

    pub(crate) const fn push(mut self, text: &str) -> Self {
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

    pub(crate) const fn as_str(&self) -> &str {
        match std::str::from_utf8(self.bytes.split_at(self.len).0) {
            Ok(text) => text,
            Err(_) => "the kernel does not fit the codelet",
        }
    }

    pub(crate) const fn declares(self, codelet: &str) -> Self {
        self.push(" but codelet `").push(codelet).push("` declares ")
    }

    /// The comma before all items but the first.
    pub(crate) const fn separate(self, index: usize) -> Self {
        if index == 0 { self } else { self.push(", ") }
    }

    /// The types as written.
    pub(crate) const fn list_declared(self, arguments: &[DeclaredArgument<'_>]) -> Self {
        let (mut text, mut i) = (self.push("("), 0);
        while i < arguments.len() {
            text = text.separate(i).push(arguments[i].written);
            i += 1;
        }
        text.push(")")
    }

    pub(crate) const fn list(self, items: &[&str]) -> Self {
        let (mut text, mut i) = (self.push("("), 0);
        while i < items.len() {
            text = text.separate(i).push(items[i]);
            i += 1;
        }
        text.push(")")
    }
}
