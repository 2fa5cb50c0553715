//! [`Stream`]: work of a device that is done in the order in which it was given.

use std::collections::HashMap;
use std::ptr;
use std::sync::{Arc, PoisonError};

use cudarc::driver::sys::{CUdeviceptr, CUstream, CUstream_flags};

use super::calls;
use super::collected::Collected;
use super::context::Context;
use super::error::{CudaError, check};
use super::launches::{Form, KernelParameters};
use super::mark::{Events, Mark};
use crate::cuda::GraphCounts;
use crate::sync::{Mutex, MutexGuard};

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
    events: Arc<Events>,
    order: Mutex<Order>,
}

#[derive(Debug, Default)]
struct Order {
    /// Marks recorded so far.
    recorded: u64,
    /// The last one, if it was given no work since but memory that is allocated or freed.
    last: Option<Mark>,
    /// For each stream that this one has waited for, the number of the last mark.
    seen: HashMap<(usize, usize), u64>,
    /// What it holds back: of the compute stream alone.
    collected: Collected,
}

impl std::fmt::Debug for Events {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Events").finish_non_exhaustive()
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
        events: &Arc<Events>,
    ) -> Result<Arc<Self>, CudaError> {
        let _entered = context.enter()?;
        let mut raw = ptr::null_mut();
        let flags = CUstream_flags::CU_STREAM_NON_BLOCKING as u32;
        // SAFETY: room for a stream; the context is current.
        check("cuStreamCreate", unsafe { calls::cuStreamCreate(&raw mut raw, flags) })?;
        let (context, events) = (Arc::clone(context), Arc::clone(events));
        Ok(Arc::new(Self { raw, id, context, events, order: Mutex::default() }))
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
        !self.order().collected.is_empty()
    }

    /// Gives the driver what is held back.
    pub(super) fn issue(&self) -> Result<(), CudaError> {
        let mut order = self.order();
        if order.collected.is_empty() {
            return order.collected.state();
        }
        match self.context.enter() {
            Ok(_entered) => self.issue_collected(&mut order),
            Err(error) => {
                order.collected.give_up(error.as_loss());
                order.collected.state()
            }
        }
    }

    /// As [`issue`](Self::issue). The context is current.
    fn issue_collected(&self, order: &mut Order) -> Result<(), CudaError> {
        if order.collected.is_empty() {
            return order.collected.state();
        }
        order.last = None;
        // SAFETY: S, and the context is current.
        let record = |mark: &Mark| unsafe { self.events.record(mark, self.raw) };
        // SAFETY:
        // - S, and the context is current.
        // - each launch was added by `launch`, whose caller vouched for it; whatever else the stream was given since was given after
        //   what was held back then, but for memory that was allocated, which nothing of it uses (`Allocation::new`).
        unsafe { order.collected.issue(self.raw, record) }
    }

    /// Gives it a launch, which it may hold back if `may_wait`: then nothing is wrong with it.
    ///
    /// # Safety
    /// The parameters are those of the function, and what they lead to may be used by what comes next in the stream, until a mark
    /// behind it has passed.
    pub(super) unsafe fn launch(
        &self,
        form: Form,
        parameters: KernelParameters<'_>,
        may_wait: bool,
    ) -> Result<(), CudaError> {
        let _entered = self.context.enter()?;
        let mut order = self.order();
        let waits = may_wait && order.collected.may_hold(&form);
        order.collected.state()?;
        if !waits || order.collected.ends_before(&form) {
            self.issue_collected(&mut order)?;
        }
        order.last = None;
        if waits {
            order.collected.push(form, parameters);
            return Ok(());
        }
        // SAFETY: S, and the context is current; the rest is the caller's.
        unsafe { order.collected.launch(form, parameters, self.raw) }
    }

    /// Frees memory behind everything that was given to it. The context is current.
    ///
    /// # Safety
    /// The memory is of the device's pool, everything else that uses it is waited for, and nobody uses it after this.
    pub(super) unsafe fn free(&self, address: CUdeviceptr, bytes: usize) -> Result<(), CudaError> {
        let mut order = self.order();
        if !order.collected.is_empty() && order.collected.free(address, bytes) {
            return Ok(());
        }
        self.issue_collected(&mut order)?;
        // SAFETY: the caller's.
        check("cuMemFreeAsync", unsafe { calls::cuMemFreeAsync(address, self.raw) })
    }

    /// What graphs have come to.
    pub(super) fn graph_counts(&self) -> GraphCounts {
        self.order().collected.graphs.counts()
    }

    /// Forgets all graphs.
    pub(super) fn forget_graphs(&self) {
        self.order().collected.graphs.clear();
    }

    /// Whether it is one of `device`.
    pub(super) fn is_of(&self, device: &super::CudaDevice) -> bool {
        self.id.0 == device.index()
    }

    /// Which of its device's streams.
    pub(super) fn number(&self) -> usize {
        self.id.1
    }

    /// A mark behind everything that was given to it so far. What is held back has one mark, which is recorded behind all of it
    /// when it is issued: at the latest when somebody else wants to wait for it.
    pub(super) fn mark(self: &Arc<Self>) -> Result<Mark, CudaError> {
        let mut order = self.order();
        let Order { recorded, collected, .. } = &mut *order;
        if !collected.is_empty() {
            return Ok(collected.mark(|| {
                *recorded += 1;
                Mark::new(&self.events, self.id, *recorded, Some(self))
            }));
        }
        collected.state()?;
        let _entered = self.context.enter()?;
        *recorded += 1;
        // Numbers grow under the lock, in the order in which marks are recorded.
        let mark = Mark::new(&self.events, self.id, *recorded, None);
        // Work that has no mark cannot be waited for by others: without one the device is not used any more.
        // SAFETY: S, and the context is current.
        unsafe { self.events.record(&mark, self.raw) }.map_err(CudaError::as_loss)?;
        order.last = Some(mark.clone());
        Ok(mark)
    }

    /// A mark from which on the time counts of what it is given next: while it is busy, where that ends.
    pub(super) fn begin_mark(self: &Arc<Self>) -> Result<Mark, CudaError> {
        let last = self.order().last.clone();
        match last {
            Some(last) if !last.is_passed()? => Ok(last),
            _ => self.mark(),
        }
    }

    /// Lets what is given to it from now on wait for a mark.
    pub(super) fn wait(&self, mark: &Mark) -> Result<(), CudaError> {
        if mark.stream() == self.id {
            return Ok(());
        }
        let has_seen =
            |order: &Order| order.seen.get(&mark.stream()).is_some_and(|seen| *seen >= mark.number());
        if has_seen(&self.order()) {
            return Ok(()); // it waits for a later mark of that stream
        }
        // Of the other stream, whose lock this may take: so not while this one's is held.
        let event = mark.event()?;
        let _entered = self.context.enter()?;
        let mut order = self.order();
        // What is held back need not wait for it.
        self.issue_collected(&mut order)?;
        order.last = None;
        // SAFETY: S; the event is there as long as the mark, and 0 is the flag of an ordinary wait.
        check("cuStreamWaitEvent", unsafe { calls::cuStreamWaitEvent(self.raw, event, 0) })?;
        let seen = order.seen.entry(mark.stream()).or_default();
        *seen = mark.number().max(*seen);
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
        // What is held back is given up by it, if it cannot be issued.
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
