//! [`Joules`]: an energy, and where it is from.

use std::borrow::Borrow;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::absence::Absence;

/// An energy with its [source](Source). It has a value exactly if it was measured or simulated.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Fields", into = "Fields")]
pub struct Joules {
    value: Option<f64>,
    source: Source,
}

/// Where an energy is from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "source", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Source {
    /// Counters were read.
    Measured {
        /// The meters: `RAPL (powercap)`.
        by: String,
        /// The longest time between two samples, in seconds, if the energy is an integral of samples of power. What
        /// happened between two samples is not in it. None if a counter of energy was read.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        longest_gap_s: Option<f64>,
    },
    /// The model of a machine says so.
    Simulated,
    /// It is not known.
    Unavailable(Absence),
}

/// The fields as they are written.
#[derive(Clone, Serialize, Deserialize)]
struct Fields {
    joules: Option<f64>,
    #[serde(flatten)]
    source: Source,
}

impl Joules {
    /// An energy that meters have measured.
    pub fn measured(value: f64, by: impl Into<String>) -> Self {
        Self { value: Some(value), source: Source::Measured { by: by.into(), longest_gap_s: None } }
    }

    /// An energy that a meter has integrated from samples of power.
    pub fn integrated(value: f64, by: impl Into<String>, longest_gap_s: f64) -> Self {
        let longest_gap_s = Some(longest_gap_s);
        Self { value: Some(value), source: Source::Measured { by: by.into(), longest_gap_s } }
    }

    /// An energy that the model of a machine has.
    pub fn simulated(value: f64) -> Self {
        Self { value: Some(value), source: Source::Simulated }
    }

    /// An energy that is not known.
    pub fn unavailable(absence: Absence) -> Self {
        Self { value: None, source: Source::Unavailable(absence) }
    }

    /// The number of joules, if it is known.
    pub fn value(&self) -> Option<f64> {
        self.value
    }

    /// Where it is from.
    pub fn source(&self) -> &Source {
        &self.source
    }

    /// Why it is not known, if it is not.
    pub fn absence(&self) -> Option<&Absence> {
        match &self.source {
            Source::Unavailable(absence) => Some(absence),
            _ => None,
        }
    }

    /// The sum of energies. It is known if all are: `simulated` and `measured` energies do not add up.
    ///
    /// `nothing` is why there are none.
    pub fn sum<J: Borrow<Self>>(
        energies: impl IntoIterator<Item = J>,
        nothing: impl FnOnce() -> Absence,
    ) -> Self {
        let mut energies = energies.into_iter();
        let Some(first) = energies.next() else { return Self::unavailable(nothing()) };
        energies.fold(first.borrow().clone(), |sum, next| sum.plus(next.borrow()))
    }

    fn plus(self, next: &Self) -> Self {
        let value = self.value.zip(next.value).map(|(a, b)| a + b);
        if value.is_none() {
            return if self.value.is_none() { self } else { next.clone() };
        }
        let source = match (self.source, &next.source) {
            (Source::Measured { by: a, longest_gap_s: first }, Source::Measured { by: b, longest_gap_s }) => {
                let is_known = a.split(", ").any(|name| name == b);
                let by = if is_known { a } else { format!("{a}, {b}") };
                let longest_gap_s = match (first, *longest_gap_s) {
                    (Some(first), Some(second)) => Some(first.max(second)),
                    (first, second) => first.or(second),
                };
                Source::Measured { by, longest_gap_s }
            }
            (Source::Simulated, Source::Simulated) => Source::Simulated,
            _ => {
                let reason = "a part is measured and a part is simulated";
                let remedy = "look at the parts: they do not add up";
                return Self::unavailable(Absence::new(reason, remedy));
            }
        };
        Self { value, source }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Measured { by, longest_gap_s: None } => write!(f, "measured by {by}"),
            Self::Measured { by, longest_gap_s: Some(gap) } => {
                write!(f, "measured by {by}, from samples of power at most {gap:.3} s apart")
            }
            Self::Simulated => f.write_str("simulated"),
            Self::Unavailable(absence) => write!(f, "unavailable: {absence}"),
        }
    }
}

impl fmt::Display for Joules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.value {
            Some(value) => write!(f, "{value} J, {}", self.source),
            None => self.source.fmt(f),
        }
    }
}

impl From<Joules> for Fields {
    fn from(Joules { value, source }: Joules) -> Self {
        Self { joules: value, source }
    }
}

impl TryFrom<Fields> for Joules {
    type Error = String;

    fn try_from(Fields { joules, source }: Fields) -> Result<Self, String> {
        match (joules, &source) {
            (Some(value), _) if !value.is_finite() => Err(format!("{value} joules: expected a number")),
            (None, Source::Unavailable(_)) | (Some(_), Source::Measured { .. } | Source::Simulated) => {
                Ok(Self { value: joules, source })
            }
            (Some(value), _) => Err(format!("{value} joules that are unavailable")),
            (None, _) => Err("an energy without joules that is not unavailable".to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nothing() -> Absence {
        Absence::new("no meter", "buy one")
    }

    #[test]
    fn a_sum_is_known_if_all_its_parts_are() {
        let (a, b) = (Joules::measured(1.5, "RAPL"), Joules::measured(2.0, "NVML"));
        assert_eq!(Joules::sum([&a, &b, &b], nothing), Joules::measured(5.5, "RAPL, NVML"));
        let lost = Joules::unavailable(Absence::new("lost", "read it"));
        assert_eq!(Joules::sum([&a, &lost, &b], nothing), lost);
        assert_eq!(Joules::sum([&lost, &a], nothing), lost);
        assert_eq!(Joules::sum(Vec::<Joules>::new(), nothing), Joules::unavailable(nothing()));
        assert_eq!(Joules::sum([&a, &Joules::simulated(1.0)], nothing).value(), None);
    }

    #[test]
    fn a_sum_has_the_longest_gap() {
        let parts = [
            Joules::integrated(1.0, "NVML", 0.5),
            Joules::measured(1.0, "RAPL"),
            Joules::integrated(1.0, "NVML", 0.2),
        ];
        assert_eq!(Joules::sum(&parts, nothing), Joules::integrated(3.0, "NVML, RAPL", 0.5));
    }

    #[test]
    fn what_is_written_is_read_and_a_value_without_a_source_is_not() {
        let all = [
            Joules::measured(1.5, "RAPL"),
            Joules::integrated(1.5, "NVML", 0.25),
            Joules::simulated(0.0),
            Joules::unavailable(nothing()),
        ];
        for joules in all {
            let text = serde_json::to_string(&joules).expect("plain data");
            assert_eq!(serde_json::from_str::<Joules>(&text).expect(&text), joules);
        }
        let unavailable = serde_json::to_string(&Joules::unavailable(nothing())).expect("plain data");
        assert_eq!(
            unavailable,
            r#"{"joules":null,"source":"unavailable","reason":"no meter","remedy":"buy one"}"#
        );
        for wrong in
            [unavailable.replace("null", "0.0"), r#"{"joules":null,"source":"simulated"}"#.to_owned()]
        {
            assert!(serde_json::from_str::<Joules>(&wrong).is_err(), "{wrong}");
        }
    }
}
