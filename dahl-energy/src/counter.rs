//! [`Counter`]: joules from a counter that wraps, or that does not do what counters do.

use std::time::Duration;

use crate::absence::Absence;
use crate::meter::{Fault, Reading};

/// The most power of one domain, which may be a whole server. What is more between two readings is no energy: the counter
/// was set.
const MOST_WATTS: f64 = 4000.0;
/// Counters are updated late: what is counted between two readings may have been used so long before.
const LATE: Duration = Duration::from_secs(1);

/// A counter's unwrapped value.
#[derive(Debug)]
pub(crate) struct Counter {
    /// What counts, for messages: a file, a function.
    name: String,
    joules_per_unit: f64,
    /// The largest value, after which it is 0 again; none if it never wraps.
    range: Option<u64>,
    last: Option<(Duration, u64)>,
    /// The units since the first reading.
    units: u64,
}

impl Counter {
    pub(crate) fn new(name: impl Into<String>, joules_per_unit: f64, range: Option<u64>) -> Self {
        Self { name: name.into(), joules_per_unit, range, last: None, units: 0 }
    }

    /// How long readings may be apart at most: the time in which the most power fills half of the range, less a second.
    pub(crate) fn period(&self) -> Option<Duration> {
        let seconds = self.range? as f64 * self.joules_per_unit / MOST_WATTS / 2.0;
        Some(Duration::from_secs_f64((seconds - LATE.as_secs_f64()).max(0.1)))
    }

    /// The joules since the first reading, given the counter's value at a time.
    pub(crate) fn take(&mut self, at: Duration, value: u64) -> Result<Reading, Fault> {
        let last = self.last.replace((at, value));
        if let Some((last_at, last)) = last {
            self.units += self.added(last, value, at.saturating_sub(last_at))?;
        }
        Ok(Reading::new(self.units as f64 * self.joules_per_unit))
    }

    /// The units between two values.
    fn added(&self, last: u64, value: u64, gap: Duration) -> Result<u64, Fault> {
        let most = MOST_WATTS * (gap + LATE).as_secs_f64() / self.joules_per_unit;
        if let Some(range) = self.range
            && most > range as f64
        {
            let reason = format!(
                "{} was not read for {:.0} s, in which it may have wrapped more than once (at {range})",
                self.name,
                gap.as_secs_f64()
            );
            return Err(Fault::Lost(Absence::new(reason, "do not suspend the program or the machine")));
        }
        let wrapped = || self.range.and_then(|range| Some(range.checked_sub(last)?.saturating_add(value)));
        let added = if value >= last { Some(value - last) } else { wrapped() };
        if let Some(added) = added.filter(|&added| added as f64 <= most) {
            return Ok(added);
        }
        let moved = if value < last { "went back" } else { "jumped" };
        let reason =
            format!("{} {moved} from {last} to {value} within {:.3} s", self.name, gap.as_secs_f64());
        let remedy =
            "measure again: a driver was loaded, a machine was suspended or moved, or a counter reset";
        Err(Fault::Lost(Absence::new(reason, remedy)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RANGE: u64 = 65_532_610_987;

    fn seconds(seconds: f64) -> Duration {
        Duration::from_secs_f64(seconds)
    }

    fn joules(result: Result<Reading, Fault>) -> f64 {
        result.expect("a reading").joules
    }

    fn reason(result: Result<Reading, Fault>) -> String {
        match result {
            Err(Fault::Lost(absence)) => absence.reason.to_string(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_counter_that_wraps_goes_on() {
        let mut counter = Counter::new("file", 1e-6, Some(RANGE));
        assert_eq!(joules(counter.take(seconds(1.0), RANGE - 3_000_000)), 0.0);
        assert_eq!(joules(counter.take(seconds(2.0), 2_000_000)), 5.0);
        assert_eq!(joules(counter.take(seconds(3.0), 2_500_000)), 5.5);
        assert_eq!(joules(counter.take(seconds(3.0), 2_500_000)), 5.5, "it stands still");
    }

    #[test]
    fn a_counter_that_goes_back_or_jumps_has_lost_energy_and_counts_from_there() {
        let mut counter = Counter::new("file", 1e-6, Some(RANGE));
        let _ = counter.take(seconds(1.0), 9_000_000_000);
        let told = reason(counter.take(seconds(1.5), 8_999_999_999));
        assert_eq!(told, "file went back from 9000000000 to 8999999999 within 0.500 s");
        assert_eq!(joules(counter.take(seconds(2.0), 9_000_999_999)), 1.0);
        assert!(reason(counter.take(seconds(2.1), 20_000_000_000)).contains("jumped"));
        let mut endless = Counter::new("file", 1e-3, None);
        let _ = endless.take(seconds(0.0), 10);
        assert!(reason(endless.take(seconds(1.0), 9)).contains("went back"));
    }

    #[test]
    fn a_counter_that_was_not_read_for_long_may_have_wrapped() {
        let mut counter = Counter::new("file", 1e-6, Some(RANGE));
        let _ = counter.take(seconds(0.0), 5);
        let period = counter.period().expect("it wraps");
        assert!((5.0..10.0).contains(&period.as_secs_f64()), "{period:?}");
        assert!(counter.take(period, 1_000_005).is_ok());
        assert!(reason(counter.take(period * 4, 2_000_005)).contains("more than once"));
        assert_eq!(Counter::new("file", 1e-3, None).period(), None);
    }
}
