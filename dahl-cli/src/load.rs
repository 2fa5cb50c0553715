//! [`Load`]: whether other programs keep the machine busy, which disturbs measurements.

use std::fmt;
use std::fs;

use serde::Serialize;

/// Runnable threads per core from which on measurements are called disturbed.
const BUSY: f64 = 0.3;

/// The mean number of runnable threads in the minute before a measurement.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(transparent)]
pub(crate) struct Load(Option<f64>);

impl Load {
    /// The system's figure, if it has one.
    pub(crate) fn now() -> Self {
        Self::of(&fs::read_to_string("/proc/loadavg").unwrap_or_default())
    }

    fn of(text: &str) -> Self {
        Self(text.split(' ').next().and_then(|load| load.parse().ok()))
    }
}

/// A warning, or nothing.
impl fmt::Display for Load {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
        match self.0 {
            Some(load) if load > BUSY * cores as f64 => writeln!(
                f,
                "Other programs kept the machine busy: {load} threads wanted its {cores} processors. It is faster than this."
            ),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Load;

    #[test]
    fn the_first_figure_is_that_of_a_minute() {
        assert_eq!(Load::of("20.60 17.76 14.15 3/240 8311\n"), Load(Some(20.6)));
        assert_eq!(Load::of(""), Load(None));
    }

    #[test]
    fn only_a_machine_that_is_busy_is_said_to_be() {
        assert_eq!((Load(None).to_string(), Load(Some(0.1)).to_string()), Default::default());
        let said = Load(Some(1e6)).to_string();
        assert!(said.contains("1000000 threads"), "{said}");
    }
}
