//! [`Substitute`]: a private buffer in the place of an operand.

use super::pattern::Pattern;
use crate::codelet::{Line, Operand};
use crate::shape::Layout;

/// A buffer with the layout of an operand: the same extents, and the same strides unless it was made contiguous. The
/// bytes between its elements have a pattern.
pub(super) struct Substitute {
    buffer: Vec<Line>,
    operand: Operand,
}

impl Substitute {
    /// A substitute for `operand`, filled with the pattern.
    pub(super) fn new(operand: &Operand, pattern: &Pattern, contiguous: bool) -> Self {
        let mut layout = operand.layout;
        if contiguous {
            layout = Layout::EMPTY;
            layout.set_contiguous(operand.layout.extents());
        }
        layout.offset = 0;
        let last: usize = layout
            .extents()
            .iter()
            .zip(layout.strides())
            .map(|(extent, stride)| extent.saturating_sub(1) * stride as usize)
            .sum();
        let elements = if layout.len() == 0 { 0 } else { last + 1 };
        let bytes = elements * operand.element.size_bytes;
        let mut buffer = vec![Line::default(); bytes.div_ceil(size_of::<Line>())];
        let all = &mut bytemuck::cast_slice_mut::<Line, u8>(&mut buffer)[..bytes];
        if !pattern.as_bytes().is_empty() {
            all.chunks_exact_mut(pattern.as_bytes().len())
                .for_each(|element| element.copy_from_slice(pattern.as_bytes()));
        }
        let mut substitute = Self { buffer, operand: Operand { layout, ..*operand } };
        substitute.operand.pointer = substitute.buffer.as_mut_ptr().cast();
        substitute
    }

    /// The substitute as an operand. It stays valid as long as the substitute.
    pub(super) fn operand(&self) -> &Operand {
        &self.operand
    }

    /// Every element, and the bytes between them.
    ///
    /// # Safety
    /// Nothing writes to the operand.
    pub(super) unsafe fn bytes(&self) -> &[u8] {
        // SAFETY: guaranteed by the caller; the buffer is as long, and initialised.
        unsafe { std::slice::from_raw_parts(self.operand.pointer.cast_const(), size_of_val(&*self.buffer)) }
    }
}
