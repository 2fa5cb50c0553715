//! [`Oracle`]: the expected results, by a codelet's reference or by its own declaration in double-double.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::buffer::{Buffer, elements};
use super::double_double::DoubleDouble;
use super::report::Reference;
use super::subject::Subject;
use dahl_core::__testing::{self, AccessDesc, Line, Operand, TaskDesc};
use dahl_core::access::AccessMode;
use dahl_core::codelet::{ErrorClass, Kernel, Parameter};
use dahl_core::element::{ElementType, Real};

/// A result with more digits than `f64`: the sum of both.
#[derive(Clone, Copy, Debug)]
pub(super) struct Exact {
    pub(super) high: f64,
    pub(super) low: f64,
}

/// How numbers are passed to a kernel.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Taken {
    AsTheyAre,
    /// As magnitudes.
    Absolute,
    /// Inputs as they are, the old values of sums as magnitudes.
    Finite,
}

impl Taken {
    fn value(self, value: f64, is_added_to: bool) -> f64 {
        match self {
            Self::AsTheyAre => value,
            // An infinity among the terms is not an overflow of their sum.
            _ if !value.is_finite() => 0.0,
            Self::Finite if !is_added_to => value,
            Self::Absolute | Self::Finite => value.abs(),
        }
    }
}

/// The kernels that compute the expected results.
pub(super) struct Oracle<'a> {
    parameters: &'static [Parameter],
    generic: &'static [bool],
    kernel: Kernel,
    magnitude: Kernel,
    /// The type in which they compute.
    real: ElementType,
    task: &'a TaskDesc,
}

impl<'a> Oracle<'a> {
    /// The oracle for `subject`, and whether it is independent of the kernels.
    pub(super) fn new(subject: &dyn Subject, task: &'a TaskDesc) -> Option<(Self, Reference)> {
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
            task,
        };
        Some((oracle, reference))
    }

    /// The results for `data`, for each array that is written, in order.
    pub(super) fn results(&self, data: &[Buffer]) -> Result<Vec<Vec<Exact>>, String> {
        self.run(&self.kernel, self.real, data, Taken::AsTheyAre)
    }

    /// The sum of the terms' absolute values for each result: by the kernel that is `given` for it, from the data as
    /// they are; otherwise by the reference, from the absolute values of the data.
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
            let of_task = || self.task.accesses().nth(index).map(AccessDesc::extents).unwrap_or_default();
            let extents: &[usize] = buffer.map_or_else(of_task, |buffer| &buffer.extents);
            let len: usize = extents.iter().product();
            let is_real = self.generic[index];
            let element = if is_real { real } else { __testing::kernel_element(parameter) };
            let mut lines = vec![Line::default(); (len * element.size_bytes).div_ceil(size_of::<Line>())];
            let bytes = &mut bytemuck::cast_slice_mut::<_, u8>(&mut lines)[..len * element.size_bytes];
            match buffer {
                Some(buffer) if is_real => {
                    let values = buffer.values().into_iter().map(|value| match parameter.mode {
                        // So that a result that the reference does not write is noticed.
                        AccessMode::W => f64::NAN,
                        mode => taken.value(value, mode.writes()),
                    });
                    fill(bytes, real, values);
                }
                Some(buffer) if buffer.element == element => bytes.copy_from_slice(&buffer.bytes),
                Some(_) => return Err(format!("`{}` accumulates in a type of its own", parameter.name)),
                None => {}
            }
            memory.push((lines, extents, element, parameter.mode));
        }
        let mut operands = Vec::new();
        for (lines, extents, element, mode) in &mut memory {
            operands.push(Operand { element: *element, extents, lines, mode: *mode, is_part: false });
        }
        let (arguments, absolute) = (self.task.arguments(), taken == Taken::Absolute);
        catch_unwind(AssertUnwindSafe(|| __testing::run(kernel, &mut operands, arguments, absolute)))
            .map_err(|_| format!("the kernel `{}` panicked", kernel.name()))?;
        let written = operands.iter().filter(|operand| operand.mode.writes());
        Ok(written.map(exact).collect())
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
fn exact(operand: &Operand<'_>) -> Vec<Exact> {
    let (len, element) = (operand.extents.iter().product(), operand.element);
    let bytes: &[u8] = bytemuck::cast_slice(operand.lines);
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
