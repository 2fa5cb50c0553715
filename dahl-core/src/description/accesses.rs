//! [`AccessDesc`]: what a task does with one of its arrays; [`Accesses`]: the same for all of them.

use std::fmt;

use crate::access::AccessMode;
use crate::array_id::ArrayId;
use crate::shape::Layout;

/// Accesses that a description stores inline; further ones are on the heap, in memory that is kept for its next task.
pub(crate) const INLINE: usize = 4;

/// An access of a task to one of its arrays.
#[derive(Clone, Copy)]
pub struct AccessDesc {
    pub(super) array: Option<ArrayId>,
    /// The private buffer of a contribution.
    pub(super) buffer: Option<ArrayId>,
    pub(super) whole: Option<ArrayId>,
    pub(crate) mode: AccessMode,
    /// Whether the old content of the array or buffer is ignored: for the first contribution to a leaf, and for the
    /// total of an array whose value was discarded.
    pub(crate) begins: bool,
    pub(crate) layout: Layout,
}

impl AccessDesc {
    const EMPTY: Self = Self {
        array: None,
        buffer: None,
        whole: None,
        mode: AccessMode::R,
        begins: false,
        layout: Layout::EMPTY,
    };

    /// The array; none for scratch. For a contribution to a reduction, the array of the reduction.
    pub fn array(&self) -> Option<ArrayId> {
        self.array
    }

    /// For a part: the whole array.
    pub fn whole(&self) -> Option<ArrayId> {
        self.whole
    }

    /// The array whose chain orders the access: for a contribution, the private buffer.
    pub(crate) fn ordered_by(&self) -> Option<ArrayId> {
        self.buffer.or(self.array)
    }

    /// The access mode.
    pub fn mode(&self) -> AccessMode {
        self.mode
    }

    /// The extents of the access.
    pub fn extents(&self) -> &[usize] {
        self.layout.extents()
    }

    /// Its strides, in elements.
    pub fn strides(&self) -> Vec<isize> {
        self.layout.strides().to_vec()
    }

    /// Whether its elements are in row-major order from the start of the array's buffer on.
    pub fn is_in_order(&self) -> bool {
        self.layout.offset == 0 && self.layout.is_contiguous()
    }

    /// The number of elements from the start of the array's buffer to the first one.
    pub fn offset(&self) -> usize {
        self.layout.offset
    }

    /// Whether the task depends on the value that the array has before it.
    pub fn needs_value(&self) -> bool {
        self.reads() && self.mode != AccessMode::SCRATCH
    }

    /// Whether it needs the content of the array or buffer.
    #[inline]
    pub(crate) fn reads(&self) -> bool {
        self.mode != AccessMode::W && !self.begins
    }

    pub(super) fn is_shared(&self) -> bool {
        self.mode.is_shared()
    }

    /// Whether both are to one array, or to an array and a part of it.
    pub(super) fn meets(&self, other: &Self) -> bool {
        let is_one = |a: Option<ArrayId>, b: Option<ArrayId>| a.is_some() && a == b;
        is_one(self.array, other.array) || is_one(self.whole, other.array) || is_one(self.array, other.whole)
    }
}

impl fmt::Debug for AccessDesc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.mode)?;
        if let Some(array) = self.array {
            write!(f, " {array:?}")?;
        }
        write!(f, " {:?}", self.layout.extents())
    }
}

/// The accesses of a task, in order.
#[derive(Debug)]
pub(crate) struct Accesses {
    len: usize,
    commutes: bool,
    inline: [AccessDesc; INLINE],
    more: Vec<AccessDesc>,
}

impl Default for Accesses {
    fn default() -> Self {
        Self { len: 0, commutes: false, inline: [AccessDesc::EMPTY; INLINE], more: Vec::new() }
    }
}

impl Clone for Accesses {
    fn clone(&self) -> Self {
        let more = self.more[..self.len.saturating_sub(INLINE)].to_vec();
        Self { len: self.len, commutes: self.commutes, inline: self.inline, more }
    }
}

impl Accesses {
    #[inline]
    pub(super) fn clear(&mut self) {
        (self.len, self.commutes) = (0, false);
    }

    /// Adds an access, to be filled in.
    #[inline]
    pub(super) fn push(&mut self) -> &mut AccessDesc {
        let index = self.len;
        self.len += 1;
        if index < INLINE {
            return &mut self.inline[index];
        }
        if self.more.len() == index - INLINE {
            self.more.push(AccessDesc::EMPTY);
        }
        &mut self.more[index - INLINE]
    }

    pub(super) fn note_mode(&mut self, mode: AccessMode) {
        self.commutes |= mode == AccessMode::COMMUTE;
    }

    /// Makes accesses that commute exclusive ones.
    pub(super) fn fix_order(&mut self) {
        for index in 0..self.len {
            let access = self.get_mut(index);
            if access.mode == AccessMode::COMMUTE {
                access.mode = AccessMode::RW;
            }
        }
        self.commutes = false;
    }

    #[inline]
    pub(super) fn commutes(&self) -> bool {
        self.commutes
    }

    #[inline]
    pub(super) fn len(&self) -> usize {
        self.len
    }

    #[inline]
    pub(super) fn get(&self, index: usize) -> &AccessDesc {
        match self.inline.get(index) {
            Some(access) => access,
            None => &self.more[index - INLINE],
        }
    }

    pub(super) fn get_mut(&mut self, index: usize) -> &mut AccessDesc {
        match self.inline.get_mut(index) {
            Some(access) => access,
            None => &mut self.more[index - INLINE],
        }
    }

    #[inline]
    pub(super) fn iter(&self) -> impl ExactSizeIterator<Item = &AccessDesc> {
        (0..self.len).map(|index| self.get(index))
    }
}
