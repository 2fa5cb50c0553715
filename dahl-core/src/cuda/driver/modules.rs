//! [`Modules`]: device code that has been loaded, and its functions.

use std::collections::HashMap;
use std::ffi::CString;
use std::sync::{Arc, OnceLock, PoisonError};

use cudarc::driver::sys::{CUfunction, CUmodule};
use dahl_cuda::nvrtc::{Cache, Nvrtc, Target};

use super::calls;
use super::context::Context;
use super::error::{CudaError, check};
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
    /// By the address of the image.
    modules: HashMap<usize, Result<Module, String>>,
    functions: HashMap<(usize, String), Function>,
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
        is_possible && !matches!(loaded().modules.get(&address), Some(Err(_)))
    }

    /// The function of that name, of an image that is loaded when it is first wanted.
    pub(super) fn function(&self, image: &'static CudaImage, entry: &str) -> Result<Function, Unloaded> {
        let address = std::ptr::from_ref(image).addr();
        let mut loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(function) = loaded.functions.get(&(address, entry.to_owned())) {
            return Ok(*function);
        }
        let module = match loaded.modules.get(&address) {
            Some(known) => known.clone().map_err(Unloaded::Refused)?,
            None => {
                let module = self.load(image);
                if let Err(Unloaded::Failed(error)) = module {
                    return Err(Unloaded::Failed(error));
                }
                let known = module.map_err(|refused| match refused {
                    Unloaded::Refused(reason) => reason,
                    Unloaded::Failed(error) => error.to_string(),
                });
                loaded.modules.insert(address, known.clone());
                known.map_err(Unloaded::Refused)?
            }
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
        let compiled;
        let bytes = match image {
            CudaImage::Fatbin(bytes) | CudaImage::Ptx(bytes) => bytes,
            CudaImage::Source(text) => {
                compiled = self.compile(text).map_err(Unloaded::Refused)?;
                compiled.as_slice()
            }
            CudaImage::Missing(reason) => return Err(Unloaded::Refused((*reason).to_owned())),
        };
        let _entered = self.context.enter().map_err(Unloaded::Failed)?;
        let mut module = std::ptr::null_mut();
        // SAFETY: room for a module; the image is whole: machine code that says how long it is, or PTX that ends in zero.
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
        for module in loaded.modules.values().flatten() {
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
