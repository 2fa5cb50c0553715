//! Settings that come from a call, or else from an environment variable.

use std::path::PathBuf;
use std::time::Duration;
// For a static whose order does not matter.
use std::sync::atomic::{AtomicUsize, Ordering};

use dahl_energy::{Absence, Meters};

use super::variables;
use crate::error::{Error, ErrorKind, Result};
use crate::machine::Machine;
use crate::metering::EnergySetting;
use crate::scheduler::{EnergyWeight, Power};
use crate::statistics::Output;
use crate::topology::Binding;

/// The value set by a call, else that of a numeric variable, else the default.
#[track_caller]
pub(super) fn from_environment<V>(
    variable: &'static str,
    set: Option<V>,
    default: V,
    value: impl FnOnce(u64) -> Option<V>,
) -> Result<V> {
    if let Some(set) = set {
        return Ok(set);
    }
    let Some(text) = variables::text(variable)? else { return Ok(default) };
    match text.trim().parse().ok().and_then(value) {
        Some(value) => Ok(value),
        None => {
            let expected = variables::accepted(variable).to_owned();
            Err(Error::new(ErrorKind::Config { setting: variable, value: text, expected }))
        }
    }
}

/// A whole number from 1 to `most`.
#[track_caller]
pub(super) fn count(
    call: &'static str,
    variable: &'static str,
    set: Option<usize>,
    default: usize,
    most: usize,
) -> Result<usize> {
    let (setting, text) = match set {
        Some(value) => (call, value.to_string()),
        None => match variables::text(variable)? {
            Some(text) => (variable, text),
            None => return Ok(default),
        },
    };
    match text.trim().parse() {
        Ok(value) if (1..=most).contains(&value) => Ok(value),
        _ => {
            let expected = format!("a whole number from 1 to {most}");
            Err(Error::new(ErrorKind::Config { setting, value: text, expected }))
        }
    }
}

/// The binding, and the setting that determines it.
#[track_caller]
pub(super) fn binding(set: Option<Binding>) -> Result<(&'static str, Binding)> {
    let variable = "DAHL_BIND";
    if let Some(binding) = set {
        return Ok(("binding", binding));
    }
    let Some(text) = variables::text(variable)? else { return Ok((variable, Binding::None)) };
    let Some(binding) = Binding::parse(&text) else {
        let expected = variables::accepted(variable).to_owned();
        return Err(Error::new(ErrorKind::Config { setting: variable, value: text, expected }));
    };
    Ok((variable, binding))
}

/// Where the statistics of a run are written at its end, if anywhere.
#[track_caller]
pub(super) fn statistics(set: Option<bool>, file: Option<PathBuf>) -> Result<Option<Output>> {
    let variable = "DAHL_STATS";
    match (set, file) {
        (Some(false), _) => Ok(None),
        (_, Some(file)) => Output::json("statistics_file", &file).map(Some),
        (Some(true), None) => Ok(Some(Output::Tables)),
        (None, None) => match variables::text(variable)? {
            Some(text) => Output::of_variable(variable, &text),
            None => Ok(None),
        },
    }
}

/// How energy is measured.
#[track_caller]
pub(super) fn energy(
    interval: Option<Duration>,
    meters: Option<Meters>,
    is_sampled: bool,
    is_virtual: bool,
) -> Result<EnergySetting> {
    /// The default time between two samples.
    const INTERVAL: Duration = Duration::from_millis(100);
    let variable = "DAHL_ENERGY_MS";
    let setting = if interval.is_some() { "energy_interval" } else { variable };
    let milliseconds = |milliseconds| Some(Duration::from_millis(milliseconds));
    let interval = from_environment(variable, interval, INTERVAL, milliseconds)?;
    if interval.is_zero() || cfg!(dahl_fuzz) {
        let absence =
            Absence::new(format!("{setting} is 0"), "set it to the milliseconds between two samples");
        return Ok(EnergySetting::Off(absence));
    }
    if is_virtual {
        let absence = Absence::new("time is virtual", "give the machine's model `watts` and `idle_watts`");
        return Ok(EnergySetting::Off(absence));
    }
    Ok(EnergySetting::On { meters, interval: is_sampled.then_some(interval) })
}

/// The default name of the next runtime of this process.
pub(super) fn default_name() -> String {
    static BUILT: AtomicUsize = AtomicUsize::new(0);
    format!("runtime {}", 1 + BUILT.fetch_add(1, Ordering::Relaxed))
}

/// What a joule is worth, if it is worth something. The machine must say the power of its workers.
#[track_caller]
pub(super) fn energy_weight(
    set: Option<f64>,
    machine: Option<&Machine>,
    cpu_workers: usize,
) -> Result<Option<EnergyWeight>> {
    let variable = "DAHL_ENERGY_WEIGHT";
    let (setting, text) = match (set, variables::text(variable)?) {
        (Some(set), _) => ("energy_weight", set.to_string()),
        (None, Some(text)) => (variable, text),
        (None, None) => return Ok(None),
    };
    let kind = |expected: &str| {
        let (value, expected) = (text.clone(), expected.to_owned());
        ErrorKind::Config { setting, value, expected }
    };
    let weight = match text.trim().parse::<f64>() {
        Ok(0.0) => return Ok(None),
        Ok(weight) if weight > 0.0 && weight.is_finite() => weight,
        _ => return Err(Error::new(kind(variables::accepted(variable)))),
    };
    let Some(machine) = machine else {
        let expected = "a machine file besides (`DAHL_MACHINE`), which says the power of workers";
        return Err(Error::new(kind(expected)));
    };
    let power =
        |watts: Option<f64>, idle_watts: Option<f64>| Some(Power { watts: watts?, idle_watts: idle_watts? });
    let of_cpu = std::iter::repeat_n(power(machine.cpu.watts, machine.cpu.idle_watts), cpu_workers);
    let of_devices = machine.devices.iter().map(|device| power(device.watts, device.idle_watts));
    match of_cpu.chain(of_devices).collect::<Option<Vec<_>>>() {
        Some(powers) => Ok(Some(EnergyWeight::new(weight, powers))),
        None => {
            let expected = "a machine that has `watts` and `idle_watts` for the CPU and for each device";
            Err(Error::new(kind(expected)))
        }
    }
}
