//! [`Combination`]: a user's reduction, given by an identity and a codelet that [`Combines`] partial results.
//!
//! Not here: the built-in reductions, and the array's element type (`accumulator`); the order in which partial results
//! combine (`task::reduction`).
#![allow(unsafe_code, reason = "hands private buffers to the user's kernel")]

use std::fmt;

use super::operand::Operand;
use super::packs::Packs;
use super::views::Views;
use super::{Codelet, Kernel};
use crate::element::{Element, ElementType};
use crate::shape::Layout;

/// A codelet that combines a later partial result of a reduction into the earlier one, in place.
///
/// `#[codelet]` implements it for every codelet that can.
#[diagnostic::on_unimplemented(
    message = "the codelet `{Self}` cannot combine partial results of `{A}`",
    label = "does not combine partial results of `{A}`",
    note = "a kernel that combines has the modes (RW, R) and two views of `{A}`, of any rank or of rank 1: `fn merge(earlier: &mut [{A}], later: &[{A}])`",
    note = "or it is a map of two `{A}` to `{A}`, or a kernel (R, R, W) with an `in_place_kernel`, over its first input",
    note = "it has no plain arguments, and no type parameters other than the elements' type"
)]
pub trait Combines<A: Element> {
    /// The codelet, for elements of `A`.
    fn codelet() -> &'static Codelet;
}

/// An identity, and the codelet that combines partial results.
#[derive(Clone, Copy)]
pub(super) struct Combination {
    /// The text of the identity's expression.
    identity: &'static str,
    /// Fills a buffer with it.
    fill: fn(&mut Views<'_>),
    codelet: fn() -> &'static Codelet,
}

impl Combination {
    pub(super) const fn new<A: Element, C: Combines<A>>(
        identity: &'static str,
        fill: fn(&mut Views<'_>),
    ) -> Self {
        Self { identity, fill, codelet: C::codelet }
    }

    /// Whether both have the same identity and combine in the same way, for buffers of one element type.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        let identity = |codelet: &Codelet| (codelet.module, codelet.name, codelet.declaration);
        self.identity == other.identity && identity((self.codelet)()) == identity((other.codelet)())
    }

    pub(super) fn fill_identity(&self, element: ElementType, buffer: &mut [u8]) {
        let operands = [Operand::of_changed(element, buffer)];
        let mut packs = Packs::new(None);
        // SAFETY: `buffer` is borrowed mutably until this returns, and `of_changed` made the operand from all of it.
        // Its elements are plain data, so they are initialised.
        (self.fill)(&mut unsafe { Views::new(&operands, &[], &mut packs) });
    }

    /// Combines `later` into `earlier`.
    pub(super) fn combine(&self, element: ElementType, earlier: &mut [u8], later: &[u8]) {
        let kernel = self.kernel();
        let operands = [Operand::of_changed(element, earlier), Operand::of_read(element, later)];
        assert_eq!(
            operands[0].layout.len(),
            operands[1].layout.len(),
            "partial results of one reduction are equally long"
        );
        let mut packs = Packs::new(None);
        // SAFETY: both buffers are borrowed until this returns, `earlier` mutably, so they do not overlap; each operand
        // is a whole buffer, and `later`'s is only read. Their elements are plain data.
        kernel.run(&mut unsafe { Views::new(&operands, &[], &mut packs) }, false);
    }

    /// The kernel that changes its first parameter and reads its second.
    fn kernel(&self) -> &'static Kernel {
        let codelet = (self.codelet)();
        match &codelet.in_place {
            Some(in_place) => in_place.kernel.as_ref().expect("`Combines` is for kernels in place"),
            None => codelet.cpu_kernel().expect("a codelet has a kernel in Rust"),
        }
    }
}

impl Operand {
    /// A whole buffer, to be changed.
    fn of_changed(element: ElementType, buffer: &mut [u8]) -> Self {
        let layout = layout_of(element, buffer);
        Self { pointer: buffer.as_mut_ptr(), layout, element, writes: true, reads: true }
    }

    /// A whole buffer, to be read.
    fn of_read(element: ElementType, buffer: &[u8]) -> Self {
        let layout = layout_of(element, buffer);
        Self { pointer: buffer.as_ptr().cast_mut(), layout, element, writes: false, reads: true }
    }
}

/// A contiguous layout of all elements in a buffer.
///
/// # Panics
/// If the buffer is not aligned for them, or does not hold a whole number of them.
fn layout_of(element: ElementType, buffer: &[u8]) -> Layout {
    assert!(
        buffer.as_ptr().addr().is_multiple_of(element.align_bytes)
            && buffer.len().is_multiple_of(element.size_bytes),
        "a private buffer holds elements"
    );
    let mut layout = Layout::EMPTY;
    layout.set_contiguous(&[buffer.len() / element.size_bytes]);
    layout
}

impl fmt::Debug for Combination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Combination")
            .field("identity", &self.identity)
            .field("codelet", &(self.codelet)().name)
            .finish()
    }
}
