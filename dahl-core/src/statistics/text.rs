//! [`Statistics`] as text: a table for each part.

use std::fmt;

use super::figures::{CodeletStatistics, KernelStatistics, Statistics, TaskCounts, WorkerStatistics};
use super::quantity::{amount, bytes, duration, energy, share};

/// Stands for a missing figure.
pub(super) const NOTHING: &str = "-";

/// Rows under a heading. The first column is left-aligned, the others are right-aligned.
pub(super) struct Table {
    columns: Vec<&'static str>,
    rows: Vec<Vec<String>>,
}

impl Table {
    pub(super) fn new(columns: impl IntoIterator<Item = &'static str>) -> Self {
        Self { columns: columns.into_iter().collect(), rows: Vec::new() }
    }

    pub(super) fn add(&mut self, row: impl IntoIterator<Item = String>) {
        self.rows.push(row.into_iter().collect());
    }

    /// Whether the column is left out if it is empty.
    fn is_optional(&self, column: usize) -> bool {
        ["failed", "cancelled", "together", "first calls", "limit"].contains(&self.columns[column])
    }

    fn is_empty(&self, column: usize) -> bool {
        self.rows.iter().all(|row| row[column] == NOTHING)
    }

    fn width(&self, column: usize) -> usize {
        let cells = self.rows.iter().map(|row| row[column].chars().count());
        cells.chain([self.columns[column].len()]).max().unwrap_or(0)
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let widths: Vec<_> = (0..self.columns.len()).map(|column| self.width(column)).collect();
        let heading = self.columns.iter().map(|&name| name.to_owned()).collect();
        let is_shown = |column: usize| !self.is_optional(column) || !self.is_empty(column);
        for row in std::iter::once(&heading).chain(&self.rows) {
            write!(f, "  {:<width$}", row[0], width = widths[0])?;
            let cells = row.iter().zip(&widths).enumerate().skip(1);
            for (_, (cell, &width)) in cells.filter(|&(column, _)| is_shown(column)) {
                write!(f, "  {cell:>width$}")?;
            }
            writeln!(f)?;
        }
        Ok(())
    }
}

fn optional(value: Option<String>) -> String {
    value.unwrap_or_else(|| NOTHING.to_owned())
}

/// A number of tasks, empty if it is 0, as it usually is.
fn if_any(count: u64) -> String {
    optional((count > 0).then(|| count.to_string()))
}

impl fmt::Display for Statistics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "statistics of {}, built at {}", self.name, self.built_at)?;
        let time = if self.is_virtual { "virtual time" } else { "time" };
        write!(f, "  {time} {}, scheduler {}, {}", duration(self.time_us), self.scheduler, self.tasks)?;
        if let Some(joules) = self.energy.run.value() {
            write!(f, "; {} {}", energy(joules), self.energy.run.source())?;
        }
        writeln!(f, "\n\n{}", self.worker_table())?;
        match self.codelets.is_empty() {
            true => writeln!(f, "  no task has run\n")?,
            false => writeln!(f, "{}", self.codelet_table())?,
        }
        if !self.graphs.is_empty() {
            writeln!(f, "{}", self.graph_table())?;
        }
        if !self.transfers.is_empty() {
            writeln!(f, "{}", self.transfer_table())?;
        }
        write!(f, "{}", self.memory_table())?;
        if !self.arenas.is_empty() {
            write!(f, "\n{}", self.arena_table())?;
        }
        // A simulated worker has its energy in the table of workers.
        if !self.is_virtual {
            self.energy.write(f, self.time_us)?;
        }
        Ok(())
    }
}

impl fmt::Display for TaskCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { submitted, completed, failed, cancelled, unfinished } = self;
        let tasks = if *submitted == 1 { "task" } else { "tasks" };
        write!(f, "{submitted} {tasks}: {completed} completed, {failed} failed, {cancelled} cancelled")?;
        if *unfinished > 0 {
            write!(f, ", {unfinished} not ended")?;
        }
        Ok(())
    }
}

impl Statistics {
    fn worker_table(&self) -> Table {
        let has_waits = self.workers.iter().any(|worker| worker.waiting_us.is_some());
        let has_energy = self.workers.iter().any(|worker| worker.energy_joules.is_some());
        let waits = ["waiting", "helping", "overhead"].into_iter().filter(|_| has_waits);
        let of_energy = ["energy"].into_iter().filter(|_| has_energy);
        let columns = ["worker", "tasks", "failed", "cancelled", "busy", "share", "idle"].into_iter();
        let mut table = Table::new(columns.chain(waits).chain(["first calls"]).chain(of_energy));
        for worker in &self.workers {
            let waits = worker.waits().into_iter().filter(|_| has_waits);
            let joules = worker.energy_joules.map(energy);
            let joules = std::iter::once(optional(joules)).filter(|_| has_energy);
            table.add(worker.cells().into_iter().chain(waits).chain([worker.first_cell()]).chain(joules));
        }
        if let Some(host) = &self.host {
            let cells = ["the host".to_owned(), host.tasks.to_string(), if_any(host.failed)];
            let cells = cells.into_iter().chain([if_any(host.cancelled), duration(host.busy_us)]);
            let missing = table.columns.len() - 5;
            table.add(cells.chain(std::iter::repeat_n(NOTHING.to_owned(), missing)));
        }
        table
    }

    fn codelet_table(&self) -> Table {
        let columns = ["codelet", "tasks", "failed", "cancelled", "together", "total", "of busy"];
        let of_kernels = ["shapes", "mean", "median", "min", "max", "first calls"];
        let mut table = Table::new(columns.into_iter().chain(of_kernels));
        for codelet in &self.codelets {
            let nothing = || [NOTHING; 6].map(str::to_owned);
            match &codelet.kernels[..] {
                [only] if only.kernel != "fold" && only.kernel != "finish" => {
                    let place = format!(", {} on {}", only.kernel, only.worker_kind);
                    table.add(codelet.cells(&place).into_iter().chain(only.cells()));
                }
                kernels => {
                    table.add(codelet.cells("").into_iter().chain(nothing()));
                    for kernel in kernels {
                        let name = format!("  {} on {}", kernel.kernel, kernel.worker_kind);
                        let count = kernel.count.to_string();
                        let total = duration(kernel.total_us);
                        let cells = [&name, &count, NOTHING, NOTHING, NOTHING, &total, NOTHING];
                        let cells = cells.map(str::to_owned);
                        table.add(cells.into_iter().chain(kernel.cells()));
                    }
                }
            }
        }
        table
    }

    fn graph_table(&self) -> Table {
        let mut table = Table::new(["graphs", "made", "refused", "kept", "launches", "kernels", "updated"]);
        for graphs in &self.graphs {
            let counts = [graphs.instantiated, graphs.refused, graphs.kept, graphs.launches, graphs.kernels];
            let counts = counts.into_iter().chain([graphs.updated]).map(|count| count.to_string());
            table.add([graphs.device.clone()].into_iter().chain(counts));
        }
        table
    }

    fn transfer_table(&self) -> Table {
        let mut table = Table::new(["transfers", "count", "bytes", "time", "bandwidth"]);
        for transfer in &self.transfers {
            table.add([
                format!("{} to {}", transfer.from_name, transfer.to_name),
                transfer.count.to_string(),
                bytes(transfer.bytes),
                duration(transfer.time_us),
                amount(transfer.gbytes_per_s, "GB/s"),
            ]);
        }
        table
    }

    fn memory_table(&self) -> Table {
        let mut table = Table::new(["memory", "arrays", "reserved", "peak", "limit"]);
        for node in &self.memory {
            table.add([
                node.name.clone(),
                bytes(node.current_bytes as u64),
                bytes(node.reserved_bytes as u64),
                bytes(node.peak_bytes as u64),
                optional(node.limit_bytes.map(|limit_bytes| bytes(limit_bytes as u64))),
            ]);
        }
        table
    }

    fn arena_table(&self) -> Table {
        let mut table = Table::new(["arenas made at", "count", "arrays", "reserved", "peak of one"]);
        for arena in &self.arenas {
            table.add([
                arena.made_at.clone(),
                arena.count.to_string(),
                bytes(arena.current_bytes as u64),
                bytes(arena.reserved_bytes as u64),
                bytes(arena.peak_bytes as u64),
            ]);
        }
        table
    }
}

impl WorkerStatistics {
    fn cells(&self) -> [String; 7] {
        let processor = self.processor.map(|processor| format!(" (processor {processor})"));
        [
            format!("{}{}", self.name, processor.unwrap_or_default()),
            self.tasks.to_string(),
            if_any(self.failed),
            if_any(self.cancelled),
            duration(self.busy_us),
            share(self.busy_share),
            duration(self.idle_us),
        ]
    }

    fn waits(&self) -> [String; 3] {
        [self.waiting_us, self.helping_us, self.overhead_us].map(|us| optional(us.map(duration)))
    }

    fn first_cell(&self) -> String {
        optional((self.first_calls > 0).then(|| duration(self.first_calls_us)))
    }
}

impl CodeletStatistics {
    /// The name is followed by `place`.
    fn cells(&self, place: &str) -> [String; 7] {
        let mut elements = self.elements.clone();
        elements.sort_unstable();
        elements.dedup();
        [
            format!("{} ({}){place}", self.codelet, elements.join(", ")),
            self.count.to_string(),
            if_any(self.failed),
            if_any(self.cancelled),
            if_any(self.together),
            duration(self.total_us),
            share(self.busy_share),
        ]
    }
}

impl KernelStatistics {
    fn cells(&self) -> [String; 6] {
        [
            self.footprints.to_string(),
            duration(self.mean_us),
            optional(self.median_us.map(duration)),
            duration(self.min_us),
            duration(self.max_us),
            optional(self.first_us.map(duration)),
        ]
    }
}
