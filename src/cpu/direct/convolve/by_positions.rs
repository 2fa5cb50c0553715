//! [`ByPositions`]: the sums of [`convolve`](super::convolve()) with a position in each lane, for a few filters.
//!
//! Compiled for the compute type alone: all element types and epilogues share it.

use pulp::{Simd, WithSimd};

use super::Sums;
use crate::cpu::direct::filters::{MOST, of_size};
use crate::cpu::direct::plane::Plane;
use crate::cpu::lanes::{Lanes, has_few_registers};
use crate::cpu::prefetch::prefetch;

/// The most vectors of positions whose sums are in registers at a time.
pub(super) const MOST_VECTORS: usize = 8;

/// Computes the sums of `size` filters, at all positions of one image.
pub(super) struct ByPositions<'a, C> {
    pub(super) size: usize,
    /// A block of filters: for each channel and tap, they lie side by side.
    pub(super) filters: &'a [C],
    /// The initial sum of each filter.
    pub(super) initial: [C; MOST],
    pub(super) sums: Sums<'a, C, C>,
    /// The distance from the planes to memory to prefetch.
    pub(super) ahead: Option<usize>,
}

impl<C: Lanes> WithSimd for ByPositions<'_, C> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        of_size!(self.size, F => self.block::<S, F>(simd));
    }
}

impl<C: Lanes> ByPositions<'_, C> {
    /// The sums of `F` filters.
    #[inline(always)]
    fn block<S: Simd, const F: usize>(self, simd: S) {
        let Self { filters, initial, sums, ahead, .. } = self;
        let (filters, _) = filters.as_chunks::<F>();
        let initial = *initial.first_chunk().expect("a block has at most so many");
        // As many vectors as registers allow beside the windows, and enough to hide the latency of the sums. `const`,
        // so that code for other numbers of filters or registers is not compiled.
        if const { F == 1 || F == 2 && !has_few_registers::<S>() } {
            add_up::<_, S, F, MOST_VECTORS>(simd, filters, initial, sums, ahead);
        } else if const { F == 2 || !has_few_registers::<S>() } {
            add_up::<_, S, F, 4>(simd, filters, initial, sums, ahead);
        } else if const { F == 3 } {
            add_up::<_, S, F, 3>(simd, filters, initial, sums, ahead);
        } else {
            add_up::<_, S, F, 2>(simd, filters, initial, sums, ahead);
        }
    }
}

/// Computes the sums of `F` filters at all positions, `V` vectors of them at a time. Prefetches the memory that is
/// `ahead`.
#[allow(unsafe_code, reason = "without it each row and each tap would be some comparisons more")]
#[inline(always)]
fn add_up<C: Lanes, S: Simd, const F: usize, const V: usize>(
    simd: S,
    filters: &[[C; F]],
    initial: [C; F],
    Sums { plane, planes, sums, sums_len }: Sums<'_, C, C>,
    ahead: Option<usize>,
) {
    let (step, channels) = (V * C::lanes::<S>(), filters.len() / plane.taps());
    let reach = reach(plane, channels).and_then(|reach| reach.checked_add(step)).expect("planes fit memory");
    for begin in (0..plane.positions()).step_by(step) {
        if let Some(ahead) = ahead {
            for vector in 0..V {
                prefetch(planes.as_ptr().wrapping_add(ahead + begin + vector * C::lanes::<S>()));
            }
        }
        let planes = &planes[begin..];
        assert!(planes.len() >= reach, "the last window ends behind the planes");
        // SAFETY: `reach` is where the last window of `step` positions ends.
        let tile = unsafe { tile::<C, S, F, V>(simd, plane, filters, initial, planes) };
        for (filter, tile) in tile.iter().enumerate() {
            let (to, _) = C::vectors_mut::<S>(&mut sums[filter * sums_len + begin..][..step]);
            // An array of known size: copying slices would write all sums to memory first.
            let to: &mut [C::Vector<S>; V] = to.try_into().expect("as many as asked for");
            *to = *tile;
        }
    }
}

/// The distance from the first position of the first channel to the last element that its sum reads; none if it
/// overflows.
fn reach(plane: &Plane, channels: usize) -> Option<usize> {
    let Some(last) = channels.checked_sub(1) else { return Some(0) };
    let last_row = plane.span()[0].checked_mul(plane.width())?;
    last.checked_mul(plane.len())?.checked_add(last_row)?.checked_add(plane.span()[1])
}

/// The sums of `F` filters at the first `V` vectors of positions.
///
/// # Safety
/// `planes` has as many elements as [`reach`] says for the channels of `filters`, and `V` vectors more.
#[allow(unsafe_code, reason = "without it each row and each tap would be some comparisons more")]
#[inline(always)]
unsafe fn tile<C: Lanes, S: Simd, const F: usize, const V: usize>(
    simd: S,
    plane: &Plane,
    filters: &[[C; F]],
    initial: [C; F],
    planes: &[C],
) -> [[C::Vector<S>; V]; F] {
    // Loops, not closures: a closure that is not inlined is compiled without the machine's vectors.
    let mut sums = [[C::splat(simd, C::ZERO); V]; F];
    for (sums, initial) in sums.iter_mut().zip(initial) {
        *sums = [C::splat(simd, initial); V];
    }
    let ([rows, columns], row_step, column_step) = (plane.kernel, plane.row_step(), plane.dilation[1]);
    let mut channel = planes.as_ptr();
    for of_channel in filters.chunks_exact(rows * columns) {
        let mut line = channel;
        let mut tap = of_channel.as_ptr();
        for _ in 0..rows {
            let mut window = line;
            for _ in 0..columns {
                // SAFETY: it is one of the windows whose elements the caller guarantees.
                let elements = unsafe { std::slice::from_raw_parts(window, V * C::lanes::<S>()) };
                // SAFETY: `of_channel` has an element for each of `rows` by `columns`; this is the next one.
                let filters = unsafe { &*tap };
                let (vectors, _) = C::vectors::<S>(elements);
                let vectors: [C::Vector<S>; V] = vectors.try_into().expect("as many as asked for");
                for (sums, &filter) in sums.iter_mut().zip(filters) {
                    let filter = C::splat(simd, filter);
                    for (sum, &vector) in sums.iter_mut().zip(&vectors) {
                        *sum = C::multiply_add(simd, filter, vector, *sum);
                    }
                }
                (window, tap) = (window.wrapping_add(column_step), tap.wrapping_add(1));
            }
            line = line.wrapping_add(row_step);
        }
        channel = channel.wrapping_add(plane.len());
    }
    sums
}
