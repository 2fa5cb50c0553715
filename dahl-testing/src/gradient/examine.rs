//! Compares the results of backward with differences of forward.

use super::difference::{Difference, Value, jump};
use super::direction::{Purpose, draw};
use super::elements::place;
use super::failure::{Check, Failure};
use super::{Gradient, Report};
use crate::digits::Digits;

/// The tolerance of two sums of the same terms, relative to the sum of their magnitudes.
const SAME_TERMS: f64 = 1e-13;
/// The distance that input values keep from a kink.
const MARGIN: f64 = 0.1;

/// Runs all checks of `gradient`.
pub(super) fn examine(gradient: &Gradient<'_>) -> Result<Report, Failure> {
    let examination = Examination::new(gradient)?;
    let mut report = Report { directions: 0, worst: 0.0, kinks: Vec::new() };
    examination.repeats()?;
    examination.scales()?;
    examination.directions(&mut report)?;
    examination.adjoint(&mut report)?;
    examination.exact()?;
    Ok(report)
}

pub(super) struct Examination<'a> {
    pub(super) gradient: &'a Gradient<'a>,
    /// The inputs, moved away from the given kinks.
    pub(super) inputs: Vec<Vec<f64>>,
    output: Vec<f64>,
}

/// The comparison of a slope of backward with that of differences.
enum Verdict {
    /// Within the bound; the difference relative to the sum of the magnitudes of the terms.
    Equal(f64),
    /// The function is not smooth in this direction, with a description.
    Kink(String),
    /// The slope of differences, its error, and the bound.
    Wrong(Difference, f64),
}

impl<'a> Examination<'a> {
    fn new(gradient: &'a Gradient<'a>) -> Result<Self, Failure> {
        let mut inputs: Vec<Vec<f64>> = gradient.inputs.iter().map(|input| input.values.clone()).collect();
        for value in inputs.iter_mut().flatten() {
            for kink in &gradient.kinks {
                let from_kink = *value - kink;
                if from_kink.abs() < MARGIN {
                    *value = kink + MARGIN.copysign(from_kink);
                }
            }
        }
        let mut examination = Self { gradient, inputs, output: Vec::new() };
        examination.output = examination.forward(&examination.inputs)?;
        Ok(examination)
    }

    fn fail<T>(&self, check: Check, input: Option<usize>, text: String) -> Result<T, Failure> {
        let Gradient { subject, seed, .. } = self.gradient;
        let input = input.map(|i| self.gradient.inputs[i].name.clone());
        Err(Failure { subject: subject.clone(), check, input, seed: *seed, text })
    }

    fn forward(&self, inputs: &[Vec<f64>]) -> Result<Vec<f64>, Failure> {
        (self.gradient.forward)(inputs)
            .or_else(|error| self.fail(Check::Runs, None, format!("forward: {error}")))
    }

    fn backward(&self, output_gradient: &[f64]) -> Result<Vec<Vec<f64>>, Failure> {
        let gradients = (self.gradient.backward)(&self.inputs, output_gradient)
            .or_else(|error| self.fail(Check::Runs, None, format!("backward: {error}")))?;
        let count = self.inputs.len();
        if gradients.len() != count {
            let text = format!("backward gives {} gradients for {count} inputs", gradients.len());
            return self.fail(Check::Shapes, None, text);
        }
        for (i, (gradient, input)) in gradients.iter().zip(&self.inputs).enumerate() {
            if gradient.len() != input.len() {
                let text =
                    format!("backward gives {} elements for an input of {}", gradient.len(), input.len());
                return self.fail(Check::Shapes, Some(i), text);
            }
            if let Some(element) = gradient.iter().position(|value| !value.is_finite()) {
                let text = format!("backward gives {} for element {element}", gradient[element]);
                return self.fail(Check::Finite, Some(i), text);
            }
        }
        Ok(gradients)
    }

    /// Output gradient number `number`.
    fn output_gradient(&self, number: usize) -> Vec<f64> {
        draw(self.gradient.seed, Purpose::OutputGradient, number, self.output.len())
    }

    /// Direction number `number` of an input, scaled with its values.
    pub(super) fn direction(&self, input: usize, number: usize) -> Vec<f64> {
        let values = &self.inputs[input];
        let number = number * self.inputs.len() + input;
        let direction = draw(self.gradient.seed, Purpose::Direction, number, values.len());
        let scale = self.scale(input);
        direction.into_iter().map(|component| component * scale).collect()
    }

    /// The typical magnitude of the values of an input.
    pub(super) fn scale(&self, input: usize) -> f64 {
        let values = &self.inputs[input];
        let squares: f64 = values.iter().map(|value| value * value).sum();
        let typical = (squares / values.len() as f64).sqrt();
        if typical > 0.0 && typical.is_finite() { typical } else { 1.0 }
    }

    /// The weighted sum of the output, with the inputs moved by `step` in the directions, one for each input.
    pub(super) fn weighted(
        &self,
        weights: &[f64],
        directions: &[(usize, &[f64])],
        step: f64,
    ) -> Result<Value, Failure> {
        let mut inputs = self.inputs.clone();
        for (input, direction) in directions {
            for (value, component) in inputs[*input].iter_mut().zip(*direction) {
                *value += step * component;
            }
        }
        let output = self.forward(&inputs)?;
        if output.len() != weights.len() {
            let text =
                format!("forward gives {} elements, and {} at other inputs", weights.len(), output.len());
            return self.fail(Check::Shapes, None, text);
        }
        Ok(Value { sum: dot(&output, weights), magnitude: dot_of_magnitudes(&output, weights) })
    }

    /// Compares the slope in some directions with that of backward.
    fn compare(
        &self,
        weights: &[f64],
        directions: &[(usize, &[f64])],
        gradients: &[Vec<f64>],
    ) -> Result<Verdict, Failure> {
        let sum_over = |term: fn(&[f64], &[f64]) -> f64| -> f64 {
            directions.iter().map(|(input, direction)| term(&gradients[*input], direction)).sum()
        };
        let (got, magnitude) = (sum_over(dot), sum_over(dot_of_magnitudes));
        let tolerance = self.gradient.tolerance;
        let at = |step| self.weighted(weights, directions, step);
        let difference = Difference::of(tolerance * magnitude / 100.0, at)?;
        let magnitude = magnitude.max(difference.value.abs());
        let allowed = tolerance * magnitude + 8.0 * difference.rounding;
        let off = (got - difference.value).abs();
        if off <= allowed {
            return Ok(Verdict::Equal(if magnitude > 0.0 { off / magnitude } else { 0.0 }));
        }
        if difference.error > allowed {
            let text = format!("differences do not settle, to {:.1e} at best", difference.error);
            return Ok(Verdict::Kink(text));
        }
        Ok(match jump(at)? {
            Some(jump) => Verdict::Kink(format!("the slopes to the two sides are {jump:.3e} apart")),
            None => Verdict::Wrong(difference, allowed),
        })
    }

    /// [`Check::Directions`].
    fn directions(&self, report: &mut Report) -> Result<(), Failure> {
        let weights = self.output_gradient(0);
        let gradients = self.backward(&weights)?;
        for input in (0..self.inputs.len()).filter(|&input| !self.inputs[input].is_empty()) {
            let mut kinks = Vec::new();
            for number in 0..self.gradient.directions {
                let direction = self.direction(input, number);
                let moves = [(input, &direction[..])];
                let what = format!("direction {number} by `{}`", self.gradient.inputs[input].name);
                match self.compare(&weights, &moves, &gradients)? {
                    Verdict::Equal(off) => report.add(off),
                    Verdict::Kink(seen) => kinks.push(format!("{what}: {seen}")),
                    Verdict::Wrong(difference, allowed) => {
                        let got = dot(&gradients[input], &direction);
                        let text = format!(
                            "{}\n{}",
                            slopes(&what, difference, allowed, got),
                            self.elements_text(input, &weights, &gradients)?
                        );
                        return self.fail(Check::Directions, Some(input), text);
                    }
                }
            }
            self.require_smooth(Some(input), &kinks)?;
            report.kinks.append(&mut kinks);
        }
        Ok(())
    }

    /// [`Check::Adjoint`].
    fn adjoint(&self, report: &mut Report) -> Result<(), Failure> {
        let mut kinks = Vec::new();
        for number in 0..self.gradient.directions {
            let weights = self.output_gradient(1 + number);
            let gradients = self.backward(&weights)?;
            let directions = self.joint_direction(number);
            let moves: Vec<_> = directions.iter().map(Vec::as_slice).enumerate().collect();
            let what = format!("direction {number} by all inputs");
            match self.compare(&weights, &moves, &gradients)? {
                Verdict::Equal(off) => report.add(off),
                Verdict::Kink(seen) => kinks.push(format!("{what}: {seen}")),
                Verdict::Wrong(difference, allowed) => {
                    let got = moves.iter().map(|(input, direction)| dot(&gradients[*input], direction)).sum();
                    let text = slopes(&what, difference, allowed, got);
                    return self.fail_by_worst(Check::Adjoint, &text, &weights, &gradients);
                }
            }
        }
        self.require_smooth(None, &kinks)?;
        report.kinks.append(&mut kinks);
        Ok(())
    }

    /// [`Check::Exact`].
    fn exact(&self) -> Result<(), Failure> {
        for number in 0..self.gradient.directions {
            let weights = self.output_gradient(1 + number);
            if let Some(tangent) = &self.gradient.tangent {
                let gradients = self.backward(&weights)?;
                let directions = self.joint_direction(number);
                let change = tangent(&self.inputs, &directions)
                    .or_else(|error| self.fail(Check::Runs, None, format!("tangent: {error}")))?;
                if change.len() != weights.len() {
                    let text =
                        format!("tangent gives {} elements for {} outputs", change.len(), weights.len());
                    return self.fail(Check::Shapes, None, text);
                }
                let terms = dot_of_magnitudes(&change, &weights);
                self.same_terms(None, &weights, &gradients, &directions, dot(&change, &weights), terms)?;
            }
            for input in (0..self.inputs.len()).filter(|_| self.gradient.linear) {
                let gradients = self.backward(&weights)?;
                let mut directions: Vec<_> = self.inputs.iter().map(|input| vec![0.0; input.len()]).collect();
                let mut inputs = self.inputs.clone();
                inputs[input].fill(0.0);
                let constant = self.forward(&inputs)?;
                directions[input] = self.direction(input, number);
                inputs[input].clone_from(&directions[input]);
                let moved = self.forward(&inputs)?;
                let expected = dot(&moved, &weights) - dot(&constant, &weights);
                let terms = dot_of_magnitudes(&moved, &weights) + dot_of_magnitudes(&constant, &weights);
                self.same_terms(Some(input), &weights, &gradients, &directions, expected, terms)?;
            }
        }
        Ok(())
    }

    /// Compares `<J v, w>`, summed from terms of the given magnitude, with `<v, J' w>`.
    fn same_terms(
        &self,
        input: Option<usize>,
        weights: &[f64],
        gradients: &[Vec<f64>],
        directions: &[Vec<f64>],
        expected: f64,
        terms: f64,
    ) -> Result<(), Failure> {
        let sum_over = |term: fn(&[f64], &[f64]) -> f64| -> f64 {
            gradients.iter().zip(directions).map(|(gradient, direction)| term(gradient, direction)).sum()
        };
        let (got, magnitude) = (sum_over(dot), sum_over(dot_of_magnitudes));
        let allowed = SAME_TERMS * (terms + magnitude);
        if (expected - got).abs() <= allowed {
            return Ok(());
        }
        let text = format!(
            "<J v, w>, and <v, J' w> from backward; {allowed:.1e} is allowed\n{}",
            Digits::new(expected, got)
        );
        match input {
            Some(input) => {
                let elements = self.elements_text(input, weights, gradients)?;
                self.fail(Check::Exact, Some(input), format!("{text}\n{elements}"))
            }
            None => self.fail_by_worst(Check::Exact, &text, weights, gradients),
        }
    }

    /// [`Check::Repeats`].
    fn repeats(&self) -> Result<(), Failure> {
        let again = self.forward(&self.inputs)?;
        if let Some(i) = first_difference(&self.output, &again) {
            let digits = Digits::new(self.output[i], again.get(i).copied().unwrap_or(f64::NAN));
            return self.fail(Check::Repeats, None, format!("output[{i}], and when run again\n{digits}"));
        }
        let weights = self.output_gradient(0);
        let (first, again) = (self.backward(&weights)?, self.backward(&weights)?);
        self.same_bits(Check::Repeats, "and when run again", &first, &again)
    }

    /// [`Check::Scales`].
    fn scales(&self) -> Result<(), Failure> {
        let weights = self.output_gradient(0);
        let doubled: Vec<f64> = weights.iter().map(|weight| 2.0 * weight).collect();
        let mut expected = self.backward(&weights)?;
        expected.iter_mut().flatten().for_each(|gradient| *gradient *= 2.0);
        let got = self.backward(&doubled)?;
        let what = "twice it, and what twice the output's gradient gives";
        self.same_bits(Check::Scales, what, &expected, &got)
    }

    fn same_bits(
        &self,
        check: Check,
        what: &str,
        expected: &[Vec<f64>],
        got: &[Vec<f64>],
    ) -> Result<(), Failure> {
        for (input, (expected, got)) in expected.iter().zip(got).enumerate() {
            if let Some(i) = first_difference(expected, got) {
                let described = &self.gradient.inputs[input];
                let (name, place) = (&described.name, place(i, &described.shape));
                let text = format!("{name}{place:?}: {what}\n{}", Digits::new(expected[i], got[i]));
                return self.fail(check, Some(input), text);
            }
        }
        Ok(())
    }

    /// A direction of all inputs, different from those of single inputs.
    fn joint_direction(&self, number: usize) -> Vec<Vec<f64>> {
        (0..self.inputs.len()).map(|input| self.direction(input, self.gradient.directions + number)).collect()
    }

    fn require_smooth(&self, input: Option<usize>, kinks: &[String]) -> Result<(), Failure> {
        if kinks.len() < self.gradient.directions {
            return Ok(());
        }
        self.fail(Check::Smooth, input, kinks.join("\n"))
    }

    /// Fails with the elements of the input that has the largest error.
    fn fail_by_worst<T>(
        &self,
        check: Check,
        text: &str,
        weights: &[f64],
        gradients: &[Vec<f64>],
    ) -> Result<T, Failure> {
        let mut worst = None;
        for input in 0..self.inputs.len() {
            let elements = self.elements(input, weights, gradients)?;
            let excess = elements.worst_excess();
            if excess > 0.0 && worst.as_ref().is_none_or(|&(_, most, _)| excess > most) {
                worst = Some((input, excess, elements));
            }
        }
        let Some((input, _, elements)) = worst else {
            return self.fail(check, None, format!("{text}\nno element on its own is wrong"));
        };
        let elements = elements.describe(&self.gradient.inputs[input]);
        self.fail(check, Some(input), format!("{text}\n{elements}"))
    }

    fn elements_text(
        &self,
        input: usize,
        weights: &[f64],
        gradients: &[Vec<f64>],
    ) -> Result<String, Failure> {
        Ok(self.elements(input, weights, gradients)?.describe(&self.gradient.inputs[input]))
    }
}

impl Report {
    fn add(&mut self, off: f64) {
        self.directions += 1;
        self.worst = self.worst.max(off);
    }
}

/// A slope of differences, and the actual one.
fn slopes(what: &str, difference: Difference, allowed: f64, got: f64) -> String {
    let Difference { value, error, .. } = difference;
    format!(
        "the slope in {what}, from differences, good to {error:.1e}, and from backward; {allowed:.1e} is allowed\n{}",
        Digits::new(value, got)
    )
}

pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn dot_of_magnitudes(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a * b).abs()).sum()
}

/// The first index at which the bits differ, or that only one of the two has.
fn first_difference(a: &[f64], b: &[f64]) -> Option<usize> {
    let differs = a.iter().zip(b).position(|(a, b)| a.to_bits() != b.to_bits());
    differs.or((a.len() != b.len()).then_some(a.len().min(b.len())))
}
