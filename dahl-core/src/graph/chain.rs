//! The order of accesses to one array: a [`Chain`] of [`Link`]s, without locks. `README.md`, beside this file, has the
//! protocol and its proof.
//!
//! Not here: what a task is (`record`), and what happens when it is ready ([`Events`]).
#![allow(
    unsafe_code,
    reason = "links are recycled memory; the README proves that no retired link is touched"
)]

use std::ptr;

use crate::sync::atomic::{AtomicPtr, AtomicU32, Ordering};

const EXCLUSIVE: u32 = 1;
const RELEASE: u32 = 1 << 1;
const READ_OK: u32 = 1 << 2;
const WRITE_OK: u32 = 1 << 3;
const DONE: u32 = 1 << 4;
const LINKED: u32 = 1 << 5;
const NEXT_SHARES: u32 = 1 << 6;
const LATE: u32 = 1 << 7;
const READ_SENT: u32 = 1 << 8;
const TAIL_LOST: u32 = 1 << 9;
const COMMUTES: u32 = 1 << 10;

/// The flags of a link's kind.
const KIND: u32 = EXCLUSIVE | COMMUTES;

const COMPLETE: u32 = DONE | WRITE_OK;

/// The kind of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LinkKind {
    /// May be ready together with other shared links.
    Shared,
    /// May be ready together with other commuting links; the commute lock decides which of them runs.
    Commuting,
    /// Runs alone.
    Exclusive,
    /// The last link of an array: when it is ready, the array's memory can be freed.
    Release,
}

/// One access in a chain.
#[derive(Debug)]
pub(crate) struct Link {
    flags: AtomicU32,
    next: AtomicPtr<Link>,
}

/// The accesses of one array, in the order of submission; only the last one is stored.
#[derive(Debug)]
pub(crate) struct Chain {
    tail: AtomicPtr<Link>,
}

/// The consequences of a step in a chain. The pointers are to links that were given to [`Chain::append`].
pub(crate) trait Events {
    /// The link's access may begin. Called once for each link.
    fn ready(&mut self, link: *const Link);

    /// The link is out of the chain, and nothing accesses it any more. Called once for each link that was
    /// [finished](Chain::finish).
    fn retired(&mut self, link: *const Link);
}

fn is_ready(flags: u32) -> bool {
    flags & if flags & EXCLUSIVE != 0 { WRITE_OK } else { READ_OK } != 0
}

fn shares(flags: u32) -> bool {
    const SHARES: u32 = READ_OK | LINKED | NEXT_SHARES;
    flags & (EXCLUSIVE | SHARES) == SHARES
}

fn is_idle(flags: u32) -> bool {
    flags & (COMPLETE | LINKED) == COMPLETE
}

fn passes(flags: u32) -> bool {
    flags & (COMPLETE | LINKED) == COMPLETE | LINKED
        && (flags & READ_SENT != 0 || !shares(flags))
        && (flags & TAIL_LOST != 0 || flags & LATE == 0)
}

/// Whether it may begin, and has sent all that it sends before its end: then only its own task changes the flags
/// (README).
fn is_settled(flags: u32) -> bool {
    flags & (WRITE_OK | LINKED) == WRITE_OK | LINKED && (flags & READ_SENT != 0 || !shares(flags))
}

/// Whether it waits for `READ_OK`, and is linked: then only the sender of that changes the flags (README).
fn is_waiting(flags: u32) -> bool {
    flags & (READ_OK | LINKED) == LINKED
}

/// Whether the step from `before` to `after` made `property` true.
fn became(property: fn(u32) -> bool, before: u32, after: u32) -> bool {
    property(after) && !property(before)
}

impl Link {
    pub(crate) fn new() -> Self {
        Self { flags: AtomicU32::new(0), next: AtomicPtr::new(ptr::null_mut()) }
    }

    /// Prepares a link that is in no chain.
    pub(crate) fn reset(&self, kind: LinkKind) {
        let flags = match kind {
            LinkKind::Shared => 0,
            LinkKind::Commuting => COMMUTES,
            LinkKind::Exclusive => EXCLUSIVE,
            LinkKind::Release => EXCLUSIVE | RELEASE,
        };
        self.flags.store(flags, Ordering::Relaxed);
    }

    /// Whether this is the last link of its array.
    pub(crate) fn is_release(&self) -> bool {
        self.flags.load(Ordering::Relaxed) & RELEASE != 0
    }

    /// Whether its access may begin, or has.
    pub(crate) fn is_ready(&self) -> bool {
        is_ready(self.flags.load(Ordering::Relaxed))
    }

    /// Whether its access has ended.
    pub(crate) fn is_done(&self) -> bool {
        self.flags.load(Ordering::Relaxed) & DONE != 0
    }

    /// Prefetches the next link, which another core has written, before [`Chain::finish`] changes it.
    #[inline]
    pub(crate) fn fetch_next(&self) {
        if self.flags.load(Ordering::Relaxed) & LINKED == 0 {
            return;
        }
        let next = self.next.load(Ordering::Relaxed).cast_const();
        #[cfg(target_arch = "x86_64")]
        // SAFETY: it requires SSE, which every x86-64 processor has, and accesses nothing: any address is valid.
        unsafe {
            std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(next.cast());
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = next;
    }

    fn add(&self, flags: u32) -> (u32, u32) {
        let before = self.flags.fetch_or(flags, Ordering::AcqRel);
        (before, before | flags)
    }

    /// The same, with a plain store if only the caller changes the flags while `is_alone` holds for them: that needs no
    /// locked instruction, and does not wait until this core has the line exclusively.
    fn add_if_alone(&self, is_alone: fn(u32) -> bool, flags: u32) -> (u32, u32) {
        let before = self.flags.load(Ordering::Acquire);
        if !is_alone(before) {
            return self.add(flags);
        }
        self.flags.store(before | flags, Ordering::Release);
        (before, before | flags)
    }

    /// Adds `LINKED`, and `LATE` if the link was complete.
    fn add_linked(&self, flags: u32) -> (u32, u32) {
        let mut before = self.flags.load(Ordering::Relaxed);
        loop {
            let after = before | flags | LINKED | if before & COMPLETE == COMPLETE { LATE } else { 0 };
            match self.flags.compare_exchange_weak(before, after, Ordering::AcqRel, Ordering::Relaxed) {
                Ok(_) => return (before, after),
                Err(now) => before = now,
            }
        }
    }
}

impl Chain {
    pub(crate) fn new() -> Self {
        Self { tail: AtomicPtr::new(ptr::null_mut()) }
    }

    /// Whether every access so far has ended, with its effects visible to the caller.
    pub(crate) fn is_quiet(&self) -> bool {
        self.tail.load(Ordering::Acquire).is_null()
    }

    /// Removes the release link; for a chain that starts again.
    pub(crate) fn restart(&self) {
        self.tail.store(ptr::null_mut(), Ordering::Relaxed);
    }

    /// Appends `link`.
    ///
    /// # Safety
    /// - `link` is valid and stays where it is until it is retired (a release link: until it is ready).
    /// - It was `reset`, is in no chain, and conflicting appends to this chain are ordered in time.
    pub(crate) unsafe fn append(&self, link: *const Link, events: &mut impl Events) {
        let previous = self.tail.swap(link.cast_mut(), Ordering::AcqRel);
        // SAFETY: the caller keeps `link` valid until it is retired, which cannot happen before it is ready, which
        // needs the step below.
        let link_ref = unsafe { &*link };
        if previous.is_null() {
            let (before, after) = link_ref.add(READ_OK | WRITE_OK);
            // SAFETY: as above; no consequence of this step has been handled yet.
            unsafe { self.react(link, before, after, events) };
        } else {
            let kind = link_ref.flags.load(Ordering::Relaxed) & KIND;
            // SAFETY: a link that was the tail is not retired before `LINKED` (README, third point).
            let previous_ref = unsafe { &*previous };
            previous_ref.next.store(link.cast_mut(), Ordering::Relaxed);
            let shares = kind & EXCLUSIVE == 0 && previous_ref.flags.load(Ordering::Relaxed) & KIND == kind;
            let (before, after) = previous_ref.add_linked(if shares { NEXT_SHARES } else { 0 });
            // SAFETY: if this step made `previous` share or pass, handling that is up to us, and it stays valid until
            // then.
            unsafe { self.react(previous, before, after, events) };
        }
    }

    /// Ends the access of `link`.
    ///
    /// # Safety
    /// `link` is in this chain, was ready, and is finished once.
    pub(crate) unsafe fn finish(&self, link: *const Link, events: &mut impl Events) {
        // SAFETY: an unfinished link is not retired.
        let (before, after) = unsafe { &*link }.add_if_alone(is_settled, DONE);
        // SAFETY: handling the consequences of this step is up to us.
        unsafe { self.react(link, before, after, events) };
    }

    /// Handles the consequences, along the chain, of a step from `before` to `after` on `link`.
    ///
    /// # Safety
    /// The caller made that step, and no consequence of it has been handled.
    unsafe fn react(&self, mut link: *const Link, mut before: u32, mut after: u32, events: &mut impl Events) {
        loop {
            if became(is_ready, before, after) {
                events.ready(link);
            }
            if became(shares, before, after) {
                // SAFETY: `READ_SENT` is not set, so `link` is not retired; it is `LINKED`, so `next` is set.
                unsafe { Self::share(link, events) };
                return;
            }
            if became(is_idle, before, after) {
                if self
                    .tail
                    .compare_exchange(link.cast_mut(), ptr::null_mut(), Ordering::AcqRel, Ordering::Relaxed)
                    .is_ok()
                {
                    events.retired(link);
                    return;
                }
                // SAFETY: the thread that linked set `LATE`, so `link` neither passes nor is retired before this step.
                (before, after) = unsafe { &*link }.add(TAIL_LOST);
            }
            if !became(passes, before, after) {
                return;
            }
            // SAFETY: `link` passes by our step, so nothing else retires it.
            let next = unsafe { &*link }.next.load(Ordering::Relaxed).cast_const();
            // SAFETY: `next` has no `WRITE_OK` before this step, so it is neither complete nor retired.
            (before, after) = unsafe { &*next }.add_if_alone(is_waiting, READ_OK | WRITE_OK);
            events.retired(link);
            link = next;
        }
    }

    /// Sends `READ_OK` along a run of links of one kind, from `link` on.
    ///
    /// # Safety
    /// `link` became shared by the caller's step.
    unsafe fn share(mut link: *const Link, events: &mut impl Events) {
        loop {
            // SAFETY: without `READ_SENT` a link that shares does not pass, so it is not retired.
            let link_ref = unsafe { &*link };
            let next = link_ref.next.load(Ordering::Relaxed).cast_const();
            // SAFETY: `next` has no `WRITE_OK` before `link` passes.
            let (next_before, next_after) = unsafe { &*next }.add_if_alone(is_waiting, READ_OK);
            let (before, after) = link_ref.add(READ_SENT);
            if became(passes, before, after) {
                // This has no consequences: `next` is not `DONE`, since it has not been told that it is ready. SAFETY:
                // `next` is not ready yet, so it is neither `DONE` nor retired.
                unsafe { &*next }.add(WRITE_OK);
                events.retired(link);
            }
            events.ready(next);
            if !became(shares, next_before, next_after) {
                return;
            }
            link = next;
        }
    }
}
