//! One element as text, and the format that all elements of an array share.

use std::any::TypeId;

use half::{bf16, f16};

use crate::element::{self, Element, Real};

/// An element to be printed.
pub(super) enum Cell {
    Number(Number),
    /// The text of an integer, or of a user's type.
    Text(String),
}

/// A floating-point number, with its type, which determines its digits.
#[derive(Clone, Copy)]
pub(super) struct Number {
    value: f64,
    float: Float,
}

/// The floating-point types of this crate.
#[derive(Clone, Copy)]
enum Float {
    F16,
    Bf16,
    F32,
    F64,
}

impl Cell {
    /// The cell of an element; `precision` is for types of other crates.
    pub(super) fn of<T: Element>(element: T, precision: Option<usize>) -> Self {
        let float = [
            (TypeId::of::<f16>(), Float::F16),
            (TypeId::of::<bf16>(), Float::Bf16),
            (TypeId::of::<f32>(), Float::F32),
            (TypeId::of::<f64>(), Float::F64),
        ]
        .into_iter()
        .find_map(|(id, float)| (id == TypeId::of::<T>()).then_some(float));
        match (float, element::to_f64(element), precision) {
            (Some(float), Some(value), _) => Cell::Number(Number { value, float }),
            (_, _, Some(precision)) => Cell::Text(format!("{element:.precision$}")),
            _ => Cell::Text(element.to_string()),
        }
    }

    fn number(&self) -> Option<Number> {
        match self {
            Cell::Number(number) => Some(*number),
            Cell::Text(_) => None,
        }
    }
}

impl Float {
    /// The nearest number of this type.
    fn round(self, value: f64) -> f64 {
        match self {
            Float::F16 => <f16 as Real>::from_f64(value).to_f64(),
            Float::Bf16 => <bf16 as Real>::from_f64(value).to_f64(),
            Float::F32 => f64::from(value as f32),
            Float::F64 => value,
        }
    }

    /// The least number that is scientific: the type has no digits left after the point, or 10^8.
    fn large(self) -> f64 {
        match self {
            Float::F16 | Float::Bf16 => 1e3,
            Float::F32 => 1e6,
            Float::F64 => 1e8,
        }
    }
}

impl Number {
    /// The fewest digits that distinguish the number from its neighbours, as `d.ddde-x`; of two equally near texts the
    /// one with an even last digit.
    fn shortest(self) -> String {
        let Self { value, float } = self;
        let reads_back = |text: &String| text.parse::<f64>().is_ok_and(|read| float.round(read) == value);
        let exact = |digits: usize| format!("{value:.digits$e}");
        // The distance from a power of two to the next number is twice that to the one before, so of two equally near
        // texts perhaps only the one away from zero reads back.
        let away_from_zero = |digits: usize| format!("{:.digits$e}", value * (1.0 + f64::EPSILON));
        match float {
            Float::F16 | Float::Bf16 => {
                let mut texts = (0..17).flat_map(|digits| [exact(digits), away_from_zero(digits)]);
                texts.find(reads_back).unwrap_or_else(|| format!("{value:e}"))
            }
            Float::F32 | Float::F64 => {
                let text = match float {
                    Float::F32 => format!("{:e}", value as f32),
                    _ => format!("{value:e}"),
                };
                Some(exact(fraction(&text))).filter(reads_back).unwrap_or(text)
            }
        }
    }

    /// The number of digits of the shortest text after the point, and its exponent.
    fn shape(self) -> (usize, i32) {
        let text = self.shortest();
        let (_, exponent) = text.split_once('e').expect("it is in scientific notation");
        (fraction(&text), exponent.parse().expect("an exponent is an integer"))
    }

    /// Without an exponent, at most `precision` digits after the point, no zeros at the end, and a point.
    fn positional(self, precision: usize) -> String {
        let (fraction, exponent) = self.shape();
        let digits = i32::try_from(fraction).unwrap_or(i32::MAX).saturating_sub(exponent).max(0) as usize;
        if digits > precision {
            return trimmed(format!("{:.precision$}", self.value));
        }
        // Only the digits of the shortest text: `{:.0}` of a large f32 would show those of its exact value.
        let read: f64 = self.shortest().parse().expect("a number reads back");
        trimmed(format!("{read:.digits$}"))
    }

    /// With an exponent, at most `precision` digits after the point, no zeros at the end, and a point.
    fn scientific(self, precision: usize) -> String {
        let (fraction, _) = self.shape();
        if fraction > precision {
            return self.exactly(precision, trimmed);
        }
        let text = self.shortest();
        let (digits, exponent) = text.split_once('e').expect("it is in scientific notation");
        format!("{}e{exponent}", trimmed(digits.into()))
    }

    /// With an exponent and `digits` digits after the point: those of the shortest text if it has that many, else those
    /// of the exact value.
    fn exactly(self, digits: usize, finish: fn(String) -> String) -> String {
        let shortest = self.shortest();
        let has_as_many = self.shape().0 == digits;
        let text = if has_as_many { shortest } else { format!("{:.digits$e}", self.value) };
        let (digits, exponent) = text.split_once('e').expect("it is in scientific notation");
        format!("{}e{exponent}", finish(digits.into()))
    }
}

/// The number of digits after the point of a number in scientific notation.
fn fraction(text: &str) -> usize {
    let digits = text.split('e').next().unwrap_or(text);
    digits.split_once('.').map_or(0, |(_, fraction)| fraction.len())
}

/// Digits with a point and without zeros at the end.
fn trimmed(digits: String) -> String {
    match digits.contains('.') {
        true => digits.trim_end_matches('0').into(),
        false => with_point(digits),
    }
}

fn with_point(digits: String) -> String {
    if digits.contains('.') { digits } else { digits + "." }
}

/// The common format of the numbers of an array.
#[derive(Debug)]
pub(super) struct Format {
    scientific: bool,
    /// Digits after the point: the most, or, if scientific, the number.
    precision: usize,
    /// Characters before the point, including a sign.
    left: usize,
    /// Characters after the point, including an exponent.
    right: usize,
    /// Digits of the exponent.
    exponent: usize,
    plus: bool,
    /// The width of texts that are not numbers.
    text_width: usize,
}

impl Format {
    /// The format of some elements, with at most `precision` digits after the point.
    pub(super) fn of(cells: &[Cell], precision: usize, scientific: Option<bool>, plus: bool) -> Self {
        let numbers = || cells.iter().filter_map(Cell::number);
        let finite = || numbers().filter(|number| number.value.is_finite());
        let text_width = cells.iter().map(|cell| match cell {
            Cell::Text(text) => text.chars().count(),
            Cell::Number(_) => 0,
        });
        let mut format = Self {
            scientific: scientific.unwrap_or_else(|| wants_exponents(finite())),
            precision,
            left: 0,
            right: 0,
            exponent: 0,
            plus,
            text_width: text_width.max().unwrap_or(0),
        };
        format.measure(finite());
        if numbers().any(|number| !number.value.is_finite()) {
            let signed = plus || numbers().any(|number| number.value == f64::NEG_INFINITY);
            let widest = "inf".len() + usize::from(signed);
            format.left = format.left.max(widest.saturating_sub(format.right + 1));
        }
        format
    }

    /// Sets the widths from the numbers.
    fn measure(&mut self, finite: impl Iterator<Item = Number>) {
        let most = self.precision;
        let mut digits_after = 0;
        for number in finite {
            let text = if self.scientific { number.scientific(most) } else { number.positional(most) };
            let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
            let (before, after) = digits.split_once('.').expect("a number has a point");
            let plus = usize::from(self.plus && !before.starts_with('-'));
            self.left = self.left.max(before.len() + plus);
            self.exponent = self.exponent.max(exponent.trim_start_matches('-').len()).max(2);
            digits_after = digits_after.max(after.len());
        }
        if self.scientific {
            self.precision = digits_after;
            self.right = digits_after + self.exponent + 2;
        } else {
            self.right = digits_after;
        }
    }

    /// The text of one element, padded to the common width.
    pub(super) fn word(&self, cell: &Cell) -> String {
        let number = match cell {
            Cell::Text(text) => return format!("{text:>width$}", width = self.text_width),
            Cell::Number(number) => *number,
        };
        let plus = if self.plus && !number.value.is_sign_negative() { "+" } else { "" };
        if !number.value.is_finite() {
            let text = if number.value.is_nan() { "nan".into() } else { number.value.to_string() };
            let plus = if self.plus && number.value != f64::NEG_INFINITY { "+" } else { "" };
            return format!("{:>width$}", format!("{plus}{text}"), width = self.left + self.right + 1);
        }
        if self.scientific {
            let text = number.exactly(self.precision, with_point);
            let (digits, exponent) = text.split_once('e').expect("it is in scientific notation");
            let sign = if exponent.starts_with('-') { '-' } else { '+' };
            let exponent = format!("{:0>width$}", exponent.trim_start_matches('-'), width = self.exponent);
            let width = self.left + 1 + self.precision;
            return format!("{:>width$}e{sign}{exponent}", format!("{plus}{digits}"));
        }
        let text = number.positional(self.precision);
        let (before, after) = text.split_once('.').expect("a number has a point");
        let before = format!("{plus}{before}");
        format!("{before:>left$}.{after:<right$}", left = self.left, right = self.right)
    }
}

/// Whether numbers are so large, so small, or so different in size that all are written with exponents.
fn wants_exponents(numbers: impl Iterator<Item = Number>) -> bool {
    let nonzero = numbers.filter(|number| number.value != 0.0);
    let range = nonzero.fold(None, |range, Number { value, float }| {
        let (smallest, largest, _) = range.unwrap_or((f64::INFINITY, 0.0_f64, float));
        Some((value.abs().min(smallest), value.abs().max(largest), float))
    });
    range.is_some_and(|(smallest, largest, float)| {
        largest >= float.large() || smallest < float.round(1e-4) || float.round(largest / smallest) > 1000.0
    })
}
