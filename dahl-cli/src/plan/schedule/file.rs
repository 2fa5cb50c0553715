//! The format of a problem: tasks, edges and a machine, as TOML or JSON.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::Path;

use dahl_plan::schedule::{Cost, Edge, Problem, Source, Task};
use serde::Deserialize;

use super::machine::{Described, MachineFile};
use super::of_trace::{self, Planned};
use crate::recorded::Recorded;
use crate::trouble::Trouble;

/// A file with a problem.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct File {
    pub(super) tasks: Vec<TaskEntry>,
    #[serde(default)]
    pub(super) edges: Vec<EdgeEntry>,
    pub(super) machine: Option<MachineFile>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TaskEntry {
    pub(super) name: String,
    /// What looks up its speed in a machine file, if it is not the name.
    pub(super) codelet: Option<String>,
    /// By kind of worker.
    #[serde(default)]
    pub(super) us: BTreeMap<String, f64>,
    /// By kind of worker. Without it, the time times the power of a worker.
    #[serde(default)]
    pub(super) joules: BTreeMap<String, f64>,
    #[serde(default)]
    pub(super) flops: f64,
    #[serde(default)]
    pub(super) bytes: f64,
    /// The extents of its arrays, by which a machine file may have its time.
    #[serde(default)]
    pub(super) footprint: Vec<Vec<usize>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct EdgeEntry {
    /// The task that writes it; without one it is an input.
    pub(super) from: Option<String>,
    /// The node at which an input is.
    pub(super) node: Option<String>,
    pub(super) to: Names,
    pub(super) bytes: u64,
}

#[derive(Deserialize)]
#[serde(untagged)]
pub(super) enum Names {
    One(String),
    Several(Vec<String>),
}

impl TaskEntry {
    /// The name by which a machine file may have a speed of its own.
    pub(super) fn codelet(&self) -> &str {
        self.codelet.as_deref().unwrap_or(&self.name)
    }
}

/// A problem with the names of its tasks, workers and nodes.
pub(super) struct Named {
    pub(super) problem: Problem,
    pub(super) tasks: Vec<String>,
    pub(super) workers: Vec<String>,
    /// The tasks and the workers of a runtime, for the scheduler `static`, if the problem is that of a run.
    pub(super) of_run: Option<(Vec<Planned>, Vec<String>)>,
}

/// Whole nanoseconds or picojoules.
pub(super) fn whole(value: f64, unit: f64, what: &str) -> Result<u64, String> {
    let whole = (value * unit).round();
    match whole {
        whole if (0.0..9e18).contains(&whole) => Ok(whole as u64),
        _ => Err(format!("{what} is {value}: expected a number from 0 that is not too large")),
    }
}

/// Reads a problem, with the machine of the file, or with that of a machine file.
pub(super) fn read(path: &Path, machine: Option<(&Path, usize)>) -> Result<Named, Trouble> {
    let wrong = |fact: String| Trouble::Input(format!("{}: {}", path.display(), fact.trim_end()));
    let text = fs::read_to_string(path).map_err(|error| wrong(error.to_string()))?;
    if let Some(recorded) = Recorded::parse(path, &text)? {
        return of_recorded(path, &recorded, machine);
    }
    let file: File = match text.trim_start().starts_with('{') {
        true => serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))?,
        false => toml::from_str(&text).map_err(|error| wrong(error.to_string()))?,
    };
    let described = match (machine, &file.machine) {
        (Some((path, processors)), _) => Described::read(path, processors)?,
        (None, Some(machine)) => machine.described().map_err(wrong)?,
        (None, None) => return Err(wrong("has no `machine`: give one, or `--machine FILE`".to_owned())),
    };
    named(&file, described).map_err(wrong)
}

/// The tasks of a run or of a saved program.
fn of_recorded(path: &Path, recorded: &Recorded, machine: Option<(&Path, usize)>) -> Result<Named, Trouble> {
    let wrong = |fact: String| Trouble::Input(format!("{}: {fact}", path.display()));
    let (file, tasks) = of_trace::problem(recorded, machine.is_some()).map_err(wrong)?;
    let described = match (machine, &recorded.trace) {
        (Some((path, processors)), _) => Described::read(path, processors)?,
        (None, Some(trace)) => Described::of_trace(trace).map_err(wrong)?,
        (None, None) => unreachable!("a saved program without a machine is refused"),
    };
    let workers = described.in_runtime.clone();
    Ok(Named { of_run: Some((tasks, workers)), ..named(&file, described).map_err(wrong)? })
}

fn named(file: &File, described: Described) -> Result<Named, String> {
    let mut number = HashMap::new();
    let mut problem = Problem { machine: described.machine.clone(), ..Problem::default() };
    for (index, task) in file.tasks.iter().enumerate() {
        if number.insert(task.name.as_str(), index).is_some() {
            return Err(format!("two tasks have the name {:?}: expected different names", task.name));
        }
        problem.tasks.push(Task { name: task.name.clone(), costs: costs(task, &described)? });
    }
    let find = |name: &String| {
        number.get(name.as_str()).copied().ok_or_else(|| format!("there is no task {name:?}"))
    };
    for edge in &file.edges {
        let source = match (&edge.from, &edge.node) {
            (Some(task), None) => Source::Task(find(task)?),
            (None, Some(node)) => Source::Node(described.node(node)?),
            _ => return Err("an edge has either `from`, a task, or `node`, where an input is".to_owned()),
        };
        let readers = match &edge.to {
            Names::One(name) => vec![find(name)?],
            Names::Several(names) => names.iter().map(find).collect::<Result<_, _>>()?,
        };
        problem.edges.push(Edge { source, readers, bytes: edge.bytes });
    }
    let tasks = file.tasks.iter().map(|task| task.name.clone()).collect();
    Ok(Named { problem, tasks, workers: described.workers, of_run: None })
}

/// The cost of a task on each kind of worker.
fn costs(task: &TaskEntry, described: &Described) -> Result<Vec<Option<Cost>>, String> {
    let known = |kind: &&String| !described.kinds.iter().any(|one| one.name == **kind);
    if let Some(kind) = task.us.keys().chain(task.joules.keys()).find(known) {
        let kinds: Vec<&str> = described.kinds.iter().map(|kind| kind.name.as_str()).collect();
        let kinds = kinds.join(", ");
        return Err(format!(
            "task {:?} has a cost on {kind:?}: expected a kind of the machine: {kinds}",
            task.name
        ));
    }
    let cost = |kind: &super::machine::Kind| {
        let Some(us) = task.us.get(&kind.name).copied().or_else(|| kind.us(task)) else { return Ok(None) };
        let joules = task.joules.get(&kind.name).copied().unwrap_or(us / 1e6 * kind.watts);
        let nanoseconds = whole(us, 1e3, &format!("the time of task {:?}", task.name))?;
        let picojoules = whole(joules, 1e12, &format!("the energy of task {:?}", task.name))?;
        Ok(Some(Cost { nanoseconds, picojoules }))
    };
    described.kinds.iter().map(cost).collect()
}
