//! [`Reducer`]: reduces what fused maps compute, tile by tile, with the bits of the reduction of the whole array.
//!
//! # Why the bits are the same
//!
//! The codelet [declares](super::Codelet::blocks) that its kernel adds blocks of `B` elements as a binary counter carries.
//! Let a unit be `U = 2^k B` elements. Of an array of `q U + r` elements, with `r < U`:
//!
//! * a node of level `k` of the tree is what the kernel gives for one unit, since the carries below level `k` are inside of
//!   a unit. So calls of the kernel on the `q` units, added as a binary counter carries, give the nodes from level `k` on;
//! * at the end the kernel adds what is left, from the last to the first: first the nodes below level `k` and the short
//!   block, which is what it gives for the last `r` elements alone, and then the nodes from level `k` on.
//!
//! The kernel adds to its output, so each call begins with the identity, `+0`, which changes a result only if that is
//! `-0`, to `+0`. A sum with `+0` in place of `-0` differs at most in the sign of a zero. And the output of the fused task
//! is the first contribution to a buffer, and has the identity before it: `+0` plus a zero of any sign is `+0`.
#![allow(unsafe_code, reason = "calls a kernel on tiles")]

use super::accumulator::Accumulator;
use super::declaration::Codelet;
use super::kernel::Kernel;
use super::operand::Operand;
use super::packs::Packs;
use super::views::{Line, Views};
use crate::element::ElementType;
use crate::shape::Layout;

/// The reduction of what a map of a fused task passes on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FusedReduction {
    /// The reduction: a sum in declared blocks.
    pub(crate) codelet: &'static Codelet,
    /// The number of what is passed on.
    pub(crate) passed: usize,
}

impl FusedReduction {
    fn kernel(&self) -> &'static Kernel {
        self.codelet.cpu_kernel().expect("a reduction that is fused has a kernel on CPUs")
    }

    pub(super) fn element(&self) -> ElementType {
        self.codelet.parameters[0].element
    }

    fn accumulator(&self) -> &'static Accumulator {
        self.codelet.parameters[1].accumulator.as_ref().expect("a reduction has an accumulator")
    }

    /// The largest unit of at most `tile` elements, at least a block.
    pub(super) fn unit(&self, tile: usize) -> usize {
        let block = self.codelet.blocks.expect("a reduction that is fused declares its blocks");
        block << (tile / block).max(1).ilog2()
    }
}

/// A reduction of elements that come tile by tile, in row-major order.
pub(super) struct Reducer {
    reduction: FusedReduction,
    unit: usize,
    /// Memory of one unit: elements that are not yet a whole one, and how many they are.
    pending: *mut u8,
    filled: usize,
    /// `nodes[level]` is of `2^level` units; so many units came.
    nodes: [Line; usize::BITS as usize],
    units: usize,
}

impl Reducer {
    /// One of units of so many elements.
    ///
    /// # Safety
    /// `pending` points to memory of a unit, initialised, aligned to a line, which nobody else uses.
    pub(super) unsafe fn new(reduction: FusedReduction, unit: usize, pending: *mut u8) -> Self {
        Self { reduction, unit, pending, filled: 0, nodes: [Line::default(); usize::BITS as usize], units: 0 }
    }

    /// Takes the next `count` elements.
    ///
    /// # Safety
    /// At `from` are as many, of the type of the reduction's input, initialised and aligned; nobody writes them meanwhile.
    pub(super) unsafe fn push(&mut self, mut from: *mut u8, mut count: usize, packs: &mut Packs) {
        let size = self.reduction.element().size_bytes;
        while count > 0 {
            let is_whole = self.filled == 0 && count >= self.unit;
            let taken = count.min(self.unit - self.filled);
            if is_whole {
                // SAFETY: the caller's.
                unsafe { self.add_unit(from, packs) };
            } else {
                let to = self.pending.wrapping_add(self.filled * size);
                // SAFETY: the caller's, and `new`'s: `filled + taken` elements are at most a unit. They do not overlap,
                // since nobody else uses the memory of the pending ones.
                unsafe { std::ptr::copy_nonoverlapping(from, to, taken * size) };
                self.filled += taken;
                if self.filled == self.unit {
                    self.filled = 0;
                    // SAFETY: `new`'s; a unit of elements has been copied.
                    unsafe { self.add_unit(self.pending, packs) };
                }
            }
            from = from.wrapping_add(taken * size);
            count -= taken;
        }
    }

    /// Combines the result with `out`.
    pub(super) fn finish(mut self, out: &mut [u8], packs: &mut Packs) {
        let accumulator = self.reduction.accumulator();
        let size = accumulator.element().size_bytes;
        let mut total = None;
        if self.filled > 0 {
            // SAFETY: `new`'s; so many elements have been copied.
            total = Some(unsafe { reduce(self.reduction, self.pending, self.filled, packs) });
        }
        while self.units > 0 {
            let mut node = self.nodes[self.units.trailing_zeros() as usize];
            if let Some(later) = &total {
                accumulator.combine(&mut bytes_of(&mut node)[..size], &bytemuck::bytes_of(later)[..size]);
            }
            total = Some(node);
            self.units &= self.units - 1;
        }
        if let Some(total) = &total {
            accumulator.combine(out, &bytemuck::bytes_of(total)[..size]);
        }
    }

    /// Reduces a unit, and carries.
    ///
    /// # Safety
    /// That of [`reduce`], for a unit.
    unsafe fn add_unit(&mut self, from: *mut u8, packs: &mut Packs) {
        // SAFETY: the caller's.
        let mut node = unsafe { reduce(self.reduction, from, self.unit, packs) };
        let accumulator = self.reduction.accumulator();
        let size = accumulator.element().size_bytes;
        let carries = self.units.trailing_ones() as usize;
        for earlier in &mut self.nodes[..carries] {
            accumulator.combine(&mut bytes_of(earlier)[..size], &bytemuck::bytes_of(&node)[..size]);
            node = *earlier;
        }
        self.nodes[carries] = node;
        self.units += 1;
    }
}

fn bytes_of(line: &mut Line) -> &mut [u8] {
    bytemuck::bytes_of_mut(line)
}

/// What the kernel gives for `count` elements.
///
/// # Safety
/// At `from` are as many, of the type of the reduction's input, initialised and aligned; nobody writes them meanwhile.
unsafe fn reduce(reduction: FusedReduction, from: *mut u8, count: usize, packs: &mut Packs) -> Line {
    let accumulator = reduction.accumulator();
    let (mut result, mut layouts) = (Line::default(), [Layout::EMPTY; 2]);
    accumulator.fill_identity(&mut bytes_of(&mut result)[..accumulator.element().size_bytes]);
    layouts[0].set_contiguous(&[count]);
    layouts[1].set_contiguous(&[]);
    let operands = [
        Operand {
            pointer: from,
            layout: layouts[0],
            element: reduction.element(),
            writes: false,
            reads: true,
        },
        Operand {
            pointer: std::ptr::from_mut(&mut result).cast(),
            layout: layouts[1],
            element: accumulator.element(),
            writes: true,
            reads: true,
        },
    ];
    packs.restart();
    // SAFETY: invariant V: the input is the caller's; the output is one element in a line of this function's, initialised
    // and aligned, and apart from the input. The line is not used otherwise before the views are gone.
    let mut views = unsafe { Views::new(&operands, &[], packs) };
    reduction.kernel().run(&mut views, false);
    // SAFETY: the same operands, and the views are gone.
    unsafe { packs.unpack(&operands) };
    result
}
