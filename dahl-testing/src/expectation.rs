//! [`Expectation`]: the expected results, and the allowed errors.

use super::bound::{Bound, Verdict};
use super::buffer::Buffer;
use super::digits::Digits;
use super::failure::{Check, Histogram, Way, Worst};
use super::fault::Fault;
use super::format::Format;
use super::oracle::{Exact, Oracle};
use super::report::{ErrorStatistics, Reference};
use super::subject::Subject;
use dahl_core::__testing;
use dahl_core::access::AccessMode;
use dahl_core::codelet::{ErrorClass, Parameter};

/// The expected results.
pub(super) struct Expectation {
    /// The data parameters that have arrays.
    parameters: Vec<&'static Parameter>,
    /// One for each array that is written.
    results: Vec<Vec<Exact>>,
    magnitudes: Vec<Vec<Exact>>,
    class: ErrorClass,
    terms: f64,
    pub(super) reference: Reference,
}

impl Expectation {
    /// The results of `oracle` for `data`.
    pub(super) fn new(
        oracle: &Oracle<'_>,
        reference: Reference,
        subject: &dyn Subject,
        data: &[Buffer],
        arguments: &[u8],
    ) -> Result<Self, String> {
        let numerics = subject.numerics();
        let parameters = subject.codelet().parameters;
        let class = numerics.error.unwrap_or_else(|| default_class(numerics.is_map));
        let results = oracle.results(data)?;
        let (mut terms, mut magnitudes) = (0.0, Vec::new());
        if let ErrorClass::Sum { terms: count, magnitude } = class {
            terms = __testing::evaluate(count, &shapes(parameters, data), arguments);
            magnitudes = oracle.magnitudes(data, magnitude.is_some())?;
        }
        let parameters =
            parameters.iter().filter(|parameter| parameter.mode != AccessMode::SCRATCH).collect();
        Ok(Self { parameters, results, magnitudes, class, terms, reference })
    }

    /// Compares the arrays after a task with the expected results. `before` has the inputs.
    pub(super) fn judge(
        &self,
        before: &[Buffer],
        after: &[Buffer],
        way: &Way,
        statistics: &mut ErrorStatistics,
    ) -> Result<(), Box<Fault>> {
        let written = self.parameters.iter().enumerate().filter(|(_, parameter)| parameter.mode.writes());
        for (index, (place, _)) in written.enumerate() {
            let (got, results) = (&after[place], &self.results[index]);
            let Some(format) = Format::of(got.element) else {
                self.judge_integers(results, got, place, way)?;
                statistics.results += got.len() as u64;
                continue;
            };
            let independent = self.reference == Reference::Independent;
            let bound = Bound::new(format, self.class, self.terms, independent);
            let magnitude = |i: usize| self.magnitudes.get(index).map_or(0.0, |all| all[i].high);
            let values = got.values();
            let (mut histogram, mut wrong, mut worst) = (Histogram::default(), 0_u64, None);
            for (i, (&expected, &value)) in results.iter().zip(&values).enumerate() {
                let judgement = bound.judge(expected, magnitude(i), value);
                let is_special = judgement.verdict == Verdict::WrongSpecial;
                histogram.count((!is_special).then_some(judgement.ulps));
                if judgement.verdict == Verdict::Right {
                    statistics.add(&judgement, expected.high, value, format);
                    continue;
                }
                wrong += 1;
                let badness = (is_special, judgement.ulps / judgement.bound_ulps.max(f64::MIN_POSITIVE));
                if worst.is_none_or(|(most, _, _)| badness > most) {
                    worst = Some((badness, i, judgement));
                }
            }
            let Some(((is_special, _), i, judgement)) = worst else { continue };
            let fault = if is_special {
                let fact = format!("{wrong} of {} elements are wrong, a special value among them", got.len());
                let distance = format!("{}; error class {}", got.element.name, self.class_text());
                (Check::SpecialValues, fact, distance)
            } else {
                let (off, allowed) = (shown(judgement.ulps), shown(judgement.bound_ulps));
                let distance = format!("{off} ULP off; {allowed} are allowed by {}", self.class_text());
                (Check::Bound, format!("{wrong} of {} elements are beyond the bound", got.len()), distance)
            };
            let (check, fact, distance) = fault;
            let mut fault = Fault::new(check, Some(way), fact);
            fault.worst = Some(self.worst(before, place, i, results[i].high, got, distance));
            fault.histogram = Some(histogram);
            return Err(fault);
        }
        Ok(())
    }

    /// Compares elements that are not floating-point numbers: exactly.
    fn judge_integers(
        &self,
        results: &[Exact],
        got: &Buffer,
        place: usize,
        way: &Way,
    ) -> Result<(), Box<Fault>> {
        let values = got.values();
        let wrong = (0..values.len()).filter(|&i| values[i] != results[i].high);
        let Some(first) = wrong.clone().next() else { return Ok(()) };
        let fact = format!("{} of {} elements differ from the reference", wrong.count(), values.len());
        let mut fault = Fault::new(Check::Bound, Some(way), fact);
        let distance = format!("{} is compared exactly", got.element.name);
        fault.worst = Some(self.worst(&[], place, first, results[first].high, got, distance));
        Err(fault)
    }

    /// Element `i` of array number `place`, with the inputs of the same index.
    fn worst(
        &self,
        before: &[Buffer],
        place: usize,
        i: usize,
        expected: f64,
        got: &Buffer,
        distance: String,
    ) -> Worst {
        let index = got.index(i);
        let beside = self.parameters.iter().zip(before).filter_map(|(parameter, buffer)| {
            let (index, i) = buffer.stretched(&got.extents, &index)?;
            let is_input = parameter.mode != AccessMode::W;
            is_input.then(|| format!("{}{index:?} = {}", parameter.name, buffer.text(i)))
        });
        Worst {
            element: format!("{}{index:?}", self.parameters[place].name),
            inputs: beside.collect(),
            digits: Digits::new(expected, got.values()[i]),
            distance,
        }
    }

    fn class_text(&self) -> String {
        match self.class {
            ErrorClass::Rounded => "rounded".to_owned(),
            ErrorClass::Ulp(ulps) => format!("ulp({ulps})"),
            ErrorClass::Sum { .. } => format!("sum(n = {})", self.terms),
        }
    }
}

/// The extents of all data parameters, for the option's expression.
fn shapes<'a>(parameters: &[Parameter], data: &'a [Buffer]) -> Vec<&'a [usize]> {
    let mut places = data.iter();
    let of = |parameter: &Parameter| match parameter.mode {
        AccessMode::SCRATCH => [].as_slice(),
        _ => places.next().expect("an array for each parameter").extents.as_slice(),
    };
    parameters.iter().map(of).collect()
}

/// The class if the declaration names none: a map is one function, and a kernel sums up all its inputs.
fn default_class(is_map: bool) -> ErrorClass {
    if is_map {
        return ErrorClass::Ulp(4.0);
    }
    ErrorClass::Sum { terms: |operands| __testing::largest_len(operands) as f64, magnitude: None }
}

/// Three significant digits.
fn shown(value: f64) -> String {
    if (0.01..1e6).contains(&value) || value == 0.0 { format!("{value:.3}") } else { format!("{value:.2e}") }
}
