//! The check that a CUDA kernel fits the codelet that names it, and the message if it does not. All of it is evaluated
//! at compile time.

use super::element::{CudaArgument, CudaElement, CudaLen, CudaView};
use super::kernel::CudaKernel;
use crate::access::AccessMode;
use crate::argument::{ANY_LEN, ArgumentLayout, DeclaredArgument};
use crate::codelet::sentence::{Text, after_last_colon, equal, equal_but_spaces};

/// What a declaration says, its types as they are written there.
#[derive(Clone, Copy, Debug)]
pub struct Declared<'a> {
    /// The access modes.
    pub modes: &'a [AccessMode],
    /// The types of the elements that its kernel sees.
    pub elements: &'a [&'a str],
    /// The ranks of its views; nothing for any.
    pub ranks: &'a [Option<usize>],
    /// Its arguments.
    pub arguments: &'a [DeclaredArgument<'a>],
    /// Its type parameters.
    pub types: &'a [&'a str],
}

/// Panics, with both sides in the message, unless `kernel` fits.
#[track_caller]
pub(super) const fn check(kernel: &CudaKernel, codelet: &str, declared: Declared<'_>) {
    if kernel.types.len() != declared.types.len() {
        let text = subject(kernel).push("is a template over ").types(kernel).declares(codelet);
        panic!("{}", text.list(declared.types).as_str());
    }
    if !views_fit(kernel, declared) {
        let text = subject(kernel).push("takes ").views(kernel).declares(codelet).views_of(declared);
        panic!("{}", text.as_str());
    }
    if !arguments_fit(kernel, declared) {
        let text = subject(kernel).push("takes the arguments ").arguments(kernel).declares(codelet);
        panic!("{}", text.list_declared(declared.arguments).as_str());
    }
}

const fn subject(kernel: &CudaKernel) -> Text {
    Text::new().push("CUDA kernel `").push(kernel.name).push("` (").push(kernel.place).push(") ")
}

const fn views_fit(kernel: &CudaKernel, declared: Declared<'_>) -> bool {
    let mut i = 0;
    while i < kernel.views.len() && i < declared.modes.len() {
        let view = kernel.views[i];
        let rank_fits = match (view.rank, declared.ranks[i]) {
            (None, _) => true,
            (Some(rank), Some(declared)) => rank == declared,
            (Some(_), None) => false,
        };
        let mode_fits = view.is_const == matches!(declared.modes[i], AccessMode::R);
        if !rank_fits || !mode_fits || !element_fits(view.element, declared.elements[i], declared) {
            return false;
        }
        i += 1;
    }
    kernel.views.len() == declared.modes.len()
}

const fn arguments_fit(kernel: &CudaKernel, declared: Declared<'_>) -> bool {
    let (mut taken, mut i) = (0, 0);
    while i < declared.arguments.len() {
        let argument = declared.arguments[i];
        if let Some(fields) = argument.fields() {
            match fields_taken(kernel, taken, fields) {
                Some(after) => taken = after,
                None => return false,
            }
        } else if taken < kernel.arguments.len() && argument_fits(kernel, taken, argument, declared) {
            taken += 1;
        } else {
            return false;
        }
        i += 1;
    }
    taken == kernel.arguments.len()
}

const fn argument_fits(
    kernel: &CudaKernel,
    index: usize,
    argument: DeclaredArgument<'_>,
    declared: Declared<'_>,
) -> bool {
    let CudaArgument { element, len } = kernel.arguments[index];
    match (len, argument.layout) {
        (CudaLen::One, None) => element_fits(element, argument.written, declared),
        (CudaLen::One, Some(layout)) => {
            // An enum is written by its own name.
            element_fits(element, argument.written, declared) || field_fits(kernel.arguments[index], layout)
        }
        (_, Some(layout)) => field_fits(kernel.arguments[index], layout),
        (_, None) => false,
    }
}

/// The number of the kernel's argument after those of the fields, which begin at number `taken`; nothing if they do not fit.
const fn fields_taken(kernel: &CudaKernel, mut taken: usize, fields: &[ArgumentLayout]) -> Option<usize> {
    let mut i = 0;
    while i < fields.len() {
        if let ArgumentLayout::Fields(fields) = fields[i] {
            match fields_taken(kernel, taken, fields) {
                Some(after) => taken = after,
                None => return None,
            }
        } else if taken < kernel.arguments.len() && field_fits(kernel.arguments[taken], fields[i]) {
            taken += 1;
        } else {
            return None;
        }
        i += 1;
    }
    Some(taken)
}

const fn field_fits(argument: CudaArgument, field: ArgumentLayout) -> bool {
    match (argument.len, field) {
        (CudaLen::One, ArgumentLayout::Value(name)) => is_named(argument.element, name),
        (CudaLen::Items(len), ArgumentLayout::Array(ArgumentLayout::Value(name), length)) => {
            len == length && is_named(argument.element, name)
        }
        (CudaLen::Any, ArgumentLayout::Array(ArgumentLayout::Value(name), length)) => {
            length == ANY_LEN && is_named(argument.element, name)
        }
        _ => false,
    }
}

const fn is_named(element: CudaElement, name: &str) -> bool {
    match element {
        CudaElement::Fixed(fixed) => equal(fixed.as_bytes(), name.as_bytes()),
        CudaElement::Parameter(_) | CudaElement::Compute(_) => false,
    }
}

const fn element_fits(element: CudaElement, written: &str, declared: Declared<'_>) -> bool {
    let written = written.as_bytes();
    match element {
        CudaElement::Parameter(index) => equal_but_spaces(declared.types[index].as_bytes(), b"", written),
        CudaElement::Compute(index) => {
            let name = declared.types[index].as_bytes();
            let qualified = Text::new().push("<").push(declared.types[index]).push(" as Real>");
            equal_but_spaces(name, b"::Compute", written)
                || equal_but_spaces(qualified.as_str().as_bytes(), b"::Compute", written)
        }
        CudaElement::Fixed(name) => {
            equal_but_spaces(name.as_bytes(), b"", written)
                || equal_but_spaces(name.as_bytes(), b"", after_last_colon(written))
        }
    }
}

/// The lists of both sides.
impl Text {
    const fn number(self, number: usize) -> Self {
        const DIGITS: [&str; 10] = ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"];
        if number < 10 {
            self.push(DIGITS[number])
        } else {
            self.number(number / 10).push(DIGITS[number % 10])
        }
    }

    const fn element(self, element: CudaElement, kernel: &CudaKernel) -> Self {
        match element {
            CudaElement::Parameter(index) => self.push(kernel.types[index].name),
            CudaElement::Compute(index) => self.push("compute_t<").push(kernel.types[index].name).push(">"),
            CudaElement::Fixed(name) => self.push(name),
        }
    }

    const fn types(self, kernel: &CudaKernel) -> Self {
        let (mut text, mut i) = (self.push("("), 0);
        while i < kernel.types.len() {
            text = text.separate(i).push(kernel.types[i].name);
            i += 1;
        }
        text.push(")")
    }

    const fn views(self, kernel: &CudaKernel) -> Self {
        let (mut text, mut i) = (self.push("("), 0);
        while i < kernel.views.len() {
            let CudaView { is_const, element, rank } = kernel.views[i];
            text = text
                .separate(i)
                .push(if is_const { "View<const " } else { "View<" })
                .element(element, kernel)
                .push(", ");
            text = match rank {
                Some(rank) => text.number(rank),
                None => text.push("ANY"),
            };
            text = text.push(">");
            i += 1;
        }
        text.push(")")
    }

    /// `(R T of rank 2, W T of any rank)`.
    const fn views_of(self, declared: Declared<'_>) -> Self {
        let (mut text, mut i) = (self.push("("), 0);
        while i < declared.modes.len() {
            text = text.separate(i).push(declared.modes[i].name()).push(" ").push(declared.elements[i]);
            text = match declared.ranks[i] {
                Some(rank) => text.push(" of rank ").number(rank),
                None => text.push(" of any rank"),
            };
            i += 1;
        }
        text.push(")")
    }

    const fn arguments(self, kernel: &CudaKernel) -> Self {
        let (mut text, mut i) = (self.push("("), 0);
        while i < kernel.arguments.len() {
            text = text.separate(i);
            text = match kernel.arguments[i].len {
                CudaLen::Items(len) => text.push("[usize; ").number(len).push("]"),
                CudaLen::Any => text.push("[usize; ANY]"),
                CudaLen::One => text.element(kernel.arguments[i].element, kernel),
            };
            i += 1;
        }
        text.push(")")
    }
}
