//! [`Oracle`]: what the results should be, by a codelet's reference or by its own declaration in double-double.
#![allow(unsafe_code, reason = "runs a kernel on buffers of its own")]

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::buffer::{Buffer, elements};
use super::double_double::DoubleDouble;
use super::report::Reference;
use super::subject::Subject;
use crate::access::AccessMode;
use crate::codelet::{ErrorClass, Kernel, Line, Operand, Packs, Parameter, Views};
use crate::element::{ElementType, Real};
use crate::shape::Layout;
use crate::task::Submission;

/// A result in more digits than `f64` has: the sum of both.
#[derive(Clone, Copy, Debug)]
pub(super) struct Exact {
    pub(super) high: f64,
    pub(super) low: f64,
}

/// How a kernel gets numbers.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Taken {
    AsTheyAre,
    /// As magnitudes.
    Absolute,
    /// Inputs as they are, what they are added to as magnitudes.
    Finite,
}

impl Taken {
    fn value(self, value: f64, is_added_to: bool) -> f64 {
        match self {
            Self::AsTheyAre => value,
            // An infinity among the terms is no overflow of their sum.
            _ if !value.is_finite() => 0.0,
            Self::Finite if !is_added_to => value,
            Self::Absolute | Self::Finite => value.abs(),
        }
    }
}

/// The kernels that say what results should be.
pub(super) struct Oracle<'a> {
    parameters: &'static [Parameter],
    generic: &'static [bool],
    kernel: Kernel,
    magnitude: Kernel,
    /// In what they compute.
    real: ElementType,
    submission: &'a Submission,
}

impl<'a> Oracle<'a> {
    /// What says what the results of `subject` should be, and whether it is independent of the kernels.
    pub(super) fn new(subject: &dyn Subject, submission: &'a Submission) -> Option<(Self, Reference)> {
        let numerics = subject.numerics();
        let (kernel, real, reference) = match numerics.reference {
            Some(kernel) => (kernel, ElementType::of::<f64>(), Reference::Independent),
            None => (subject.declaration()?, ElementType::of::<DoubleDouble>(), Reference::SelfConsistency),
        };
        let magnitude = match numerics.error {
            Some(ErrorClass::Sum { magnitude: Some(magnitude), .. }) => magnitude,
            _ => kernel,
        };
        let oracle = Self {
            parameters: subject.codelet().parameters,
            generic: numerics.generic,
            kernel,
            magnitude,
            real,
            submission,
        };
        Some((oracle, reference))
    }

    /// The results for `data`: for each array that is written, in order.
    pub(super) fn results(&self, data: &[Buffer]) -> Result<Vec<Vec<Exact>>, String> {
        self.run(&self.kernel, self.real, data, Taken::AsTheyAre)
    }

    /// The sum of the absolute values of what was summed up for each result: by a kernel that is `given` for it, from the
    /// data as they are; by the reference, from their absolute values.
    pub(super) fn magnitudes(&self, data: &[Buffer], given: bool) -> Result<Vec<Vec<Exact>>, String> {
        let real = if given { ElementType::of::<f64>() } else { self.real };
        self.run(&self.magnitude, real, data, if given { Taken::Finite } else { Taken::Absolute })
    }

    fn run(
        &self,
        kernel: &Kernel,
        real: ElementType,
        data: &[Buffer],
        taken: Taken,
    ) -> Result<Vec<Vec<Exact>>, String> {
        let mut places = data.iter();
        let mut memory = Vec::new();
        for (index, parameter) in self.parameters.iter().enumerate() {
            let is_scratch = parameter.mode == AccessMode::SCRATCH;
            let buffer = if is_scratch { None } else { places.next() };
            let extents = buffer.map_or(&self.submission.extents[index], |buffer| &buffer.extents);
            let len: usize = extents.iter().product();
            let is_real = self.generic[index];
            let element = if is_real { real } else { parameter.kernel_element() };
            let mut lines = vec![Line::default(); (len * element.size_bytes).div_ceil(size_of::<Line>())];
            let bytes = &mut bytemuck::cast_slice_mut::<_, u8>(&mut lines)[..len * element.size_bytes];
            match buffer {
                Some(buffer) if is_real => {
                    let values = buffer.values().into_iter().map(|value| match parameter.mode {
                        // A result that the reference forgets is seen.
                        AccessMode::W => f64::NAN,
                        mode => taken.value(value, mode.writes()),
                    });
                    fill(bytes, real, values);
                }
                Some(buffer) if buffer.element == element => bytes.copy_from_slice(&buffer.bytes),
                Some(_) => return Err(format!("`{}` accumulates in a type of its own", parameter.name)),
                None => {}
            }
            let mut layout = Layout::EMPTY;
            layout.set_contiguous(extents);
            let pointer = lines.as_mut_ptr().cast();
            let (reads, writes) = (parameter.mode != AccessMode::W, parameter.mode != AccessMode::R);
            memory.push((lines, Operand { pointer, layout, element, writes, reads }));
        }
        let operands: Vec<Operand> = memory.iter().map(|(_, operand)| *operand).collect();
        let mut packs = Packs::new(None);
        // SAFETY: invariant V: each operand spans a vector of its own, which is initialised, aligned for any element,
        // and not touched while the views live.
        let views = unsafe { Views::new(&operands, &self.submission.arguments, &mut packs) };
        let mut views = if taken == Taken::Absolute { views.absolute() } else { views };
        catch_unwind(AssertUnwindSafe(|| kernel.run(&mut views, false)))
            .map_err(|_| format!("the kernel `{}` panicked", kernel.name()))?;
        let written = self.parameters.iter().zip(&memory).filter(|(parameter, _)| parameter.mode.writes());
        Ok(written.map(|(_, (lines, operand))| exact(bytemuck::cast_slice(lines), operand)).collect())
    }
}

/// Writes `values` as elements of type `real`.
fn fill(bytes: &mut [u8], real: ElementType, values: impl Iterator<Item = f64>) {
    for (element, value) in bytes.chunks_exact_mut(real.size_bytes).zip(values) {
        if real.is::<f64>() {
            element.copy_from_slice(bytemuck::bytes_of(&value));
        } else {
            element.copy_from_slice(bytemuck::bytes_of(&DoubleDouble::from_f64(value)));
        }
    }
}

/// The elements of a result.
fn exact(bytes: &[u8], operand: &Operand) -> Vec<Exact> {
    let (len, element) = (operand.layout.len(), operand.element);
    if element.is::<DoubleDouble>() {
        let parts = |value: DoubleDouble| {
            let high = value.to_f64();
            let rest = (value - DoubleDouble::from_f64(high)).to_f64();
            Exact { high, low: if rest.is_finite() { rest } else { 0.0 } }
        };
        return elements::<DoubleDouble>(bytes).into_iter().take(len).map(parts).collect();
    }
    let bytes = bytes[..len * element.size_bytes].to_vec();
    let values = Buffer { element, extents: vec![len], bytes }.values();
    values.into_iter().map(|high| Exact { high, low: 0.0 }).collect()
}
