//! [`Modules`]: device code that has been loaded, and its functions.

use std::collections::HashMap;
use std::ffi::CString;
use std::sync::{Arc, OnceLock, PoisonError};

use cudarc::driver::sys::{CUfunction, CUmodule};
use dahl_cuda::nvrtc::{Cache, Nvrtc, Target};

use super::calls;
use super::context::Context;
use super::error::{CudaError, check};
use super::ptx;
use crate::cuda::CudaImage;
use crate::sync::Mutex;

/// A function of a module, to be launched.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Function(pub(super) CUfunction);

// SAFETY: functions of the driver may be used by any thread; their modules are never unloaded before the device goes (D6).
unsafe impl Send for Function {}
// SAFETY: as for `Send`.
unsafe impl Sync for Function {}

/// Why there is no function.
#[derive(Clone, Debug)]
pub(crate) enum Unloaded {
    /// The image cannot be used, now or later.
    Refused(String),
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
}

#[derive(Debug, Default)]
struct Loaded {
    /// By the address of the image: those that were loaded whole,
    modules: HashMap<usize, Module>,
    /// and the parts of PTX that have one function each.
    parts: Vec<Module>,
    functions: HashMap<(usize, String), Function>,
    /// Why images cannot be used.
    refused: HashMap<usize, String>,
}

#[derive(Clone, Copy, Debug)]
struct Module(CUmodule);

// SAFETY: modules of the driver may be used by any thread.
unsafe impl Send for Module {}

impl Modules {
    pub(super) fn new(context: &Arc<Context>, capability: u32) -> Self {
        Self { context: Arc::clone(context), capability, loaded: Mutex::default() }
    }

    pub(super) fn capability(&self) -> u32 {
        self.capability
    }

    /// Whether an image is not known to be of no use: one of text needs a compiler.
    pub(super) fn may_load(&self, image: &'static CudaImage) -> bool {
        let is_possible = match image {
            CudaImage::Fatbin(_) | CudaImage::Ptx(_) => true,
            CudaImage::Source(_) => compiler().is_ok(),
            CudaImage::Missing(_) => false,
        };
        let address = std::ptr::from_ref(image).addr();
        let loaded = || self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        is_possible && !loaded().refused.contains_key(&address)
    }

    /// The function of that name, of an image that is loaded when it is first wanted.
    pub(super) fn function(&self, image: &'static CudaImage, entry: &str) -> Result<Function, Unloaded> {
        let address = std::ptr::from_ref(image).addr();
        let mut loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(function) = loaded.functions.get(&(address, entry.to_owned())) {
            return Ok(*function);
        }
        if let Some(reason) = loaded.refused.get(&address) {
            return Err(Unloaded::Refused(reason.clone()));
        }
        let cut = match image {
            CudaImage::Ptx(bytes) => ptx::only(bytes, entry),
            _ => None,
        };
        if let Some(Ok(module)) = cut.map(|cut| self.load_data(&cut)) {
            loaded.parts.push(module);
            let function = self.find(module, entry)?;
            loaded.functions.insert((address, entry.to_owned()), function);
            return Ok(function);
        }
        // Also where a part of it cannot be loaded: a whole file says why.
        let module = match loaded.modules.get(&address) {
            Some(&whole) => whole,
            None => match self.load(image) {
                Ok(whole) => {
                    loaded.modules.insert(address, whole);
                    whole
                }
                Err(Unloaded::Refused(reason)) => {
                    loaded.refused.insert(address, reason.clone());
                    return Err(Unloaded::Refused(reason));
                }
                Err(failed) => return Err(failed),
            },
        };
        let function = self.find(module, entry)?;
        loaded.functions.insert((address, entry.to_owned()), function);
        Ok(function)
    }

    fn find(&self, module: Module, entry: &str) -> Result<Function, Unloaded> {
        let name = CString::new(entry).map_err(|error| Unloaded::Refused(error.to_string()))?;
        let _entered = self.context.enter().map_err(Unloaded::Failed)?;
        let mut function = std::ptr::null_mut();
        // SAFETY: the module is loaded (D6), the name ends in zero, and there is room for a function.
        let code = unsafe { calls::cuModuleGetFunction(&raw mut function, module.0, name.as_ptr()) };
        match check("cuModuleGetFunction", code) {
            Ok(()) => Ok(Function(function)),
            Err(error) if error.is_loss() => Err(Unloaded::Failed(error)),
            Err(error) => Err(Unloaded::Refused(format!("`{entry}`: {error}"))),
        }
    }

    fn load(&self, image: &'static CudaImage) -> Result<Module, Unloaded> {
        match image {
            CudaImage::Fatbin(bytes) | CudaImage::Ptx(bytes) => self.load_data(bytes),
            CudaImage::Source(text) => self.load_data(&self.compile(text).map_err(Unloaded::Refused)?),
            CudaImage::Missing(reason) => Err(Unloaded::Refused((*reason).to_owned())),
        }
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
            Err(error) => Err(Unloaded::Refused(error.to_string())),
        }
    }

    fn compile(&self, text: &str) -> Result<Vec<u8>, String> {
        let nvrtc = compiler().as_ref().map_err(Clone::clone)?;
        let compiled = Cache::of_user().compile(nvrtc, text, Target::Machine(self.capability));
        compiled.map(|compiled| compiled.bytes).map_err(|error| error.to_string())
    }
}

impl Drop for Modules {
    fn drop(&mut self) {
        let Ok(_entered) = self.context.enter() else { return };
        let loaded = self.loaded.get_mut().unwrap_or_else(PoisonError::into_inner);
        for module in loaded.modules.values().chain(&loaded.parts) {
            // SAFETY: it is loaded, and the device's streams have nothing to do any more (D6).
            unsafe { calls::cuModuleUnload(module.0) };
        }
    }
}

/// The compiler for maps that were not compiled when their crate was built; or why there is none.
fn compiler() -> &'static Result<Nvrtc, String> {
    static COMPILER: OnceLock<Result<Nvrtc, String>> = OnceLock::new();
    COMPILER.get_or_init(|| Nvrtc::load().map_err(|error| error.to_string()))
}
