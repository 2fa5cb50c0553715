//! [`Link`]: how long copies between the host and a device take, as measured when the device is opened.

use std::sync::Arc;
// A static's, whose order nobody relies on.
use std::sync::{Mutex, PoisonError};

use cudarc::driver::sys::{CUdeviceptr, CUstream};

use super::calls;
use super::error::{Code, CudaError, check};
use super::pinned::Staging;
use super::stream::Stream;

/// What a copy takes: `latency_us + bytes / gbytes_per_s`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Link {
    pub(super) latency_us: f64,
    pub(super) gbytes_per_s: f64,
}

/// Small and large copies, in bytes: the difference is what the bytes take.
const SMALL: usize = 4 << 10;
const LARGE: usize = 4 << 20;
const REPETITIONS: usize = 3;

/// One way of a copy: device address, host address, bytes, stream.
type Copy = unsafe fn(CUdeviceptr, *mut u8, usize, CUstream) -> Code;

impl Link {
    /// What copies of the device of this name take, measured once for the process.
    pub(super) fn of(name: &str, stream: &Arc<Stream>, staging: &Staging) -> Result<Self, CudaError> {
        static KNOWN: Mutex<Vec<(String, Link)>> = Mutex::new(Vec::new());
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, link)) = known.iter().find(|(of, _)| of == name) {
            return Ok(*link);
        }
        let link = Self::measure(stream, staging)?;
        known.push((name.to_owned(), link));
        Ok(link)
    }

    /// Measures copies both ways, by the slower of the two. The stream has nothing to do, and its context is current.
    fn measure(stream: &Arc<Stream>, staging: &Staging) -> Result<Self, CudaError> {
        let (mut address, raw) = (0, stream.raw());
        // SAFETY: room for an address; the stream is the caller's.
        let code = unsafe { calls::cuMemAllocAsync(&raw mut address, LARGE, raw) };
        check("cuMemAllocAsync", code)?;
        let buffer = staging.take(LARGE)?;
        let best_us = |copy: Copy, bytes: usize| -> Result<f64, CudaError> {
            let mut best_us = f64::INFINITY;
            for _ in 0..REPETITIONS {
                let begin = stream.record_event()?;
                // SAFETY: memory of the device and of the host of at least so many bytes, which nobody else has.
                let code = unsafe { copy(address, buffer.pointer(), bytes, raw) };
                check("cuMemcpyAsync", code)?;
                let end = stream.record_event()?;
                end.wait()?;
                best_us = best_us.min(end.ns_since(&begin).unwrap_or(0) as f64 / 1e3);
            }
            Ok(best_us)
        };
        let [small_us, large_us] =
            [SMALL, LARGE].map(|bytes| Ok(best_us(up, bytes)?.max(best_us(down, bytes)?)));
        if small_us.is_err() || large_us.is_err() {
            stream.drain(); // a copy that is under way uses the buffer
        }
        let (small_us, large_us): (f64, f64) = (small_us?, large_us?);
        staging.give_back_free(buffer);
        // SAFETY: allocated above, and nothing is left to be done with it.
        check("cuMemFreeAsync", unsafe { calls::cuMemFreeAsync(address, raw) })?;
        // Clocks that are too coarse for a difference leave a rate that is large, not one that does not exist.
        let bytes_us = (large_us - small_us).max(0.001);
        Ok(Self { latency_us: small_us.max(0.001), gbytes_per_s: (LARGE - SMALL) as f64 / bytes_us / 1e3 })
    }
}

/// # Safety
/// Both are memory of so many bytes, which nobody uses until the stream has come here.
unsafe fn up(to: CUdeviceptr, from: *mut u8, bytes: usize, stream: CUstream) -> Code {
    // SAFETY: the caller's.
    unsafe { calls::cuMemcpyHtoDAsync_v2(to, from.cast(), bytes, stream) }
}

/// # Safety
/// As [`up`].
unsafe fn down(from: CUdeviceptr, to: *mut u8, bytes: usize, stream: CUstream) -> Code {
    // SAFETY: the caller's.
    unsafe { calls::cuMemcpyDtoHAsync_v2(to.cast(), from, bytes, stream) }
}
