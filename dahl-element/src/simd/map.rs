//! [`map`]: the order in which a map computes its elements, and the buffer through which they go to memory.
//!
//! A small output is computed in one pass, in place. Where this would not use the machine's abilities, it is computed
//! in blocks:
//!
//! * `f16` and `bf16`, where the machine has an instruction that narrows many numbers at a time and that the compiler
//!   does not generate: the numbers of a block stay in the L1 cache until they are narrowed together.
//! * Outputs that are larger than the caches: they bypass the caches (`stream`), in whole lines.
//!
//! Blocks alternate between several pages; [`pages_in_turn`] gives their number.

use super::level::{At, Loop, dispatch_loop};
use super::stream::{self, LINE_BYTES, PAGE_BYTES, pages_in_turn};
use crate::element::Element;

/// The most elements of a block.
const MOST: usize = 256;

/// Bytes of a block. With smaller ones the cost per block matters; larger ones leave memory idle at each page.
pub(super) const BLOCK_BYTES: usize = 512;

/// The least size of outputs that are written past the caches: they exceed the caches, so that no reader would find
/// them there.
pub(super) const STREAM_BYTES: usize = 32 << 20;

/// The computation of a map for each element of its output.
pub trait Body<T> {
    /// The type of results before they are narrowed; unused if they are not.
    type Wide: Element;

    /// Whether one instruction of the machine narrows many of them.
    fn narrows_in_blocks<const LEVEL: u8>(at: At<LEVEL>) -> bool;

    /// Computes the elements of `output`, the first of which has number `begin`. If it narrows in blocks, `wide` has
    /// the length of the output.
    fn compute<const LEVEL: u8>(
        &self,
        at: At<LEVEL>,
        begin: usize,
        output: &mut [T],
        wide: &mut [Self::Wide],
    );
}

/// A map that only writes its output.
#[inline]
pub fn map<T: Element, B: Body<T>>(output: &mut [T], body: B) {
    dispatch_loop(Map { output, body, in_place: false });
}

/// A map that also reads its output, each element before it is written.
#[inline]
pub fn map_in_place<T: Element, B: Body<T>>(output: &mut [T], body: B) {
    dispatch_loop(Map { output, body, in_place: true });
}

struct Map<'a, T, B> {
    output: &'a mut [T],
    body: B,
    in_place: bool,
}

/// A block that is stored past the caches.
#[repr(C, align(64))]
pub(super) struct Buffer(pub(super) [u8; BLOCK_BYTES]);

impl<T: Element, B: Body<T>> Loop for Map<'_, T, B> {
    type Output = ();

    #[inline(always)]
    fn run<const LEVEL: u8>(self, at: At<LEVEL>) {
        let Self { output, body, in_place } = self;
        let narrows = B::narrows_in_blocks(at);
        let first_line = output.as_ptr().align_offset(LINE_BYTES);
        let streams = At::<LEVEL>::HAS_V3
            && !in_place
            && size_of_val(output) >= STREAM_BYTES
            && LINE_BYTES.is_multiple_of(size_of::<T>())
            && first_line < LINE_BYTES;
        let mut blocks = if streams {
            // The elements before the first whole line are a block of their own.
            Blocks::of::<T>(output.len(), first_line, pages_in_turn())
        } else if narrows {
            Blocks::of::<T>(output.len(), 0, pages_in_turn())
        } else {
            Blocks::whole(output.len())
        };
        let mut buffer = Buffer([0; BLOCK_BYTES]);
        let buffer: &mut [T] = if streams { bytemuck::cast_slice_mut(&mut buffer.0) } else { &mut [] };
        let mut wide = [B::Wide::ZERO; MOST];
        let _fence = streams.then_some(Fence);
        // One loop with one call: the body is inlined once for each instruction set.
        while let Some((begin, len)) = blocks.take() {
            let wide = if narrows { &mut wide[..len] } else { &mut [] };
            let part = if streams { &mut buffer[..len] } else { &mut output[begin..][..len] };
            body.compute(at, begin, part, wide);
            if streams {
                stream::copy(at, &buffer[..len], &mut output[begin..][..len]);
            }
        }
    }
}

/// Orders stores past the caches before later ones, when what stores returns or panics.
pub(super) struct Fence;

impl Drop for Fence {
    #[inline(always)]
    fn drop(&mut self) {
        stream::fence();
    }
}

/// Elements of a block.
fn block_len<T>() -> usize {
    (BLOCK_BYTES / size_of::<T>().max(1)).clamp(1, MOST)
}

/// The order in which elements are computed.
struct Blocks {
    /// The first element after the current group.
    begin: usize,
    end: usize,
    /// Elements of the block before the first group.
    first: usize,
    block: usize,
    /// Elements of a page, a multiple of `block`.
    page: usize,
    /// Pages of a group.
    pages: usize,
    /// The next block of the group: its page, and its position in the page.
    turn: usize,
    offset: usize,
}

impl Blocks {
    #[inline(always)]
    fn whole(len: usize) -> Self {
        Self { begin: 0, end: len, first: 0, block: len, page: usize::MAX, pages: 1, turn: 0, offset: 0 }
    }

    #[inline(always)]
    fn of<T>(len: usize, first: usize, pages: usize) -> Self {
        let block = block_len::<T>();
        let page = (PAGE_BYTES / size_of::<T>().max(1) / block).max(1) * block;
        Self { begin: 0, end: len, first, block, page, pages, turn: 0, offset: 0 }
    }

    /// The first element and the length of the next block, if there is one.
    #[inline(always)]
    fn take(&mut self) -> Option<(usize, usize)> {
        if self.begin == self.end {
            return None;
        }
        if self.first > 0 {
            let len = self.first.min(self.end);
            (self.first, self.begin) = (0, len);
            return Some((0, len));
        }
        if self.end - self.begin < self.page * self.pages {
            let (begin, len) = (self.begin, self.block.min(self.end - self.begin));
            self.begin += len;
            return Some((begin, len));
        }
        let begin = self.begin + self.turn * self.page + self.offset;
        self.turn += 1;
        if self.turn == self.pages {
            self.turn = 0;
            self.offset += self.block;
        }
        if self.offset == self.page {
            self.offset = 0;
            self.begin += self.page * self.pages;
        }
        Some((begin, self.block))
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    /// The number of each element, in bytes.
    struct Numbers<'a> {
        /// The total number of elements, and the largest block.
        lens: &'a Cell<(usize, usize)>,
    }

    fn number<T: Element>(index: usize) -> T {
        let mut number = T::zeroed();
        let bytes = bytemuck::bytes_of_mut(&mut number);
        for (byte, value) in bytes.iter_mut().zip((index as u64 + 1).to_le_bytes()) {
            *byte = value;
        }
        number
    }

    impl<T: Element> Body<T> for Numbers<'_> {
        type Wide = u8;

        fn narrows_in_blocks<const LEVEL: u8>(_: At<LEVEL>) -> bool {
            true
        }

        fn compute<const LEVEL: u8>(&self, _: At<LEVEL>, begin: usize, output: &mut [T], wide: &mut [u8]) {
            assert_eq!(output.len(), wide.len());
            let (count, most) = self.lens.get();
            self.lens.set((count + output.len(), most.max(output.len())));
            for (i, element) in output.iter_mut().enumerate() {
                *element = number(begin + i);
            }
        }
    }

    fn check<T: Element>(memory: &mut [T], range: std::ops::Range<usize>) {
        memory.fill(T::zeroed());
        let lens = Cell::new((0, 0));
        map(&mut memory[range.clone()], Numbers { lens: &lens });
        let (count, most) = lens.get();
        assert_eq!(count, range.len());
        assert!(most <= block_len::<T>());
        for (place, element) in memory.iter().enumerate() {
            let expected = if range.contains(&place) { number(place - range.start) } else { T::zeroed() };
            // Compared as bytes, since some are NaN.
            let [found, expected] = [element, &expected].map(bytemuck::bytes_of);
            assert!(found == expected, "element {place} of {range:?}");
        }
    }

    #[test]
    fn every_element_is_computed_once_at_any_length_and_alignment() {
        fn lengths<T: Element>() {
            let group = 4 * PAGE_BYTES / size_of::<T>();
            let mut memory = vec![T::zeroed(); 2 * group + 300];
            for begin in [0, 1, 15, 16, 17] {
                for len in [0, 1, 15, 127, 128, 129, group - 1, group, group + 1, 2 * group + 200] {
                    check(&mut memory, begin..begin + len);
                }
            }
        }
        lengths::<u8>();
        lengths::<half::f16>();
        lengths::<u32>();
        lengths::<f64>();
    }

    #[test]
    fn a_large_output_is_computed_once_at_any_alignment() {
        fn sizes<T: Element>() {
            let len = STREAM_BYTES / size_of::<T>();
            let mut memory = vec![T::zeroed(); len + 100];
            check(&mut memory, 0..len);
            check(&mut memory, 3..len + 70);
        }
        sizes::<half::f16>();
        sizes::<f64>();
    }

    #[test]
    fn a_panic_in_a_large_output_passes_through() {
        struct Fails;
        impl Body<u32> for Fails {
            type Wide = u32;

            fn narrows_in_blocks<const LEVEL: u8>(_: At<LEVEL>) -> bool {
                false
            }

            fn compute<const LEVEL: u8>(
                &self,
                _: At<LEVEL>,
                begin: usize,
                output: &mut [u32],
                _: &mut [u32],
            ) {
                assert!(begin < 1 << 20, "in the middle");
                output.fill(1);
            }
        }
        let mut memory = vec![0_u32; STREAM_BYTES / 4];
        let run = std::panic::AssertUnwindSafe(|| map(&mut memory, Fails));
        let is_streamed =
            At::<{ crate::simd::Level::V3 as u8 }>::HAS_V3 && crate::simd::level() >= crate::simd::Level::V3;
        assert_eq!(std::panic::catch_unwind(run).is_err(), is_streamed);
        assert_eq!(memory[0], 1);
    }

    #[test]
    fn blocks_take_turns_among_pages() {
        let begins = |pages| {
            let mut blocks = Blocks::of::<u32>(8192, 3, pages);
            std::iter::from_fn(move || blocks.take()).map(|(begin, _)| begin).collect::<Vec<_>>()
        };
        assert_eq!(begins(4)[..6], [0, 3, 1027, 2051, 3075, 131]);
        assert_eq!(begins(1)[..6], [0, 3, 131, 259, 387, 515]);
        for pages in [1, 4] {
            let mut begins = begins(pages);
            begins.sort_unstable();
            assert_eq!(begins.len(), 65, "{pages} pages");
            assert!(begins[1..].iter().enumerate().all(|(block, &begin)| begin == 3 + block * 128));
        }
    }

    #[test]
    fn an_output_in_one_go_is_one_block() {
        let mut blocks = Blocks::whole(100_000);
        assert_eq!((blocks.take(), blocks.take()), (Some((0, 100_000)), None));
    }
}
