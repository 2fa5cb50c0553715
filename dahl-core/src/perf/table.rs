//! [`Table`]: a map from keys to entries, which is read without a lock and only grows.

use std::sync::{Arc, OnceLock};

use super::entry::ModelEntry;

/// The slots of each level in which a key may be.
const PROBES: usize = 8;
/// Slots of the first level; each further one has four times as many.
const FIRST: usize = 256;
const LEVELS: usize = 8;

type Slot = OnceLock<(u64, Arc<ModelEntry>)>;

/// A hash table whose full levels are followed by larger ones, so that entries never move.
#[derive(Debug, Default)]
pub(super) struct Table {
    levels: [OnceLock<Box<[Slot]>>; LEVELS],
}

impl Table {
    pub(super) fn get(&self, key: u64) -> Option<&Arc<ModelEntry>> {
        for level in self.levels.iter().map_while(OnceLock::get) {
            for slot in probe(level, key) {
                match slot.get() {
                    Some((other, entry)) if *other == key => return Some(entry),
                    Some(_) => {}
                    // Slots are filled in this order, so the key is in no later one of this level, nor in a later
                    // level.
                    None => return None,
                }
            }
        }
        None
    }

    /// Adds a key that is not in the table. One thread adds at a time. Beyond millions of keys it is not added, and the
    /// entry is found in the slow way.
    pub(super) fn insert(&self, key: u64, entry: &Arc<ModelEntry>) {
        for (index, level) in self.levels.iter().enumerate() {
            let level = level.get_or_init(|| (0..FIRST << (2 * index)).map(|_| Slot::new()).collect());
            for slot in probe(level, key) {
                if slot.set((key, Arc::clone(entry))).is_ok() {
                    return;
                }
            }
        }
    }
}

fn probe(level: &[Slot], key: u64) -> impl Iterator<Item = &Slot> {
    let mask = level.len() - 1;
    (0..PROBES).map(move |step| &level[(key as usize + step) & mask])
}
