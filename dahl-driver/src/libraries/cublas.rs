//! [`Cublas`]: cuBLAS on one device.

use std::ffi::{c_int, c_void};
use std::fmt;
use std::ptr::{self, NonNull};
use std::sync::{Arc, OnceLock};

use dahl_cuda::call::{CudaCallError, Gemm, Precision};

use super::search;
use super::status::{Describe, Status, function, outcome};
use crate::{Allocation, CudaDevice, Queue};

type Handle = *mut c_void;

type Create = unsafe extern "C" fn(*mut Handle) -> Status;
type Destroy = unsafe extern "C" fn(Handle) -> Status;
type SetStream = unsafe extern "C" fn(Handle, *mut c_void) -> Status;
type SetWorkspace = unsafe extern "C" fn(Handle, *mut c_void, usize) -> Status;
type SetMode = unsafe extern "C" fn(Handle, c_int) -> Status;
/// Handle, operations, extents, alpha, two matrices, beta, the result; a matrix is its address, type and leading dimension;
/// then the compute type and the algorithm.
type GemmEx = unsafe extern "C" fn(
    Handle,
    c_int,
    c_int,
    i64,
    i64,
    i64,
    *const c_void,
    *const c_void,
    c_int,
    i64,
    *const c_void,
    c_int,
    i64,
    *const c_void,
    *mut c_void,
    c_int,
    i64,
    c_int,
    c_int,
) -> Status;

/// The same, with the distance of a matrix to the next one behind each matrix, and their number before the compute type.
type GemmStridedBatchedEx = unsafe extern "C" fn(
    Handle,
    c_int,
    c_int,
    i64,
    i64,
    i64,
    *const c_void,
    *const c_void,
    c_int,
    i64,
    i64,
    *const c_void,
    c_int,
    i64,
    i64,
    *const c_void,
    *mut c_void,
    c_int,
    i64,
    i64,
    i64,
    c_int,
    c_int,
) -> Status;

/// Statuses with which a call says that it does not have what was asked for: `CUBLAS_STATUS_ARCH_MISMATCH`, `.._NOT_SUPPORTED`.
const UNSUPPORTED: [Status; 2] = [8, 15];

/// `CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION`, with the default mode: sums stay in the compute type where a product is split.
const MATH_MODE: c_int = 16;
/// `CUBLAS_ATOMICS_NOT_ALLOWED`: the same bits each time.
const ATOMICS_MODE: c_int = 0;
/// `CUBLAS_GEMM_DEFAULT`: cuBLAS chooses, by shapes alone.
const ALGORITHM: c_int = -1;

/// The functions of the library.
///
/// # Invariant
/// B: they are those of a library that stays loaded, and of the types in `cublas_api.h`, which are those of version 12.0
/// and later.
pub(super) struct Functions {
    create: Create,
    destroy: Destroy,
    set_stream: SetStream,
    set_workspace: SetWorkspace,
    set_math_mode: SetMode,
    set_atomics_mode: SetMode,
    gemm: GemmEx,
    gemm_batched: GemmStridedBatchedEx,
    describe: Describe,
}

/// cuBLAS's handle on one device, whose work goes into a queue of it.
///
/// # Invariant
/// H: `handle` is one of `device`'s context until this is dropped.
pub struct Cublas<R> {
    functions: &'static Functions,
    handle: NonNull<c_void>,
    allows_tf32: bool,
    /// What its kernels need besides: its own, so that results do not depend on who else uses memory. In order of the stream,
    /// it is freed behind them.
    _workspace: Allocation<R>,
    /// Where its work goes.
    queue: Queue,
    device: Arc<CudaDevice>,
}

impl<R> fmt::Debug for Cublas<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cublas").field("device", &self.device).finish_non_exhaustive()
    }
}

/// The functions, loaded once for the process; or why there are none.
pub(super) fn functions() -> Result<&'static Functions, &'static str> {
    static FUNCTIONS: OnceLock<Result<Functions, String>> = OnceLock::new();
    FUNCTIONS.get_or_init(load).as_ref().map_err(String::as_str)
}

fn load() -> Result<Functions, String> {
    let library = search::load("cublas", &["13", "12"], "DAHL_CUBLAS")?;
    let functions = Functions {
        create: function(&library, b"cublasCreate_v2\0")?,
        destroy: function(&library, b"cublasDestroy_v2\0")?,
        set_stream: function(&library, b"cublasSetStream_v2\0")?,
        set_workspace: function(&library, b"cublasSetWorkspace_v2\0")?,
        set_math_mode: function(&library, b"cublasSetMathMode\0")?,
        set_atomics_mode: function(&library, b"cublasSetAtomicsMode\0")?,
        gemm: function(&library, b"cublasGemmEx_64\0")?,
        gemm_batched: function(&library, b"cublasGemmStridedBatchedEx_64\0")?,
        describe: function(&library, b"cublasGetStatusString\0")?,
    };
    std::mem::forget(library); // B
    Ok(functions)
}

impl Functions {
    fn check(&self, call: &str, status: Status) -> Result<(), CudaCallError> {
        outcome(call, status, self.describe, |status| UNSUPPORTED.contains(&status))
    }
}

impl<R> Cublas<R> {
    /// What cuBLAS advises for its workspace on a device of this compute capability, in bytes.
    pub fn advised_bytes(capability: u32) -> usize {
        if capability >= 90 { 32 << 20 } else { 4 << 20 }
    }

    /// A handle on a device; `workspace`, of `bytes` bytes, has been entered by the compute stream.
    ///
    /// # Errors
    /// If the library is not there, or does not want this device.
    pub fn new(
        device: &Arc<CudaDevice>,
        workspace: Allocation<R>,
        bytes: usize,
        allows_tf32: bool,
        queue: Queue,
    ) -> Result<Self, CudaCallError> {
        let functions = functions().map_err(|reason| CudaCallError::Unsupported(reason.to_owned()))?;
        device.in_context(queue, |stream| {
            let mut handle = ptr::null_mut();
            // SAFETY: B; room for a handle; the device's context is current.
            functions.check("cublasCreate", unsafe { (functions.create)(&raw mut handle) })?;
            let Some(handle) = NonNull::new(handle) else {
                return Err(CudaCallError::Failed("cublasCreate: no handle".to_owned()));
            };
            let device = Arc::clone(device);
            let address = workspace.pointer().cast();
            let this = Self { functions, handle, allows_tf32, _workspace: workspace, queue, device };
            let handle = handle.as_ptr();
            // SAFETY: B, H; the stream is of the handle's context.
            functions.check("cublasSetStream", unsafe { (functions.set_stream)(handle, stream.as_ptr()) })?;
            // SAFETY: B, H; the memory is the handle's as long as it is there. Behind the stream, which resets it.
            let status = unsafe { (functions.set_workspace)(handle, address, bytes) };
            functions.check("cublasSetWorkspace", status)?;
            // SAFETY: B, H.
            functions.check("cublasSetMathMode", unsafe { (functions.set_math_mode)(handle, MATH_MODE) })?;
            // SAFETY: B, H.
            let status = unsafe { (functions.set_atomics_mode)(handle, ATOMICS_MODE) };
            functions.check("cublasSetAtomicsMode", status)?;
            Ok(this)
        })
    }

    /// Puts a product, or a batch of them, into its queue.
    ///
    /// # Safety
    /// The matrices lie in memory that the compute stream has entered, and what follows on it waits for an event behind this.
    pub unsafe fn gemm(&self, gemm: &Gemm) -> Result<(), CudaCallError> {
        let Gemm { rows, cols, inner, a, b, c, .. } = *gemm;
        // cuBLAS reads them before it returns.
        let (wide, narrow) = ([gemm.alpha, gemm.beta], [gemm.alpha as f32, gemm.beta as f32]);
        let [alpha, beta] = match gemm.compute {
            Precision::F64 => wide.each_ref().map(|factor| ptr::from_ref(factor).cast::<c_void>()),
            _ => narrow.each_ref().map(|factor| ptr::from_ref(factor).cast::<c_void>()),
        };
        let place = |address: u64| ptr::without_provenance_mut::<c_void>(address as usize);
        let [op_a, op_b] = [a, b].map(|factor| c_int::from(factor.is_transposed));
        let [type_a, type_b, type_c] = [a, b, c].map(|factor| data_type(factor.element));
        self.device.in_context(self.queue, |_| {
            if let Some(batch) = gemm.batch {
                // SAFETY: B, H; the factors are of the compute type, on the host. The caller's: the matrices are there, as many
                // and as far apart as the batch says, since they were taken from views (`Gemm::of_batch`).
                let status = unsafe {
                    (self.functions.gemm_batched)(
                        self.handle.as_ptr(),
                        op_a,
                        op_b,
                        rows,
                        cols,
                        inner,
                        alpha,
                        place(a.address),
                        type_a,
                        a.leading,
                        batch.a,
                        place(b.address),
                        type_b,
                        b.leading,
                        batch.b,
                        beta,
                        place(c.address),
                        type_c,
                        c.leading,
                        batch.c,
                        batch.count,
                        self.compute_type(gemm),
                        ALGORITHM,
                    )
                };
                return self.functions.check("cublasGemmStridedBatchedEx", status);
            }
            // SAFETY: B, H; the factors are of the compute type, on the host. The caller's: the matrices are there, and as large as
            // their extents and leading dimensions say, since they were taken from views (`Gemm::new`).
            let status = unsafe {
                (self.functions.gemm)(
                    self.handle.as_ptr(),
                    op_a,
                    op_b,
                    rows,
                    cols,
                    inner,
                    alpha,
                    place(a.address),
                    type_a,
                    a.leading,
                    place(b.address),
                    type_b,
                    b.leading,
                    beta,
                    place(c.address),
                    type_c,
                    c.leading,
                    self.compute_type(gemm),
                    ALGORITHM,
                )
            };
            self.functions.check("cublasGemmEx", status)
        })
    }

    /// `cublasComputeType_t`: `CUBLAS_COMPUTE_64F`, `.._32F`, `.._32F_FAST_TF32`.
    fn compute_type(&self, gemm: &Gemm) -> c_int {
        match (gemm.compute, gemm.a.element) {
            (Precision::F64, _) => 70,
            (_, Precision::F32) if self.allows_tf32 => 77,
            _ => 68,
        }
    }
}

/// `cudaDataType_t`.
fn data_type(precision: Precision) -> c_int {
    match precision {
        Precision::F32 => 0,
        Precision::F64 => 1,
        Precision::F16 => 2,
        Precision::Bf16 => 14,
    }
}

impl<R> Drop for Cublas<R> {
    fn drop(&mut self) {
        let _ = self.device.in_context(self.queue, |_| {
            // SAFETY: B, H; it waits for the device.
            unsafe { (self.functions.destroy)(self.handle.as_ptr()) };
            Ok(())
        });
    }
}
