//! RAPL by a tree of files as powercap has it.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use dahl_energy::{Absence, EnergyMeter, Fault, Part, Powercap};
use tempfile::TempDir;

const RANGE: u64 = 262_143_328_850;

/// Writes a zone: its folder, its name, its counter.
pub(crate) fn zone(root: &Path, folder: &str, name: &str, energy_uj: u64) -> PathBuf {
    let folder = root.join(folder);
    fs::create_dir_all(&folder).expect("a folder");
    let write = |file: &str, text: String| fs::write(folder.join(file), text + "\n").expect("a file");
    write("name", name.to_owned());
    write("max_energy_range_uj", RANGE.to_string());
    write("energy_uj", energy_uj.to_string());
    folder.join("energy_uj")
}

pub(crate) fn set(file: &Path, energy_uj: u64) {
    fs::write(file, format!("{energy_uj}\n")).expect("a file");
}

/// A server of two packages, each with cores and DRAM, with the second way to the first package, and other zones.
fn server() -> TempDir {
    let root = tempfile::tempdir().expect("a folder");
    for package in 0..2 {
        let name = |sub: &str| format!("intel-rapl:{package}{sub}");
        zone(root.path(), &name(""), &format!("package-{package}"), 1_000_000);
        zone(root.path(), &name(":0"), "core", 500_000);
        zone(root.path(), &name(":1"), "dram", 100_000);
    }
    zone(root.path(), "intel-rapl:2", "psys", 9_000_000);
    zone(root.path(), "intel-rapl-mmio:0", "package-0", 1_000_000);
    zone(root.path(), "intel-rapl-mmio:0:0", "dram", 100_000);
    fs::create_dir(root.path().join("intel-rapl")).expect("the control type itself");
    zone(root.path(), "dtpm:0", "package", 5);
    root
}

fn joules(meter: &mut Powercap, at_s: u64) -> Vec<f64> {
    let readings = meter.read(Duration::from_secs(at_s)).into_iter();
    readings.map(|reading| reading.expect("a reading").joules).collect()
}

fn refused(root: &Path) -> Absence {
    Powercap::open(root).expect_err("there is nothing to read")
}

#[test]
fn each_counter_is_one_domain_and_its_parts_are_within_it() {
    let root = server();
    let meter = Powercap::open(root.path()).expect("there are counters");
    let domains: Vec<_> =
        meter.domains().into_iter().map(|domain| (domain.name, domain.part, domain.within)).collect();
    let row = |name: &str, part: Part, within: Option<usize>| (name.to_owned(), part, within);
    assert_eq!(
        domains,
        [
            row("package-0", Part::Host, None),
            row("package-0 core", Part::Host, Some(0)),
            row("package-0 dram", Part::Host, None),
            row("package-1", Part::Host, None),
            row("package-1 core", Part::Host, Some(3)),
            row("package-1 dram", Part::Host, None),
            row("psys", Part::Machine, None),
        ]
    );
}

#[test]
fn the_second_way_counts_where_the_first_is_missing() {
    let root = tempfile::tempdir().expect("a folder");
    zone(root.path(), "intel-rapl-mmio:0", "package-0", 7);
    let meter = Powercap::open(root.path()).expect("there is a counter");
    assert_eq!(meter.domains().len(), 1);
}

#[test]
fn counters_wrap_at_their_range() {
    let root = tempfile::tempdir().expect("a folder");
    let file = zone(root.path(), "intel-rapl:0", "package-0", RANGE - 2_000_000);
    let mut meter = Powercap::open(root.path()).expect("there is a counter");
    assert_eq!(joules(&mut meter, 0), [0.0]);
    set(&file, 3_500_000);
    assert_eq!(joules(&mut meter, 1), [5.5]);
    let period = meter.period().expect("it wraps").as_secs_f64();
    assert!((25.0..40.0).contains(&period), "{period}");
}

#[test]
fn a_counter_that_vanishes_is_silent_and_one_that_is_back_has_what_was_missed() {
    let root = tempfile::tempdir().expect("a folder");
    let file = zone(root.path(), "intel-rapl:0", "package-0", 1_000_000);
    let mut meter = Powercap::open(root.path()).expect("there is a counter");
    assert_eq!(joules(&mut meter, 0), [0.0]);
    fs::remove_file(&file).expect("it was there");
    match &meter.read(Duration::from_secs(1))[..] {
        [Err(Fault::Silent(absence))] => {
            assert!(absence.reason.starts_with(&format!("{} cannot be read", file.display())), "{absence}")
        }
        other => panic!("{other:?}"),
    }
    set(&file, 4_000_000);
    assert_eq!(joules(&mut meter, 2), [3.0]);
    fs::write(&file, "unsupported\n").expect("a file");
    assert!(matches!(&meter.read(Duration::from_secs(3))[..], [Err(Fault::Silent(_))]));
}

#[test]
fn without_a_range_going_back_is_no_wrap() {
    let root = tempfile::tempdir().expect("a folder");
    let file = zone(root.path(), "intel-rapl:0", "package-0", 1_000_000);
    fs::remove_file(file.with_file_name("max_energy_range_uj")).expect("it was there");
    let mut meter = Powercap::open(root.path()).expect("there is a counter");
    assert_eq!((joules(&mut meter, 0), meter.period()), (vec![0.0], None));
    set(&file, 5);
    assert!(matches!(&meter.read(Duration::from_secs(1))[..], [Err(Fault::Lost(_))]));
}

#[test]
fn what_is_missing_is_told_with_its_file_and_a_remedy() {
    let root = tempfile::tempdir().expect("a folder");
    let none = refused(root.path());
    assert!(none.reason.contains(&format!("{}/intel-rapl*/energy_uj", root.path().display())), "{none}");
    assert!(none.remedy.contains("intel_rapl_msr"), "{none}");
    let nowhere = refused(&root.path().join("nowhere"));
    assert!(nowhere.reason.contains("nowhere cannot be read: No such file"), "{nowhere}");
    let file = zone(root.path(), "intel-rapl:0", "package-0", 1);
    fs::write(&file, "no number\n").expect("a file");
    let wrong = refused(root.path());
    assert!(wrong.reason.contains("`no number` is no number"), "{wrong}");
}
