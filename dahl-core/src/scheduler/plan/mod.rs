//! [`Plan`]: which worker runs which task, in which order, as text.
//!
//! ```text
//! dahl plan 1
//! worker 0 cpu 0
//! worker 1 gpu
//! task 0 fill 0
//! task 1 matmul 1
//! ```
//!
//! After the first line come the workers, each with its number and name, and then the tasks, each with its number in
//! the order of submission, its codelet, and the number of its worker. A worker runs its tasks in the order of the
//! lines. A reader ignores empty lines and everything after `#`.

mod divergences;
mod follow;
mod recording;

use std::collections::HashSet;
use std::fmt::Write;
use std::path::Path;

pub(crate) use divergences::PlanDivergences;
pub(crate) use follow::Static;
pub(crate) use recording::{Recorded, Recording};

/// The first line of a plan.
const TITLE: &str = "dahl plan 1";

/// The worker of each task, and the order of each worker's tasks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Plan {
    workers: Vec<PlannedWorker>,
    tasks: Vec<PlannedTask>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct PlannedWorker {
    number: usize,
    name: String,
    line: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct PlannedTask {
    sequence: u64,
    codelet: String,
    worker: usize,
    /// The line of the file, from 1.
    line: usize,
}

impl Plan {
    /// The plan in a file; or an error with its line.
    pub(crate) fn from_file(path: &Path) -> Result<Self, String> {
        let text = std::fs::read_to_string(path).map_err(|error| error.to_string())?;
        Self::parse(&text)
    }

    fn parse(text: &str) -> Result<Self, String> {
        let lines = text.lines().enumerate().map(|(index, line)| {
            let end = line.find('#').unwrap_or(line.len());
            (index + 1, line[..end].trim())
        });
        let mut lines = lines.filter(|(_, line)| !line.is_empty());
        match lines.next() {
            Some((_, TITLE)) => {}
            Some((line, other)) => return Err(wrong(line, other, &format!("a plan begins with `{TITLE}`"))),
            None => return Err(format!("it is empty; a plan begins with `{TITLE}`")),
        }
        let mut plan = Self::default();
        let mut known = HashSet::new();
        for (line, text) in lines {
            match text.split_once(' ') {
                Some(("worker", rest)) => plan.workers.push(parse_worker(line, text, rest)?),
                Some(("task", rest)) => {
                    let task = parse_task(line, text, rest)?;
                    if !known.insert(task.sequence) {
                        return Err(wrong(line, text, "the task has a line already"));
                    }
                    plan.tasks.push(task);
                }
                _ => return Err(wrong(line, text, "a line begins with `worker` or `task`")),
            }
        }
        Ok(plan)
    }

    /// The text of a plan: workers by number, and tasks in the order in which each worker runs them.
    fn to_text(workers: &[String], tasks: &[(u64, &'static str, usize)]) -> String {
        let mut text = format!("{TITLE}\n");
        for (number, name) in workers.iter().enumerate() {
            let _ = writeln!(text, "worker {number} {name}");
        }
        for (sequence, codelet, worker) in tasks {
            let _ = writeln!(text, "task {sequence} {codelet} {worker}");
        }
        text
    }
}

fn parse_worker(line: usize, text: &str, rest: &str) -> Result<PlannedWorker, String> {
    let parsed = rest.trim().split_once(' ').and_then(|(number, name)| Some((number.parse().ok()?, name)));
    let (number, name) = parsed
        .ok_or_else(|| wrong(line, text, "a worker is `worker NUMBER NAME`, as in `worker 0 cpu 0`"))?;
    Ok(PlannedWorker { number, name: name.trim().to_owned(), line })
}

fn parse_task(line: usize, text: &str, rest: &str) -> Result<PlannedTask, String> {
    let words: Vec<&str> = rest.split_whitespace().collect();
    let parsed = match words[..] {
        [sequence, codelet, worker] => {
            sequence.parse().ok().zip(worker.parse().ok()).map(|both| (both, codelet))
        }
        _ => None,
    };
    let ((sequence, worker), codelet) = parsed.ok_or_else(|| {
        wrong(line, text, "a task is `task NUMBER CODELET WORKER`, as in `task 7 matmul 1`")
    })?;
    Ok(PlannedTask { sequence, codelet: codelet.to_owned(), worker, line })
}

fn wrong(line: usize, text: &str, fact: &str) -> String {
    format!("line {line}: `{text}`: {fact}")
}

#[cfg(test)]
mod tests {
    use super::Plan;

    #[test]
    fn a_plan_is_read_as_it_was_written() {
        let workers = ["cpu 0".to_owned(), "gpu".to_owned()];
        let text = Plan::to_text(&workers, &[(3, "fill", 1), (0, "scale", 0)]);
        assert_eq!(text, "dahl plan 1\nworker 0 cpu 0\nworker 1 gpu\ntask 3 fill 1\ntask 0 scale 0\n");
        let plan = Plan::parse(&text).unwrap();
        let names: Vec<_> = plan.workers.iter().map(|worker| (worker.number, &*worker.name)).collect();
        assert_eq!(names, [(0, "cpu 0"), (1, "gpu")]);
        let tasks: Vec<_> =
            plan.tasks.iter().map(|task| (task.sequence, &*task.codelet, task.worker, task.line)).collect();
        assert_eq!(tasks, [(3, "fill", 1, 4), (0, "scale", 0, 5)]);
    }

    #[test]
    fn what_is_no_plan_is_refused_with_its_line() {
        for (text, expected) in [
            ("", "it is empty; a plan begins with `dahl plan 1`"),
            ("dahl plan 2", "line 1: `dahl plan 2`: a plan begins with `dahl plan 1`"),
            (
                "# mine\ndahl plan 1\n\ntask 1 x",
                "line 4: `task 1 x`: a task is `task NUMBER CODELET WORKER`, ",
            ),
            ("dahl plan 1\ntask -1 x 0", "line 2: `task -1 x 0`: a task is"),
            ("dahl plan 1\ntask 1 x 0 # no\ntask 1 x 0", "line 3: `task 1 x 0`: the task has a line already"),
            ("dahl plan 1\nworker 0", "line 2: `worker 0`: a worker is `worker NUMBER NAME`"),
            ("dahl plan 1\ntusk 1 x 0", "line 2: `tusk 1 x 0`: a line begins with `worker` or `task`"),
        ] {
            let error = Plan::parse(text).unwrap_err();
            assert!(error.starts_with(expected), "{error}");
        }
    }
}
