//! Performance models: how long a codelet's kernels took, by element type and footprint.
//!
//! A *footprint* is what a duration depends on: the extents of the task's arrays. Each worker records into entries of
//! its own, without a lock; whoever asks reads them all and merges.
//!
//! Not here: deciding by them (`scheduler`).

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::codelet::{Codelet, Kernel, Operands, ShapeOf};
use crate::sync::{Mutex, MutexGuard};
use crate::task::Record;

/// What was measured of one task.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Measurement {
    /// How long the kernel ran.
    pub time_ns: u64,
    /// Bytes that it moved, if known.
    pub bytes: Option<u64>,
    /// Energy that it took, in joules, if known.
    pub energy_joules: Option<f64>,
}

/// How often a kernel of a codelet ran with one footprint, and how long it took.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct History {
    /// The codelet's name.
    pub codelet: &'static str,
    /// The codelet's module.
    pub module: &'static str,
    /// The hash of its declaration.
    pub declaration: u64,
    /// The kernel's name.
    pub kernel: &'static str,
    /// The kind of worker: `cpu`, or a device's name.
    pub worker_kind: String,
    /// The element types of its data parameters.
    pub elements: Vec<&'static str>,
    /// The extents of its arrays.
    pub footprint: Vec<Vec<usize>>,
    /// Number of measurements.
    pub count: u64,
    /// Mean duration in microseconds.
    pub mean_us: f64,
    /// Standard deviation of the duration in microseconds.
    pub deviation_us: f64,
    /// Shortest duration in microseconds.
    pub min_us: f64,
    /// Longest duration in microseconds.
    pub max_us: f64,
    /// Floating-point operations of one task, if the declaration says.
    pub flops: Option<f64>,
    /// Bytes that one task moves: as the declaration says, otherwise those of its arrays.
    pub bytes: f64,
}

/// All entries of a runtime.
#[derive(Debug, Default)]
pub(crate) struct Models {
    entries: Mutex<Vec<Arc<Entry>>>,
}

/// One worker's entries, found without a lock.
#[derive(Default)]
pub(crate) struct ModelCache {
    entries: HashMap<u64, Arc<Entry>, BuildHasherDefault<Hashed>>,
}

/// Measurements of one worker, kernel and footprint. Only that worker writes.
#[derive(Debug)]
struct Entry {
    kind: Arc<str>,
    codelet: &'static Codelet,
    kernel: &'static str,
    footprint: Vec<Vec<usize>>,
    flops: Option<f64>,
    bytes: f64,
    count: AtomicU64,
    sum_ns: AtomicU64,
    /// Sum of squares, as the bits of an `f64`.
    squares: AtomicU64,
    min_ns: AtomicU64,
    max_ns: AtomicU64,
}

/// A key that is a hash already.
#[derive(Default)]
struct Hashed(u64);

impl Hasher for Hashed {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, _: &[u8]) {
        unreachable!("keys are written as one u64");
    }

    fn write_u64(&mut self, key: u64) {
        self.0 = key;
    }
}

fn mix(hash: u64, value: u64) -> u64 {
    (hash.rotate_left(5) ^ value).wrapping_mul(0x517c_c1b7_2722_0a95)
}

impl ModelCache {
    pub(crate) fn record(
        &mut self,
        models: &Models,
        kind: &Arc<str>,
        codelet: &'static Codelet,
        kernel: &'static Kernel,
        record: &Record,
        measurement: Measurement,
    ) {
        let mut key = mix(ptr::from_ref(codelet).addr() as u64, ptr::from_ref(kernel).addr() as u64);
        for access in record.operands() {
            let extents = access.body().layout.extents();
            key = mix(key, extents.len() as u64);
            for &extent in extents {
                key = mix(key, extent as u64);
            }
        }
        self.entries
            .entry(key)
            .or_insert_with(|| models.enter(kind, codelet, kernel, record))
            .add(measurement);
    }
}

impl Models {
    fn entries(&self) -> MutexGuard<'_, Vec<Arc<Entry>>> {
        self.entries.lock().unwrap_or_else(|poison| poison.into_inner())
    }

    fn enter(
        &self,
        kind: &Arc<str>,
        codelet: &'static Codelet,
        kernel: &Kernel,
        record: &Record,
    ) -> Arc<Entry> {
        let footprint = record.operands().map(|access| access.body().layout.extents().to_vec()).collect();
        let (flops, bytes) = work(codelet, record);
        let entry = Arc::new(Entry {
            kind: Arc::clone(kind),
            codelet,
            kernel: kernel.name(),
            footprint,
            flops,
            bytes,
            count: AtomicU64::new(0),
            sum_ns: AtomicU64::new(0),
            squares: AtomicU64::new(0),
            min_ns: AtomicU64::new(u64::MAX),
            max_ns: AtomicU64::new(0),
        });
        self.entries().push(Arc::clone(&entry));
        entry
    }

    /// How long the task of `record` is expected to run on a worker of the kind `kind`, if that can be said.
    pub(crate) fn expected_ns(&self, kind: &str, record: &Record) -> Option<u64> {
        let codelet = record.body().codelet?;
        let footprint: Vec<Vec<usize>> =
            record.operands().map(|access| access.body().layout.extents().to_vec()).collect();
        let rows = self.histories();
        let row = rows.iter().find(|row| {
            (row.codelet, row.worker_kind.as_str()) == (codelet.name, kind) && row.footprint == footprint
        })?;
        Some((row.mean_us * 1e3) as u64)
    }

    /// What has been measured, one row for each codelet, kernel, element types and footprint, in the order of their
    /// first measurement.
    pub(crate) fn histories(&self) -> Vec<History> {
        let entries = self.entries().clone();
        let mut merged: Vec<Vec<Arc<Entry>>> = Vec::new();
        for entry in entries {
            match merged.iter_mut().find(|rows| rows[0].is_like(&entry)) {
                Some(rows) => rows.push(entry),
                None => merged.push(vec![entry]),
            }
        }
        merged.iter().filter_map(|rows| History::merge(rows)).collect()
    }
}

/// Floating-point operations of a task, if the declaration says, and the bytes that it moves.
pub(crate) fn work(codelet: &Codelet, record: &Record) -> (Option<f64>, f64) {
    let shapes = declared_shapes(codelet, record);
    // The expression is the user's: should it panic, the worker must not.
    let evaluate = |expression: fn(&mut Operands<'_>) -> f64| {
        catch_unwind(AssertUnwindSafe(|| expression(&mut Operands::new(&shapes, &record.body().arguments))))
            .ok()
    };
    let sizes = codelet.parameters.iter().zip(&shapes);
    let moved = sizes.map(|(parameter, shape)| (parameter.element.size_bytes * shape.len()) as f64).sum();
    (codelet.flops.and_then(evaluate), codelet.bytes.and_then(evaluate).unwrap_or(moved))
}

/// The extents of all parameters of the declaration. In place, the output's are the target's.
fn declared_shapes(codelet: &Codelet, record: &Record) -> Vec<ShapeOf> {
    let mut shapes: Vec<ShapeOf> =
        record.operands().map(|access| ShapeOf::new(access.body().layout.extents())).collect();
    if let (true, Some(in_place), Some(output)) =
        (record.body().in_place, &codelet.in_place, codelet.output())
    {
        let target = if in_place.target < output { in_place.target } else { in_place.target - 1 };
        shapes.insert(output, shapes[target]);
    }
    shapes
}

impl Entry {
    fn add(&self, measurement: Measurement) {
        let ns = measurement.time_ns;
        let add = |total: &AtomicU64| total.store(total.load(Ordering::Relaxed) + ns, Ordering::Relaxed);
        add(&self.sum_ns);
        let squares = f64::from_bits(self.squares.load(Ordering::Relaxed)) + (ns as f64) * (ns as f64);
        self.squares.store(squares.to_bits(), Ordering::Relaxed);
        self.min_ns.store(self.min_ns.load(Ordering::Relaxed).min(ns), Ordering::Relaxed);
        self.max_ns.store(self.max_ns.load(Ordering::Relaxed).max(ns), Ordering::Relaxed);
        self.count.store(self.count.load(Ordering::Relaxed) + 1, Ordering::Release);
    }

    fn elements(&self) -> impl Iterator<Item = &'static str> {
        self.codelet.parameters.iter().map(|parameter| parameter.element.name)
    }

    fn is_like(&self, other: &Self) -> bool {
        let (a, b) = (self.codelet, other.codelet);
        (a.module, a.name, a.declaration) == (b.module, b.name, b.declaration)
            && self.kernel == other.kernel
            && self.kind == other.kind
            && self.footprint == other.footprint
            && self.elements().eq(other.elements())
    }
}

impl History {
    fn merge(entries: &[Arc<Entry>]) -> Option<Self> {
        let first = entries.first()?;
        let sum = |field: fn(&Entry) -> &AtomicU64| -> u64 {
            entries.iter().map(|entry| field(entry).load(Ordering::Relaxed)).sum()
        };
        let count: u64 = entries.iter().map(|entry| entry.count.load(Ordering::Acquire)).sum();
        if count == 0 {
            return None;
        }
        let mean_ns = sum(|entry| &entry.sum_ns) as f64 / count as f64;
        let squares: f64 =
            entries.iter().map(|entry| f64::from_bits(entry.squares.load(Ordering::Relaxed))).sum();
        let variance = (squares / count as f64 - mean_ns * mean_ns).max(0.0);
        let min_ns = entries.iter().map(|entry| entry.min_ns.load(Ordering::Relaxed)).min()?;
        let max_ns = entries.iter().map(|entry| entry.max_ns.load(Ordering::Relaxed)).max()?;
        Some(Self {
            codelet: first.codelet.name,
            module: first.codelet.module,
            declaration: first.codelet.declaration,
            kernel: first.kernel,
            worker_kind: first.kind.to_string(),
            elements: first.elements().collect(),
            footprint: first.footprint.clone(),
            count,
            mean_us: mean_ns / 1e3,
            deviation_us: variance.sqrt() / 1e3,
            min_us: min_ns as f64 / 1e3,
            max_us: max_ns as f64 / 1e3,
            flops: first.flops,
            bytes: first.bytes,
        })
    }
}
