//! The tree of tasks that combines contributions to an array (mode `REDUX`) into its value.
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

use std::num::NonZeroUsize;
use std::panic::Location;
use std::ptr::NonNull;
use std::sync::Arc;

use super::allocation::block_in_submission;
use super::draft::Draft;
use super::step::Step;
use crate::access::AccessMode;
use crate::array_id::ArrayId;
use crate::codelet::{Accumulator, Codelet};
use crate::description::{Action, Combination, Placement, Step as Part};
use crate::error::Result;
use crate::graph::{ArrayState, Content, Engine, LEAF_LEN, Origin, Reductions, Tree};
use crate::memory::Holder;
use crate::observer::Forecast;
use crate::shape::Layout;
use crate::sync::atomic::Ordering;

/// Private buffers per worker, in addition to those with partial results: one to fill, one to be folded.
const BUFFERS_PER_WORKER: usize = 2;

impl Reductions {
    /// Ensures that there is a leaf for the next contribution to `target`; opens a reduction, or first closes one of
    /// another kind.
    ///
    /// # Errors
    /// If a buffer cannot be allocated.
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
            Step::new(&**target.engine(), None).run(|step| tree.release(step));
        }
        let is_forgotten = owed.forgotten.is_some();
        let tree = owed.tree_or_begin(codelet, accumulator, layout);
        if tree.is_empty() {
            (tree.codelet, tree.location, tree.place) = (codelet, location, None);
            if is_forgotten && target.is_like(accumulator.element(), layout) {
                tree.leaf = Some((NonNull::from(target), 0));
            }
        }
        let leaf_len = NonZeroUsize::new(self.leaf_len.load(Ordering::Relaxed)).unwrap_or(LEAF_LEN);
        tree.reserve(target, leaf_len.get())
    }

    /// Completes what is pending for `target` before an access of another kind to it.
    #[inline]
    pub(crate) fn close(&self, target: &ArrayState, mode: AccessMode) {
        if self.is_open() {
            self.close_open(target, mode);
        }
    }

    /// Completes what is pending for `target`, and releases the buffers: the next reduction has others.
    pub(crate) fn settle(&self, target: &ArrayState) {
        self.close(target, AccessMode::R);
        if let Some(mut tree) = self.owed().tree.take() {
            Step::new(&**target.engine(), None).run(|step| tree.release(step));
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
}

/// Submits the task that discards the value of `target`.
fn submit_forgetting(target: &ArrayState, location: &'static Location<'static>) {
    let engine = &**target.engine();
    let mut draft = Draft::new(engine, Action::Forget, location);
    draft.push(target, AccessMode::W, |layout| layout.set_contiguous(&[]));
    draft.submit();
    engine.serve_if_stopped();
}

impl Tree {
    /// Ensures that the leaf can take another contribution to `target`; `leaf_len` contributions share one.
    fn reserve(&mut self, target: &ArrayState, leaf_len: usize) -> Result<()> {
        if let Some((full, _)) = self.leaf.take_if(|(_, contributions)| *contributions >= leaf_len) {
            self.carry(full);
        }
        if self.leaf.is_none() {
            self.leaf = Some((self.buffer(target.engine(), target.known_as())?, 0));
        }
        Ok(())
    }

    /// A buffer for a new leaf: an idle one, else a new one, else the one that will be idle first.
    #[allow(unsafe_code, reason = "looks at a state that it owns")]
    fn buffer(&mut self, engine: &Arc<dyn Engine>, known_as: ArrayId) -> Result<NonNull<ArrayState>> {
        if let Some(first) = self.free.front() {
            // SAFETY: the tree owns its buffers until it releases them.
            let is_idle = unsafe { first.as_ref() }.chain().is_quiet();
            if is_idle || self.free.len() >= BUFFERS_PER_WORKER * engine.host().workers() {
                return Ok(self.free.pop_front().expect("there is a first one"));
            }
        }
        let element = self.accumulator.element();
        let bytes = self.layout.len() * element.size_bytes;
        let holder = Holder::new("reduction buffers", self.location);
        let block =
            block_in_submission(&**engine, bytes, holder).map_err(|shortage| shortage.at(self.location))?;
        let (pointer, origin) = (block.pointer(), Origin::Block(block));
        Ok(ArrayState::create(engine, element, pointer, bytes, origin, Content::Unset, Some(known_as)))
    }

    /// Adds a full leaf to the partial results, like an increment of a binary counter.
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

    /// Submits the tasks that fold everything into `target`, with its value unless that `is_forgotten`. False if there
    /// was nothing to fold.
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
            let element = *target.element().expect("an array in use has an element type");
            self.submit(Part::Finish(element), target, total, is_forgotten);
            self.free.push_back(total);
        }
        true
    }

    /// Submits the task that combines `later` into `earlier`.
    #[allow(unsafe_code, reason = "looks at a state that it owns")]
    fn fold(&mut self, earlier: NonNull<ArrayState>, later: NonNull<ArrayState>) {
        // SAFETY: the tree owns its buffers until it releases them, or this is the array itself, which owns the tree.
        self.submit(Part::Fold, unsafe { earlier.as_ref() }, later, false);
        self.free.push_back(later);
    }

    /// Submits a task that changes one array by another. The old content of the former is ignored if it `begins`.
    #[allow(unsafe_code, reason = "looks at a state that it owns")]
    fn submit(&self, step: Part, changed: &ArrayState, read: NonNull<ArrayState>, begins: bool) {
        let engine = &**changed.engine();
        let (codelet, accumulator) = (self.codelet, self.accumulator);
        let action = Action::Combine(Combination { codelet, accumulator, step, place: Placement::Any });
        let mut draft = Draft::new(engine, action, self.location);
        draft.desc_mut().set_sequence(engine.host().next_sequence());
        // SAFETY: the tree owns its buffers until it releases them, and the array that is read is one: the array itself
        // is the earliest leaf.
        let read = unsafe { read.as_ref() };
        for (state, mode) in [(changed, AccessMode::RW), (read, AccessMode::R)] {
            draft.push(state, mode, |layout| *layout = self.layout);
        }
        if begins {
            draft.desc_mut().set_begins(0);
        }
        self.send(&mut draft);
        draft.submit();
        engine.serve_if_stopped();
    }

    /// Places a task that was just filled in where the contributions run, if it can run there: a combination of the
    /// user's, and one on a simulated device, runs on the CPU.
    fn send(&self, draft: &mut Draft<'_, dyn Engine>) {
        let place = self.place.unwrap_or(Placement::Any);
        let (Placement::Worker(worker) | Placement::KindOf(worker)) = place else { return };
        if draft.host().can_run(worker, draft.desc()) {
            draft.desc_mut().set_place(place);
        }
    }
}
