//! [`Allocation`]: device memory, and the events of the work that uses it.

use std::sync::Arc;

use cudarc::driver::sys::CUdeviceptr;

use super::calls;
use super::device::CudaDevice;
use super::error::{CudaError, check};
use super::event::Event;
use super::host_fetch::HostFetch;
use super::stream::{COMPUTE, DOWN, Stream, UP};

/// How much of a large array is copied at once: while one piece is on its way, the host copies the next.
const PIECE: usize = 4 << 20;

/// Memory of a device, from its pool.
///
/// # Invariant
/// A: `address` leads to `bytes` bytes of the device's memory, from when its stream has come to the allocation until it comes
/// to the free that `drop` puts there.
#[derive(Debug)]
pub struct Allocation<R> {
    address: CUdeviceptr,
    bytes: usize,
    device: Arc<CudaDevice>,
    /// The stream that worked on it last; at first the one in which it was allocated.
    last: usize,
    /// The work that wrote it last: nothing before the first one.
    written: Option<Event>,
    /// Works that have read it since, the last one of each stream.
    read: Vec<Event>,
    /// By what its owner counts the bytes, until the free is in the stream.
    _reservation: R,
}

/// From when to when elements were on their way.
#[derive(Clone, Debug)]
pub struct Moved {
    pub(super) begin: Event,
    pub(super) end: Event,
}

impl<R> Allocation<R> {
    /// Room for `bytes` bytes from the pool, in the order of stream `stream`.
    pub(super) fn new(
        device: &Arc<CudaDevice>,
        bytes: usize,
        reservation: R,
        stream: usize,
    ) -> Result<Self, CudaError> {
        let _entered = device.enter()?;
        let mut address = 0;
        let raw = device.stream(stream).raw_for_memory();
        // SAFETY: room for an address; the stream is the device's.
        check("cuMemAllocAsync", unsafe { calls::cuMemAllocAsync(&raw mut address, bytes, raw) })?;
        Ok(Self {
            address,
            bytes,
            device: Arc::clone(device),
            last: stream,
            written: None,
            read: Vec::new(),
            _reservation: reservation,
        })
    }

    /// What kernels are given: an address of the device, which the host never reads or writes (D1).
    pub fn pointer(&self) -> *mut u8 {
        std::ptr::without_provenance_mut(self.address as usize)
    }

    /// Lets the compute stream wait until it can read what is there, and write it if `writes`.
    pub fn enter_compute(&mut self, writes: bool) -> Result<(), CudaError> {
        let device = Arc::clone(&self.device);
        self.enter(device.stream(COMPUTE), writes)
    }

    /// Notes what the compute stream has been given to do with it, up to `event`.
    pub fn leave_compute(&mut self, event: &Event, wrote: bool) {
        self.leave(COMPUTE, event, wrote);
    }

    fn enter(&mut self, stream: &Stream, writes: bool) -> Result<(), CudaError> {
        let is_own = stream.is_of(self.device.index());
        match &self.written {
            Some(event) => stream.wait(event)?,
            // Nobody has used it: what there is to wait for is the allocation.
            None if is_own && stream.number() == self.last => {}
            None => {
                let allocated = self.device.stream(self.last).record_event()?;
                stream.wait(&allocated)?;
                self.written = Some(allocated);
            }
        }
        if writes {
            // A device that is lost reads no more.
            let is_own = |event: &Event| event.stream().0 == self.device.index();
            let mut reads = self.read.iter().filter(|event| is_own(event) || event.is_passed().is_ok());
            reads.try_for_each(|event| stream.wait(event))?;
        }
        Ok(())
    }

    /// Whether nothing is known to have gone wrong with the work that wrote it.
    pub fn check(&self) -> Result<(), CudaError> {
        let Some(event) = &self.written else { return Ok(()) };
        event.is_passed().map(drop)
    }

    fn leave(&mut self, stream: usize, event: &Event, wrote: bool) {
        self.last = stream;
        if wrote {
            self.read.clear();
            self.written = Some(event.clone());
        } else {
            self.note_read(event);
        }
    }

    fn note_read(&mut self, event: &Event) {
        self.read.retain(|read| read.stream() != event.stream());
        self.read.push(event.clone());
    }

    /// Copies `bytes` bytes from the host, in one piece unless `may_split`: `write` is given where among all bytes each piece
    /// begins, and room for it. Where they come from may change when this returns.
    pub fn upload(
        &mut self,
        bytes: usize,
        may_split: bool,
        mut write: impl FnMut(usize, &mut [u8]),
    ) -> Result<Moved, CudaError> {
        let device = Arc::clone(&self.device);
        let up = device.stream(UP);
        self.enter(up, true)?;
        let begin = up.record_event()?;
        let piece = if may_split { PIECE } else { bytes.max(1) };
        let mut starts = (0..bytes).step_by(piece);
        let sent =
            starts.try_for_each(|start| self.send(start, piece.min(bytes - start), |to| write(start, to)));
        // Whatever was sent of it: what comes after waits for that.
        let end = up.record_event()?;
        self.leave(UP, &end, true);
        sent.map(|()| Moved { begin, end })
    }

    /// Copies elements that another copy brings to the host, of this device or another one, from its staging buffers: the stream
    /// waits for each, and the caller for none.
    pub fn upload_fetched(&mut self, host_fetch: &Arc<HostFetch>) -> Result<Moved, CudaError> {
        let device = Arc::clone(&self.device);
        let up = device.stream(UP);
        self.enter(up, true)?;
        let begin = up.record_event()?;
        let sent = self.send_pieces(host_fetch);
        // Whatever was sent of it: what comes after waits for that.
        // Without an event nobody knows until when the buffers are read: then they stay.
        let end = up.record_event().inspect_err(|_| std::mem::forget(Arc::clone(host_fetch)))?;
        host_fetch.note_read(&end);
        self.leave(UP, &end, true);
        sent.map(|()| Moved { begin, end })
    }

    /// Sends what a copy to the host brings. The stream has entered.
    fn send_pieces(&self, host_fetch: &HostFetch) -> Result<(), CudaError> {
        let _entered = self.device.enter()?;
        let up = self.device.stream(UP);
        let mut to = self.address;
        for (buffer, bytes, event) in host_fetch.pieces() {
            up.wait(event)?;
            let raw = up.raw();
            // SAFETY: A, and the stream waits for what is done with the memory (D2) and for what writes the buffer, which is
            // not used again before the event that the caller notes has passed (D4).
            let code = unsafe { calls::cuMemcpyHtoDAsync_v2(to, buffer.pointer().cast(), bytes, raw) };
            check("cuMemcpyHtoDAsync", code)?;
            to += bytes as u64;
        }
        Ok(())
    }

    /// Writes `bytes` bytes that `fill` makes.
    pub fn fill(&mut self, bytes: usize, fill: impl FnOnce(&mut [u8])) -> Result<(), CudaError> {
        let device = Arc::clone(&self.device);
        let up = device.stream(UP);
        self.enter(up, true)?;
        if bytes > 0 {
            self.send(0, bytes, fill)?;
        }
        self.leave(UP, &up.record_event()?, true);
        Ok(())
    }

    /// Lets the compute stream write `word` again and again to `bytes` bytes.
    pub fn set(&mut self, bytes: usize, word: u32) -> Result<(), CudaError> {
        let device = Arc::clone(&self.device);
        let compute = device.stream(COMPUTE);
        self.check_room(bytes);
        self.enter(compute, true)?;
        if bytes > 0 {
            let _entered = device.enter()?;
            let raw = compute.raw();
            let code = match bytes % 4 {
                // SAFETY: A, within what is reserved, and the stream waits for what is done with the memory (D2).
                0 => unsafe { calls::cuMemsetD32Async(self.address, word, bytes / 4, raw) },
                // SAFETY: as above.
                2 => unsafe { calls::cuMemsetD16Async(self.address, word as u16, bytes / 2, raw) },
                // SAFETY: as above.
                _ => unsafe { calls::cuMemsetD8Async(self.address, word as u8, bytes, raw) },
            };
            check("cuMemsetAsync", code)?;
        }
        self.leave(COMPUTE, &compute.record_event()?, true);
        Ok(())
    }

    /// That there is room for so many bytes (A).
    fn check_room(&self, bytes: usize) {
        assert!(bytes <= self.bytes, "{bytes} bytes of {}", self.bytes);
    }

    /// Sends bytes that `fill` writes to a staging buffer. The stream has entered.
    fn send(&self, start: usize, bytes: usize, fill: impl FnOnce(&mut [u8])) -> Result<(), CudaError> {
        self.check_room(start + bytes);
        let mut buffer = self.device.staging().take(bytes)?;
        // SAFETY: it is at least as large, and nobody else has it yet.
        fill(unsafe { buffer.bytes_mut(bytes) });
        let _entered = self.device.enter()?;
        let (to, up) = (self.address + start as u64, self.device.stream(UP));
        let raw = up.raw();
        // SAFETY: A, and the stream waits for what is done with the memory (D2); the buffer is not used again before
        // the event below has passed.
        let code = unsafe { calls::cuMemcpyHtoDAsync_v2(to, buffer.pointer().cast(), bytes, raw) };
        check("cuMemcpyHtoDAsync", code)?;
        match up.record_event() {
            Ok(event) => self.device.staging().give_back(buffer, event),
            Err(error) => {
                std::mem::forget(buffer); // the copy may be under way
                return Err(error);
            }
        }
        Ok(())
    }

    /// Begins to copy `bytes` bytes to the host, in one piece unless `may_split`.
    pub fn download(&mut self, bytes: usize, may_split: bool) -> Result<(HostFetch, Moved), CudaError> {
        let device = Arc::clone(&self.device);
        let down = device.stream(DOWN);
        self.enter(down, false)?;
        let begin = down.record_event()?;
        let mut host_fetch = HostFetch::new(device.staging());
        let piece = if may_split { PIECE } else { bytes.max(1) };
        let mut starts = (0..bytes).step_by(piece);
        let fetched =
            starts.try_for_each(|start| self.fetch(start, piece.min(bytes - start), &mut host_fetch));
        // Whatever was fetched of it: what comes after waits for that.
        let end = match host_fetch.last_event().filter(|_| fetched.is_ok()) {
            Some(event) => event.clone(),
            None => down.record_event()?,
        };
        self.leave(DOWN, &end, false);
        fetched.map(|()| (host_fetch, Moved { begin, end }))
    }

    /// Begins to copy some bytes to a staging buffer. The stream has entered.
    fn fetch(&self, start: usize, bytes: usize, host_fetch: &mut HostFetch) -> Result<(), CudaError> {
        self.check_room(start + bytes);
        let buffer = self.device.staging().take(bytes)?;
        let _entered = self.device.enter()?;
        let (from, down) = (self.address + start as u64, self.device.stream(DOWN));
        let raw = down.raw();
        // SAFETY: A, and the stream waits for what wrote the memory (D2); the buffer is the fetch's.
        let code = unsafe { calls::cuMemcpyDtoHAsync_v2(buffer.pointer().cast(), from, bytes, raw) };
        check("cuMemcpyDtoHAsync", code)?;
        match down.record_event() {
            Ok(event) => host_fetch.push(buffer, bytes, event),
            Err(error) => {
                std::mem::forget(buffer); // the copy may be under way
                return Err(error);
            }
        }
        Ok(())
    }

    /// Copies `bytes` bytes from another allocation, of this device or another one.
    pub fn copy_from(&mut self, from: &mut Self, bytes: usize) -> Result<Moved, CudaError> {
        self.check_room(bytes);
        from.check_room(bytes);
        let device = Arc::clone(&self.device);
        let up = device.stream(UP);
        self.enter(up, true)?;
        from.enter(up, false)?;
        let begin = up.record_event()?;
        let _entered = device.enter()?;
        let raw = up.raw();
        // SAFETY: A of both, and the stream waits for what is done with either (D2).
        let code = unsafe {
            calls::cuMemcpyPeerAsync(
                self.address,
                device.context().raw(),
                from.address,
                from.device.context().raw(),
                bytes,
                raw,
            )
        };
        check("cuMemcpyPeerAsync", code)?;
        let end = up.record_event()?;
        self.leave(UP, &end, true);
        from.note_read(&end);
        Ok(Moved { begin, end })
    }
}

impl<R> Drop for Allocation<R> {
    fn drop(&mut self) {
        let Ok(_entered) = self.device.enter() else { return };
        let stream = self.device.stream(self.last);
        let ordered = self.written.iter().chain(&self.read).try_for_each(|event| stream.wait(event));
        // An error leaves the memory to the driver: the device is lost, and with it the memory.
        if ordered.is_ok() {
            // SAFETY: A; D3: the stream has been told to wait for everything that uses the memory. The context is current.
            let _ = unsafe { stream.free(self.address) };
        }
    }
}
