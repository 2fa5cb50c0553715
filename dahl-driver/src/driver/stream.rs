//! [`Stream`]: a queue of device work that runs in the order of submission.

use std::collections::HashMap;
use std::ptr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cudarc::driver::sys::{CUdeviceptr, CUstream, CUstream_flags};

use super::calls;
use super::context::Context;
use super::error::{CudaError, check};
use super::event::{Event, EventPool};
use super::graph_counts::GraphCounts;
use super::launch_batch::LaunchBatch;
use super::launches::{Form, KernelParameters};

/// Which of a device's streams.
pub(super) const COMPUTE: usize = 0;
/// Copies from the host, and from other devices.
pub(super) const UP: usize = 1;
/// Copies to the host.
pub(super) const DOWN: usize = 2;
pub(super) const STREAMS: usize = 3;

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
    /// The launches that it batches: of the compute stream alone.
    batch: LaunchBatch,
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

    /// The driver's stream, which has been given everything that this one has. The context is current.
    pub(super) fn raw(&self) -> Result<CUstream, CudaError> {
        self.issue()?;
        self.order().last = None;
        Ok(self.raw)
    }

    /// The driver's stream, which may have to be given something still that was given to this one before.
    pub(super) fn raw_ahead(&self) -> CUstream {
        self.raw
    }

    /// Whether there is something that the driver has not been given.
    pub(super) fn is_holding_back(&self) -> bool {
        !self.order().batch.is_empty()
    }

    /// Gives the driver the batch.
    pub(super) fn issue(&self) -> Result<(), CudaError> {
        let mut order = self.order();
        if order.batch.is_empty() {
            return order.batch.state();
        }
        match self.context.enter() {
            Ok(_entered) => self.issue_batch(&mut order),
            Err(error) => {
                order.batch.give_up(error.as_loss());
                order.batch.state()
            }
        }
    }

    /// As [`issue`](Self::issue). The context is current.
    fn issue_batch(&self, order: &mut Order) -> Result<(), CudaError> {
        if order.batch.is_empty() {
            return order.batch.state();
        }
        order.last = None;
        // SAFETY: S, and the context is current.
        let record = |event: &Event| unsafe { self.event_pool.record(event, self.raw) };
        // SAFETY:
        // - S, and the context is current.
        // - each launch was added by `launch`, whose caller vouched for it; whatever else the stream was given since was given after
        //   the batch of then, but for memory that was allocated, which nothing of it uses (`Allocation::new`).
        unsafe { order.batch.issue(self.raw, record) }
    }

    /// Gives it a launch, which it may batch if `may_wait`: then nothing is wrong with it.
    ///
    /// # Safety
    /// The parameters are those of the function, and what they lead to may be used by what comes next in the stream, until an event
    /// behind it has passed.
    pub(super) unsafe fn launch(
        &self,
        form: Form,
        parameters: KernelParameters<'_>,
        may_wait: bool,
    ) -> Result<(), CudaError> {
        let _entered = self.context.enter()?;
        let mut order = self.order();
        let waits = may_wait && order.batch.may_hold(&form);
        order.batch.state()?;
        if !waits || order.batch.ends_before(&form) {
            self.issue_batch(&mut order)?;
        }
        order.last = None;
        if waits {
            order.batch.push(form, parameters);
            return Ok(());
        }
        // SAFETY: S, and the context is current; the rest is the caller's.
        unsafe { order.batch.launch(form, parameters, self.raw) }
    }

    /// Frees memory behind everything that was given to it. The context is current.
    ///
    /// # Safety
    /// The memory is of the device's pool, everything else that uses it is waited for, and nobody uses it after this.
    pub(super) unsafe fn free(&self, address: CUdeviceptr, bytes: usize) -> Result<(), CudaError> {
        let mut order = self.order();
        if !order.batch.is_empty() && order.batch.free(address, bytes) {
            return Ok(());
        }
        self.issue_batch(&mut order)?;
        // SAFETY: the caller's.
        check("cuMemFreeAsync", unsafe { calls::cuMemFreeAsync(address, self.raw) })
    }

    /// What graphs have come to.
    pub(super) fn graph_counts(&self) -> GraphCounts {
        self.order().batch.graphs.counts()
    }

    /// Forgets all graphs.
    pub(super) fn forget_graphs(&self) {
        self.order().batch.graphs.clear();
    }

    /// Whether it is one of the device of this number.
    pub(super) fn is_of(&self, device: usize) -> bool {
        self.id.0 == device
    }

    /// Which of its device's streams.
    pub(super) fn number(&self) -> usize {
        self.id.1
    }

    /// An event behind everything that was given to it so far. A batch has one event, which is recorded behind all of it
    /// when it is issued: at the latest when somebody else wants to wait for it.
    pub(super) fn record_event(self: &Arc<Self>) -> Result<Event, CudaError> {
        let mut order = self.order();
        let Order { recorded, batch, .. } = &mut *order;
        if !batch.is_empty() {
            return Ok(batch.event(|| {
                *recorded += 1;
                Event::new(&self.event_pool, self.id, *recorded, Some(self))
            }));
        }
        batch.state()?;
        let _entered = self.context.enter()?;
        *recorded += 1;
        // Numbers grow under the lock, in the order in which events are recorded.
        let event = Event::new(&self.event_pool, self.id, *recorded, None);
        // Work that has no event cannot be waited for by others: without one the device is not used any more.
        // SAFETY: S, and the context is current.
        unsafe { self.event_pool.record(&event, self.raw) }.map_err(CudaError::as_loss)?;
        order.last = Some(event.clone());
        Ok(event)
    }

    /// An event from which on the time counts of what it is given next: while it is busy, where that ends.
    pub(super) fn begin_event(self: &Arc<Self>) -> Result<Event, CudaError> {
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
        // Of the other stream, whose lock this may take: so not while this one's is held.
        let raw_event = event.raw()?;
        let _entered = self.context.enter()?;
        let mut order = self.order();
        // The batch need not wait for it.
        self.issue_batch(&mut order)?;
        order.last = None;
        // SAFETY: S; the driver's event lives as long as `event`, and 0 is the flag of an ordinary wait.
        check("cuStreamWaitEvent", unsafe { calls::cuStreamWaitEvent(self.raw, raw_event, 0) })?;
        let seen = order.seen.entry(event.stream()).or_default();
        *seen = event.number().max(*seen);
        Ok(())
    }

    /// Waits until everything that was given to it has been done.
    pub(super) fn synchronize(&self) -> Result<(), CudaError> {
        let _entered = self.context.enter()?;
        let raw = self.raw()?;
        // SAFETY: S.
        check("cuStreamSynchronize", unsafe { calls::cuStreamSynchronize(raw) })
    }

    /// The same of what the driver was given, whatever went wrong with it: nothing of it goes on after this.
    pub(super) fn drain(&self) {
        // It gives the batch up, if that cannot be issued.
        let _ = self.issue();
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
