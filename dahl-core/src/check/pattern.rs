//! [`Pattern`]: fills an output before the kernel runs, to find elements that it leaves unwritten.

use std::slice;

use half::{bf16, f16};

use super::elements;
use crate::codelet::Operand;
use crate::element::ElementType;

/// A value for every element of an output. For floats it is a *signalling* NaN: arithmetic makes only quiet ones, so no
/// computation writes it. Other types get a value that is unlikely, but possible.
pub(super) struct Pattern {
    element: Vec<u8>,
}

/// The elements that have a pattern.
pub(super) struct PatternMatches {
    pub(super) count: usize,
    /// The number of the first one.
    pub(super) first: usize,
}

impl Pattern {
    pub(super) fn new(element: ElementType) -> Self {
        let bytes: &[u8] = if element.is::<f16>() {
            &0x7d5b_u16.to_ne_bytes()
        } else if element.is::<bf16>() {
            &0x7fa5_u16.to_ne_bytes()
        } else if element.is::<f32>() {
            &0x7fa5_5d3b_u32.to_ne_bytes()
        } else if element.is::<f64>() {
            &0x7ff2_5d3b_a5c6_9717_u64.to_ne_bytes()
        } else {
            &[0x9d, 0x5b, 0xa3, 0x17, 0x6e, 0xc4, 0x38, 0xf1]
        };
        Self { element: bytes.iter().copied().cycle().take(element.size_bytes).collect() }
    }

    /// The pattern that differs from this one in every bit.
    pub(super) fn complement(&self) -> Self {
        Self { element: self.element.iter().map(|byte| !byte).collect() }
    }

    /// Whether a kernel may write it by chance.
    pub(super) fn is_plausible(element: ElementType) -> bool {
        !is_float(element) && element.size_bytes < size_of::<u64>()
    }

    pub(super) fn as_bytes(&self) -> &[u8] {
        &self.element
    }

    /// Writes it to every element.
    ///
    /// # Safety
    /// The elements may be written.
    pub(super) unsafe fn fill(&self, operand: &Operand) {
        // SAFETY: guaranteed by the caller; the pattern was made for this element type.
        unsafe { elements::fill(operand, &self.element) };
    }

    /// The elements that still have it.
    ///
    /// # Safety
    /// The elements may be read.
    pub(super) unsafe fn find(&self, operand: &Operand) -> Option<PatternMatches> {
        let mut found: Option<PatternMatches> = None;
        let size = self.element.len();
        let look = |number: usize, bytes: &[u8]| {
            let count = self.count(bytes);
            if count == 0 {
                return;
            }
            let first = || bytes.chunks_exact(size).position(|element| element == self.element);
            found
                .get_or_insert_with(|| PatternMatches { count: 0, first: number + first().unwrap_or(0) })
                .count += count;
        };
        // SAFETY: guaranteed by the caller.
        unsafe { elements::for_each_chunk(operand, look) };
        found
    }

    fn count(&self, bytes: &[u8]) -> usize {
        fn count<const SIZE: usize>(bytes: &[u8], pattern: &[u8]) -> usize {
            let pattern: [u8; SIZE] = pattern.try_into().expect("an element's bytes");
            bytes.as_chunks().0.iter().filter(|element| **element == pattern).count()
        }
        match self.element.len() {
            1 => count::<1>(bytes, slice::from_ref(&self.element[0])),
            2 => count::<2>(bytes, &self.element),
            4 => count::<4>(bytes, &self.element),
            8 => count::<8>(bytes, &self.element),
            size => bytes.chunks_exact(size).filter(|element| *element == self.element).count(),
        }
    }
}

/// Whether it is one of the floating-point types that the core knows.
pub(super) fn is_float(element: ElementType) -> bool {
    element.is::<f32>() || element.is::<f64>() || element.is::<f16>() || element.is::<bf16>()
}
