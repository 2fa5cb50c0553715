//! [`Powercap`]: RAPL by the files of Linux's powercap.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::absence::{Absence, unreadable};
use crate::counter::Counter;
use crate::meter::{Domain, EnergyMeter, Fault, Part, Reading};

/// The control types that count. AMD's processors have the first one too; the second one is another way to the same
/// counters of a package, and counts only where the first one is missing.
const CONTROL_TYPES: [&str; 2] = ["intel-rapl", "intel-rapl-mmio"];
const MICROJOULE: f64 = 1e-6;

/// RAPL by powercap: `/sys/class/powercap/intel-rapl:0/energy_uj` and its like.
///
/// A package's sub-domains `core` and `uncore` are within it. `dram` is not, and is added to it. `psys` is the whole
/// platform, and is added to nothing.
#[derive(Debug)]
pub struct Powercap {
    zones: Vec<Zone>,
}

/// A counter.
#[derive(Debug)]
struct Zone {
    domain: Domain,
    file: PathBuf,
    counter: Counter,
}

/// A zone's folder, before it is known whether it counts.
struct Found {
    folder: PathBuf,
    control_type: usize,
    /// The numbers in its name: `intel-rapl:0:1` is 0, 1.
    numbers: Vec<u32>,
    name: String,
}

impl Powercap {
    /// The counters under `root`, which is `/sys/class/powercap` on a running system.
    ///
    /// # Errors
    /// If there is none, or one cannot be read: a package without its neighbour is no machine's energy.
    pub fn open(root: &Path) -> Result<Self, Absence> {
        let found = found(root).map_err(|error| {
            let reason = format!("there is no RAPL counter: {}", unreadable(root, &error));
            Absence::new(reason, REAL_MACHINE)
        })?;
        if found.is_empty() {
            let reason = format!("there is no RAPL counter ({}/intel-rapl*/energy_uj)", root.display());
            return Err(Absence::new(reason, REAL_MACHINE));
        }
        let mut zones: Vec<Zone> = Vec::new();
        for zone in &found {
            let file = zone.folder.join("energy_uj");
            number(&file).map_err(|error| no_permission(root, &file, &error))?;
            // Without the range, a counter that wraps has gone back.
            let range = number(&zone.folder.join("max_energy_range_uj")).ok().filter(|&range| range > 0);
            let counter = Counter::new(file.display().to_string(), MICROJOULE, range);
            zones.push(Zone { domain: zone.domain(&found), file, counter });
        }
        Ok(Self { zones })
    }
}

const REAL_MACHINE: &str = "on a machine of its own, load the kernel module `intel_rapl_msr` (AMD's processors too); \
                            in a virtual machine or a container, the host must pass the counters on";

fn no_permission(root: &Path, file: &Path, error: &io::Error) -> Absence {
    let remedy = match error.kind() {
        io::ErrorKind::PermissionDenied => {
            format!("`sudo chmod a+r {}/*/energy_uj`, until the next boot; or run as root", root.display())
        }
        _ => "read the file yourself: the system has it and does not give its value".to_owned(),
    };
    Absence::new(unreadable(file, error), remedy)
}

/// The number in a file.
fn number(file: &Path) -> io::Result<u64> {
    let text = fs::read_to_string(file)?;
    let wrong = || io::Error::new(io::ErrorKind::InvalidData, format!("`{}` is no number", text.trim()));
    text.trim().parse().map_err(|_| wrong())
}

/// The zones that count, each once: packages first, by number.
fn found(root: &Path) -> io::Result<Vec<Found>> {
    let mut found: Vec<Found> = Vec::new();
    for entry in fs::read_dir(root)? {
        found.extend(Found::at(entry?.path()));
    }
    found.sort_by(|a, b| (a.control_type, &a.numbers).cmp(&(b.control_type, &b.numbers)));
    let mut distinct: Vec<Found> = Vec::new();
    for zone in found {
        // The second way is taken only if the first one has no package of that name.
        let is_again = |other: &Found| {
            other.control_type != zone.control_type && other.numbers.len() == 1 && zone.starts_as(other)
        };
        if !distinct.iter().any(is_again) {
            distinct.push(zone);
        }
    }
    Ok(distinct)
}

impl Found {
    fn at(folder: PathBuf) -> Option<Self> {
        let file_name = folder.file_name()?.to_str()?.to_owned();
        let (control_type, numbers) = file_name.split_once(':')?;
        let control_type = CONTROL_TYPES.iter().position(|known| *known == control_type)?;
        let numbers: Vec<u32> =
            numbers.split(':').map(|number| number.parse().ok()).collect::<Option<_>>()?;
        if !folder.join("energy_uj").exists() {
            return None;
        }
        let name = fs::read_to_string(folder.join("name")).ok()?.trim().to_owned();
        Some(Self { folder, control_type, numbers, name })
    }

    /// Whether it is another way's zone of that name, or one below that.
    fn starts_as(&self, other: &Self) -> bool {
        let top =
            self.folder.with_file_name(format!("{}:{}", CONTROL_TYPES[self.control_type], self.numbers[0]));
        fs::read_to_string(top.join("name")).is_ok_and(|name| name.trim() == other.name)
    }

    fn is_below(&self, other: &Self) -> bool {
        self.control_type == other.control_type
            && self.numbers.len() == other.numbers.len() + 1
            && self.numbers.starts_with(&other.numbers)
    }

    fn domain(&self, all: &[Self]) -> Domain {
        let part = if self.name == "psys" { Part::Machine } else { Part::Host };
        let parent = all.iter().position(|other| self.is_below(other));
        let name = match parent {
            Some(parent) => format!("{} {}", all[parent].name, self.name),
            None => self.name.clone(),
        };
        let is_within = self.name != "dram";
        Domain { name, part, within: parent.filter(|_| is_within) }
    }
}

impl EnergyMeter for Powercap {
    fn name(&self) -> &str {
        "RAPL (powercap)"
    }

    fn domains(&self) -> Vec<Domain> {
        self.zones.iter().map(|zone| zone.domain.clone()).collect()
    }

    fn read(&mut self, at: Duration) -> Vec<Result<Reading, Fault>> {
        let read = |zone: &mut Zone| {
            let silent = |error| {
                let remedy = "measure again: the counter was readable when the run began";
                Fault::Silent(Absence::new(unreadable(&zone.file, &error), remedy))
            };
            let value = number(&zone.file).map_err(silent)?;
            zone.counter.take(at, value)
        };
        self.zones.iter_mut().map(read).collect()
    }

    fn period(&self) -> Option<Duration> {
        self.zones.iter().filter_map(|zone| zone.counter.period()).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Nothing is refused to root, as which tests may run: the error is made here.
    #[cfg(unix)]
    #[test]
    fn a_counter_without_permission_is_told_with_its_mode_and_the_command() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("energy_uj");
        fs::write(&file, "1").expect("a file");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o400)).expect("it is ours");
        let error = io::Error::from_raw_os_error(libc::EACCES);
        let absence = no_permission(folder.path(), &file, &error);
        let name = file.display().to_string();
        assert!(
            absence.reason.starts_with(&format!("{name} cannot be read: Permission denied")),
            "{absence}"
        );
        assert!(absence.reason.contains("its mode is 0400 and its owner uid "), "{absence}");
        assert!(absence.reason.contains("this process runs as uid "), "{absence}");
        assert!(absence.remedy.contains(&format!("chmod a+r {}", folder.path().display())), "{absence}");
        let vanished = no_permission(folder.path(), &file, &io::ErrorKind::NotFound.into());
        assert!(!vanished.reason.contains("mode") && !vanished.remedy.contains("chmod"), "{vanished}");
    }
}
