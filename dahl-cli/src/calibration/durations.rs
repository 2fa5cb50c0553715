//! [`Durations`]: what the tasks of each codelet took, alone and beside others.

use std::collections::BTreeMap;

use dahl::{CodeletSpeed, MeasuredTask};
use dahl_trace::{Task, Trace};

use super::statistics::{median, relative_spread, trimmed_mean};
use super::workers;

/// The part of a task during which another worker may be busy, for the task to count as alone.
const ALONE: f64 = 0.02;
/// The least part for a task to count as one beside others.
const BESIDE: f64 = 0.5;
/// The least tasks of a size for a spread.
const FEW: usize = 5;

/// The tasks of one size.
struct Size {
    footprint: Vec<Vec<usize>>,
    flops: Option<f64>,
    bytes: f64,
    /// Microseconds of those that ran alone.
    alone: Vec<f64>,
    /// How many others were busy in the mean, and the microseconds.
    beside: Vec<(f64, f64)>,
}

/// The tasks of a kind of worker.
#[derive(Default)]
pub(super) struct Durations {
    codelets: BTreeMap<String, Vec<Size>>,
}

/// The name that a machine file has for a task's codelet: without its module; a task of a reduction has that of its kernel.
pub(crate) fn codelet(task: &Task) -> &str {
    match task.kernel.as_deref() {
        Some(of_reduction @ ("fold" | "finish")) => of_reduction,
        _ => task.path.rsplit("::").next().unwrap_or(&task.path),
    }
}

impl Durations {
    /// Adds the tasks of a run.
    ///
    /// # Errors
    /// If the trace is of an older version.
    pub(super) fn add(&mut self, trace: &Trace, kind: &str) -> Result<(), String> {
        let workers = workers(trace, kind);
        for (index, (_, tasks)) in workers.iter().enumerate() {
            for task in tasks.iter().filter(|task| task.failure.is_none()) {
                let others = workers.iter().enumerate().filter(|(other, _)| *other != index);
                let busy_ns: u64 = others.map(|(_, (_, others))| overlap_ns(task, others)).sum();
                let others = busy_ns as f64 / task.duration_ns.max(1) as f64;
                self.add_task(task, others)?;
            }
        }
        Ok(())
    }

    fn add_task(&mut self, task: &Task, others: f64) -> Result<(), String> {
        let old = "an older version wrote the trace, without the sizes of arrays: run the program again";
        let bytes = task.bytes.ok_or(old)?;
        let sizes = self.codelets.entry(codelet(task).to_owned()).or_default();
        let place = sizes.iter().position(|size| *size.footprint == *task.footprint && size.bytes == bytes);
        let place = place.unwrap_or_else(|| {
            sizes.push(Size {
                footprint: task.footprint.to_vec(),
                flops: task.flops,
                bytes,
                alone: Vec::new(),
                beside: Vec::new(),
            });
            sizes.len() - 1
        });
        match others {
            others if others <= ALONE => sizes[place].alone.push(task.measured_us),
            others if others >= BESIDE => sizes[place].beside.push((others, task.measured_us)),
            _ => {}
        }
        Ok(())
    }

    /// The speeds of the codelets that ran alone.
    pub(super) fn codelets(&self) -> BTreeMap<String, CodeletSpeed> {
        let speed = |(name, sizes): (&String, &Vec<Size>)| Some((name.clone(), speed(sizes)?));
        self.codelets.iter().filter_map(speed).collect()
    }
}

/// For how long of `task` one of the tasks of another worker ran.
fn overlap_ns(task: &Task, others: &[&Task]) -> u64 {
    let first = others.partition_point(|other| other.end_ns() <= task.start_ns);
    let meanwhile = others[first..].iter().take_while(|other| other.start_ns < task.end_ns());
    let shared =
        |other: &&Task| other.end_ns().min(task.end_ns()).saturating_sub(other.start_ns.max(task.start_ns));
    meanwhile.map(shared).sum()
}

fn speed(sizes: &[Size]) -> Option<CodeletSpeed> {
    let mut speed = CodeletSpeed::default();
    let (mut spreads, mut slowdowns) = (Vec::new(), Vec::new());
    for size in sizes {
        let Some(us) = trimmed_mean(size.alone.clone()) else { continue };
        if size.alone.len() >= FEW {
            spreads.extend(relative_spread(&size.alone));
        }
        if us > 0.0 {
            slowdowns.extend(size.beside.iter().map(|(others, beside)| (beside / us - 1.0) / others));
        }
        let Size { footprint, flops, bytes, .. } = size;
        speed.measured.push(MeasuredTask { footprint: footprint.clone(), flops: *flops, bytes: *bytes, us });
    }
    speed.variation = median(spreads);
    speed.co_running =
        (slowdowns.len() >= FEW).then(|| median(slowdowns)).flatten().map(|slower| slower.max(0.0));
    (!speed.measured.is_empty()).then_some(speed)
}
