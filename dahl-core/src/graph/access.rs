//! [`Access`]: one array of a task, as a link in the array's chain. The [description](AccessDesc) says what the task
//! does with the array.
//!
//! [`Record`] says who may touch what of it.
#![allow(
    unsafe_code,
    reason = "an access is written by the one owner of its record at a time, without a lock"
)]

use std::cell::UnsafeCell;
use std::ops::Deref;
use std::ptr;

use super::chain::Link;
use super::record::Record;
use super::state::ArrayState;
use crate::description::AccessDesc;

/// One access of a task: its link, and its array.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Bound {
    /// The first field, so that a pointer to the link is one to the access.
    pub(crate) link: Link,
    pub(crate) record: UnsafeCell<*const Record>,
    /// Null for `SCRATCH`.
    pub(crate) array: UnsafeCell<*const ArrayState>,
}

impl Bound {
    pub(crate) fn new() -> Self {
        Self { link: Link::new(), record: UnsafeCell::new(ptr::null()), array: UnsafeCell::new(ptr::null()) }
    }
}

/// One access of a submitted task: its description, its array and its link.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Access<'r> {
    pub(crate) desc: &'r AccessDesc,
    pub(crate) bound: &'r Bound,
}

impl Deref for Access<'_> {
    type Target = AccessDesc;

    fn deref(&self) -> &AccessDesc {
        self.desc
    }
}

impl<'r> Access<'r> {
    /// The description of the access.
    pub(crate) fn desc(self) -> &'r AccessDesc {
        self.desc
    }

    /// The link, as a pointer from which the access can be recovered.
    pub(crate) fn link(self) -> *const Link {
        ptr::from_ref(self.bound).cast()
    }

    /// Prefetches the next link of the chain.
    pub(crate) fn fetch_next(self) {
        self.bound.link.fetch_next();
    }

    /// Whether all that it waits for has ended.
    pub(crate) fn is_ready(self) -> bool {
        self.bound.link.is_ready()
    }

    /// Whether it has ended itself.
    pub(crate) fn is_done(self) -> bool {
        self.bound.link.is_done()
    }

    /// The array, unless it is scratch.
    #[inline]
    pub(crate) fn state(self) -> Option<&'r ArrayState> {
        // SAFETY: an `Access` belongs to a submitted record: nothing writes the pointer.
        let array = unsafe { *self.bound.array.get() };
        // SAFETY: the array's release link follows this access, so its state exists until the access is done.
        unsafe { array.as_ref() }
    }
}
