//! [`Nvml`]: NVIDIA's devices, by their management library.
#![allow(unsafe_code, reason = "calls a library in C")]

use std::error::Error as _;
use std::ffi::{CStr, OsStr, c_char, c_int, c_uint, c_ulonglong, c_void};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use libloading::Library;

use crate::absence::Absence;
use crate::counter::Counter;
use crate::meter::{Domain, EnergyMeter, Fault, Part, Reading};

/// NVML's handle of a device.
type Handle = *mut c_void;
/// NVML's results: numbers, since newer libraries may have new ones.
type Code = c_int;

const SUCCESS: Code = 0;
const NOT_SUPPORTED: Code = 3;
const MILLIJOULE: f64 = 1e-3;
/// How often power is sampled: NVML updates it about as often.
const SAMPLES: Duration = Duration::from_millis(100);

/// `nvmlPciInfo_t`.
#[repr(C)]
struct PciInfo {
    bus_id_legacy: [c_char; 16],
    domain: c_uint,
    bus: c_uint,
    device: c_uint,
    device_id: c_uint,
    subsystem_id: c_uint,
    bus_id: [c_char; 32],
}

/// The functions. They stay valid as long as the library, which is loaded as long as this.
struct Functions {
    init: unsafe extern "C" fn() -> Code,
    shutdown: unsafe extern "C" fn() -> Code,
    error: unsafe extern "C" fn(Code) -> *const c_char,
    count: unsafe extern "C" fn(*mut c_uint) -> Code,
    handle: unsafe extern "C" fn(c_uint, *mut Handle) -> Code,
    pci: unsafe extern "C" fn(Handle, *mut PciInfo) -> Code,
    name: unsafe extern "C" fn(Handle, *mut c_char, c_uint) -> Code,
    energy: unsafe extern "C" fn(Handle, *mut c_ulonglong) -> Code,
    power: unsafe extern "C" fn(Handle, *mut c_uint) -> Code,
    _library: Library,
}

/// NVML, initialised as long as this lives.
struct Started(Functions);

/// The devices of NVIDIA: `libnvidia-ml.so.1`, loaded when it is wanted.
///
/// A device's counter of energy is read where it has one (Volta and later). For others, samples of power are
/// integrated, and [`Reading::longest_gap`] says how far apart they were.
pub struct Nvml {
    devices: Vec<Device>,
    library: Arc<Started>,
}

struct Device {
    handle: Handle,
    domain: Domain,
    way: Way,
}

/// How a device's energy is read.
enum Way {
    Counter(Counter),
    Power(Integral),
}

/// The integral of samples of power.
#[derive(Default)]
struct Integral {
    last: Option<(Duration, f64)>,
    joules: f64,
    longest_gap: Duration,
}

// SAFETY: NVML's functions and handles may be used by any thread, as its documentation says.
unsafe impl Send for Device {}

impl fmt::Debug for Nvml {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.devices.iter().map(|device| &device.domain.name)).finish()
    }
}

impl Functions {
    fn load(name: &OsStr) -> Result<Self, Absence> {
        // SAFETY: NVIDIA's library, whose initialisation has no requirements.
        let library = unsafe { Library::new(name) }.map_err(|error| {
            let reason = format!("NVML is not there: {}", told(&error));
            let remedy = "install NVIDIA's driver with its library libnvidia-ml.so.1; a container needs \
                          NVIDIA_DRIVER_CAPABILITIES=compute,utility";
            Absence::new(reason, remedy)
        })?;
        macro_rules! function {
            ($name:literal) => {{
                // SAFETY: the field has the type that `nvml.h` gives the function of this name.
                let symbol = unsafe { library.get($name) };
                *symbol.map_err(|error| {
                    let reason = format!("{} is not NVML: {}", name.to_string_lossy(), told(&error));
                    Absence::new(reason, "install the library of NVIDIA's driver")
                })?
            }};
        }
        Ok(Self {
            init: function!(b"nvmlInit_v2\0"),
            shutdown: function!(b"nvmlShutdown\0"),
            error: function!(b"nvmlErrorString\0"),
            count: function!(b"nvmlDeviceGetCount_v2\0"),
            handle: function!(b"nvmlDeviceGetHandleByIndex_v2\0"),
            pci: function!(b"nvmlDeviceGetPciInfo_v3\0"),
            name: function!(b"nvmlDeviceGetName\0"),
            energy: function!(b"nvmlDeviceGetTotalEnergyConsumption\0"),
            power: function!(b"nvmlDeviceGetPowerUsage\0"),
            _library: library,
        })
    }

    fn check(&self, call: &str, code: Code) -> Result<(), Absence> {
        if code == SUCCESS {
            return Ok(());
        }
        // SAFETY: it takes any number, and returns a text that lives as long as the library.
        let text = unsafe { (self.error)(code) };
        let text = if text.is_null() {
            "unknown".into()
        } else {
            // SAFETY: `nvmlErrorString` returns a text that ends with 0 and is never freed.
            unsafe { CStr::from_ptr(text) }.to_string_lossy()
        };
        let remedy = "see what `nvidia-smi -q -d POWER` says of the device";
        Err(Absence::new(format!("{call} failed: {text} ({code})"), remedy))
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        // SAFETY: NVML was initialised when this was made, and counts how often.
        unsafe { (self.0.shutdown)() };
    }
}

impl Nvml {
    /// The devices of the library of this name, `libnvidia-ml.so.1` on a running system.
    ///
    /// # Errors
    /// If the library is not there, or cannot start, or has no device.
    pub fn open(library: impl AsRef<OsStr>) -> Result<Self, Absence> {
        let functions = Functions::load(library.as_ref())?;
        // SAFETY: it has no requirements.
        let code = unsafe { (functions.init)() };
        functions.check("nvmlInit", code)?;
        let library = Arc::new(Started(functions));
        let functions = &library.0;
        let mut count = 0;
        // SAFETY: NVML is initialised (`Started`), and there is room for a number.
        let code = unsafe { (functions.count)(&raw mut count) };
        functions.check("nvmlDeviceGetCount", code)?;
        if count == 0 {
            return Err(Absence::new("NVML has no device", "see what `nvidia-smi` says"));
        }
        let devices = (0..count).map(|index| Device::open(functions, index)).collect::<Result<_, _>>()?;
        Ok(Self { devices, library })
    }
}

/// What the system says of a library, which is the source of the error.
fn told(error: &libloading::Error) -> String {
    error.source().map_or_else(|| error.to_string(), ToString::to_string)
}

/// The text of a buffer that ends with 0.
fn text(buffer: &[c_char]) -> String {
    let bytes = buffer.iter().take_while(|&&byte| byte != 0).map(|&byte| byte as u8).collect::<Vec<_>>();
    String::from_utf8_lossy(&bytes).into_owned()
}

impl Device {
    fn open(functions: &Functions, index: c_uint) -> Result<Self, Absence> {
        let mut handle = std::ptr::null_mut();
        // SAFETY: NVML is initialised (`Started`), and there is room for a handle.
        let code = unsafe { (functions.handle)(index, &raw mut handle) };
        functions.check("nvmlDeviceGetHandleByIndex", code)?;
        let mut pci = PciInfo {
            bus_id_legacy: [0; 16],
            domain: 0,
            bus: 0,
            device: 0,
            device_id: 0,
            subsystem_id: 0,
            bus_id: [0; 32],
        };
        // SAFETY: the handle is NVML's (above), and there is room for an `nvmlPciInfo_t`.
        let code = unsafe { (functions.pci)(handle, &raw mut pci) };
        functions.check("nvmlDeviceGetPciInfo", code)?;
        let mut name = [0; 96];
        // SAFETY: the handle is NVML's (above), and the buffer has as many bytes as is said.
        let code = unsafe { (functions.name)(handle, name.as_mut_ptr(), name.len() as c_uint) };
        functions.check("nvmlDeviceGetName", code)?;
        // A device's functions have the number 0.
        let address = format!("{:04x}:{:02x}:{:02x}.0", pci.domain, pci.bus, pci.device);
        let name = format!("{} ({address})", text(&name[..name.len() - 1]));
        let way = match millijoules(functions, handle) {
            Err((NOT_SUPPORTED, _)) => {
                milliwatts(functions, handle)?;
                Way::Power(Integral::default())
            }
            Err((_, absence)) => return Err(absence),
            Ok(_) => {
                let counter = format!("nvmlDeviceGetTotalEnergyConsumption of {name}");
                Way::Counter(Counter::new(counter, MILLIJOULE, None))
            }
        };
        Ok(Self { handle, domain: Domain::new(name, Part::Device(address)), way })
    }

    fn read(&mut self, functions: &Functions, at: Duration) -> Result<Reading, Fault> {
        match &mut self.way {
            Way::Counter(counter) => {
                let read = millijoules(functions, self.handle);
                counter.take(at, read.map_err(|(_, absence)| Fault::Silent(absence))?)
            }
            Way::Power(integral) => {
                let watts = milliwatts(functions, self.handle).map_err(Fault::Silent)? as f64 * 1e-3;
                Ok(integral.take(at, watts))
            }
        }
    }
}

fn millijoules(functions: &Functions, handle: Handle) -> Result<u64, (Code, Absence)> {
    let mut energy = 0;
    // SAFETY: the handle is NVML's, which is initialised (`Started`), and there is room for a number.
    let code = unsafe { (functions.energy)(handle, &raw mut energy) };
    let checked = functions.check("nvmlDeviceGetTotalEnergyConsumption", code);
    checked.map(|()| energy).map_err(|absence| (code, absence))
}

fn milliwatts(functions: &Functions, handle: Handle) -> Result<u32, Absence> {
    let mut power = 0;
    // SAFETY: the handle is NVML's, which is initialised (`Started`), and there is room for a number.
    let code = unsafe { (functions.power)(handle, &raw mut power) };
    functions.check("nvmlDeviceGetPowerUsage", code).map(|()| power)
}

impl Integral {
    /// Adds the mean of two samples of power over the time between them.
    fn take(&mut self, at: Duration, watts: f64) -> Reading {
        if let Some((last_at, last)) = self.last.replace((at, watts)) {
            let gap = at.saturating_sub(last_at);
            self.joules += (last + watts) / 2.0 * gap.as_secs_f64();
            self.longest_gap = self.longest_gap.max(gap);
        }
        Reading { joules: self.joules, longest_gap: Some(self.longest_gap) }
    }
}

impl EnergyMeter for Nvml {
    fn name(&self) -> &str {
        "NVML"
    }

    fn domains(&self) -> Vec<Domain> {
        self.devices.iter().map(|device| device.domain.clone()).collect()
    }

    fn read(&mut self, at: Duration) -> Vec<Result<Reading, Fault>> {
        self.devices.iter_mut().map(|device| device.read(&self.library.0, at)).collect()
    }

    fn period(&self) -> Option<Duration> {
        self.devices.iter().any(|device| matches!(device.way, Way::Power(_))).then_some(SAMPLES)
    }
}
