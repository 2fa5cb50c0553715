//! [`Circumstances`]: what was so when each call of a codelet began, by a trace of one run, and how long it then took.
//!
//! Calls are compared with *like* calls: of the same kernel, element types, footprint and kind of worker. So that all can
//! be compared at once, each counts as how many times the median of its like it took.

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

/// What was so when calls began, in one run.
#[derive(Serialize)]
pub(super) struct Circumstances {
    file: PathBuf,
    codelets: Vec<String>,
    calls: usize,
    /// Groups of like calls.
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
    /// The median of how many times the median of like calls each took.
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

/// A call, its time against that of its like, and what was so when it began.
struct Call {
    us: f64,
    of_like: f64,
    /// In the order of [`What`]; numbers are padded, so that they sort.
    values: Vec<(What, String)>,
}

type Like<'t> = (&'t str, Option<&'t str>, &'t [String], &'t [Vec<usize>], &'t str);

impl Circumstances {
    /// Those of the codelet of this name, with or without its modules, in the trace in `file`.
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

    /// What has several values, and what has one.
    fn is_compared(&self, what: What) -> bool {
        self.circumstances.iter().filter(|one| one.what == what).count() > 1
    }

    /// The circumstance in whose values like calls differ most, and by how much.
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

/// For each task, how many other workers ran one when it began.
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

/// The tasks that are the first to use, in a memory node, an array that was copied there.
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

/// Of like calls, the first on each worker.
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

/// The lower median of what is not empty.
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
