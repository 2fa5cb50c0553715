//! [`Operation`]: the gradients of one operation, as [`numerics!`](crate::numerics) checks them.
//!
//! * In `f64`: the checks of [`Gradient`], against differences, and against dual numbers for a map; and those of the second
//!   gradients against differences of the first, unless the rule refuses to be differentiated again.
//! * In every element type: for a map against dual numbers, within the bound that they give (`tangent`); for another operation
//!   against `f64`, within a bound from how the gradient depends on what it reads (`sensitivity`).
//! * The derived maps on strided parts, bit by bit. (A tape refuses parts, so nothing else of a gradient meets one.)
//!
//! Of a map through which nothing flows, since the macro found every derivative to be 0, the dual numbers must say so too. An
//! operation without a gradient, or with `gradient = none`, has nothing to check.

mod calls;
mod sensitivity;
mod tangent;

use dahl_core::__testing::Rule;
use dahl_core::bf16;
use dahl_core::codelet::Variants;
use dahl_core::element::Element;

use super::direction::{Purpose, draw};
use super::elements::place;
use super::{Check, Failure, Gradient, Outcome};
use crate::arrays::Arrays;
use crate::buffer::Buffer;
use crate::digits::Digits;
use crate::format::Format;
use crate::operand::{Operands, Spec, Values};
use crate::report::GradientSummary;
use crate::subject::{Subject, Typed};
use calls::Calls;
use tangent::Tangent;

/// The share of elements at which a map must have a derivative.
const LEAST_SHARE: f64 = 0.25;
/// Where inputs of no given range are drawn: with magnitudes from half of it to it.
const SCALES: [f64; 4] = [1.0, 3.0, 0.3, 30.0];
/// Inputs of a wider range are drawn up to this magnitude: gradients far out are zeros, or very large.
const FAR: f64 = 2.0;

/// An operation in one element type.
pub struct Operation {
    op: String,
    element: &'static str,
    specs: Vec<Spec>,
    subject: Box<dyn Subject>,
}

/// An element of a gradient, and how far another one may be from it.
#[derive(Clone, Copy, Debug)]
struct Expected {
    value: f64,
    bound: f64,
}

/// Half a unit in the last place: the error of storing a number.
fn round_off(format: Format, value: f64) -> f64 {
    0.5 * format.ulp(value)
}

impl Operation {
    /// The operation `codelet` in the element type `T`, with these operands and arguments.
    pub fn new<T, C, A, G, O>(op: &str, codelet: C, operands: &O, arguments: G) -> Self
    where
        T: Element,
        C: Variants<A, G> + 'static,
        A: Arrays,
        G: Copy + 'static,
        O: Operands<A>,
    {
        let _ = codelet;
        let subject = Box::new(Typed::<C, A, G>::new(arguments, None));
        Self { op: op.to_owned(), element: T::NAME, specs: operands.specs(), subject }
    }

    /// Inputs, in this element type; none for an output.
    fn draw(&self, scale: f64, round: fn(f64) -> f64) -> Vec<Option<Buffer>> {
        let elements = self.subject.elements();
        let draw = |(number, spec): (usize, &Spec)| {
            let extents = spec.extents.clone().filter(|_| !matches!(spec.values, Values::Output))?;
            let signed = draw(1, Purpose::Values, number, extents.iter().product());
            let is_real = Format::of(elements[number]).is_some();
            let value = |(i, &signed): (usize, &f64)| match &spec.values {
                Values::Given(values) => values[i],
                Values::Below(count) => (i * 7 + i / 3) as f64 % f64::from((*count).max(1)),
                Values::Within(low, high) => {
                    let (low, high) = near(*low, *high);
                    // Magnitudes are from 0.5 to 1; a margin is left for differences.
                    let share = 0.05 + 0.9 * (2.0 * signed.abs() - 1.0);
                    round(low + share * (high - low))
                }
                _ if is_real => round(scale * signed),
                _ => (i * 13) as f64 % 100.0,
            };
            let values = spec.excepted(signed.iter().enumerate().map(value).collect());
            Some(Buffer::of(elements[number], extents, &values))
        };
        self.specs.iter().enumerate().map(draw).collect()
    }

    /// The calls at inputs at which a map has derivatives, and these inputs.
    #[allow(clippy::type_complexity, reason = "the calls, and the contents of the inputs")]
    fn calls(&self, round: fn(f64) -> f64) -> Outcome<Option<(Calls<'_>, Vec<Vec<f64>>)>> {
        let mut best: Option<(f64, Calls<'_>, Vec<Vec<f64>>)> = None;
        for scale in SCALES {
            let Some(mut calls) = Calls::new(self, &self.draw(scale, round))? else { return Ok(None) };
            let (mut values, mut share) = (calls.values(), 1.0);
            let mut constants = Vec::new();
            if let Some(tangent) = Tangent::new(&calls)? {
                share = tangent.keep_in_domain(&mut values);
                constants = tangent.constants(&values);
            }
            // Nothing flows to them, but they may say which function it is, as a label does. Moving them would tell nothing.
            if constants.contains(&false) && constants.contains(&true) {
                let got = calls.backward(&values, &vec![1.0; calls.output_len()])?;
                let of_constants = got.iter().zip(&constants).filter(|(_, is_constant)| **is_constant);
                if of_constants.flat_map(|(got, _)| got).any(|&got| got != 0.0) {
                    return Err("a gradient flows to an input by which every derivative is 0".into());
                }
                let mut keep = constants.iter().map(|is_constant| !is_constant);
                values.retain(|_| keep.next().unwrap_or_default());
                let mut keep = constants.iter().map(|is_constant| !is_constant);
                calls.inputs.retain(|_| keep.next().unwrap_or_default());
            }
            if best.as_ref().is_none_or(|(most, _, _)| share > *most) {
                best = Some((share, calls, values));
            }
            if share >= LEAST_SHARE {
                break;
            }
        }
        Ok(best.map(|(_, calls, values)| (calls, values)))
    }

    /// The check of a map through which nothing flows, since every derivative is 0, as the macro says. None for another operation.
    fn check_zero(&self) -> Result<Option<GradientSummary>, Failure> {
        let inputs = self.draw(SCALES[0], representable);
        let calls = self.runs(Calls::of_zero(self, &inputs).map_err(Into::into))?;
        let Some(calls) = calls else { return Ok(None) };
        let Some(tangent) = self.runs(Tangent::new(&calls))? else { return Ok(None) };
        let are_constant = tangent.constants(&calls.values());
        if let Some(moving) = are_constant.iter().position(|is_constant| !is_constant) {
            let name = calls.name(calls.inputs[moving]);
            let text = "nothing flows to it, but a derivative is not 0".to_owned();
            return Err(self.failure(Check::Exact, Some(name), text));
        }
        let results = calls.inputs.iter().map(|&place| calls.data[place].len() as u64).sum();
        Ok(Some(GradientSummary { results, ..self.summary() }))
    }

    fn summary(&self) -> GradientSummary {
        GradientSummary {
            op: self.op.clone(),
            codelet: self.subject.codelet().name,
            element: self.element,
            ..GradientSummary::default()
        }
    }

    fn failure(&self, check: Check, input: Option<&str>, text: String) -> Failure {
        let subject = format!("{} in {}", self.op, self.element);
        Failure { subject, check, input: input.map(str::to_owned), seed: 1, text }
    }

    fn runs<T>(&self, outcome: Outcome<T>) -> Result<T, Failure> {
        outcome.map_err(|error| self.failure(Check::Runs, None, error.to_string()))
    }

    /// The checks in `f64`. False if nothing flows through the operation.
    fn check_differences(&self) -> Result<bool, Failure> {
        let Some((calls, values)) = self.runs(self.calls(|value| value))? else { return Ok(false) };
        let tangent = self.runs(Tangent::new(&calls))?;
        let mut first = Gradient::new(
            self.op.clone(),
            |values| calls.forward(values),
            |values, weights| calls.backward(values, weights),
        );
        for (&place, values) in calls.inputs.iter().zip(&values) {
            first = first.input(calls.name(place), &calls.data[place].extents, values.clone());
        }
        if let Some(tangent) = &tangent {
            first = first.tangent(|values, slopes| Ok(tangent.along(values, slopes)));
        }
        if matches!(calls.gradient.rule, Rule::Adjoint(_)) {
            first = first.linear();
        }
        first.check()?;
        let weights = super::weights(calls.output_len());
        let len = calls.inputs.iter().map(|&place| calls.data[place].len()).sum();
        if self.runs(calls.second(&values, &weights, &super::weights(len)))?.is_none() {
            return Ok(true);
        }
        let mut second = Gradient::new(
            format!("{}: second", self.op),
            |values| Ok(calls.backward(values, &weights)?.concat()),
            |values, directions| {
                let second = calls.second(values, &weights, directions)?;
                second.ok_or_else(|| "it was differentiable again at other inputs".into())
            },
        );
        for (&place, values) in calls.inputs.iter().zip(&values) {
            second = second.input(calls.name(place), &calls.data[place].extents, values.clone());
        }
        second.check()?;
        Ok(true)
    }

    /// The check of rounding, against `wide`, the same operation in `f64`.
    fn check_rounding(&self, wide: &Self) -> Result<Option<GradientSummary>, Failure> {
        let Some((calls, values)) = self.runs(self.calls(representable))? else { return Ok(None) };
        let weights = draw(1, Purpose::OutputGradient, 0, calls.output_len());
        let weights: Vec<f64> = weights.into_iter().map(representable).collect();
        let tangent = self.runs(Tangent::new(&calls))?;
        let expected = match &tangent {
            Some(tangent) => {
                let inputs = wide.draw(SCALES[0], representable);
                let mut wide =
                    self.runs(Calls::new(wide, &inputs).map_err(Into::into))?.expect("it has a gradient");
                wide.inputs.clone_from(&calls.inputs);
                let wide = self.runs(Tangent::new(&wide))?.expect("it is a map in every element type");
                if let Some(map) = tangent.strided(&values, &weights) {
                    return Err(self.failure(Check::Strided, None, format!("the derived map `{map}`")));
                }
                tangent.expected(&wide, &values, &weights)
            }
            None => {
                let inputs = wide.draw(SCALES[0], representable);
                let wide = self.runs(Calls::new(wide, &inputs).map_err(Into::into))?;
                let wide = wide.expect("it has a gradient in every element type");
                self.runs(sensitivity::expected(&wide, &calls, &values, &weights))?
            }
        };
        let got = self.runs(calls.backward(&values, &weights))?;
        let mut summary = self.summary();
        let mut skipped = 0;
        for ((&input, expected), got) in calls.inputs.iter().zip(&expected).zip(&got) {
            let format = Format::of(calls.element(input)).expect("a differentiated input is real");
            let mut worst: Option<(f64, usize)> = None;
            for (i, (expected, &got)) in expected.iter().zip(got).enumerate() {
                let allowed = expected.bound + format.smallest();
                let is_finite = expected.value.abs() + allowed < format.max;
                if !is_finite {
                    skipped += 1;
                    continue;
                }
                let off = (got - expected.value).abs();
                let fraction = if off.is_nan() { f64::INFINITY } else { off / allowed };
                summary.results += 1;
                summary.bound_fraction = summary.bound_fraction.max(fraction);
                summary.max_ulps = summary.max_ulps.max(off / format.ulp(expected.value));
                if worst.is_none_or(|(most, _)| fraction > most) {
                    worst = Some((fraction, i));
                }
            }
            if let Some((fraction, i)) = worst.filter(|(fraction, _)| *fraction > 1.0) {
                let (name, extents) = (calls.name(input), &calls.data[input].extents);
                let text = format!(
                    "{name}{:?} is off by {:.2} of its bound, {:.2} ULP\n{}",
                    place(i, extents),
                    fraction,
                    (got[i] - expected[i].value).abs() / format.ulp(expected[i].value),
                    Digits::new(expected[i].value, got[i])
                );
                return Err(self.failure(Check::Rounding, Some(name), text));
            }
        }
        if (summary.results as f64) < LEAST_SHARE * (summary.results + skipped) as f64 || summary.results == 0
        {
            let text = format!("{skipped} of {} elements have no finite gradient", summary.results + skipped);
            return Err(self.failure(Check::Finite, None, text));
        }
        Ok(Some(summary))
    }
}

/// Compares the gradients of an operation in `f16`, `bf16`, `f32` and `f64`, in this order. If nothing flows through it, a map's
/// derivatives must be 0; of another operation there are no results.
///
/// # Errors
/// The first check that finds a gradient wrong.
pub fn compare_gradients(operations: &[Operation; 4]) -> Result<Vec<GradientSummary>, Failure> {
    let wide = &operations[3];
    let checked: Result<Vec<_>, Failure> = match wide.check_differences()? {
        true => operations.iter().map(|operation| operation.check_rounding(wide)).collect(),
        false => operations.iter().map(Operation::check_zero).collect(),
    };
    Ok(checked?.into_iter().flatten().collect())
}

/// The part of a range that is not far from zero, or all of a range that is.
fn near(low: f64, high: f64) -> (f64, f64) {
    let (least, most) = (low.max(-FAR), high.min(FAR));
    if least < most { (least, most) } else { (low, high) }
}

/// The nearest number that every element type has, for numbers near 1.
fn representable(value: f64) -> f64 {
    bf16::from_f64(value).to_f64()
}
