//! [`past_caches`]: an output whose parts are narrowed one by one, past the caches if it is larger than they are.
//!
//! For loops over rows that need a row in scratch memory anyway; [`map`](super::map) is for single elements.

use std::marker::PhantomData;

use super::conversion::narrow_block;
use super::level::{At, Loop, dispatch_loop};
use super::map::{BLOCK_BYTES, Buffer, Fence, STREAM_BYTES};
use super::stream::{self, LINE_BYTES};
use crate::element::Real;

/// An output that is written from its first element on, by [`narrow`](Self::narrow).
pub struct PastCaches<'a, T> {
    /// What is not yet written.
    rest: &'a mut [T],
    streams: bool,
    /// It stays on its thread: a fence orders the stores of one thread alone.
    on_one_thread: PhantomData<*const ()>,
}

/// Calls `f` with an output. Its parts are written past the caches if the whole array, of which it may be a part, has so many
/// bytes that no reader would find them in the caches. They are in memory when this function returns.
pub fn past_caches<T: Real, R>(
    output: &mut [T],
    whole_bytes: usize,
    f: impl FnOnce(&mut PastCaches<'_, T>) -> R,
) -> R {
    let streams = whole_bytes >= STREAM_BYTES && LINE_BYTES.is_multiple_of(size_of::<T>());
    let _fence = streams.then_some(Fence);
    f(&mut PastCaches { rest: output, streams, on_one_thread: PhantomData })
}

impl<T: Real> PastCaches<'_, T> {
    /// Writes the next elements: `narrow(from[i])`.
    ///
    /// # Panics
    /// If the output ends before.
    #[inline]
    pub fn narrow(&mut self, from: &[T::Compute]) {
        // Each element is lent once, so that no store meets another before the fence.
        let (to, rest) = std::mem::take(&mut self.rest).split_at_mut(from.len());
        self.rest = rest;
        dispatch_loop(Narrow { from, to, streams: self.streams });
    }
}

struct Narrow<'a, T: Real> {
    from: &'a [T::Compute],
    to: &'a mut [T],
    streams: bool,
}

impl<T: Real> Loop for Narrow<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<const LEVEL: u8>(self, at: At<LEVEL>) {
        let Self { from, to, streams } = self;
        // Elements before the first whole line are stored as usual; all, if none begins a line.
        let first = if streams && At::<LEVEL>::HAS_V3 {
            to.as_ptr().align_offset(LINE_BYTES).min(to.len())
        } else {
            to.len()
        };
        let ((before, from), (to_before, to)) = (from.split_at(first), to.split_at_mut(first));
        narrow_block(at, before, to_before);
        if to.is_empty() {
            return; // also elements whose size divides no line
        }
        let mut buffer = Buffer([0; BLOCK_BYTES]);
        let buffer: &mut [T] = bytemuck::cast_slice_mut(&mut buffer.0);
        for (from, to) in from.chunks(buffer.len()).zip(to.chunks_mut(buffer.len())) {
            let buffer = &mut buffer[..from.len()];
            narrow_block(at, from, buffer);
            let whole = from.len() - from.len() % (LINE_BYTES / size_of::<T>());
            stream::copy(at, &buffer[..whole], &mut to[..whole]);
            to[whole..].copy_from_slice(&buffer[whole..]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check<T: Real>(whole_bytes: usize) {
        for begin in [0, 1, 5, 16] {
            for len in [0, 1, 15, 64, 127, 300, 1000] {
                let rows: Vec<T::Compute> =
                    (0..3 * len).map(|i| T::Compute::from_f64(i as f64 % 97.0 - 40.0)).collect();
                let mut memory = vec![T::from_f64(0.5); begin + 3 * len + 5];
                past_caches(&mut memory[begin..][..3 * len], whole_bytes, |output| {
                    for row in rows.chunks_exact(len.max(1)) {
                        output.narrow(row);
                    }
                });
                for (place, element) in memory.iter().enumerate() {
                    let row = place.checked_sub(begin).and_then(|place| rows.get(place));
                    assert_eq!(
                        element.to_f64(),
                        row.map_or(0.5, |value| value.to_f64()),
                        "{place}, {begin} {len}"
                    );
                }
            }
        }
    }

    #[test]
    fn rows_of_any_length_and_alignment_are_narrowed() {
        for whole_bytes in [0, STREAM_BYTES] {
            check::<f32>(whole_bytes);
            check::<f64>(whole_bytes);
            check::<half::f16>(whole_bytes);
            check::<half::bf16>(whole_bytes);
        }
    }

    #[test]
    #[should_panic(expected = "mid > len")]
    fn a_row_behind_the_output_is_refused() {
        past_caches(&mut [0.0_f32; 8], 0, |output| output.narrow(&[1.0; 9]));
    }
}
