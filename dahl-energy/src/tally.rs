//! [`Tally`]: the energy of each domain since a start.

use std::fmt;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::absence::Absence;
use crate::joules::Joules;
use crate::meter::{Domain, Fault, Part, Reading};
use crate::meters::Meters;

/// The energy that meters have counted since a start.
pub struct Tally {
    meters: Meters,
    /// The places of each meter's domains in `counts`.
    domains: Vec<Range<usize>>,
    counts: Vec<Count>,
    /// The time of the last reading.
    at: Duration,
    started: Mark,
}

/// A moment of a tally, from which energy is counted.
#[derive(Clone, Debug)]
pub struct Mark {
    at: Duration,
    domains: Vec<MarkOfDomain>,
}

#[derive(Clone, Debug)]
struct MarkOfDomain {
    reading: Result<f64, Absence>,
    /// How often energy had been lost.
    losses: u64,
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
    last: Result<Reading, Absence>,
    last_at: Duration,
    /// How often energy was lost, and why: for the first and the last time.
    losses: u64,
    lost: Option<(Absence, Absence)>,
    has_panicked: bool,
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
        let (mut counts, mut domains): (Vec<Count>, _) = (Vec::new(), Vec::new());
        for meter in &meters.meters {
            let first = counts.len();
            counts.extend(meter.domains().into_iter().map(|domain| Count {
                by: meter.name().to_owned(),
                within: domain.within.map(|place| first + place),
                domain,
                last: Err(Absence::new("it was not read", "read it")),
                last_at: at,
                losses: 0,
                lost: None,
                has_panicked: false,
                sampled: None,
            }));
            domains.push(first..counts.len());
        }
        let started = Mark { at, domains: Vec::new() };
        let mut tally = Self { meters, domains, counts, at, started };
        tally.read(at);
        tally.started = tally.mark();
        tally.samples(); // the first ones begin here
        tally
    }

    /// The moment of the last reading.
    pub fn mark(&self) -> Mark {
        let domain = |count: &Count| MarkOfDomain {
            reading: count.last.as_ref().map(|reading| reading.joules).map_err(Clone::clone),
            losses: count.losses,
        };
        Mark { at: self.at, domains: self.counts.iter().map(domain).collect() }
    }

    /// Reads all meters at a time. One that panics has lost its energy, and is not read again.
    pub fn read(&mut self, at: Duration) {
        self.at = at;
        for (meter, domains) in self.meters.meters.iter_mut().zip(&mut self.domains) {
            let counts = &mut self.counts[domains.clone()];
            if counts.iter().any(|count| count.has_panicked) {
                continue;
            }
            match catch_unwind(AssertUnwindSafe(|| meter.read(at))) {
                Ok(readings) => {
                    let mut readings = readings.into_iter();
                    counts.iter_mut().for_each(|count| count.take(at, readings.next()));
                }
                Err(_) => counts.iter_mut().for_each(|count| count.panic(at)),
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
        let energy = |(place, count): (usize, &Count)| DomainEnergy {
            name: count.domain.name.clone(),
            part: count.domain.part.clone(),
            within: count.within.map(|place| self.counts[place].domain.name.clone()),
            energy: self.energy(place, &self.started),
        };
        self.counts.iter().enumerate().map(energy).collect()
    }

    /// The energy of a part from the start to the last reading: of all its domains that no other one contains.
    pub fn of_part(&self, part: &Part) -> Joules {
        self.of_part_since(part, &self.started)
    }

    /// The energy of a part from a mark of this tally to the last reading.
    pub fn of_part_since(&self, part: &Part, mark: &Mark) -> Joules {
        let outermost = |(_, count): &(usize, &Count)| count.domain.part == *part && count.within.is_none();
        let counts = self.counts.iter().enumerate().filter(outermost);
        Joules::sum(counts.map(|(place, _)| self.energy(place, mark)), || self.absence(part))
    }

    /// The energy of a domain since a mark.
    fn energy(&self, place: usize, mark: &Mark) -> Joules {
        let count = &self.counts[place];
        let Some(begin) = mark.domains.get(place) else {
            let remedy = "give it a mark of its own";
            return Joules::unavailable(Absence::new("the mark is of another tally", remedy));
        };
        if let Some((first, last)) = count.lost.as_ref().filter(|_| count.losses > begin.losses) {
            return Joules::unavailable(if begin.losses == 0 { first } else { last }.clone());
        }
        let (start, last) = match (&begin.reading, &count.last) {
            (Err(absence), _) | (_, Err(absence)) => return Joules::unavailable(absence.clone()),
            (Ok(start), Ok(last)) => (start, last),
        };
        let joules = last.joules - start;
        match last.longest_gap {
            _ if joules <= 0.0 => Joules::unavailable(count.stands_still(mark.at)),
            None => Joules::measured(joules, &count.by),
            Some(gap) => Joules::integrated(joules, &count.by, gap.as_secs_f64()),
        }
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

    /// What each domain has counted since its last sample, if it has counted anything. A counter that is updated
    /// rarely has fewer, longer samples.
    pub fn samples(&mut self) -> Vec<Sample> {
        let counts = self.counts.iter_mut().enumerate();
        counts.filter_map(|(domain, count)| count.sample(domain)).collect()
    }
}

impl Count {
    /// Its meter has panicked.
    fn panic(&mut self, at: Duration) {
        let absence = Absence::new(format!("the meter {} panicked", self.by), "see what it printed");
        self.take(at, Some(Err(Fault::Lost(absence))));
        self.has_panicked = true;
    }

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
                let first = self.lost.take().map_or_else(|| absence.clone(), |(first, _)| first);
                self.lost = Some((first, absence.clone()));
                self.losses += 1;
                self.sampled = None;
                Err(absence)
            }
        };
    }

    /// Why a difference of 0 is no energy.
    fn stands_still(&self, started: Duration) -> Absence {
        let seconds = (self.last_at.saturating_sub(started)).as_secs_f64();
        let reason = format!("{} has stood still for {seconds:.3} s ({})", self.domain.name, self.by);
        let remedy = "measure a longer run: RAPL's counters move every millisecond, NVML's every 0.1 s; one that \
                      never moves is not connected, as in some virtual machines";
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
