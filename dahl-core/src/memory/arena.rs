//! [`Arena`]: where arrays live that go together.

use std::fmt;
use std::panic::Location;
use std::sync::Arc;

use super::Block;
use super::region::{Carved, Region, RegionRef};
use crate::array::{Array, Content, Origin};
use crate::element::Element;
use crate::error::{Error, ErrorKind, Result};
use crate::runtime::Shared;
use crate::shape::checked_len;
use crate::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use crate::sync::{Mutex, MutexGuard};

/// Memory for arrays that go together, such as those of one training step.
///
/// Arrays borrow the arena they live in, and [`reset`](Arena::reset) takes `&mut`: an array that is used after the
/// reset does not compile. A reset waits for nothing. What tasks in flight still use is kept until they end and is
/// then used anew, so memory stays bounded however long the loop.
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
    free: Mutex<FreeRegions>,
    /// Whether the arena is gone: regions that come back are then freed.
    closed: AtomicBool,
    reserved_bytes: AtomicUsize,
    peak_bytes: AtomicUsize,
    usual_bytes: AtomicUsize,
}

impl fmt::Debug for ArenaShared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ArenaShared").field("reserved_bytes", &self.reserved_bytes).finish_non_exhaustive()
    }
}

impl ArenaShared {
    fn free(&self) -> MutexGuard<'_, FreeRegions> {
        self.free.lock().unwrap_or_else(|poison| poison.into_inner())
    }

    pub(super) fn usual_bytes(&self) -> usize {
        self.usual_bytes.load(Ordering::Relaxed)
    }

    pub(super) fn allocate(&self, bytes: usize) -> Option<Block> {
        let block = Block::zeroed(self.runtime.memory(), bytes)?;
        let reserved = self.reserved_bytes.fetch_add(block.bytes(), Ordering::Relaxed) + block.bytes();
        self.peak_bytes.fetch_max(reserved, Ordering::Relaxed);
        Some(block)
    }

    pub(super) fn give_back(&self, region: Box<Region>) {
        let mut free = self.free();
        if self.closed.load(Ordering::Relaxed) {
            drop(free);
            self.reserved_bytes.fetch_sub(region.reserved_bytes(), Ordering::Relaxed);
        } else {
            free.push(region);
        }
    }

    fn take_region(self: &Arc<Self>) -> RegionRef {
        let region = self.free().pop().unwrap_or_else(Region::empty);
        RegionRef::new(region, self)
    }
}

impl Arena {
    pub(crate) fn new(runtime: Arc<Shared>) -> Self {
        let shared = Arc::new(ArenaShared {
            runtime,
            free: Mutex::default(),
            closed: AtomicBool::new(false),
            reserved_bytes: AtomicUsize::new(0),
            peak_bytes: AtomicUsize::new(0),
            usual_bytes: AtomicUsize::new(0),
        });
        Self { current: shared.take_region(), shared }
    }

    /// An array of zeros.
    ///
    /// # Errors
    /// If the memory cannot be had.
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
        self.current.carve(bytes).ok_or_else(|| out_of_memory(&self.shared.runtime, bytes, location))
    }

    /// Lets go of every array that lives here. Waits for nothing: memory of tasks in flight is kept until they end.
    pub fn reset(&mut self) {
        let used = self.current.used_bytes();
        self.shared.usual_bytes.store(used, Ordering::Relaxed);
        self.current = self.shared.take_region();
    }

    /// Another arena of the same runtime.
    pub fn sibling(&self) -> Arena {
        Arena::new(Arc::clone(&self.shared.runtime))
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
        drop(free);
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

/// The error of a call at `location` that cannot have `bytes` bytes.
pub(crate) fn out_of_memory(runtime: &Shared, bytes: usize, location: &'static Location<'static>) -> Error {
    Error::at(ErrorKind::OutOfMemory { bytes, reserved_bytes: runtime.memory().reserved_bytes() }, location)
}
