//! [`Handles`]: a list of the parts' handles, which the partition keeps, so that opening it again allocates nothing.

use std::any::Any;
use std::sync::Arc;

use crate::array::Array;
use crate::element::Element;
use crate::sync::Mutex;

/// Where a partition keeps the list of its parts' handles while they are not open: empty, with its allocation.
///
/// It is counted, not borrowed: parts may be dropped after the array that they were of.
pub(super) struct Shelf<T: Element, const N: usize>(Mutex<Vec<Array<'static, T, N>>>);

/// The handles of the parts. They go back to the shelf when this goes; forgotten, they are lost.
///
/// Invariant **L**: the lifetime `'static` in here is a placeholder. The handles are borrowed from the whole, and
/// through [`as_mut_slice`](Self::as_mut_slice) a caller may have swapped any others into their places, of the shorter
/// lifetime `'p` that they were given out with, even ones that own their arrays. So whoever holds `Handles` gives its
/// elements out with `'p` alone. Nothing in here uses them but to drop them, which an array allows at any time: its
/// drop is that of a handle without a lifetime, and harmless after the array's lifetime, as it has to be for `Array`
/// to be usable until its last use.
pub(super) struct Handles<T: Element, const N: usize> {
    list: Vec<Array<'static, T, N>>,
    shelf: Arc<Shelf<T, N>>,
}

impl<T: Element, const N: usize> Shelf<T, N> {
    /// An empty shelf, for a partition, which does not know its arrays' type.
    pub(super) fn new_any() -> Arc<dyn Any + Send + Sync> {
        Arc::new(Self(Mutex::default()))
    }

    /// Exchanges an empty list for the one on the shelf.
    fn exchange(&self, list: Vec<Array<'static, T, N>>) -> Vec<Array<'static, T, N>> {
        debug_assert!(list.is_empty());
        let mut kept = self.0.lock().unwrap_or_else(|poison| poison.into_inner());
        std::mem::replace(&mut *kept, list)
    }
}

impl<T: Element, const N: usize> Handles<T, N> {
    /// The list that is on the shelf, or a new one, filled with `handles`, which are to be given out as [L](Self) says.
    pub(super) fn new(
        shelf: &Arc<dyn Any + Send + Sync>,
        handles: impl Iterator<Item = Array<'static, T, N>>,
    ) -> Self {
        let shelf = Arc::clone(shelf).downcast::<Shelf<T, N>>();
        let shelf = shelf.expect("the partitions of an array are of its element type and rank");
        let mut list = shelf.exchange(Vec::new());
        list.extend(handles);
        Self { list, shelf }
    }

    /// The handles, to be given out as [L](Self) says.
    pub(super) fn as_slice(&self) -> &[Array<'static, T, N>] {
        &self.list
    }

    /// The handles, to be changed.
    ///
    /// # Safety
    /// All elements are given out with one and the same lifetime `'p`, for which the whole is borrowed: L.
    #[allow(clippy::unnecessary_cast, reason = "it changes the lifetime, which the lint does not see")]
    pub(super) unsafe fn as_mut_slice<'p>(&mut self) -> &mut [Array<'p, T, N>] {
        let (first, len) = (self.list.as_mut_ptr().cast::<Array<'p, T, N>>(), self.list.len());
        // SAFETY: `len` elements from `first` on are the list's, borrowed from `self` for as long as the slice is given
        // out; lifetimes change no layout. What is put into it lives for `'p`, and by L nobody takes it for longer.
        unsafe { std::slice::from_raw_parts_mut(first, len) }
    }
}

impl<T: Element, const N: usize> Drop for Handles<T, N> {
    fn drop(&mut self) {
        let mut list = std::mem::take(&mut self.list);
        // Handles that own their arrays release them here, with no lock taken.
        list.clear();
        // What was on the shelf is the list of other handles of this partition, or none.
        drop(self.shelf.exchange(list));
    }
}
