//! The driver's functions that dahl calls, each of which returns its result code as a number.
//!
//! cudarc provides the types of the parameters, and checks that the signatures are those of `cuda.h`. dahl does not
//! call the functions through cudarc, which returns results as a Rust `enum`: a newer driver may return a number that
//! the `enum` lacks, and such a value must not exist.

use std::ffi::{c_char, c_int, c_uchar, c_uint, c_ulonglong, c_ushort, c_void};
use std::sync::OnceLock;

use cudarc::driver::sys::{
    self, CUDA_KERNEL_NODE_PARAMS, CUDA_MEMCPY3D, CUDA_MEMSET_NODE_PARAMS, CUcontext, CUdevice,
    CUdevice_attribute, CUdeviceptr, CUevent, CUfunction, CUfunction_attribute, CUgraph,
    CUgraphConditionalHandle, CUgraphEdgeData, CUgraphExec, CUgraphNode, CUgraphNodeParams, CUgraphNodeType,
    CUmemAccessDesc, CUmemPool_attribute, CUmemoryPool, CUmodule, CUresult, CUstream, CUstreamCaptureMode,
};
use libloading::Library;

use super::error::Code;

/// The file that drivers install.
const LIBRARY: &str = "libcuda.so.1";

/// Loads the driver, once for the process.
///
/// # Errors
/// Why there is none, or which function it lacks.
pub(super) fn load() -> Result<(), String> {
    CALLS.get_or_init(Calls::load).as_ref().map(|_| ()).map_err(Clone::clone)
}

static CALLS: OnceLock<Result<Calls, String>> = OnceLock::new();

fn calls() -> &'static Calls {
    let loaded = CALLS.get().expect("devices are found after the driver has been loaded");
    loaded.as_ref().expect("devices are found where there is a driver")
}

/// Makes of each signature a field of [`Calls`], which is filled when the driver is loaded, and a function that calls it; and
/// checks it, but for those `of_codes`, which take what others return.
macro_rules! calls {
    (of_codes { $($of_code:tt)* } $($others:tt)*) => {
        calls!(@functions $($of_code)* $($others)*);
        calls!(@check $($others)*);
    };
    (@check $($name:ident($($parameter:ident: $kind:ty),*);)*) => {
        // As in cudarc's bindings, which were made from `cuda.h`, but for the result.
        $(const _: unsafe fn($($kind),*) -> CUresult = sys::$name;)*
    };
    (@functions $($name:ident($($parameter:ident: $kind:ty),*);)*) => {
        /// The driver's functions, of the types that `cuda.h` says, in a library that stays loaded.
        #[allow(non_snake_case, reason = "the names of CUDA")]
        struct Calls {
            $($name: unsafe extern "C" fn($($kind),*) -> Code,)*
        }

        impl Calls {
            fn load() -> Result<Self, String> {
                // SAFETY: a library of CUDA's, whose initialisation has no requirements.
                let library = unsafe { Library::new(LIBRARY) }.map_err(|error| error.to_string())?;
                let calls = Self {
                    $($name: {
                        let name = concat!(stringify!($name), "\0");
                        // SAFETY: the function has this type.
                        let found = unsafe {
                            library.get::<unsafe extern "C" fn($($kind),*) -> Code>(name.as_bytes())
                        };
                        *found.map_err(|error| format!("{LIBRARY} is too old: {error}"))?
                    },)*
                };
                std::mem::forget(library);
                Ok(calls)
            }
        }

        $(
            /// The driver's function of this name.
            ///
            /// # Safety
            /// What `cuda.h` demands.
            #[allow(non_snake_case, clippy::too_many_arguments, reason = "as in `cuda.h`")]
            pub(super) unsafe fn $name($($parameter: $kind),*) -> Code {
                // SAFETY: the caller's.
                unsafe { (calls().$name)($($parameter),*) }
            }
        )*
    };
}

calls! {
    of_codes {
        cuGetErrorName(code: Code, text: *mut *const c_char);
        cuGetErrorString(code: Code, text: *mut *const c_char);
    }
    cuInit(flags: c_uint);
    cuDriverGetVersion(version: *mut c_int);
    cuDeviceGetCount(count: *mut c_int);
    cuDeviceGet(device: *mut CUdevice, ordinal: c_int);
    cuDeviceGetName(name: *mut c_char, len: c_int, device: CUdevice);
    cuDeviceGetAttribute(value: *mut c_int, attribute: CUdevice_attribute, device: CUdevice);
    cuDeviceCanAccessPeer(can: *mut c_int, device: CUdevice, peer: CUdevice);
    cuDeviceGetDefaultMemPool(pool: *mut CUmemoryPool, device: CUdevice);
    cuDevicePrimaryCtxRetain(context: *mut CUcontext, device: CUdevice);
    cuDevicePrimaryCtxRelease_v2(device: CUdevice);
    cuCtxGetCurrent(context: *mut CUcontext);
    cuCtxSetCurrent(context: CUcontext);
    cuMemGetInfo_v2(free: *mut usize, total: *mut usize);
    cuMemPoolSetAttribute(pool: CUmemoryPool, attribute: CUmemPool_attribute, value: *mut c_void);
    cuMemPoolSetAccess(pool: CUmemoryPool, accesses: *const CUmemAccessDesc, count: usize);
    cuMemAllocAsync(address: *mut CUdeviceptr, bytes: usize, stream: CUstream);
    cuMemFreeAsync(address: CUdeviceptr, stream: CUstream);
    cuMemHostAlloc(pointer: *mut *mut c_void, bytes: usize, flags: c_uint);
    cuMemFreeHost(pointer: *mut c_void);
    cuMemsetD8Async(to: CUdeviceptr, byte: c_uchar, bytes: usize, stream: CUstream);
    cuMemsetD16Async(to: CUdeviceptr, pair: c_ushort, pairs: usize, stream: CUstream);
    cuMemsetD32Async(to: CUdeviceptr, word: c_uint, words: usize, stream: CUstream);
    cuMemcpyHtoDAsync_v2(to: CUdeviceptr, from: *const c_void, bytes: usize, stream: CUstream);
    cuMemcpyDtoHAsync_v2(to: *mut c_void, from: CUdeviceptr, bytes: usize, stream: CUstream);
    cuMemcpyPeerAsync(
        to: CUdeviceptr, to_context: CUcontext, from: CUdeviceptr, from_context: CUcontext, bytes: usize, stream: CUstream
    );
    cuStreamCreate(stream: *mut CUstream, flags: c_uint);
    cuStreamDestroy_v2(stream: CUstream);
    cuStreamSynchronize(stream: CUstream);
    cuStreamWaitEvent(stream: CUstream, event: CUevent, flags: c_uint);
    cuEventCreate(event: *mut CUevent, flags: c_uint);
    cuEventDestroy_v2(event: CUevent);
    cuEventRecord(event: CUevent, stream: CUstream);
    cuEventQuery(event: CUevent);
    cuEventElapsedTime_v2(milliseconds: *mut f32, start: CUevent, end: CUevent);
    cuModuleLoadData(module: *mut CUmodule, image: *const c_void);
    cuModuleGetFunction(function: *mut CUfunction, module: CUmodule, name: *const c_char);
    cuModuleUnload(module: CUmodule);
    cuFuncSetAttribute(function: CUfunction, attribute: CUfunction_attribute, value: c_int);
    cuLaunchKernel(
        function: CUfunction, grid_x: c_uint, grid_y: c_uint, grid_z: c_uint, block_x: c_uint, block_y: c_uint, block_z: c_uint,
        shared_bytes: c_uint, stream: CUstream, parameters: *mut *mut c_void, extra: *mut *mut c_void
    );
    cuGraphCreate(graph: *mut CUgraph, flags: c_uint);
    cuGraphDestroy(graph: CUgraph);
    cuGraphAddKernelNode_v2(
        node: *mut CUgraphNode, graph: CUgraph, after: *const CUgraphNode, count: usize, launch: *const CUDA_KERNEL_NODE_PARAMS
    );
    cuGraphAddMemsetNode(
        node: *mut CUgraphNode, graph: CUgraph, after: *const CUgraphNode, count: usize, set: *const CUDA_MEMSET_NODE_PARAMS,
        context: CUcontext
    );
    cuGraphAddMemcpyNode(
        node: *mut CUgraphNode, graph: CUgraph, after: *const CUgraphNode, count: usize, copy: *const CUDA_MEMCPY3D,
        context: CUcontext
    );
    cuGraphAddChildGraphNode(
        node: *mut CUgraphNode, graph: CUgraph, after: *const CUgraphNode, count: usize, child: CUgraph
    );
    cuGraphConditionalHandleCreate(
        handle: *mut CUgraphConditionalHandle, graph: CUgraph, context: CUcontext, value: c_uint, flags: c_uint
    );
    cuGraphAddNode_v2(
        node: *mut CUgraphNode, graph: CUgraph, after: *const CUgraphNode, edges: *const CUgraphEdgeData, count: usize,
        what: *mut CUgraphNodeParams
    );
    cuGraphGetNodes(graph: CUgraph, nodes: *mut CUgraphNode, count: *mut usize);
    cuGraphNodeGetType(node: CUgraphNode, kind: *mut CUgraphNodeType);
    cuGraphInstantiateWithFlags(executable: *mut CUgraphExec, graph: CUgraph, flags: c_ulonglong);
    cuGraphExecDestroy(executable: CUgraphExec);
    cuGraphExecKernelNodeSetParams_v2(executable: CUgraphExec, node: CUgraphNode, launch: *const CUDA_KERNEL_NODE_PARAMS);
    cuGraphExecMemcpyNodeSetParams(
        executable: CUgraphExec, node: CUgraphNode, copy: *const CUDA_MEMCPY3D, context: CUcontext
    );
    cuGraphExecChildGraphNodeSetParams(executable: CUgraphExec, node: CUgraphNode, child: CUgraph);
    cuStreamBeginCapture_v2(stream: CUstream, mode: CUstreamCaptureMode);
    cuStreamEndCapture(stream: CUstream, graph: *mut CUgraph);
    cuGraphLaunch(executable: CUgraphExec, stream: CUstream);
}
