//! [`Arena`]: where arrays live that go together.

use std::fmt;
use std::panic::Location;
use std::sync::Arc;

use super::region::{Carved, Chunk, Region, RegionRef};
use super::shortage::wait_for;
use super::{ArenaUse, Block, Holder, Shortage, block_in_submission, round_up};
use crate::array::{Array, Content, Origin};
use crate::element::Element;
use crate::error::{Error, ErrorKind, Result};
use crate::runtime::Shared;
use crate::scheduler::WorkerInfo;
use crate::shape::checked_len;
use crate::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use crate::sync::{Mutex, MutexGuard};
use crate::worker::{self, Interest};

/// Memory for arrays that go together, such as those of one training step.
///
/// Arrays borrow the arena they live in, and [`reset`](Arena::reset) takes `&mut`: an array that is used after the
/// reset does not compile. A reset waits for nothing. What tasks in flight still use is kept until they end and is
/// then used anew, so memory stays bounded however long the loop.
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
}

/// Regions to be carved anew.
#[allow(clippy::vec_box, reason = "a region goes to and fro without moving and without an allocation")]
type FreeRegions = Vec<Box<Region>>;

/// What an arena shares with its regions, which may outlive it.
pub(super) struct ArenaShared {
    runtime: Arc<Shared>,
    holder: Holder,
    /// If there is one, as much is reserved from the start, in one chunk.
    capacity_bytes: Option<usize>,
    free: Mutex<FreeRegions>,
    /// Whether the arena is gone: regions that come back are then freed.
    closed: AtomicBool,
    /// Bytes carved off, in all regions that are in use.
    current_bytes: AtomicUsize,
    reserved_bytes: AtomicUsize,
    peak_bytes: AtomicUsize,
    /// What the last step before a reset used.
    usual_bytes: AtomicUsize,
    /// Bytes of regions that the arena has let go of and that tasks in flight hold.
    dying_bytes: AtomicUsize,
    /// Of them, how many may be left for a thread that waits in [`Arena::reset_within`]; 0 if none does.
    awaited_bytes: AtomicUsize,
}

impl fmt::Debug for ArenaShared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ArenaShared").field("reserved_bytes", &self.reserved_bytes).finish_non_exhaustive()
    }
}

impl Drop for ArenaShared {
    fn drop(&mut self) {
        self.runtime.memory().end_arena(self.holder.location, self.peak_bytes.load(Ordering::Relaxed));
    }
}

impl ArenaShared {
    fn free(&self) -> MutexGuard<'_, FreeRegions> {
        self.free.lock().unwrap_or_else(|poison| poison.into_inner())
    }

    fn note_reserved(&self, bytes: usize) {
        let reserved = self.reserved_bytes.fetch_add(bytes, Ordering::Relaxed) + bytes;
        self.peak_bytes.fetch_max(reserved, Ordering::Relaxed);
    }

    pub(super) fn note_carved(&self, bytes: usize) {
        self.current_bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    /// A chunk of at least `bytes` bytes for a region that has `held` already. Waits if tasks in flight can free enough.
    fn chunk(&self, bytes: usize, held: usize) -> std::result::Result<Chunk, Shortage> {
        let node = self.runtime.memory();
        if let Some(capacity_bytes) = self.capacity_bytes {
            let fits = bytes <= capacity_bytes;
            let may = || fits && self.dying_bytes.load(Ordering::Acquire) > 0;
            return wait_for(&self.runtime, || self.take_kept(), may).ok_or_else(|| {
                let used_bytes = self.current_bytes.load(Ordering::Relaxed);
                Shortage { capacity: Some((capacity_bytes, used_bytes)), ..Shortage::new(node, bytes) }
            });
        }
        // As much as the last steps needed, at least doubling: a region ends with few chunks. Where little is left, no
        // more than is needed.
        let usual = self.usual_bytes.load(Ordering::Relaxed);
        let wished = bytes.max(held).max(usual.saturating_sub(held));
        let spacious = if wished > bytes && node.has_room(wished.saturating_mul(2)) {
            Block::zeroed(node, wished, self.holder)
        } else {
            None
        };
        let block = spacious.map_or_else(|| block_in_submission(&self.runtime, bytes, self.holder), Ok)?;
        self.note_reserved(block.bytes());
        Ok(Chunk::new(block))
    }

    /// The chunk of a free region, if one has any.
    fn take_kept(&self) -> Option<Chunk> {
        self.free().iter().find_map(|region| region.take_chunk())
    }

    /// Frees regions that are kept to be used anew, until they make `bytes`. Returns how many bytes they made.
    pub(super) fn trim(&self, bytes: usize) -> usize {
        let mut freed = 0;
        while freed < bytes && self.capacity_bytes.is_none() {
            let Some(region) = self.free().pop() else { break };
            let reserved = region.reserved_bytes();
            drop(region);
            self.reserved_bytes.fetch_sub(reserved, Ordering::Relaxed);
            freed += reserved;
        }
        freed
    }

    /// The line that made it.
    pub(super) fn location(&self) -> &'static Location<'static> {
        self.holder.location
    }

    /// Adds what it holds.
    pub(super) fn add_to(&self, sum: ArenaUse) -> ArenaUse {
        ArenaUse {
            current_bytes: sum.current_bytes + self.current_bytes.load(Ordering::Relaxed),
            reserved_bytes: sum.reserved_bytes + self.reserved_bytes.load(Ordering::Relaxed),
            peak_bytes: sum.peak_bytes.max(self.peak_bytes.load(Ordering::Relaxed)),
            ..sum
        }
    }

    /// Bytes that are reserved and not carved off.
    pub(super) fn idle_bytes(&self) -> usize {
        let current = self.current_bytes.load(Ordering::Relaxed);
        self.reserved_bytes.load(Ordering::Relaxed).saturating_sub(current)
    }

    /// Takes back a region of which `used` bytes had been carved off.
    pub(super) fn give_back(&self, region: Box<Region>, used: usize) {
        self.current_bytes.fetch_sub(used, Ordering::Relaxed);
        let mut free = self.free();
        if self.closed.load(Ordering::Relaxed) {
            drop(free);
            let reserved = region.reserved_bytes();
            drop(region);
            self.reserved_bytes.fetch_sub(reserved, Ordering::Relaxed);
        } else {
            free.push(region);
        }
    }

    /// Notes that a region of `bytes` bytes is held by tasks in flight alone.
    pub(super) fn begin_dying(&self, bytes: usize) {
        self.dying_bytes.fetch_add(bytes, Ordering::AcqRel);
        self.runtime.memory().begin_dying(bytes);
    }

    /// Notes that such a region has come back.
    pub(super) fn end_dying(&self, bytes: usize) {
        let left = self.dying_bytes.fetch_sub(bytes, Ordering::AcqRel) - bytes;
        self.runtime.memory().end_dying(bytes);
        // Else a thread that waits for the arena's bytes would wait on.
        self.runtime.progress().notify_of_bytes(|| left <= self.awaited_bytes.load(Ordering::Relaxed));
    }

    fn take_region(self: &Arc<Self>) -> RegionRef {
        let region = self.free().pop().unwrap_or_else(Region::empty);
        RegionRef::new(region, self)
    }
}

impl Arena {
    #[track_caller]
    pub(crate) fn new(runtime: Arc<Shared>) -> Self {
        Self::with(runtime, None, Location::caller())
    }

    /// An arena that reserves `bytes` bytes now, and no more later.
    #[track_caller]
    pub(crate) fn with_capacity(runtime: Arc<Shared>, bytes: usize) -> Result<Self> {
        let location = Location::caller();
        let holder = Holder::new("arena", location);
        let block = block_in_submission(&runtime, bytes, holder).map_err(|shortage| shortage.at(location))?;
        let arena = Self::with(runtime, Some(block.bytes()), location);
        arena.shared.note_reserved(block.bytes());
        arena.current.add(Chunk::new(block));
        Ok(arena)
    }

    fn with(
        runtime: Arc<Shared>,
        capacity_bytes: Option<usize>,
        location: &'static Location<'static>,
    ) -> Self {
        let shared = Arc::new(ArenaShared {
            runtime,
            holder: Holder::new("arena", location),
            capacity_bytes,
            free: Mutex::default(),
            closed: AtomicBool::new(false),
            current_bytes: AtomicUsize::new(0),
            reserved_bytes: AtomicUsize::new(0),
            peak_bytes: AtomicUsize::new(0),
            usual_bytes: AtomicUsize::new(0),
            dying_bytes: AtomicUsize::new(0),
            awaited_bytes: AtomicUsize::new(0),
        });
        shared.runtime.memory().add_arena(&shared);
        Self { current: shared.take_region(), shared }
    }

    /// An array of zeros.
    ///
    /// # Errors
    /// If the memory cannot be had, not even when tasks in flight have ended; it waits for them only if that suffices.
    #[track_caller]
    pub fn zeros<T: Element, const N: usize>(&self, shape: [usize; N]) -> Result<Array<'_, T, N>> {
        self.array(shape, Content::Zero)
    }

    /// An array whose elements all are `value`.
    ///
    /// # Errors
    /// If the memory cannot be had.
    #[track_caller]
    pub fn filled<T: Element, const N: usize>(&self, shape: [usize; N], value: T) -> Result<Array<'_, T, N>> {
        let mut array = self.array(shape, Content::Unset)?;
        array.fill_new(|elements| elements.fill(value));
        Ok(array)
    }

    /// An array with a copy of `elements`, in row-major order.
    ///
    /// # Errors
    /// If `shape` has another number of elements, or the memory cannot be had.
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
    /// If `shape` has another number of elements, or the memory cannot be had.
    #[track_caller]
    pub fn from_vec<T: Element, const N: usize>(
        &self,
        shape: [usize; N],
        elements: Vec<T>,
    ) -> Result<Array<'_, T, N>> {
        self.from_slice(shape, &elements)
    }

    /// An array that is made row by row: `fill` gets the number of each row, which is what lies at one index of the first axis,
    /// and its elements, zeros, in row-major order. An array without axes is one row; rows without elements are not filled.
    ///
    /// # Errors
    /// If the memory cannot be had.
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
        let bytes = byte_len::<T>(&shape)?;
        let carved = if bytes == 0 { None } else { Some(self.carve(bytes)?) };
        let content = match (&carved, content) {
            (Some(Carved { zero: true, .. }) | None, Content::Zero) => Content::Ready,
            (_, content) => content,
        };
        let pointer =
            carved.map_or(std::ptr::without_provenance_mut(super::ALIGN_BYTES), |carved| carved.pointer);
        let origin = Origin::Region(self.current.clone());
        Ok(Array::new(&self.shared.runtime, shape, pointer, origin, content))
    }

    #[track_caller]
    fn carve(&self, bytes: usize) -> Result<Carved> {
        let location = Location::caller();
        let short = |shortage: Shortage| shortage.at(location);
        let lines =
            round_up(bytes).ok_or_else(|| short(Shortage::new(self.shared.runtime.memory(), bytes)))?;
        loop {
            if let Some(carved) = self.current.carve(lines) {
                return Ok(carved);
            }
            // Not under the region's lock, since it may wait.
            self.current.add(self.shared.chunk(lines, self.current.reserved_bytes()).map_err(short)?);
        }
    }

    /// Lets go of every array that lives here. Waits for nothing: memory of tasks in flight is kept until they end.
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

    /// [Resets](Self::reset), and waits until tasks in flight hold at most `bytes` bytes of the arena's memory from before: so a
    /// loop holds no more than that and what one turn of it makes, however far the tasks are behind.
    ///
    /// In a kernel it does not wait; nor for arrays that were forgotten, for longer than it takes to run all that is in flight.
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
        if !self.current.is_sole() && !worker::in_kernel() {
            let (shared, runtime) = (&self.shared, &self.shared.runtime);
            // Before the reset, so that what comes free is carved anew.
            let current = self.current.reserved_bytes();
            let may_go_on = || shared.dying_bytes.load(Ordering::Acquire) + current <= bytes;
            // When so many tasks have ended, beside another thread that submits, none of those in flight now is left.
            let until = runtime.completed() + 2 * u64::from(runtime.limit());
            // Before it waits, as `Monitor::wait_until` asks.
            shared.awaited_bytes.store(bytes.saturating_sub(current), Ordering::Relaxed);
            let go_on = || may_go_on() || runtime.is_drained() || runtime.completed() >= until;
            runtime.wait_with(Interest::Bytes, go_on);
            shared.awaited_bytes.store(0, Ordering::Relaxed);
        }
        self.reset();
    }

    /// The workers of its runtime, as [`Runtime::worker_infos`](crate::Runtime::worker_infos) has them.
    pub fn worker_infos(&self) -> &[WorkerInfo] {
        self.shared.runtime.worker_infos()
    }

    /// Another arena of the same runtime.
    #[track_caller]
    pub fn sibling(&self) -> Arena {
        Arena::new(Arc::clone(&self.shared.runtime))
    }

    /// Bytes of the arrays that live here, since the last reset.
    pub fn used_bytes(&self) -> usize {
        self.current.used_bytes()
    }

    /// Bytes of the arrays that live here, and of those from before a reset that tasks in flight use.
    pub fn current_bytes(&self) -> usize {
        self.shared.current_bytes.load(Ordering::Relaxed)
    }

    /// Bytes that the arena holds now, for its arrays, for tasks in flight, and for the next steps.
    pub fn reserved_bytes(&self) -> usize {
        self.shared.reserved_bytes.load(Ordering::Relaxed)
    }

    /// The most bytes that the arena held at once, with what tasks in flight used.
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

/// Bytes of an array of `shape`.
#[track_caller]
pub(crate) fn byte_len<T: Element>(shape: &[usize]) -> Result<usize> {
    let bytes = checked_len(shape).and_then(|len| len.checked_mul(size_of::<T>()));
    match bytes.filter(|&bytes| isize::try_from(bytes).is_ok()) {
        Some(bytes) => Ok(bytes),
        None => {
            let fact = format!("an array of shape {shape:?} of {} is larger than any memory", T::NAME);
            Err(Error::new(ErrorKind::InvalidShape { subject: "allocate", fact }))
        }
    }
}

/// Requires that `shape` has `len` elements.
#[track_caller]
pub(crate) fn require_len(subject: &'static str, shape: &[usize], len: usize) -> Result<()> {
    if checked_len(shape) == Some(len) {
        return Ok(());
    }
    let fact = format!("{len} elements do not fill the shape {shape:?}");
    Err(Error::new(ErrorKind::InvalidShape { subject, fact }))
}
