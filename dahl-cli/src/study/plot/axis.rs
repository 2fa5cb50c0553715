//! [`Axis`]: the labels of an axis, and the positions of values on it.

use std::ops::Range;

use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};

use super::number;

/// About how many ticks an axis has by default.
const TICKS: f64 = 5.0;

/// An axis: its label, whether it is logarithmic, its ends and ticks. By default they follow from the data.
#[derive(Clone)]
pub(crate) struct Axis {
    pub(super) label: String,
    is_log: bool,
    low: Option<f64>,
    high: Option<f64>,
    ticks: Option<Vec<(f64, String)>>,
}

impl Axis {
    /// A linear axis from 0.
    pub(crate) fn linear(label: impl Into<String>) -> Self {
        Self { label: label.into(), is_log: false, low: Some(0.0), high: None, ticks: None }
    }

    /// A logarithmic axis.
    pub(crate) fn log(label: impl Into<String>) -> Self {
        Self { is_log: true, low: None, ..Self::linear(label) }
    }

    /// Sets its end.
    pub(crate) fn to(mut self, high: f64) -> Self {
        self.high = Some(high);
        self
    }

    /// Starts the axis near the smallest value.
    pub(crate) fn near_data(mut self) -> Self {
        self.low = None;
        self
    }

    /// Sets its ticks.
    pub(crate) fn ticks(mut self, ticks: Vec<(f64, String)>) -> Self {
        self.ticks = Some(ticks);
        self
    }

    /// The scale of the axis for these values.
    pub(super) fn scale(&self, values: impl Iterator<Item = f64>) -> Scale {
        let shown = values.filter(|value| value.is_finite() && (!self.is_log || *value > 0.0));
        let (least, most) = shown.fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), value| {
            (least.min(value), most.max(value))
        });
        let (least, most) = if least <= most { (least, most) } else { (1.0, 1.0) };
        let (below, above) = match self.is_log {
            true => (least / 1.25, most * 1.25),
            false => (least - 0.08 * (most - least), most + 0.08 * (most - self.low.unwrap_or(least))),
        };
        let (low, high) = (self.low.unwrap_or(below), self.high.unwrap_or(above));
        let high = if high > low { high } else { low + 1.0 };
        let ticks = self.ticks.clone().unwrap_or_else(|| match self.is_log {
            true => decades(low, high),
            false => steps(low, high),
        });
        let ticks = ticks.into_iter().filter(|(value, _)| (low..=high).contains(value)).collect();
        Scale { is_log: self.is_log, low, high, ticks }
    }
}

/// Round numbers between two numbers.
fn steps(low: f64, high: f64) -> Vec<(f64, String)> {
    let least = (high - low) / TICKS;
    let power = 10_f64.powf(least.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * power).into_iter().find(|step| *step >= least);
    let step = step.unwrap_or(10.0 * power);
    let (first, last) = ((low / step).ceil() as i64, (high / step).floor() as i64);
    (first..=last).map(|index| index as f64 * step).map(|value| (value, rounded(value, step))).collect()
}

/// `value` with the decimals that `step` has.
fn rounded(value: f64, step: f64) -> String {
    if value.abs() >= 1e4 || step >= 1.0 {
        return number(value);
    }
    let decimals = (-step.log10().floor()).max(0.0) as usize;
    format!("{value:.decimals$}")
}

/// Powers of ten between two numbers, and numbers between them if there are few.
fn decades(low: f64, high: f64) -> Vec<(f64, String)> {
    let powers = low.log10().floor() as i32..=high.log10().ceil() as i32;
    let between = |digits: &[f64]| -> Vec<f64> {
        let all = powers.clone().flat_map(|power| digits.iter().map(move |digit| digit * 10_f64.powi(power)));
        all.filter(|value| (low..=high).contains(value)).collect()
    };
    let choices: [&[f64]; 3] = [&[1.0], &[1.0, 3.0], &[1.0, 2.0, 5.0]];
    let found = choices.into_iter().map(between).find(|ticks| ticks.len() >= 4);
    let found = found.unwrap_or_else(|| between(choices[2]));
    found.into_iter().map(|value| (value, number(value))).collect()
}

/// Maps values to positions on an axis, for plotters.
#[derive(Clone)]
pub(super) struct Scale {
    is_log: bool,
    low: f64,
    high: f64,
    ticks: Vec<(f64, String)>,
}

impl Scale {
    /// The value, limited to the ends of the axis.
    pub(super) fn within(&self, value: f64) -> f64 {
        value.clamp(self.low, self.high)
    }

    pub(super) fn ticks(&self) -> usize {
        self.ticks.len()
    }
}

impl Ranged for Scale {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, (from, to): (i32, i32)) -> i32 {
        let place = |value: f64| if self.is_log { value.ln() } else { value };
        let share = (place(*value) - place(self.low)) / (place(self.high) - place(self.low));
        from + (share * f64::from(to - from)).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, _hint: Hint) -> Vec<f64> {
        self.ticks.iter().map(|(value, _)| *value).collect()
    }

    fn range(&self) -> Range<f64> {
        self.low..self.high
    }
}

impl ValueFormatter<f64> for Scale {
    fn format_ext(&self, value: &f64) -> String {
        let tick = self.ticks.iter().find(|(tick, _)| tick == value);
        tick.map_or_else(|| number(*value), |(_, text)| text.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(axis: &Axis, values: &[f64]) -> Vec<String> {
        axis.scale(values.iter().copied()).ticks.into_iter().map(|(_, text)| text).collect()
    }

    #[test]
    fn ticks_are_round_numbers() {
        assert_eq!(texts(&Axis::linear("a"), &[0.3, 0.95]), ["0.0", "0.5", "1.0"]);
        assert_eq!(texts(&Axis::linear("a").to(1.0), &[0.3]), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(texts(&Axis::linear("a"), &[120_000.0]), ["0", "50k", "100k"]);
        assert_eq!(texts(&Axis::log("a"), &[0.7, 20_000.0]), ["1", "10", "100", "1000", "10k"]);
        assert_eq!(texts(&Axis::log("a"), &[1.0, 6.0]), ["1", "2", "5"]);
    }

    #[test]
    fn values_without_a_logarithm_do_not_stretch_a_log_axis() {
        assert_eq!(texts(&Axis::log("a"), &[0.0, f64::NAN, 1.0, 6.0]), texts(&Axis::log("a"), &[1.0, 6.0]));
    }
}
