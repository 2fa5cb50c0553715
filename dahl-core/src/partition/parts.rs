//! [`Parts`] and [`PartsMut`]: the parts of an array, borrowed from it.

use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::panic::Location;
use std::ptr::NonNull;

use ndarray::Axis;

use super::handles::{Handles, Shelf};
use crate::array::Array;
use crate::codelet::in_kernel;
use crate::element::Element;
use crate::error::{Error, ErrorKind, Result};
use crate::graph::{ArrayState, Lengths, Partition, PartitionKey};
use crate::memory::Shortage;

/// Memory that a part takes: its state, its handle, its range and its accesses of the split and the join.
const PART_BYTES: usize = size_of::<ArrayState>() + 256;
/// So many parts are always taken to fit.
const FEW_PARTS: usize = 1 << 16;

/// The parts of an array, to be read. A slice of arrays; the whole stays readable meanwhile.
pub struct Parts<'p, T: Element, const N: usize> {
    handles: Handles<T, N>,
    joins: Joins<'p>,
}

/// The parts of an array, to be changed. A slice of arrays; the whole is borrowed meanwhile.
pub struct PartsMut<'p, T: Element, const N: usize> {
    /// Without a lifetime, so that the whole can be used again after the last use of the parts, not only after their
    /// drop.
    handles: Handles<T, N>,
    whole: PhantomData<&'p T>,
}

/// Joins a shared partition when it goes.
struct Joins<'p> {
    whole: &'p ArrayState,
    partition: NonNull<Partition>,
}

// SAFETY: the partition is reached through its whole's lock alone.
unsafe impl Send for Joins<'_> {}
// SAFETY: as for `Send`.
unsafe impl Sync for Joins<'_> {}

impl Drop for Joins<'_> {
    fn drop(&mut self) {
        self.whole.partitions().join(self.whole, self.partition);
    }
}

impl<'m, T: Element, const N: usize> Array<'m, T, N> {
    /// The array in parts of `chunk` along `axis`, to be read; the last part is shorter if the extent is not a
    /// multiple. Nothing is copied.
    ///
    /// # Errors
    /// If there is no such axis, `chunk` is 0, or memory has no room for so many parts.
    #[track_caller]
    pub fn partition(&self, axis: Axis, chunk: usize) -> Result<Parts<'_, T, N>> {
        Ok(self.open_shared(axis, self.chunks_of(axis, chunk)?))
    }

    /// The array in `count` parts along `axis`, to be read, the last ones shorter or fewer if the extent is not a
    /// multiple.
    ///
    /// # Errors
    /// As [`partition`](Array::partition).
    #[track_caller]
    pub fn partition_into(&self, axis: Axis, count: usize) -> Result<Parts<'_, T, N>> {
        self.partition(axis, self.chunk_for(axis, count))
    }

    /// The array in parts of `chunk` along `axis`, to be changed; the last part is shorter if the extent is not a
    /// multiple. Nothing is copied. The array is borrowed as long as the parts are used; what is submitted on it
    /// afterwards comes after what was submitted on the parts, without a barrier.
    ///
    /// # Errors
    /// If there is no such axis, `chunk` is 0, or memory has no room for so many parts.
    #[track_caller]
    pub fn partition_mut(&mut self, axis: Axis, chunk: usize) -> Result<PartsMut<'_, T, N>> {
        let chunks = self.chunks_of(axis, chunk)?;
        self.require_changeable()?;
        Ok(self.open_exclusive(axis, chunks))
    }

    /// The array in `count` parts along `axis`, to be changed, the last ones shorter or fewer if the extent is not a
    /// multiple.
    ///
    /// # Errors
    /// As [`partition_mut`](Array::partition_mut).
    #[track_caller]
    pub fn partition_into_mut(&mut self, axis: Axis, count: usize) -> Result<PartsMut<'_, T, N>> {
        self.partition_mut(axis, self.chunk_for(axis, count))
    }

    /// The array in parts of the given `lengths` along `axis`, to be read; a length may be 0. Nothing is copied.
    ///
    /// ```
    /// # use dahl_core::{Runtime, ndarray::Axis};
    /// let rt = Runtime::new()?;
    /// let x = rt.from_vec([2, 3], vec![1, 2, 3, 4, 5, 6])?;
    /// let parts = x.partition_by(Axis(1), &[1, 2])?;
    /// assert_eq!(parts[1].to_vec()?, [2, 3, 5, 6]);
    /// # dahl_core::Result::Ok(())
    /// ```
    ///
    /// # Errors
    /// If there is no such axis, the lengths do not sum to its extent, or memory has no room for so many parts.
    #[track_caller]
    pub fn partition_by(&self, axis: Axis, lengths: &[usize]) -> Result<Parts<'_, T, N>> {
        Ok(self.open_shared(axis, self.each_of(axis, lengths)?))
    }

    /// The array in parts of the given `lengths` along `axis`, to be changed; a length may be 0. Nothing is copied. The
    /// array is borrowed as for [`partition_mut`](Array::partition_mut).
    ///
    /// # Errors
    /// As [`partition_by`](Array::partition_by).
    #[track_caller]
    pub fn partition_mut_by(&mut self, axis: Axis, lengths: &[usize]) -> Result<PartsMut<'_, T, N>> {
        let each = self.each_of(axis, lengths)?;
        self.require_changeable()?;
        Ok(self.open_exclusive(axis, each))
    }

    /// Refuses a change that a tape would not know of.
    #[track_caller]
    fn require_changeable(&self) -> Result<()> {
        if self.state().saves().is_of_tape() {
            return Err(Error::new(ErrorKind::WritesTape { call: "partition_mut" }));
        }
        Ok(())
    }

    fn chunk_for(&self, axis: Axis, count: usize) -> usize {
        self.shape()
            .get(axis.0)
            .map_or(1, |extent| if count == 0 { 0 } else { extent.div_ceil(count).max(1) })
    }

    /// The extent of `axis`, if a partition along it can be.
    #[track_caller]
    fn extent_of(&self, axis: Axis) -> Result<usize> {
        let shape = self.shape();
        let Some(&extent) = shape.get(axis.0) else {
            return Err(invalid(format!("there is no axis {} in the shape {shape:?}", axis.0)));
        };
        if in_kernel() {
            return Err(Error::new(ErrorKind::InsideKernel { call: "partition" }));
        }
        Ok(extent)
    }

    /// Part `index` of those of `chunk` along `axis`, to be changed, without a lifetime.
    ///
    /// # Safety
    /// The array is neither used nor dropped before the part is.
    #[track_caller]
    pub(crate) unsafe fn static_part(
        &mut self,
        axis: Axis,
        chunk: usize,
        index: usize,
    ) -> Result<Array<'static, T, N>> {
        let lengths = self.chunks_of(axis, chunk)?;
        let (opened, _) = self.open_partition(PartitionKey { axis: axis.0, lengths, shared: false });
        // SAFETY: as in `open_partition`.
        let partition = unsafe { opened.as_ref() };
        let (state, (begin, len)) = (partition.parts()[index], partition.ranges()[index]);
        Ok(self.part(state, axis.0, begin, len))
    }

    #[track_caller]
    fn chunks_of(&self, axis: Axis, chunk: usize) -> Result<Lengths<'static>> {
        let extent = self.extent_of(axis)?;
        if chunk == 0 {
            return Err(invalid(format!("parts of 0 along axis {} of the shape {:?}", axis.0, self.shape())));
        }
        self.require_room(extent.div_ceil(chunk))?;
        Ok(Lengths::Chunks { extent, chunk })
    }

    /// Refuses more parts than memory has room for: without it the process would end.
    #[track_caller]
    fn require_room(&self, parts: usize) -> Result<()> {
        let is_room = || Vec::<[u8; PART_BYTES]>::new().try_reserve_exact(parts).is_ok();
        if parts <= FEW_PARTS || (u32::try_from(parts).is_ok() && is_room()) {
            return Ok(());
        }
        let memory = self.state().host().memory();
        Err(Shortage::new(memory, parts.saturating_mul(PART_BYTES)).at(Location::caller()))
    }

    #[track_caller]
    fn each_of<'a>(&self, axis: Axis, lengths: &'a [usize]) -> Result<Lengths<'a>> {
        let extent = self.extent_of(axis)?;
        let sum = lengths.iter().try_fold(0_usize, |sum, &length| sum.checked_add(length));
        if sum != Some(extent) {
            let (axis, shape) = (axis.0, self.shape());
            let sum = sum.map_or("more than memory holds".to_owned(), |sum| sum.to_string());
            return Err(invalid(format!(
                "parts of {lengths:?} sum to {sum}, not to the extent {extent} of axis {axis} of the shape {shape:?}"
            )));
        }
        self.require_room(lengths.len())?;
        Ok(Lengths::Each(lengths))
    }

    #[track_caller]
    fn open_shared(&self, axis: Axis, lengths: Lengths<'_>) -> Parts<'_, T, N> {
        let (partition, handles) = self.open_partition(PartitionKey { axis: axis.0, lengths, shared: true });
        Parts { handles, joins: Joins { whole: self.state(), partition } }
    }

    #[track_caller]
    fn open_exclusive(&mut self, axis: Axis, lengths: Lengths<'_>) -> PartsMut<'_, T, N> {
        let (_, handles) = self.open_partition(PartitionKey { axis: axis.0, lengths, shared: false });
        PartsMut { handles, whole: PhantomData }
    }

    /// Opens a partition, and makes the handles of its parts.
    #[track_caller]
    fn open_partition(&self, key: PartitionKey<'_>) -> (NonNull<Partition>, Handles<T, N>) {
        let opened =
            self.state().partitions().open(self.state(), key, &self.layout(), Shelf::<T, N>::new_any);
        // SAFETY: the partition was opened just now; it is not freed or used anew before it is joined, which takes
        // another access to the whole.
        let partition = unsafe { opened.as_ref() };
        let parts = partition.parts().iter().zip(partition.ranges());
        let handles = parts.map(|(&state, &(begin, len))| self.part(state, key.axis, begin, len));
        (opened, Handles::new(partition.shelf(), handles))
    }
}

#[track_caller]
fn invalid(fact: String) -> Error {
    Error::new(ErrorKind::InvalidShape { subject: "partition", fact })
}

impl<'p, T: Element, const N: usize> Deref for Parts<'p, T, N> {
    type Target = [Array<'p, T, N>];

    fn deref(&self) -> &Self::Target {
        self.handles.as_slice()
    }
}

impl<'p, T: Element, const N: usize> Deref for PartsMut<'p, T, N> {
    type Target = [Array<'p, T, N>];

    fn deref(&self) -> &Self::Target {
        self.handles.as_slice()
    }
}

impl<T: Element, const N: usize> DerefMut for PartsMut<'_, T, N> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        // SAFETY: invariant L of `Handles`: this is the only place that gives its elements out for change, with the
        // parts' lifetime, and `deref` above is the only other one that gives them out, with the same.
        unsafe { self.handles.as_mut_slice() }
    }
}

impl<T: Element, const N: usize> std::fmt::Debug for Parts<'_, T, N> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let _ = &self.joins;
        f.debug_tuple("Parts").field(&&**self).finish()
    }
}

impl<T: Element, const N: usize> std::fmt::Debug for PartsMut<'_, T, N> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("PartsMut").field(&&**self).finish()
    }
}
