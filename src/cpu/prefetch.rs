//! [`prefetch`] and [`Prefetch`]: software prefetch of memory that will be read or written soon.

/// Brings what is at `place` to the first-level cache. It may be any address: a prefetch does not fault.
#[allow(unsafe_code, reason = "takes a raw pointer")]
#[inline(always)]
pub(super) fn prefetch<C>(place: *const C) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: as above, and it gives nothing that is read.
    unsafe {
        std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(place.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = place;
}

/// What will be read and written next, which is brought to the caches little by little while something else is
/// computed.
///
/// What will be written is fetched as what is read: a line that no other core has may be written then. (The instruction
/// that asks for leave to write, `prefetchw`, made convolutions on a Zen 4 slower by a tenth.)
pub(super) struct Prefetch<const N: usize>([Stretch; N]);

/// Memory that is gone through in equal steps.
struct Stretch {
    next: *const u8,
    last: *const u8,
    step: usize,
}

impl<const N: usize> Prefetch<N> {
    pub(super) fn new(stretches: [&[u8]; N]) -> Self {
        Self(stretches.map(Stretch::of))
    }

    /// [`fetch`](Self::fetch) will be called so many times, or more often.
    pub(super) fn in_steps(&mut self, steps: usize) {
        for stretch in &mut self.0 {
            stretch.step =
                (stretch.last.addr() - stretch.next.addr()).div_ceil(steps.saturating_sub(1).max(1));
        }
    }

    /// Brings the next bytes of each: a line, so it should be called as often as there are lines.
    #[inline(always)]
    pub(super) fn fetch(&mut self) {
        for stretch in &mut self.0 {
            prefetch(stretch.step());
        }
    }
}

impl Stretch {
    fn of(bytes: &[u8]) -> Self {
        // Of nothing a place that there is: for others the processor would search its tables of pages each time.
        static SOMETHING: u8 = 0;
        let next = if bytes.is_empty() { &raw const SOMETHING } else { bytes.as_ptr() };
        Self { next, last: next.wrapping_add(bytes.len().saturating_sub(1)), step: 0 }
    }

    /// The next place; the last one again and again.
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
