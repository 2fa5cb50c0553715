//! [`TuningEntry`]: the choice for tasks of one codelet, kind of worker and footprint.

use std::ptr;
use std::sync::Arc;

use super::autotuner::{Autotuner, Decision};
use super::{Ruling, Selection};
use crate::codelet::{Codelet, Kernel};
use crate::footprint;
use crate::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use crate::sync::{Mutex, MutexGuard};

/// The choice for tasks of one codelet, kind of worker and footprint.
#[derive(Debug)]
pub(super) struct TuningEntry {
    pub(super) codelet: &'static Codelet,
    pub(super) kind: Arc<str>,
    pub(super) footprint: Vec<Vec<usize>>,
    pub(super) in_place: bool,
    /// Whether the codelet's kernels were candidates: the submitter named none, and none is for running in place.
    pub(super) is_choice: bool,
    pub(super) ruling: Ruling,
    pub(super) kernels: Vec<&'static Kernel>,
    /// The choices while no worker is idle and while some are, or [`OPEN`].
    pub(super) decided: [AtomicU32; 2],
    pub(super) autotuner: Mutex<Autotuner>,
    /// Whether a task has asked it since the table was last full.
    pub(super) is_used: AtomicBool,
}

/// Stands for an open choice.
pub(super) const OPEN: u32 = u32::MAX;

impl TuningEntry {
    pub(super) fn autotuner(&self) -> MutexGuard<'_, Autotuner> {
        self.autotuner.lock().unwrap_or_else(|poison| poison.into_inner())
    }

    /// A hash of what [`is_like`](Self::is_like) compares.
    pub(super) fn hash(&self) -> u64 {
        let extents = self.footprint.iter().map(Vec::as_slice);
        footprint::hash_after(footprint::mix(0, self.codelet.declaration), extents)
    }

    pub(super) fn bytes(&self) -> usize {
        let kernels = self.kernels.capacity() * size_of::<&Kernel>();
        size_of::<Self>() + kernels + footprint::bytes(&self.footprint) + self.autotuner().bytes()
    }

    /// Whether its kernels are those of this codelet, be it at another address.
    pub(super) fn is_of(&self, codelet: &Codelet) -> bool {
        let identity = |codelet: &Codelet| (codelet.module, codelet.name, codelet.declaration);
        ptr::eq(self.codelet, codelet) || identity(self.codelet) == identity(codelet)
    }

    pub(super) fn is_like(&self, other: &Self) -> bool {
        let elements = |codelet: &Codelet| codelet.parameters.iter().map(|parameter| parameter.element.name);
        let (a, b) = (self.codelet, other.codelet);
        self.footprint == other.footprint
            && (a.module, a.name, a.declaration) == (b.module, b.name, b.declaration)
            && elements(a).eq(elements(b))
            && self.kind == other.kind
            && self.in_place == other.in_place
            && self.is_choice == other.is_choice
            && self
                .kernels
                .iter()
                .map(|kernel| kernel.name())
                .eq(other.kernels.iter().map(|kernel| kernel.name()))
    }

    pub(super) fn select(self: &Arc<Self>, idle: bool) -> Selection {
        if !self.is_used.load(Ordering::Relaxed) {
            self.is_used.store(true, Ordering::Relaxed);
        }
        let decided = self.decided[usize::from(idle)].load(Ordering::Acquire);
        if decided != OPEN {
            // A kernel's number in the lower bits, and whether it has a team above them.
            return Selection {
                kernel: self.kernels[decided as usize >> 1],
                team: decided & 1 == 1,
                trial: None,
            };
        }
        let mut autotuner = self.autotuner();
        let (candidate, is_trial) = autotuner.next(idle);
        self.decide(&mut autotuner);
        let (kernel, team) = autotuner.candidate(candidate);
        let trial = is_trial.then(|| (Arc::clone(self), candidate));
        Selection { kernel: self.kernels[kernel], team, trial }
    }

    /// The final kernel, if there is one.
    pub(super) fn settled(&self, idle: bool) -> Option<&'static Kernel> {
        let decided = self.decided[usize::from(idle)].load(Ordering::Acquire);
        (decided != OPEN).then(|| self.kernels[decided as usize >> 1])
    }

    pub(super) fn decide(&self, autotuner: &mut Autotuner) {
        let Decision { busy, idle } = autotuner.decide();
        for (decided, choice) in self.decided.iter().zip([busy, idle]) {
            if let Some((kernel, team)) = choice {
                decided.store((kernel as u32) << 1 | u32::from(team), Ordering::Release);
            }
        }
    }
}
