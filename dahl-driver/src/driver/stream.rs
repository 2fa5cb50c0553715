//! [`Stream`]: a queue of device work that runs in the order of submission.

use std::collections::HashMap;
use std::ptr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cudarc::driver::sys::{CUdeviceptr, CUgraph, CUgraphExec, CUstream, CUstream_flags, CUstreamCaptureMode};

use super::calls;
use super::context::Context;
use super::error::{CudaError, check};
use super::event::{Event, EventPool};
use super::launches::{Form, KernelParameters};

/// Which of a device's streams.
pub(super) const COMPUTE: usize = 0;
/// Copies from the host, and from other devices.
pub(super) const UP: usize = 1;
/// Copies to the host.
pub(super) const DOWN: usize = 2;
/// Receives no work: what libraries give to it is captured, to be a part of a graph.
pub(super) const CAPTURE: usize = 3;
pub(super) const STREAMS: usize = 4;

/// A stream of a device.
///
/// # Invariant
/// S: `raw` is a stream of `context` until this is dropped.
#[derive(Debug)]
pub(super) struct Stream {
    raw: CUstream,
    /// The device, and which of its streams.
    id: (usize, usize),
    context: Arc<Context>,
    event_pool: Arc<EventPool>,
    order: Mutex<Order>,
}

#[derive(Debug, Default)]
struct Order {
    /// Marks recorded so far.
    recorded: u64,
    /// The last one, if it was given no work since but memory that is allocated or freed.
    last: Option<Event>,
    /// For each stream that this one has waited for, the number of the last event.
    seen: HashMap<(usize, usize), u64>,
}

impl std::fmt::Debug for EventPool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EventPool").finish_non_exhaustive()
    }
}

// SAFETY: streams of the driver may be used by any thread.
unsafe impl Send for Stream {}
// SAFETY: as for `Send`.
unsafe impl Sync for Stream {}

impl Stream {
    pub(super) fn new(
        id: (usize, usize),
        context: &Arc<Context>,
        event_pool: &Arc<EventPool>,
    ) -> Result<Arc<Self>, CudaError> {
        let _entered = context.enter()?;
        let mut raw = ptr::null_mut();
        let flags = CUstream_flags::CU_STREAM_NON_BLOCKING as u32;
        // SAFETY: room for a stream; the context is current.
        check("cuStreamCreate", unsafe { calls::cuStreamCreate(&raw mut raw, flags) })?;
        let (context, event_pool) = (Arc::clone(context), Arc::clone(event_pool));
        Ok(Arc::new(Self { raw, id, context, event_pool, order: Mutex::default() }))
    }

    fn order(&self) -> MutexGuard<'_, Order> {
        self.order.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The driver's stream, to give it work. The context is current.
    pub(super) fn raw(&self) -> CUstream {
        self.order().last = None;
        self.raw
    }

    /// The driver's stream, to allocate memory, which is no work.
    pub(super) fn raw_for_memory(&self) -> CUstream {
        self.raw
    }

    /// Gives it a launch.
    ///
    /// # Safety
    /// The parameters are those of the function, and what they lead to may be used by what comes next in the stream, until an event
    /// behind it has passed.
    pub(super) unsafe fn launch(
        &self,
        form: Form,
        parameters: KernelParameters<'_>,
    ) -> Result<(), CudaError> {
        let _entered = self.context.enter()?;
        self.order().last = None;
        // SAFETY: S, and the context is current; the rest is the caller's.
        unsafe { form.launch(self.raw, parameters) }
    }

    /// Gives it a graph.
    ///
    /// # Safety
    /// The graph is the driver's, of this device, and what its nodes use may be used by what comes next in the stream.
    pub(super) unsafe fn launch_graph(&self, executable: CUgraphExec) -> Result<(), CudaError> {
        let _entered = self.context.enter()?;
        self.order().last = None;
        // SAFETY: S, and the context is current; the rest is the caller's.
        check("cuGraphLaunch", unsafe { calls::cuGraphLaunch(executable, self.raw) })
    }

    /// Begins to capture what is given to it. For the [`CAPTURE`] stream, which one thread uses.
    pub(super) fn begin_capture(&self) -> Result<(), CudaError> {
        let _entered = self.context.enter()?;
        // Other streams of the device go on meanwhile, and so does this thread's work in them.
        let mode = CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED;
        // SAFETY: S, and the context is current.
        check("cuStreamBeginCapture", unsafe { calls::cuStreamBeginCapture_v2(self.raw, mode) })
    }

    /// Ends the capture: the graph, which is the caller's to destroy.
    pub(super) fn end_capture(&self) -> Result<CUgraph, CudaError> {
        let _entered = self.context.enter()?;
        let mut graph = ptr::null_mut();
        // SAFETY: S; room for a graph; the context is current.
        check("cuStreamEndCapture", unsafe { calls::cuStreamEndCapture(self.raw, &raw mut graph) })?;
        Ok(graph)
    }

    /// Frees memory behind everything that was given to it. The context is current.
    ///
    /// # Safety
    /// The memory is of the device's pool, everything else that uses it is waited for, and nobody uses it after this.
    pub(super) unsafe fn free(&self, address: CUdeviceptr) -> Result<(), CudaError> {
        // SAFETY: the caller's.
        check("cuMemFreeAsync", unsafe { calls::cuMemFreeAsync(address, self.raw) })
    }

    /// Whether it is one of the device of this number.
    pub(super) fn is_of(&self, device: usize) -> bool {
        self.id.0 == device
    }

    /// Which of its device's streams.
    pub(super) fn number(&self) -> usize {
        self.id.1
    }

    /// An event behind everything that was given to it so far.
    pub(super) fn record_event(&self) -> Result<Event, CudaError> {
        let _entered = self.context.enter()?;
        let mut order = self.order();
        order.recorded += 1;
        // Numbers grow under the lock, in the order in which events are recorded.
        // SAFETY: S, and the context is current.
        let recorded = unsafe { Event::record(&self.event_pool, self.raw, self.id, order.recorded) };
        // Work that has no event cannot be waited for by others: without one the device is not used any more.
        let event = recorded.map_err(CudaError::as_loss)?;
        order.last = Some(event.clone());
        Ok(event)
    }

    /// An event from which on the time counts of what it is given next: while it is busy, where that ends.
    pub(super) fn begin_event(&self) -> Result<Event, CudaError> {
        let last = self.order().last.clone();
        match last {
            Some(last) if !last.is_passed()? => Ok(last),
            _ => self.record_event(),
        }
    }

    /// Lets what is given to it from now on wait for an event.
    pub(super) fn wait(&self, event: &Event) -> Result<(), CudaError> {
        if event.stream() == self.id {
            return Ok(());
        }
        let has_seen =
            |order: &Order| order.seen.get(&event.stream()).is_some_and(|seen| *seen >= event.number());
        if has_seen(&self.order()) {
            return Ok(()); // it waits for a later event of that stream
        }
        let _entered = self.context.enter()?;
        let mut order = self.order();
        order.last = None;
        // SAFETY: S; the driver's event lives as long as `event`, and 0 is the flag of an ordinary wait.
        check("cuStreamWaitEvent", unsafe { calls::cuStreamWaitEvent(self.raw, event.raw(), 0) })?;
        let seen = order.seen.entry(event.stream()).or_default();
        *seen = event.number().max(*seen);
        Ok(())
    }

    /// Waits until everything that was given to it has been done.
    pub(super) fn synchronize(&self) -> Result<(), CudaError> {
        let _entered = self.context.enter()?;
        // SAFETY: S.
        check("cuStreamSynchronize", unsafe { calls::cuStreamSynchronize(self.raw) })
    }

    /// The same of what the driver was given, whatever went wrong with it: nothing of it goes on after this.
    pub(super) fn drain(&self) {
        if let Ok(_entered) = self.context.enter() {
            // SAFETY: S. An error says that the device is lost, and does nothing any more.
            unsafe { calls::cuStreamSynchronize(self.raw) };
        }
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        // SAFETY: S; nobody uses it after this.
        unsafe { calls::cuStreamDestroy_v2(self.raw) };
    }
}
