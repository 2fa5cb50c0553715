//! [`Circumstances`]: the state of the run at the beginning of each call of a codelet, from a trace of one run, and the
//! call's duration.
//!
//! Calls are compared with *like* calls: those of the same kernel, element types, footprint and kind of worker. To
//! compare all together, each duration is divided by the median of the like calls.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashMap, HashSet};
use std::fmt;
use std::path::{Path, PathBuf};

use dahl_trace::{Task, Trace};
use serde::Serialize;

use crate::choices::unknown;
use crate::output::HEADING;
use crate::table::Table;
use crate::trouble::Trouble;
use crate::units;

/// The circumstances in which calls began, in one run.
#[derive(Serialize)]
pub(super) struct Circumstances {
    file: PathBuf,
    codelets: Vec<String>,
    calls: usize,
    /// Groups of similar calls.
    groups: usize,
    circumstances: Vec<Circumstance>,
}

/// The calls that began under one circumstance.
#[derive(Serialize)]
struct Circumstance {
    what: What,
    value: String,
    calls: usize,
    median_us: f64,
    /// The median of each call's duration relative to the median of similar calls.
    of_like_calls: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
enum What {
    FirstCall,
    Worker,
    OthersBusy,
    Transfer,
    Team,
}

/// A call, its duration relative to that of similar calls, and the circumstances in which it began.
struct Call {
    us: f64,
    of_like: f64,
    /// In the order of [`What`]; numbers are padded so that they sort.
    values: Vec<(What, String)>,
}

type Like<'t> = (&'t str, Option<&'t str>, &'t [String], &'t [Vec<usize>], &'t str);

impl Circumstances {
    /// The circumstances of the calls of the codelet with this name, with or without its modules, in the trace in
    /// `file`.
    pub(super) fn of(codelet: &str, trace: &Trace, file: &Path) -> Result<Self, Trouble> {
        let mut names: Vec<_> = trace.tasks().iter().map(|task| task.path.to_string()).collect();
        names.sort();
        names.dedup();
        let is_meant = |path: &str| path == codelet || path.ends_with(&format!("::{codelet}"));
        let meant: Vec<_> = names.iter().filter(|name| is_meant(name)).cloned().collect();
        if meant.is_empty() {
            return Err(unknown("codelet", codelet, &file.display().to_string(), &names));
        }
        let calls =
            calls(trace, |task| is_meant(&task.path) && task.kernel.is_some() && task.failure.is_none());
        let groups = calls.groups;
        let mut under: BTreeMap<(What, &str), Vec<&Call>> = BTreeMap::new();
        for call in &calls.calls {
            for (what, value) in &call.values {
                under.entry((*what, value)).or_default().push(call);
            }
        }
        let circumstances = under.into_iter().map(|((what, value), calls)| Circumstance {
            what,
            value: value.trim_start().to_owned(),
            calls: calls.len(),
            median_us: median(calls.iter().map(|call| call.us)),
            of_like_calls: median(calls.iter().map(|call| call.of_like)),
        });
        let circumstances = circumstances.collect();
        Ok(Self { file: file.to_owned(), codelets: meant, calls: calls.calls.len(), groups, circumstances })
    }

    /// Whether `what` has several values.
    fn is_compared(&self, what: What) -> bool {
        self.circumstances.iter().filter(|one| one.what == what).count() > 1
    }

    /// The circumstance whose values make the largest difference between similar calls, and the difference.
    fn largest(&self) -> Option<(What, f64)> {
        let of = |what: What| {
            let values =
                || self.circumstances.iter().filter(|one| one.what == what).map(|one| one.of_like_calls);
            let (least, most) = (values().min_by(f64::total_cmp)?, values().max_by(f64::total_cmp)?);
            (least > 0.0 && most > least).then(|| (what, most / least))
        };
        let all = [What::FirstCall, What::Worker, What::OthersBusy, What::Transfer, What::Team];
        all.into_iter().filter_map(of).max_by(|a, b| a.1.total_cmp(&b.1))
    }
}

struct Calls {
    calls: Vec<Call>,
    groups: usize,
}

fn calls(trace: &Trace, is_meant: impl Fn(&Task) -> bool) -> Calls {
    let tasks = trace.tasks();
    let kind = |task: &Task| trace.workers()[task.worker].kind.as_str();
    let mut groups: HashMap<Like<'_>, Vec<usize>> = HashMap::new();
    for (index, task) in tasks.iter().enumerate().filter(|(_, task)| is_meant(task)) {
        let like = (&*task.path, task.kernel.as_deref(), &*task.elements, &*task.footprint, kind(task));
        groups.entry(like).or_default().push(index);
    }
    let (busy, copied) = (others_busy(tasks), first_after_transfers(trace));
    let mut calls = Vec::new();
    for group in groups.values() {
        let like_us = median(group.iter().map(|&index| tasks[index].measured_us));
        let first = first_on_workers(tasks, group);
        for &index in group {
            let task = &tasks[index];
            let yes_or_no = |holds: bool, names: [&str; 2]| names[usize::from(holds)].to_owned();
            let values = vec![
                (What::FirstCall, yes_or_no(first.contains(&index), ["a later call", "first on its worker"])),
                (What::Worker, trace.workers()[task.worker].name.clone()),
                (What::OthersBusy, format!("{:>4}", busy[index])),
                (
                    What::Transfer,
                    yes_or_no(copied.contains(&index), ["data were there", "data had been copied"]),
                ),
                (What::Team, yes_or_no(task.team, ["alone", "with idle workers"])),
            ];
            let us = task.measured_us;
            let of_like = if like_us > 0.0 { us / like_us } else { 1.0 };
            calls.push(Call { us, of_like, values });
        }
    }
    Calls { calls, groups: groups.len() }
}

/// For each task, the number of other workers that were running one when it began.
fn others_busy(tasks: &[Task]) -> Vec<usize> {
    let mut by_start: Vec<_> = (0..tasks.len()).collect();
    by_start.sort_by_key(|&index| tasks[index].start_ns);
    let (mut busy, mut ends) = (vec![0; tasks.len()], BinaryHeap::new());
    for together in by_start.chunk_by(|&a, &b| tasks[a].start_ns == tasks[b].start_ns) {
        let now_ns = tasks[together[0]].start_ns;
        while ends.peek().is_some_and(|&Reverse(end_ns)| end_ns <= now_ns) {
            ends.pop();
        }
        ends.extend(together.iter().map(|&index| Reverse(tasks[index].end_ns())));
        together.iter().for_each(|&index| busy[index] = ends.len() - 1);
    }
    busy
}

/// The tasks that are the first to use an array after it was copied to a memory node.
fn first_after_transfers(trace: &Trace) -> HashSet<usize> {
    let mut users: HashMap<(u64, u32), Vec<(u64, usize)>> = HashMap::new();
    for (index, task) in trace.tasks().iter().enumerate() {
        let node = trace.workers()[task.worker].node;
        for used in &task.arrays {
            users.entry((used.array, node)).or_default().push((task.start_ns, index));
        }
    }
    users.values_mut().for_each(|users| users.sort_unstable());
    let first = |transfer: &dahl_trace::Transfer| {
        let users = users.get(&(transfer.array, trace.links()[transfer.link].to))?;
        let end_ns = transfer.start_ns + transfer.duration_ns;
        users.get(users.partition_point(|&(start_ns, _)| start_ns < end_ns)).map(|&(_, index)| index)
    };
    trace.transfers().iter().filter_map(first).collect()
}

/// The first of similar calls on each worker.
fn first_on_workers(tasks: &[Task], group: &[usize]) -> HashSet<usize> {
    let mut first: HashMap<usize, usize> = HashMap::new();
    for &index in group {
        let earliest = first.entry(tasks[index].worker).or_insert(index);
        if tasks[index].start_ns < tasks[*earliest].start_ns {
            *earliest = index;
        }
    }
    first.into_values().collect()
}

/// The lower median of a sequence that is not empty.
fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<_> = values.collect();
    values.sort_by(f64::total_cmp);
    values[(values.len() - 1) / 2]
}

impl fmt::Display for Circumstances {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, codelets, calls, groups, circumstances } = self;
        writeln!(f, "{HEADING}{}{HEADING:#} in the run of {}", codelets.join(", "), file.display())?;
        let groups =
            if *groups == 1 { "all alike".to_owned() } else { format!("in {groups} groups of like ones") };
        writeln!(
            f,
            "  {calls} calls, {groups}: of one kernel, element types, footprint and kind of worker."
        )?;
        match self.largest() {
            Some((what, factor)) => {
                writeln!(
                    f,
                    "  Like calls differ most by {what}: their medians by {}.\n",
                    units::times(factor)
                )?;
            }
            None => writeln!(f, "  Like calls took the same time under all circumstances.\n")?,
        }
        let mut table =
            Table::new(&["circumstance", "", ">calls", ">median", ">against like calls"]).indent(2);
        let (compared, alike): (Vec<_>, Vec<_>) =
            circumstances.iter().partition(|one| self.is_compared(one.what));
        for Circumstance { what, value, calls, median_us, of_like_calls } in compared {
            let (median, factor) = (units::time(*median_us), units::times(*of_like_calls));
            table.row([what.to_string(), value.clone(), calls.to_string(), median, factor]);
        }
        write!(f, "{table}")?;
        let alike: Vec<_> = alike.iter().map(|one| format!("{}: {}", one.what, one.value)).collect();
        match alike.is_empty() {
            true => Ok(()),
            false => writeln!(f, "  The same for all of them: {}.", alike.join("; ")),
        }
    }
}

impl fmt::Display for What {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::FirstCall => "first call",
            Self::Worker => "worker",
            Self::OthersBusy => "other workers busy",
            Self::Transfer => "transfer",
            Self::Team => "team",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = r#"[
{"ph":"M","pid":0,"tid":0,"name":"dahl","args":{"version":1,"program":"p","host":"h","started":0,"virtual":false,"scheduler":"ws"}},
{"ph":"M","pid":1,"tid":0,"name":"process_name","args":{"name":"host"}},
{"ph":"M","pid":2,"tid":0,"name":"process_name","args":{"name":"gpu"}},
{"ph":"M","pid":1,"tid":1,"name":"thread_name","args":{"name":"cpu 0"}},
{"ph":"M","pid":1,"tid":1,"name":"worker","args":{"worker":0,"kind":"cpu","node":0}},
{"ph":"M","pid":2,"tid":2,"name":"thread_name","args":{"name":"gpu"}},
{"ph":"M","pid":2,"tid":2,"name":"worker","args":{"worker":1,"kind":"gpu","node":1}},
{"ph":"M","pid":2,"tid":10000,"name":"thread_name","args":{"name":"host to gpu"}}"#;

    /// A task on worker 0 or 1 that reads array 7.
    fn task(number: u64, worker: u32, start_us: f64, us: f64, team: bool) -> String {
        let place = format!(r#""pid":{},"tid":{}"#, worker + 1, worker + 1);
        format!(
            r#",
{{"ph":"X","name":"f","ts":{start_us},"dur":{us},{place},"cat":"task","args":{{"task":{number},"codelet":"m::f","kernel":"k",
"elements":["f32"],"footprint":[[8]],"arrays":[{{"array":7,"mode":"R"}}],"measured_us":{us},"submitted_us":0.0,"ready_us":0.0,
"taken_us":{start_us},"after":[],"at":"p.rs:1","team":{team}}}}}"#
        )
        .replace(",\n\"", ",\"")
    }

    /// On the CPU a call of 10 us, then one of 5 us with a team; on the device one after a copy, while the CPU works,
    /// and one after all that.
    fn run() -> Trace {
        let copy = r#",
{"ph":"X","name":"a","ts":1.0,"dur":1.0,"pid":2,"tid":10000,"cat":"transfer","args":{"array":7,"from":0,"to":1,"bytes":32}}"#;
        let tasks = [
            task(0, 0, 0.0, 10.0, false),
            task(1, 1, 2.0, 4.0, false),
            task(2, 0, 10.0, 5.0, true),
            task(3, 1, 20.0, 2.0, false),
        ];
        let text = format!("{HEAD}{}{copy}\n]\n", tasks.concat());
        Trace::parse(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
    }

    #[test]
    fn calls_are_put_under_what_was_so_when_they_began() {
        let explained = Circumstances::of("f", &run(), Path::new("run.json")).expect("it has run");
        assert_eq!((explained.calls, explained.groups), (4, 2));
        let under: Vec<_> = explained
            .circumstances
            .iter()
            .map(|one| (one.what, &*one.value, one.calls, one.median_us, one.of_like_calls))
            .collect();
        // The lower of two is the median: 5 us of like calls on the CPU, 2 us on the device.
        let expected = [
            (What::FirstCall, "a later call", 2, 2.0, 1.0),
            (What::FirstCall, "first on its worker", 2, 4.0, 2.0),
            (What::Worker, "cpu 0", 2, 5.0, 1.0),
            (What::Worker, "gpu", 2, 2.0, 1.0),
            (What::OthersBusy, "0", 3, 5.0, 1.0),
            (What::OthersBusy, "1", 1, 4.0, 2.0),
            (What::Transfer, "data had been copied", 1, 4.0, 2.0),
            (What::Transfer, "data were there", 3, 5.0, 1.0),
            (What::Team, "alone", 3, 4.0, 2.0),
            (What::Team, "with idle workers", 1, 5.0, 1.0),
        ];
        assert_eq!(under, expected);
        assert_eq!(explained.largest().map(|(_, factor)| factor), Some(2.0));
    }

    #[test]
    fn tasks_that_begin_together_find_each_other_busy() {
        let text = format!("{HEAD}{}{}\n]\n", task(0, 0, 1.0, 3.0, false), task(1, 1, 1.0, 3.0, false));
        let trace = Trace::parse(&text).expect("it is a trace");
        assert_eq!(others_busy(trace.tasks()), [1, 1]);
    }
}
