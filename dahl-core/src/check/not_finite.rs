//! Finds a NaN or an infinity that came out of a kernel where none went in.
//!
//! A plain argument may be one too, and its type is not known here. So tasks that read no array, such as a fill with
//! infinity, are not checked.

use half::{bf16, f16};

use super::pattern::is_float;
use super::{CheckNote, CheckNotes, Inspected, elements, is_overwritten};
use crate::access::{AccessMode, Reduction};
use crate::codelet::{Operand, Parameter};
use crate::element::ElementType;

/// Elements that are examined without a branch.
const BLOCK: usize = 1024;

/// Whether an array that the kernel reads and changes has one.
///
/// # Safety
/// The operands may be read.
pub(super) unsafe fn is_in_changed(inspected: Inspected, operands: &[Operand]) -> bool {
    let changed = operands.iter().zip(inspected.parameters(operands.len())).filter(|(operand, parameter)| {
        operand.writes && !is_overwritten(parameter) && is_looked_at(operand, parameter)
    });
    // SAFETY: guaranteed by the caller.
    changed.into_iter().any(|(operand, _)| unsafe { first(operand) }.is_some())
}

/// Reports the first one in an output, unless an input had one.
///
/// # Safety
/// The operands may be read.
pub(super) unsafe fn look(inspected: Inspected, operands: &[Operand], before: bool, notes: &CheckNotes) {
    if before {
        return;
    }
    let mut outputs = operands
        .iter()
        .zip(inspected.parameters(operands.len()))
        .filter(|(operand, parameter)| operand.writes && is_looked_at(operand, parameter));
    // SAFETY: guaranteed by the caller.
    let found =
        outputs.find_map(|(operand, parameter)| Some((operand, parameter, unsafe { first(operand) }?)));
    let Some((operand, parameter, (number, value))) = found else { return };
    let mut inputs = operands.iter().filter(|operand| !operand.writes);
    let reads_none = inputs.clone().next().is_none() && is_overwritten(parameter);
    // SAFETY: guaranteed by the caller.
    if reads_none || inputs.any(|input| unsafe { first(input) }.is_some()) {
        return;
    }
    notes.add(CheckNote {
        codelet: inspected.codelet.name,
        kernel: inspected.kernel.name(),
        parameter: parameter.name,
        index: elements::index_of(&operand.layout, number),
        value,
        location: inspected.location,
    });
}

/// Whether it is an array of floats that should not get such values. (The maximum of no elements is minus infinity, and
/// maxima and minima do not compute new values.)
fn is_looked_at(operand: &Operand, parameter: &Parameter) -> bool {
    let mode_counts = match parameter.mode {
        AccessMode::R | AccessMode::W | AccessMode::RW | AccessMode::COMMUTE => true,
        AccessMode::REDUX(reduction) => reduction == Reduction::Sum,
        AccessMode::SCRATCH => false,
    };
    mode_counts && is_float(operand.element)
}

/// The first NaN or infinity: its number and value.
///
/// # Safety
/// The elements may be read.
unsafe fn first(operand: &Operand) -> Option<(usize, f64)> {
    let mut found = None;
    let look = |number: usize, bytes: &[u8]| {
        if found.is_none() {
            found = first_in(operand.element, bytes).map(|(i, value)| (number + i, value));
        }
    };
    if is_float(operand.element) {
        // SAFETY: guaranteed by the caller.
        unsafe { elements::for_each_chunk(operand, look) };
    }
    found
}

fn first_in(element: ElementType, bytes: &[u8]) -> Option<(usize, f64)> {
    /// The first element whose exponent has all bits set.
    macro_rules! find {
        ($bits:ty, $exponent:expr, $value:expr) => {{
            let (elements, _) = bytes.as_chunks::<{ size_of::<$bits>() }>();
            let is_not_finite = |element: &[u8; size_of::<$bits>()]| {
                <$bits>::from_ne_bytes(*element) & $exponent == $exponent
            };
            // A block without branches is vectorised.
            let has_one = |block: &[_]| block.iter().fold(false, |any, element| any | is_not_finite(element));
            let block = elements.chunks(BLOCK).position(has_one)?;
            let within = elements[block * BLOCK..].iter().position(is_not_finite)?;
            let number = block * BLOCK + within;
            Some((number, $value(<$bits>::from_ne_bytes(elements[number]))))
        }};
    }
    if element.is::<f32>() {
        find!(u32, 0x7f80_0000, |bits| f64::from(f32::from_bits(bits)))
    } else if element.is::<f64>() {
        find!(u64, 0x7ff0_0000_0000_0000, f64::from_bits)
    } else if element.is::<f16>() {
        find!(u16, 0x7c00, |bits| f16::from_bits(bits).to_f64())
    } else if element.is::<bf16>() {
        find!(u16, 0x7f80, |bits| bf16::from_bits(bits).to_f64())
    } else {
        None
    }
}
