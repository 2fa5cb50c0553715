//! Whether a kernel in C left its inputs unchanged. The kernel receives copies, so the arrays stay intact.

use super::pattern::Pattern;
use super::substitute::Substitute;
use super::{Inspected, elements};
use crate::codelet::Operand;

/// For each input of a kernel in C: its number, the copy that the kernel receives, and one for comparison.
#[derive(Default)]
pub(super) struct Originals(Vec<(usize, Substitute, Substitute)>);

impl Originals {
    /// Gives copies of its inputs to a kernel in C. Copies have the strides of the originals, unless the kernel
    /// requires contiguous elements.
    ///
    /// # Safety
    /// Invariant V of [`Operand`] holds for each.
    pub(super) unsafe fn replace(&mut self, inspected: Inspected, operands: &mut [Operand]) {
        self.clear();
        let Some(views) = inspected.kernel.c_views() else { return };
        for (index, operand) in operands.iter_mut().enumerate().filter(|(_, operand)| !operand.writes) {
            let contiguous = views.get(index).is_some_and(|view| view.is_slice());
            let pattern = Pattern::new(operand.element);
            let copies = [(); 2].map(|()| Substitute::new(operand, &pattern, contiguous));
            for copy in &copies {
                // SAFETY: guaranteed by the caller; the copy is new.
                unsafe { elements::copy(operand, copy.operand()) };
            }
            let [given, kept] = copies;
            *operand = *given.operand();
            self.0.push((index, given, kept));
        }
    }

    /// Compares the copies with their originals.
    pub(super) fn compare(&self, inspected: Inspected, operands: &[Operand]) -> Result<(), String> {
        for (index, given, kept) in &self.0 {
            // SAFETY: the kernel has ended.
            let (given, kept) = (unsafe { given.bytes() }, unsafe { kept.bytes() });
            if given == kept {
                continue;
            }
            let (kernel, operand) = (inspected.kernel.name(), &operands[*index]);
            let name =
                inspected.parameters(operands.len()).nth(*index).map_or("", |parameter| parameter.name);
            let size = operand.element.size_bytes;
            let changed = (0..operand.layout.len()).find(|&number| {
                let begin = elements::offset_of(&operand.layout, number) * size;
                given[begin..begin + size] != kept[begin..begin + size]
            });
            let place = match changed {
                Some(number) => format!("at {:?}", elements::index_of(&operand.layout, number)),
                None => "between its elements".to_owned(),
            };
            return Err(format!(
                "the kernel `{kernel}` changed its input `{name}` {place}, which it may only read"
            ));
        }
        Ok(())
    }

    /// Frees the copies.
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }
}
