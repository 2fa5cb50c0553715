//! The problem of a run or of a saved program: its tasks.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use dahl_trace::{Task, Trace};

use super::file::{EdgeEntry, File, Names, TaskEntry};
use crate::recorded::{Recorded, RecordedTask};

/// What a duration depends on.
type Shape<'t> = (&'t str, Option<&'t str>, &'t [String], &'t [Vec<usize>]);

/// A task of a run, as a plan for the scheduler `static` names it.
pub(super) struct Planned {
    pub(super) number: u64,
    pub(super) codelet: String,
}

/// The tasks of a run or of a saved program, the arrays that they pass on to each other, and the order of those that use one array.
///
/// Those of a run have their measured durations, unless a machine file says how fast it is: on each kind of worker the mean of all
/// tasks of its codelet, kernel, element types and extents.
///
/// # Errors
/// If there is no machine file, and the run had several memory nodes, or there was none.
pub(super) fn problem(recorded: &Recorded, has_machine: bool) -> Result<(File, Vec<Planned>), String> {
    let trace = match &recorded.trace {
        _ if has_machine => None,
        Some(trace) if trace.workers().iter().any(|worker| worker.node != 0) => {
            let wanted = "give them, with the speeds, by `--machine FILE`";
            return Err(format!(
                "its run had several memory nodes, whose links it does not describe: {wanted}"
            ));
        }
        Some(trace) => Some(trace),
        None => return Err("a saved program has not run: say what it runs on by `--machine FILE`".to_owned()),
    };
    let durations = trace.map(durations).unwrap_or_default();
    let entry = |task: &RecordedTask| TaskEntry {
        name: format!("{} {}", task.number, task.codelet),
        codelet: Some(task.speed.clone()),
        us: durations.get(&task.number).cloned().unwrap_or_default(),
        joules: BTreeMap::new(),
        flops: task.flops.unwrap_or(0.0),
        bytes: task.bytes,
        footprint: task.footprint.clone(),
    };
    let entries: Vec<_> = recorded.tasks.iter().map(entry).collect();
    let planned = |task: &RecordedTask| Planned { number: task.number, codelet: task.codelet.clone() };
    let planned = recorded.tasks.iter().map(planned).collect();
    Ok((File { edges: edges(&recorded.tasks, &entries), tasks: entries, machine: None }, planned))
}

fn shape(task: &Task) -> Shape<'_> {
    (&task.path, task.kernel.as_deref(), &task.elements, &task.footprint)
}

/// The durations of each task by kind of worker.
fn durations(trace: &Trace) -> HashMap<u64, BTreeMap<String, f64>> {
    let means = means(trace);
    let of_task = |task: &Task| (task.number, means.get(&shape(task)).cloned().unwrap_or_default());
    trace.tasks().iter().map(of_task).collect()
}

/// The mean durations in microseconds by kind of worker.
fn means(trace: &Trace) -> HashMap<Shape<'_>, BTreeMap<String, f64>> {
    let mut sums: HashMap<Shape<'_>, BTreeMap<String, (f64, f64)>> = HashMap::new();
    for task in trace.tasks() {
        let kind = trace.workers()[task.worker].kind.clone();
        let (sum, count) = sums.entry(shape(task)).or_default().entry(kind).or_default();
        (*sum, *count) = (*sum + task.measured_us, *count + 1.0);
    }
    let mean = |(kind, (sum, count)): (String, (f64, f64))| (kind, sum / count);
    sums.into_iter().map(|(shape, kinds)| (shape, kinds.into_iter().map(mean).collect())).collect()
}

/// An array from one write to the next one.
struct Version {
    /// The task that writes it; none for what is in main memory at the beginning.
    writer: Option<usize>,
    readers: BTreeSet<usize>,
    bytes: u64,
}

/// The arrays that tasks pass on, and what else one of them waits for, as arrays of no bytes.
fn edges(tasks: &[RecordedTask], entries: &[TaskEntry]) -> Vec<EdgeEntry> {
    let mut versions: Vec<Version> = Vec::new();
    // The version that readers get, and the one that the next task that writes leaves behind.
    let mut latest: HashMap<u64, usize> = HashMap::new();
    let mut passed: BTreeSet<(usize, usize)> = BTreeSet::new();
    for (number, task) in tasks.iter().enumerate() {
        let mut written: Vec<(u64, u64)> = Vec::new();
        for used in &task.arrays {
            let bytes = used.bytes;
            if used.reads {
                let version = *latest.entry(used.array).or_insert_with(|| {
                    versions.push(Version { writer: None, readers: BTreeSet::new(), bytes });
                    versions.len() - 1
                });
                if versions[version].writer != Some(number) {
                    versions[version].readers.insert(number);
                    passed.extend(versions[version].writer.map(|writer| (writer, number)));
                }
            }
            if used.writes {
                written.push((used.array, bytes));
            }
        }
        for (array, bytes) in written {
            versions.push(Version { writer: Some(number), readers: BTreeSet::new(), bytes });
            latest.insert(array, versions.len() - 1);
        }
    }
    let name = |task: usize| entries[task].name.clone();
    let names = |tasks: &BTreeSet<usize>| Names::Several(tasks.iter().map(|&task| name(task)).collect());
    let mut edges: Vec<EdgeEntry> = versions
        .iter()
        .map(|version| EdgeEntry {
            from: version.writer.map(name),
            node: version.writer.is_none().then(|| super::machine::MAIN.to_owned()),
            to: names(&version.readers),
            bytes: version.bytes,
        })
        .collect();
    for (number, task) in tasks.iter().enumerate() {
        for before in task.after.iter().copied().filter(|&before| !passed.contains(&(before, number))) {
            let to = Names::One(name(number));
            edges.push(EdgeEntry { from: Some(name(before)), node: None, to, bytes: 0 });
        }
    }
    edges
}

/// The plan of a run, for the scheduler `static`: the workers in their order, and each task, in the order of starts, with its
/// worker.
pub(super) fn text<'p>(workers: &[String], placed: impl Iterator<Item = (&'p Planned, usize)>) -> String {
    let workers = workers.iter().enumerate();
    let mut lines = vec!["dahl plan 1".to_owned()];
    lines.extend(workers.map(|(number, name)| format!("worker {number} {name}")));
    lines.extend(placed.map(|(task, worker)| format!("task {} {} {worker}", task.number, task.codelet)));
    lines.push(String::new());
    lines.join("\n")
}
