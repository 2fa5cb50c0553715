//! [`Array`]: the handle of an array, by which programs use it.

use std::fmt;
use std::marker::PhantomData;
use std::panic::Location;
use std::ptr::NonNull;
use std::sync::Arc;

use super::guard::{self, ReadGuard, WriteGuard};
use super::len::require_len;
use super::reshaped::{Reshaped, ReshapedMut};
use super::stand_ins;
use crate::access::AccessMode;
use crate::array_id::ArrayId;
use crate::device::Requester;
use crate::element::{Element, ElementType};
use crate::error::{Error, ErrorKind, Result};
use crate::graph::{ArrayState, Content, Engine, Origin};
use crate::memory::Block as MemoryBlock;
use crate::print::Printed;
use crate::ranks::Ranks;
use crate::shape::{Extents, Layout, row_major_strides};
use crate::task::Step;

/// An array of rank 0.
pub type Scalar<'m, T> = Array<'m, T, 0>;
/// An array of rank 1.
pub type Vector<'m, T> = Array<'m, T, 1>;
/// An array of rank 2.
pub type Matrix<'m, T> = Array<'m, T, 2>;
/// An array of rank 3.
pub type Block<'m, T> = Array<'m, T, 3>;
/// An array of rank 4.
pub type Tensor<'m, T> = Array<'m, T, 4>;

/// Data known to the runtime: `N` extents, elements of type `T` in row-major order.
///
/// It lives in an [`Arena`](crate::Arena) for `'m`, or, as `Array<'static, ..>`, on its own
/// ([`Runtime::zeros`](crate::Runtime::zeros)). Calls that submit tasks take `&Array` to read and `&mut Array` to write
/// it, and return immediately. The tasks run in an order that gives the results of the order of submission. The host
/// accesses the array with [`read`](Array::read) and [`write`](Array::write), which wait for the tasks that they depend
/// on.
pub struct Array<'m, T, const N: usize> {
    handle: Handle,
    shape: [usize; N],
    layout: PartLayout<N>,
    lives: PhantomData<&'m T>,
}

/// How an array's elements are arranged in the buffer of its state.
#[derive(Clone, Copy, Debug)]
pub(crate) enum PartLayout<const N: usize> {
    /// All of it, in row-major order.
    Whole,
    /// A part: strides and the offset of the first element, in elements.
    Part([isize; N], usize),
}

/// Owns a state, or borrows one for the array's lifetime.
///
/// The flag and the pointer are in one struct: swapping two arrays through `&mut` swaps both.
#[derive(Debug)]
pub(super) struct Handle {
    state: NonNull<ArrayState>,
    owned: bool,
}

// SAFETY: a state is accessed through its chain, which is atomic, and otherwise in the order of the tasks.
unsafe impl Send for Handle {}
// SAFETY: as for `Send`; `&Array` only submits reads, which several threads may do.
unsafe impl Sync for Handle {}

impl Handle {
    /// The first owner of a new state.
    pub(super) fn first(state: NonNull<ArrayState>) -> Self {
        Self { state, owned: true }
    }

    /// Another owner of a state that a handle keeps.
    pub(super) fn of(state: &ArrayState) -> Self {
        state.owners().add();
        Self { state: NonNull::from(state), owned: true }
    }

    /// Another owner of the state.
    pub(super) fn share(&self) -> Self {
        Self::of(self.state())
    }

    /// A handle that does not own the state, for an array whose lifetime borrows the owner.
    pub(super) fn borrowed(&self) -> Self {
        Self { state: self.state, owned: false }
    }

    pub(super) fn state(&self) -> &ArrayState {
        // SAFETY: a state is freed after its release link, which the owning handle's drop appends; a borrowing
        // handle is in an `Array` whose lifetime borrows the owner.
        unsafe { self.state.as_ref() }
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        // What others did before they let go has happened for the last owner.
        if self.owned && (self.state().owners().is_sole() || self.state().owners().let_go()) {
            // The runtime must outlive this call, even if the state, which keeps it alive, is freed immediately.
            let engine = Arc::clone(self.state().engine());
            // Tasks on parts precede the release. Contributions to a reduction that nobody reads need not.
            self.state().partitions().rejoin(self.state(), AccessMode::RW);
            if let Some(ranks) = engine.host().ranks() {
                ranks.table().forget(self.state().id());
            }
            // SAFETY: the owner is dropped once, and no access is submitted after it.
            Step::new(&*engine, None).run(|step| unsafe { ArrayState::release(self.state, step) });
        }
    }
}

impl<'m, T: Element, const N: usize> Array<'m, T, N> {
    pub(crate) fn new(
        engine: &Arc<dyn Engine>,
        shape: [usize; N],
        pointer: *mut u8,
        origin: Origin,
        content: Content,
    ) -> Self {
        const { assert!(N <= crate::shape::MAX_RANK, "an array has at most 8 axes") };
        let bytes = shape.iter().product::<usize>() * size_of::<T>();
        let state = ArrayState::create(engine, ElementType::of::<T>(), pointer, bytes, origin, content, None);
        Self::of_handle(Handle::first(state), shape, PartLayout::Whole)
    }

    /// The array of a new state.
    pub(crate) fn of_new(state: NonNull<ArrayState>, shape: [usize; N]) -> Self {
        Self::of_handle(Handle::first(state), shape, PartLayout::Whole)
    }

    /// An array with a block of its own, which is zero.
    pub(crate) fn from_block(engine: &Arc<dyn Engine>, shape: [usize; N], block: MemoryBlock) -> Self {
        let pointer = block.pointer();
        Self::new(engine, shape, pointer, Origin::Block(block), Content::Ready)
    }

    /// Fills an array that was created with [`Content::Unset`] and has no tasks.
    pub(crate) fn fill_new(&mut self, fill: impl FnOnce(&mut [T])) {
        let state = self.handle.state();
        // SAFETY: the array is new: `&mut self`, and no task has been submitted on it. Its bytes are initialised
        // (blocks are zeroed), span `len` elements, and are aligned for any element.
        let elements = unsafe { std::slice::from_raw_parts_mut(state.pointer().cast(), self.len()) };
        fill(elements);
        if let Some(log) = state.host().log() {
            log.filled(state.id(), bytemuck::cast_slice(elements));
        }
        state.set_ready();
    }

    /// An array of an owner.
    pub(super) fn of_handle(handle: Handle, shape: [usize; N], layout: PartLayout<N>) -> Self {
        Self { handle, shape, layout, lives: PhantomData }
    }

    /// Whether its handle owns the array, and the array is whole.
    pub(super) fn is_owner(&self) -> bool {
        self.handle.owned && matches!(self.layout, PartLayout::Whole)
    }

    /// Its handle, if that owns the array, and the array is whole.
    pub(super) fn into_handle(self) -> Option<Handle> {
        self.is_owner().then_some(self.handle)
    }

    /// The same array with the lifetime of the borrow, so that an array of a shorter life can take its place.
    ///
    /// # Safety
    /// What is in it afterwards is used as an array that lives for `'m` only if it owns its elements.
    pub(crate) unsafe fn shortened<'r>(&'r mut self) -> &'r mut Array<'r, T, N> {
        // SAFETY: the lifetime is that of `PhantomData` alone, so the layout is the same. The caller keeps what is put in
        // its place from being used for longer than it lives.
        unsafe { &mut *std::ptr::from_mut(self).cast::<Array<'r, T, N>>() }
    }

    /// Another handle of the same state, which does not own it, with another shape of as many elements.
    fn alias<'b, const M: usize>(&self, shape: [usize; M], layout: PartLayout<M>) -> Array<'b, T, M> {
        Array { handle: self.handle.borrowed(), shape, layout, lives: PhantomData }
    }
}

impl<'m, T: Element, const N: usize> Array<'m, T, N> {
    /// The extents, one for each axis.
    pub fn shape(&self) -> [usize; N] {
        self.shape
    }

    /// The id of the array for observers, schedulers and traces. No other array of the runtime ever has the same.
    pub fn id(&self) -> ArrayId {
        self.state().id()
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        self.shape.iter().product()
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The extents, as in the expressions of a declaration.
    pub fn extents(&self) -> Extents<N> {
        Extents::new(self.shape)
    }

    /// Waits for the tasks that write the array, and returns a view of it. Tasks may read the array meanwhile.
    ///
    /// # Errors
    /// If a task that the array depends on failed; or inside a kernel.
    #[track_caller]
    pub fn read(&self) -> Result<ReadGuard<'_, T, N>>
    where
        ndarray::Dim<[usize; N]>: ndarray::Dimension,
    {
        ReadGuard::acquire(self)
    }

    /// Starts copying the elements to the memory of worker `worker`, ahead of a task that will read them there. It does
    /// not wait for tasks, though it may wait for earlier copies. It does nothing if that worker uses the main memory,
    /// if its memory has no free space, if tasks still use the array, in a simulation, or within a call of
    /// [`Runtime::on_rank`](crate::Runtime::on_rank) that names another rank.
    ///
    /// For arrays that the host has written and that later tasks will read: the next batch during the training on this
    /// one.
    #[track_caller]
    pub fn prefetch(&self, worker: usize) {
        let state = self.state();
        let host = state.host();
        let is_elsewhere = |ranks: &Ranks| ranks.placement().is_some_and(|rank| rank != ranks.rank());
        if host.ranks().is_some_and(is_elsewhere)
            || worker >= host.workers()
            || !host.is_real_device(worker)
            || state.quiescent_pointer().is_none()
        {
            return;
        }
        let requester = Requester { name: "prefetch", location: Location::caller() };
        // SAFETY: no access is in progress or pending, and the borrow of the array keeps writers from being submitted:
        // that is a shared access of the host.
        unsafe { state.prefetch(host.worker(worker).node, requester) };
    }

    /// Waits for the tasks that use the array, and returns a mutable view of it.
    ///
    /// # Errors
    /// If a task that the array depends on failed; or inside a kernel.
    #[track_caller]
    pub fn write(&mut self) -> Result<WriteGuard<'_, T, N>>
    where
        ndarray::Dim<[usize; N]>: ndarray::Dimension,
    {
        WriteGuard::acquire(self)
    }

    /// Waits for the tasks that write the array, and copies its elements, in row-major order.
    ///
    /// # Errors
    /// As [`read`](Array::read).
    #[track_caller]
    pub fn to_vec(&self) -> Result<Vec<T>> {
        let (pointer, layout) = guard::wait_to_read(self)?;
        let mut elements = Vec::with_capacity(self.len());
        guard::for_each_index(&layout, |index| {
            // SAFETY: `index` is that of an element, initialised and aligned, and no task writes it while `self` is
            // borrowed.
            elements.push(unsafe { pointer.cast::<T>().wrapping_add(index).read() });
        });
        Ok(elements)
    }

    /// Waits for the tasks that write the array, and returns its elements as text, formatted like NumPy.
    ///
    /// ```
    /// # fn main() -> dahl_core::Result<()> {
    /// let rt = dahl_core::Runtime::builder().cpu_workers(1).build()?;
    /// let x = rt.from_vec([2, 3], vec![1.0, 2.5, 3.0, -0.25, 0.0, 10.0])?;
    /// assert_eq!(x.display()?.to_string(), "[[ 1.    2.5   3.  ]\n [-0.25  0.   10.  ]]");
    /// println!("{:.3}", x.display()?);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`read`](Array::read).
    #[track_caller]
    pub fn display(&self) -> Result<Printed<'_, T>> {
        guard::view(self).map(Printed::new)
    }

    /// The same elements in another shape; nothing is copied.
    ///
    /// # Errors
    /// If `shape` has another number of elements, or this is a part whose elements are not contiguous.
    #[track_caller]
    pub fn reshape<const M: usize>(self, shape: [usize; M]) -> Result<Array<'m, T, M>> {
        let layout = self.reshape_layout("reshape", shape)?;
        Ok(Array { handle: self.handle, shape, layout, lives: PhantomData })
    }

    /// The same elements in another shape, borrowed; nothing is copied.
    ///
    /// # Errors
    /// As [`reshape`](Array::reshape).
    #[track_caller]
    pub fn reshaped<const M: usize>(&self, shape: [usize; M]) -> Result<Reshaped<'_, T, M>> {
        Ok(Reshaped::new(self.alias(shape, self.reshape_layout("reshaped", shape)?)))
    }

    /// The same elements in another shape, borrowed mutably; nothing is copied.
    ///
    /// # Errors
    /// As [`reshape`](Array::reshape).
    #[track_caller]
    pub fn reshaped_mut<const M: usize>(&mut self, shape: [usize; M]) -> Result<ReshapedMut<'_, T, M>> {
        Ok(ReshapedMut::new(self.alias(shape, self.reshape_layout("reshaped_mut", shape)?)))
    }

    /// The layout of the same elements in another shape.
    #[track_caller]
    fn reshape_layout<const M: usize>(
        &self,
        subject: &'static str,
        shape: [usize; M],
    ) -> Result<PartLayout<M>> {
        require_len(subject, &shape, self.len())?;
        match &self.layout {
            PartLayout::Whole => Ok(PartLayout::Whole),
            PartLayout::Part(_, offset) if self.layout().is_contiguous() => {
                let strides = row_major_strides(&shape);
                Ok(PartLayout::Part(std::array::from_fn(|axis| strides[axis]), *offset))
            }
            PartLayout::Part(strides, _) => {
                let fact =
                    format!("a part of shape {:?} and strides {strides:?} is not contiguous", self.shape);
                Err(Error::new(ErrorKind::InvalidShape { subject, fact }))
            }
        }
    }

    /// Its state; for an argument of a program that is being recorded, the stand-in's.
    #[inline]
    pub(crate) fn state(&self) -> &ArrayState {
        stand_ins::of(self.handle.state())
    }

    /// A handle of the part with the state `state`: `len` indices from `begin` on along `axis`.
    pub(crate) fn part<'p>(
        &self,
        state: NonNull<ArrayState>,
        axis: usize,
        begin: usize,
        len: usize,
    ) -> Array<'p, T, N> {
        let layout = self.layout().part(axis, begin, len);
        let strides = layout.strides();
        let mut shape = self.shape;
        shape[axis] = len;
        Array {
            handle: Handle { state, owned: false },
            shape,
            layout: PartLayout::Part(std::array::from_fn(|axis| strides[axis]), layout.offset),
            lives: PhantomData,
        }
    }

    /// The layout of the elements in the buffer of the state.
    pub(crate) fn layout(&self) -> Layout {
        let mut layout = Layout::EMPTY;
        self.set_layout(&mut layout);
        layout
    }

    /// Writes the layout of an access to this array.
    pub(crate) fn set_layout(&self, layout: &mut Layout) {
        match &self.layout {
            PartLayout::Whole => layout.set_contiguous(&self.shape),
            PartLayout::Part(strides, offset) => layout.set_strided(&self.shape, strides, *offset),
        }
    }
}

/// Element type, rank and shape, and the elements (abbreviated for a large array) if they are available. It never
/// waits: it leaves the elements out while a task may write them.
impl<T: Element, const N: usize> fmt::Debug for Array<'_, T, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Array<{}, {N}>{:?}", T::NAME, self.shape)?;
        let Some(view) = guard::view_if_settled(self) else { return Ok(()) };
        f.write_str(":\n")?;
        fmt::Display::fmt(&Printed::new(view).brief(), f)
    }
}
