//! [`Change`]: what a run adds to a stored history.

use std::sync::Arc;

use super::super::entry::{Earlier, ModelEntry, Unsaved};
use super::super::samples::WINDOW;
use super::file::{CodeletFile, Places, StoredHistory, declaration};

/// The durations that a run adds to a stored history.
pub(in super::super) struct Change {
    pub(super) codelet: &'static str,
    pub(super) module: &'static str,
    /// Its footprint and other keys; the durations are not set.
    history: StoredHistory,
    unsaved: Unsaved,
    entry: Arc<ModelEntry>,
}

impl Change {
    /// The durations of an entry since it was last saved, if any.
    pub(in super::super) fn of(entry: &Arc<ModelEntry>) -> Option<Self> {
        let unsaved = entry.unsaved()?;
        let family = &entry.family;
        let history = StoredHistory {
            declaration: declaration(family.codelet.declaration),
            kernel: family.kernel.to_owned(),
            worker_kind: family.kind.clone(),
            elements: family.elements().map(str::to_owned).collect(),
            footprint: entry.footprint.clone(),
            flops: entry.work.flops,
            bytes: entry.work.bytes,
            count: 0,
            first_calls: 0,
            first_us: None,
            median_us: None,
            spread_us: None,
            mean_us: None,
            deviation_us: None,
            min_us: None,
            max_us: None,
            recent_us: Vec::new(),
        };
        let (codelet, module) = (family.codelet.name, family.codelet.module);
        Some(Self { codelet, module, history, unsaved, entry: Arc::clone(entry) })
    }

    pub(super) fn declaration(&self) -> &str {
        &self.history.declaration
    }

    /// Adds them to the stored file of its codelet, whose histories have these indices.
    pub(super) fn apply(&self, file: &mut CodeletFile, places: &mut Places) {
        let Unsaved { measured, replaces, .. } = &self.unsaved;
        let place = places.find(&file.history, &self.history);
        match place.map(|place| &mut file.history[place]) {
            Some(stored) if !replaces => {
                let earlier = stored.earlier();
                let recent = measured.recent.iter().copied().chain(earlier.recent);
                stored.set(&Earlier {
                    totals: earlier.totals.plus(measured.totals),
                    recent: recent.take(WINDOW).collect(),
                });
            }
            Some(stored) => stored.set(measured),
            None => {
                let mut history = self.history.clone();
                history.set(measured);
                places.add(file.history.len(), &history);
                file.history.push(history);
            }
        }
    }

    /// Records that they have been written.
    pub(super) fn note_saved(&self) {
        self.entry.note_saved(&self.unsaved);
    }
}
