//! The run in the form that the page's scripts read (`run.js`): columns of small numbers, so that a hundred thousand
//! tasks fit.
//!
//! Times are in nanoseconds, as differences to the task before, or to the event before of the same task. Texts that
//! occur often are replaced by their index in a list.

use crate::Summary;
use crate::format::{About, Cause};
use crate::palette::{Codelets, idle_color};
use crate::trace::{Cut, Task, Trace};
use serde::Serialize;
use std::collections::HashMap;

/// The data of the page.
#[derive(Serialize)]
pub(super) struct Page<'a> {
    about: &'a About,
    cut: Option<Cut>,
    duration: u64,
    summary: Summary,
    nodes: Vec<NodeRow<'a>>,
    workers: Vec<WorkerRow<'a>>,
    links: Vec<LinkRow<'a>>,
    codelets: Vec<CodeletRow<'a>>,
    causes: Vec<CauseRow>,
    texts: Vec<String>,
    tasks: Tasks,
    idle: IdleColumns,
    transfers: Transfers,
    memory: Memory,
    power: Power,
    path: Vec<usize>,
}

#[derive(Serialize)]
struct NodeRow<'a> {
    number: u32,
    name: &'a str,
}

#[derive(Serialize)]
struct WorkerRow<'a> {
    name: &'a str,
    kind: &'a str,
    node: u32,
    number: Option<u32>,
}

#[derive(Serialize)]
struct LinkRow<'a> {
    name: &'a str,
    from: u32,
    to: u32,
}

#[derive(Serialize)]
struct CodeletRow<'a> {
    name: &'a str,
    path: &'a str,
    color: &'static str,
}

#[derive(Serialize)]
struct CauseRow {
    name: &'static str,
    color: &'static str,
}

/// The tasks, a column per field; columns of texts have indices into `texts`, plus one where the text may be absent.
#[derive(Default, Serialize)]
struct Tasks {
    number: Vec<i64>,
    codelet: Vec<usize>,
    worker: Vec<usize>,
    submitted: Vec<i64>,
    ready: Vec<i64>,
    taken: Vec<i64>,
    start: Vec<i64>,
    duration: Vec<u64>,
    /// The prediction minus the duration; none if there was no prediction.
    predicted: Vec<Option<i64>>,
    kernel: Vec<usize>,
    parameters: Vec<usize>,
    at: Vec<usize>,
    modes: Vec<usize>,
    /// As many for each task as it has modes.
    arrays: Vec<u64>,
    /// The number of tasks that each depends on.
    before: Vec<usize>,
    /// The distances to these tasks, in the order of submission.
    back: Vec<i64>,
    name: Vec<(usize, usize)>,
    failure: Vec<(usize, usize)>,
    priority: Vec<(usize, i32)>,
    team: Vec<usize>,
}

#[derive(Default, Serialize)]
struct IdleColumns {
    worker: Vec<usize>,
    start: Vec<i64>,
    duration: Vec<u64>,
    cause: Vec<usize>,
    /// The index of the task, plus one.
    before: Vec<usize>,
}

#[derive(Default, Serialize)]
struct Transfers {
    link: Vec<usize>,
    start: Vec<i64>,
    duration: Vec<u64>,
    bytes: Vec<u64>,
    array: Vec<u64>,
    name: Vec<usize>,
}

#[derive(Default, Serialize)]
struct Memory {
    node: Vec<u32>,
    at: Vec<i64>,
    bytes: Vec<u64>,
}

/// The mean power of domains between two readings.
#[derive(Default, Serialize)]
struct Power {
    domain: Vec<usize>,
    at: Vec<i64>,
    duration: Vec<u64>,
    watts: Vec<f64>,
}

/// Indices of texts, in the order of their first occurrence.
#[derive(Default)]
struct Texts(HashMap<String, usize>);

impl Texts {
    fn place(&mut self, text: &str) -> usize {
        if let Some(&place) = self.0.get(text) {
            return place;
        }
        let place = self.0.len();
        self.0.insert(text.to_owned(), place);
        place
    }

    fn list(self) -> Vec<String> {
        let mut texts: Vec<_> = self.0.into_iter().collect();
        texts.sort_by_key(|&(_, place)| place);
        texts.into_iter().map(|(text, _)| text).collect()
    }
}

/// Differences from the previous value.
#[derive(Default)]
struct Steps(i64);

impl Steps {
    fn to(&mut self, value: u64) -> i64 {
        let step = value as i64 - self.0;
        self.0 = value as i64;
        step
    }
}

impl<'a> Page<'a> {
    pub(super) fn of(trace: &'a Trace) -> Self {
        let codelets = Codelets::of(trace);
        let mut texts = Texts::default();
        let tasks = Tasks::of(trace, &codelets, &mut texts);
        let transfers = Transfers::of(trace, &mut texts);
        let power = Power::of(trace, &mut texts);
        let nodes = trace.nodes().iter();
        let workers = trace.workers().iter();
        let links = trace.links().iter();
        Self {
            about: trace.about(),
            cut: trace.cut(),
            duration: trace.duration_ns(),
            summary: trace.summary(),
            nodes: nodes.map(|node| NodeRow { number: node.number, name: &node.name }).collect(),
            workers: workers
                .map(|worker| WorkerRow {
                    name: &worker.name,
                    kind: &worker.kind,
                    node: worker.node,
                    number: worker.number,
                })
                .collect(),
            links: links.map(|link| LinkRow { name: &link.name, from: link.from, to: link.to }).collect(),
            codelets: rows(trace, &codelets),
            causes: Cause::ALL.map(|cause| CauseRow { name: cause.name(), color: idle_color(cause) }).into(),
            texts: texts.list(),
            tasks,
            idle: IdleColumns::of(trace),
            transfers,
            memory: Memory::of(trace),
            power,
            path: trace.critical_path().tasks,
        }
    }
}

/// The codelets, with the names in the trace.
fn rows<'a>(trace: &'a Trace, codelets: &Codelets) -> Vec<CodeletRow<'a>> {
    let mut first: Vec<Option<&Task>> = vec![None; codelets.names.len()];
    for (task, &codelet) in trace.tasks().iter().zip(&codelets.of) {
        first[codelet].get_or_insert(task);
    }
    let named = first.into_iter().flatten().zip(&codelets.names);
    named
        .map(|(task, named)| CodeletRow { name: &task.codelet, path: &task.path, color: named.color })
        .collect()
}

impl Tasks {
    fn of(trace: &Trace, codelets: &Codelets, texts: &mut Texts) -> Self {
        let mut columns = Self::default();
        let (mut number, mut submitted) = (Steps::default(), Steps::default());
        for (index, task) in trace.tasks().iter().enumerate() {
            columns.number.push(number.to(task.number));
            columns.submitted.push(submitted.to(task.submitted_ns));
            columns.codelet.push(codelets.of[index]);
            columns.push(index, task, texts);
            let before = trace.graph().predecessors(index);
            columns.before.push(before.len());
            columns.back.extend(before.iter().map(|&before| index as i64 - i64::from(before)));
        }
        columns
    }

    fn push(&mut self, index: usize, task: &Task, texts: &mut Texts) {
        let mut time = Steps(task.submitted_ns as i64);
        self.ready.push(time.to(task.ready_ns));
        self.taken.push(time.to(task.taken_ns));
        self.start.push(time.to(task.start_ns));
        self.worker.push(task.worker);
        self.duration.push(task.duration_ns);
        let predicted = task.predicted_us.map(|us| (us * 1000.0).round() as i64 - task.duration_ns as i64);
        self.predicted.push(predicted);
        self.kernel.push(task.kernel.as_deref().map_or(0, |kernel| texts.place(kernel) + 1));
        self.parameters.push(texts.place(&task.parameters()));
        self.at.push(texts.place(&task.at));
        let modes: Vec<&str> = task.arrays.iter().map(|used| &*used.mode).collect();
        self.modes.push(texts.place(&modes.join(" ")));
        self.arrays.extend(task.arrays.iter().map(|used| used.array));
        self.name.extend(task.name.as_deref().map(|name| (index, texts.place(name))));
        self.failure.extend(task.failure.as_deref().map(|failure| (index, texts.place(failure))));
        self.priority.extend((task.priority != 0).then_some((index, task.priority)));
        self.team.extend(task.team.then_some(index));
    }
}

impl IdleColumns {
    fn of(trace: &Trace) -> Self {
        let numbers = trace.tasks().iter().enumerate();
        let places: HashMap<u64, usize> = numbers.map(|(place, task)| (task.number, place)).collect();
        let (mut columns, mut start) = (Self::default(), Steps::default());
        for idle in trace.idle() {
            columns.worker.push(idle.worker);
            columns.start.push(start.to(idle.start_ns));
            columns.duration.push(idle.duration_ns);
            columns.cause.push(Cause::ALL.iter().position(|&cause| cause == idle.cause).unwrap_or(0));
            let before = idle.before.and_then(|number| places.get(&number));
            columns.before.push(before.map_or(0, |place| place + 1));
        }
        columns
    }
}

impl Transfers {
    fn of(trace: &Trace, texts: &mut Texts) -> Self {
        let (mut columns, mut start) = (Self::default(), Steps::default());
        for transfer in trace.transfers() {
            columns.link.push(transfer.link);
            columns.start.push(start.to(transfer.start_ns));
            columns.duration.push(transfer.duration_ns);
            columns.bytes.push(transfer.bytes);
            columns.array.push(transfer.array);
            columns.name.push(texts.place(&transfer.name));
        }
        columns
    }
}

impl Memory {
    fn of(trace: &Trace) -> Self {
        let (mut columns, mut at) = (Self::default(), Steps::default());
        for sample in trace.memory() {
            columns.node.push(sample.node);
            columns.at.push(at.to(sample.at_ns));
            columns.bytes.push(sample.bytes);
        }
        columns
    }
}

impl Power {
    fn of(trace: &Trace, texts: &mut Texts) -> Self {
        let (mut columns, mut at) = (Self::default(), Steps::default());
        for sample in trace.power() {
            columns.domain.push(texts.place(&sample.domain));
            columns.at.push(at.to(sample.at_ns));
            columns.duration.push(sample.duration_ns);
            columns.watts.push(sample.watts);
        }
        columns
    }
}
