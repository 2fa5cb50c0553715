//! [`Durations`]: what the tasks of each codelet took, alone and beside others.

use std::collections::BTreeMap;

use dahl::{CodeletSpeed, MeasuredTask};
use dahl_trace::{Task, Trace};

use super::statistics::{median, relative_spread, trimmed_mean};
use super::workers;

/// The part of a task during which another worker may be busy, for the task to count as alone.
const ALONE: f64 = 0.02;
/// The least part for a task to show what others cost it.
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
    /// Of those that did not: how many others were busy in the mean, and the microseconds.
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
        if others <= ALONE {
            sizes[place].alone.push(task.measured_us);
        } else {
            sizes[place].beside.push((others, task.measured_us));
        }
        Ok(())
    }

    /// The speeds of the codelets. A size of which no task ran alone takes what it took beside others, without what these cost:
    /// as much as the codelet's other sizes show, or else the codelets in the mean.
    pub(super) fn codelets(&self) -> BTreeMap<String, CodeletSpeed> {
        let of_all = median(self.codelets.values().filter_map(|sizes| co_running(sizes)).collect());
        let speed =
            |(name, sizes): (&String, &Vec<Size>)| Some((name.clone(), speed(sizes, of_all.unwrap_or(0.0))?));
        self.codelets.iter().filter_map(speed).collect()
    }
}

/// How much longer tasks take for each other worker that is busy, by the sizes of which tasks ran alone and beside others.
fn co_running(sizes: &[Size]) -> Option<f64> {
    let mut slowdowns = Vec::new();
    for size in sizes {
        let Some(us) = trimmed_mean(size.alone.clone()).filter(|us| *us > 0.0) else { continue };
        let beside = size.beside.iter().filter(|(others, _)| *others >= BESIDE);
        slowdowns.extend(beside.map(|(others, beside)| (beside / us - 1.0) / others));
    }
    (slowdowns.len() >= FEW).then(|| median(slowdowns)).flatten().map(|slower| slower.max(0.0))
}

/// For how long of `task` one of the tasks of another worker ran.
fn overlap_ns(task: &Task, others: &[&Task]) -> u64 {
    let first = others.partition_point(|other| other.end_ns() <= task.start_ns);
    let meanwhile = others[first..].iter().take_while(|other| other.start_ns < task.end_ns());
    let shared =
        |other: &&Task| other.end_ns().min(task.end_ns()).saturating_sub(other.start_ns.max(task.start_ns));
    meanwhile.map(shared).sum()
}

fn speed(sizes: &[Size], of_all: f64) -> Option<CodeletSpeed> {
    let own = co_running(sizes);
    let mut speed = CodeletSpeed { co_running: own, ..CodeletSpeed::default() };
    let mut spreads = Vec::new();
    for size in sizes {
        let slower = own.unwrap_or(of_all);
        let without_others = || size.beside.iter().map(|(others, us)| us / (1.0 + slower * others)).collect();
        let Some(us) = trimmed_mean(size.alone.clone()).or_else(|| trimmed_mean(without_others())) else {
            continue;
        };
        if size.alone.len() >= FEW {
            spreads.extend(relative_spread(&size.alone));
        }
        let Size { footprint, flops, bytes, .. } = size;
        speed.measured.push(MeasuredTask { footprint: footprint.clone(), flops: *flops, bytes: *bytes, us });
    }
    speed.variation = median(spreads);
    (!speed.measured.is_empty()).then_some(speed)
}

#[cfg(test)]
mod tests {
    use super::{Size, speed};

    fn size(extent: usize, alone: Vec<f64>, beside: Vec<(f64, f64)>) -> Size {
        Size { footprint: vec![vec![extent]], flops: None, bytes: extent as f64, alone, beside }
    }

    #[test]
    fn a_size_that_never_ran_alone_is_measured_beside_others() {
        let us = |sizes: &[Size], of_all| {
            let speed = speed(sizes, of_all).expect("a size was measured");
            (speed.measured.iter().map(|task| task.us).collect::<Vec<_>>(), speed.co_running)
        };
        // Beside another, tasks of the first size take half as long again.
        let known = || size(8, vec![10.0; 3], vec![(1.0, 15.0); 5]);
        let (measured, slower) = us(&[known(), size(16, Vec::new(), vec![(1.0, 30.0), (0.2, 22.0)])], 0.0);
        assert_eq!((measured, slower), (vec![10.0, 20.0], Some(0.5)));
        assert_eq!(us(&[size(16, Vec::new(), vec![(1.0, 30.0)])], 0.25), (vec![24.0], None));
        assert!(speed(&[size(16, Vec::new(), Vec::new())], 0.0).is_none());
    }
}
