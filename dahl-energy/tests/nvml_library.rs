//! NVML by a stand-in, which a C compiler makes of `nvml/nvml.c`.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::Duration;

use dahl_energy::{Absence, EnergyMeter, Fault, Nvml, Part};
use libloading::Library;
use tempfile::TempDir;

const NOT_SUPPORTED: i32 = 3;
const DRIVER_NOT_LOADED: i32 = 9;
const GPU_IS_LOST: i32 = 15;

/// A stand-in of a test's own.
pub(crate) struct Fake {
    _folder: TempDir,
    pub(crate) path: PathBuf,
    library: Library,
}

/// The compiled library, which tests copy: a library is loaded once for each file.
fn compiled() -> &'static Path {
    static COMPILED: OnceLock<(TempDir, PathBuf)> = OnceLock::new();
    let (_, path) = COMPILED.get_or_init(|| {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("nvml.so");
        let compiler = std::env::var_os("CC").unwrap_or_else(|| OsString::from("cc"));
        let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/nvml/nvml.c");
        let status = Command::new(compiler).args(["-shared", "-fPIC", "-o"]).arg(&path).arg(source).status();
        assert!(status.expect("there is a C compiler").success(), "nvml.c does not compile");
        (folder, path)
    });
    path
}

#[allow(unsafe_code, reason = "calls the functions of nvml.c")]
impl Fake {
    /// So many devices.
    pub(crate) fn new(devices: u32) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("libnvidia-ml.so.1");
        std::fs::copy(compiled(), &path).expect("a file");
        // SAFETY: its initialisation does nothing.
        let library = unsafe { Library::new(&path) }.expect("it can be loaded");
        let fake = Self { _folder: folder, path, library };
        fake.init(0, devices);
        fake
    }

    fn init(&self, result: i32, devices: u32) {
        // SAFETY: the type is that of the function in nvml.c.
        let set = unsafe { self.library.get::<unsafe extern "C" fn(i32, u32)>(b"fake_init") };
        // SAFETY: it takes any numbers.
        unsafe { set.expect("nvml.c has it")(result, devices) };
    }

    /// The counter of a device, and the result of reading it.
    pub(crate) fn energy(&self, device: u32, millijoules: u64, result: i32) {
        // SAFETY: the type is that of the function in nvml.c.
        let set = unsafe { self.library.get::<unsafe extern "C" fn(u32, u64, i32)>(b"fake_energy") };
        // SAFETY: tests have fewer than its 8 devices.
        unsafe { set.expect("nvml.c has it")(device, millijoules, result) };
    }

    fn power(&self, device: u32, milliwatts: u32, result: i32) {
        // SAFETY: the type is that of the function in nvml.c.
        let set = unsafe { self.library.get::<unsafe extern "C" fn(u32, u32, i32)>(b"fake_power") };
        // SAFETY: tests have fewer than its 8 devices.
        unsafe { set.expect("nvml.c has it")(device, milliwatts, result) };
    }

    fn started(&self) -> i32 {
        // SAFETY: the type is that of the function in nvml.c.
        let started = unsafe { self.library.get::<unsafe extern "C" fn() -> i32>(b"fake_started") };
        // SAFETY: it has no requirements.
        unsafe { started.expect("nvml.c has it")() }
    }

    fn open(&self) -> Result<Nvml, Absence> {
        Nvml::open(&self.path)
    }
}

fn seconds(seconds: f64) -> Duration {
    Duration::from_secs_f64(seconds)
}

#[test]
fn devices_with_a_counter_are_read_by_it() {
    let fake = Fake::new(2);
    fake.energy(0, 1_000, 0);
    fake.energy(1, 50_000, 0);
    let mut nvml = fake.open().expect("there are devices");
    let domains = nvml.domains();
    assert_eq!(domains[1].name, "Fake 1 (0000:02:00.0)");
    assert_eq!(domains[1].part, Part::Device("0000:02:00.0".to_owned()));
    assert_eq!(nvml.period(), None);
    nvml.read(seconds(0.0));
    fake.energy(0, 1_500, 0);
    let readings = nvml.read(seconds(1.0));
    let joules = readings.iter().map(|reading| reading.as_ref().expect("a reading").joules);
    assert_eq!(joules.collect::<Vec<_>>(), [0.5, 0.0]);
    assert!(readings.iter().all(|reading| reading.as_ref().is_ok_and(|one| one.longest_gap.is_none())));
}

#[test]
fn power_is_integrated_where_there_is_no_counter_and_gaps_are_told() {
    let fake = Fake::new(1);
    fake.energy(0, 0, NOT_SUPPORTED);
    fake.power(0, 100_000, 0);
    let mut nvml = fake.open().expect("there is a device");
    assert_eq!(nvml.period(), Some(seconds(0.1)));
    nvml.read(seconds(1.0));
    fake.power(0, 200_000, 0);
    nvml.read(seconds(1.5));
    let reading = nvml.read(seconds(1.75))[0].clone().expect("a reading");
    assert_eq!((reading.joules, reading.longest_gap), (75.0 + 50.0, Some(seconds(0.5))));
}

#[test]
fn a_device_that_is_lost_or_starts_anew_is_told() {
    let fake = Fake::new(1);
    fake.energy(0, 9_000, 0);
    let mut nvml = fake.open().expect("there is a device");
    nvml.read(seconds(0.0));
    fake.energy(0, 0, GPU_IS_LOST);
    match &nvml.read(seconds(1.0))[0] {
        Err(Fault::Silent(absence)) => {
            let reason = "nvmlDeviceGetTotalEnergyConsumption failed: GPU is lost (15)";
            assert_eq!(&*absence.reason, reason);
        }
        other => panic!("{other:?}"),
    }
    fake.energy(0, 10, 0); // the driver was loaded again
    match &nvml.read(seconds(2.0))[0] {
        Err(Fault::Lost(absence)) => {
            assert!(absence.reason.contains("went back from 9000 to 10"), "{absence}")
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn nvml_is_shut_down_as_often_as_it_was_started() {
    let fake = Fake::new(1);
    let first = fake.open().expect("there is a device");
    let second = fake.open().expect("there is a device");
    assert_eq!(fake.started(), 2);
    drop((first, second));
    fake.init(0, 0);
    let none = fake.open().expect_err("there is no device");
    assert_eq!((fake.started(), &*none.reason), (0, "NVML has no device"));
}

#[test]
fn what_is_missing_is_told_with_a_remedy() {
    let missing = Nvml::open("libnvidia-ml-that-is-not-there.so.1").expect_err("there is none");
    assert!(
        missing.reason.starts_with("NVML is not there: libnvidia-ml-that-is-not-there.so.1"),
        "{missing}"
    );
    assert!(missing.remedy.contains("NVIDIA_DRIVER_CAPABILITIES"), "{missing}");
    let fake = Fake::new(1);
    fake.init(DRIVER_NOT_LOADED, 1);
    let absence = fake.open().expect_err("it does not start");
    assert_eq!(&*absence.reason, "nvmlInit failed: Driver Not Loaded (9)");
    fake.init(0, 1);
    fake.energy(0, 0, NOT_SUPPORTED);
    fake.power(0, 0, NOT_SUPPORTED);
    let absence = fake.open().expect_err("it has neither");
    assert_eq!(&*absence.reason, "nvmlDeviceGetPowerUsage failed: Not Supported (3)");
}

#[cfg(target_os = "linux")]
#[test]
fn another_library_is_not_nvml() {
    let absence = Nvml::open("libc.so.6").expect_err("it is another library");
    assert!(absence.reason.starts_with("libc.so.6 is not NVML"), "{absence}");
}
