//! [`MemoryNode`]: a memory that holds arrays, with the bytes reserved there, their holders, and the limit.

use std::collections::HashMap;
use std::panic::Location;
use std::sync::{Arc, PoisonError, Weak};

use super::arena::ArenaShared;
use super::holder::{HOST, Holder};
use super::usage::{ArenaUse, MemoryHolder, MemoryUse};
use crate::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use crate::sync::{Mutex, MutexGuard};

/// A memory for arrays: the host's, or a device's.
///
/// Its figures change when memory is really allocated or freed, not with each task.
#[derive(Debug, Default)]
pub(crate) struct MemoryNode {
    name: String,
    limit_bytes: Option<usize>,
    reserved_bytes: AtomicUsize,
    peak_bytes: AtomicUsize,
    /// Bytes that workers keep from task to task, which belong to no array.
    workers_bytes: AtomicUsize,
    /// Bytes whose owner has released them, and that tasks in flight still use.
    dying_bytes: AtomicUsize,
    /// How often dying bytes have been freed.
    deaths: AtomicU64,
    holders: Mutex<HashMap<Holder, usize>>,
    arenas: Mutex<Arenas>,
    /// The recorder of changes, and the node's number for it.
    recorder: Option<(usize, Arc<dyn NotesBytes>)>,
}

/// Receives every change of the reserved bytes of a memory node.
pub(crate) trait NotesBytes: std::fmt::Debug + Send + Sync {
    /// The reserved bytes of memory node `node` have changed by `bytes`.
    fn reserved(&self, node: usize, bytes: i64);
}

#[derive(Debug, Default)]
struct Arenas {
    list: Vec<Weak<ArenaShared>>,
    /// The length at which dropped arenas are removed from the list.
    prune_at: usize,
    /// For each line that created arenas: their number, and the peak of any that has been dropped.
    lines: HashMap<&'static Location<'static>, (u64, usize)>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl MemoryNode {
    pub(crate) fn new(limit_bytes: Option<usize>) -> Self {
        Self { name: HOST.to_owned(), limit_bytes, ..Self::default() }
    }

    /// The memory of a device.
    pub(crate) fn of_device(name: &str, limit_bytes: Option<usize>) -> Self {
        Self { name: name.to_owned(), limit_bytes, ..Self::default() }
    }

    /// The same, with a recorder of its changes as those of memory node `node`.
    pub(crate) fn recorded(self, node: usize, recorder: Option<Arc<dyn NotesBytes>>) -> Self {
        Self { recorder: recorder.map(|recorder| (node, recorder)), ..self }
    }

    /// Records a change of the reserved bytes.
    fn record(&self, bytes: i64) {
        if let Some((node, recorder)) = &self.recorder
            && bytes != 0
        {
            recorder.reserved(*node, bytes);
        }
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn limit_bytes(&self) -> Option<usize> {
        self.limit_bytes
    }

    pub(crate) fn reserved_bytes(&self) -> usize {
        self.reserved_bytes.load(Ordering::Acquire)
    }

    pub(crate) fn deaths(&self) -> u64 {
        self.deaths.load(Ordering::Acquire)
    }

    /// Whether `bytes` more are within the limit.
    pub(crate) fn has_room(&self, bytes: usize) -> bool {
        self.limit_bytes
            .is_none_or(|limit| self.reserved_bytes().checked_add(bytes).is_some_and(|sum| sum <= limit))
    }

    /// Counts `bytes` as reserved if the limit allows it. Who then allocates them calls [`note_peak`](Self::note_peak).
    pub(crate) fn try_reserve(&self, bytes: usize, holder: Holder) -> bool {
        let limit = self.limit_bytes.unwrap_or(usize::MAX);
        let more = |reserved: usize| reserved.checked_add(bytes).filter(|&sum| sum <= limit);
        if self.reserved_bytes.fetch_update(Ordering::AcqRel, Ordering::Acquire, more).is_err() {
            return false;
        }
        self.note_reserved(bytes, holder);
        true
    }

    /// Counts `bytes` that are already allocated.
    pub(crate) fn reserve_existing(&self, bytes: usize, holder: Holder) {
        self.reserved_bytes.fetch_add(bytes, Ordering::AcqRel);
        self.note_reserved(bytes, holder);
        self.note_peak();
    }

    /// Notes that what was reserved last was also allocated: what cannot be had is no peak.
    pub(crate) fn note_peak(&self) {
        self.peak_bytes.fetch_max(self.reserved_bytes(), Ordering::Relaxed);
    }

    fn note_reserved(&self, bytes: usize, holder: Holder) {
        if bytes > 0 {
            *lock(&self.holders).entry(holder).or_default() += bytes;
        }
        self.record(bytes as i64);
    }

    /// Counts `bytes` as freed.
    pub(crate) fn unreserve(&self, bytes: usize, holder: Holder) {
        if bytes > 0 {
            let mut holders = lock(&self.holders);
            if let Some(held) = holders.get_mut(&holder) {
                *held -= bytes;
                if *held == 0 {
                    holders.remove(&holder);
                }
            }
        }
        self.reserved_bytes.fetch_sub(bytes, Ordering::AcqRel);
        self.record(-(bytes as i64));
    }

    /// Records that the owner of `bytes` has released them while tasks in flight still use them.
    pub(crate) fn begin_dying(&self, bytes: usize) {
        self.dying_bytes.fetch_add(bytes, Ordering::AcqRel);
    }

    /// Records that dying bytes have been freed, or kept for reuse. To be called after that.
    pub(crate) fn end_dying(&self, bytes: usize) {
        self.dying_bytes.fetch_sub(bytes, Ordering::AcqRel);
        self.deaths.fetch_add(1, Ordering::AcqRel);
    }

    /// Whether `bytes` could be allocated after the tasks in flight have ended.
    pub(crate) fn may_have(&self, bytes: usize) -> bool {
        let dying = self.dying_bytes.load(Ordering::Acquire);
        match self.limit_bytes {
            None => dying >= bytes,
            Some(limit) => self
                .reserved_bytes()
                .saturating_sub(dying)
                .checked_add(bytes)
                .is_some_and(|least| least <= limit),
        }
    }

    pub(crate) fn add_arena(&self, arena: &Arc<ArenaShared>) {
        let mut arenas = lock(&self.arenas);
        if arenas.list.len() >= arenas.prune_at {
            arenas.list.retain(|arena| arena.strong_count() > 0);
            arenas.prune_at = 2 * arenas.list.len() + 16;
        }
        arenas.list.push(Arc::downgrade(arena));
        arenas.lines.entry(arena.location()).or_default().0 += 1;
    }

    /// Records that an arena with a peak of `peak_bytes` has been dropped.
    pub(crate) fn end_arena(&self, location: &'static Location<'static>, peak_bytes: usize) {
        let mut arenas = lock(&self.arenas);
        let (_, peak) = arenas.lines.entry(location).or_default();
        *peak = peak_bytes.max(*peak);
    }

    /// The memory use of arenas, line by line.
    pub(crate) fn arena_uses(&self) -> Vec<ArenaUse> {
        let alive = self.arenas();
        let lines = lock(&self.arenas).lines.clone();
        let use_of = |(location, (made, peak_bytes)): (&'static Location<'static>, (u64, usize))| {
            let arenas = alive.iter().filter(|arena| arena.location() == location);
            let gone = ArenaUse { made, peak_bytes, ..ArenaUse::none(location) };
            arenas.fold(gone, |sum, arena| arena.add_to(sum))
        };
        let mut uses: Vec<_> = lines.into_iter().map(use_of).collect();
        uses.sort_by_key(|line| line.location);
        uses
    }

    /// The arenas, including those that have been dropped but whose regions tasks in flight use.
    fn arenas(&self) -> Vec<Arc<ArenaShared>> {
        lock(&self.arenas).list.iter().filter_map(Weak::upgrade).collect()
    }

    /// Frees at least `bytes` bytes that arenas only keep for reuse, if there are as many.
    pub(crate) fn trim(&self, bytes: usize) {
        let mut freed = 0;
        for arena in self.arenas() {
            if freed >= bytes {
                return;
            }
            freed += arena.trim(bytes - freed);
        }
    }

    /// Counts bytes that a worker keeps from task to task.
    pub(crate) fn add_workers_bytes(&self, bytes: usize) {
        self.workers_bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    /// The opposite of [`add_workers_bytes`](Self::add_workers_bytes).
    pub(crate) fn remove_workers_bytes(&self, bytes: usize) {
        self.workers_bytes.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// The holders and their bytes, the largest first.
    pub(crate) fn holders(&self) -> Vec<MemoryHolder> {
        let mut holders: Vec<MemoryHolder> = lock(&self.holders)
            .iter()
            .map(|(holder, &bytes)| MemoryHolder { what: holder.what, location: holder.location, bytes })
            .collect();
        holders.sort_by_key(|holder| (std::cmp::Reverse(holder.bytes), holder.location, holder.what));
        holders
    }

    pub(crate) fn usage(&self) -> MemoryUse {
        // Arenas first: if they grow meanwhile, less counts as kept.
        let idle: usize = self.arenas().iter().map(|arena| arena.idle_bytes()).sum();
        let reserved_bytes = self.reserved_bytes();
        let current_bytes =
            reserved_bytes.saturating_sub(idle).saturating_sub(self.workers_bytes.load(Ordering::Relaxed));
        MemoryUse {
            learned_bytes: 0,
            name: self.name.clone(),
            current_bytes,
            peak_bytes: self.peak_bytes.load(Ordering::Relaxed),
            reserved_bytes,
            limit_bytes: self.limit_bytes,
            holders: self.holders(),
        }
    }
}
