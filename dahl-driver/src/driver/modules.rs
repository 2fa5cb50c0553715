//! [`Modules`]: loaded device code and its functions.

use std::collections::HashMap;
use std::ffi::CString;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use cudarc::driver::sys::{CUfunction, CUmodule};
use dahl_cuda::CudaImage;
use dahl_cuda::nvrtc::{Cache, Nvrtc, Program};
use dahl_cuda::texts::unpack;

use super::calls;
use super::context::Context;
use super::error::{CudaError, check};
use super::ptx;

/// A function of a module, to be launched.
#[derive(Clone, Copy, Debug)]
pub struct Function(pub(super) CUfunction);

// SAFETY: functions of the driver may be used by any thread; their modules are never unloaded before the device goes (D6).
unsafe impl Send for Function {}
// SAFETY: as for `Send`.
unsafe impl Sync for Function {}

/// Why there is no function.
#[derive(Clone, Debug)]
pub enum Unloaded {
    /// The image cannot be used, now or later.
    Refused {
        /// What is wrong with it.
        reason: String,
        /// Whether this is the first time that it is said.
        is_new: bool,
    },
    /// The driver failed.
    Failed(CudaError),
}

/// What a device has loaded.
#[derive(Debug)]
pub(super) struct Modules {
    context: Arc<Context>,
    /// The compute capability: 90 for 9.0.
    capability: u32,
    loaded: Mutex<Loaded>,
    /// Whether anything was refused: schedulers ask for every task.
    has_refused: AtomicBool,
}

/// What is loaded at once: the address of an image, and the entry point of an image that is loaded kernel by kernel.
type Unit = (usize, Option<String>);

#[derive(Debug, Default)]
struct Loaded {
    modules: HashMap<Unit, Module>,
    functions: HashMap<(usize, String), Function>,
    /// Why images cannot be used.
    refused: HashMap<Unit, String>,
    /// All that are to be unloaded.
    all: Vec<Module>,
}

#[derive(Clone, Copy, Debug)]
struct Module(CUmodule);

// SAFETY: modules of the driver may be used by any thread.
unsafe impl Send for Module {}

impl Loaded {
    /// Why an image, or an entry point of it, cannot be used.
    fn refusal(&self, image: &'static CudaImage, entry: &str) -> Option<&String> {
        let [whole, one] =
            [None, Some(entry.to_owned())].map(|part| (std::ptr::from_ref(image).addr(), part));
        self.refused.get(&whole).or_else(|| self.refused.get(&one))
    }
}

impl Modules {
    pub(super) fn new(context: &Arc<Context>, capability: u32) -> Self {
        Self {
            context: Arc::clone(context),
            capability,
            loaded: Mutex::default(),
            has_refused: AtomicBool::new(false),
        }
    }

    pub(super) fn capability(&self) -> u32 {
        self.capability
    }

    /// Whether these entry points of an image are not known to be of no use: one of text needs a compiler.
    pub(super) fn may_load(&self, image: &'static CudaImage, entries: impl Iterator<Item = String>) -> bool {
        let is_possible = match image {
            CudaImage::Fatbin(_) | CudaImage::Ptx(_) | CudaImage::Text(_) => true,
            CudaImage::Program(_) | CudaImage::Source(_) => compiler().is_ok(),
            CudaImage::Missing(_) => false,
        };
        is_possible && !(self.has_refused.load(Ordering::Acquire) && self.is_refused(image, entries))
    }

    fn is_refused(&self, image: &'static CudaImage, mut entries: impl Iterator<Item = String>) -> bool {
        let loaded = self.lock();
        entries.any(|entry| loaded.refusal(image, &entry).is_some())
    }

    /// The function of that name, of an image that is loaded when it is first wanted.
    pub(super) fn function(&self, image: &'static CudaImage, entry: &str) -> Result<Function, Unloaded> {
        let unit = unit(image, entry);
        let (address, module) = {
            let loaded = self.lock();
            if let Some(function) = loaded.functions.get(&(unit.0, entry.to_owned())) {
                return Ok(*function);
            }
            if let Some(reason) = loaded.refusal(image, entry) {
                return Err(Unloaded::Refused { reason: reason.clone(), is_new: false });
            }
            (unit.0, loaded.modules.get(&unit).copied())
        };
        // Compiling takes long, and schedulers look into what is loaded: it is not locked meanwhile.
        let module = match module {
            Some(module) => module,
            None => {
                let module = self.load(image, entry).map_err(|unloaded| self.note(unit.clone(), unloaded))?;
                self.keep(unit, module)
            }
        };
        let function = self.find(module, entry);
        let function = function.map_err(|unloaded| self.note((address, Some(entry.to_owned())), unloaded))?;
        self.lock().functions.insert((address, entry.to_owned()), function);
        Ok(function)
    }

    /// Keeps in mind what was refused.
    fn note(&self, unit: Unit, unloaded: Unloaded) -> Unloaded {
        let Unloaded::Refused { reason, .. } = unloaded else { return unloaded };
        let is_new = self.lock().refused.insert(unit, reason.clone()).is_none();
        self.has_refused.store(true, Ordering::Release);
        Unloaded::Refused { reason, is_new }
    }

    /// Keeps a module. If another thread has loaded the same meanwhile, that one is used, and both are unloaded in the end.
    fn keep(&self, unit: Unit, module: Module) -> Module {
        let mut loaded = self.lock();
        loaded.all.push(module);
        *loaded.modules.entry(unit).or_insert(module)
    }

    fn lock(&self) -> MutexGuard<'_, Loaded> {
        self.loaded.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn find(&self, module: Module, entry: &str) -> Result<Function, Unloaded> {
        let name = CString::new(entry).map_err(|error| refused(error.to_string()))?;
        let _entered = self.context.enter().map_err(Unloaded::Failed)?;
        let mut function = std::ptr::null_mut();
        // SAFETY: the module is loaded (D6), the name ends in zero, and there is room for a function.
        let code = unsafe { calls::cuModuleGetFunction(&raw mut function, module.0, name.as_ptr()) };
        match check("cuModuleGetFunction", code) {
            Ok(()) => Ok(Function(function)),
            Err(error) if error.is_loss() => Err(Unloaded::Failed(error)),
            Err(error) => Err(refused(format!("`{entry}`: {error}"))),
        }
    }

    fn load(&self, image: &'static CudaImage, entry: &str) -> Result<Module, Unloaded> {
        match image {
            CudaImage::Fatbin(bytes) => self.load_data(bytes),
            CudaImage::Ptx(packed) => self.load_ptx(packed, entry),
            CudaImage::Text(text) => self.load_data(&[text.as_bytes(), &[0]].concat()),
            CudaImage::Program(program) => {
                let code = program.with_entry(entry, |program| self.compile(program));
                let damaged = || Err("the program's texts are damaged: build it anew".to_owned());
                self.load_data(&code.unwrap_or_else(damaged).map_err(refused)?)
            }
            CudaImage::Source(text) => self.load_data(&self.compile((*text).into()).map_err(refused)?),
            CudaImage::Missing(reason) => Err(refused((*reason).to_owned())),
        }
    }

    fn load_ptx(&self, packed: &[u8], entry: &str) -> Result<Module, Unloaded> {
        let texts = unpack(packed).unwrap_or_default();
        let [(_, text)] = &*texts else {
            return Err(refused("the program's PTX is damaged: build it anew".to_owned()));
        };
        if let Some(Ok(module)) = ptx::only(text, entry).map(|cut| self.load_data(&cut)) {
            return Ok(module);
        }
        // A whole file says why.
        self.load_data(&[text.as_bytes(), &[0]].concat())
    }

    /// Loads machine code, which says how long it is, or PTX, which ends in zero.
    fn load_data(&self, bytes: &[u8]) -> Result<Module, Unloaded> {
        let _entered = self.context.enter().map_err(Unloaded::Failed)?;
        let mut module = std::ptr::null_mut();
        // SAFETY: room for a module; the image is whole, as images are made.
        let code = unsafe { calls::cuModuleLoadData(&raw mut module, bytes.as_ptr().cast()) };
        match check("cuModuleLoadData", code) {
            Ok(()) => Ok(Module(module)),
            // There may be memory for it later.
            Err(error) if error.is_loss() || error.is_out_of_memory() => Err(Unloaded::Failed(error)),
            Err(error) => Err(refused(error.to_string())),
        }
    }

    fn compile(&self, program: Program<'_>) -> Result<Vec<u8>, String> {
        let nvrtc = compiler().as_ref().map_err(Clone::clone)?;
        let compiled = Cache::of_user().compile(nvrtc, program, nvrtc.target_for(self.capability));
        compiled.map(|compiled| compiled.bytes).map_err(|error| error.to_string())
    }
}

impl Drop for Modules {
    fn drop(&mut self) {
        let Ok(_entered) = self.context.enter() else { return };
        let loaded = self.loaded.get_mut().unwrap_or_else(PoisonError::into_inner);
        for module in &loaded.all {
            // SAFETY: it is loaded, and the device's streams have nothing to do any more (D6).
            unsafe { calls::cuModuleUnload(module.0) };
        }
    }
}

/// What is loaded at once for an entry point of an image.
fn unit(image: &'static CudaImage, entry: &str) -> Unit {
    let is_by_entry = matches!(image, CudaImage::Ptx(_) | CudaImage::Program(_));
    (std::ptr::from_ref(image).addr(), is_by_entry.then(|| entry.to_owned()))
}

fn refused(reason: String) -> Unloaded {
    Unloaded::Refused { reason, is_new: true }
}

/// Why kernels that were built without nvcc cannot be compiled here: there is no NVRTC. Nothing if there is one.
pub fn no_compiler() -> Option<String> {
    compiler().as_ref().err().cloned()
}

/// The compiler for maps and kernels that were not compiled when their crate was built; or why there is none.
fn compiler() -> &'static Result<Nvrtc, String> {
    static COMPILER: OnceLock<Result<Nvrtc, String>> = OnceLock::new();
    COMPILER.get_or_init(|| Nvrtc::load().map_err(|error| error.to_string()))
}
