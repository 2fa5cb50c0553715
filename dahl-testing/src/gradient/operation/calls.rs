//! [`Calls`]: an operation and its gradients by a tape, as functions of numbers.

use dahl_core::__testing::{Gradient, OwnedArray, REFUSED, Rule};
use dahl_core::access::AccessMode;
use dahl_core::codelet::Parameter;
use dahl_core::element::ElementType;
use dahl_core::error::ErrorKind;
use dahl_core::{Error, Result, Runtime};

use super::Operation;
use crate::arrays::Placement;
use crate::buffer::Buffer;
use crate::compare::Comparison;
use crate::format::Format;
use crate::gradient::Outcome;
use crate::subject::Subject;

/// The elements of several arrays.
type Values = [Vec<f64>];

/// An operation in one element type, with data for the arrays that are not differentiated.
pub(super) struct Calls<'a> {
    pub(super) subject: &'a dyn Subject,
    pub(super) gradient: &'static Gradient,
    /// The parameters that have arrays, each with its index in the declaration.
    pub(super) parameters: Vec<(usize, &'static Parameter)>,
    /// The contents of all arrays before the task.
    pub(super) data: Vec<Buffer>,
    /// The places of the inputs by which there is a gradient.
    pub(super) inputs: Vec<usize>,
    /// The places of the outputs whose gradients it takes.
    pub(super) outputs: Vec<usize>,
}

impl<'a> Calls<'a> {
    /// The calls; none if nothing flows through the operation, as its declaration says.
    pub(super) fn new(operation: &'a Operation, inputs: &[Option<Buffer>]) -> Result<Option<Self>> {
        let flows = |gradient: &&'static Gradient| !matches!(gradient.rule, Rule::Nothing | Rule::Zero);
        let Some(gradient) = operation.subject.gradient().filter(flows) else { return Ok(None) };
        let mut calls =
            Self::with_gradient(operation, inputs, gradient, [gradient.inputs, gradient.outputs])?;
        let mut defined = Vec::new();
        for &place in &calls.inputs {
            if calls.is_defined(place)? {
                defined.push(place);
            }
        }
        calls.inputs = defined;
        Ok(calls.some())
    }

    /// The calls of a map whose derivatives are 0, as the macro says, by all its real arrays; none if it has no real inputs, or
    /// no real output.
    pub(super) fn of_zero(operation: &'a Operation, inputs: &[Option<Buffer>]) -> Result<Option<Self>> {
        let gradient = operation.subject.gradient().filter(|gradient| matches!(gradient.rule, Rule::Zero));
        let Some(gradient) = gradient else { return Ok(None) };
        Self::with_gradient(operation, inputs, gradient, [u64::MAX; 2]).map(Self::some)
    }

    /// The calls, if there are arrays on both sides.
    fn some(self) -> Option<Self> {
        let is_empty = self.inputs.is_empty() || self.outputs.is_empty();
        (!is_empty).then_some(self)
    }

    /// The calls, by those real inputs and outputs that are given by the bits of their numbers in the declaration.
    fn with_gradient(
        operation: &'a Operation,
        inputs: &[Option<Buffer>],
        gradient: &'static Gradient,
        [input_bits, output_bits]: [u64; 2],
    ) -> Result<Self> {
        let subject = &*operation.subject;
        let parameters: Vec<_> = subject.codelet().parameters.iter().enumerate().collect();
        let parameters: Vec<_> =
            parameters.into_iter().filter(|(_, parameter)| parameter.mode != AccessMode::SCRATCH).collect();
        let comparison = Comparison::of(&operation.op, subject, operation.specs.clone());
        let (mut data, _) = comparison.complete(inputs)?;
        comparison.begin(&mut data, None);
        for ((_, parameter), buffer) in parameters.iter().zip(&mut data) {
            if parameter.mode == AccessMode::W {
                buffer.bytes.fill(0);
            }
        }
        let places = |bits: u64, holds: fn(AccessMode) -> bool| -> Vec<usize> {
            let is_real = |place: usize| Format::of(data[place].element).is_some();
            let all = parameters.iter().enumerate();
            let all = all.filter(|(_, (index, parameter))| bits >> index & 1 == 1 && holds(parameter.mode));
            all.map(|(place, _)| place).filter(|&place| is_real(place)).collect()
        };
        let inputs = places(input_bits, |mode| mode == AccessMode::R);
        let outputs = places(output_bits, |mode| mode != AccessMode::R);
        Ok(Self { subject, gradient, parameters, data, inputs, outputs })
    }

    /// Whether the rule does not refuse the gradient by an input.
    fn is_defined(&self, place: usize) -> Result<bool> {
        let runtime = Self::runtime()?;
        let tape = runtime.tape();
        let arrays = self.subject.under_tape(&runtime, &tape, self.gradient, &self.data)?;
        for (output, seed) in self.seeds(&runtime, &vec![1.0; self.output_len()])? {
            match whole(&arrays, output).gradients(&tape, &seed, &[whole(&arrays, place)]) {
                Err(error) if is_undefined(&error) => return Ok(false),
                found => drop(found?),
            }
        }
        Ok(true)
    }

    /// A runtime for one call, which has measured no kernel yet: each call runs the same kernels.
    pub(super) fn runtime() -> Result<Runtime> {
        Runtime::builder().cpu_workers(1).check(false).build()
    }

    pub(super) fn name(&self, place: usize) -> &'static str {
        self.parameters[place].1.name
    }

    pub(super) fn element(&self, place: usize) -> ElementType {
        self.data[place].element
    }

    /// The data, with other contents in the inputs by which there is a gradient.
    pub(super) fn with(&self, values: &Values) -> Vec<Buffer> {
        let mut data = self.data.clone();
        for (&place, values) in self.inputs.iter().zip(values) {
            data[place] = Buffer::of(data[place].element, data[place].extents.clone(), values);
        }
        data
    }

    /// The contents of the inputs by which there is a gradient.
    pub(super) fn values(&self) -> Vec<Vec<f64>> {
        self.inputs.iter().map(|&place| self.data[place].values()).collect()
    }

    /// The outputs, one after the other.
    pub(super) fn forward(&self, values: &Values) -> Outcome<Vec<f64>> {
        let kernel = self.subject.codelet().kernels.iter().flatten().next().map(|kernel| kernel.name());
        let after = self.subject.given(&Self::runtime()?, &self.with(values), Placement::Whole, kernel)?;
        Ok(self.outputs.iter().flat_map(|&place| after.arrays[place].values()).collect())
    }

    /// The number of elements of all outputs.
    pub(super) fn output_len(&self) -> usize {
        self.outputs.iter().map(|&place| self.data[place].len()).sum()
    }

    /// The gradients by the inputs, from those by the outputs, one after the other.
    pub(super) fn backward(&self, values: &Values, weights: &[f64]) -> Outcome<Vec<Vec<f64>>> {
        let runtime = Self::runtime()?;
        let tape = runtime.tape();
        let arrays = self.subject.under_tape(&runtime, &tape, self.gradient, &self.with(values))?;
        let mut sums = self.zeros();
        for (output, seed) in self.seeds(&runtime, weights)? {
            let found = whole(&arrays, output).gradients(&tape, &seed, &self.wanted(&arrays))?;
            self.add(&mut sums, &found)?;
        }
        Ok(sums)
    }

    /// The gradients by the inputs of the first gradients, summed up with `directions`, one after the other. None if the
    /// operation's rule refuses to be differentiated again.
    pub(super) fn second(
        &self,
        values: &Values,
        weights: &[f64],
        directions: &[f64],
    ) -> Outcome<Option<Vec<Vec<f64>>>> {
        let runtime = Self::runtime()?;
        let outer = runtime.tape();
        let inner = outer.tape();
        let arrays = self.subject.under_tape(&runtime, &inner, self.gradient, &self.with(values))?;
        let wanted = self.wanted(&arrays);
        let mut sums = self.zeros();
        for (output, seed) in self.seeds(&runtime, weights)? {
            let first = match whole(&arrays, output).gradients(&inner, &seed, &wanted) {
                Err(error) if is_refusal(&error) => return Ok(None),
                first => first?,
            };
            let mut rest = directions;
            for (&place, first) in self.inputs.iter().zip(&first) {
                let (own, others) = rest.split_at(self.data[place].len());
                rest = others;
                let Some(first) = first else { continue };
                let own = Buffer::of(first.element(), vec![own.len()], own).to_whole(&runtime)?;
                match first.gradients(&outer, &own, &wanted) {
                    Err(error) if is_refusal(&error) => return Ok(None),
                    found => self.add(&mut sums, &found?)?,
                }
            }
        }
        Ok(Some(sums))
    }

    fn zeros(&self) -> Vec<Vec<f64>> {
        self.inputs.iter().map(|&place| vec![0.0; self.data[place].len()]).collect()
    }

    fn wanted<'w>(&self, arrays: &'w [Option<OwnedArray>]) -> Vec<&'w OwnedArray> {
        self.inputs.iter().map(|&place| whole(arrays, place)).collect()
    }

    /// The gradient by each output.
    fn seeds(&self, runtime: &Runtime, weights: &[f64]) -> Result<Vec<(usize, OwnedArray)>> {
        let mut rest = weights;
        let seed = |&place: &usize| {
            let (own, others) = rest.split_at(self.data[place].len());
            rest = others;
            Ok((place, Buffer::of(self.element(place), vec![own.len()], own).to_whole(runtime)?))
        };
        self.outputs.iter().map(seed).collect()
    }

    fn add(&self, sums: &mut [Vec<f64>], found: &[Option<OwnedArray>]) -> Result<()> {
        for (sum, found) in sums.iter_mut().zip(found) {
            let Some(found) = found else { continue };
            let values = Buffer::from_whole(found, vec![sum.len()])?.values();
            sum.iter_mut().zip(values).for_each(|(sum, value)| *sum += value);
        }
        Ok(())
    }
}

/// The array in a place.
fn whole(arrays: &[Option<OwnedArray>], place: usize) -> &OwnedArray {
    arrays[place].as_ref().expect("arrays under a tape are whole")
}

/// Whether a rule says that there is no gradient by an input.
fn is_undefined(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::Rule { fact, .. } if *fact == REFUSED)
}

/// Whether a rule cannot be differentiated again.
fn is_refusal(error: &Error) -> bool {
    error.code() == "D0021"
}
