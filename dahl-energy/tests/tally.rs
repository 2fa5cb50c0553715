//! What counters have counted since a start.

use std::collections::VecDeque;
use std::time::Duration;

use dahl_energy::{
    Absence, Domain, EnergyMeter, Fault, Joules, Meters, Part, Reading, Sample, Source, Tally,
};

/// A meter whose readings a test has written down: those of all domains, by time.
struct Written {
    domains: Vec<Domain>,
    readings: VecDeque<Vec<Result<f64, Fault>>>,
}

impl EnergyMeter for Written {
    fn name(&self) -> &str {
        "written"
    }

    fn domains(&self) -> Vec<Domain> {
        self.domains.clone()
    }

    fn read(&mut self, _: Duration) -> Vec<Result<Reading, Fault>> {
        let readings = self.readings.pop_front().expect("as many as the test reads");
        readings.into_iter().map(|reading| reading.map(Reading::new)).collect()
    }
}

fn meter<const N: usize>(
    domains: Vec<Domain>,
    readings: [Vec<Result<f64, Fault>>; N],
) -> Box<dyn EnergyMeter> {
    Box::new(Written { domains, readings: readings.into() })
}

fn host() -> Vec<Domain> {
    vec![Domain::new("package-0", Part::Host)]
}

fn started(meters: Vec<Box<dyn EnergyMeter>>) -> Tally {
    Meters::new(meters).start(seconds(10.0))
}

fn seconds(seconds: f64) -> Duration {
    Duration::from_secs_f64(seconds)
}

fn because(reason: &str) -> Absence {
    Absence::new(reason, "a remedy")
}

fn reason(joules: &Joules) -> &str {
    match joules.source() {
        Source::Unavailable(absence) => &absence.reason,
        other => panic!("{other}"),
    }
}

#[test]
fn parts_are_the_sums_of_their_outermost_domains() {
    let core = Domain { within: Some(0), ..Domain::new("package-0 core", Part::Host) };
    let domains = vec![
        Domain::new("package-0", Part::Host),
        core,
        Domain::new("package-0 dram", Part::Host),
        Domain::new("psys", Part::Machine),
    ];
    let gpu = Part::Device("0000:01:00.0".to_owned());
    let readings = [vec![Ok(5.0), Ok(4.0), Ok(3.0), Ok(2.0)], vec![Ok(15.0), Ok(11.0), Ok(4.0), Ok(22.0)]];
    let of_gpu = [vec![Ok(100.0)], vec![Ok(101.5)]];
    let mut tally =
        started(vec![meter(domains, readings), meter(vec![Domain::new("gpu", gpu.clone())], of_gpu)]);
    tally.read(seconds(11.0));
    let of = |part| tally.of_part(part).value();
    assert_eq!((of(&Part::Host), of(&Part::Machine), of(&gpu)), (Some(11.0), Some(20.0), Some(1.5)));
    let energies = tally.energies();
    assert_eq!(energies[1].within.as_deref(), Some("package-0"));
    assert_eq!(energies[1].energy, Joules::measured(7.0, "written"));
    assert!(reason(&tally.of_part(&Part::Device("0000:02:00.0".to_owned()))).contains("0000:02:00.0"));
}

#[test]
fn a_counter_that_stands_still_is_no_energy() {
    let mut tally = started(vec![meter(host(), [vec![Ok(5.0)], vec![Ok(5.0)], vec![Ok(5.5)]])]);
    assert!(reason(&tally.of_part(&Part::Host)).contains("stood still for 0.000 s"));
    tally.read(seconds(12.5));
    assert_eq!(reason(&tally.of_part(&Part::Host)), "package-0 has stood still for 2.500 s (written)");
    tally.read(seconds(13.0));
    assert_eq!(tally.of_part(&Part::Host).value(), Some(0.5));
}

#[test]
fn a_silent_counter_may_come_back_and_lost_energy_stays_lost() {
    let silent = || vec![Err(Fault::Silent(because("silent")))];
    let lost = |reason| vec![Err(Fault::Lost(because(reason)))];
    let readings = [vec![Ok(1.0)], silent(), vec![Ok(4.0)], lost("first"), lost("second"), vec![Ok(9.0)]];
    let mut tally = started(vec![meter(host(), readings)]);
    let mut told = Vec::new();
    for at in 11..16 {
        tally.read(seconds(f64::from(at)));
        let joules = tally.of_part(&Part::Host);
        told.push(joules.value().map_or_else(|| reason(&joules).to_owned(), |value| value.to_string()));
    }
    assert_eq!(told, ["silent", "3", "first", "first", "first"]);
}

#[test]
fn a_counter_that_was_silent_at_the_start_has_no_start() {
    let readings = [vec![Err(Fault::Silent(because("asleep")))], vec![Ok(9.0)]];
    let mut tally = started(vec![meter(host(), readings)]);
    tally.read(seconds(11.0));
    assert_eq!(reason(&tally.of_part(&Part::Host)), "asleep");
}

#[test]
fn a_meter_that_returns_too_few_readings_is_told() {
    let both = vec![Domain::new("a", Part::Host), Domain::new("b", Part::Machine)];
    let mut tally = started(vec![meter(both, [vec![Ok(1.0), Ok(1.0)], vec![Ok(2.0)]])]);
    tally.read(seconds(11.0));
    assert_eq!(tally.of_part(&Part::Host).value(), Some(1.0));
    assert!(reason(&tally.of_part(&Part::Machine)).contains("written has no reading of b"));
}

#[test]
fn samples_end_when_the_counter_moves_and_leave_out_what_was_lost() {
    let readings = [
        vec![Ok(1.0)],
        vec![Ok(3.0)],
        vec![Ok(3.0)],
        vec![Ok(4.0)],
        vec![Err(Fault::Lost(because("lost")))],
        vec![Ok(7.0)],
        vec![Ok(8.0)],
    ];
    let mut tally = started(vec![meter(host(), readings)]);
    let mut samples = Vec::new();
    for at in 11..17 {
        tally.read(seconds(f64::from(at)));
        samples.extend(tally.samples());
    }
    let sample = |from, to, joules| Sample { domain: 0, from: seconds(from), to: seconds(to), joules };
    assert_eq!(samples, [sample(10.0, 11.0, 2.0), sample(11.0, 13.0, 1.0), sample(15.0, 16.0, 1.0)]);
    assert_eq!(samples[1].watts(), 0.5);
}

#[test]
fn a_meter_that_panics_has_lost_its_energy_and_no_others() {
    let domains = vec![Domain::new("wall", Part::Machine)];
    let fragile = meter(domains, [vec![Ok(1.0)], vec![Ok(2.0)]]); // the third reading is not written down
    let robust = meter(host(), [vec![Ok(1.0)], vec![Ok(2.0)], vec![Ok(4.0)], vec![Ok(8.0)]]);
    let mut tally = started(vec![fragile, robust]);
    for at in 11..14 {
        tally.read(seconds(f64::from(at)));
    }
    assert_eq!(reason(&tally.of_part(&Part::Machine)), "the meter written panicked");
    assert_eq!(tally.of_part(&Part::Host).value(), Some(7.0));
}

#[test]
fn energy_is_counted_from_any_mark() {
    let lost = |reason| vec![Err(Fault::Lost(because(reason)))];
    let readings = [
        vec![Ok(1.0)],
        vec![Ok(3.0)],
        vec![Ok(8.0)],
        lost("first"),
        vec![Ok(9.0)],
        vec![Ok(9.5)],
        lost("second"),
    ];
    let mut tally = started(vec![meter(host(), readings)]);
    let since = |tally: &Tally, mark| tally.of_part_since(&Part::Host, mark);
    tally.read(seconds(11.0));
    let early = tally.mark();
    assert!(reason(&since(&tally, &early)).contains("stood still for 0.000 s"));
    tally.read(seconds(12.0));
    assert_eq!((since(&tally, &early).value(), tally.of_part(&Part::Host).value()), (Some(5.0), Some(7.0)));
    tally.read(seconds(13.0));
    tally.read(seconds(14.0));
    let late = tally.mark();
    tally.read(seconds(15.0));
    assert_eq!((reason(&since(&tally, &early)), since(&tally, &late).value()), ("first", Some(0.5)));
    tally.read(seconds(16.0));
    assert_eq!((reason(&since(&tally, &early)), reason(&since(&tally, &late))), ("first", "second"));
    let other = started(vec![]).mark();
    assert!(reason(&since(&tally, &other)).contains("another tally"));
}
