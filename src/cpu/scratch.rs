//! [`with_scratch`]: temporary buffers that each thread keeps and reuses, so that a kernel allocates nothing in the
//! steady state.

use std::cell::RefCell;

use bytemuck::{Pod, Zeroable};

/// A cache line; buffers consist of lines, so that each begins at a multiple of 64 bytes.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C, align(64))]
struct Line([u8; 64]);

thread_local! {
    /// The buffers that are not in use. Nested calls take and return them in the same order each time.
    static FREE: RefCell<Vec<Vec<Line>>> = const { RefCell::new(Vec::new()) };
}

/// Calls `f` with buffers of the given lengths. Their contents are unspecified.
///
/// A nested call gets other memory.
#[inline(always)]
pub(crate) fn with_scratch<T: Pod, R, const N: usize>(
    lengths: [usize; N],
    f: impl FnOnce([&mut [T]; N]) -> R,
) -> R {
    let lines_of = |length: usize| (length * size_of::<T>()).div_ceil(size_of::<Line>());
    let total = lengths.iter().map(|&length| lines_of(length)).sum();
    let mut lines = FREE.with_borrow_mut(Vec::pop).unwrap_or_default();
    if lines.len() < total {
        lines.resize(total, Line::zeroed());
    }
    let mut rest = lines.as_mut_slice();
    let buffers = lengths.map(|length| {
        let (buffer, after) = std::mem::take(&mut rest).split_at_mut(lines_of(length));
        rest = after;
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(buffer);
        bytemuck::cast_slice_mut(&mut bytes[..length * size_of::<T>()])
    });
    let result = f(buffers);
    FREE.with_borrow_mut(|free| free.push(lines));
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_are_disjoint_aligned_and_recycled() {
        let first = with_scratch([3, 0, 17], |[a, b, c]: [&mut [f64]; 3]| {
            a.fill(1.0);
            c.fill(2.0);
            assert_eq!((a.len(), b.len(), c.len()), (3, 0, 17));
            assert!(a.iter().all(|&x| x == 1.0));
            assert_eq!(a.as_ptr() as usize % 64, 0);
            assert_eq!(c.as_ptr() as usize % 64, 0);
            a.as_ptr() as usize
        });
        let second = with_scratch([5], |[a]: [&mut [u8]; 1]| a.as_ptr() as usize);
        assert_eq!(first, second);
    }

    #[test]
    fn elements_need_not_divide_a_line() {
        with_scratch([3], |[a]: [&mut [[usize; 3]]; 1]| assert_eq!(a.len(), 3));
    }

    #[test]
    fn nested_buffers_do_not_overlap() {
        with_scratch([4], |[outer]: [&mut [u32]; 1]| {
            outer.fill(7);
            with_scratch([1000], |[inner]: [&mut [u32]; 1]| inner.fill(9));
            assert_eq!(outer, [7; 4]);
        });
    }
}
