//! Prepares an array for an access: resolves its content, and fetches its elements to the memory node of the access.
//!
//! [`ArrayState`] says who may touch an array's body.
#![allow(unsafe_code, reason = "changes the body of an array that the caller has access to")]

use std::sync::Arc;

use super::content::Content;
use super::replicas::Use;
use super::state::ArrayState;
use crate::access::AccessMode;
use crate::device::{FetchError, Requester};
use crate::error::Failure;
use crate::memory::HOME;

impl ArrayState {
    /// Makes the content what an access of this mode requires, and returns the address of the elements.
    ///
    /// # Errors
    /// The failure that left the array without a value, unless the access overwrites it.
    ///
    /// # Safety
    /// The caller holds an access of this mode.
    pub(crate) unsafe fn prepare(&self, mode: AccessMode) -> Result<*mut u8, Arc<Failure>> {
        match self.content.claim(mode.is_shared()) {
            Content::Ready => Ok(self.pointer()),
            // SAFETY: the caller's access is exclusive, or it is the reader that claimed: only it writes the body.
            before => unsafe { self.resolve(before, mode) },
        }
    }

    /// Changes content that is not ready to what `mode` requires.
    ///
    /// # Safety
    /// The caller may write the body.
    unsafe fn resolve(&self, before: Content, mode: AccessMode) -> Result<*mut u8, Arc<Failure>> {
        // SAFETY: guaranteed by the caller.
        let body = unsafe { &mut *self.body.get() };
        let overwrites = mode == AccessMode::W;
        match before {
            Content::Poisoned if !overwrites => {
                self.content.set(Content::Poisoned);
                let failure = body.failure.as_ref().expect("a poisoned array knows the failure");
                return Err(Arc::clone(failure));
            }
            Content::Poisoned => body.failure = None,
            Content::Zero | Content::Unset if !overwrites => {
                debug_assert!(self.fixed().part.is_none(), "the split makes its parts ready");
                // SAFETY: the caller may write the elements, `bytes` bytes from `pointer` on.
                unsafe { body.home.pointer.write_bytes(0, self.fixed().bytes) };
            }
            Content::Ready | Content::Zero | Content::Unset | Content::Busy => {}
        }
        self.set_ready();
        Ok(body.home.pointer)
    }

    /// As [`prepare`](Self::prepare), in the memory `node`. A replica there is pinned: the task unpins it when it has
    /// ended.
    ///
    /// # Errors
    /// That failure, or why the elements cannot be made available.
    ///
    /// # Safety
    /// The caller holds an access of this mode.
    #[inline]
    pub(crate) unsafe fn prepare_at(
        &self,
        node: usize,
        mode: AccessMode,
        requester: Requester,
    ) -> Result<*mut u8, FetchError> {
        if node == HOME && !self.replicas.may_exist() {
            // SAFETY: guaranteed by the caller.
            return unsafe { self.prepare(mode) }.map_err(FetchError::Poisoned);
        }
        // SAFETY: guaranteed by the caller.
        unsafe { self.prepare_anywhere(node, mode, requester) }
    }

    /// As [`prepare_at`](Self::prepare_at), where there may be replicas.
    #[cold]
    unsafe fn prepare_anywhere(
        &self,
        node: usize,
        mode: AccessMode,
        requester: Requester,
    ) -> Result<*mut u8, FetchError> {
        let before = self.content.claim(mode.is_shared());
        if before != Content::Ready {
            debug_assert!(self.replicas.is_home(), "what has no value has no replicas (C5)");
            // SAFETY: as in `prepare`.
            unsafe { self.resolve(before, mode) }.map_err(FetchError::Poisoned)?;
        }
        let how = Use { reads: mode != AccessMode::W, exclusive: !mode.is_shared() };
        // SAFETY: guaranteed by the caller.
        let fetched = unsafe { self.fetch(node, how, requester) };
        if let Err(FetchError::Device { node: failed, error: Some(error) }) = &fetched
            && error.is_loss()
        {
            self.host().lose_device(*failed - 1);
            if node == HOME {
                // That also tells which elements are lost, and for which array. SAFETY: guaranteed by the caller.
                return unsafe { self.fetch(node, how, requester) };
            }
        }
        fetched
    }
}
