//! Whether a kernel wrote every element of its `W` outputs: they hold a pattern before, and must not hold it after.

use super::pattern::Pattern;
use super::substitute::Substitute;
use super::{Inspected, elements, is_overwritten};
use crate::access::AccessMode;
use crate::codelet::Operand;

/// Fills the outputs that the kernel overwrites.
///
/// # Safety
/// Invariant V of [`Operand`] holds for each.
pub(super) unsafe fn fill(inspected: Inspected, operands: &mut [Operand]) {
    let parameters = inspected.parameters(operands.len());
    for (operand, _) in operands.iter_mut().zip(parameters).filter(|(_, parameter)| is_overwritten(parameter))
    {
        // SAFETY: guaranteed by the caller.
        unsafe { Pattern::new(operand.element).fill(operand) };
        // A contiguous copy for a kernel that requires one has the pattern too.
        operand.reads = true;
    }
}

/// Searches for elements that still have the pattern.
///
/// A kernel may have written the pattern itself, if it is an ordinary value of its type (such as a byte). Then `again`
/// runs it on outputs filled with the complement: elements with the pattern in both runs were not written. A kernel
/// that also changes its arrays in other ways is not run twice; for such kernels, types of less than 4 bytes are not
/// checked.
///
/// # Safety
/// Invariant V of [`Operand`] holds for each, and no views of them exist.
pub(super) unsafe fn look(
    inspected: Inspected,
    operands: &[Operand],
    mut again: impl FnMut(&[Operand]) -> bool,
) -> Result<(), String> {
    let parameters = inspected.parameters(operands.len());
    let overwritten =
        operands.iter().zip(parameters).enumerate().filter(|(_, (_, parameter))| is_overwritten(parameter));
    for (index, (operand, parameter)) in overwritten {
        // SAFETY: guaranteed by the caller.
        let Some(mut found) = (unsafe { Pattern::new(operand.element).find(operand) }) else { continue };
        if Pattern::is_plausible(operand.element) {
            if can_repeat(inspected, operands.len()) {
                // SAFETY: guaranteed by the caller.
                match unsafe { confirm(inspected, operands, index, &mut again) } {
                    Some((first, count)) => (found.first, found.count) = (first, count),
                    None => continue,
                }
            } else if operand.element.size_bytes < size_of::<u32>() {
                continue;
            }
        }
        let (count, len) = (found.count, operand.layout.len());
        let first = elements::index_of(&operand.layout, found.first);
        let (kernel, name) = (inspected.kernel.name(), parameter.name);
        return Err(format!(
            "the kernel `{kernel}` left {count} of {len} elements of its output `{name}` unwritten, the first at \
             {first:?}; with W it writes every element, to keep some declare RW"
        ));
    }
    Ok(())
}

/// Whether running the kernel twice has the effect of running it once.
fn can_repeat(inspected: Inspected, operands: usize) -> bool {
    operands == inspected.codelet.parameters.len()
        && inspected
            .codelet
            .parameters
            .iter()
            .all(|parameter| matches!(parameter.mode, AccessMode::R | AccessMode::W))
}

/// The number of the first element of output `index` that was not written, and how many there are; none if all were
/// written.
///
/// # Safety
/// As for [`look`].
unsafe fn confirm(
    inspected: Inspected,
    operands: &[Operand],
    index: usize,
    again: &mut impl FnMut(&[Operand]) -> bool,
) -> Option<(usize, usize)> {
    let pattern = Pattern::new(operands[index].element);
    let mut others = operands.to_vec();
    let mut substitutes = Vec::new();
    for (operand, _) in others
        .iter_mut()
        .zip(inspected.parameters(operands.len()))
        .filter(|(_, parameter)| is_overwritten(parameter))
    {
        let substitute = Substitute::new(operand, &Pattern::new(operand.element).complement(), false);
        *operand = *substitute.operand();
        substitutes.push(substitute);
    }
    if !again(&others) {
        return None;
    }
    let complement = pattern.complement();
    let size = operands[index].element.size_bytes;
    let mut unwritten = (0, 0);
    let mut second = Vec::new();
    // SAFETY: the substitute is this function's, and the kernel has ended.
    unsafe { elements::for_each_chunk(&others[index], |_, bytes| second.extend_from_slice(bytes)) };
    let compare = |first: usize, bytes: &[u8]| {
        for (i, element) in bytes.chunks_exact(size).enumerate() {
            let number = first + i;
            let other = &second[number * size..(number + 1) * size];
            if element == pattern.as_bytes() && other == complement.as_bytes() {
                unwritten = (if unwritten.1 == 0 { number } else { unwritten.0 }, unwritten.1 + 1);
            }
        }
    };
    // SAFETY: guaranteed by the caller.
    unsafe { elements::for_each_chunk(&operands[index], compare) };
    (unwritten.1 > 0).then_some(unwritten)
}
