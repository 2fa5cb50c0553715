//! [`FusedPart`]: what a fused task consists of, for models of its duration.

use std::mem;
use std::ops::Range;

use super::declaration::Codelet;
use super::fused::{Fused, FusedOperand, FusedStep, stretched};

/// A part of a fused task, in the shapes that it has there.
#[derive(Clone, Debug)]
pub(crate) struct FusedPart {
    /// The codelet; for the end of a reduction, that of the contributions.
    pub(crate) codelet: &'static Codelet,
    /// Whether it is the end of a reduction.
    pub(crate) finishes: bool,
    /// Its operands, in order.
    pub(crate) operands: Vec<PartOperand>,
    /// Where its arguments are among those of the fused task.
    pub(crate) arguments: Range<usize>,
}

/// An operand of a part.
#[derive(Clone, Debug)]
pub(crate) struct PartOperand {
    pub(crate) extents: Vec<usize>,
    /// Bytes of an element.
    pub(crate) element_bytes: usize,
    /// Whether the part exchanges it with the memory: an array of the fused task that no part before it has used. Others are in the
    /// cache, or in registers.
    pub(crate) is_exchanged: bool,
}

impl PartOperand {
    pub(crate) fn bytes(&self) -> f64 {
        (self.extents.iter().product::<usize>() * self.element_bytes) as f64
    }
}

impl Fused {
    /// Its parts, where its operands have these extents.
    pub(super) fn parts(&self, given: &[&[usize]]) -> Vec<FusedPart> {
        let shared = self.shared_extents(given);
        let passed = |index: usize| {
            let row = self.rows.as_ref().map_or(&[][..], |rows| &rows.passed[index]);
            [&shared, row].concat()
        };
        let mut seen = vec![false; given.len()];
        let mut operand = |operand: FusedOperand, element_bytes: usize| match operand {
            FusedOperand::Given(index) => {
                let is_exchanged = !mem::replace(&mut seen[index], true);
                PartOperand { extents: given[index].to_vec(), element_bytes, is_exchanged }
            }
            FusedOperand::Passed(index) => {
                PartOperand { extents: passed(index), element_bytes, is_exchanged: false }
            }
        };
        let mut begin = 0;
        let part = |step: &FusedStep| {
            let arguments = begin..begin + step.arguments;
            begin = arguments.end;
            let operands = step.operands.iter().enumerate();
            let operands = operands.map(|(index, &of)| operand(of, step.element(index).size_bytes));
            FusedPart {
                codelet: step.codelet,
                finishes: step.finish.is_some(),
                operands: operands.collect(),
                arguments,
            }
        };
        let mut parts: Vec<_> = self.steps.iter().map(part).collect();
        if let Some(reduction) = self.reduction {
            let [input, sum] =
                [0, 1].map(|index| reduction.codelet.parameters[index].kernel_element().size_bytes);
            let result = PartOperand {
                extents: given.last().map_or(Vec::new(), |extents| extents.to_vec()),
                element_bytes: sum,
                is_exchanged: true,
            };
            parts.push(FusedPart {
                codelet: reduction.codelet,
                finishes: false,
                operands: vec![operand(FusedOperand::Passed(reduction.passed), input), result],
                arguments: begin..begin,
            });
        }
        parts
    }

    /// The extents that all parts have in common: those of what maps of one shape compute, otherwise the leading ones.
    fn shared_extents(&self, given: &[&[usize]]) -> Vec<usize> {
        let own = &given[..given.len() - usize::from(self.reduction.is_some())];
        let shared = match &self.rows {
            None => stretched(own.iter().copied()),
            Some(rows) => {
                let cut = own.iter().zip(&rows.is_cut).filter(|(_, is_cut)| **is_cut);
                stretched(cut.map(|(extents, _)| &extents[..rows.axes]))
            }
        };
        shared.map_or(Vec::new(), |extents| extents.to_vec())
    }
}

impl Codelet {
    /// The parts of a task of it whose operands have these extents; none if it was not fused.
    pub(crate) fn parts(&self, given: &[&[usize]]) -> Option<Vec<FusedPart>> {
        Some(self.fused()?.parts(given))
    }

    fn fused(&self) -> Option<&'static Fused> {
        self.cpu_kernel()?.maps()
    }
}
