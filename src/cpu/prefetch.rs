//! [`prefetch`] and [`Prefetch`]: software prefetch of memory that will be read or written soon.

/// Prefetches the cache line at `place` to the first-level cache. It may be any address: a prefetch does not fault.
#[allow(unsafe_code, reason = "takes a raw pointer")]
#[inline(always)]
pub(super) fn prefetch<C>(place: *const C) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: as above; it returns nothing.
    unsafe {
        std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(place.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = place;
}

/// Memory that will be read and written next, prefetched little by little during a computation.
///
/// Memory to be written is prefetched for reading: a line that no other core has can then be written. (`prefetchw`,
/// which requests exclusive access, made convolutions on a Zen 4 slower by a tenth.)
pub(super) struct Prefetch<const N: usize>([Stretch; N]);

/// A range of memory that is prefetched in equal steps.
struct Stretch {
    next: *const u8,
    last: *const u8,
    step: usize,
}

impl<const N: usize> Prefetch<N> {
    pub(super) fn new(stretches: [&[u8]; N]) -> Self {
        Self(stretches.map(Stretch::of))
    }

    /// Sets the number of times that [`fetch`](Self::fetch) will be called, at least.
    pub(super) fn in_steps(&mut self, steps: usize) {
        for stretch in &mut self.0 {
            stretch.step =
                (stretch.last.addr() - stretch.next.addr()).div_ceil(steps.saturating_sub(1).max(1));
        }
    }

    /// Prefetches the next line of each range, so it should be called at least once for each line.
    #[inline(always)]
    pub(super) fn fetch(&mut self) {
        for stretch in &mut self.0 {
            prefetch(stretch.step());
        }
    }
}

impl Stretch {
    fn of(bytes: &[u8]) -> Self {
        // An empty range gets a valid address: for an invalid one the processor would walk the page tables each time.
        static SOMETHING: u8 = 0;
        let next = if bytes.is_empty() { &raw const SOMETHING } else { bytes.as_ptr() };
        Self { next, last: next.wrapping_add(bytes.len().saturating_sub(1)), step: 0 }
    }

    /// The next address; the last one again and again at the end.
    #[inline(always)]
    fn step(&mut self) -> *const u8 {
        let place = self.next;
        self.next = place.wrapping_add(self.step).min(self.last);
        place
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_steps_as_were_told_go_through_all_lines_and_no_others() {
        const LINE: usize = 64;
        let bytes = [0_u8; 10 * LINE];
        for len in [0, 1, LINE, 3 * LINE + 5, bytes.len()] {
            let lines = len.div_ceil(LINE);
            for steps in [lines + 1, lines + 2, 2 * lines + 7, 1000] {
                let mut prefetch = Prefetch::new([&bytes[..len]]);
                prefetch.in_steps(steps);
                let [stretch] = &mut prefetch.0;
                let places: Vec<_> = (0..steps).map(|_| stretch.step().addr()).collect();
                if len > 0 {
                    let first = bytes.as_ptr().addr();
                    assert_eq!((places[0], places[steps - 1]), (first, first + len - 1));
                }
                assert!(places.windows(2).all(|pair| (0..=LINE).contains(&(pair[1] - pair[0]))));
            }
        }
    }
}
