//! [`Nvrtc`]: finds and calls the library.

use std::env;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::path::{Path, PathBuf};

use libloading::Library;

use super::{Error, Program, Target};
use crate::HEADERS;

/// A program of NVRTC: opaque.
type Handle = *mut c_void;
/// `nvrtcResult`: 0 is success.
type Status = c_int;

type Version = unsafe extern "C" fn(*mut c_int, *mut c_int) -> Status;
type Create = unsafe extern "C" fn(
    *mut Handle,
    *const c_char,
    *const c_char,
    c_int,
    *const *const c_char,
    *const *const c_char,
) -> Status;
type Compile = unsafe extern "C" fn(Handle, c_int, *const *const c_char) -> Status;
type Count = unsafe extern "C" fn(*mut c_int) -> Status;
type Size = unsafe extern "C" fn(Handle, *mut usize) -> Status;
type Get = unsafe extern "C" fn(Handle, *mut c_char) -> Status;
type Destroy = unsafe extern "C" fn(*mut Handle) -> Status;
type Describe = unsafe extern "C" fn(Status) -> *const c_char;

/// The library with its functions.
///
/// # Invariant
/// N: the functions are those of `library`, which stays loaded as long as they can be called, with the types in
/// `nvrtc.h`, which have not changed since version 11.2.
#[derive(Debug)]
pub struct Nvrtc {
    version: (i32, i32),
    count_capabilities: Count,
    get_capabilities: Count,
    create: Create,
    compile: Compile,
    sizes: [Size; 3],
    gets: [Get; 3],
    destroy: Destroy,
    describe: Describe,
    // The last field: dropped when nothing can call it any more.
    _builtins: Option<Library>,
    _library: Library,
}

/// Options of every compilation, as for nvcc at build time, whose `--expt-relaxed-constexpr` lets kernels call
/// functions without `__device__`: here such functions are compiled for the device.
pub(super) const OPTIONS: [&str; 3] = ["--std=c++17", "--fmad=false", "--device-as-default-execution-space"];

/// The index of the log in `sizes` and `gets`.
const LOG: usize = 0;
const PTX: usize = 1;
const CUBIN: usize = 2;

impl Nvrtc {
    /// Loads the library: from `DAHL_NVRTC` (a file or a folder), `CUDA_HOME`, `CUDA_PATH`, `/usr/local/cuda`, or from
    /// the system's library paths.
    ///
    /// # Errors
    /// If there is none, or it is too old.
    pub fn load() -> Result<Self, Error> {
        let mut folders: Vec<PathBuf> = Vec::new();
        if let Some(place) = env::var_os("DAHL_NVRTC").filter(|place| !place.is_empty()) {
            let place = PathBuf::from(place);
            if place.is_file() {
                return Self::open(&place);
            }
            // A path that is named explicitly is the only one that is tried.
            return Self::in_folder(&place)
                .unwrap_or_else(|| Err(Error::Absent(format!("DAHL_NVRTC is {}", place.display()))));
        }
        for home in ["CUDA_HOME", "CUDA_PATH"].into_iter().filter_map(env::var_os).map(PathBuf::from) {
            folders.extend(["lib64", "lib"].map(|folder| home.join(folder)));
        }
        folders.push("/usr/local/cuda/lib64".into());
        if let Some(found) = folders.iter().find_map(|folder| Self::in_folder(folder)) {
            return found;
        }
        let names = ["libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"];
        names.iter().find_map(|name| Self::open(Path::new(name)).ok()).ok_or_else(|| {
            Error::Absent(
                "DAHL_NVRTC, CUDA_HOME, CUDA_PATH, /usr/local/cuda and the system's libraries".to_owned(),
            )
        })
    }

    /// The newest library in a folder; none if there is none.
    fn in_folder(folder: &Path) -> Option<Result<Self, Error>> {
        let mut found = named(folder, "libnvrtc.so");
        found.sort();
        Some(Self::open(found.last()?))
    }

    fn open(path: &Path) -> Result<Self, Error> {
        // NVRTC loads its built-in functions by a name without a folder: they are found if they are loaded before.
        let builtins = path.parent().map(|folder| named(folder, "libnvrtc-builtins.so")).unwrap_or_default();
        // SAFETY: libraries of CUDA, whose initialisation has no requirements.
        let builtins = builtins.first().and_then(|path| unsafe { Library::new(path) }.ok());
        let absent = |error: libloading::Error| Error::Absent(error.to_string());
        // SAFETY: as above.
        let library = unsafe { Library::new(path) }.map_err(absent)?;
        let version: Version = function(&library, "nvrtcVersion")?;
        let (mut major, mut minor) = (0, 0);
        // SAFETY: N; both pointers are to numbers of the right type.
        unsafe { version(&raw mut major, &raw mut minor) };
        Ok(Self {
            version: (major, minor),
            count_capabilities: function(&library, "nvrtcGetNumSupportedArchs")?,
            get_capabilities: function(&library, "nvrtcGetSupportedArchs")?,
            create: function(&library, "nvrtcCreateProgram")?,
            compile: function(&library, "nvrtcCompileProgram")?,
            sizes: [
                function(&library, "nvrtcGetProgramLogSize")?,
                function(&library, "nvrtcGetPTXSize")?,
                function(&library, "nvrtcGetCUBINSize")?,
            ],
            gets: [
                function(&library, "nvrtcGetProgramLog")?,
                function(&library, "nvrtcGetPTX")?,
                function(&library, "nvrtcGetCUBIN")?,
            ],
            destroy: function(&library, "nvrtcDestroyProgram")?,
            describe: function(&library, "nvrtcGetErrorString")?,
            _builtins: builtins,
            _library: library,
        })
    }

    /// The version of CUDA: `(13, 0)`.
    pub fn version(&self) -> (i32, i32) {
        self.version
    }

    /// The target for a device: machine code, or PTX, which the driver compiles, if the device is newer than this
    /// library.
    pub fn target_for(&self, capability: u32) -> Target {
        let known = self.capabilities();
        let older = known.iter().copied().filter(|&known| known <= capability).max();
        match older {
            Some(older) if older != capability => Target::Ptx(older),
            // For a device that is too old, the compiler reports an error.
            _ => Target::Machine(capability),
        }
    }

    /// The compute capabilities that the library supports.
    fn capabilities(&self) -> Vec<u32> {
        let mut count = 0;
        // SAFETY: N; the pointer is to a number of the right type.
        if unsafe { (self.count_capabilities)(&raw mut count) } != 0 {
            return Vec::new();
        }
        let mut known = vec![0; usize::try_from(count).unwrap_or(0)];
        // SAFETY: N; the vector has as many numbers as the library reported.
        let status = unsafe { (self.get_capabilities)(known.as_mut_ptr()) };
        if status != 0 {
            return Vec::new();
        }
        known.into_iter().filter_map(|known| u32::try_from(known).ok()).collect()
    }

    /// Compiles a program, which can include only its own headers and dahl's.
    ///
    /// # Errors
    /// With the compiler's messages, if it refuses the text.
    pub fn compile<'p>(&self, program: impl Into<Program<'p>>, target: Target) -> Result<Vec<u8>, Error> {
        let Program { name, source, headers } = program.into();
        let refused = |what: &str| Error::Refused(what.to_owned());
        let text = |text: &str| CString::new(text).map_err(|_| refused("the text has a zero byte in it"));
        let (source, name) = (text(source)?, text(name)?);
        let headers: Vec<_> = HEADERS.iter().chain(headers).collect();
        let contents = headers.iter().map(|(_, content)| text(content)).collect::<Result<Vec<_>, _>>()?;
        let names = headers.iter().map(|(name, _)| text(name)).collect::<Result<Vec<_>, _>>()?;
        let options = OPTIONS.map(str::to_owned).into_iter().chain([target.option()]);
        let options = options.map(|option| text(&option)).collect::<Result<Vec<_>, _>>()?;
        let pointers = |texts: &[CString]| texts.iter().map(|text| text.as_ptr()).collect::<Vec<_>>();
        let (content_pointers, name_pointers) = (pointers(&contents), pointers(&names));
        let option_pointers = pointers(&options);

        let mut program = Running { nvrtc: self, program: std::ptr::null_mut() };
        let count = headers.len() as c_int;
        // SAFETY: N; texts end in zero and outlive the call, and the counts match the pointers.
        let status = unsafe {
            (self.create)(
                &raw mut program.program,
                source.as_ptr(),
                name.as_ptr(),
                count,
                content_pointers.as_ptr(),
                name_pointers.as_ptr(),
            )
        };
        self.succeeded(status)?;
        let count = option_pointers.len() as c_int;
        // SAFETY: N; the program was created, and the count is that of the options.
        let status = unsafe { (self.compile)(program.program, count, option_pointers.as_ptr()) };
        if status != 0 {
            let log = program.get(LOG).unwrap_or_default();
            let log = String::from_utf8_lossy(&log);
            return Err(refused(log.trim_end_matches('\0').trim_end()));
        }
        program.get(if matches!(target, Target::Ptx(_)) { PTX } else { CUBIN })
    }

    fn succeeded(&self, status: Status) -> Result<(), Error> {
        if status == 0 {
            return Ok(());
        }
        // SAFETY: N.
        let text = unsafe { (self.describe)(status) };
        // SAFETY: NVRTC returns a text that ends in zero and is never freed.
        let text = unsafe { CStr::from_ptr(text) };
        Err(Error::Refused(text.to_string_lossy().into_owned()))
    }
}

/// A program, destroyed when this is dropped.
struct Running<'a> {
    nvrtc: &'a Nvrtc,
    program: Handle,
}

impl Running<'_> {
    /// The log, the PTX or the machine code of the program.
    fn get(&self, what: usize) -> Result<Vec<u8>, Error> {
        let mut size = 0;
        // SAFETY: N; the program was created and not yet destroyed.
        let status = unsafe { (self.nvrtc.sizes[what])(self.program, &raw mut size) };
        self.nvrtc.succeeded(status)?;
        let mut bytes = vec![0_u8; size];
        // SAFETY: as above, and the buffer has as many bytes as the library reported.
        let status = unsafe { (self.nvrtc.gets[what])(self.program, bytes.as_mut_ptr().cast()) };
        self.nvrtc.succeeded(status)?;
        Ok(bytes)
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        if !self.program.is_null() {
            // SAFETY: N; the program was created, and nothing uses it after this.
            unsafe { (self.nvrtc.destroy)(&raw mut self.program) };
        }
    }
}

/// The function `name`, with the type in `nvrtc.h`: `Nvrtc`'s invariant N.
fn function<F: Copy>(library: &Library, name: &str) -> Result<F, Error> {
    // SAFETY: the caller's type is that of the function in `nvrtc.h`.
    let function = unsafe { library.get::<F>(name.as_bytes()) };
    function.map(|function| *function).map_err(|_| Error::Incomplete(name.to_owned()))
}

/// The files of a folder whose names have this prefix.
fn named(folder: &Path, start: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .map(|entry| entry.path())
        .filter(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(start)))
        .collect()
}
