//! [`ReadGuard`] and [`WriteGuard`]: access to an array by the host.
//!
//! A guard holds nothing but a borrow. Before it is created, the tasks that it must wait for have ended. While it
//! exists, the borrow prevents conflicting submissions. A leaked guard blocks no task.

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::panic::Location;

use ndarray::{ArrayRef, ArrayView, ArrayViewD, ArrayViewMut, Dim, Dimension};

use super::Array;
use crate::access::AccessMode;
use crate::element::Element;
use crate::error::Result;
use crate::print::Printed;
use crate::shape::Layout;
use crate::task;

/// A view of an array that no task is writing. Dereferences to [`ndarray::ArrayRef`].
pub struct ReadGuard<'a, T: Element, const N: usize> {
    view: ArrayView<'a, T, Dim<[usize; N]>>,
}

/// A view of an array that no task is using. Dereferences to [`ndarray::ArrayRef`].
pub struct WriteGuard<'a, T: Element, const N: usize> {
    view: ArrayViewMut<'a, T, Dim<[usize; N]>>,
}

/// Waits until the host may read, and returns the address of the first element.
#[track_caller]
pub(super) fn wait_to_read<T: Element, const N: usize>(array: &Array<'_, T, N>) -> Result<(*mut u8, Layout)> {
    wait(array, AccessMode::R, "read")
}

#[track_caller]
fn wait<T: Element, const N: usize>(
    array: &Array<'_, T, N>,
    mode: AccessMode,
    call: &'static str,
) -> Result<(*mut u8, Layout)> {
    let mut layout = Layout::EMPTY;
    array.set_layout(&mut layout);
    let pointer = task::wait_for_access(array.state(), mode, call, Location::caller())?;
    Ok((pointer, layout))
}

/// Waits until the host may read, and returns a view of any rank.
#[track_caller]
pub(super) fn view<'a, T: Element, const N: usize>(array: &'a Array<'_, T, N>) -> Result<ArrayViewD<'a, T>> {
    let (pointer, layout) = wait_to_read(array)?;
    let start = pointer.cast::<T>().wrapping_add(layout.offset);
    // SAFETY: the elements are initialised and arranged as in the layout; the writers have ended, and the borrow of the
    // array for 'a keeps new ones from being submitted.
    Ok(unsafe { ArrayView::from_shape_ptr(layout.stride_shape(), start) })
}

/// A view of an array, if its elements are available without waiting.
pub(super) fn view_if_settled<'a, T: Element, const N: usize>(
    array: &'a Array<'_, T, N>,
) -> Option<ArrayViewD<'a, T>> {
    // On one of several ranks they may be those of an earlier version, and a task that reads the array may receive it.
    let state = array.state();
    let is_alone = state.host().ranks().is_none_or(|ranks| ranks.len() == 1);
    let pointer = is_alone.then(|| state.quiescent_pointer()).flatten()?;
    let layout = array.layout();
    let start = pointer.cast::<T>().wrapping_add(layout.offset);
    // SAFETY: the elements are initialised and arranged as in the layout; no access is in progress or pending, and the
    // borrow of the array for 'a keeps writers from being submitted.
    Some(unsafe { ArrayView::from_shape_ptr(layout.stride_shape(), start) })
}

/// Calls `f` with the index of each element in its buffer, in row-major order.
pub(super) fn for_each_index(layout: &Layout, mut f: impl FnMut(usize)) {
    let (extents, strides) = (layout.extents(), layout.strides());
    if layout.is_contiguous() {
        return (0..layout.len()).for_each(|i| f(layout.offset + i));
    }
    for element in 0..layout.len() {
        let (mut rest, mut index) = (element, layout.offset);
        for axis in (0..extents.len()).rev() {
            index += (rest % extents[axis]) * strides[axis] as usize;
            rest /= extents[axis];
        }
        f(index);
    }
}

impl<'a, T: Element, const N: usize> ReadGuard<'a, T, N>
where
    Dim<[usize; N]>: Dimension,
{
    #[track_caller]
    pub(super) fn acquire(array: &'a Array<'_, T, N>) -> Result<Self> {
        let (pointer, layout) = wait_to_read(array)?;
        let start = pointer.cast::<T>().wrapping_add(layout.offset);
        // SAFETY: the elements are initialised and arranged as in the layout; the writers have ended, and the borrow of
        // the array for 'a keeps new ones from being submitted.
        let view = unsafe { ArrayView::from_shape_ptr(layout.stride_shape(), start) };
        Ok(Self { view })
    }
}

impl<T: Element, const N: usize> ReadGuard<'_, T, N>
where
    Dim<[usize; N]>: Dimension,
{
    /// The view of the guard.
    pub(super) fn view(&self) -> ArrayView<'_, T, Dim<[usize; N]>> {
        self.view.view()
    }
}

impl<'a, T: Element, const N: usize> WriteGuard<'a, T, N>
where
    Dim<[usize; N]>: Dimension,
{
    #[track_caller]
    pub(super) fn acquire(array: &'a mut Array<'_, T, N>) -> Result<Self> {
        let (pointer, layout) = wait(array, AccessMode::RW, "write")?;
        let start = pointer.cast::<T>().wrapping_add(layout.offset);
        // SAFETY: the elements are initialised and arranged as in the layout; every access has ended, and the exclusive
        // borrow of the array for 'a keeps new ones from being submitted.
        let view = unsafe { ArrayViewMut::from_shape_ptr(layout.stride_shape(), start) };
        Ok(Self { view })
    }
}

impl<T: Element, const N: usize> Deref for ReadGuard<'_, T, N>
where
    Dim<[usize; N]>: Dimension,
{
    type Target = ArrayRef<T, Dim<[usize; N]>>;

    fn deref(&self) -> &Self::Target {
        &self.view
    }
}

impl<T: Element, const N: usize> Deref for WriteGuard<'_, T, N>
where
    Dim<[usize; N]>: Dimension,
{
    type Target = ArrayRef<T, Dim<[usize; N]>>;

    fn deref(&self) -> &Self::Target {
        &self.view
    }
}

impl<T: Element, const N: usize> DerefMut for WriteGuard<'_, T, N>
where
    Dim<[usize; N]>: Dimension,
{
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.view
    }
}

/// How guards print: `Display` prints the elements, `Debug` also type and shape, and abbreviates.
macro_rules! impl_printing {
    ($($guard:ident),*) => {$(
        impl<T: Element, const N: usize> $guard<'_, T, N>
        where
            Dim<[usize; N]>: Dimension,
        {
            /// The elements as text, with more options than a formatter has: see [`Printed`].
            pub fn display(&self) -> Printed<'_, T> {
                Printed::new(self.view.view())
            }
        }

        /// The elements as [`Printed`] writes them.
        impl<T: Element, const N: usize> fmt::Display for $guard<'_, T, N>
        where
            Dim<[usize; N]>: Dimension,
        {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.display(), f)
            }
        }

        /// The elements as [`Printed`] writes them, scientific.
        impl<T: Element, const N: usize> fmt::LowerExp for $guard<'_, T, N>
        where
            Dim<[usize; N]>: Dimension,
        {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::LowerExp::fmt(&self.display(), f)
            }
        }

        impl<T: Element, const N: usize> fmt::Debug for $guard<'_, T, N>
        where
            Dim<[usize; N]>: Dimension,
        {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "Array<{}, {N}>{:?}:\n", T::NAME, self.view.shape())?;
                fmt::Display::fmt(&self.display().brief(), f)
            }
        }
    )*};
}

impl_printing!(ReadGuard, WriteGuard);
