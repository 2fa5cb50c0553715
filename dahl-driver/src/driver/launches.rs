//! [`Form`]: a launch of a kernel, and [`KernelParameters`], the values of its parameters.

use std::ffi::c_void;

use cudarc::driver::sys::{CUDA_KERNEL_NODE_PARAMS, CUfunction, CUfunction_attribute, CUstream};

use super::calls;
use super::error::{CudaError, check};
use super::modules::Function;

/// The dynamic shared memory of a block that every kernel may have.
const SHARED_BYTES: u32 = 48 << 10;

/// A launch apart from the values of its parameters: whether the driver takes it depends on this alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Form {
    function: CUfunction,
    grid: [u32; 3],
    block: [u32; 3],
    shared_bytes: u32,
}

// SAFETY: functions of the driver may be used by any thread; their modules are never unloaded before the device goes (D6).
unsafe impl Send for Form {}

/// The grid, the blocks and the shared memory of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaunchConfig {
    /// Blocks. If one of the numbers is 0, nothing is launched.
    pub grid: [u32; 3],
    /// Threads of a block.
    pub block: [u32; 3],
    /// Dynamic shared memory of a block.
    pub shared_bytes: u32,
}

/// What a kernel is given, as `dahl.cuh` lays it out.
#[derive(Clone, Copy, Debug)]
pub struct KernelParameters<'p> {
    /// The values, each in whole words.
    pub words: &'p [u64],
    /// Where each begins.
    pub starts: &'p [usize],
}

impl Form {
    pub(super) fn new(function: Function, config: LaunchConfig) -> Self {
        let LaunchConfig { grid, block, shared_bytes } = config;
        Self { function: function.0, grid, block, shared_bytes }
    }

    /// The dynamic shared memory that must be asked for first, beyond what every kernel may have.
    pub(super) fn shared_to_ask_for(&self) -> Option<(usize, u32)> {
        (self.shared_bytes > SHARED_BYTES).then(|| (self.function.addr(), self.shared_bytes))
    }

    /// Asks for the dynamic shared memory.
    pub(super) fn ask_for_shared(&self) -> Result<(), CudaError> {
        let attribute = CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
        // SAFETY: the function's module is loaded (D6).
        let code = unsafe { calls::cuFuncSetAttribute(self.function, attribute, self.shared_bytes as i32) };
        check("cuFuncSetAttribute", code)
    }

    /// Gives the launch to a stream.
    ///
    /// # Safety
    /// `raw` is a stream of the context, which is current; `parameters` are those of the function, and what they lead to may be
    /// used by what comes next in the stream.
    pub(super) unsafe fn launch(
        &self,
        raw: CUstream,
        parameters: KernelParameters<'_>,
    ) -> Result<(), CudaError> {
        let ([grid_x, grid_y, grid_z], [block_x, block_y, block_z]) = (self.grid, self.block);
        let mut pointers = parameters.pointers();
        let (pointers, extra) = (pointers.as_mut_ptr(), std::ptr::null_mut());
        // SAFETY: the caller's; the driver reads the values, and has done so when the call returns.
        let code = unsafe {
            calls::cuLaunchKernel(
                self.function,
                grid_x,
                grid_y,
                grid_z,
                block_x,
                block_y,
                block_z,
                self.shared_bytes,
                raw,
                pointers,
                extra,
            )
        };
        check("cuLaunchKernel", code)
    }

    /// The launch as a node of a graph, with a pointer to each parameter's value.
    pub(super) fn node(&self, pointers: &mut [*mut c_void]) -> CUDA_KERNEL_NODE_PARAMS {
        let ([grid_x, grid_y, grid_z], [block_x, block_y, block_z]) = (self.grid, self.block);
        CUDA_KERNEL_NODE_PARAMS {
            func: self.function,
            gridDimX: grid_x,
            gridDimY: grid_y,
            gridDimZ: grid_z,
            blockDimX: block_x,
            blockDimY: block_y,
            blockDimZ: block_z,
            sharedMemBytes: self.shared_bytes,
            kernelParams: pointers.as_mut_ptr(),
            extra: std::ptr::null_mut(),
            // The function is one of a module, in the context that is current.
            kern: std::ptr::null_mut(),
            ctx: std::ptr::null_mut(),
        }
    }
}

impl KernelParameters<'_> {
    /// A pointer to each value, as the driver wants them: it only reads. They are valid as long as the words.
    pub(super) fn pointers(&self) -> Vec<*mut c_void> {
        self.starts.iter().map(|&start| self.words[start..].as_ptr().cast_mut().cast()).collect()
    }
}
