//! [`Cudnn`]: cuDNN on one device.

mod descriptor;
mod functions;
mod plan;

use std::collections::HashMap;
use std::ffi::c_void;
use std::fmt;
use std::ptr::{self, NonNull};
use std::sync::Arc;

use dahl_cuda::call::{Convolution, ConvolutionShape, CudaCallError, Precision};
pub(super) use functions::functions;

use self::descriptor::ordered;
use self::functions::Functions;
use self::plan::{ConvolutionPlan, Terms};
use crate::{CudaDevice, Queue};

/// cuDNN's handle on one device, whose work goes into a queue of it.
///
/// # Invariant
/// H: `handle` is one of `device`'s context until this is dropped.
pub struct Cudnn {
    functions: &'static Functions,
    handle: NonNull<c_void>,
    terms: Terms,
    /// How each shape that came is computed, or why it is not.
    plans: HashMap<ConvolutionShape, Result<ConvolutionPlan, CudaCallError>>,
    /// Where its work goes.
    queue: Queue,
    device: Arc<CudaDevice>,
}

impl fmt::Debug for Cudnn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cudnn").field("device", &self.device).finish_non_exhaustive()
    }
}

impl Cudnn {
    /// A handle on a device, for algorithms with workspaces of so many bytes at most.
    ///
    /// # Errors
    /// If the library is not there, or does not want this device.
    pub fn new(
        device: &Arc<CudaDevice>,
        most_bytes: usize,
        allows_tf32: bool,
        queue: Queue,
    ) -> Result<Self, CudaCallError> {
        let functions = functions().map_err(|reason| CudaCallError::Unsupported(reason.to_owned()))?;
        let terms = Terms { allows_tf32, most_bytes };
        device.in_context(queue, |stream| {
            let mut handle = ptr::null_mut();
            // SAFETY: N; room for a handle; the device's context is current.
            functions.check("cudnnCreate", unsafe { (functions.create)(&raw mut handle) })?;
            let Some(handle) = NonNull::new(handle) else {
                return Err(CudaCallError::Failed("cudnnCreate: no handle".to_owned()));
            };
            let this =
                Self { functions, handle, terms, plans: HashMap::new(), queue, device: Arc::clone(device) };
            // SAFETY: N, H; the stream is of the handle's context.
            let status = unsafe { (functions.set_stream)(handle.as_ptr(), stream.as_ptr()) };
            functions.check("cudnnSetStream", status)?;
            Ok(this)
        })
    }

    /// Decides how convolutions of this shape are computed, if it has not been; the bytes of the workspace that it takes.
    ///
    /// # Errors
    /// `Unsupported`, each time, if cuDNN does not have it.
    pub fn prepare(&mut self, shape: &ConvolutionShape) -> Result<usize, CudaCallError> {
        if let Some(plan) = self.plans.get(shape) {
            return plan.as_ref().map(|plan| plan.workspace_bytes).map_err(Clone::clone);
        }
        let plan = self.device.in_context(self.queue, |_| {
            // SAFETY: H; the context is current.
            unsafe { ConvolutionPlan::new(self.functions, self.handle.as_ptr(), shape, self.terms) }
        });
        let bytes = plan.as_ref().map(|plan| plan.workspace_bytes).map_err(Clone::clone);
        // What failed may do the next time.
        if !matches!(plan, Err(CudaCallError::Failed(_))) {
            self.plans.insert(*shape, plan);
        }
        bytes
    }

    /// Puts a convolution of a shape that has been [prepared](Self::prepare) into its queue.
    ///
    /// # Safety
    /// The arrays lie in memory that the compute stream has entered, as does `workspace`, of as many bytes as the shape takes; what
    /// follows on it waits for an event behind this.
    pub unsafe fn convolve(&self, convolution: &Convolution, workspace: u64) -> Result<(), CudaCallError> {
        let shape = &convolution.shape;
        let Some(Ok(plan)) = self.plans.get(shape) else {
            return Err(CudaCallError::Failed("a convolution of a shape that was not prepared".to_owned()));
        };
        // cuDNN reads them before it returns.
        let (wide, narrow) = ([1.0, convolution.beta], [1.0, convolution.beta as f32]);
        let [alpha, beta] = match shape.compute {
            Precision::F64 => wide.each_ref().map(|factor| ptr::from_ref(factor).cast::<c_void>()),
            _ => narrow.each_ref().map(|factor| ptr::from_ref(factor).cast::<c_void>()),
        };
        let place = |address: u64| ptr::without_provenance_mut::<c_void>(address as usize);
        let way = self.functions.way(shape.direction);
        let [first, second, written] = plan.descriptors.arrays(shape.direction);
        let [a, b, out] = ordered(shape.direction, convolution.addresses.map(place));
        self.device.in_context(self.queue, |_| {
            // SAFETY: N, H, E; the factors are of the compute type, on the host. The caller's: the arrays are there, and as large
            // as the descriptors say, since these were taken from views (`Convolution::new`).
            let status = unsafe {
                (way.convolve)(
                    self.handle.as_ptr(),
                    alpha,
                    first,
                    a,
                    second,
                    b,
                    plan.descriptors.convolution(),
                    plan.algorithm,
                    place(workspace),
                    plan.workspace_bytes,
                    beta,
                    written,
                    out,
                )
            };
            self.functions.check(way.convolve_name, status)
        })
    }
}

impl Drop for Cudnn {
    fn drop(&mut self) {
        let _ = self.device.in_context(self.queue, |_| {
            // SAFETY: N, H; the compute stream has ended when the worker's handles go.
            unsafe { (self.functions.destroy)(self.handle.as_ptr()) };
            Ok(())
        });
    }
}
