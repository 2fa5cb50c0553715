//! [`PowerPmu`]: RAPL by perf's events.
#![allow(unsafe_code, reason = "opens a perf event, which is one system call")]

use std::fmt;
use std::fs;
use std::io::{self, Read};
use std::path::Path;
use std::time::Duration;

use crate::absence::{Absence, unreadable};
use crate::counter::Counter;
use crate::meter::{Domain, EnergyMeter, Fault, Part, Reading};

/// The events, the package's first; the name of each in a package, and whether it is a part of the package's.
const EVENTS: [(&str, &str, bool); 5] = [
    ("energy-pkg", "", false),
    ("energy-cores", "core", true),
    ("energy-gpu", "uncore", true),
    ("energy-ram", "dram", false),
    ("energy-psys", "psys", false),
];

/// RAPL by perf's power PMU: `/sys/bus/event_source/devices/power`. The kernel extends its counters to 64 bits, so they
/// do not wrap.
pub struct PowerPmu {
    counters: Vec<OpenCounter>,
}

struct OpenCounter {
    domain: Domain,
    events: Box<dyn Read + Send>,
    counter: Counter,
}

/// An event of the power PMU on one processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PowerEvent {
    /// The PMU's type.
    pub kind: u32,
    /// The event's number.
    pub config: u64,
    /// The processor that counts for its package.
    pub cpu: u32,
}

impl fmt::Debug for PowerPmu {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.counters.iter().map(|counter| &counter.domain.name);
        f.debug_list().entries(names).finish()
    }
}

impl PowerPmu {
    /// The counters that the folder `pmu` describes, `/sys/bus/event_source/devices/power` on a running system.
    ///
    /// `paranoid` is the file that says who may count, `/proc/sys/kernel/perf_event_paranoid`.
    ///
    /// # Errors
    /// If there is no power PMU, or an event cannot be opened.
    pub fn open(pmu: &Path, paranoid: &Path) -> Result<Self, Absence> {
        Self::open_with(pmu, paranoid, &mut |event| Ok(Box::new(PowerEvent::open(event)?)))
    }

    /// As [`open`](Self::open); `open` opens an event, whose reader gives its count as a native `u64` at each read.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn open_with(
        pmu: &Path,
        paranoid: &Path,
        open: &mut dyn FnMut(PowerEvent) -> io::Result<Box<dyn Read + Send>>,
    ) -> Result<Self, Absence> {
        let text = |name: &str| {
            let path = pmu.join(name);
            fs::read_to_string(&path).map_err(|error| Absence::new(unreadable(&path, &error), NO_PMU))
        };
        let kind = parsed(pmu, "type", text("type")?.trim().parse().ok())?;
        let cpus = parsed(pmu, "cpumask", list(text("cpumask")?.trim()))?;
        let mut counters: Vec<OpenCounter> = Vec::new();
        text("events/energy-pkg")?; // without the package its parts are no machine's energy
        for (package, cpu) in cpus.into_iter().enumerate() {
            let whole = counters.len();
            for (event, name, is_within) in EVENTS {
                let path = format!("events/{event}");
                let Ok(config) = fs::read_to_string(pmu.join(&path)) else { continue };
                // The platform is one: the first package counts it.
                if name == "psys" && package > 0 {
                    continue;
                }
                let config = parsed(pmu, &path, config_of(&config))?;
                let scale = format!("{path}.scale");
                let joules_per_unit = parsed(pmu, &scale, text(&scale)?.trim().parse().ok())?;
                let event = PowerEvent { kind, config, cpu };
                let events = open(event).map_err(|error| refused(&pmu.join(&path), paranoid, &error))?;
                let package = format!("package-{package}");
                let (name, part) = match name {
                    "psys" => ("psys".to_owned(), Part::Machine),
                    "" => (package, Part::Host),
                    below => (format!("{package} {below}"), Part::Host),
                };
                let within = is_within.then_some(whole);
                let counter = Counter::new(format!("the perf event of {name}"), joules_per_unit, None);
                counters.push(OpenCounter { domain: Domain { name, part, within }, events, counter });
            }
        }
        Ok(Self { counters })
    }
}

const NO_PMU: &str = "on a machine of its own, load the kernel module `rapl`, which provides the PMU `power`";

fn parsed<V>(pmu: &Path, name: &str, value: Option<V>) -> Result<V, Absence> {
    value.ok_or_else(|| {
        let reason = format!("{} is not what perf writes there", pmu.join(name).display());
        Absence::new(reason, "read the file yourself: this kernel's format is not known")
    })
}

fn refused(event: &Path, paranoid: &Path, error: &io::Error) -> Absence {
    let level = fs::read_to_string(paranoid).unwrap_or_default();
    let (event, file) = (event.display(), paranoid.display());
    let reason = format!("perf_event_open refused {event}: {error} ({file} is {})", level.trim());
    let remedy = "`sudo sysctl kernel.perf_event_paranoid=0`, or the capability CAP_PERFMON";
    Absence::new(reason, remedy)
}

/// The processors of a list such as `0,18` or `0-1`.
fn list(text: &str) -> Option<Vec<u32>> {
    let mut cpus = Vec::new();
    for range in text.split(',') {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        cpus.extend(first.parse::<u32>().ok()?..=last.parse::<u32>().ok()?);
    }
    Some(cpus)
}

/// The number in `event=0x02`.
fn config_of(text: &str) -> Option<u64> {
    let number = text.trim().strip_prefix("event=")?;
    match number.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => number.parse().ok(),
    }
}

impl PowerEvent {
    /// Opens the event for all processes on its processor.
    #[cfg(target_os = "linux")]
    fn open(self) -> io::Result<fs::File> {
        use std::os::fd::{FromRawFd as _, OwnedFd};

        /// The first version of `perf_event_attr`, 64 bytes, which all kernels take.
        #[repr(C)]
        struct Attributes {
            kind: u32,
            size: u32,
            config: u64,
            rest: [u64; 6],
        }
        let attributes = Attributes {
            kind: self.kind,
            size: size_of::<Attributes>() as u32,
            config: self.config,
            rest: [0; 6],
        };
        // SAFETY: the call reads `size` bytes of `attributes`, which lives until it returns; all bit patterns of the
        // numbers are valid to it, and it says so if they mean nothing.
        let descriptor = unsafe {
            let (process, group, close_on_exec) = (-1, -1, 8_u64);
            libc::syscall(
                libc::SYS_perf_event_open,
                &raw const attributes,
                process,
                self.cpu,
                group,
                close_on_exec,
            )
        };
        if descriptor < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the system has just opened it, and nobody else knows its number.
        Ok(unsafe { OwnedFd::from_raw_fd(descriptor as i32) }.into())
    }

    #[cfg(not(target_os = "linux"))]
    fn open(self) -> io::Result<fs::File> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

impl EnergyMeter for PowerPmu {
    fn name(&self) -> &str {
        "RAPL (perf)"
    }

    fn domains(&self) -> Vec<Domain> {
        self.counters.iter().map(|counter| counter.domain.clone()).collect()
    }

    fn read(&mut self, at: Duration) -> Vec<Result<Reading, Fault>> {
        let read = |open: &mut OpenCounter| {
            let mut count = [0; 8];
            let silent = |error| {
                let reason = format!("the perf event {} cannot be read: {error}", open.domain.name);
                Fault::Silent(Absence::new(reason, "measure again: its processor was taken offline"))
            };
            open.events.read_exact(&mut count).map_err(silent)?;
            open.counter.take(at, u64::from_ne_bytes(count))
        };
        self.counters.iter_mut().map(read).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_and_events_as_the_kernel_writes_them() {
        assert_eq!(list("0"), Some(vec![0]));
        assert_eq!(list("0,18"), Some(vec![0, 18]));
        assert_eq!(list("0-1,4"), Some(vec![0, 1, 4]));
        assert_eq!(list("all"), None);
        assert_eq!(config_of("event=0x02\n"), Some(2));
        assert_eq!(config_of("umask=1"), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn the_system_call_opens_an_event_or_says_why_not() {
        // The clock of the processor 0, which counts wherever perf is there.
        const SOFTWARE: u32 = 1;
        match (PowerEvent { kind: SOFTWARE, config: 0, cpu: 0 }).open() {
            Ok(mut file) => {
                let mut read = || {
                    let mut count = [0; 8];
                    file.read_exact(&mut count).expect("eight bytes");
                    u64::from_ne_bytes(count)
                };
                assert!(read() <= read());
            }
            Err(error) => {
                let codes = [libc::EPERM, libc::EACCES, libc::ENOSYS, libc::ENOENT];
                assert!(error.raw_os_error().is_some_and(|code| codes.contains(&code)), "{error}");
            }
        }
        // There is no such kind of event.
        assert!(PowerEvent { kind: u32::MAX, config: 0, cpu: 0 }.open().is_err());
    }
}
