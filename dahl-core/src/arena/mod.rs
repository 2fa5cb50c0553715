//! [`Arena`]: memory for arrays that are freed together.

mod chunk;
mod gate;
mod init;
mod ranks;

use std::fmt;
use std::panic::Location;
use std::ptr::NonNull;
use std::sync::Arc;

pub(crate) use init::output;
pub use init::{map_shape, require};
pub(crate) use ranks::{on_rank, require_rank, set_owner};

use crate::array::{Array, Shared, byte_len, require_len};
use crate::codelet::in_kernel;
use crate::element::{Element, ElementType};
use crate::error::Result;
use crate::graph::{ArrayState, Content, Engine, Origin};
use crate::machine::WorkerInfo;
use crate::memory::{ALIGN_BYTES, ARENA, ArenaShared, Carved, Chunk, Holder, RegionRef, Shortage, round_up};
use crate::sync::atomic::Ordering;
use crate::task::block_in_submission;

/// Memory for arrays that are freed together, such as those of one training step.
///
/// Arrays borrow their arena, and [`reset`](Arena::reset) takes `&mut`: the use of an array after the reset is a
/// compile error. A reset does not wait. Memory that tasks in flight still use is kept until they end and then reused,
/// so memory is bounded however long a loop runs.
///
/// Arrays begin at multiples of 64 bytes, the width of an AVX-512 register.
///
/// ```
/// # use dahl_core::{Runtime, Vector};
/// # fn main() -> dahl_core::Result<()> {
/// let rt = Runtime::builder().cpu_workers(1).build()?;
/// let mut arena = rt.arena();
/// for step in 0..3 {
///     let x: Vector<f32> = arena.from_slice([2], &[step as f32, 1.0])?;
///     assert_eq!(x.read()?[0], step as f32);
///     arena.reset();
/// }
/// # Ok(())
/// # }
/// ```
///
/// ```compile_fail
/// # use dahl_core::{Runtime, Vector};
/// # fn main() -> dahl_core::Result<()> {
/// # let rt = Runtime::new()?;
/// let mut arena = rt.arena();
/// let x: Vector<f32> = arena.zeros([2])?;
/// arena.reset(); // error: `arena` is borrowed by `x` ..
/// x.read()?; //        .. which is used here
/// # Ok(())
/// # }
/// ```
pub struct Arena {
    current: RegionRef,
    shared: Arc<ArenaShared>,
    runtime: Arc<dyn Engine>,
    /// Whether each array has memory of its own, which is free when the array is dropped.
    is_of_blocks: bool,
}

impl Arena {
    #[track_caller]
    pub(crate) fn new(runtime: Arc<dyn Engine>) -> Self {
        Self::with(runtime, None, Location::caller())
    }

    /// An arena that reserves `bytes` bytes now, and never more.
    #[track_caller]
    pub(crate) fn with_capacity(runtime: Arc<dyn Engine>, bytes: usize) -> Result<Self> {
        let location = Location::caller();
        let holder = Holder::new(ARENA, location);
        let block =
            block_in_submission(&*runtime, bytes, holder).map_err(|shortage| shortage.at(location))?;
        let arena = Self::with(runtime, Some(block.bytes()), location);
        arena.shared.note_reserved(block.bytes());
        arena.current.add(Chunk::new(block));
        Ok(arena)
    }

    /// The engine of its arrays, for programs.
    pub(crate) fn engine(&self) -> Arc<dyn Engine> {
        Arc::clone(&self.runtime)
    }

    /// Whether it is of this runtime.
    pub(crate) fn is_of(&self, engine: &dyn Engine) -> bool {
        std::ptr::addr_eq(&raw const *self.runtime, std::ptr::from_ref(engine))
    }

    /// An arena of the same runtime whose arrays have memory of their own: it is free when they are dropped.
    #[track_caller]
    pub(crate) fn of_blocks(&self) -> Self {
        let mut arena = Self::new(Arc::clone(&self.runtime));
        arena.is_of_blocks = true;
        arena
    }

    fn with(
        runtime: Arc<dyn Engine>,
        capacity_bytes: Option<usize>,
        location: &'static Location<'static>,
    ) -> Self {
        let (memory, progress) = (Arc::clone(runtime.host().memory()), Arc::clone(runtime.host().progress()));
        let holder = Holder::new(ARENA, location);
        let shared = Arc::new(ArenaShared::new(memory, progress, holder, capacity_bytes));
        runtime.host().memory().add_arena(&shared);
        Self { current: shared.take_region(), shared, runtime, is_of_blocks: false }
    }

    /// An array of zeros.
    ///
    /// # Errors
    /// If memory cannot be allocated, even after tasks in flight have ended. It waits for them only if that suffices.
    #[track_caller]
    pub fn zeros<T: Element, const N: usize>(&self, shape: [usize; N]) -> Result<Array<'_, T, N>> {
        self.array(shape, Content::Zero)
    }

    /// An array whose elements all are `value`.
    ///
    /// # Errors
    /// If memory cannot be allocated.
    #[track_caller]
    pub fn filled<T: Element, const N: usize>(&self, shape: [usize; N], value: T) -> Result<Array<'_, T, N>> {
        let mut array = self.array(shape, Content::Unset)?;
        array.fill_new(|elements| elements.fill(value));
        Ok(array)
    }

    /// An array with a copy of `elements`, in row-major order.
    ///
    /// # Errors
    /// If `shape` has another number of elements, or memory cannot be allocated.
    #[track_caller]
    pub fn from_slice<T: Element, const N: usize>(
        &self,
        shape: [usize; N],
        elements: &[T],
    ) -> Result<Array<'_, T, N>> {
        require_len("from_slice", &shape, elements.len())?;
        let mut array = self.array(shape, Content::Unset)?;
        array.fill_new(|new| new.copy_from_slice(elements));
        Ok(array)
    }

    /// An array with the elements of an iterator or vector, in row-major order.
    ///
    /// # Errors
    /// If `shape` has another number of elements, or memory cannot be allocated.
    #[track_caller]
    pub fn from_vec<T: Element, const N: usize>(
        &self,
        shape: [usize; N],
        elements: Vec<T>,
    ) -> Result<Array<'_, T, N>> {
        self.from_slice(shape, &elements)
    }

    /// An array that is filled row by row: `fill` receives the number of each row, which is an index of the first axis,
    /// and the row's elements, zeros, in row-major order. An array without axes is one row; rows without elements are
    /// skipped.
    ///
    /// # Errors
    /// If memory cannot be allocated.
    ///
    /// # Examples
    /// ```
    /// # fn main() -> dahl_core::Result<()> {
    /// # let rt = dahl_core::Runtime::new()?;
    /// let arena = rt.arena();
    /// let squares = arena.from_rows([3, 2], |row, elements: &mut [f32]| elements[1] = (row * row) as f32)?;
    /// assert_eq!(squares.to_vec()?, [0.0, 0.0, 0.0, 1.0, 0.0, 4.0]);
    /// # Ok(())
    /// # }
    /// ```
    #[track_caller]
    pub fn from_rows<T: Element, const N: usize>(
        &self,
        shape: [usize; N],
        mut fill: impl FnMut(usize, &mut [T]),
    ) -> Result<Array<'_, T, N>> {
        let mut array = self.array(shape, Content::Unset)?;
        let rows = shape.first().copied().unwrap_or(1);
        array.fill_new(|elements| {
            let of_row = elements.len().checked_div(rows).unwrap_or(0).max(1);
            for (row, elements) in elements.chunks_exact_mut(of_row).enumerate() {
                elements.fill(T::ZERO); // row by row: it is in the first cache when it is filled
                fill(row, elements);
            }
        });
        Ok(array)
    }

    /// An array whose first task must write every element.
    #[track_caller]
    pub(crate) fn array<T: Element, const N: usize>(
        &self,
        shape: [usize; N],
        content: Content,
    ) -> Result<Array<'_, T, N>> {
        const { assert!(N <= crate::shape::MAX_RANK, "an array has at most 8 axes") };
        let state = self.state(ElementType::of::<T>(), byte_len::<T>(&shape)?, content)?;
        Ok(Array::of_new(state, shape))
    }

    /// An array without its type, whose first task must write every element.
    #[track_caller]
    pub(crate) fn shared(&self, element: ElementType, extents: &[usize]) -> Result<Shared> {
        let bytes = extents.iter().product::<usize>() * element.size_bytes;
        Ok(Shared::of_new(self.state(element, bytes, Content::Unset)?))
    }

    /// A new state of `bytes` bytes.
    #[track_caller]
    fn state(&self, element: ElementType, bytes: usize, content: Content) -> Result<NonNull<ArrayState>> {
        if self.is_of_blocks {
            let location = Location::caller();
            let block = block_in_submission(&*self.runtime, bytes, Holder::new("array", location))
                .map_err(|shortage| shortage.at(location))?;
            let content = if content == Content::Zero { Content::Ready } else { content };
            let pointer = block.pointer();
            return Ok(ArrayState::create(
                &self.runtime,
                element,
                pointer,
                bytes,
                Origin::Block(block),
                content,
                None,
            ));
        }
        let carved = if bytes == 0 { None } else { Some(self.carve(bytes)?) };
        let content = match (&carved, content) {
            (Some(Carved { zero: true, .. }) | None, Content::Zero) => Content::Ready,
            (_, content) => content,
        };
        let pointer = carved.map_or(std::ptr::without_provenance_mut(ALIGN_BYTES), |carved| carved.pointer);
        let origin = Origin::Region(self.current.clone());
        Ok(ArrayState::create(&self.runtime, element, pointer, bytes, origin, content, None))
    }

    #[track_caller]
    fn carve(&self, bytes: usize) -> Result<Carved> {
        let location = Location::caller();
        let short = |shortage: Shortage| shortage.at(location);
        let lines =
            round_up(bytes).ok_or_else(|| short(Shortage::new(self.runtime.host().memory(), bytes)))?;
        loop {
            if let Some(carved) = self.current.carve(lines) {
                return Ok(carved);
            }
            // Not under the region's lock, since it may wait.
            self.current.add(self.chunk(lines, self.current.reserved_bytes()).map_err(short)?);
        }
    }

    /// Releases every array of the arena. Does not wait: memory of tasks in flight is kept until they end.
    pub fn reset(&mut self) {
        if self.current.is_sole() {
            let used = self.current.restart();
            self.shared.usual_bytes.store(used, Ordering::Relaxed);
            self.shared.current_bytes.fetch_sub(used, Ordering::Relaxed);
            return;
        }
        self.shared.usual_bytes.store(self.current.used_bytes(), Ordering::Relaxed);
        self.current.begin_dying();
        self.current = self.shared.take_region();
    }

    /// [Resets](Self::reset), and waits until tasks in flight hold at most `bytes` bytes of the arena's earlier memory.
    /// A loop then needs no more than that plus the memory of one iteration, however far the tasks lag behind.
    ///
    /// It does not wait inside a kernel. For arrays that were leaked, it waits no longer than until all tasks in flight
    /// have ended.
    ///
    /// ```
    /// # use dahl_core::{Runtime, Vector};
    /// # fn main() -> dahl_core::Result<()> {
    /// # let rt = Runtime::builder().cpu_workers(1).build()?;
    /// let mut arena = rt.arena();
    /// for _ in 0..100 {
    ///     let x: Vector<f32> = arena.zeros([1 << 18])?; // and tasks that use it
    ///     arena.reset_within(4 << 20);
    /// }
    /// assert!(arena.peak_bytes() <= 5 << 20);
    /// # Ok(())
    /// # }
    /// ```
    pub fn reset_within(&mut self, bytes: usize) {
        self.reset_beyond(bytes, bytes);
    }

    /// [Resets](Self::reset) with a high and a low watermark. It waits if tasks in flight hold more than `most_bytes`
    /// of the arena's memory, the high watermark, and then until they hold at most `left_bytes`, the low watermark.
    /// With a gap between the two, the next iterations of a loop need not wait: parking and waking a thread takes
    /// longer than a short iteration.
    ///
    /// The low watermark is at least the bytes of the current iteration plus half of the rest of `most_bytes`.
    pub fn reset_beyond(&mut self, most_bytes: usize, left_bytes: usize) {
        if !self.current.is_sole() && !in_kernel() && !self.runtime.host().is_forked() {
            // Before the reset, so that what comes free is carved anew.
            let current = self.current.reserved_bytes();
            if !self.shared.holds_within(current, most_bytes) {
                let half_of_rest = most_bytes.saturating_sub(current) / 2;
                self.wait_within(current, left_bytes.max(current + half_of_rest).min(most_bytes));
            }
        }
        self.reset();
    }

    /// While a program is recorded: says that it does something that cannot be replayed.
    #[doc(hidden)]
    #[track_caller]
    pub fn refuse(&self, what: &'static str) {
        if let Some(log) = self.runtime.host().log() {
            log.refuse(what, Location::caller());
        }
    }

    /// The workers of its runtime, as in [`Runtime::worker_infos`](crate::Runtime::worker_infos).
    pub fn worker_infos(&self) -> &[WorkerInfo] {
        self.runtime.host().worker_infos()
    }

    /// Whether its runtime is a simulated machine.
    pub fn is_simulated(&self) -> bool {
        self.runtime.host().is_simulated()
    }

    /// Another arena of the same runtime.
    #[track_caller]
    pub fn sibling(&self) -> Arena {
        Arena::new(Arc::clone(&self.runtime))
    }

    /// Bytes of the arrays in this arena, since the last reset.
    pub fn used_bytes(&self) -> usize {
        self.current.used_bytes()
    }

    /// Bytes of the arrays in this arena, and of those from before a reset that tasks in flight use.
    pub fn current_bytes(&self) -> usize {
        self.shared.current_bytes.load(Ordering::Relaxed)
    }

    /// Bytes that the arena has reserved, for its arrays, for tasks in flight, and for reuse.
    pub fn reserved_bytes(&self) -> usize {
        self.shared.reserved_bytes.load(Ordering::Relaxed)
    }

    /// The peak of its reserved bytes, including those of tasks in flight.
    pub fn peak_bytes(&self) -> usize {
        self.shared.peak_bytes.load(Ordering::Relaxed)
    }
}

impl fmt::Debug for Arena {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Arena")
            .field("current_bytes", &self.current_bytes())
            .field("reserved_bytes", &self.reserved_bytes())
            .field("peak_bytes", &self.peak_bytes())
            .finish_non_exhaustive()
    }
}

impl Drop for Arena {
    fn drop(&mut self) {
        let free = {
            let mut free = self.shared.free();
            self.shared.closed.store(true, Ordering::Relaxed);
            std::mem::take(&mut *free)
        };
        let kept: usize = free.iter().map(|region| region.reserved_bytes()).sum();
        drop(free);
        self.shared.reserved_bytes.fetch_sub(kept, Ordering::Relaxed);
        if !self.current.is_sole() {
            self.current.begin_dying();
        }
    }
}
