//! The same with a position in each lane, on the [`Polyphase`] of a channel.
//!
//! * [`Forward`] keeps the sums of some vectors of positions in registers, over all taps.
//! * [`BackwardInput`] is the same for each component: the gradient, with zeros around it and between its lines, is read
//!   from the last element of a component to the first, in place of the channel.
//! * [`BackwardFilters`] keeps the sums of some taps in registers, over all positions.
//!
//! Compiled for the compute type alone.

use pulp::{Simd, WithSimd};

use super::polyphase::{Line, Polyphase, Shift};
use crate::cpu::lanes::{Lanes, MOST_LANES};

/// The most vectors of positions whose sums are in registers at a time.
const MOST_VECTORS: usize = 8;
/// Sums are computed for so many positions, then copied.
const POSITIONS: usize = 1024;
/// The most taps whose sums are in registers at a time: those of a kernel of 3 by 3.
const MOST_TAPS: usize = 9;

/// Lines of this length whose sums are computed before they are copied.
fn lines_at_once(line_len: usize) -> usize {
    (POSITIONS / line_len).max(1)
}

/// Elements of a buffer for the sums of these lines.
pub(super) fn sums_len(layout: &Polyphase) -> usize {
    lines_at_once(layout.line_len()).min(layout.lines()) * layout.line_len() + MOST_LANES
}

/// How many elements more than the last one vectors may read.
pub(super) const BEYOND: usize = MOST_LANES;

/// Elements of the gradient of a filter with zeros around it.
pub(super) fn spread_len(layout: &Polyphase) -> usize {
    layout.reach() + layout.component_len() + BEYOND
}

/// The outputs of a channel: one for each filter.
pub(super) struct Forward<'a, C> {
    pub(super) layout: &'a Polyphase,
    pub(super) lines: &'a [Line],
    pub(super) shifts: &'a [Shift],
    pub(super) channel: &'a [C],
    /// `[filters, taps]`
    pub(super) filters: &'a [C],
    /// Working memory: the components of the channel, zeros before, and sums.
    pub(super) components: &'a mut [C],
    pub(super) sums: &'a mut [C],
    /// Working memory: where each tap begins to read.
    pub(super) starts: &'a mut [usize],
    /// `[filters, positions]`
    pub(super) out: &'a mut [C],
}

impl<C: Lanes> WithSimd for Forward<'_, C> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { layout, lines, shifts, channel, filters, components, sums, starts, out } = self;
        let (line_len, columns) = (layout.line_len(), layout.columns());
        layout.split(simd, lines, channel, components);
        for (start, [component, shift]) in starts.iter_mut().zip(shifts) {
            *start = component * layout.component_len() + shift;
        }
        let of_filter = filters.chunks_exact(layout.taps()).zip(out.chunks_exact_mut(layout.positions()));
        for (filter, out) in of_filter {
            for [first, of_output, count] in layout.lines_of_positions(lines_at_once(line_len)) {
                let len = (count - 1) * line_len + columns;
                let sums = &mut sums[..len.next_multiple_of(C::lanes::<S>())];
                add_up(simd, starts, filter, &components[first..], sums);
                let out = out[of_output..][..count * columns].chunks_exact_mut(columns);
                for (out, sums) in out.zip(sums.chunks(line_len)) {
                    crate::cpu::lanes::copy(simd, &sums[..columns], out);
                }
            }
        }
    }
}

/// The gradient by a channel. The filters are finite.
pub(super) struct BackwardInput<'a, C> {
    pub(super) layout: &'a Polyphase,
    pub(super) lines: &'a [Line],
    pub(super) shifts: &'a [Shift],
    /// `[filters, positions]`
    pub(super) gradient: &'a [C],
    /// `[filters, taps]`
    pub(super) filters: &'a [C],
    /// Working memory: the gradient of each filter with zeros around it, [`spread_len`] each, zeros before; and sums.
    pub(super) spread: &'a mut [C],
    pub(super) sums: &'a mut [C],
    /// Working memory: where each tap of each filter begins to read, and its factor.
    pub(super) starts: &'a mut [usize],
    pub(super) factors: &'a mut [C],
    pub(super) out: &'a mut [C],
}

impl<C: Lanes> WithSimd for BackwardInput<'_, C> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { layout, lines, shifts, gradient, filters, spread, sums, starts, factors, out } = self;
        let (reach, line_len, spread_len) = (layout.reach(), layout.line_len(), spread_len(layout));
        let gradients = gradient.chunks_exact(layout.positions());
        for (gradient, spread) in gradients.zip(spread.chunks_exact_mut(spread_len)) {
            layout.spread(simd, gradient, &mut spread[reach..]);
        }
        if layout.leaves_gaps() {
            out.fill(C::ZERO);
        }
        let at_once = lines_at_once(line_len);
        for (number, lines) in lines.chunks_exact(layout.lines()).enumerate() {
            let mut taps = 0;
            for (filter, begin) in filters.chunks_exact(layout.taps()).zip((0..).step_by(spread_len)) {
                for (&[component, shift], &factor) in shifts.iter().zip(filter) {
                    if component == number {
                        (starts[taps], factors[taps]) = (begin + reach - shift, factor);
                        taps += 1;
                    }
                }
            }
            for (lines, first) in lines.chunks(at_once).zip((0..).step_by(at_once * line_len)) {
                let len = lines.len() * line_len;
                let sums = &mut sums[..len.next_multiple_of(C::lanes::<S>())];
                add_up(simd, &starts[..taps], &factors[..taps], &spread[first..], sums);
                layout.join(simd, lines, &sums[..len], out);
            }
        }
    }
}

/// `sums[p] = sum over t of factors[t] * elements[starts[t] + p]`, for whole vectors of sums.
#[inline(always)]
fn add_up<C: Lanes, S: Simd>(simd: S, starts: &[usize], factors: &[C], elements: &[C], sums: &mut [C]) {
    let (sums, _) = C::vectors_mut::<S>(sums);
    let (many, few) = sums.as_chunks_mut::<MOST_VECTORS>();
    let mut begin = 0;
    for sums in many {
        *sums = tile(simd, starts, factors, &elements[begin..]);
        begin += MOST_VECTORS * C::lanes::<S>();
    }
    let (pairs, last) = few.as_chunks_mut::<2>();
    for sums in pairs {
        *sums = tile(simd, starts, factors, &elements[begin..]);
        begin += 2 * C::lanes::<S>();
    }
    if let [sum] = last {
        [*sum] = tile(simd, starts, factors, &elements[begin..]);
    }
}

/// The first `V` vectors of sums.
#[inline(always)]
fn tile<C: Lanes, S: Simd, const V: usize>(
    simd: S,
    starts: &[usize],
    factors: &[C],
    elements: &[C],
) -> [C::Vector<S>; V] {
    // Loops, not closures: a closure that is not inlined is compiled without the machine's vectors.
    let mut sums = [C::splat(simd, C::ZERO); V];
    for (&start, &factor) in starts.iter().zip(factors) {
        let factor = C::splat(simd, factor);
        let (vectors, _) = C::vectors::<S>(&elements[start..][..V * C::lanes::<S>()]);
        let vectors: &[C::Vector<S>; V] = vectors.try_into().expect("as many as asked for");
        for (sum, &vector) in sums.iter_mut().zip(vectors) {
            *sum = C::multiply_add(simd, factor, vector, *sum);
        }
    }
    sums
}

/// The gradients by the filters of a channel in one sample.
pub(super) struct BackwardFilters<'a, C> {
    pub(super) layout: &'a Polyphase,
    pub(super) lines: &'a [Line],
    pub(super) shifts: &'a [Shift],
    pub(super) channel: &'a [C],
    /// `[filters, positions]`
    pub(super) gradient: &'a [C],
    /// Working memory: the components of the channel, zeros before.
    pub(super) components: &'a mut [C],
    /// Working memory: the gradient at its positions, in whole vectors; zeros before.
    pub(super) spread: &'a mut [C],
    /// Added to: [`MOST_LANES`] elements for each tap of each filter.
    pub(super) sums: &'a mut [C],
}

impl<C: Lanes> WithSimd for BackwardFilters<'_, C> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { layout, lines, shifts, channel, gradient, components, spread, sums } = self;
        layout.split(simd, lines, channel, components);
        let of_filter = gradient.chunks_exact(layout.positions());
        for (gradient, sums) in of_filter.zip(sums.chunks_exact_mut(layout.taps() * MOST_LANES)) {
            layout.spread(simd, gradient, spread);
            let products = Products { layout, gradient: spread, components };
            let (mut shifts, mut sums) = (shifts, sums);
            while !shifts.is_empty() {
                let taps = match shifts.len() {
                    MOST_TAPS.. => products.add::<S, MOST_TAPS>(simd, shifts, sums),
                    3.. => products.add::<S, 3>(simd, shifts, sums),
                    _ => products.add::<S, 1>(simd, shifts, sums),
                };
                (shifts, sums) = (&shifts[taps..], &mut sums[taps * MOST_LANES..]);
            }
        }
    }
}

/// The gradient of a filter at its positions, and the components of the channel.
struct Products<'a, C> {
    layout: &'a Polyphase,
    gradient: &'a [C],
    components: &'a [C],
}

impl<C: Lanes> Products<'_, C> {
    /// Adds the products of the first `K` taps to their sums, lane by lane. Returns `K`.
    #[inline(always)]
    fn add<S: Simd, const K: usize>(&self, simd: S, shifts: &[Shift], sums: &mut [C]) -> usize {
        let (gradient, _) = C::vectors::<S>(self.gradient);
        let mut windows = [[].as_slice(); K];
        let mut totals = [C::splat(simd, C::ZERO); K];
        for tap in 0..K {
            let [component, shift] = shifts[tap];
            let start = component * self.layout.component_len() + shift;
            windows[tap] =
                &C::vectors::<S>(&self.components[start..][..self.gradient.len()]).0[..gradient.len()];
            totals[tap] = C::vectors::<S>(&sums[tap * MOST_LANES..][..MOST_LANES]).0[0];
        }
        for (position, &gradient) in gradient.iter().enumerate() {
            for tap in 0..K {
                totals[tap] = C::multiply_add(simd, gradient, windows[tap][position], totals[tap]);
            }
        }
        for tap in 0..K {
            C::vectors_mut::<S>(&mut sums[tap * MOST_LANES..][..MOST_LANES]).0[0] = totals[tap];
        }
        K
    }
}

/// Adds the lanes of the sums of [`BackwardFilters`].
pub(super) struct AddLanes<'a, C> {
    pub(super) sums: &'a [C],
    pub(super) out: &'a mut [C],
}

impl<C: Lanes> WithSimd for AddLanes<'_, C> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        for (sums, out) in self.sums.chunks_exact(MOST_LANES).zip(self.out) {
            *out += <C as Lanes>::sum(simd, C::vectors::<S>(sums).0[0]);
        }
    }
}
