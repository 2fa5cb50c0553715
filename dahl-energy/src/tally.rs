//! [`Tally`]: the energy of each domain since a start.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::absence::Absence;
use crate::joules::Joules;
use crate::meter::{Domain, Fault, Part, Reading};
use crate::meters::Meters;

/// The energy that meters have counted since a start.
pub struct Tally {
    meters: Meters,
    counts: Vec<Count>,
    started: Duration,
}

/// The energy of a domain.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DomainEnergy {
    /// The domain's name.
    pub name: String,
    /// The part of the machine that it belongs to.
    pub part: Part,
    /// The name of the domain that contains it, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within: Option<String>,
    /// Its energy since the start.
    pub energy: Joules,
}

/// The energy of a domain between two readings.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// The domain, by its place in [`Tally::energies`].
    pub domain: usize,
    /// The time of the first reading.
    pub from: Duration,
    /// That of the second one.
    pub to: Duration,
    /// The joules between them.
    pub joules: f64,
}

/// What a domain has counted.
struct Count {
    domain: Domain,
    /// The name of its meter.
    by: String,
    /// The place of the domain that contains it.
    within: Option<usize>,
    /// Its reading at the start.
    start: Option<f64>,
    last: Result<Reading, Absence>,
    last_at: Duration,
    /// Why energy since the start is missing.
    lost: Option<Absence>,
    /// The last reading that is in a sample.
    sampled: Option<(Duration, f64)>,
}

impl fmt::Debug for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tally").field("meters", &self.meters).finish_non_exhaustive()
    }
}

impl Sample {
    /// The mean power, in watts.
    pub fn watts(&self) -> f64 {
        self.joules / (self.to - self.from).as_secs_f64()
    }
}

impl Tally {
    pub(crate) fn start(meters: Meters, at: Duration) -> Self {
        let mut counts: Vec<Count> = Vec::new();
        for meter in &meters.meters {
            let first = counts.len();
            counts.extend(meter.domains().into_iter().map(|domain| Count {
                by: meter.name().to_owned(),
                within: domain.within.map(|place| first + place),
                domain,
                start: None,
                last: Err(Absence::new("it was not read", "read it")),
                last_at: at,
                lost: None,
                sampled: None,
            }));
        }
        let mut tally = Self { meters, counts, started: at };
        tally.read(at);
        for count in &mut tally.counts {
            match &count.last {
                Ok(reading) => {
                    count.start = Some(reading.joules);
                    count.sampled = Some((at, reading.joules));
                }
                Err(absence) => count.lost = Some(absence.clone()),
            }
        }
        tally
    }

    /// Reads all meters at a time.
    pub fn read(&mut self, at: Duration) {
        let mut counts = self.counts.iter_mut();
        for meter in &mut self.meters.meters {
            let expected = meter.domains().len();
            let mut readings = meter.read(at).into_iter();
            for count in counts.by_ref().take(expected) {
                count.take(at, readings.next());
            }
        }
    }

    /// How long readings may be apart at most. None if that does not matter.
    pub fn period(&self) -> Option<Duration> {
        self.meters.meters.iter().filter_map(|meter| meter.period()).min()
    }

    /// Whether there is no meter.
    pub fn is_empty(&self) -> bool {
        self.meters.is_empty()
    }

    /// The energy of each domain from the start to the last reading.
    pub fn energies(&self) -> Vec<DomainEnergy> {
        let energy = |count: &Count| DomainEnergy {
            name: count.domain.name.clone(),
            part: count.domain.part.clone(),
            within: count.within.map(|place| self.counts[place].domain.name.clone()),
            energy: count.energy(self.started),
        };
        self.counts.iter().map(energy).collect()
    }

    /// The energy of a part from the start to the last reading: of all its domains that no other one contains.
    pub fn of_part(&self, part: &Part) -> Joules {
        let outermost = |count: &&Count| count.domain.part == *part && count.within.is_none();
        let energies: Vec<_> =
            self.counts.iter().filter(outermost).map(|count| count.energy(self.started)).collect();
        Joules::sum(&energies, || self.absence(part))
    }

    fn absence(&self, part: &Part) -> Absence {
        let unmeasured = || {
            let what = match part {
                Part::Host => "the processors and the main memory".to_owned(),
                Part::Device(address) => format!("the device {address}"),
                Part::Machine => "the whole machine".to_owned(),
            };
            Absence::new(format!("no meter measures {what}"), "give the runtime a meter that does")
        };
        self.meters.absence(part).cloned().unwrap_or_else(unmeasured)
    }

    /// What each domain has counted since its last sample, if it has counted anything. A counter that is updated rarely has
    /// fewer, longer samples.
    pub fn samples(&mut self) -> Vec<Sample> {
        let counts = self.counts.iter_mut().enumerate();
        counts.filter_map(|(domain, count)| count.sample(domain)).collect()
    }
}

impl Count {
    fn take(&mut self, at: Duration, reading: Option<Result<Reading, Fault>>) {
        let missing = || {
            let reason = format!("{} has no reading of {}", self.by, self.domain.name);
            Fault::Silent(Absence::new(reason, "a meter returns a reading for each of its domains"))
        };
        let reading = reading.unwrap_or_else(|| Err(missing()));
        self.last = match reading {
            Ok(reading) => {
                self.last_at = at;
                Ok(reading)
            }
            Err(Fault::Silent(absence)) => Err(absence),
            Err(Fault::Lost(absence)) => {
                // The first loss is the cause.
                self.lost.get_or_insert_with(|| absence.clone());
                self.sampled = None;
                Err(absence)
            }
        };
    }

    fn energy(&self, started: Duration) -> Joules {
        let (start, last) = match (&self.lost, self.start, &self.last) {
            (Some(absence), ..) | (None, _, Err(absence)) => return Joules::unavailable(absence.clone()),
            (None, None, Ok(_)) => return Joules::unavailable(Absence::new("it was not read", "read it")),
            (None, Some(start), Ok(last)) => (start, last),
        };
        let joules = last.joules - start;
        if joules <= 0.0 {
            return Joules::unavailable(self.stands_still(started));
        }
        match last.longest_gap {
            None => Joules::measured(joules, &self.by),
            Some(gap) => Joules::integrated(joules, &self.by, gap.as_secs_f64()),
        }
    }

    /// Why a difference of 0 is no energy.
    fn stands_still(&self, started: Duration) -> Absence {
        let seconds = (self.last_at.saturating_sub(started)).as_secs_f64();
        let reason = format!("{} has stood still for {seconds:.3} s ({})", self.domain.name, self.by);
        let remedy = "measure a longer run: RAPL's counters move every millisecond, NVML's every 0.1 s; one that never moves is \
                      not connected, as in some virtual machines";
        Absence::new(reason, remedy)
    }

    fn sample(&mut self, domain: usize) -> Option<Sample> {
        let joules = self.last.as_ref().ok()?.joules;
        let (to, last) = (self.last_at, self.sampled.replace((self.last_at, joules)));
        match last {
            Some((from, before)) if joules > before && to > from => {
                Some(Sample { domain, from, to, joules: joules - before })
            }
            last => {
                self.sampled = last.or(self.sampled);
                None
            }
        }
    }
}
