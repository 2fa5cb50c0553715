//! The states of parts of an array, and how they get its value and return theirs.
#![allow(
    unsafe_code,
    reason = "writes the state of a new part, and of one that the caller has exclusive access to"
)]

use std::panic::Location;
use std::ptr::{self, NonNull};
use std::sync::Arc;

use super::chain::{Events, Link};
use super::content::Content;
use super::home::Origin;
use super::host::Engine;
use super::state::ArrayState;
use crate::access::AccessMode;
use crate::device::Requester;
use crate::element::ElementType;
use crate::error::Failure;
use crate::memory::HOME;
use crate::shape::Layout;
use crate::sync::atomic::Ordering;

impl ArrayState {
    /// The state of a part of `whole`. It has no content before a [`split`](Self::split).
    pub(crate) fn create_part(whole: &Self, layout: Layout) -> NonNull<Self> {
        let element = whole.fixed().element.expect("a state in use has an element type");
        let part = Self::create_part_of(whole.engine(), element, layout);
        // SAFETY: the state was just created, and parts are freed with their partition.
        unsafe { part.as_ref() }.part_of.store(whole.id().number(), Ordering::Relaxed);
        part
    }

    /// The state of a part of any array, without content.
    pub(crate) fn create_part_of(
        engine: &Arc<dyn Engine>,
        element: ElementType,
        layout: Layout,
    ) -> NonNull<Self> {
        let bytes = layout.len() * element.size_bytes;
        let part = Self::create(engine, element, ptr::null_mut(), bytes, Origin::None, Content::Ready, None);
        // SAFETY: the state was just created, and parts are freed with their partition.
        let state = unsafe { part.as_ref() };
        // SAFETY: nothing else knows the new state.
        unsafe { (*state.fixed.get()).part = Some(layout) };
        if let Some(log) = state.host().log() {
            log.placed(state.id(), layout);
        }
        part
    }

    /// Gives parts the buffer and the content of the array, or its failure.
    ///
    /// # Safety
    /// The caller holds an access of this mode to the array, and exclusive ones to the parts.
    pub(crate) unsafe fn split<'p>(
        &self,
        mode: AccessMode,
        parts: impl Iterator<Item = &'p Self>,
        location: &'static Location<'static>,
    ) {
        let requester = Requester { name: "partition", location };
        // SAFETY: guaranteed by the caller.
        let poisoned = unsafe { self.prepare_at(HOME, mode, requester) };
        let poisoned = poisoned.err().map(|missing| missing.into_failure(self, requester));
        for part in parts {
            // SAFETY: guaranteed by the caller.
            unsafe { part.begin_part(self.pointer(), poisoned.as_ref()) };
            part.replicas().delay(self.replicas().arrived_ns(HOME));
        }
    }

    /// Brings parts home. Their outcome becomes that of the whole array, unless it is none: then they were only read.
    ///
    /// # Safety
    /// The caller holds exclusive accesses to all of them.
    pub(crate) unsafe fn join<'p>(
        whole: Option<&Self>,
        parts: impl Iterator<Item = &'p Self>,
        location: &'static Location<'static>,
    ) {
        let requester = Requester { name: "join", location };
        let mut first = None;
        for part in parts {
            // SAFETY: guaranteed by the caller.
            let home = unsafe { part.prepare_at(HOME, AccessMode::RW, requester) };
            if let Err(missing) = home {
                first.get_or_insert(missing.into_failure(part, requester));
            }
            if let Some(whole) = whole {
                whole.replicas().delay(part.replicas().arrived_ns(HOME));
            }
        }
        let Some(whole) = whole else { return };
        match first {
            // SAFETY: guaranteed by the caller.
            Some(failure) => unsafe { whole.poison(&failure) },
            // Every part has a value, possibly because all were overwritten.
            None => {
                whole.replicas().stay_home();
                whole.set_ready();
            }
        }
    }

    /// Gives a part the content of its whole array: elements in the buffer at `pointer`, or a failure.
    ///
    /// # Safety
    /// The caller holds an exclusive access to the part.
    unsafe fn begin_part(&self, pointer: *mut u8, poisoned: Option<&Arc<Failure>>) {
        self.replicas.stay_home();
        // SAFETY: the caller's access is exclusive, and no replica is valid, so none is evicted (C4).
        unsafe { (*self.body.get()).home.pointer = pointer };
        match poisoned {
            None => self.set_ready(),
            // SAFETY: the caller's access is exclusive.
            Some(failure) => unsafe { self.poison(failure) },
        }
    }

    /// Frees the state of a part.
    ///
    /// # Safety
    /// No access to it is left, and no handle of it will be used.
    pub(crate) unsafe fn give_back_part(part: NonNull<Self>, events: &mut impl Events) {
        // SAFETY: the release link is the state's first field, and nothing else knows the state.
        unsafe { Self::reclaim(part.as_ptr().cast_const().cast::<Link>(), events) };
    }
}
