//! [`convolve`]: the sums of a few filters at a few vectors of positions in registers, over all channels and taps.

use dahl_core::{Element, Real};
use pulp::{Simd, WithSimd};

use super::by_filters::{FilterVectors, Group};
use super::filters::{Filters, MOST, Order, blocks, of_size};
use super::pairs::{self, ChannelPairs, Lengths};
use super::plane::Plane;
use crate::cpu::lanes::{Lanes, MOST_LANES, in_vectors};
use crate::cpu::pairs::Pair;
use crate::cpu::prefetch::prefetch;
use crate::cpu::scratch::with_scratch;
use crate::cpu::tiles::{BLOCK, Step};

/// The most vectors of positions whose sums are kept in registers at once.
const MOST_VECTORS: usize = 8;

/// What becomes of the sums.
pub(crate) trait Epilogue<C> {
    /// How many sums behind the last one it may read; they mean nothing.
    fn reach(&self) -> usize {
        0
    }

    /// Takes the sums of an image and a filter, of these numbers: those of row `r` and column `c` at `r * width + c`. Images come
    /// in order, and the filters of each: it may write what later ones overwrite.
    fn take<S: Simd>(&mut self, simd: S, plane: &Plane, place: [usize; 2], sums: &mut [C]);
}

/// Writes them to the output, `[batch, out_channels, rows, columns]`.
pub(crate) struct Write<'a, T> {
    pub(crate) out: &'a mut [T],
    pub(crate) out_channels: usize,
}

impl<T: Real<Compute: Lanes>> Epilogue<T::Compute> for Write<'_, T> {
    #[inline(always)]
    fn take<S: Simd>(
        &mut self,
        simd: S,
        plane: &Plane,
        [image, filter]: [usize; 2],
        sums: &mut [T::Compute],
    ) {
        let [rows, columns] = plane.output();
        let out = &mut self.out[(image * self.out_channels + filter) * rows * columns..][..rows * columns];
        plane.gather(simd, sums, out);
    }
}

/// `out[n, f, r, c] = bias[f] + sum over i, j, k of filters[f, i, j, k] * image[n, i, r + j - padding, c + k - padding]`,
/// which `epilogue` takes; without a bias it is 0.
///
/// # Shapes
/// `images: [batch, in_channels, rows, columns]`, `filters` as `order` says, `bias: [out_channels]`.
pub(crate) fn convolve<T: Real<Compute: Lanes>, E: Epilogue<T::Compute>>(
    plane: Plane,
    shape: Filters,
    images: &[T],
    (filters, order): (&[T], Order),
    bias: Option<&[T::Compute]>,
    epilogue: E,
) {
    const BEYOND: usize = MOST_VECTORS * MOST_LANES;
    // The vectors of the last positions go on behind them, whatever their number.
    let sums_len = (plane.positions() + epilogue.reach() + BEYOND).next_multiple_of(MOST_LANES);
    // A pair of one channel would be half empty.
    let in_pairs = pairs::are_worthwhile::<T>(&shape) && shape.in_channels > 1;
    let by_filters =
        FilterVectors::new::<T::Compute>(shape).filter(|vectors| vectors.makes_sums_of::<T::Compute>(&plane));
    let at_once = if pairs::are_tiled::<T>(&shape) { BLOCK } else { MOST };
    let at_once = at_once.max(by_filters.map_or(0, |by_filters| by_filters.at_once()));
    let lengths = [
        plane.buffer_len(shape.in_channels, BEYOND),
        at_once * sums_len,
        by_filters.map_or(shape.len(), |by_filters| by_filters.len()),
        by_filters.map_or(0, |by_filters| by_filters.by_position_len()),
    ];
    with_pairs(in_pairs.then(|| ChannelPairs::lengths(&plane, &shape, BEYOND)), |buffers| {
        let pairs =
            buffers.and_then(|buffers| ChannelPairs::new(shape, &plane, (filters, order), bias, buffers));
        with_scratch(lengths, |[planes, sums, packed, by_position]: [&mut [T::Compute]; 4]| {
            let filters = (filters, order);
            let singles = Singles {
                filters,
                by_filters,
                is_ready: false,
                are_finite: false,
                in_place: None,
                planes,
                packed,
                by_position,
            };
            in_vectors(Convolve { plane, shape, images, bias, epilogue, pairs, singles, sums, sums_len });
        });
    });
}

/// Buffers of [`ChannelPairs`].
type PairBuffers<'a> = ([&'a mut [Pair]; 2], &'a mut [f32], &'a mut [Step]);

/// Calls `f` with buffers of these lengths, or without.
fn with_pairs<R>(lengths: Option<Lengths>, f: impl FnOnce(Option<PairBuffers<'_>>) -> R) -> R {
    let Some(Lengths { pairs, initial, steps }) = lengths else { return f(None) };
    with_scratch(pairs, |pairs| {
        with_scratch([initial], |[initial]: [&mut [f32]; 1]| {
            with_scratch([steps], |[steps]: [&mut [Step]; 1]| f(Some((pairs, initial, steps))))
        })
    })
}

struct Convolve<'a, T: Real, E> {
    plane: Plane,
    shape: Filters,
    images: &'a [T],
    bias: Option<&'a [T::Compute]>,
    epilogue: E,
    /// Planes and filters in pairs, if the machine multiplies those.
    pairs: Option<ChannelPairs<'a>>,
    singles: Singles<'a, T>,
    sums: &'a mut [T::Compute],
    /// Of one filter.
    sums_len: usize,
}

/// Planes and filters one by one, in the compute type.
struct Singles<'a, T: Real> {
    filters: (&'a [T], Order),
    /// If the vectors are of filters.
    by_filters: Option<FilterVectors>,
    /// Whether an image has needed them.
    is_ready: bool,
    /// Whether the filters of the vectors are finite.
    are_finite: bool,
    /// The planes of the image, if they need not be copied.
    in_place: Option<&'a [T::Compute]>,
    planes: &'a mut [T::Compute],
    packed: &'a mut [T::Compute],
    /// Sums of vectors of filters that are not transposed yet.
    by_position: &'a mut [T::Compute],
}

impl<'a, T: Real<Compute: Lanes>> Singles<'a, T> {
    /// The planes of the image that was taken.
    fn planes(&self) -> &[T::Compute] {
        self.in_place.unwrap_or(self.planes)
    }

    /// Takes the first of `images`. With the very first one the filters are packed.
    #[inline(always)]
    fn take<S: Simd>(&mut self, simd: S, plane: &Plane, shape: &Filters, images: &'a [T]) {
        if !self.is_ready {
            self.is_ready = true;
            self.planes.fill(T::Compute::ZERO); // what lies behind the last plane is read, and not used
            let (filters, order) = self.filters;
            match self.by_filters {
                Some(by_filters) => self.are_finite = by_filters.pack(filters, order, self.packed),
                None => shape.pack(filters, order, self.packed),
            }
        }
        self.in_place = plane.in_place(images, self.planes.len());
        if self.in_place.is_none() {
            let image_len = shape.in_channels * plane.image[0] * plane.image[1];
            plane.border(simd, &images[..image_len], self.planes);
        }
    }
}

/// The planes of an image, and where the sums of a few filters at their positions go.
pub(super) struct Sums<'a, P, C> {
    pub(super) plane: &'a Plane,
    /// The elements of the planes.
    pub(super) planes: &'a [P],
    /// The sums, `sums_len` for each filter.
    pub(super) sums: &'a mut [C],
    pub(super) sums_len: usize,
}

impl<T: Real<Compute: Lanes>, E: Epilogue<T::Compute>> WithSimd for Convolve<'_, T, E> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) {
        let [rows, columns] = self.plane.image;
        let image_len = self.shape.in_channels * rows * columns;
        for (number, image) in self.images.chunks_exact(image_len).enumerate() {
            let in_pairs = self.pairs.as_mut().is_some_and(|pairs| pairs.border(&self.plane, image));
            if !in_pairs {
                self.singles.take(simd, &self.plane, &self.shape, &self.images[number * image_len..]);
            }
            if in_pairs && let Some(pairs) = self.pairs.as_ref().filter(|pairs| pairs.is_tiled()) {
                for begin in (0..self.shape.out_channels).step_by(BLOCK) {
                    let size = BLOCK.min(self.shape.out_channels - begin);
                    pairs.add_up_in_tiles((begin, size), &self.plane, self.sums, self.sums_len);
                    let sums = self.sums.chunks_exact_mut(self.sums_len).take(size);
                    take_all(simd, &mut self.epilogue, &self.plane, [number, begin], sums);
                }
                continue;
            }
            if !in_pairs && let Some(by_filters) = self.singles.by_filters {
                for group in by_filters.groups() {
                    self.group(by_filters, group);
                    let sums = self.sums.chunks_exact_mut(self.sums_len).take(group.size);
                    take_all(simd, &mut self.epilogue, &self.plane, [number, group.begin], sums);
                }
                continue;
            }
            for (begin, size) in blocks(self.shape.out_channels, MOST) {
                of_size!(size, F => self.block::<S, F>(simd, begin, in_pairs));
                let sums = self.sums.chunks_exact_mut(self.sums_len).take(size);
                take_all(simd, &mut self.epilogue, &self.plane, [number, begin], sums);
            }
        }
    }
}

/// Gives the epilogue the sums of filters, the first of which has number `begin`.
#[inline(always)]
fn take_all<'a, C: 'a, S: Simd>(
    simd: S,
    epilogue: &mut impl Epilogue<C>,
    plane: &Plane,
    [image, begin]: [usize; 2],
    sums: impl Iterator<Item = &'a mut [C]>,
) {
    for (filter, sums) in sums.enumerate() {
        epilogue.take(simd, plane, [image, begin + filter], sums);
    }
}

impl<T: Real<Compute: Lanes>, E: Epilogue<T::Compute>> Convolve<'_, T, E> {
    /// The sums of a group of filters, for one image.
    fn group(&mut self, by_filters: FilterVectors, group: Group) {
        let Singles { in_place, planes, packed, are_finite, by_position, .. } = &mut self.singles;
        let planes = in_place.unwrap_or(planes);
        let sums = Sums { plane: &self.plane, planes, sums: self.sums, sums_len: self.sums_len };
        by_filters.add_up(group, (packed, *are_finite), self.bias, sums, by_position);
    }

    /// The sums of `F` filters from number `begin` on, for one image.
    #[inline(always)]
    fn block<S: Simd, const F: usize>(&mut self, simd: S, begin: usize, in_pairs: bool) {
        let bias = self
            .bias
            .map_or([T::Compute::ZERO; F], |bias| std::array::from_fn(|filter| bias[begin + filter]));
        let (plane, sums, sums_len) = (&self.plane, &mut *self.sums, self.sums_len);
        if in_pairs && let Some(pairs) = &self.pairs {
            return pairs.add_up(begin, bias, plane, sums, sums_len);
        }
        let of_filter = self.shape.in_channels * self.shape.taps;
        let (filters, _) = self.singles.packed[begin * of_filter..][..F * of_filter].as_chunks::<F>();
        let sums = Sums { plane, planes: self.singles.planes(), sums, sums_len };
        // The first channel of the next image, while the processor is at the first filters of this one.
        let is_next = begin == 0 && self.singles.in_place.is_some();
        let ahead = is_next.then(|| self.shape.in_channels * plane.len());
        // As many vectors as there are registers for beside the windows, and enough that no sum waits for the one before.
        if S::REGISTER_COUNT < 32 {
            match F {
                1 => add_up::<_, S, F, MOST_VECTORS>(simd, filters, bias, sums, ahead),
                2 => add_up::<_, S, F, 4>(simd, filters, bias, sums, ahead),
                3 => add_up::<_, S, F, 3>(simd, filters, bias, sums, ahead),
                _ => add_up::<_, S, F, 2>(simd, filters, bias, sums, ahead),
            }
        } else if F <= 2 {
            add_up::<_, S, F, MOST_VECTORS>(simd, filters, bias, sums, ahead);
        } else {
            add_up::<_, S, F, 4>(simd, filters, bias, sums, ahead);
        }
    }
}

/// The sums of `F` filters at all positions, `V` vectors of them at a time. What lies `ahead` of them is brought to the cache.
#[allow(unsafe_code, reason = "without it each row and each tap would be some comparisons more")]
#[inline(always)]
fn add_up<C: Lanes, S: Simd, const F: usize, const V: usize>(
    simd: S,
    filters: &[[C; F]],
    bias: [C; F],
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
        let tile = unsafe { tile::<C, S, F, V>(simd, plane, filters, bias, planes) };
        for (filter, tile) in tile.iter().enumerate() {
            let (to, _) = C::vectors_mut::<S>(&mut sums[filter * sums_len + begin..][..step]);
            // An array, of a size that is known: a copy of slices would have all sums in memory first.
            let to: &mut [C::Vector<S>; V] = to.try_into().expect("as many as asked for");
            *to = *tile;
        }
    }
}

/// How far behind the first position of the first channel the last one that its sum reads lies. None if no memory has as much.
fn reach(plane: &Plane, channels: usize) -> Option<usize> {
    let Some(last) = channels.checked_sub(1) else { return Some(0) };
    let last_row = (plane.kernel[0] - 1).checked_mul(plane.width())?;
    last.checked_mul(plane.len())?.checked_add(last_row)?.checked_add(plane.kernel[1] - 1)
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
    bias: [C; F],
    planes: &[C],
) -> [[C::Vector<S>; V]; F] {
    // Loops, and no closures: a closure is compiled without the machine's vectors if it is not inlined.
    let mut sums = [[C::splat(simd, C::ZERO); V]; F];
    for (sums, bias) in sums.iter_mut().zip(bias) {
        *sums = [C::splat(simd, bias); V];
    }
    let ([rows, columns], width) = (plane.kernel, plane.width());
    let mut channel = planes.as_ptr();
    for of_channel in filters.chunks_exact(rows * columns) {
        let mut line = channel;
        let mut tap = of_channel.as_ptr();
        for _ in 0..rows {
            let mut window = line;
            for _ in 0..columns {
                // SAFETY: it is one of the windows whose elements the caller vouches for.
                let elements = unsafe { std::slice::from_raw_parts(window, V * C::lanes::<S>()) };
                // SAFETY: `of_channel` has an element for each of `rows` by `columns`, this is the next one.
                let filters = unsafe { &*tap };
                let (vectors, _) = C::vectors::<S>(elements);
                let vectors: [C::Vector<S>; V] = vectors.try_into().expect("as many as asked for");
                for (sums, &filter) in sums.iter_mut().zip(filters) {
                    let filter = C::splat(simd, filter);
                    for (sum, &vector) in sums.iter_mut().zip(&vectors) {
                        *sum = C::multiply_add(simd, filter, vector, *sum);
                    }
                }
                (window, tap) = (window.wrapping_add(1), tap.wrapping_add(1));
            }
            line = line.wrapping_add(width);
        }
        channel = channel.wrapping_add(plane.len());
    }
    sums
}
