//! [`Output`]: in which order a map computes its elements, and by way of which buffer they go to memory.
//!
//! A small output is computed in one go, in its place. Where that does not use what the machine has, it is computed in
//! blocks of [`BLOCK`] elements at most:
//!
//! * `f16`, where an instruction narrows many numbers at once which the compiler does not find: the numbers of a block
//!   stay in the first level of the cache until they are narrowed together.
//! * Outputs that are larger than the caches: they go past them (`stream`), which takes whole lines.
//!
//! Blocks take turns among four pages. The processor fetches ahead within a page, but not much further, so that one
//! stream of addresses does not keep its memory busy; four do.

#![allow(unsafe_code, reason = "a buffer that most outputs do not need is not filled for them")]

use std::mem::MaybeUninit;

use super::{At, stream};
use crate::element::Element;

/// The most elements that are computed at a time, if not all of them.
pub const BLOCK: usize = 256;

/// Bytes of a block. In smaller ones what is done for each block counts; larger ones leave less room in the cache.
const BLOCK_BYTES: usize = 512;

/// Elements of a block.
fn block_len<T>() -> usize {
    (BLOCK_BYTES / size_of::<T>().max(1)).clamp(1, BLOCK)
}

/// What the processor's prefetcher does not go beyond.
const PAGE_BYTES: usize = 4096;

/// Pages that blocks take turns among.
const PAGES: usize = 4;

/// Outputs from here on are taken to be larger than the caches, so that nothing that reads them finds them there.
const STREAM_BYTES: usize = 32 << 20;

/// The output of a map, block by block.
pub struct Output<'a, T, const LEVEL: u8> {
    at: At<LEVEL>,
    elements: &'a mut [T],
    blocks: Blocks,
    /// Of the block that is computed now.
    begin: usize,
    len: usize,
    streams: bool,
    /// Invariant: initialised where `streams`.
    buffer: MaybeUninit<Buffer<T>>,
}

/// A block on its way past the caches.
#[repr(C, align(64))]
struct Buffer<T>([T; BLOCK]);

impl<'a, T: Element, const LEVEL: u8> Output<'a, T, LEVEL> {
    /// Of elements that are only written. With `in_blocks`, no more than [`BLOCK`] at a time.
    #[inline(always)]
    pub fn new(at: At<LEVEL>, elements: &'a mut [T], in_blocks: bool) -> Self {
        let streams = At::<LEVEL>::HAS_V3 && size_of_val(elements) >= STREAM_BYTES;
        Self::with(at, elements, in_blocks, streams)
    }

    /// Of elements that are read too, each before it is written.
    #[inline(always)]
    pub fn in_place(at: At<LEVEL>, elements: &'a mut [T], in_blocks: bool) -> Self {
        Self::with(at, elements, in_blocks, false)
    }

    #[inline(always)]
    fn with(at: At<LEVEL>, elements: &'a mut [T], in_blocks: bool, streams: bool) -> Self {
        let len = elements.len();
        let blocks = if streams {
            // What is before the first line is a block of its own.
            let to_line = elements.as_ptr().align_offset(stream::LINE_BYTES);
            Blocks::of::<T>(len, if to_line < stream::LINE_BYTES { to_line } else { 0 })
        } else if in_blocks {
            Blocks::of::<T>(len, 0)
        } else {
            Blocks::whole(len)
        };
        let mut buffer = MaybeUninit::uninit();
        if streams {
            buffer.write(Buffer([T::ZERO; BLOCK]));
        }
        Self { at, elements, blocks, begin: 0, len: 0, streams, buffer }
    }

    /// The first element of the next block, and how many there are.
    #[inline(always)]
    pub fn next_block(&mut self) -> Option<(usize, usize)> {
        let (begin, len) = self.blocks.take()?;
        (self.begin, self.len) = (begin, len);
        Some((begin, len))
    }

    /// Where the block is to be written; what is in it is what was there only if the output is [`in_place`](Self::in_place).
    #[inline(always)]
    pub fn block(&mut self) -> &mut [T] {
        if !self.streams {
            return &mut self.elements[self.begin..][..self.len];
        }
        // SAFETY: it is initialised, since `streams`.
        unsafe { &mut self.buffer.assume_init_mut().0[..self.len] }
    }

    /// To be called when the block is written.
    #[inline(always)]
    pub fn put(&mut self) {
        if self.streams {
            // SAFETY: it is initialised, since `streams`.
            let buffer = unsafe { self.buffer.assume_init_ref() };
            stream::copy(self.at, &buffer.0[..self.len], &mut self.elements[self.begin..][..self.len]);
        }
    }
}

impl<T, const LEVEL: u8> Drop for Output<'_, T, LEVEL> {
    #[inline(always)]
    fn drop(&mut self) {
        if self.streams {
            stream::fence();
        }
    }
}

/// Which elements are computed when.
struct Blocks {
    /// The first element that is not in a group that has begun.
    begin: usize,
    end: usize,
    /// Elements of a block before the first group.
    first: usize,
    block: usize,
    /// Elements of a page, a multiple of `block`.
    page: usize,
    /// The next block in the group: of which page, and where in it.
    turn: usize,
    offset: usize,
}

impl Blocks {
    #[inline(always)]
    fn whole(len: usize) -> Self {
        Self { begin: 0, end: len, first: 0, block: len, page: usize::MAX / PAGES, turn: 0, offset: 0 }
    }

    #[inline(always)]
    fn of<T>(len: usize, first: usize) -> Self {
        let block = block_len::<T>();
        let page = (PAGE_BYTES / size_of::<T>().max(1) / block).max(1) * block;
        Self { begin: 0, end: len, first, block, page, turn: 0, offset: 0 }
    }

    /// The first element and the number of elements of the next block, unless there is none.
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
        if self.end - self.begin < self.page * PAGES {
            let (begin, len) = (self.begin, self.block.min(self.end - self.begin));
            self.begin += len;
            return Some((begin, len));
        }
        let begin = self.begin + self.turn * self.page + self.offset;
        self.turn += 1;
        if self.turn == PAGES {
            self.turn = 0;
            self.offset += self.block;
        }
        if self.offset == self.page {
            self.offset = 0;
            self.begin += self.page * PAGES;
        }
        Some((begin, self.block))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::{Vectorised, dispatch};

    /// `to[i] = from[i] + 1`, in blocks.
    struct Successors<'a> {
        from: &'a [u32],
        to: &'a mut [u32],
        streams: bool,
    }

    impl Vectorised for Successors<'_> {
        type Output = Vec<usize>;

        fn run(self) -> Vec<usize> {
            self.run_at(At::BASELINE)
        }

        #[inline(always)]
        fn run_at<const LEVEL: u8>(self, at: At<LEVEL>) -> Vec<usize> {
            let mut lens = Vec::new();
            let mut output = Output::with(at, self.to, true, self.streams);
            while let Some((begin, len)) = output.next_block() {
                let (from, to) = (&self.from[begin..][..len], output.block());
                for i in 0..len {
                    to[i] = from[i] + 1;
                }
                output.put();
                lens.push(len);
            }
            lens
        }
    }

    #[test]
    fn every_element_is_computed_once_at_any_length_and_alignment() {
        let group = PAGES * PAGE_BYTES / size_of::<u32>();
        let from: Vec<u32> = (1..=3 * group as u32).collect();
        for begin in 0..20 {
            for len in [0, 1, 15, 127, 128, 129, group - 1, group, group + 1, 2 * group + 200] {
                for streams in [false, true] {
                    let mut to = vec![0; from.len()];
                    let from = &from[..len];
                    let lens = dispatch(Successors { from, to: &mut to[begin..][..len], streams });
                    assert_eq!(lens.iter().sum::<usize>(), len);
                    assert!(lens.iter().all(|&len| 0 < len && len <= block_len::<u32>()));
                    assert!(to[..begin].iter().chain(&to[begin + len..]).all(|&to| to == 0));
                    assert!(
                        to[begin..][..len].iter().eq(from.iter().map(|x| x + 1).collect::<Vec<_>>().iter())
                    );
                }
            }
        }
    }

    #[test]
    fn an_output_in_one_go_is_one_block() {
        let mut to = vec![0_u32; 100_000];
        let mut output = Output::with(At::BASELINE, &mut to, false, false);
        assert_eq!(output.next_block(), Some((0, 100_000)));
        assert_eq!(output.next_block(), None);
    }

    #[test]
    fn blocks_take_turns_among_pages() {
        let mut blocks = Blocks::of::<u32>(8192, 3);
        let begins: Vec<_> = std::iter::from_fn(|| blocks.take()).map(|(begin, _)| begin).collect();
        assert_eq!(begins[..6], [0, 3, 1027, 2051, 3075, 259]);
    }
}
