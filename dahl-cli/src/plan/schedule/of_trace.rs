//! The problem of a run: its tasks, from its trace.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use dahl_trace::{Task, Trace};

use super::file::{EdgeEntry, File, Names, TaskEntry};

/// What a duration depends on.
type Shape<'t> = (&'t str, Option<&'t str>, &'t [String], &'t [Vec<usize>]);

/// A task of a run, as a plan for the scheduler `static` names it.
pub(super) struct Planned {
    pub(super) number: u64,
    pub(super) codelet: String,
}

/// The tasks of a run in the order of submission, the arrays that they pass on to each other, and the order of those that use
/// one array.
///
/// Each has its measured durations, unless a machine file says how fast it is: on each kind of worker the mean of all
/// tasks of its codelet, kernel, element types and extents.
///
/// # Errors
/// If the trace ends before its run, if a task has failed, if an older version wrote the file, or if there are several memory nodes and no machine file.
pub(super) fn problem(trace: &Trace, has_machine: bool) -> Result<(File, Vec<Planned>), String> {
    if let Some(cut) = trace.cut() {
        return Err(format!("it ends in line {}, before its run did: a plan is for whole runs", cut.line));
    }
    if let Some(task) = trace.tasks().iter().find(|task| task.failure.is_some()) {
        return Err(format!("task {} ({}) has failed, so the run is not whole", task.number, task.codelet));
    }
    if !has_machine && trace.workers().iter().any(|worker| worker.node != 0) {
        let wanted = "give them, with the speeds, by `--machine FILE`";
        return Err(format!("its run had several memory nodes, whose links it does not describe: {wanted}"));
    }
    let mut tasks: Vec<&Task> = trace.tasks().iter().collect();
    tasks.sort_unstable_by_key(|task| task.number);
    let means = if has_machine { HashMap::new() } else { means(trace) };
    let entry = |task: &&Task| entry(task, has_machine, &means);
    let entries = tasks.iter().map(entry).collect::<Result<Vec<_>, _>>()?;
    let planned = tasks.iter().map(|task| Planned { number: task.number, codelet: codelet(task).to_owned() });
    let planned = planned.collect();
    Ok((File { edges: edges(&tasks, &entries)?, tasks: entries, machine: None }, planned))
}

/// The name of a codelet without its module.
fn codelet(task: &Task) -> &str {
    task.path.rsplit("::").next().unwrap_or(&task.path)
}

fn old() -> String {
    "an older version wrote it, without the sizes of arrays: run the program again".to_owned()
}

fn shape(task: &Task) -> Shape<'_> {
    (&task.path, task.kernel.as_deref(), &task.elements, &task.footprint)
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

fn entry(
    task: &Task,
    has_machine: bool,
    means: &HashMap<Shape<'_>, BTreeMap<String, f64>>,
) -> Result<TaskEntry, String> {
    let bytes = if has_machine { task.bytes.ok_or_else(old)? } else { 0.0 };
    Ok(TaskEntry {
        name: format!("{} {}", task.number, codelet(task)),
        codelet: Some(codelet(task).to_owned()),
        us: means.get(&shape(task)).cloned().unwrap_or_default(),
        joules: BTreeMap::new(),
        flops: task.flops.unwrap_or(0.0),
        bytes,
    })
}

/// An array from one write to the next one.
struct Version {
    /// The task that writes it; none for what is in main memory at the beginning.
    writer: Option<usize>,
    readers: BTreeSet<usize>,
    bytes: u64,
}

/// The arrays that tasks pass on, and what else one of them waits for, as arrays of no bytes.
fn edges(tasks: &[&Task], entries: &[TaskEntry]) -> Result<Vec<EdgeEntry>, String> {
    let index: HashMap<u64, usize> =
        tasks.iter().enumerate().map(|(index, task)| (task.number, index)).collect();
    let mut versions: Vec<Version> = Vec::new();
    // The version that readers get, and the one that the next task that writes leaves behind.
    let mut latest: HashMap<u64, usize> = HashMap::new();
    let mut passed: BTreeSet<(usize, usize)> = BTreeSet::new();
    for (number, task) in tasks.iter().enumerate() {
        let mut written: Vec<(u64, u64)> = Vec::new();
        for used in &task.arrays {
            let bytes = used.bytes.ok_or_else(old)?;
            if matches!(&*used.mode, "R" | "RW" | "COMMUTE") {
                let version = *latest.entry(used.array).or_insert_with(|| {
                    versions.push(Version { writer: None, readers: BTreeSet::new(), bytes });
                    versions.len() - 1
                });
                if versions[version].writer != Some(number) {
                    versions[version].readers.insert(number);
                    passed.extend(versions[version].writer.map(|writer| (writer, number)));
                }
            }
            if &*used.mode != "R" {
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
        let before = task.after.iter().filter_map(|before| index.get(before).copied());
        for before in before.filter(|&before| !passed.contains(&(before, number))) {
            let to = Names::One(name(number));
            edges.push(EdgeEntry { from: Some(name(before)), node: None, to, bytes: 0 });
        }
    }
    Ok(edges)
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
