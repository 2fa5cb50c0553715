//! [`Windows`]: the maximum and the mean over windows, which may differ from position to position, and the gradients.
//!
//! A window of a volume is a [`Span`] along each axis. Fewer than three axes are preceded by axes of extent 1.

use dahl_core::{Element, Real};

use super::scratch::with_scratch;

/// A window along one axis: the index of its first element, the number of its elements and their distance, and by how
/// many a sum is divided for a mean.
pub(crate) type Span = [usize; 4];

/// The span of a single element.
const ONE: Span = [0, 1, 1, 1];

/// The windows of a volume, for each position along each axis.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Windows<'a> {
    extents: [usize; 3],
    spans: [&'a [Span]; 3],
}

/// Calls `f` with the windows over at most three axes of these extents and so many positions, where
/// `span(axis, position)` is that of a window along an axis.
#[inline(always)]
pub(crate) fn with_windows<R>(
    extents: &[usize],
    positions: &[usize],
    span: impl Fn(usize, usize) -> Span,
    f: impl FnOnce(Windows<'_>) -> R,
) -> R {
    let leading = 3 - extents.len();
    let (mut volume, mut lengths) = ([1; 3], [1; 3]);
    volume[leading..].copy_from_slice(extents);
    lengths[leading..].copy_from_slice(positions);
    with_scratch(lengths, |mut spans: [&mut [Span]; 3]| {
        for (axis, spans) in spans.iter_mut().enumerate() {
            for (position, to) in spans.iter_mut().enumerate() {
                *to = axis.checked_sub(leading).map_or(ONE, |axis| span(axis, position));
            }
        }
        f(Windows { extents: volume, spans: spans.map(|spans| &*spans) })
    })
}

impl Windows<'_> {
    /// The number of elements of a volume.
    fn len(&self) -> usize {
        self.extents.iter().product()
    }

    /// The number of positions.
    fn positions(&self) -> usize {
        self.spans.iter().map(|spans| spans.len()).product()
    }

    /// The windows of each line of positions along the first two axes.
    fn lines(&self) -> impl Iterator<Item = [Span; 2]> {
        let [depth, rows, _] = self.spans;
        depth.iter().flat_map(move |&depth| rows.iter().map(move |&row| [depth, row]))
    }

    /// The first indices of the lines of a volume under a window.
    #[inline(always)]
    fn starts(&self, [depth, row]: [Span; 2]) -> impl Iterator<Item = usize> + use<> {
        let [_, rows, cols] = self.extents;
        let each = |[first, count, step, _]: Span| (0..count).map(move |tap| first + tap * step);
        each(depth).flat_map(move |z| each(row).map(move |y| (z * rows + y) * cols))
    }

    /// `out = ` the maxima, NaN where one is NaN, and `index = ` the places in the volume of the first of them.
    #[inline(always)]
    pub(crate) fn max<T: Real>(&self, input: &[T], out: &mut [T], index: &mut [u32]) {
        let columns = self.spans[2];
        if out.is_empty() {
            return;
        }
        let outs = out.chunks_exact_mut(self.positions()).zip(index.chunks_exact_mut(self.positions()));
        for (volume, (out, index)) in input.chunks_exact(self.len()).zip(outs) {
            let outs = out.chunks_exact_mut(columns.len()).zip(index.chunks_exact_mut(columns.len()));
            for (line, (out, index)) in self.lines().zip(outs) {
                for (nth, start) in self.starts(line).enumerate() {
                    let values = &volume[start..][..self.extents[2]];
                    for (&[first, count, step, _], (out, index)) in
                        columns.iter().zip(out.iter_mut().zip(&mut *index))
                    {
                        if nth == 0 {
                            (*out, *index) = (values[first], (start + first) as u32);
                        }
                        for tap in 0..count {
                            let value = values[first + tap * step];
                            if !out.is_nan() && (value > *out || value.is_nan()) {
                                (*out, *index) = (value, (start + first + tap * step) as u32);
                            }
                        }
                    }
                }
            }
        }
    }

    /// `out = ` the means.
    #[inline(always)]
    pub(crate) fn mean<T: Real>(&self, input: &[T], out: &mut [T]) {
        let columns = self.spans[2];
        if out.is_empty() {
            return;
        }
        with_scratch([columns.len()], |[sums]: [&mut [T::Compute]; 1]| {
            let outs = out.chunks_exact_mut(self.positions());
            for (volume, out) in input.chunks_exact(self.len()).zip(outs) {
                for (line, out) in self.lines().zip(out.chunks_exact_mut(columns.len())) {
                    sums.fill(T::Compute::ZERO);
                    for start in self.starts(line) {
                        let values = &volume[start..][..self.extents[2]];
                        for (&[first, count, step, _], sum) in columns.iter().zip(&mut *sums) {
                            let values = values[first..].iter().step_by(step).take(count);
                            *sum += values.map(|value| value.widen()).sum::<T::Compute>();
                        }
                    }
                    for ((sum, span), out) in sums.iter().zip(columns).zip(out) {
                        let mean = *sum / divisor(line, *span);
                        // The sum may overflow where the mean does not.
                        let overflows = !mean.is_finite();
                        *out =
                            T::narrow(if overflows { self.sum_of_shares(volume, line, *span) } else { mean });
                    }
                }
            }
        });
    }

    /// The sum of what each element under a window adds to the mean.
    #[cold]
    fn sum_of_shares<T: Real>(&self, volume: &[T], line: [Span; 2], column: Span) -> T::Compute {
        let [first, count, step, _] = column;
        let share = |place: usize| volume[place].widen() / divisor(line, column);
        let shares = |start: usize| (0..count).map(move |tap| share(start + first + tap * step));
        self.starts(line).flat_map(shares).sum()
    }

    /// The gradient of [`Self::mean`] by its input.
    #[inline(always)]
    pub(crate) fn mean_backward<T: Real>(&self, gradient: &[T], out: &mut [T]) {
        let columns = self.spans[2];
        out.fill(T::ZERO);
        if gradient.is_empty() || out.is_empty() {
            return;
        }
        with_scratch([self.len()], |[sums]: [&mut [T::Compute]; 1]| {
            let gradients = gradient.chunks_exact(self.positions());
            for (gradient, out) in gradients.zip(out.chunks_exact_mut(self.len())) {
                sums.fill(T::Compute::ZERO);
                for (line, gradient) in self.lines().zip(gradient.chunks_exact(columns.len())) {
                    for start in self.starts(line) {
                        let sums = &mut sums[start..][..self.extents[2]];
                        for (span, gradient) in columns.iter().zip(gradient) {
                            let (share, [first, count, step, _]) =
                                (gradient.widen() / divisor(line, *span), *span);
                            sums[first..].iter_mut().step_by(step).take(count).for_each(|sum| *sum += share);
                        }
                    }
                }
                T::narrow_slice(sums, out);
            }
        });
    }
}

/// By how much the sum over a window is divided.
#[inline(always)]
fn divisor<C: Real>([depth, row]: [Span; 2], column: Span) -> C {
    C::from_f64((depth[3] * row[3] * column[3]) as f64)
}
