//! [`Clock`]: how long a call takes, and a copy beside it.

use std::cell::RefCell;
use std::hint::black_box;
use std::thread;
use std::time::Instant;

use dahl::Result;
use dahl::prelude::*;

use crate::request::Request;

/// Bytes of the array that is copied: more than caches have.
const COPIED: usize = 64 << 20;

/// Calls before any is measured, the first time on several workers or on a device: after so many the runtime has chosen among kernels.
const FIRST_CALLS: usize = 14;

/// What was measured.
pub(crate) struct Measured {
    /// Of the median call.
    pub(crate) seconds: f64,
    /// The bandwidth of the median copy between such calls, if it was asked for: bytes read and bytes written.
    pub(crate) copy_gb_per_s: Option<f64>,
}

/// Measures the calls of one request.
pub(crate) struct Clock<'a> {
    pub(crate) rt: &'a Runtime,
    workers: usize,
    seconds: f64,
    is_first: bool,
    is_on_device: bool,
}

impl<'a> Clock<'a> {
    pub(crate) fn new(rt: &'a Runtime, request: &Request, is_first: bool, is_on_device: bool) -> Self {
        Self { rt, workers: request.workers, seconds: request.seconds, is_first, is_on_device }
    }

    /// An array of numbers from -2 to 2.
    pub(crate) fn numbers<T: Real, const N: usize>(&self, shape: [usize; N]) -> Result<Array<'static, T, N>> {
        let len = shape.iter().product();
        self.rt
            .from_vec(shape, (0..len).map(|i| T::from_f64((i * 7919 % 4001) as f64 / 1000.3 - 2.0)).collect())
    }

    /// An array of numbers below `limit`, which look random.
    pub(crate) fn indices(&self, len: usize, limit: usize) -> Result<Array<'static, u32, 1>> {
        let mut random = fastrand::Rng::with_seed(42);
        self.rt.from_vec([len], (0..len).map(|_| random.u32(..limit as u32)).collect())
    }

    /// The median of three calls at least.
    pub(crate) fn calls(&self, call: impl FnMut() -> Result<()>) -> Result<Measured> {
        Ok(Measured { seconds: self.in_turn(call, || {})?[0], copy_gb_per_s: None })
    }

    /// The median of three calls at least, in turn with copies on as many threads as there are workers; on a device without.
    pub(crate) fn calls_and_copies(&self, call: impl FnMut() -> Result<()>) -> Result<Measured> {
        if self.is_on_device {
            return self.calls(call);
        }
        thread_local! {
            static COPY: RefCell<[Vec<u8>; 2]> = RefCell::new([vec![1; COPIED], vec![2; COPIED]]);
        }
        COPY.with_borrow_mut(|[from, to]| {
            let [seconds, of_copy] = self.in_turn(call, || copy(from, to, self.workers))?;
            Ok(Measured { seconds, copy_gb_per_s: Some(2.0 * COPIED as f64 / of_copy / 1e9) })
        })
    }

    /// The seconds of the median call, and of the median call of the other function.
    fn in_turn(&self, mut call: impl FnMut() -> Result<()>, mut other: impl FnMut()) -> Result<[f64; 2]> {
        for _ in 0..if self.is_first && (self.workers > 1 || self.is_on_device) { FIRST_CALLS } else { 1 } {
            call()?;
            self.rt.wait()?;
        }
        let (mut of_call, mut of_other) = (Vec::new(), Vec::new());
        let began = Instant::now();
        while of_call.len() < 3 || began.elapsed().as_secs_f64() < self.seconds {
            let start = Instant::now();
            call()?;
            self.rt.wait()?;
            let ended = Instant::now();
            other();
            of_call.push((ended - start).as_secs_f64());
            of_other.push(ended.elapsed().as_secs_f64());
        }
        Ok([of_call, of_other].map(median))
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn copy(from: &[u8], to: &mut [u8], threads: usize) {
    let part = from.len().div_ceil(threads);
    let mut parts = from.chunks(part).zip(to.chunks_mut(part));
    let (first, first_to) = parts.next().expect("an array that is copied has a part");
    thread::scope(|scope| {
        for (from, to) in parts {
            scope.spawn(move || black_box(to).copy_from_slice(black_box(from)));
        }
        black_box(first_to).copy_from_slice(black_box(first));
    });
}
