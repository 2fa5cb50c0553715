//! [`Access`]: one array of a task, what is done with it, and its link in the array's chain.
//!
//! Who may touch what of it is said at [`Record`].
#![allow(
    unsafe_code,
    reason = "an access is written by the one owner of its record at a time, without a lock"
)]

use std::cell::UnsafeCell;
use std::ptr;

use super::chain::Link;
use super::record::Record;
use crate::access::AccessMode;
use crate::array::ArrayState;
use crate::shape::Layout;

/// One access of a task.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Access {
    /// First, so that a pointer to the link is one to the access.
    pub(super) link: Link,
    pub(super) record: UnsafeCell<*const Record>,
    pub(super) body: UnsafeCell<AccessBody>,
}

/// What an access says.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AccessBody {
    /// Null for `SCRATCH`.
    pub(crate) array: *const ArrayState,
    pub(crate) mode: AccessMode,
    pub(crate) layout: Layout,
    /// Whether what the array or buffer holds does not count: for the first contribution to a leaf, and the total of an
    /// array whose value was forgotten.
    pub(crate) begins: bool,
}

impl AccessBody {
    /// Whether it needs what the array or buffer holds.
    pub(crate) fn reads(&self) -> bool {
        self.mode != AccessMode::W && !self.begins
    }
}

impl Access {
    pub(super) fn new() -> Self {
        let body =
            AccessBody { array: ptr::null(), mode: AccessMode::R, layout: Layout::EMPTY, begins: false };
        Self { link: Link::new(), record: UnsafeCell::new(ptr::null()), body: UnsafeCell::new(body) }
    }

    /// The link, as a pointer that leads back to the access.
    pub(crate) fn link(&self) -> *const Link {
        ptr::from_ref(self).cast()
    }

    /// What the access says.
    pub(crate) fn body(&self) -> &AccessBody {
        // SAFETY: after submission nobody writes it; before, only the submitter calls, through `Record`'s methods.
        unsafe { &*self.body.get() }
    }

    /// Has the processor fetch the link behind its own.
    pub(crate) fn fetch_next(&self) {
        self.link.fetch_next();
    }

    /// Whether what it waits for has ended.
    pub(crate) fn is_ready(&self) -> bool {
        self.link.is_ready()
    }

    /// Whether it has ended itself.
    pub(crate) fn is_done(&self) -> bool {
        self.link.is_done()
    }

    /// The array, unless it is scratch.
    pub(crate) fn array(&self) -> Option<&ArrayState> {
        // SAFETY: the array's release link comes after this access, so its state is there until the access is done.
        unsafe { self.body().array.as_ref() }
    }
}
