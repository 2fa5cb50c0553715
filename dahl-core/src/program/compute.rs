//! [`compute`]: what a task writes whose inputs are known when a program is recorded.
#![allow(unsafe_code, reason = "calls a kernel on memory of its own")]

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::part::Part;
use crate::codelet::{Line, Operand, Packs, as_kernel};
use crate::float_control::FloatControl;

/// The bytes that a task writes if its inputs have these; none if its kernel fails. It calls the kernel that a worker calls,
/// in the same floating-point environment, so the bits are those of the task.
///
/// # Panics
/// If the inputs have another number, or too few bytes.
pub fn compute(part: &Part<'_>, inputs: &[&[u8]]) -> Option<Vec<u8>> {
    let desc = part.desc();
    assert_eq!(inputs.len(), part.output(), "each input is known");
    let mut memory = Vec::with_capacity(part.operands());
    for operand in 0..part.operands() {
        let layout = &desc.access(part.access(operand)).layout;
        if !layout.is_contiguous() || layout.offset != 0 {
            return None;
        }
        let bytes = layout.len() * part.element_bytes(operand);
        let mut lines = vec![Line::default(); bytes.div_ceil(size_of::<Line>())];
        if let Some(input) = inputs.get(operand) {
            bytemuck::cast_slice_mut(&mut lines)[..bytes].copy_from_slice(&input[..bytes]);
        }
        memory.push((lines, bytes));
    }
    let step = part.step(Vec::new());
    let is_output = |operand: usize| operand == part.output();
    let operands: Option<Vec<Operand>> = memory
        .iter_mut()
        .enumerate()
        .map(|(operand, (lines, _))| {
            Some(Operand {
                pointer: lines.as_mut_ptr().cast(),
                layout: desc.access(part.access(operand)).layout,
                element: part.element_of(operand)?,
                writes: is_output(operand),
                reads: !is_output(operand) || step.contributes().is_some(),
            })
        })
        .collect();
    let operands = operands?;
    let _standard = FloatControl::standard_meanwhile();
    let mut packs = Packs::new(None);
    let run = || {
        // SAFETY: invariant V: each operand is contiguous in memory of its own, which has as many initialised elements, is aligned
        // to a line, and is not used otherwise before `run` returns.
        as_kernel(|| unsafe { step.run(&operands, desc.arguments(), &mut packs) });
    };
    if let Err(payload) = catch_unwind(AssertUnwindSafe(run)) {
        // Its drop may panic, too. The task fails in the same way when it runs.
        std::mem::forget(payload);
        return None;
    }
    let (lines, bytes) = memory.pop()?;
    Some(bytemuck::cast_slice(&lines)[..bytes].to_vec())
}
