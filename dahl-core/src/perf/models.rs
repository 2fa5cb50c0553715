//! [`Models`]: all durations that a runtime knows. [`ModelCache`]: the part that one worker has used.

use std::collections::{HashMap, HashSet};
// On whose order nothing depends: a worker that sees a sweep late adds to rows that are gone.
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError};

use arc_swap::ArcSwap;

use super::energies::Energies;
use super::entry::{Earlier, ModelEntry, REQUIRED, REQUIRED_VIRTUAL, Rules};
use super::estimate::{Basis, Estimate};
use super::family::Family;
use super::history::{History, WorkerHistory};
use super::measurement::Measurement;
use super::prediction::{CodeletPredictionError, ErrorSum, PredictionErrors};
use super::store::{Change, Library, Store};
use super::table::Table;
use super::transfers::{TransferTime, Transfers};
use super::warnings::Warnings;
use super::work::{Work, kernel_of, key, key_of, work};
use crate::codelet::{Codelet, Kernel};
use crate::description::TaskDesc;
use crate::error::Result;
use crate::footprint;
use crate::sync::{Mutex, MutexGuard};

/// The number of durations before there is an estimate, for calibration.
const REQUIRED_TO_CALIBRATE: u64 = 5;

/// The settings of a runtime's performance models.
#[derive(Debug, Default)]
pub(crate) struct Settings {
    /// The store, if they are stored.
    pub(crate) store: Option<Store>,
    /// Whether tasks are measured anew.
    pub(crate) calibrate: bool,
}

/// All performance models of a runtime.
#[derive(Debug)]
pub(crate) struct Models {
    /// What [`Known::keys`] says, read without a lock.
    table: ArcSwap<Table>,
    /// How often rows were dropped.
    sweeps: AtomicU64,
    known: Mutex<Known>,
    workers: usize,
    rules: Rules,
    store: Option<Store>,
    transfers: Transfers,
    energies: Energies,
    warnings: Warnings,
}

/// The part that is not accessed for each task.
#[derive(Debug, Default)]
struct Known {
    families: Vec<Arc<Family>>,
    /// In the order of their first tasks.
    entries: Vec<Arc<ModelEntry>>,
    keys: HashMap<u64, Arc<ModelEntry>, footprint::Hashed>,
    /// What was loaded and belongs to no family yet.
    library: Library,
}

impl Models {
    pub(crate) fn new(settings: Settings, workers: usize, is_virtual: bool) -> Self {
        let Settings { store, calibrate } = settings;
        let warnings = Warnings::default();
        let library = store.as_ref().map(|store| store.load(&warnings)).unwrap_or_default();
        let required = match (calibrate, is_virtual) {
            (true, _) => REQUIRED_TO_CALIBRATE,
            (false, true) => REQUIRED_VIRTUAL,
            (false, false) => REQUIRED,
        };
        let known = if calibrate { Known::default() } else { Known { library, ..Known::default() } };
        Self {
            table: ArcSwap::default(),
            sweeps: AtomicU64::new(0),
            known: Mutex::new(known),
            workers,
            rules: Rules { required, is_first_apart: !is_virtual, calibrates: calibrate },
            transfers: Transfers::new(store.as_ref(), &warnings),
            energies: Energies::new(store.as_ref(), calibrate, &warnings),
            store,
            warnings,
        }
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The entry of a task; creates it if there is none.
    fn entry(
        &self,
        key: u64,
        codelet: &'static Codelet,
        kernel: &'static str,
        kind: &str,
        task: &TaskDesc,
    ) -> Arc<ModelEntry> {
        if let Some(entry) = self.table.load().get(key) {
            return Arc::clone(entry);
        }
        let mut known = self.known();
        let family = self.family(&mut known, codelet, kernel, kind);
        let footprint: Vec<Vec<usize>> = task.extents().map(<[usize]>::to_vec).collect();
        let (flops, bytes) = work(task);
        self.add_entry(&mut known, key, &family, footprint, Work { flops, bytes }, Earlier::default())
    }

    /// The family, with its loaded histories.
    fn family(
        &self,
        known: &mut Known,
        codelet: &'static Codelet,
        kernel: &'static str,
        kind: &str,
    ) -> Arc<Family> {
        if let Some(family) = known.families.iter().find(|family| family.is_of(codelet, kernel, kind)) {
            return Arc::clone(family);
        }
        let family = Arc::new(Family::new(codelet, kernel, kind, self.workers));
        known.families.push(Arc::clone(&family));
        known.library.warn_if_declared_otherwise(codelet, &self.warnings);
        for stored in known.library.take(&family) {
            let key = key_of(codelet, kernel, kind, stored.footprint.iter().map(Vec::as_slice));
            self.add_entry(known, key, &family, stored.footprint, stored.work, stored.earlier);
        }
        family
    }

    /// The entry of a footprint, registered with `key`.
    fn add_entry(
        &self,
        known: &mut Known,
        key: u64,
        family: &Arc<Family>,
        footprint: Vec<Vec<usize>>,
        work: Work,
        earlier: Earlier,
    ) -> Arc<ModelEntry> {
        let known_entry = family.entry_of(&footprint);
        let entry = known_entry.unwrap_or_else(|| {
            let entry =
                ModelEntry::new(Arc::clone(family), footprint, work, earlier, self.workers, self.rules);
            let entry = Arc::new(entry);
            if known.entries.len() >= footprint::MOST_ROWS {
                self.drop_rows(known);
            }
            family.add(&entry);
            known.entries.push(Arc::clone(&entry));
            entry
        });
        if known.keys.insert(key, Arc::clone(&entry)).is_none() {
            self.table.load().insert(key, &entry);
        }
        entry
    }

    /// Drops half of the rows: those that have not been used lately, or least. Their families keep what they said.
    #[cold]
    fn drop_rows(&self, known: &mut Known) {
        let stays = footprint::survivors(known.entries.iter().map(|entry| entry.take_uses()));
        let entries = std::mem::take(&mut known.entries);
        for (entry, stays) in entries.into_iter().zip(stays) {
            if stays {
                known.entries.push(entry);
            } else {
                entry.family.drop_entry(&entry);
            }
        }
        let left: HashSet<_> = known.entries.iter().map(Arc::as_ptr).collect();
        known.keys.retain(|_, entry| left.contains(&Arc::as_ptr(entry)));
        let table = Table::default();
        known.keys.iter().for_each(|(&key, entry)| table.insert(key, entry));
        self.table.store(Arc::new(table));
        self.sweeps.fetch_add(1, Ordering::Release);
    }

    /// The memory that the rows take.
    pub(crate) fn bytes(&self) -> usize {
        self.known().entries.iter().map(|entry| entry.bytes()).sum()
    }

    /// How long `kernel` of a codelet is expected to take for the task on a worker of the kind `kind`, if
    /// that can be said. Kernels are told apart by name.
    pub(crate) fn estimate(
        &self,
        kind: &str,
        codelet: &'static Codelet,
        kernel: &'static str,
        task: &TaskDesc,
    ) -> Option<Estimate> {
        let key = key(codelet, kernel, kind, task);
        match self.table.load().get(key) {
            Some(entry) => entry.estimate(),
            None => self.entry(key, codelet, kernel, kind, task).estimate(),
        }
    }

    /// The predicted duration of the task on a worker of the kind `kind`, with the kernel that it would use there, if
    /// there is one. Of several kernels that is the one that has run most often, which is the chosen one.
    pub(crate) fn expected(&self, kind: &str, is_cuda: bool, task: &TaskDesc) -> Option<Estimate> {
        let codelet = task.codelet_if_any()?;
        if is_cuda && task.kernel().is_none() && task.is_kernel() {
            let names = codelet.on_cuda().map(Kernel::name);
            return self.of_most_often(kind, codelet, names, task);
        }
        let first = kernel_of(task)?;
        let is_fixed = task.kernel().is_some() || !task.is_kernel();
        if is_fixed || codelet.kernels.iter().flatten().nth(1).is_none() {
            return self.estimate(kind, codelet, first, task);
        }
        let others = codelet.kernels.iter().flatten().map(Kernel::name).filter(|name| *name != first);
        self.of_most_often(kind, codelet, std::iter::once(first).chain(others), task)
    }

    /// The estimate of the kernel that has run most often.
    fn of_most_often(
        &self,
        kind: &str,
        codelet: &'static Codelet,
        kernels: impl Iterator<Item = &'static str>,
        task: &TaskDesc,
    ) -> Option<Estimate> {
        let of_all = kernels.filter_map(|kernel| self.estimate(kind, codelet, kernel, task));
        of_all.max_by_key(|estimate| (estimate.basis == Basis::Measured, estimate.samples))
    }

    /// The histories, one row for each codelet, kernel, kind of worker, element types and footprint: in the order of
    /// their first task, and then those that were loaded and have not been run.
    pub(crate) fn histories(&self) -> Vec<History> {
        let known = self.known();
        known
            .entries
            .iter()
            .filter_map(|entry| History::of_all(entry))
            .chain(known.library.histories())
            .collect()
    }

    /// The entries of all footprints, in the order of the first tasks.
    pub(super) fn entries(&self) -> Vec<Arc<ModelEntry>> {
        self.known().entries.clone()
    }

    /// Both as they are at one time: what a row that is dropped has measured is its family's.
    pub(super) fn entries_and_families(&self) -> (Vec<Arc<ModelEntry>>, Vec<Arc<Family>>) {
        let known = self.known();
        (known.entries.clone(), known.families.clone())
    }

    pub(super) fn families(&self) -> Vec<Arc<Family>> {
        self.known().families.clone()
    }

    /// What each worker measured in this run.
    pub(crate) fn worker_histories(&self) -> Vec<WorkerHistory> {
        let entries = self.entries();
        entries.iter().flat_map(|entry| History::of_workers(entry, self.workers)).collect()
    }

    /// The errors of predictions.
    pub(crate) fn prediction_errors(&self) -> PredictionErrors {
        let families = self.families();
        let mut overall = ErrorSum::new();
        let mut codelets: Vec<(&'static Codelet, ErrorSum)> = Vec::new();
        for family in &families {
            let is_it = |(codelet, _): &(&Codelet, ErrorSum)| {
                (codelet.module, codelet.name) == (family.codelet.module, family.codelet.name)
            };
            let place = codelets.iter().position(is_it).unwrap_or(codelets.len());
            if place == codelets.len() {
                codelets.push((family.codelet, ErrorSum::new()));
            }
            for errors in family.errors() {
                overall.add(errors);
                codelets[place].1.add(errors);
            }
        }
        let of_codelet = |(codelet, sum): (&Codelet, ErrorSum)| CodeletPredictionError {
            codelet: codelet.name.to_owned(),
            module: codelet.module.to_owned(),
            error: sum.error(),
        };
        PredictionErrors {
            overall: overall.error(),
            codelets: codelets.into_iter().map(of_codelet).collect(),
        }
    }

    /// The durations of copies between memory nodes of the real machine.
    pub(crate) fn transfer_times(&self) -> Vec<TransferTime> {
        self.transfers.times()
    }

    /// The energy of each codelet.
    pub(crate) fn energies(&self) -> &Energies {
        &self.energies
    }

    /// Warnings about stored models.
    pub(crate) fn warnings(&self) -> Vec<String> {
        self.warnings.all()
    }

    /// Adds unsaved durations to the stored ones, if there is a store. One thread does so at a time.
    #[track_caller]
    pub(crate) fn save(&self) -> Result<()> {
        let Some(store) = &self.store else { return Ok(()) };
        let mut transfers = self.transfers.unsaved();
        let entries = self.entries();
        let changes = entries.iter().filter_map(Change::of).collect();
        store.save(changes, &transfers, &self.warnings)?;
        transfers.clear();
        let (energies, replaces) = self.energies.take_unsaved();
        let saved = store.save_energies(&energies, replaces, &self.warnings);
        self.energies.give_back(&energies, saved.is_ok());
        saved
    }
}

/// The entries that one worker has used, accessed without a lock.
pub(crate) struct ModelCache {
    worker: Option<usize>,
    entries: HashMap<u64, Arc<ModelEntry>, footprint::Hashed>,
    /// The sweeps of the models that they have survived.
    sweeps: u64,
}

impl ModelCache {
    /// The cache of a worker, or of the host.
    pub(crate) fn new(worker: Option<usize>) -> Self {
        Self { worker, entries: HashMap::default(), sweeps: 0 }
    }

    /// Forgets what it has found, if rows have been dropped since.
    #[inline]
    fn keep_up(&mut self, models: &Models) {
        let sweeps = models.sweeps.load(Ordering::Acquire);
        if self.sweeps != sweeps {
            self.sweeps = sweeps;
            self.entries.clear();
        }
    }

    /// Records the duration of the task. Returns its key: of codelet, kernel, kind and footprint.
    pub(crate) fn record(
        &mut self,
        models: &Models,
        kind: &str,
        codelet: &'static Codelet,
        kernel: &'static str,
        task: &TaskDesc,
        measurement: Measurement,
    ) -> u64 {
        self.keep_up(models);
        let key = key(codelet, kernel, kind, task);
        let entry = self.entries.entry(key);
        let entry = entry.or_insert_with(|| models.entry(key, codelet, kernel, kind, task));
        entry.add(self.worker.unwrap_or(models.workers), measurement.time_ns);
        key
    }
}
