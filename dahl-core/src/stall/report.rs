//! The text of a stall report.

use std::fmt::{self, Display, Formatter};

use super::snapshot::{Activity, Awaited, Snapshot, State, Unfinished};

/// The most tasks of each kind that are listed; of others only the number is reported.
const LISTED: usize = 20;
/// The most predecessors of a task that are listed.
const LISTED_BEFORE: usize = 4;

impl Display for Snapshot {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let (submitted, completed) = (self.submitted, self.completed);
        let rank = self.rank.map(|(rank, ranks)| format!("rank {rank} of {ranks} ")).unwrap_or_default();
        writeln!(
            f,
            "dahl: {rank}stalled: no task has been completed for some time ({completed} of {submitted} are)"
        )?;
        self.list(f, State::Running, "running")?;
        let lost = format!("ready, and not taken from the scheduler `{}` by any worker", self.scheduler);
        self.list(f, State::Ready, &lost)?;
        self.list(f, State::Waiting, "waiting for other tasks")?;
        if !self.messages.is_empty() {
            writeln!(f, "  {} awaited from other ranks:", self.messages.len())?;
        }
        for message in self.messages.iter().take(LISTED) {
            writeln!(f, "    {message}")?;
        }
        if self.messages.len() > LISTED {
            writeln!(f, "    and {} more", self.messages.len() - LISTED)?;
        }
        for (worker, activity) in self.workers.iter().enumerate() {
            let is_host = worker + 1 == self.workers.len();
            match activity {
                Activity::Runs { sequence, since_ns } => {
                    let name = if is_host { "the host" } else { &self.names[worker] };
                    let ms = self.now_ns.saturating_sub(*since_ns) / 1_000_000;
                    writeln!(f, "  {name}: runs {} for {ms} ms", self.name_of(*sequence))?;
                }
                Activity::Looks if !is_host => writeln!(f, "  {}: looks for work", self.names[worker])?,
                Activity::Sleeps if !is_host => writeln!(f, "  {}: sleeps", self.names[worker])?,
                Activity::Looks | Activity::Sleeps => {}
            }
        }
        writeln!(f, "  main memory: {} bytes reserved", self.reserved_bytes)
    }
}

impl Snapshot {
    fn list(&self, f: &mut Formatter<'_>, state: State, heading: &str) -> fmt::Result {
        let tasks = || self.tasks.iter().filter(|task| task.state == state);
        let count = tasks().count();
        if count == 0 {
            return Ok(());
        }
        writeln!(f, "  {count} {heading}:")?;
        for task in tasks().take(LISTED) {
            writeln!(f, "    {task}")?;
            self.list_before(f, task)?;
        }
        if count > LISTED { writeln!(f, "    and {} more", count - LISTED) } else { Ok(()) }
    }

    /// Lists the predecessors of a waiting task.
    fn list_before(&self, f: &mut Formatter<'_>, task: &Unfinished) -> fmt::Result {
        if task.state != State::Waiting {
            return Ok(());
        }
        let before: Vec<_> = self.tasks.iter().filter(|other| other.stands_before(task)).collect();
        for other in before.iter().take(LISTED_BEFORE) {
            writeln!(f, "      after {}", other.what)?;
        }
        if before.len() > LISTED_BEFORE {
            writeln!(f, "      after {} more", before.len() - LISTED_BEFORE)?;
        }
        Ok(())
    }

    fn name_of(&self, sequence: u64) -> String {
        let task = self.tasks.iter().find(|task| task.sequence == Some(sequence));
        task.map_or_else(|| format!("task #{sequence}"), |task| task.what.clone())
    }
}

impl Display for Unfinished {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.what)?;
        for (i, access) in self.accesses.iter().enumerate() {
            write!(f, "{}{access}", if i == 0 { "; " } else { ", " })?;
        }
        Ok(())
    }
}

impl Display for Awaited {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{} of array {}", self.mode.name(), self.array)?;
        if let Some(whole) = self.whole {
            write!(f, " (a part of {whole})")?;
        }
        if !self.is_ready { write!(f, " not ready") } else { Ok(()) }
    }
}
