//! [`ArrayState`]: an array as tasks see it.
#![allow(unsafe_code, reason = "contents are guarded by the order of tasks, not by a lock")]

use std::cell::UnsafeCell;
use std::ptr::{self, NonNull};
use std::sync::Arc;

use super::chain::{Chain, Events, Link, LinkKind};
use super::commute_lock::CommuteLock;
use super::content::{AtomicContent, Content};
use super::home::{Home, Origin};
use super::host::{Engine, Host};
use super::partition::Partitions;
use super::record::Record;
use super::reduction::Reductions;
use super::replicas::Replicas;
use super::saves::Saves;
use crate::array_id::ArrayId;
use crate::element::ElementType;
use crate::error::Failure;
use crate::memory::References;
use crate::shape::Layout;
use crate::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// The state of an array for tasks: its memory, its content, and the order of its accesses. It has no lifetime and no
/// rank.
///
/// Who may access what, when:
/// * `chain`, `content`: any thread, atomically. `replicas`: see there.
/// * `fixed`: written when the state is created and freed; in between, read by holders of a handle or an access.
/// * `body`: written when the state is created and freed; in between, by a task (or the host) that holds an exclusive
///   access, or by a reader that has set `content` to `BUSY`; read by holders of an access.
/// * the elements: as the accesses permit.
///
/// "Holds an access" means: its link is ready and not done; or it is the host, has waited for earlier tasks, and a
/// borrow keeps later ones from being submitted.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct ArrayState {
    /// The first field, so that a pointer to the link is one to the state.
    release: Link,
    chain: Chain,
    pub(super) content: AtomicContent,
    pub(super) replicas: Replicas,
    /// Its index in the slab.
    slot: u32,
    /// Its id, which no other array ever has.
    id: AtomicU64,
    /// The id for observers: for a private buffer of a reduction, the array's.
    known_as: AtomicU64,
    /// For a part: the id of its whole array. Otherwise 0.
    pub(super) part_of: AtomicU64,
    partitions: Partitions,
    reductions: Reductions,
    /// Decides which of its commuting tasks may run.
    commute_lock: CommuteLock<Record>,
    /// Its owners: the handle, and what tapes have saved. The last one releases it.
    owners: References,
    saves: Saves,
    /// Bytes of blocks that only this array uses.
    pub(super) own_bytes: AtomicUsize,
    /// How many of them are counted as dying.
    dying_bytes: AtomicUsize,
    pub(super) fixed: UnsafeCell<Fixed>,
    pub(super) body: UnsafeCell<ArrayBody>,
}

/// Written when the state is created, before other threads know it, and when it is freed.
#[derive(Debug)]
pub(super) struct Fixed {
    pub(super) bytes: usize,
    pub(super) element: Option<ElementType>,
    /// The layout of a part in its whole array's buffer, to which `pointer` points.
    pub(super) part: Option<Layout>,
    pub(super) engine: Option<Arc<dyn Engine>>,
}

/// The state that changes with accesses.
#[derive(Debug)]
pub(super) struct ArrayBody {
    pub(super) home: Home,
    pub(super) failure: Option<Arc<Failure>>,
}

// SAFETY: see "who may access what" above.
unsafe impl Send for ArrayState {}
// SAFETY: see "who may access what" above.
unsafe impl Sync for ArrayState {}

impl ArrayState {
    /// A free state, number `slot` of its slab.
    pub(crate) fn free(slot: u32) -> Self {
        Self {
            release: Link::new(),
            chain: Chain::new(),
            content: AtomicContent::new(Content::Ready),
            replicas: Replicas::default(),
            slot,
            id: AtomicU64::new(0),
            known_as: AtomicU64::new(0),
            part_of: AtomicU64::new(0),
            partitions: Partitions::default(),
            reductions: Reductions::default(),
            commute_lock: CommuteLock::new(),
            owners: References::new(0),
            saves: Saves::new(),
            own_bytes: AtomicUsize::new(0),
            dying_bytes: AtomicUsize::new(0),
            fixed: UnsafeCell::new(Fixed { bytes: 0, element: None, part: None, engine: None }),
            body: UnsafeCell::new(ArrayBody {
                home: Home::new(ptr::null_mut(), Origin::None),
                failure: None,
            }),
        }
    }

    pub(crate) fn create(
        engine: &Arc<dyn Engine>,
        element: ElementType,
        pointer: *mut u8,
        bytes: usize,
        origin: Origin,
        content: Content,
        known_as: Option<ArrayId>,
    ) -> NonNull<Self> {
        let host = engine.host();
        let state = host.arrays().take_or_grow();
        state.chain.restart();
        state.owners.restart();
        state.saves.restart();
        let id = host.next_array_id();
        state.id.store(id.number(), Ordering::Relaxed);
        state.known_as.store(known_as.unwrap_or(id).number(), Ordering::Relaxed);
        state.content.set(content);
        state.own_bytes.store(origin.block_bytes(), Ordering::Relaxed);
        state.part_of.store(0, Ordering::Relaxed);
        // SAFETY: the slab gives a free state to one holder, and nothing else knows it.
        unsafe {
            *state.fixed.get() =
                Fixed { bytes, element: Some(element), part: None, engine: Some(Arc::clone(engine)) }
        };
        // SAFETY: as above.
        unsafe { *state.body.get() = ArrayBody { home: Home::new(pointer, origin), failure: None } };
        if let Some(log) = host.log() {
            log.made(id, element, bytes);
        }
        NonNull::from(state)
    }

    pub(crate) fn partitions(&self) -> &Partitions {
        &self.partitions
    }

    pub(crate) fn reductions(&self) -> &Reductions {
        &self.reductions
    }

    /// Ends the array: when every access has ended, its memory is freed.
    ///
    /// # Safety
    /// Called once, by the owner; no access is submitted after it.
    pub(crate) unsafe fn release(state: NonNull<Self>, events: &mut impl Events) {
        // SAFETY: the owner calls, so the state is not freed yet.
        let this = unsafe { state.as_ref() };
        let own_bytes = this.own_bytes.load(Ordering::Relaxed);
        if own_bytes > 0 {
            this.dying_bytes.store(own_bytes, Ordering::Relaxed);
            this.host().memory().begin_dying(own_bytes);
        }
        this.release.reset(LinkKind::Release);
        // SAFETY: the link is the state's first field and is not in a chain; the state stays until the link is ready.
        unsafe { this.chain.append(state.as_ptr().cast_const().cast::<Link>(), events) };
    }

    /// Frees the state whose release link is ready.
    ///
    /// # Safety
    /// `link` was given to the chain by `release`, has become ready, and this is called once.
    pub(crate) unsafe fn reclaim(link: *const Link, events: &mut impl Events) {
        // SAFETY: the release link is the first field of its state, and the pointer was made from the state's.
        let state = unsafe { &*link.cast::<Self>() };
        state.partitions.clear(events);
        state.reductions.clear(state, events);
        state.forget_replicas();
        // SAFETY: every access has ended and the handle is gone: nothing else knows the state.
        let body = unsafe { &mut *state.body.get() };
        body.home = Home::new(ptr::null_mut(), Origin::None);
        body.failure = None;
        let dying_bytes = state.dying_bytes.load(Ordering::Relaxed);
        // SAFETY: as above.
        let engine = unsafe { &mut *state.fixed.get() }.engine.take();
        if let Some(engine) = engine {
            let host = engine.host();
            if let Some(recorder) = host.recorder() {
                recorder.gone(state.id());
            }
            if dying_bytes > 0 {
                state.dying_bytes.store(0, Ordering::Relaxed);
                host.memory().end_dying(dying_bytes);
                host.progress().notify_of_bytes(|| false); // they are of no arena
            }
            host.arrays().give_back(state.slot);
        }
    }

    pub(crate) fn chain(&self) -> &Chain {
        &self.chain
    }

    pub(crate) fn commute_lock(&self) -> &CommuteLock<Record> {
        &self.commute_lock
    }

    /// Its owners, the last of whom [releases](Self::release) it.
    pub(crate) fn owners(&self) -> &References {
        &self.owners
    }

    pub(crate) fn saves(&self) -> &Saves {
        &self.saves
    }

    /// Its index in the slab, constant for its lifetime.
    pub(crate) fn slot(&self) -> u32 {
        self.slot
    }

    /// Whether it is a private buffer of a reduction.
    pub(crate) fn is_private(&self) -> bool {
        self.id() != self.known_as()
    }

    /// Its id.
    #[inline]
    pub(crate) fn id(&self) -> ArrayId {
        ArrayId::new(self.id.load(Ordering::Relaxed))
    }

    /// The id for observers: for a private buffer of a reduction, the array's.
    pub(crate) fn known_as(&self) -> ArrayId {
        ArrayId::new(self.known_as.load(Ordering::Relaxed))
    }

    /// For a part: the id of its whole array.
    #[inline]
    pub(crate) fn whole(&self) -> Option<ArrayId> {
        ArrayId::from_number(self.part_of.load(Ordering::Relaxed))
    }

    /// The failure if it has no value because a task that should have written it failed. The caller holds an access.
    pub(crate) fn failure(&self) -> Option<Arc<Failure>> {
        let is_poisoned = self.content.get() == Content::Poisoned;
        // SAFETY: the caller holds an access, so no holder of an exclusive one writes the body, and neither does a
        // reader if there is a failure.
        is_poisoned.then(|| unsafe { (*self.body.get()).failure.clone() }).flatten()
    }

    pub(super) fn fixed(&self) -> &Fixed {
        // SAFETY: it is written when the state is created and freed, and the caller's handle or access keeps it alive.
        unsafe { &*self.fixed.get() }
    }

    /// The engine that runs its tasks.
    pub(crate) fn engine(&self) -> &Arc<dyn Engine> {
        self.fixed().engine.as_ref().expect("a state in use belongs to a runtime")
    }

    /// The common state of the arrays of its runtime.
    pub(crate) fn host(&self) -> &Host {
        self.engine().host()
    }

    /// The first byte. The caller holds an access, or the state is new.
    pub(crate) fn pointer(&self) -> *mut u8 {
        // SAFETY: the caller holds an access, or is the only one that knows the state: nothing writes the body.
        unsafe { (*self.body.get()).home.pointer }
    }

    /// Gives an array of a program another place in main memory. Its elements stay behind: it has no value.
    ///
    /// # Safety
    /// The caller has exclusive access, and no partition or reduction of it is open. The place has as many bytes, and keeps
    /// them until the array is moved again or no access to it is left. Other arrays may have the same place, if no access to
    /// them is in progress while one to this is.
    pub(crate) unsafe fn move_to(&self, pointer: *mut u8) {
        self.replicas.stay_home();
        // SAFETY: guaranteed by the caller; no replica is valid, so none is evicted (C4).
        let body = unsafe { &mut *self.body.get() };
        body.home.pointer = pointer;
        body.failure = None;
        self.content.set(Content::Unset);
        // A task in place has renamed it: its buffer is for the next one.
        if let Origin::Block(renamed) = std::mem::replace(&mut body.home.origin, Origin::None) {
            self.own_bytes.fetch_sub(renamed.bytes(), Ordering::Relaxed);
            if body.home.spare.is_none() {
                self.own_bytes.fetch_add(renamed.bytes(), Ordering::Relaxed);
                body.home.spare = Some(renamed);
            }
        }
    }

    /// Whether no access is in progress and none is pending: no partition or reduction is open.
    fn is_quiet(&self) -> bool {
        // In this order: a thread that sees that no partition or reduction is open sees in the chain what closed them.
        !self.partitions.may_be_open() && !self.reductions.is_open() && self.chain.is_quiet()
    }

    /// The first byte, if no access is in progress and none is pending. The elements can then be read without waiting, while a
    /// borrow keeps writers from being submitted.
    pub(crate) fn quiescent_pointer(&self) -> Option<*mut u8> {
        // An array of a recording has no value.
        let is_quiescent = self.is_quiet()
            && self.host().log().is_none()
            && self.content.get() == Content::Ready
            && self.replicas.is_home();
        is_quiescent.then(|| self.pointer())
    }

    /// The addresses of the elements, or of those of a part, in main memory; none if a task may use them, or if there are other
    /// elements between them. Memory may be there or not.
    pub(crate) fn quiet_bytes(&self) -> Option<*mut [u8]> {
        self.is_quiet().then(|| self.home_operand().contiguous_bytes()).flatten()
    }

    /// Whether it has a value.
    pub(super) fn is_ready(&self) -> bool {
        self.content.get() == Content::Ready
    }

    pub(crate) fn set_ready(&self) {
        self.content.set(Content::Ready);
    }

    /// Lets a replica in the memory `node` be evicted, which a task has used.
    pub(crate) fn unpin(&self, node: usize) {
        self.replicas.unpin(node);
    }

    pub(crate) fn replicas(&self) -> &Replicas {
        &self.replicas
    }

    /// Its element type, if it is in use.
    #[inline]
    pub(crate) fn element(&self) -> Option<&ElementType> {
        self.fixed().element.as_ref()
    }

    /// Whether its buffer may be a leaf of a reduction with this layout and element type of buffers: it is a whole
    /// array's, so it has exactly the bytes of the elements, initialised and aligned for them.
    pub(crate) fn is_like(&self, element: ElementType, layout: &Layout) -> bool {
        let Fixed { bytes, element: own, part, .. } = self.fixed();
        let fits = layout.is_contiguous() && *bytes == layout.len() * element.size_bytes;
        fits && part.is_none() && *own == Some(element)
    }

    /// The bytes of the elements.
    pub(crate) fn bytes(&self) -> usize {
        self.fixed().bytes
    }

    /// The size of an element.
    pub(crate) fn element_bytes(&self) -> usize {
        self.fixed().element.expect("a state in use has an element type").size_bytes
    }

    /// Leaves the array without a value, because of `failure`.
    ///
    /// # Safety
    /// The caller holds an exclusive access.
    pub(crate) unsafe fn poison(&self, failure: &Arc<Failure>) {
        // First: eviction, which accesses the body, skips invalid replicas.
        self.replicas.stay_home();
        // SAFETY: the caller's access is exclusive.
        let body = unsafe { &mut *self.body.get() };
        body.failure = Some(Arc::clone(failure));
        self.content.set(Content::Poisoned);
    }

    /// The element type and the layout at home.
    pub(super) fn home_layout(&self) -> (ElementType, Layout) {
        let Fixed { bytes, element, part, .. } = self.fixed();
        let element = element.expect("a state in use has an element type");
        let contiguous = || {
            let mut layout = Layout::EMPTY;
            layout.set_contiguous(&[bytes / element.size_bytes.max(1)]);
            layout
        };
        (element, part.unwrap_or_else(contiguous))
    }
}
