//! [`Reductions`]: the state of the reduction into an array: the leaf for contributions, partial results, and buffers.
//!
//! Not here: the tasks that combine them (`task::reduction`).

use std::collections::VecDeque;
use std::num::NonZeroUsize;
use std::panic::Location;
use std::ptr::NonNull;

use super::chain::Events;
use super::state::ArrayState;
use crate::codelet::{Accumulator, Codelet};
use crate::description::Placement;
use crate::shape::Layout;
use crate::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use crate::sync::{Mutex, MutexGuard};

/// The default number of consecutive contributions that share a leaf
/// ([`Array::set_leaf_len`](crate::Array::set_leaf_len)).
pub const LEAF_LEN: NonZeroUsize = NonZeroUsize::new(4).expect("it is not 0");

/// The reduction of an array, open or not.
#[derive(Debug, Default)]
pub(crate) struct Reductions {
    /// Read by every other access. A thread that sees that it is closed also sees the effects of closing it.
    pub(crate) is_open: AtomicBool,
    owed: Mutex<Owed>,
    /// Consecutive contributions that share a leaf; 0 for the default.
    pub(crate) leaf_len: AtomicUsize,
}

/// What must precede the next access of another kind.
#[derive(Debug, Default)]
pub(crate) struct Owed {
    /// The line at which the array's value was discarded, if it was.
    pub(crate) forgotten: Option<&'static Location<'static>>,
    pub(crate) tree: Option<Box<Tree>>,
    /// The memory of the tree of an earlier array of this state.
    spare: Option<Box<Tree>>,
}

/// The destination of a contribution.
pub(crate) struct Contribution {
    pub(crate) buffer: NonNull<ArrayState>,
    /// Whether it is the first one of its leaf, which starts from the identity.
    pub(crate) begins: bool,
}

/// The current leaf and the partial results of a reduction, and its private buffers. It is kept after it is closed, for
/// the next reduction of the same kind.
#[derive(Debug)]
pub(crate) struct Tree {
    /// The codelet whose contribution opened it, and the line that submitted that.
    pub(crate) codelet: &'static Codelet,
    pub(crate) location: &'static Location<'static>,
    /// The placement of its contributions, if all have the same one; none before the first.
    pub(crate) place: Option<Placement>,
    pub(crate) accumulator: &'static Accumulator,
    /// The array's extents.
    pub(crate) layout: Layout,
    /// The leaf of the current contributions, and how many it has. The first one may be the array itself.
    pub(crate) leaf: Option<(NonNull<ArrayState>, usize)>,
    /// Partial results of `2^level` leaves. The earliest may be in the array itself.
    pub(crate) levels: Vec<Option<NonNull<ArrayState>>>,
    /// Buffers whose last fold has been submitted, in that order.
    pub(crate) free: VecDeque<NonNull<ArrayState>>,
}

// SAFETY: the buffers are accessed through their chains, and the tree under its lock.
#[allow(unsafe_code, reason = "holds states that it alone owns")]
unsafe impl Send for Tree {}

impl Reductions {
    pub(crate) fn owed(&self) -> MutexGuard<'_, Owed> {
        self.owed.lock().unwrap_or_else(|poison| poison.into_inner())
    }

    /// Discards the value of `target` and the contributions to it: the next reduction starts without them, and any
    /// other access finds zeros.
    pub(crate) fn forget(&self, target: &ArrayState, location: &'static Location<'static>) {
        let mut owed = self.owed();
        owed.forgotten = Some(location);
        if let Some(tree) = &mut owed.tree {
            tree.forget(target);
        }
        drop(owed);
        self.is_open.store(true, Ordering::Release);
        if let Some(ranks) = target.engine().host().ranks() {
            // Every rank has what is left: nothing. So none sends it.
            ranks.table().written_everywhere(target.id());
        }
    }

    /// How many consecutive contributions share a leaf, 0 for the default.
    pub(crate) fn leaf_len(&self) -> usize {
        self.leaf_len.load(Ordering::Relaxed)
    }

    /// Sets how many consecutive contributions share a leaf from now on.
    pub(crate) fn set_leaf_len(&self, contributions: NonZeroUsize) {
        self.leaf_len.store(contributions.get(), Ordering::Relaxed);
    }

    /// The destination of the next contribution to `target`, which runs at `place`, and for which a leaf is
    /// [reserved](Self::reserve).
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

    /// Whether anything may be pending for the array. A thread that sees that nothing is also sees the effects of
    /// closing it.
    pub(crate) fn is_open(&self) -> bool {
        self.is_open.load(Ordering::Acquire)
    }

    /// Releases the buffers, when `target` is freed; contributions in flight still run.
    pub(crate) fn clear(&self, target: &ArrayState, events: &mut impl Events) {
        self.is_open.store(false, Ordering::Relaxed);
        self.leaf_len.store(0, Ordering::Relaxed);
        let mut owed = self.owed();
        owed.forgotten = None;
        let Some(mut tree) = owed.tree.take() else { return };
        drop(owed);
        tree.forget(target);
        tree.release(events);
        self.owed().spare = Some(tree);
    }
}

impl Owed {
    /// The tree, which is begun if there is none.
    pub(crate) fn tree_or_begin(
        &mut self,
        codelet: &'static Codelet,
        accumulator: &'static Accumulator,
        layout: &Layout,
    ) -> &mut Tree {
        let spare = &mut self.spare;
        self.tree.get_or_insert_with(|| {
            let tree = Tree::new(codelet, accumulator, layout);
            match spare.take() {
                None => Box::new(tree),
                Some(mut memory) => {
                    let (mut levels, free) =
                        (std::mem::take(&mut memory.levels), std::mem::take(&mut memory.free));
                    levels.clear();
                    *memory = Tree { levels, free, ..tree };
                    memory
                }
            }
        })
    }
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

    /// Whether contributions of this layout are added to those that are there: of the same shape, or of the same elements in
    /// the same order, as views of another shape have them.
    pub(crate) fn fits(&self, accumulator: &Accumulator, layout: &Layout) -> bool {
        let has_shape = self.layout.extents() == layout.extents();
        let are_in_order = self.layout.is_contiguous() && layout.is_contiguous();
        let fits = has_shape || are_in_order && self.layout.len() == layout.len();
        self.accumulator.is_like(accumulator) && fits
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.leaf.is_none() && self.levels.iter().all(Option::is_none)
    }

    /// Discards every contribution to `target`. Those in flight still run.
    pub(crate) fn forget(&mut self, target: &ArrayState) {
        if let Some((leaf, _)) = self.leaf.take() {
            self.let_go(leaf, target);
        }
        for level in 0..self.levels.len() {
            if let Some(result) = self.levels[level].take() {
                self.let_go(result, target);
            }
        }
    }

    /// Returns a leaf or partial result that is not needed any more.
    pub(crate) fn let_go(&mut self, leaf: NonNull<ArrayState>, target: &ArrayState) {
        if leaf != NonNull::from(target) {
            self.free.push_back(leaf);
        }
    }

    /// Frees the buffers, each when its last access has ended. The tree is empty.
    #[allow(unsafe_code, reason = "gives back states that it owns")]
    pub(crate) fn release(&mut self, events: &mut impl Events) {
        for buffer in self.free.drain(..) {
            // SAFETY: the tree owns its buffers, and drops this one here.
            unsafe { ArrayState::release(buffer, events) };
        }
    }
}
