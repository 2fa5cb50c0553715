//! A `libcuda.so.1` without a device, for tests: the CPU runs the work of a program that uses the CUDA driver API,
//! later and in any order that its streams and events permit, and finds mistakes. The README of this crate describes
//! its use.
//!
//! [`FOLDER`] is for programs that are started with `LD_LIBRARY_PATH`; [`FakeDriver`] is for the running program.
#![allow(unsafe_code, reason = "loads a library in C++ and calls it")]

use std::ffi::{CStr, CString, c_char, c_int};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use cuda_kernels as _;
use libloading::os::unix::{Library, RTLD_GLOBAL, RTLD_NOW};

/// The folder of `libcuda.so.1`.
pub const FOLDER: &str = env!("FAKE_CUDA");

/// The library in this program, under the name by which programs look for CUDA.
#[derive(Debug)]
pub struct FakeDriver {
    library: Library,
    cublas: Library,
    cudnn: Library,
    _others: [Library; 2],
}

/// The CUDA driver for one test at a time: the fake driver, or `None` if `FAKE_CUDA` is 0 and the machine's own is
/// used.
pub fn driver() -> MutexGuard<'static, Option<FakeDriver>> {
    static DRIVER: LazyLock<Mutex<Option<FakeDriver>>> =
        LazyLock::new(|| Mutex::new(FakeDriver::unless_real()));
    DRIVER.lock().unwrap_or_else(PoisonError::into_inner)
}

impl FakeDriver {
    /// Loads it, with fakes of NVRTC, which compiles for it, cuBLAS and cuDNN. From then on, programs that look for
    /// `libcuda.so.1`, `libcuda.so`, `libnvrtc.so.13`, `libcublas.so.13` or `libcudnn.so.9` find them, whatever else is
    /// installed.
    ///
    /// # Panics
    /// If it cannot be loaded, or another one was loaded before.
    pub fn load() -> Self {
        let names = ["libcuda.so.1", "libcuda.so", "libnvrtc.so.13", "libcublas.so.13", "libcudnn.so.9"];
        let [library, named, nvrtc, cublas, cudnn] = names.map(|name| {
            let path = format!("{FOLDER}/{name}");
            // SAFETY: the code that runs when it is loaded fills a table of its own.
            let library = unsafe { Library::open(Some(&path), RTLD_NOW | RTLD_GLOBAL) };
            library.unwrap_or_else(|error| panic!("{path}: {error}"))
        });
        let fake = Self { library, cublas, cudnn, _others: [named, nvrtc] };
        // SAFETY: the type is not used.
        let is_found = unsafe { Library::new("libcuda.so.1") };
        let found = is_found.expect("a library of this name is loaded");
        // SAFETY: the symbol is only looked up.
        let symbol = unsafe { found.get::<unsafe extern "C" fn()>(b"fake_cuda_reset\0") };
        assert!(symbol.is_ok(), "another libcuda.so.1 was loaded before");
        fake
    }

    /// [Loads](Self::load) it, unless `FAKE_CUDA` is 0: then tests use the driver of the machine.
    pub fn unless_real() -> Option<Self> {
        (std::env::var("FAKE_CUDA").as_deref() != Ok("0")).then(Self::load)
    }

    /// Forgets all contexts and memory, and resets the driver with the settings of the environment and those that are
    /// given: `"seed=3 devices=2 fail=launch:5"`. No thread may use CUDA meanwhile.
    ///
    /// # Panics
    /// If the text has a zero in it.
    pub fn reset(&self, settings: &str) {
        let settings = CString::new(settings).expect("a text without zeros");
        // SAFETY: the function has this type.
        let reset = unsafe { self.library.get::<unsafe extern "C" fn(*const c_char)>(b"fake_cuda_reset\0") };
        let reset = reset.expect("the library has it");
        // SAFETY: the text is valid during the call, which only reads it.
        unsafe { reset(settings.as_ptr()) };
    }

    /// The findings since the last reset, a line each.
    pub fn findings(&self) -> String {
        self.text(false)
    }

    /// The same, and memory that was not freed.
    pub fn findings_and_left(&self) -> String {
        self.text(true)
    }

    /// The products that were requested from cuBLAS since the last call of this, a line each: operations, extents,
    /// leading dimensions, types, `beta`, and the settings of its handle.
    pub fn products(&self) -> String {
        Self::said(&self.cublas, b"fake_cublas_products\0")
    }

    /// The convolutions that were requested from cuDNN since the last call of this, a line each: direction, extents,
    /// stride, padding, types, algorithm, the convolution's math, bytes of workspace, and `beta`.
    pub fn convolutions(&self) -> String {
        Self::said(&self.cudnn, b"fake_cudnn_convolutions\0")
    }

    fn said(library: &Library, function: &[u8]) -> String {
        // SAFETY: the functions of these names have this type.
        let said = unsafe { library.get::<unsafe extern "C" fn() -> *const c_char>(function) };
        let said = said.expect("the library has it");
        // SAFETY: it returns a text that stays until it is called again.
        let text = unsafe { said() };
        // SAFETY: as above; no other thread calls it, as the documentation of this type's methods demands.
        unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
    }

    /// The number of calls of a kind since the last reset, by the words of failures on demand: `launch`, `graph`,
    /// `event`. For `fault`, kernels that ran are counted; for `lost`, calls that need a context.
    pub fn calls(&self, kind: &str) -> u64 {
        // SAFETY: the function has this type.
        let calls =
            unsafe { self.library.get::<unsafe extern "C" fn() -> *const c_char>(b"fake_cuda_calls\0") };
        let calls = calls.expect("the library has it");
        // SAFETY: it returns a text that stays until it is called again.
        let text = unsafe { calls() };
        // SAFETY: as above; no other thread calls it, as the documentation of this type's methods demands.
        let text = unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned();
        let line = text.lines().find_map(|line| line.strip_prefix(kind)?.strip_prefix(' '));
        line.map_or(0, |count| count.parse().expect("a number"))
    }

    /// Copies to pinned memory of the host do not run, nor what comes after them, until this is called with `false`.
    ///
    /// # Panics
    /// If the library lacks the function.
    pub fn hold_downloads(&self, held: bool) {
        // SAFETY: the function has this type.
        let hold = unsafe { self.library.get::<unsafe extern "C" fn(c_int)>(b"fake_cuda_hold_downloads\0") };
        let hold = hold.expect("the library has it");
        // SAFETY: it may be called at any time.
        unsafe { hold(c_int::from(held)) };
    }

    fn text(&self, with_left: bool) -> String {
        // SAFETY: the function has this type.
        let findings = unsafe {
            self.library.get::<unsafe extern "C" fn(c_int) -> *const c_char>(b"fake_cuda_findings\0")
        };
        let findings = findings.expect("the library has it");
        // SAFETY: it returns a text that stays until it is called again.
        let text = unsafe { findings(c_int::from(with_left)) };
        // SAFETY: as above; no other thread calls it, as the documentation of this type's methods demands.
        unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
    }
}
