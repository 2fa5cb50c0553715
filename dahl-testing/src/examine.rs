//! Runs one case in all possible ways, for [`compare`](super::compare).

use super::arrays::Placement;
use super::buffer::Buffer;
use super::compare::Comparison;
use super::expectation::Expectation;
use super::failure::{Check, Variant, Way};
use super::fault::{Fault, same, untouched, written};
use super::oracle::Oracle;
use super::report::{ErrorStatistics, Reference};
use dahl_core::__testing;
use dahl_core::access::AccessMode;
use dahl_core::codelet::Parameter;
use dahl_core::error::{self, Error};

/// The result of `op`, to compare other variants with.
struct Base<'a> {
    data: &'a [Buffer],
    whole: &'a [Buffer],
    expectation: Option<&'a Expectation>,
}

impl Comparison<'_> {
    /// Runs all variants and kernels on `inputs`, in strided parts by `in_parts`.
    pub(super) fn examine(
        &self,
        inputs: &[Option<Buffer>],
        in_parts: &[Placement],
        statistics: &mut ErrorStatistics,
    ) -> Result<Reference, Box<Fault>> {
        let failed = |error: Error| Fault::new(Check::Runs, None, error.to_string());
        let (mut data, made) = self.complete(inputs).map_err(failed)?;
        let task = self.subject.description(&self.runtime, &data).map_err(failed)?;
        let oracle = Oracle::new(self.subject, &task);
        let expect = |data: &[Buffer]| -> Result<Option<Expectation>, Box<Fault>> {
            let Some((oracle, reference)) = &oracle else { return Ok(None) };
            Expectation::new(oracle, *reference, self.subject, data, task.arguments())
                .map(Some)
                .map_err(|what| Fault::new(Check::Runs, None, format!("the reference failed: {what}")))
        };
        let init = self.way(Variant::OpInit, None, Placement::Whole);
        // `op_init` starts with the identity of a reduction.
        let mut begun = data.clone();
        self.begin(&mut begun, None);
        self.begin(&mut data, Some(inputs));
        let expectation = expect(&data)?;
        let parameters = self.parameters();
        let reduces = parameters.iter().any(|parameter| matches!(parameter.mode, AccessMode::REDUX(_)));
        let are_own = self.subject.foreign().is_none();
        for (index, kernel) in self.subject.kernels().into_iter().enumerate() {
            let whole =
                self.examine_given(&data, kernel.name(), in_parts, expectation.as_ref(), statistics)?;
            let is_first = index == 0 && are_own;
            if let (true, false, Some(made)) = (is_first, reduces, &made) {
                same(&parameters, &whole, &with(&whole, made), &init)?;
            }
            let base = Base { data: &data, whole: &whole, expectation: expectation.as_ref() };
            for placement in [Placement::Whole, Placement::Parts] {
                self.examine_in_place(&base, is_first, kernel.name(), placement, statistics)?;
            }
        }
        if let (true, Some(made), Some(expectation)) = (are_own, &made, expect(&begun)?) {
            expectation.judge(&begun, &with(&begun, made), &init, statistics)?;
        }
        Ok(expectation.map_or(Reference::Absent, |expectation| expectation.reference))
    }

    /// Runs `op` with a kernel, on whole arrays and on parts. Returns the former's result.
    fn examine_given(
        &self,
        data: &[Buffer],
        kernel: &'static str,
        in_parts: &[Placement],
        expectation: Option<&Expectation>,
        statistics: &mut ErrorStatistics,
    ) -> Result<Vec<Buffer>, Box<Fault>> {
        let parameters = self.parameters();
        let run = |data: &[Buffer], placement| -> Result<(Vec<Buffer>, Way), Box<Fault>> {
            let way = self.way(Variant::Op, Some(kernel), placement);
            let after = self
                .subject
                .given(&self.runtime, data, placement, Some(kernel))
                .map_err(|error| Fault::new(Check::Runs, Some(&way), error.to_string()))?;
            untouched(&parameters, data, &after, &way)?;
            Ok((after.arrays, way))
        };
        let (whole, way) = run(data, Placement::Whole)?;
        let (again, _) = run(&self.refilled(data), Placement::Whole)?;
        written(&parameters, &whole, &again, &way)?;
        if let Some(expectation) = expectation {
            expectation.judge(data, &whole, &way, statistics)?;
        }
        for &placement in in_parts {
            let (parts, way) = run(data, placement)?;
            if let Some(expectation) = expectation {
                expectation.judge(data, &parts, &way, statistics)?;
            }
            if self.subject.numerics().is_map {
                same(&parameters, &whole, &parts, &way)?;
            }
        }
        Ok(whole)
    }

    /// Runs `op_self` with a kernel, if it exists.
    fn examine_in_place(
        &self,
        base: &Base<'_>,
        is_first: bool,
        kernel: &'static str,
        placement: Placement,
        statistics: &mut ErrorStatistics,
    ) -> Result<(), Box<Fault>> {
        let codelet = self.subject.codelet();
        let Some((target, own)) = __testing::in_place(codelet) else { return Ok(()) };
        let before = |index: usize| &codelet.parameters[..index];
        let place = |index: usize| {
            before(index).iter().filter(|parameter| parameter.mode != AccessMode::SCRATCH).count()
        };
        let output = place(__testing::output(codelet).expect("a codelet with `_self` has an output"));
        let target = place(target);
        if base.data[output].extents != base.data[target].extents {
            // For these shapes there is no `op_self`.
            return Ok(());
        }
        // The in-place kernel runs if the task names no kernel.
        let own = own.filter(|_| is_first);
        let name = own.map_or(kernel, |own| own.name());
        let way = self.way(Variant::OpSelf, Some(name), placement);
        let asked = if own.is_some() { None } else { Some(kernel) };
        let after = self
            .subject
            .in_place(&self.runtime, base.data, placement, asked)
            .map_err(|error| Fault::new(Check::Runs, Some(&way), error.to_string()))?;
        let Some(mut after) = after else { return Ok(()) };
        // Arranged as `op` leaves it: the target's new content in the output's position.
        after.arrays.swap(output, target);
        after.arrays[target] = base.data[target].clone();
        let parameters = self.parameters();
        untouched(&parameters, base.data, &after, &way)?;
        let is_generated = own.is_none_or(|own| own.name() == "rust");
        if is_generated && (placement == Placement::Whole || self.subject.numerics().is_map) {
            same(&parameters, base.whole, &after.arrays, &way)?;
        }
        match base.expectation {
            Some(expectation) => expectation.judge(base.data, &after.arrays, &way, statistics),
            None => Ok(()),
        }
    }

    fn way(&self, variant: Variant, kernel: Option<&'static str>, placement: Placement) -> Way {
        let mut kernels = self.subject.codelet().kernels.iter().flatten();
        let first = kernels.next().map_or("none", |kernel| kernel.name());
        Way { variant, kernel: kernel.unwrap_or(first), placement }
    }

    /// Inputs and outputs, the latter with the shapes of `op_init`, and the outputs that it created.
    #[allow(clippy::type_complexity, reason = "two lists of arrays")]
    pub(crate) fn complete(
        &self,
        inputs: &[Option<Buffer>],
    ) -> error::Result<(Vec<Buffer>, Option<Vec<(usize, Buffer)>>)> {
        let (elements, ranks) = (self.subject.elements(), self.subject.ranks());
        let known = |(place, buffer): (usize, &Option<Buffer>)| {
            let extents = self.specs[place].extents.clone().unwrap_or_else(|| vec![0; ranks[place]]);
            buffer.clone().unwrap_or_else(|| Buffer::zeros(elements[place], extents))
        };
        let mut data: Vec<Buffer> = inputs.iter().enumerate().map(known).collect();
        let made = self.subject.init(&self.runtime, &data)?;
        for (place, buffer) in made.iter().flatten() {
            data[*place] = Buffer::zeros(buffer.element, buffer.extents.clone());
        }
        Ok((data, made))
    }

    /// Sets the initial content of outputs: for `W`, something that is not a result; for `REDUX`, the identity or, if
    /// there are `inputs` and the combination is built in, numbers.
    pub(crate) fn begin(&self, data: &mut [Buffer], inputs: Option<&[Option<Buffer>]>) {
        for (place, parameter) in self.parameters().into_iter().enumerate() {
            let buffer = &mut data[place];
            match parameter.mode {
                AccessMode::W => buffer.bytes.fill(0xFF),
                AccessMode::REDUX(_) => match inputs {
                    Some(inputs) if __testing::accumulates_by_built_in(parameter) => {
                        if inputs[place].is_none() {
                            let values: Vec<f64> = (0..buffer.len()).map(|i| (i % 7) as f64 - 2.0).collect();
                            *buffer = Buffer::of(buffer.element, buffer.extents.clone(), &values);
                        }
                    }
                    _ => {
                        let Some((element, lines)) = __testing::identity(parameter, buffer.len()) else {
                            continue;
                        };
                        let mut identity = Buffer::zeros(element, buffer.extents.clone());
                        let len = identity.bytes.len();
                        identity.bytes.copy_from_slice(&bytemuck::cast_slice(&lines)[..len]);
                        if identity.element == buffer.element {
                            *buffer = identity;
                        } else {
                            *buffer = Buffer::of(buffer.element, buffer.extents.clone(), &identity.values());
                        }
                    }
                },
                _ => {}
            }
        }
    }

    /// The same data, with other contents in outputs that are only written.
    fn refilled(&self, data: &[Buffer]) -> Vec<Buffer> {
        let refill = |(parameter, buffer): (&Parameter, &Buffer)| {
            let mut buffer = buffer.clone();
            if parameter.mode == AccessMode::W {
                buffer.bytes.fill(0x3C);
            }
            buffer
        };
        self.parameters().into_iter().zip(data).map(refill).collect()
    }
}

/// `arrays` with the outputs of `op_init` in their positions.
fn with(arrays: &[Buffer], made: &[(usize, Buffer)]) -> Vec<Buffer> {
    let mut arrays = arrays.to_vec();
    for (place, buffer) in made {
        arrays[*place] = buffer.clone();
    }
    arrays
}
