//! What to compare the gradient of a map with: its declaration in dual numbers, with the bound on the error.

use dahl_core::__testing::{self, DerivedMap, Line, Operand, Rule};
use dahl_core::codelet::Kernel;
use dahl_core::element::ElementType;

use super::calls::Calls;
use super::{Expected, round_off};
use crate::buffer::{Buffer, elements};
use crate::dual::Dual;
use crate::format::Format;
use crate::gradient::Outcome;

/// The step of a difference that estimates an error, relative to the value.
const STEP: f64 = 1.0 / 1024.0 / 1024.0;
/// A derived map may round in another order than the dual numbers, and the analysis is of first order.
const OTHER_ORDER: f64 = 2.0;

/// A map whose declaration runs in dual numbers.
pub(super) struct Tangent<'a> {
    calls: &'a Calls<'a>,
    kernel: Kernel,
    arguments: Vec<u8>,
}

impl<'a> Tangent<'a> {
    /// The declaration of a map of real numbers; none for another operation.
    pub(super) fn new(calls: &'a Calls<'a>) -> Outcome<Option<Self>> {
        let numerics = calls.subject.numerics();
        let has_one_output = calls.outputs[..] == [calls.data.len() - 1];
        let Some(kernel) = calls.subject.tangent().filter(|_| numerics.is_map && has_one_output) else {
            return Ok(None);
        };
        let runtime = Calls::runtime()?;
        let task = calls.subject.description(&runtime, &calls.data)?;
        Ok(Some(Self { calls, kernel, arguments: task.arguments().to_vec() }))
    }

    /// The output in dual numbers, with these values and slopes of the inputs.
    pub(super) fn run(&self, values: &[Vec<f64>], slopes: &[Vec<f64>]) -> Vec<Dual> {
        let calls = self.calls;
        let generic = calls.subject.numerics().generic;
        let mut memory = Vec::new();
        for (place, (index, parameter)) in calls.parameters.iter().enumerate() {
            let buffer = &calls.data[place];
            let moving = calls.inputs.iter().position(|&input| input == place);
            let (bytes, element) = if generic[*index] {
                let own = buffer.values();
                let number = |i: usize| match moving {
                    Some(input) => Dual::moving(values[input][i], slopes[input][i]),
                    None => Dual::moving(own[i], 0.0),
                };
                let numbers: Vec<Dual> = (0..buffer.len()).map(number).collect();
                (bytemuck::cast_slice(&numbers).to_vec(), ElementType::of::<Dual>())
            } else {
                (buffer.bytes.clone(), buffer.element)
            };
            memory.push((lines(&bytes), &buffer.extents, element, parameter.mode));
        }
        let mut operands: Vec<Operand<'_>> = Vec::new();
        for (lines, extents, element, mode) in &mut memory {
            operands.push(Operand { element: *element, extents, lines, mode: *mode, is_part: false });
        }
        __testing::run(&self.kernel, &mut operands, &self.arguments, false);
        let output = operands.last().expect("a map has an output");
        let len = output.extents.iter().product();
        elements::<Dual>(bytemuck::cast_slice(output.lines)).into_iter().take(len).collect()
    }

    /// The slopes of the output by one input.
    fn by(&self, values: &[Vec<f64>], input: usize) -> Vec<Dual> {
        let slope = |(k, values): (usize, &Vec<f64>)| vec![f64::from(u8::from(k == input)); values.len()];
        let slopes: Vec<Vec<f64>> = values.iter().enumerate().map(slope).collect();
        self.run(values, &slopes)
    }

    /// The directional derivative.
    pub(super) fn along(&self, values: &[Vec<f64>], slopes: &[Vec<f64>]) -> Vec<f64> {
        self.run(values, slopes).into_iter().map(|number| number.slope().value.rounded()).collect()
    }

    /// Of each input: whether every derivative by it is 0.
    pub(super) fn constants(&self, values: &[Vec<f64>]) -> Vec<bool> {
        let is_constant = |input| self.by(values, input).iter().all(|number| number.slope().is_nothing());
        (0..values.len()).map(is_constant).collect()
    }

    /// Replaces the elements of the inputs at which the map or a derivative is not finite by others at which they are. The
    /// share of those that are.
    pub(super) fn keep_in_domain(&self, values: &mut [Vec<f64>]) -> f64 {
        let len = self.calls.output_len();
        let mut is_good = vec![true; len];
        for input in 0..values.len() {
            for (is_good, number) in is_good.iter_mut().zip(self.by(values, input)) {
                let (value, slope) = (number.value(), number.slope());
                *is_good &= [value.value.rounded(), value.error, slope.value.rounded(), slope.error]
                    .into_iter()
                    .all(f64::is_finite);
            }
        }
        let good: Vec<usize> = (0..len).filter(|&i| is_good[i]).collect();
        let output = self.calls.outputs[0];
        let is_plain = |place: &usize| self.calls.data[*place].extents == self.calls.data[output].extents;
        if !good.is_empty() && self.calls.inputs.iter().all(is_plain) {
            for values in values {
                (0..len).filter(|&i| !is_good[i]).for_each(|i| values[i] = values[good[i % good.len()]]);
            }
        }
        good.len() as f64 / len.max(1) as f64
    }

    /// The gradient by each input, with the allowed error in the element type.
    ///
    /// A contribution to a gradient has the error of the computation in the compute type, which the dual numbers bound; that of
    /// the stored output, if the gradient is computed from it; and that of being stored itself. What is stretched is summed.
    pub(super) fn expected(&self, wide: &Self, values: &[Vec<f64>], weights: &[f64]) -> Vec<Vec<Expected>> {
        let output = &self.calls.data[self.calls.outputs[0]];
        let format = Format::of(output.element).expect("a differentiated output is real");
        let unit = format.compute().unit_roundoff();
        let output_index = self.calls.parameters[self.calls.outputs[0]].0;
        let reads_output = self.calls.gradient.reads >> output_index & 1 == 1;
        let by_input = |input: usize| {
            let place = self.calls.inputs[input];
            let own = Format::of(self.calls.element(place)).expect("a differentiated input is real");
            let slopes = self.by(values, input);
            let by_output =
                if reads_output { wide.by_output(values, weights, input, &slopes) } else { Vec::new() };
            let mut sums = vec![Sum::default(); values[input].len()];
            for (j, number) in slopes.iter().enumerate() {
                let (slope, weight) = (number.slope(), weights[j]);
                let value = weight * slope.value.rounded();
                let mut error = OTHER_ORDER * unit * ((weight * slope.error).abs() + value.abs());
                let (_, i) = self.calls.data[place]
                    .stretched(&output.extents, &output.index(j))
                    .expect("inputs of a map are stretched to its output");
                if reads_output {
                    error += by_output[j].abs() * round_off(format, number.value().value.rounded());
                }
                sums[i].add(value, error + round_off(own, value.abs() + error));
            }
            sums.into_iter().map(|sum| sum.expected(own)).collect()
        };
        (0..values.len()).map(by_input).collect()
    }

    /// How each contribution to a gradient depends on the output, if it is computed from that: by the derived map, in `f64`. Of a
    /// rule that is no derived map, by the output as a function of the input.
    fn by_output(&self, values: &[Vec<f64>], weights: &[f64], input: usize, slopes: &[Dual]) -> Vec<f64> {
        let output = self.calls.outputs[0];
        let outputs: Vec<f64> = slopes.iter().map(|number| number.value().value.rounded()).collect();
        let step = |value: f64| STEP * value.abs().max(STEP);
        if let Rule::Maps(maps) = self.calls.gradient.rule {
            let (index, _) = self.calls.parameters[self.calls.inputs[input]];
            let (output_index, _) = self.calls.parameters[output];
            let map = maps.iter().find(|map| map.by == index && map.inputs.contains(&output_index));
            let Some(map) = map else { return vec![0.0; outputs.len()] };
            let moved: Vec<f64> = outputs.iter().map(|&value| value + step(value)).collect();
            let [here, there] = [&outputs, &moved].map(|outputs| {
                let mut data = self.calls.with(values);
                data[output] = Buffer::of(data[output].element, data[output].extents.clone(), outputs);
                let bytes = self.derived(map, &data, weights, 0, false);
                Buffer { element: self.calls.element(output), extents: vec![outputs.len()], bytes }.values()
            });
            let steps = outputs.iter().map(|&value| step(value));
            return here
                .iter()
                .zip(there)
                .zip(steps)
                .map(|((here, there), step)| (there - here) / step)
                .collect();
        }
        let mut moved = values.to_vec();
        moved[input].iter_mut().for_each(|value| *value += step(*value));
        let beside = self.by(&moved, input);
        let ratio = |(((number, beside), weight), value): (((&Dual, &Dual), &f64), &f64)| {
            let [here, there] = [number, beside].map(|number| number.slope().value.rounded());
            weight * (there - here) / step(*value) / here
        };
        slopes.iter().zip(&beside).zip(weights).zip(&values[input]).map(ratio).collect()
    }

    /// Runs the derived maps on strided parts of arrays, and compares the bits with those on whole arrays. The first map whose
    /// results differ.
    pub(super) fn strided(&self, values: &[Vec<f64>], weights: &[f64]) -> Option<&'static str> {
        let Rule::Maps(maps) = self.calls.gradient.rule else { return None };
        let mut data = self.calls.with(values);
        let output = self.calls.outputs[0];
        let still: Vec<Vec<f64>> = values.iter().map(|values| vec![0.0; values.len()]).collect();
        let outputs = self.run(values, &still).into_iter().map(|number| number.value().value.rounded());
        let outputs: Vec<f64> = outputs.collect();
        data[output] = Buffer::of(data[output].element, data[output].extents.clone(), &outputs);
        let is_wrong = |map: &&'static DerivedMap| {
            let kernels = (map.codelet)().kernels.iter().flatten().count();
            (0..kernels).any(|kernel| {
                let [whole, part] =
                    [false, true].map(|is_part| self.derived(map, &data, weights, kernel, is_part));
                whole != part
            })
        };
        let wrong = maps.iter().filter(|map| !map.passes).find(is_wrong)?;
        Some((wrong.codelet)().name)
    }

    /// The bytes that a kernel of a derived map writes, from the arrays of the map.
    fn derived(
        &self,
        map: &DerivedMap,
        data: &[Buffer],
        weights: &[f64],
        kernel: usize,
        is_part: bool,
    ) -> Vec<u8> {
        let place = |index: &usize| {
            let place = self.calls.parameters.iter().position(|(own, _)| own == index);
            place.expect("a derived map reads arrays")
        };
        let output = &data[self.calls.outputs[0]];
        let gradient = Buffer::of(output.element, output.extents.clone(), weights);
        let codelet = (map.codelet)();
        let last = codelet.parameters.last().expect("a map has an output");
        let made = Buffer::zeros(last.element, output.extents.clone());
        let buffers = map.inputs.iter().map(|index| &data[place(index)]).chain([&gradient, &made]);
        let mut memory: Vec<_> = buffers.map(|buffer| (lines(&spread(buffer, is_part)), buffer)).collect();
        let mut operands = Vec::new();
        for ((lines, buffer), parameter) in memory.iter_mut().zip(codelet.parameters) {
            let (element, extents) = (buffer.element, buffer.extents.as_slice());
            operands.push(Operand { element, extents, lines, mode: parameter.mode, is_part });
        }
        let kernel = codelet.kernels.iter().flatten().nth(kernel).expect("a kernel of the map");
        __testing::run(kernel, &mut operands, &self.arguments, false);
        let written: &[u8] = bytemuck::cast_slice(operands.last().expect("an output").lines);
        let row = made.extents.last().map_or(1, |last| last * made.element.size_bytes).max(1);
        let len = made.len() * made.element.size_bytes;
        match is_part && !made.extents.is_empty() {
            true => written[..2 * len].chunks_exact(2 * row).flat_map(|rows| rows[row..].to_vec()).collect(),
            false => written[..len].to_vec(),
        }
    }
}

/// The bytes of a buffer, with as much around each row as it is long if it is a part: NaN, so that reading it is noticed.
fn spread(buffer: &Buffer, is_part: bool) -> Vec<u8> {
    let Some(last) = buffer.extents.last().filter(|_| is_part) else { return buffer.bytes.clone() };
    let row = (last * buffer.element.size_bytes).max(1);
    buffer.bytes.chunks_exact(row).flat_map(|row| [&vec![0xFF; row.len()], row].concat()).collect()
}

fn lines(bytes: &[u8]) -> Vec<Line> {
    let mut lines = vec![Line::default(); bytes.len().div_ceil(size_of::<Line>())];
    bytemuck::cast_slice_mut::<_, u8>(&mut lines)[..bytes.len()].copy_from_slice(bytes);
    lines
}

/// Contributions to one element of a gradient.
#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    value: f64,
    magnitude: f64,
    error: f64,
    count: f64,
}

impl Sum {
    fn add(&mut self, value: f64, error: f64) {
        self.value += value;
        self.magnitude += value.abs();
        self.error += error;
        self.count += 1.0;
    }

    /// The sum: additions in the compute type, and one store.
    fn expected(self, format: Format) -> Expected {
        if self.count <= 1.0 {
            return Expected { value: self.value, bound: self.error };
        }
        let additions = self.count * format.compute().unit_roundoff();
        let bound = self.error + additions * self.magnitude;
        Expected { value: self.value, bound: bound + round_off(format, self.value.abs() + bound) }
    }
}
