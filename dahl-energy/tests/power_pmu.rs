//! RAPL by a tree of files as perf has it, and events that count what a test says.

use std::cell::RefCell;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use dahl_energy::{Absence, EnergyMeter, Fault, Part, PowerEvent, PowerPmu};
use tempfile::TempDir;

/// An event: the count is what the test has set; none left is an error.
struct Event(Arc<AtomicU64>);

const GONE: u64 = u64::MAX;

impl Read for Event {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.0.load(Ordering::Relaxed) {
            GONE => Err(io::ErrorKind::NotFound.into()),
            count => {
                buffer.copy_from_slice(&count.to_ne_bytes());
                Ok(buffer.len())
            }
        }
    }
}

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    fs::write(path, format!("{text}\n")).expect("a file");
}

/// The PMU of two packages.
fn pmu() -> (TempDir, PathBuf, PathBuf) {
    let root = tempfile::tempdir().expect("a folder");
    let (pmu, paranoid) = (root.path().join("power"), root.path().join("perf_event_paranoid"));
    write(&pmu.join("type"), "23");
    write(&pmu.join("cpumask"), "0,18");
    write(&paranoid, "2");
    for (name, number) in [("cores", 1), ("pkg", 2), ("ram", 3), ("psys", 5)] {
        let event = pmu.join(format!("events/energy-{name}"));
        write(&event, &format!("event=0x{number:02x}"));
        write(&event.with_extension("scale"), "2.3283064365386962890625e-10");
        write(&event.with_extension("unit"), "Joules");
    }
    (root, pmu, paranoid)
}

fn refused(pmu: &Path, paranoid: &Path, error: i32) -> Absence {
    let open = &mut |_| Err(io::Error::from_raw_os_error(error));
    PowerPmu::open_with(pmu, paranoid, open).expect_err("it is refused")
}

#[test]
fn each_package_has_its_events_and_the_platform_is_one() {
    let (_root, pmu, paranoid) = pmu();
    let opened = RefCell::new(Vec::new());
    let counts: Vec<_> = (0..8).map(|_| Arc::new(AtomicU64::new(1 << 32))).collect();
    let mut open = |event: PowerEvent| {
        let mut opened = opened.borrow_mut();
        opened.push((event.cpu, event.config));
        assert_eq!(event.kind, 23);
        Ok(Box::new(Event(Arc::clone(&counts[opened.len() - 1]))) as Box<dyn Read + Send>)
    };
    let mut meter = PowerPmu::open_with(&pmu, &paranoid, &mut open).expect("there are events");
    assert_eq!(*opened.borrow(), [(0, 2), (0, 1), (0, 3), (0, 5), (18, 2), (18, 1), (18, 3)]);
    let domains: Vec<_> =
        meter.domains().into_iter().map(|domain| (domain.name, domain.part, domain.within)).collect();
    let host = |name: &str, within| (name.to_owned(), Part::Host, within);
    assert_eq!(
        domains[..3],
        [host("package-0", None), host("package-0 core", Some(0)), host("package-0 dram", None)]
    );
    assert_eq!(domains[3], ("psys".to_owned(), Part::Machine, None));
    assert_eq!(
        domains[4..],
        [host("package-1", None), host("package-1 core", Some(4)), host("package-1 dram", None)]
    );
    assert_eq!(meter.period(), None);
    meter.read(Duration::ZERO);
    counts[0].store(3 << 32, Ordering::Relaxed);
    counts[4].store(1, Ordering::Relaxed);
    counts[5].store(GONE, Ordering::Relaxed);
    let readings = meter.read(Duration::from_secs(1));
    assert_eq!(readings[0].as_ref().expect("a reading").joules, 2.0);
    assert_eq!(readings[1].as_ref().expect("a reading").joules, 0.0);
    assert!(matches!(readings[4], Err(Fault::Lost(_))), "{readings:?}");
    assert!(matches!(readings[5], Err(Fault::Silent(_))), "{readings:?}");
}

#[test]
fn a_refusal_names_the_event_the_setting_and_the_remedy() {
    let (_root, pmu, paranoid) = pmu();
    let absence = refused(&pmu, &paranoid, libc::EACCES);
    for text in ["events/energy-pkg", "Permission denied", "perf_event_paranoid is 2"] {
        assert!(absence.reason.contains(text), "{absence}");
    }
    assert!(absence.remedy.contains("CAP_PERFMON"), "{absence}");
}

#[test]
fn a_tree_that_is_not_perfs_is_told() {
    let (_root, pmu, paranoid) = pmu();
    let reason = || refused(&pmu, &paranoid, libc::EACCES).reason;
    write(&pmu.join("events/energy-pkg"), "umask=3");
    assert!(reason().contains("energy-pkg is not what perf writes"), "{}", reason());
    fs::remove_file(pmu.join("events/energy-pkg")).expect("it was there");
    assert!(reason().contains("energy-pkg cannot be read"), "{}", reason());
    fs::remove_file(pmu.join("type")).expect("it was there");
    assert!(reason().contains("type cannot be read"), "{}", reason());
}
