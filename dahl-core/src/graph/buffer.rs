//! Buffers that take the place of an array's own: a renamed buffer, and the private buffers of a reduction.
//!
//! [`ArrayState`] says who may touch an array's body.
#![allow(unsafe_code, reason = "changes the body of an array that the caller has exclusive access to")]

use std::panic::Location;

use super::content::Content;
use super::home::Origin;
use super::state::{ArrayState, Fixed};
use crate::access::AccessMode;
use crate::codelet::Operand;
use crate::device::{FetchError, Requester};
use crate::memory::{Block, HOME, Holder, Shortage};
use crate::shape::Layout;
use crate::sync::atomic::Ordering;

impl ArrayState {
    /// Starts a leaf of a reduction in the memory `node`, with unspecified content, and returns its address.
    ///
    /// # Errors
    /// If it cannot be made available.
    ///
    /// # Safety
    /// The caller holds an exclusive access.
    pub(crate) unsafe fn begin_leaf(&self, node: usize, requester: Requester) -> Result<*mut u8, FetchError> {
        // SAFETY: the caller's access is exclusive.
        unsafe { (*self.body.get()).failure = None };
        self.set_ready();
        // SAFETY: guaranteed by the caller.
        unsafe { self.prepare_at(node, AccessMode::W, requester) }
    }

    /// Makes the array available in the memory `node` for the total of a reduction: with its value, unless the total
    /// `begins` without it.
    ///
    /// # Errors
    /// As [`prepare_at`](Self::prepare_at).
    ///
    /// # Safety
    /// The caller holds an exclusive access.
    pub(crate) unsafe fn prepare_total_at(
        &self,
        begins: bool,
        node: usize,
        requester: Requester,
    ) -> Result<*mut u8, FetchError> {
        let mode = if begins { AccessMode::W } else { AccessMode::RW };
        // SAFETY: guaranteed by the caller.
        unsafe { self.prepare_at(node, mode, requester) }
    }

    /// Discards the value: the next access finds zeros.
    ///
    /// # Safety
    /// The caller holds an exclusive access.
    pub(crate) unsafe fn forget_value(&self, requester: Requester) {
        // SAFETY: guaranteed by the caller.
        if let Err(error) = unsafe { self.prepare_at(HOME, AccessMode::W, requester) } {
            // SAFETY: guaranteed by the caller.
            return unsafe { self.poison(&error.into_failure(self, requester)) };
        }
        if self.fixed().part.is_none() {
            // The elements are at home, and no replica is valid any more (C5).
            return self.content.set(Content::Zero);
        }
        // SAFETY: the caller's access is exclusive; the buffer is the whole array's, and initialised.
        unsafe { self.with_contiguous(|elements| elements.fill(0)) };
    }

    /// Calls `finish` with the elements, contiguous: with the value, unless the total `begins` without it.
    ///
    /// # Errors
    /// The failure that left the array without a value.
    ///
    /// # Safety
    /// The caller holds an exclusive access.
    pub(crate) unsafe fn finish_reduction(
        &self,
        begins: bool,
        requester: Requester,
        finish: impl FnOnce(&mut [u8]),
    ) -> Result<(), FetchError> {
        // SAFETY: guaranteed by the caller.
        unsafe { self.prepare_total_at(begins, HOME, requester) }?;
        // SAFETY: the caller's access is exclusive; the buffer is initialised, since blocks are.
        unsafe { self.with_contiguous(finish) };
        Ok(())
    }

    /// The elements of `region` of the buffer at home, or all of this array or part. They may be used as the caller's access
    /// to it allows, once it is prepared there.
    pub(crate) fn operand_at_home(&self, region: Option<Layout>) -> Operand {
        let all = self.home_operand();
        Operand { layout: region.unwrap_or(all.layout), ..all }
    }

    /// Calls `change` with the elements at home, contiguous: those of a strided part are copied there and back.
    ///
    /// # Safety
    /// The caller holds an exclusive access, has prepared the array at home, and its elements are initialised.
    unsafe fn with_contiguous(&self, change: impl FnOnce(&mut [u8])) {
        let Fixed { bytes, element, part, .. } = self.fixed();
        let element = element.expect("a state in use has an element type");
        let (pointer, layout) = (self.pointer(), part.unwrap_or(Layout::EMPTY));
        if layout.is_contiguous() {
            let start = pointer.wrapping_add(layout.offset * element.size_bytes);
            // SAFETY: guaranteed by the caller: `bytes` initialised bytes that nothing else accesses.
            return change(unsafe { std::slice::from_raw_parts_mut(start, *bytes) });
        }
        let operand = Operand { pointer, layout, element, writes: true, reads: true };
        // SAFETY: guaranteed by the caller: the operand's elements may be read and written, and nothing else accesses
        // them.
        unsafe { operand.change_packed(change) };
    }

    /// A buffer as large as the array's, which can [replace](Self::rename) it, for the task submitted at `location`.
    ///
    /// # Errors
    /// If it cannot be allocated.
    ///
    /// # Safety
    /// The caller holds an exclusive access.
    pub(crate) unsafe fn spare(&self, location: &'static Location<'static>) -> Result<*mut u8, Shortage> {
        // SAFETY: the caller's access is exclusive.
        let body = unsafe { &mut *self.body.get() };
        if let Some(spare) = &body.home.spare {
            return Ok(spare.pointer());
        }
        let node = self.host().memory();
        let spare = Block::zeroed(node, self.fixed().bytes, Holder::new("rename buffer", location))
            .ok_or_else(|| Shortage::new(node, self.fixed().bytes))?;
        self.own_bytes.fetch_add(spare.bytes(), Ordering::Relaxed);
        Ok(body.home.spare.insert(spare).pointer())
    }

    /// Makes the spare buffer the array's. (For a part, its elements are copied instead.) The old buffer becomes the
    /// spare one, unless it is an arena's.
    ///
    /// # Safety
    /// The caller holds an exclusive access, and no reference into the old buffer is left.
    pub(crate) unsafe fn rename(&self) {
        // SAFETY: the caller's access is exclusive.
        let body = unsafe { &mut *self.body.get() };
        let Some(mut block) = body.home.spare.take() else { return };
        if self.fixed().part.is_some() {
            let from = block.first_bytes_mut(self.fixed().bytes);
            // SAFETY: the caller may write the elements.
            unsafe { self.with_contiguous(|to| to.copy_from_slice(from)) };
            body.home.spare = Some(block);
            return;
        }
        body.home.pointer = block.pointer();
        if let Origin::Block(old) = std::mem::replace(&mut body.home.origin, Origin::Block(block)) {
            if old.bytes() >= self.fixed().bytes {
                body.home.spare = Some(old);
            } else {
                self.own_bytes.fetch_sub(old.bytes(), Ordering::Relaxed);
            }
        }
    }
}
