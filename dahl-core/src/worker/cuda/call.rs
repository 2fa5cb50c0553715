//! From a task to a library call: [`Libraries`], the handles of a device's worker, and the arguments of a call.

use std::ffi::c_void;
use std::panic::Location;
use std::ptr::NonNull;

use super::super::task_error::{TaskError, caught};
use super::Worker;
use super::operands::DeviceOperands;
use super::underway::Issued;
use crate::codelet::{Kernel, Operand};
use crate::cuda::{
    Allocation, Captured, Convolution, Cublas, CudaCall, CudaCallError, CudaLibrary, Cudnn, Gemm, Lender,
    Queue,
};
use crate::graph::Submitted;

/// The fraction of a device's limit that a library's workspace may take.
const PART_OF_LIMIT: usize = 16;
/// The least that cuBLAS needs.
const LEAST_BYTES: usize = 64 << 10;
/// The most that a convolution's algorithm may take in addition: a fixed number, so that the choice of an algorithm
/// does not depend on how much memory of a large device was free when the runtime was built.
const MOST_BYTES: usize = 1 << 30;

/// The library handles of a device's worker for one queue, each created when it is first needed.
#[derive(Debug)]
pub(super) struct Libraries {
    queue: Queue,
    cublas: Option<Cublas>,
    cudnn: Option<Cudnn>,
}

/// The state that a call borrows.
struct Loan<'w, 's, 'r> {
    worker: &'w Worker<'s>,
    libraries: &'w mut Libraries,
    task: &'r Submitted,
    /// The task's own memory.
    own: &'w mut Vec<Allocation>,
}

impl Worker<'_> {
    /// Runs a kernel that calls a library, which puts its work into the compute stream. If the library does not support
    /// the call, the stream is unchanged.
    pub(super) fn call(
        &mut self,
        kernel: &'static Kernel,
        operands: &mut DeviceOperands<'_>,
        task: &Submitted,
    ) -> Result<Issued, TaskError> {
        let entry = kernel.cuda_entry().expect("a kernel that calls");
        let mut libraries = self.libraries.take();
        // The handle is created before the time is taken.
        let ready = libraries.make(self, kernel, task);
        let begin = self.device.begin_event();
        let mut result = ready;
        let DeviceOperands { list, own, .. } = &mut *operands;
        let ran = match (&result, &begin) {
            (Ok(()), Ok(_)) => caught(|| {
                let mut loan = Loan { worker: self, libraries: &mut libraries, task, own };
                // SAFETY: O: the compute stream entered the operands when they were fetched, to write those that the task writes;
                // they are stamped with an event behind what this gives it before anybody else is let at them (D2).
                let mut call = unsafe { CudaCall::new(list, task.desc().arguments(), &mut loan) };
                result = entry(&mut call);
            }),
            _ => Ok(()),
        };
        self.libraries = libraries;
        ran?;
        result.map_err(|error| refusal(kernel, error))?;
        Ok(Issued { begin: self.expect(begin)?, verdict: None, kernel: kernel.name() })
    }

    /// What such a kernel does, to be a node of a graph: `list` are its operands, and `own` gets the memory that it takes, which
    /// the graph keeps.
    pub(super) fn capture(
        &mut self,
        kernel: &'static Kernel,
        list: &[Operand],
        own: &mut Vec<Allocation>,
        task: &Submitted,
    ) -> Result<Captured, TaskError> {
        let entry = kernel.cuda_entry().expect("a kernel that calls");
        let mut libraries = self.captured_libraries.take();
        let mut result = libraries.make(self, kernel, task);
        let mut captured = None;
        if result.is_ok() {
            let ran = self.device.capture(|| {
                caught(|| {
                    let mut loan = Loan { worker: self, libraries: &mut libraries, task, own };
                    // SAFETY: O: the compute stream has entered the operands each time that it gets the graph, of which this is a
                    // part, and they are stamped with an event behind it before anybody else is let at them (D2).
                    let mut call = unsafe { CudaCall::new(list, task.desc().arguments(), &mut loan) };
                    result = entry(&mut call);
                })
            });
            captured = Some(ran);
        }
        self.captured_libraries = libraries;
        result.map_err(|error| refusal(kernel, error))?;
        let (ran, captured) = self.expect(captured.expect("the call was captured"))?;
        ran?;
        Ok(captured)
    }
}

/// Why a kernel that calls a library did not run.
fn refusal(kernel: &Kernel, error: CudaCallError) -> TaskError {
    let said = |reason| format!("{}: {reason}", kernel.name());
    match error {
        CudaCallError::Unsupported(reason) => TaskError::Unable(said(reason)),
        error => TaskError::Failed(said(error.to_string())),
    }
}

impl Libraries {
    /// No handles yet.
    pub(super) fn new(queue: Queue) -> Self {
        Self { queue, cublas: None, cudnn: None }
    }

    /// Leaves none, while they are lent.
    fn take(&mut self) -> Self {
        let queue = self.queue;
        std::mem::replace(self, Self::new(queue))
    }

    /// Creates the handle that a kernel needs.
    fn make(&mut self, worker: &Worker<'_>, kernel: &Kernel, task: &Submitted) -> Result<(), CudaCallError> {
        match kernel.library() {
            Some(CudaLibrary::Cublas) => self.cublas(worker, task.desc().location()).map(drop),
            Some(CudaLibrary::Cudnn) => self.cudnn(worker).map(drop),
            _ => Ok(()), // a library of the kernel's own
        }
    }

    /// cuBLAS's handle.
    fn cublas(
        &mut self,
        worker: &Worker<'_>,
        location: &'static Location<'static>,
    ) -> Result<&mut Cublas, CudaCallError> {
        let queue = self.queue;
        made((queue, CudaLibrary::Cublas), &mut self.cublas, worker, || {
            let most = most_bytes(worker);
            let bytes = Cublas::advised_bytes(worker.device.capability()).min(most).max(LEAST_BYTES);
            let workspace = worker.allocate(bytes, "workspace of cuBLAS", location).map_err(no_room)?;
            Cublas::new(worker.device, workspace, bytes, worker.device.allows_tf32(), queue)
        })
    }

    /// cuDNN's handle.
    fn cudnn(&mut self, worker: &Worker<'_>) -> Result<&mut Cudnn, CudaCallError> {
        let most = most_bytes(worker).min(MOST_BYTES);
        let queue = self.queue;
        let make = || Cudnn::new(worker.device, most, worker.device.allows_tf32(), queue);
        made((queue, CudaLibrary::Cudnn), &mut self.cudnn, worker, make)
    }
}

/// The most bytes of a library's workspace.
fn most_bytes(worker: &Worker<'_>) -> usize {
    worker.memory.memory().limit_bytes().map_or(usize::MAX, |limit| limit / PART_OF_LIMIT)
}

/// The handle of a library for a queue; creates it if necessary. If that fails, the device does without the library from now on;
/// without a handle for graphs, the program does without a graph.
fn made<'h, H>(
    (queue, library): (Queue, CudaLibrary),
    handle: &'h mut Option<H>,
    worker: &Worker<'_>,
    make: impl FnOnce() -> Result<H, CudaCallError>,
) -> Result<&'h mut H, CudaCallError> {
    // A missing library is not a failure of the task.
    let unsupported = |reason: String| Err(CudaCallError::Unsupported(reason));
    match handle {
        Some(handle) => Ok(handle),
        None if !worker.device.has_library(library) => unsupported(format!("there is no {}", library.name())),
        None => match make() {
            Ok(made) => Ok(handle.insert(made)),
            Err(error) if queue == Queue::Capture => Err(CudaCallError::Failed(error.to_string())),
            Err(error) => {
                worker.device.leave_out(library);
                eprintln!("dahl: {}: {} is not used: {error}", worker.context.name(), library.name());
                unsupported(error.to_string())
            }
        },
    }
}

fn no_room(error: TaskError) -> CudaCallError {
    match error {
        TaskError::Failed(reason) | TaskError::Unable(reason) => CudaCallError::Failed(reason),
        TaskError::NoRoom(shortage) => CudaCallError::Unsupported(shortage.to_string()),
        TaskError::Cancelled(failure) => CudaCallError::Failed(failure.to_string()),
    }
}

impl Lender for Loan<'_, '_, '_> {
    fn stream(&self) -> NonNull<c_void> {
        self.worker.device.queue(self.libraries.queue)
    }

    fn workspace(&mut self, bytes: usize) -> Result<u64, CudaCallError> {
        let own = self.worker.allocate(bytes, "workspace", self.task.desc().location());
        let own = own.map_err(|error| match (self.libraries.queue, no_room(error)) {
            // Another kernel in the graph would have other bits than the same task by itself.
            (Queue::Capture, CudaCallError::Unsupported(reason)) => CudaCallError::Failed(reason),
            (_, error) => error,
        })?;
        let address = own.pointer().addr() as u64;
        self.own.push(own);
        Ok(address)
    }

    fn gemm(&mut self, gemm: &Gemm) -> Result<(), CudaCallError> {
        let cublas = self.libraries.cublas(self.worker, self.task.desc().location())?;
        // SAFETY: the matrices are views of the task's operands, which the compute stream entered when they were
        // fetched; they are stamped with a later event before any other use (D2).
        unsafe { cublas.gemm(gemm) }
    }

    fn convolve(&mut self, convolution: &Convolution) -> Result<(), CudaCallError> {
        let bytes = self.libraries.cudnn(self.worker)?.prepare(&convolution.shape)?;
        let workspace = if bytes > 0 { self.workspace(bytes)? } else { 0 };
        let cudnn = self.libraries.cudnn(self.worker)?;
        // SAFETY: as for `gemm`; the workspace is the task's own, and was entered.
        unsafe { cudnn.convolve(convolution, workspace) }
    }
}
