//! [`LaunchBatch`]: launches that a stream has accepted and not yet given to the driver, and the frees behind them
//! (`GRAPHS.md`).

use std::collections::{HashMap, HashSet};

use cudarc::driver::sys::{CUdeviceptr, CUstream};

use super::calls;
use super::error::CudaError;
use super::event::Event;
use super::graphs::Graphs;
use super::launches::{Form, KernelParameters, Launches};

/// The most launches in a batch.
const MOST: usize = 32;
/// From how many on it ends where a remembered run begins.
const ENOUGH: usize = MOST / 2;
/// The most bytes that are freed behind them.
const FREED_BYTES: usize = 16 << 20;
/// The most forms that are remembered.
const FORMS: usize = 4096;

/// The launches that a stream batches, to be issued as one graph.
#[derive(Debug, Default)]
pub(super) struct LaunchBatch {
    launches: Launches,
    /// An event behind them, if anybody has asked for one.
    event: Option<Event>,
    /// Memory that is freed behind them.
    freed: Vec<CUdeviceptr>,
    freed_bytes: usize,
    /// Why a batch is not in the stream, and nothing more can be.
    failed: Option<CudaError>,
    /// The forms that the driver has taken singly, so that it will take them again.
    taken: HashSet<Form>,
    /// The dynamic shared memory that was asked for, by the address of the function.
    shared_bytes: HashMap<usize, u32>,
    pub(super) graphs: Graphs,
}

impl LaunchBatch {
    /// Whether the batch is empty.
    pub(super) fn is_empty(&self) -> bool {
        self.launches.forms().is_empty()
    }

    /// Whether a launch of this form may be batched: the driver will take it.
    pub(super) fn may_hold(&self, form: &Form) -> bool {
        self.taken.contains(form)
    }

    /// Whether the batch must be issued before this is added: it is full, or another run begins here.
    pub(super) fn ends_before(&self, form: &Form) -> bool {
        let len = self.launches.forms().len();
        len >= MOST || (len >= ENOUGH && self.graphs.begins(form))
    }

    pub(super) fn push(&mut self, form: Form, parameters: KernelParameters<'_>) {
        self.launches.push(form, parameters);
    }

    /// The event behind the batch, made by `make` if there is none. The batch is not empty.
    pub(super) fn event(&mut self, make: impl FnOnce() -> Event) -> Event {
        self.event.get_or_insert_with(make).clone()
    }

    /// Frees memory behind the batch. False if that is better issued first.
    pub(super) fn free(&mut self, address: CUdeviceptr, bytes: usize) -> bool {
        let has_room = self.freed_bytes + bytes <= FREED_BYTES;
        if has_room {
            self.freed.push(address);
            self.freed_bytes += bytes;
        }
        has_room
    }

    /// Gives one launch to the stream.
    ///
    /// # Safety
    /// As for [`Form::launch`].
    pub(super) unsafe fn launch(
        &mut self,
        form: Form,
        parameters: KernelParameters<'_>,
        raw: CUstream,
    ) -> Result<(), CudaError> {
        if let Some((function, bytes)) = form.shared_to_ask_for() {
            let asked = self.shared_bytes.entry(function).or_default();
            // Never less than a launch that the driver has taken needs.
            if *asked < bytes {
                form.ask_for_shared()?;
                *asked = bytes;
            }
        }
        // SAFETY: the caller's.
        unsafe { form.launch(raw, parameters) }?;
        if self.taken.len() >= FORMS {
            self.taken.clear();
        }
        self.taken.insert(form);
        Ok(())
    }

    /// Issues the batch to the stream, and the events and frees behind it. It is not empty before, and empty after.
    ///
    /// # Errors
    /// All of them are a loss of the device, since nobody is left to be told that one launch failed.
    ///
    /// # Safety
    /// `raw` is the stream, whose context is current; each launch was added when what its parameters lead to could be used by
    /// what came next in the stream, and nothing that came in between changed that.
    pub(super) unsafe fn issue(
        &mut self,
        raw: CUstream,
        record: impl Fn(&Event) -> Result<(), CudaError>,
    ) -> Result<(), CudaError> {
        let event = self.event.take();
        if let Some(begin) = event.as_ref().map(Event::begin)
            && let Err(error) = record(&begin)
        {
            // How long it ran will not be known, and no more.
            begin.give_up(error);
        }
        // SAFETY: the caller's.
        let issued = unsafe { self.issue_launches(raw) };
        let issued = issued.and_then(|()| event.as_ref().map_or(Ok(()), record)).map_err(CudaError::as_loss);
        if let Err(error) = issued {
            self.event = event;
            self.give_up(error);
            return Err(error);
        }
        self.launches.clear();
        self.freed_bytes = 0;
        for address in self.freed.drain(..) {
            // SAFETY: the allocation has been given up, and everything that uses it is in the stream or before (D3).
            unsafe { calls::cuMemFreeAsync(address, raw) };
        }
        Ok(())
    }

    /// # Safety
    /// As for [`issue`](Self::issue).
    unsafe fn issue_launches(&mut self, raw: CUstream) -> Result<(), CudaError> {
        let launches = std::mem::take(&mut self.launches);
        // SAFETY: the caller's.
        let is_graph = launches.forms().len() > 1 && unsafe { self.graphs.launch(&launches, raw) }?;
        if !is_graph {
            for (index, form) in launches.forms().iter().enumerate() {
                // SAFETY: the caller's.
                unsafe { self.launch(*form, launches.parameters(index), raw) }?;
            }
        }
        // Its memory is used again.
        self.launches = launches;
        Ok(())
    }

    /// Whether all batches so far are in the stream.
    pub(super) fn state(&self) -> Result<(), CudaError> {
        self.failed.map_or(Ok(()), Err)
    }

    /// Gives the batch up: the device is lost. The memory that was to be freed is left to the driver.
    pub(super) fn give_up(&mut self, error: CudaError) {
        self.failed = Some(error);
        self.launches.clear();
        self.freed.clear();
        self.freed_bytes = 0;
        if let Some(event) = self.event.take() {
            event.give_up(error);
        }
    }
}
