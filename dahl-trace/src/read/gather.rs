//! Collects the data of all lines, and puts it in order.

use super::line::{self, Event, Problem};
use super::share::{Lists, Texts};
use crate::Trace;
use crate::format::{self, About, End, Memory, Named, POWER, Power, RunEnergy, TRANSFERS, VERSION};
use crate::graph::Graph;
use crate::trace::{
    ArrayUse, ClockSample, Cut, Idle, Link, MemorySample, Node, PowerSample, Task, Transfer, Worker,
};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::collections::{BTreeMap, HashMap};

/// The events of a file so far.
#[derive(Default)]
pub(super) struct Gathered {
    about: Option<About>,
    end: Option<End>,
    node_names: BTreeMap<u32, String>,
    thread_names: HashMap<u32, String>,
    workers: Vec<Worker>,
    /// The index in `workers` of each `tid`.
    worker_index: HashMap<u32, usize>,
    links: Vec<Link>,
    link_index: HashMap<u32, usize>,
    tasks: Vec<Task>,
    /// The line of each task, by its number.
    task_lines: HashMap<u64, usize>,
    idle: Vec<Idle>,
    transfers: Vec<Transfer>,
    memory: Vec<MemorySample>,
    power: Vec<PowerSample>,
    energy: Option<RunEnergy>,
    clock: Vec<ClockSample>,
    last_ns: u64,
    texts: Texts,
    elements: Lists<String>,
    footprints: Lists<Vec<usize>>,
    /// The number of the current line.
    line: usize,
}

/// An error in the lines taken together, and its line; the last line by default.
pub(super) struct Flaw {
    pub(super) line: Option<usize>,
    pub(super) problem: String,
}

/// The arguments of an event.
fn args<'a, T: Deserialize<'a>>(event: &Event<'a>, what: &'static str) -> Result<T, Problem> {
    let Some(text) = event.args.map(RawValue::get) else {
        return wrong(format!("expected {what}: there are no `args`"));
    };
    serde_json::from_str(text).map_err(|error| json(what, error, text.as_bytes()))
}

fn json(expected: &'static str, error: serde_json::Error, text: &[u8]) -> Problem {
    Problem::Json { expected, error, address: text.as_ptr().addr() }
}

fn wrong<T>(problem: String) -> Result<T, Problem> {
    Err(Problem::Wrong(problem))
}

/// A time or duration of the file, in nanoseconds.
fn nanoseconds(what: &str, us: f64) -> Result<u64, Problem> {
    if !(0.0..9e12).contains(&us) {
        return wrong(format!("`{what}` is {us}, expected microseconds from 0 to 9e12"));
    }
    Ok((us * 1000.0).round() as u64)
}

/// The number of a node or worker: one less than in the file.
fn number(what: &str, given: u32) -> Result<u32, Problem> {
    given.checked_sub(1).ok_or_else(|| Problem::Wrong(format!("`{what}` is 0, expected a number from 1")))
}

impl Gathered {
    pub(super) fn take(&mut self, number: usize, line: &[u8]) -> Result<(), Problem> {
        self.line = number;
        let event: Event = serde_json::from_slice(line).map_err(|error| json("an event", error, line))?;
        if self.about.is_none() && event.name != "dahl" {
            return wrong(
                "expected the event `dahl`, which says what wrote the trace: this is another program's"
                    .into(),
            );
        }
        match &*event.ph {
            "M" => self.metadata(&event),
            "X" => self.slice(&event),
            "C" => self.counter(&event),
            // Arrows: tasks list their dependencies themselves.
            "s" | "f" => Ok(()),
            other => wrong(format!("an event whose `ph` is `{other}`, expected M, X, C, s or f")),
        }
    }

    fn metadata(&mut self, event: &Event) -> Result<(), Problem> {
        match &*event.name {
            "dahl" => self.about = Some(about(event)?),
            "process_name" => {
                let named: Named = args(event, "a name")?;
                self.node_names.insert(number("pid", event.pid)?, named.name);
            }
            "thread_name" => {
                let named: Named = args(event, "a name")?;
                self.thread_names.insert(event.tid, named.name);
            }
            "worker" => self.worker(event)?,
            "clock" => {
                let format::Clock { at_us, ahead_us, round_trip_us } = args(event, "a comparison of clocks")?;
                if ahead_us.abs() >= 9e12 {
                    return wrong(format!(
                        "`ahead_us` is {ahead_us}, expected microseconds from -9e12 to 9e12"
                    ));
                }
                self.clock.push(ClockSample {
                    at_ns: nanoseconds("at_us", at_us)?,
                    ahead_ns: (ahead_us * 1000.0).round() as i64,
                    round_trip_ns: nanoseconds("round_trip_us", round_trip_us)?,
                });
            }
            "energy" => self.energy = Some(args(event, "the energy of the run")?),
            "end" => {
                let end: End = args(event, "the end of the run")?;
                self.last_ns = self.last_ns.max(nanoseconds("end_us", end.end_us)?);
                self.end = Some(end);
            }
            // Metadata of other programs for viewers, such as the order of threads.
            _ => {}
        }
        Ok(())
    }

    fn worker(&mut self, event: &Event) -> Result<(), Problem> {
        let worker: format::Worker = args(event, "a worker")?;
        if event.tid == 0 || event.tid >= TRANSFERS {
            return wrong(format!(
                "a worker whose `tid` is {}, expected one from 1 to {}",
                event.tid,
                TRANSFERS - 1
            ));
        }
        if self.worker_index.insert(event.tid, self.workers.len()).is_some() {
            return wrong(format!("a second worker whose `tid` is {}", event.tid));
        }
        let name = String::new();
        let format::Worker { worker: number, kind, node } = worker;
        self.workers.push(Worker { number, name, kind, node, tid: event.tid });
        Ok(())
    }

    fn slice(&mut self, event: &Event) -> Result<(), Problem> {
        let start_ns = nanoseconds("ts", event.ts)?;
        let duration_ns = nanoseconds("dur", event.dur)?;
        self.last_ns = self.last_ns.max(start_ns + duration_ns);
        match &*event.cat {
            "task" => self.task(event, start_ns, duration_ns),
            "idle" => {
                let format::Idle { cause, before } = args(event, "why a worker is idle")?;
                let worker = self.worker_of(event)?;
                self.idle.push(Idle { worker, start_ns, duration_ns, cause, before });
                Ok(())
            }
            "transfer" => self.transfer(event, start_ns, duration_ns),
            other => wrong(format!("a slice whose `cat` is `{other}`, expected task, idle or transfer")),
        }
    }

    fn worker_of(&self, event: &Event) -> Result<usize, Problem> {
        let unknown =
            || Problem::Wrong(format!("no line before says what worker the `tid` {} is", event.tid));
        self.worker_index.get(&event.tid).copied().ok_or_else(unknown)
    }

    fn task(&mut self, event: &Event, start_ns: u64, duration_ns: u64) -> Result<(), Problem> {
        let task: line::Task = args(event, "a task")?;
        if self.task_lines.insert(task.task, self.line).is_some() {
            return wrong(format!("a second task of the number {}", task.task));
        }
        let mut shared = |text: Option<line::Borrowed>| text.map(|text| self.texts.get(&text.0));
        let (kernel, name, failure) = (shared(task.kernel), shared(task.name), shared(task.failure));
        let mut array_use = |used: &line::ArrayUse| ArrayUse {
            array: used.array,
            mode: self.texts.get(&used.mode),
            bytes: used.bytes,
        };
        let arrays = task.arrays.iter().map(&mut array_use).collect();
        for (what, us) in [
            ("predicted_us", task.predicted_us),
            ("measured_us", Some(task.measured_us)),
            ("host_us", task.host_us),
        ] {
            us.map(|us| nanoseconds(what, us)).transpose()?;
        }
        self.tasks.push(Task {
            number: task.task,
            codelet: self.texts.get(&event.name),
            path: self.texts.get(&task.codelet),
            kernel,
            elements: self
                .elements
                .get(task.elements.get())
                .map_err(|error| json("element types", error, task.elements.get().as_bytes()))?,
            footprint: self
                .footprints
                .get(task.footprint.get())
                .map_err(|error| json("extents", error, task.footprint.get().as_bytes()))?,
            flops: task.flops,
            bytes: task.bytes,
            arrays,
            predicted_us: task.predicted_us,
            measured_us: task.measured_us,
            submitted_ns: nanoseconds("submitted_us", task.submitted_us)?,
            host_us: task.host_us,
            ready_ns: nanoseconds("ready_us", task.ready_us)?,
            taken_ns: nanoseconds("taken_us", task.taken_us)?,
            start_ns,
            duration_ns,
            worker: self.worker_of(event)?,
            after: task.after.into(),
            name,
            at: self.texts.get(&task.at),
            priority: task.priority,
            team: task.team,
            message: task.message,
            failure,
        });
        Ok(())
    }

    fn transfer(&mut self, event: &Event, start_ns: u64, duration_ns: u64) -> Result<(), Problem> {
        let format::Transfer { array, from, to, bytes } = args(event, "a transfer")?;
        let link = *self.link_index.entry(event.tid).or_insert_with(|| {
            self.links.push(Link { name: String::new(), from, to, tid: event.tid });
            self.links.len() - 1
        });
        if (self.links[link].from, self.links[link].to) != (from, to) {
            let Link { from: first, to: second, .. } = self.links[link];
            return wrong(format!(
                "a transfer from {from} to {to} on the `tid` of those from {first} to {second}"
            ));
        }
        let name = self.texts.get(&event.name);
        self.transfers.push(Transfer { link, name, start_ns, duration_ns, array, bytes });
        Ok(())
    }

    fn counter(&mut self, event: &Event) -> Result<(), Problem> {
        let (at_ns, node) = (nanoseconds("ts", event.ts)?, number("pid", event.pid)?);
        self.last_ns = self.last_ns.max(at_ns);
        let Some(domain) = event.name.strip_prefix(POWER) else {
            let Memory { bytes } = args(event, "bytes")?;
            self.memory.push(MemorySample { at_ns, node, bytes });
            return Ok(());
        };
        let Power { watts } = args(event, "watts")?;
        if !(watts.is_finite() && watts >= 0.0) {
            return wrong(format!("`watts` is {watts}, expected a number from 0 on"));
        }
        let duration_ns = nanoseconds("dur", event.dur)?;
        self.last_ns = self.last_ns.max(at_ns + duration_ns);
        let domain = self.texts.get(domain);
        self.power.push(PowerSample { at_ns, duration_ns, node, domain, watts });
        Ok(())
    }

    /// The trace, complete or cut at `cut`; an error if its lines do not agree.
    pub(super) fn finish(mut self, cut: Cut) -> Result<Trace, Flaw> {
        let nothing = || Flaw { line: None, problem: "it ends before it says what wrote it".to_owned() };
        let about = self.about.take().ok_or_else(nothing)?;
        self.tasks.sort_by_key(|task| task.number);
        self.idle.sort_by_key(|idle| (idle.start_ns, idle.worker));
        self.transfers.sort_by_key(|transfer| (transfer.start_ns, transfer.link));
        self.clock.sort_by_key(|sample| sample.at_ns);
        self.memory.sort_by_key(|sample| (sample.at_ns, sample.node));
        self.power.sort_by(|a, b| (a.at_ns, a.node, &a.domain).cmp(&(b.at_ns, b.node, &b.domain)));
        self.name_workers();
        self.sort_workers();
        self.sort_links();
        let waits = |index: usize| {
            let number = self.tasks[index].number;
            let problem = format!("task {number} comes after itself, by way of others");
            Flaw { line: self.task_lines.get(&number).copied(), problem }
        };
        let graph = Graph::of(&self.tasks).map_err(waits)?;
        Ok(Trace {
            about,
            cut: self.end.is_none().then_some(cut),
            duration_ns: self.last_ns,
            nodes: self.nodes(),
            workers: self.workers,
            links: self.links,
            tasks: self.tasks,
            idle: self.idle,
            transfers: self.transfers,
            memory: self.memory,
            power: self.power,
            energy: self.energy,
            clock: self.clock,
            graph,
        })
    }

    fn name_workers(&mut self) {
        for worker in &mut self.workers {
            let unnamed = || worker.number.map_or("host".into(), |number| format!("worker {number}"));
            worker.name = self.thread_names.remove(&worker.tid).unwrap_or_else(unnamed);
        }
        for link in &mut self.links {
            let unnamed = || format!("{} to {}", link.from, link.to);
            link.name = self.thread_names.remove(&link.tid).unwrap_or_else(unnamed);
        }
    }

    fn sort_workers(&mut self) {
        let mut order: Vec<usize> = (0..self.workers.len()).collect();
        order.sort_by_key(|&index| {
            (self.workers[index].number.is_none(), self.workers[index].node, self.workers[index].tid)
        });
        let mut place = vec![0; order.len()];
        order.iter().enumerate().for_each(|(new, &old)| place[old] = new);
        self.tasks.iter_mut().for_each(|task| task.worker = place[task.worker]);
        self.idle.iter_mut().for_each(|idle| idle.worker = place[idle.worker]);
        self.workers = order.iter().map(|&old| self.workers[old].clone()).collect();
    }

    fn sort_links(&mut self) {
        let mut order: Vec<usize> = (0..self.links.len()).collect();
        order.sort_by_key(|&index| (self.links[index].to, self.links[index].from));
        let mut place = vec![0; order.len()];
        order.iter().enumerate().for_each(|(new, &old)| place[old] = new);
        self.transfers.iter_mut().for_each(|transfer| transfer.link = place[transfer.link]);
        self.links = order.iter().map(|&old| self.links[old].clone()).collect();
    }

    /// The memory nodes that were named, that workers belong to, or that hold memory.
    fn nodes(&self) -> Vec<Node> {
        let mut names = self.node_names.clone();
        let workers = self.workers.iter().map(|worker| worker.node);
        let links = self.links.iter().flat_map(|link| [link.from, link.to]);
        for number in workers.chain(links).chain(self.memory.iter().map(|sample| sample.node)) {
            names.entry(number).or_insert_with(|| format!("memory node {number}"));
        }
        names.into_iter().map(|(number, name)| Node { number, name }).collect()
    }
}

fn about(event: &Event) -> Result<About, Problem> {
    #[derive(Deserialize)]
    struct Version {
        version: u64,
    }
    let Version { version } = args(event, "the version of the format")?;
    if version != u64::from(VERSION) {
        return Err(Problem::Version(version));
    }
    args(event, "what wrote the trace")
}
