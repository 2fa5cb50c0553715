//! [`with_scratch`]: temporary buffers that each thread keeps and reuses, so that a kernel allocates nothing in the
//! steady state. They are the runtime's memory: a lack of it fails the task.

use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

use bytemuck::Pod;
use dahl_core::codelet::{KernelMemory, Line};

/// Calls `f` with buffers of the given lengths. Their contents are unspecified.
///
/// A nested call gets other memory.
#[inline(always)]
pub(crate) fn with_scratch<T: Pod, R, const N: usize>(
    lengths: [usize; N],
    f: impl FnOnce([&mut [T]; N]) -> R,
) -> R {
    let total = lengths.iter().fold(0, |total: usize, &length| total.saturating_add(lines_of::<T>(length)));
    let mut memory = KernelMemory::take();
    let mut rest = memory.lines(total);
    let buffers = lengths.map(|length| {
        let (buffer, after) = std::mem::take(&mut rest).split_at_mut(lines_of::<T>(length));
        rest = after;
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(buffer);
        bytemuck::cast_slice_mut(&mut bytes[..length * size_of::<T>()])
    });
    let result = f(buffers);
    memory.give_back();
    result
}

/// Elements in a temporary buffer that goes back to its thread when it is dropped.
pub(crate) struct Temporary<T: Pod> {
    memory: KernelMemory,
    len: usize,
    element: PhantomData<T>,
}

impl<T: Pod> Temporary<T> {
    /// The elements of an iterator, of which there are `len`.
    pub(crate) fn collect(len: usize, elements: impl Iterator<Item = T>) -> Self {
        let mut memory = KernelMemory::take();
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(memory.lines(lines_of::<T>(len)));
        let to: &mut [T] = bytemuck::cast_slice_mut(&mut bytes[..len * size_of::<T>()]);
        let filled = to.iter_mut().zip(elements).map(|(to, element)| *to = element).count();
        assert_eq!(filled, len, "an iterator of another length");
        Self { memory, len, element: PhantomData }
    }
}

impl<T: Pod> Deref for Temporary<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        let bytes: &[u8] = bytemuck::cast_slice(self.memory.filled(lines_of::<T>(self.len)));
        bytemuck::cast_slice(&bytes[..self.len * size_of::<T>()])
    }
}

impl<T: Pod> DerefMut for Temporary<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(self.memory.lines(lines_of::<T>(self.len)));
        bytemuck::cast_slice_mut(&mut bytes[..self.len * size_of::<T>()])
    }
}

impl<T: Pod> Drop for Temporary<T> {
    fn drop(&mut self) {
        std::mem::take(&mut self.memory).give_back();
    }
}

/// The lines that `len` elements take.
fn lines_of<T>(len: usize) -> usize {
    len.saturating_mul(size_of::<T>()).div_ceil(size_of::<Line>())
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
