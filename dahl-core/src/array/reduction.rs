//! [`Reductions`]: the tree of tasks that combines contributions to an array (mode `REDUX`) into its value.
//!
//! A contribution goes to a *leaf*, a private buffer that is an array of its own. The array determines how many
//! consecutive contributions share a leaf, one after the other. Full leaves fold like a binary counter: two partial
//! results of `2^k` leaves become one of `2^(k+1)`, with the earlier one on the left. The next other access *closes*
//! the tree: the partial results fold from the latest to the earliest, and then enter the array, whose old value is on
//! the left. If that access overwrites the array, it discards the contributions instead.
//!
//! An array whose value was [forgotten](Reductions::forget) has nothing to keep. It is its own first leaf if the
//! buffers would have its element type. Partial results fold into the earliest one, so the total ends up in the array:
//! a reduction of one leaf needs no other task and no buffer. Otherwise the first leaf is a buffer, and the last task
//! ignores the old value.
//!
//! Folds are tasks. This module submits them, and the dependencies on the buffers order them like all tasks. If all
//! contributions so far were sent to the same worker, or kind of worker, the folds are sent there too. The order of
//! submissions alone determines which values are combined, so every bit of the result is the same for any number of
//! workers. Leaves run in parallel, and contributions to private buffers do not wait for earlier users of the array.
//!
//! Buffers are reused in the order in which their folds were submitted. A new leaf in a buffer whose fold has not run
//! waits for it, by the buffer's chain. So the number of buffers is bounded, and no thread waits while it submits.
//!
//! Not here: what a fold does when it runs (`worker::fold`).

use std::collections::VecDeque;
use std::num::NonZeroUsize;
use std::panic::Location;
use std::ptr::NonNull;
use std::sync::Arc;

use super::content::Content;
use super::home::Origin;
use super::state::ArrayState;
use crate::access::AccessMode;
use crate::codelet::{Accumulator, Codelet};
use crate::description::{Action, ArrayId, Combination, Placement, Step as Part};
use crate::engine::{Shared, block_in_submission};
use crate::error::Result;
use crate::memory::Holder;
use crate::shape::Layout;
use crate::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use crate::sync::{Mutex, MutexGuard};
use crate::task::{Draft, Step};

/// Consecutive contributions that share a leaf, if the array [does not say](crate::Array::set_leaf_len).
pub const LEAF_LEN: NonZeroUsize = NonZeroUsize::new(4).expect("it is not 0");

/// Private buffers for each worker, beyond those that hold partial results: one to fill, one to be folded.
const BUFFERS_PER_WORKER: usize = 2;

/// The reduction of an array, open or not.
#[derive(Debug, Default)]
pub(crate) struct Reductions {
    /// What every other access looks at. Who sees that it is closed sees what closed it.
    is_open: AtomicBool,
    owed: Mutex<Owed>,
    /// Consecutive contributions that share a leaf; 0 if nobody said.
    leaf_len: AtomicUsize,
}

/// What the next access of another kind must come after.
#[derive(Debug, Default)]
struct Owed {
    /// Where the array's value was forgotten; nothing if it counts.
    forgotten: Option<&'static Location<'static>>,
    tree: Option<Box<Tree>>,
}

/// Where a contribution goes.
pub(crate) struct Contribution {
    pub(crate) buffer: NonNull<ArrayState>,
    /// Whether it is the first of its leaf, which starts from the identity.
    pub(crate) begins: bool,
}

/// The leaf and the partial results of an array, and its private buffers. It is kept when it has been closed, for the
/// next reduction of the same kind.
#[derive(Debug)]
struct Tree {
    /// The codelet whose contribution opened it, and the line that submitted that.
    codelet: &'static Codelet,
    location: &'static Location<'static>,
    /// Where its contributions run, if all are to run at the same place; nothing before the first one.
    place: Option<Placement>,
    accumulator: &'static Accumulator,
    /// The array's extents.
    layout: Layout,
    /// The leaf that contributions go to now, and how many it has. The first one may be the array itself.
    leaf: Option<(NonNull<ArrayState>, usize)>,
    /// Partial results of `2^level` leaves. The earliest may be in the array itself.
    levels: Vec<Option<NonNull<ArrayState>>>,
    /// Buffers whose last fold has been submitted, in that order.
    free: VecDeque<NonNull<ArrayState>>,
}

// SAFETY: the buffers are reached through their chains, and the tree through its lock.
#[allow(unsafe_code, reason = "holds states that it alone owns")]
unsafe impl Send for Tree {}

impl Reductions {
    fn owed(&self) -> MutexGuard<'_, Owed> {
        self.owed.lock().unwrap_or_else(|poison| poison.into_inner())
    }

    /// Forgets the value of `target`, and what was contributed to it: the next reduction begins anew, and what else
    /// looks at it finds zeros.
    pub(crate) fn forget(&self, target: &ArrayState, location: &'static Location<'static>) {
        let mut owed = self.owed();
        owed.forgotten = Some(location);
        if let Some(tree) = &mut owed.tree {
            tree.forget(target);
        }
        drop(owed);
        self.is_open.store(true, Ordering::Release);
    }

    /// Lets so many consecutive contributions share a leaf from now on.
    pub(crate) fn set_leaf_len(&self, contributions: NonZeroUsize) {
        self.leaf_len.store(contributions.get(), Ordering::Relaxed);
    }

    /// Sees that there is a leaf for the next contribution to `target`; opens a reduction, or closes one of another
    /// kind first.
    ///
    /// # Errors
    /// If the memory for a buffer cannot be had.
    pub(crate) fn reserve(
        &self,
        target: &ArrayState,
        codelet: &'static Codelet,
        accumulator: &'static Accumulator,
        layout: &Layout,
        location: &'static Location<'static>,
    ) -> Result<()> {
        let mut guard = self.owed();
        let owed = &mut *guard;
        let fits = owed.tree.as_ref().is_some_and(|tree| tree.fits(accumulator, layout));
        if !fits && let Some(mut tree) = owed.tree.take() {
            if tree.close(target, owed.forgotten.is_some()) {
                owed.forgotten = None;
            }
            Step::new(target.shared(), None).run(|step| tree.release(step));
        }
        let tree = owed.tree.get_or_insert_with(|| Box::new(Tree::new(codelet, accumulator, layout)));
        if tree.is_empty() {
            (tree.codelet, tree.location, tree.place) = (codelet, location, None);
            if owed.forgotten.is_some() && target.is_like(accumulator.element(), layout) {
                tree.leaf = Some((NonNull::from(target), 0));
            }
        }
        let leaf_len = NonZeroUsize::new(self.leaf_len.load(Ordering::Relaxed)).unwrap_or(LEAF_LEN);
        tree.reserve(target, leaf_len.get())
    }

    /// Where the next contribution to `target` goes, which is to run at `place`, and for which there is a
    /// [reserved](Self::reserve) leaf.
    pub(crate) fn contribute(&self, target: &ArrayState, place: Placement) -> Contribution {
        self.is_open.store(true, Ordering::Release);
        let mut owed = self.owed();
        let tree = owed.tree.as_mut().expect("a contribution is reserved");
        tree.place =
            Some(if tree.place.is_none_or(|before| before == place) { place } else { Placement::Any });
        let (buffer, contributions) = tree.leaf.as_mut().expect("a contribution is reserved");
        *contributions += 1;
        let contribution = Contribution { buffer: *buffer, begins: *contributions == 1 };
        if contribution.buffer == NonNull::from(target) {
            owed.forgotten = None;
        }
        contribution
    }

    /// Whether anything may be owed to the array. Who sees that nothing is sees what closed it.
    pub(crate) fn is_open(&self) -> bool {
        self.is_open.load(Ordering::Acquire)
    }

    /// Does what is owed to `target` before an access of another kind to it.
    #[inline]
    pub(crate) fn close(&self, target: &ArrayState, mode: AccessMode) {
        if self.is_open() {
            self.close_open(target, mode);
        }
    }

    #[cold]
    fn close_open(&self, target: &ArrayState, mode: AccessMode) {
        let mut owed = self.owed();
        let forgotten = owed.forgotten.take();
        let (overwrites, tree) = (mode == AccessMode::W, owed.tree.as_mut());
        let has_total = match tree {
            Some(tree) if overwrites => {
                tree.forget(target);
                false
            }
            Some(tree) => tree.close(target, forgotten.is_some()),
            None => false,
        };
        if let Some(location) = forgotten.filter(|_| !overwrites && !has_total) {
            submit_forgetting(target, location);
        }
        self.is_open.store(false, Ordering::Release);
    }

    /// Lets go of the buffers, when `target` is gone; contributions that are under way still run.
    pub(super) fn clear(&self, target: &ArrayState, step: &mut Step<'_>) {
        self.is_open.store(false, Ordering::Relaxed);
        self.leaf_len.store(0, Ordering::Relaxed);
        let Owed { tree, .. } = std::mem::take(&mut *self.owed());
        if let Some(mut tree) = tree {
            tree.forget(target);
            tree.release(step);
        }
    }
}

/// Submits what takes the value of `target` away.
fn submit_forgetting(target: &ArrayState, location: &'static Location<'static>) {
    let shared = target.shared();
    let mut draft = Draft::new(shared, Action::Forget, location);
    draft.push(target, AccessMode::W, |layout| layout.set_contiguous(&[]));
    draft.submit();
    shared.serve_if_stopped();
}

impl Tree {
    fn new(codelet: &'static Codelet, accumulator: &'static Accumulator, layout: &Layout) -> Self {
        let mut contiguous = Layout::EMPTY;
        contiguous.set_contiguous(layout.extents());
        Self {
            codelet,
            location: Location::caller(),
            place: None,
            accumulator,
            layout: contiguous,
            leaf: None,
            levels: Vec::new(),
            free: VecDeque::new(),
        }
    }

    fn fits(&self, accumulator: &Accumulator, layout: &Layout) -> bool {
        self.accumulator.is_like(accumulator) && self.layout.extents() == layout.extents()
    }

    fn is_empty(&self) -> bool {
        self.leaf.is_none() && self.levels.iter().all(Option::is_none)
    }

    /// Makes the leaf one that takes another contribution to `target`, of which `leaf_len` share one.
    fn reserve(&mut self, target: &ArrayState, leaf_len: usize) -> Result<()> {
        if let Some((full, _)) = self.leaf.take_if(|(_, contributions)| *contributions >= leaf_len) {
            self.carry(full);
        }
        if self.leaf.is_none() {
            self.leaf = Some((self.buffer(target.shared(), target.known_as())?, 0));
        }
        Ok(())
    }

    /// A buffer for a new leaf: one that is idle, else a new one, else the one that will be idle first.
    #[allow(unsafe_code, reason = "looks at a state that it owns")]
    fn buffer(&mut self, shared: &Arc<Shared>, known_as: ArrayId) -> Result<NonNull<ArrayState>> {
        if let Some(first) = self.free.front() {
            // SAFETY: the tree owns its buffers until it releases them.
            let is_idle = unsafe { first.as_ref() }.chain().is_quiet();
            if is_idle || self.free.len() >= BUFFERS_PER_WORKER * shared.workers() {
                return Ok(self.free.pop_front().expect("there is a first one"));
            }
        }
        let element = self.accumulator.element();
        let bytes = self.layout.len() * element.size_bytes;
        let holder = Holder::new("reduction buffers", self.location);
        let block =
            block_in_submission(shared, bytes, holder).map_err(|shortage| shortage.at(self.location))?;
        let (pointer, origin) = (block.pointer(), Origin::Block(block));
        Ok(ArrayState::create(shared, element, pointer, bytes, origin, Content::Unset, Some(known_as)))
    }

    /// Adds a full leaf to the partial results, as one is added to a binary counter.
    fn carry(&mut self, leaf: NonNull<ArrayState>) {
        let mut sum = leaf;
        for level in 0..self.levels.len() {
            match self.levels[level].take() {
                None => {
                    self.levels[level] = Some(sum);
                    return;
                }
                Some(earlier) => {
                    self.fold(earlier, sum);
                    sum = earlier;
                }
            }
        }
        self.levels.push(Some(sum));
    }

    /// Submits the tasks that fold everything into `target`, beside its value, unless that `is_forgotten`. False if
    /// there was nothing to fold.
    fn close(&mut self, target: &ArrayState, is_forgotten: bool) -> bool {
        let mut total = match self.leaf.take() {
            Some((reserved, 0)) => {
                self.let_go(reserved, target);
                None
            }
            leaf => leaf.map(|(buffer, _)| buffer),
        };
        for level in 0..self.levels.len() {
            total = match (self.levels[level].take(), total) {
                (Some(earlier), Some(later)) => {
                    self.fold(earlier, later);
                    Some(earlier)
                }
                (earlier, later) => earlier.or(later),
            };
        }
        let Some(total) = total else { return false };
        if total != NonNull::from(target) {
            let element = target.element().expect("an array in use has an element type");
            self.submit(Part::Finish(element), target, total, is_forgotten);
            self.free.push_back(total);
        }
        true
    }

    /// Submits the task that combines `later` into `earlier`.
    #[allow(unsafe_code, reason = "looks at a state that it owns")]
    fn fold(&mut self, earlier: NonNull<ArrayState>, later: NonNull<ArrayState>) {
        // SAFETY: the tree owns its buffers until it releases them, or else this is the array itself, which has the
        // tree.
        self.submit(Part::Fold, unsafe { earlier.as_ref() }, later, false);
        self.free.push_back(later);
    }

    /// Submits a task that changes one array by another. What the former holds does not count if it `begins`.
    #[allow(unsafe_code, reason = "looks at a state that it owns")]
    fn submit(&self, step: Part, changed: &ArrayState, read: NonNull<ArrayState>, begins: bool) {
        let shared = changed.shared();
        let (codelet, accumulator) = (self.codelet, self.accumulator);
        let action = Action::Combine(Combination { codelet, accumulator, step, place: Placement::Any });
        let mut draft = Draft::new(shared, action, self.location);
        draft.desc_mut().set_sequence(shared.next_sequence());
        // SAFETY: the tree owns its buffers until it releases them, and what is read is one: the array itself is the
        // earliest leaf.
        let read = unsafe { read.as_ref() };
        for (state, mode) in [(changed, AccessMode::RW), (read, AccessMode::R)] {
            draft.push(state, mode, |layout| *layout = self.layout);
        }
        if begins {
            draft.desc_mut().set_begins(0);
        }
        self.send(&mut draft, shared);
        draft.submit();
        shared.serve_if_stopped();
    }

    /// Sends a task that was just filled in to where the contributions run, if it can run there: a combination of the
    /// user's, or a simulated device, leaves it to the CPU.
    fn send(&self, draft: &mut Draft<'_>, shared: &Shared) {
        let place = self.place.unwrap_or(Placement::Any);
        let (Placement::Worker(worker) | Placement::KindOf(worker)) = place else { return };
        if shared.can_run(worker, draft.desc()) {
            draft.desc_mut().set_place(place);
        }
    }

    /// Forgets every contribution to `target`. Those under way still run.
    fn forget(&mut self, target: &ArrayState) {
        if let Some((leaf, _)) = self.leaf.take() {
            self.let_go(leaf, target);
        }
        for level in 0..self.levels.len() {
            if let Some(result) = self.levels[level].take() {
                self.let_go(result, target);
            }
        }
    }

    /// A leaf or partial result is not needed any more.
    fn let_go(&mut self, leaf: NonNull<ArrayState>, target: &ArrayState) {
        if leaf != NonNull::from(target) {
            self.free.push_back(leaf);
        }
    }

    /// Gives the buffers back, each when its last access has ended. The tree is empty.
    #[allow(unsafe_code, reason = "gives back states that it owns")]
    fn release(&mut self, step: &mut Step<'_>) {
        for buffer in self.free.drain(..) {
            // SAFETY: the tree owns its buffers, and forgets this one here.
            unsafe { ArrayState::release(buffer, step) };
        }
    }
}
