//! [`EnergyMeter`]: reads counters of energy.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::absence::Absence;

/// Reads the energy of some parts of a machine: a chip's counters, or a meter at the wall.
///
/// A meter need not know when a run began: [`Tally`](crate::Tally) takes differences.
///
/// ```
/// use std::time::Duration;
/// use dahl_energy::{Domain, EnergyMeter, Fault, Meters, Part, Reading};
///
/// /// A plug that counts watt-hours.
/// struct Plug { watt_hours: f64 }
///
/// impl EnergyMeter for Plug {
///     fn name(&self) -> &str {
///         "plug"
///     }
///     fn domains(&self) -> Vec<Domain> {
///         vec![Domain::new("wall", Part::Machine)]
///     }
///     fn read(&mut self, _at: Duration) -> Vec<Result<Reading, Fault>> {
///         self.watt_hours += 0.5; // a real one would ask the plug
///         vec![Ok(Reading::new(3600.0 * self.watt_hours))]
///     }
/// }
///
/// let mut tally = Meters::new(vec![Box::new(Plug { watt_hours: 10.0 })]).start(Duration::ZERO);
/// tally.read(Duration::from_secs(60));
/// assert_eq!(tally.of_part(&Part::Machine).value(), Some(1800.0));
/// ```
pub trait EnergyMeter: Send {
    /// Its name, as the source of an energy: `RAPL (powercap)`.
    fn name(&self) -> &str;

    /// What it measures, always the same, in the order of the readings.
    fn domains(&self) -> Vec<Domain>;

    /// Reads the counter of each domain, at the time `at` by the caller's clock, which never goes back.
    fn read(&mut self, at: Duration) -> Vec<Result<Reading, Fault>>;

    /// How long readings may be apart at most: for a counter that wraps, or a power that is integrated. None if that
    /// does not matter.
    fn period(&self) -> Option<Duration> {
        None
    }
}

/// What a counter measures.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Domain {
    /// Its name: `package-0`, `package-0 dram`.
    pub name: String,
    /// The part of the machine that it belongs to.
    pub part: Part,
    /// The domain of the same meter that contains it, by its place among them. Its energy is not added to the part's.
    pub within: Option<usize>,
}

/// A part of a machine.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Part {
    /// The processors and the main memory.
    Host,
    /// A device, by its PCI address: `0000:3b:00.0`.
    Device(String),
    /// The whole machine: it contains the other parts, and is not added to them.
    Machine,
}

/// A reading of a counter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reading {
    /// The joules since some moment, the same one for all readings.
    pub joules: f64,
    /// The longest time between two samples of power, if the energy is their integral.
    pub longest_gap: Option<Duration>,
}

/// Why a counter has no reading.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// It did not answer. A later reading may have what was missed.
    Silent(Absence),
    /// Energy was not counted. Later readings count from another moment.
    Lost(Absence),
}

impl Domain {
    /// A domain that no other one contains.
    pub fn new(name: impl Into<String>, part: Part) -> Self {
        Self { name: name.into(), part, within: None }
    }
}

impl Reading {
    /// The reading of a counter of energy.
    pub fn new(joules: f64) -> Self {
        Self { joules, longest_gap: None }
    }
}
