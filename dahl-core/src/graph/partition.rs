//! [`Partition`]: the states of the parts, and what the split and the join do when they run.
//!
//! Not here: how these are submitted (`task::partition`).
#![allow(unsafe_code, reason = "parts alias their whole; the order of tasks keeps them apart")]

use std::any::Any;
use std::panic::Location;
use std::ptr::NonNull;
use std::sync::Arc;

use super::chain::Events;
use super::log::LoggedPartition;
use super::record::Record;
use super::state::ArrayState;
use crate::access::AccessMode;
use crate::array_id::ArrayId;
use crate::cuda::HostFetch;
use crate::memory::References;
use crate::shape::Layout;
use crate::sync::atomic::{AtomicBool, Ordering};
use crate::sync::{Mutex, MutexGuard};

/// The bytes of a join's parts whose copies start together, or one part: they fill staging buffers. A copy takes much longer
/// than to start the next one, which happens before its elements are copied home: so up to twice as many fill buffers.
const MOST_ON_THEIR_WAY: usize = 32 << 20;

/// The key of a partition of an array.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PartitionKey<'a> {
    pub(crate) axis: usize,
    pub(crate) lengths: Lengths<'a>,
    /// Whether the parts are only read.
    pub(crate) shared: bool,
}

/// How the parts of a partition divide the extent of its axis. Two values with the same lengths are the same partition.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Lengths<'a> {
    /// Parts of `chunk`; the last one has the rest of `extent`.
    Chunks { extent: usize, chunk: usize },
    /// One part of each of these lengths.
    Each(&'a [usize]),
}

impl Lengths<'_> {
    /// Where each part begins, and its length.
    pub(crate) fn ranges(self) -> impl Iterator<Item = (usize, usize)> {
        let count = match self {
            Self::Chunks { extent, chunk } => extent.div_ceil(chunk),
            Self::Each(lengths) => lengths.len(),
        };
        let mut begin = 0;
        (0..count).map(move |part| {
            let length = match self {
                Self::Chunks { extent, chunk } => chunk.min(extent - begin),
                Self::Each(lengths) => lengths[part],
            };
            begin += length;
            (begin - length, length)
        })
    }
}

/// The partitions of an array: open ones, and those kept for reuse.
#[derive(Debug, Default)]
pub(crate) struct Partitions {
    /// Whether one may be open: read by every access to the whole array. A thread that sees that none is open also sees
    /// the effects of the joins.
    pub(crate) any_open: AtomicBool,
    list: Mutex<Vec<Owned>>,
}

/// A partition, as its whole array owns it.
#[derive(Debug)]
pub(crate) struct Owned {
    pub(crate) partition: NonNull<Partition>,
    pub(crate) open: bool,
}

/// One partition of an array.
///
/// `references` counts the whole array, the split until its record is retired, and the join likewise. With only the
/// whole array's reference left, the partition can be reused; with none, it is freed.
#[derive(Debug)]
pub(crate) struct Partition {
    pub(crate) references: References,
    axis: usize,
    /// Where each part begins, and its length, along `axis`.
    ranges: Vec<(usize, usize)>,
    /// Whether the parts are only read.
    pub(crate) shared: bool,
    /// The whole's layout, from which the parts' follow.
    layout: Layout,
    whole: *const ArrayState,
    parts: Vec<NonNull<ArrayState>>,
    /// The cache of the parts' handles, a `Shelf`.
    shelf: Arc<dyn Any + Send + Sync>,
    pub(crate) split: Record,
    pub(crate) join: Record,
}

// SAFETY: the list is accessed under its lock.
unsafe impl Send for Partitions {}
// SAFETY: as for `Send`.
unsafe impl Sync for Partitions {}

impl Partitions {
    pub(crate) fn list(&self) -> MutexGuard<'_, Vec<Owned>> {
        self.list.lock().unwrap_or_else(|poison| poison.into_inner())
    }

    /// Whether a partition may be open. A thread that sees that none is open also sees the effects of the joins.
    pub(crate) fn may_be_open(&self) -> bool {
        self.any_open.load(Ordering::Acquire)
    }

    /// Whether parts that are only read are open.
    pub(crate) fn are_read(&self) -> bool {
        self.may_be_open() && self.list().iter().any(|owned| owned.open && owned.partition().shared)
    }

    /// Releases all partitions, when the whole array is freed.
    pub(crate) fn clear(&self, events: &mut impl Events) {
        for owned in self.list().drain(..) {
            Partition::release(owned.partition, events);
        }
        self.any_open.store(false, Ordering::Relaxed);
    }
}

impl Owned {
    pub(crate) fn partition(&self) -> &Partition {
        // SAFETY: the whole array holds a reference as long as it lists the partition.
        unsafe { self.partition.as_ref() }
    }
}

impl Partition {
    pub(crate) fn new(
        whole: &ArrayState,
        key: PartitionKey<'_>,
        layout: Layout,
        shelf: Arc<dyn Any + Send + Sync>,
    ) -> Self {
        let ranges = key.lengths.ranges().collect::<Vec<_>>();
        let part = |&(begin, len): &(usize, usize)| {
            ArrayState::create_part(whole, layout.part(key.axis, begin, len))
        };
        Self {
            references: References::new(1),
            axis: key.axis,
            shared: key.shared,
            layout,
            whole,
            parts: ranges.iter().map(part).collect(),
            ranges,
            shelf,
            split: Record::new(u32::MAX),
            join: Record::new(u32::MAX),
        }
    }

    /// The states of the parts, in order.
    pub(crate) fn parts(&self) -> &[NonNull<ArrayState>] {
        &self.parts
    }

    /// The cache of the parts' handles.
    pub(crate) fn shelf(&self) -> &Arc<dyn Any + Send + Sync> {
        &self.shelf
    }

    /// Whether somebody has its parts, or has leaked them. Nobody opens it meanwhile.
    pub(crate) fn has_handles(&self) -> bool {
        // Whoever has the parts has a reference to the shelf, to which they go back.
        Arc::strong_count(&self.shelf) > 1
    }

    pub(crate) fn part_states(&self) -> impl Iterator<Item = &ArrayState> {
        // SAFETY: the parts' states are freed with the partition.
        self.parts.iter().map(|part| unsafe { part.as_ref() })
    }

    /// Where each part begins along the axis, and its length.
    pub(crate) fn ranges(&self) -> &[(usize, usize)] {
        &self.ranges
    }

    /// The parts, and where their elements are in the whole array's memory.
    pub(crate) fn part_layouts(&self) -> impl Iterator<Item = (ArrayId, Layout)> {
        let layouts = self.ranges.iter().map(|&(begin, len)| self.layout.part(self.axis, begin, len));
        self.part_states().map(ArrayState::id).zip(layouts)
    }

    pub(crate) fn can_reopen(&self, key: &PartitionKey<'_>, layout: &Layout) -> bool {
        self.axis == key.axis
            && self.shared == key.shared
            && self.layout.is_same(layout)
            && key.lengths.ranges().eq(self.ranges.iter().copied())
            && self.references.is_sole()
    }

    /// Whether the split, or else the join, needs elements that are not at home.
    pub(crate) fn is_away(&self, is_split: bool) -> bool {
        self.sources(is_split).any(ArrayState::is_away)
    }

    /// Begins to bring home what the split, or else the join, needs there: some of it, if it is much. What has begun, or was on its
    /// way.
    pub(crate) fn fetch_async(&self, is_split: bool) -> Vec<Arc<HostFetch>> {
        let mut bytes = 0;
        let mut fetches = Vec::new();
        for source in self.sources(is_split) {
            if bytes >= MOST_ON_THEIR_WAY {
                break;
            }
            let Some(fetch) = source.fetch_async() else { continue };
            bytes += source.bytes();
            fetches.push(fetch);
        }
        fetches
    }

    /// Brings home what has come to the main memory of what the split, or else the join, needs.
    pub(crate) fn land(&self, is_split: bool) {
        self.sources(is_split).for_each(ArrayState::land);
    }

    /// The arrays whose elements the split, or else the join, needs at home. It is ready and not completed.
    fn sources(&self, is_split: bool) -> impl Iterator<Item = &ArrayState> {
        // SAFETY: the whole's release comes after the split's access to it, which is not done.
        let whole = is_split.then(|| unsafe { &*self.whole });
        let parts = (!is_split).then(|| self.part_states());
        whole.into_iter().chain(parts.into_iter().flatten())
    }

    pub(crate) fn split(&self) -> &Record {
        &self.split
    }

    /// Whether the parts are only read.
    pub(crate) fn is_shared(&self) -> bool {
        self.shared
    }

    /// What a log says of it. Its split or its join is being submitted.
    pub(crate) fn logged(&self, location: &'static Location<'static>) -> LoggedPartition {
        // SAFETY: the whole array is borrowed by the submitter.
        let whole = unsafe { &*self.whole }.id();
        let parts = self.part_states().map(ArrayState::id).collect();
        LoggedPartition { whole, parts, shared: self.shared, location }
    }

    /// The whole, if the join ends the split's access to it.
    pub(crate) fn returned_whole(&self) -> Option<ArrayId> {
        // SAFETY: the whole array's release follows the split's access, which ends after the join.
        (!self.shared).then(|| unsafe { &*self.whole }.id())
    }

    /// The work of the split: the parts get the whole array's buffer and content.
    ///
    /// # Safety
    /// The split is ready and not completed.
    pub(crate) unsafe fn run_split(&self, location: &'static Location<'static>) {
        // SAFETY: the whole array's release follows the split's access, which is not done.
        let whole = unsafe { &*self.whole };
        let mode = if self.shared { AccessMode::R } else { AccessMode::RW };
        // SAFETY: the split holds an access of this mode to the whole, and exclusive ones to the parts.
        unsafe { whole.split(mode, self.part_states(), location) };
    }

    /// The work of the join: the outcome of the parts becomes that of the whole array.
    ///
    /// # Safety
    /// The join is ready and not completed.
    pub(crate) unsafe fn run_join(&self, location: &'static Location<'static>) {
        // What is not on its way begins before any of it is waited for.
        self.fetch_async(false);
        // SAFETY: the whole array's release follows the split's access, which ends after the join.
        let whole = (!self.shared).then(|| unsafe { &*self.whole });
        // SAFETY: the join holds exclusive accesses to the parts, and the split one to the whole, unless that is shared.
        unsafe { ArrayState::join(whole, self.part_states(), location) };
    }

    /// Releases one reference.
    pub(crate) fn release(partition: NonNull<Self>, events: &mut impl Events) {
        // SAFETY: the caller's reference keeps it alive.
        if unsafe { partition.as_ref() }.references.let_go() {
            // SAFETY: it was leaked from a box in `open`, and this was the last reference.
            let partition = unsafe { Box::from_raw(partition.as_ptr()) };
            for &part in &partition.parts {
                // SAFETY: split and join are retired, so no access to a part is left, and no handle owns it.
                unsafe { ArrayState::give_back_part(part, events) };
            }
        }
    }
}
