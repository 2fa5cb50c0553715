//! Autotuning: which of a codelet's kernels runs a task, and whether idle workers help it.
//!
//! These are two separate questions. *Which kernel* runs can show in the bits of the result. So the answer is a table
//! by codelet and footprint. The user sets its policy ([`KernelPolicy`]), and can read, save and pin it
//! ([`KernelChoices`]). *How many cores* run it cannot show, since a parallel kernel gives the same bits for any number
//! of them. So the runtime decides it for each task: several cores, if workers are idle and measurements showed that
//! help is faster. One that ends its task later may help, too.
//!
//! Both use the same [`Autotuner`]: each candidate runs a few times, its first call counts apart, and then the
//! candidate with the best median is taken for the rest of the run. If there are more shapes than the table keeps, those of
//! shapes that come again are measured again: with the policy `measured` another kernel may be taken then.
//!
//! Not here: which worker runs a task (`scheduler`), how workers help (`worker`), histories of durations (`perf`).

mod autotuner;
mod entry;
mod pins;
mod policy;
mod table;

use std::collections::HashMap;
use std::ptr;
use std::sync::Arc;

use autotuner::Autotuner;
use entry::{OPEN, TuningEntry};
pub(crate) use policy::KernelPolicy;
pub use policy::TeamPolicy;
pub use table::{KernelChoice, KernelChoices, KernelTrial, Ruling};

use crate::codelet::{self, Codelet, Kernel};
use crate::cuda::CudaDevice;
use crate::description::TaskDesc;
use crate::footprint;
use crate::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use crate::sync::{Mutex, MutexGuard};

/// The kernel choices of a runtime.
#[derive(Debug)]
pub(crate) struct Choices {
    policy: KernelPolicy,
    teams: TeamPolicy,
    entries: Mutex<Entries>,
    /// How often entries were dropped.
    sweeps: AtomicU64,
    /// What a table says that does not fit.
    warnings: Mutex<Vec<String>>,
}

/// All entries.
#[derive(Debug, Default)]
struct Entries {
    /// In the order in which they were made.
    in_order: Vec<Arc<TuningEntry>>,
    /// By [`TuningEntry::hash`].
    by_hash: HashMap<u64, Vec<Arc<TuningEntry>>, footprint::Hashed>,
}

/// One worker's entries, found without a lock.
#[derive(Default)]
pub(crate) struct ChoiceCache {
    entries: HashMap<u64, Arc<TuningEntry>, footprint::Hashed>,
    /// The sweeps of the choices that they have survived.
    sweeps: u64,
}

/// How a task runs.
pub(crate) struct Selection {
    pub(crate) kernel: &'static Kernel,
    /// Whether it runs with a team of idle workers.
    pub(crate) team: bool,
    /// The entry and the candidate that its duration is measured for.
    trial: Option<(Arc<TuningEntry>, usize)>,
}

/// What selects for a task.
enum Found<'c> {
    /// There is only this.
    Fixed(Selection),
    Entry(&'c Arc<TuningEntry>),
}

/// The worker that a task runs on, and its surroundings.
#[derive(Clone, Copy)]
pub(crate) struct RunTarget<'t> {
    /// The kind of worker.
    pub(crate) kind: &'t Arc<str>,
    /// The number of other workers that could help now.
    pub(crate) idle: usize,
    /// Whether other workers can ever help.
    pub(crate) has_team: bool,
    /// The device, if it is a CUDA device: only kernels for CUDA run there.
    pub(crate) cuda: Option<&'t CudaDevice>,
}

impl Choices {
    pub(crate) fn new(policy: KernelPolicy, teams: TeamPolicy) -> Self {
        Self {
            policy,
            teams,
            entries: Mutex::default(),
            sweeps: AtomicU64::new(0),
            warnings: Mutex::default(),
        }
    }

    fn entries(&self) -> MutexGuard<'_, Entries> {
        self.entries.lock().unwrap_or_else(|poison| poison.into_inner())
    }

    /// The choices so far.
    pub(crate) fn table(&self) -> KernelChoices {
        let entries = self.entries();
        let rows = entries.in_order.iter().filter(|entry| entry.is_choice).map(|entry| entry.row()).collect();
        KernelChoices { policy: self.policy.name().to_owned(), rows, warnings: self.warnings() }
    }

    /// Warnings about rows of a table that do not apply.
    pub(crate) fn warnings(&self) -> Vec<String> {
        self.warnings.lock().unwrap_or_else(|poison| poison.into_inner()).clone()
    }

    /// Warnings about a table's codelets that did not run, at the end of a run; `ran` returns the names of those that
    /// did.
    pub(crate) fn unused(&self, ran: impl FnOnce() -> Vec<String>) -> Vec<String> {
        match &self.policy {
            KernelPolicy::Pinned(pins) => pins.unused(&ran()),
            _ => Vec::new(),
        }
    }

    /// Prints the warning, once.
    fn warn(&self, warning: String) {
        let mut warnings = self.warnings.lock().unwrap_or_else(|poison| poison.into_inner());
        if !warnings.contains(&warning) {
            eprintln!("dahl: {warning}");
            warnings.push(warning);
        }
    }

    /// The entry for tasks like this one; creates it if necessary.
    fn enter(&self, target: RunTarget<'_>, codelet: &'static Codelet, task: &TaskDesc) -> Arc<TuningEntry> {
        let (mut kernels, is_choice) = match target.only(task) {
            Some(kernel) => (vec![kernel], false),
            None => (target.kernels(codelet).collect(), true),
        };
        let footprint = task.extents().map(<[usize]>::to_vec).collect::<Vec<_>>();
        let ruling = match is_choice {
            true => self.rule(codelet, target, task.is_in_place(), &footprint, &mut kernels),
            false => Ruling::First,
        };
        let teams = target.has_team && self.teams == TeamPolicy::Measured;
        let may_mix = kernels[1..].iter().all(|kernel| kernel.is_equal());
        let teams =
            kernels.iter().map(|kernel| teams && can_have_team(codelet, kernel, task)).collect::<Vec<_>>();
        let entry = TuningEntry {
            codelet,
            kind: Arc::clone(target.kind),
            footprint,
            in_place: task.is_in_place(),
            is_choice: is_choice && (target.kernels(codelet).nth(1).is_some() || teams.contains(&true)),
            ruling,
            autotuner: Mutex::new(Autotuner::new(&teams, may_mix)),
            kernels,
            decided: [AtomicU32::new(OPEN), AtomicU32::new(OPEN)],
            is_used: AtomicBool::new(true),
        };
        entry.decide(&mut entry.autotuner());
        let mut entries = self.entries();
        let hash = entry.hash();
        let alike = entries.by_hash.get(&hash).into_iter().flatten();
        if let Some(known) = alike.into_iter().find(|known| known.is_like(&entry)) {
            return Arc::clone(known);
        }
        if entries.in_order.len() >= footprint::MOST_ROWS {
            entries.drop_half();
            self.sweeps.fetch_add(1, Ordering::Release);
        }
        let entry = Arc::new(entry);
        entries.add(hash, &entry);
        entry
    }

    /// The memory that the entries take.
    pub(crate) fn bytes(&self) -> usize {
        self.entries().in_order.iter().map(|entry| entry.bytes()).sum()
    }

    /// Leaves of a codelet's kernels those that the policy allows.
    fn rule(
        &self,
        codelet: &'static Codelet,
        target: RunTarget<'_>,
        in_place: bool,
        footprint: &[Vec<usize>],
        kernels: &mut Vec<&'static Kernel>,
    ) -> Ruling {
        let mut policy = &self.policy;
        if let KernelPolicy::Pinned(pins) = policy {
            match pins.find(codelet, kernels, target.kind, in_place, footprint) {
                Ok(Some((pinned, line))) => {
                    *kernels = vec![pinned];
                    return Ruling::Pinned(line);
                }
                Ok(None) => {}
                Err(warning) => self.warn(warning),
            }
            policy = pins.otherwise();
        }
        match policy {
            KernelPolicy::First | KernelPolicy::Pinned(_) => {
                kernels.truncate(1);
                Ruling::First
            }
            KernelPolicy::Equal => {
                let first = kernels[0];
                kernels.retain(|kernel| ptr::eq(*kernel, first) || kernel.is_equal());
                if kernels.len() > 1 { Ruling::Measured } else { Ruling::First }
            }
            KernelPolicy::Measured => Ruling::Measured,
        }
    }
}

/// Whether several cores can share the kernel of tasks like this one.
fn can_have_team(codelet: &Codelet, kernel: &Kernel, task: &TaskDesc) -> bool {
    kernel.is_parallel() || can_be_divided(codelet, kernel, task)
}

/// Whether the runtime can divide it, if it uses one core by itself.
fn can_be_divided(codelet: &Codelet, kernel: &Kernel, task: &TaskDesc) -> bool {
    codelet::can_be_divided(codelet, kernel, || task.extents(), task.arguments())
}

impl Entries {
    fn add(&mut self, hash: u64, entry: &Arc<TuningEntry>) {
        self.in_order.push(Arc::clone(entry));
        self.by_hash.entry(hash).or_default().push(Arc::clone(entry));
    }

    /// Drops the half that has not been asked lately, or whose kernels were measured least.
    #[cold]
    fn drop_half(&mut self) {
        let stays = footprint::survivors(self.in_order.iter().map(|entry| {
            let is_used = entry.is_used.swap(false, Ordering::Relaxed);
            (is_used, entry.autotuner().calls())
        }));
        self.by_hash.clear();
        for (entry, stays) in std::mem::take(&mut self.in_order).into_iter().zip(stays) {
            if stays {
                self.add(entry.hash(), &entry);
            }
        }
    }
}

impl RunTarget<'_> {
    /// The codelet's kernels for this kind of worker; on a CUDA device, those whose libraries are available.
    fn kernels(self, codelet: &'static Codelet) -> impl Iterator<Item = &'static Kernel> {
        let on_cpu = codelet.kernels.iter().flatten().filter(move |_| self.cuda.is_none());
        let is_there = move |device: &CudaDevice, kernel: &Kernel| {
            kernel.library().is_none_or(|library| device.has_library(library))
        };
        let on_cuda = codelet.on_cuda();
        on_cpu.chain(on_cuda.filter(move |kernel| self.cuda.is_some_and(|device| is_there(device, kernel))))
    }

    /// Whether others always help the kernel: a parallel one makes its jobs on any thread, and others only in the pool.
    fn always_helps(self, codelet: &Codelet, kernel: &Kernel, task: &TaskDesc) -> bool {
        kernel.is_parallel() || self.has_team && can_be_divided(codelet, kernel, task)
    }

    /// The only kernel that can run a task, if the submitter named one or it is for running in place.
    fn only(self, task: &TaskDesc) -> Option<&'static Kernel> {
        let call = task.call()?;
        call.kernel.or_else(|| call.in_place_kernel().filter(|_| self.cuda.is_none()))
    }
}

impl ChoiceCache {
    /// Selects how a task runs.
    pub(crate) fn select(
        &mut self,
        choices: &Choices,
        target: RunTarget<'_>,
        codelet: &'static Codelet,
        task: &TaskDesc,
    ) -> Selection {
        match self.find(choices, target, codelet, task) {
            Found::Fixed(selection) => selection,
            Found::Entry(entry) => {
                let mut selection = entry.select(target.idle > 0);
                selection.team |= choices.teams == TeamPolicy::Always
                    && target.always_helps(codelet, selection.kernel, task);
                selection
            }
        }
    }

    /// The kernel of a task, if nothing is measured for the choice any more.
    #[cfg_attr(
        any(dahl_fuzz, not(feature = "cuda")),
        expect(dead_code, reason = "there are no such devices")
    )]
    pub(crate) fn settled(
        &mut self,
        choices: &Choices,
        target: RunTarget<'_>,
        codelet: &'static Codelet,
        task: &TaskDesc,
    ) -> Option<&'static Kernel> {
        // A library may have been left out since the task was recorded.
        target.only(task).or_else(|| target.kernels(codelet).next())?;
        match self.find(choices, target, codelet, task) {
            Found::Fixed(selection) => Some(selection.kernel),
            Found::Entry(entry) => entry.settled(target.idle > 0),
        }
    }

    /// The only selection for a task, or the entry that selects.
    fn find(
        &mut self,
        choices: &Choices,
        target: RunTarget<'_>,
        codelet: &'static Codelet,
        task: &TaskDesc,
    ) -> Found<'_> {
        let only = target.only(task);
        let mut kernels = target.kernels(codelet);
        let first = only.or_else(|| kernels.next()).expect("checked when the task was submitted");
        let is_pinned = matches!(choices.policy, KernelPolicy::Pinned(_));
        let is_choice = only.is_none() && (kernels.next().is_some() || is_pinned);
        let always = choices.teams == TeamPolicy::Always;
        let has_team = match choices.teams {
            TeamPolicy::Measured => target.has_team && can_have_team(codelet, first, task),
            TeamPolicy::Always => target.always_helps(codelet, first, task),
            TeamPolicy::Never => false,
        };
        if !is_choice && (always || !has_team) {
            let team = has_team;
            return Found::Fixed(Selection { kernel: first, team, trial: None });
        }
        let sweeps = choices.sweeps.load(Ordering::Acquire);
        if self.sweeps != sweeps {
            self.sweeps = sweeps;
            self.entries.clear();
        }
        let only = only.map_or(0, |kernel| ptr::from_ref(kernel).addr() as u64);
        let key = footprint::mix(ptr::from_ref(codelet).addr() as u64, only);
        let key = footprint::mix(key, u64::from(task.is_in_place()));
        let key = footprint::mix(key, footprint::hash_after(0, task.extents()));
        let entry = self.entries.entry(key).or_insert_with(|| choices.enter(target, codelet, task));
        if !entry.is_of(codelet) {
            // Two hashes may be equal by chance: one codelet's kernel must not run on another's arrays.
            *entry = choices.enter(target, codelet, task);
        }
        Found::Entry(entry)
    }
}

impl Selection {
    /// Records the duration of the kernel, unless it failed.
    pub(crate) fn end(self, time_ns: Option<u64>) {
        if let Some((entry, candidate)) = self.trial {
            let mut autotuner = entry.autotuner();
            autotuner.end(candidate, time_ns);
            entry.decide(&mut autotuner);
        }
    }
}
