//! A trace file, read line by line.

use std::fs;
use std::path::{Path, PathBuf};

use dahl_trace::format::{About, Arrow, End, Fact, Idle, Level, Line, Memory, Slice, Task, Transfer, What};
use tempfile::TempDir;

/// A folder in which a run writes its trace.
pub(crate) struct Folder(TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        Self(TempDir::new().expect("a folder for a test"))
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.0.path().join("run.json")
    }

    pub(crate) fn named(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn read(&self) -> File {
        File::read(&self.path())
    }
}

/// The content of a trace file.
pub(crate) struct File {
    pub(crate) lines: Vec<Line>,
    /// Whether the file ends with its last line and the bracket.
    pub(crate) is_whole: bool,
}

impl File {
    /// Reads a file, and checks it against the format.
    pub(crate) fn read(path: &Path) -> Self {
        let text = fs::read_to_string(path).expect("the trace is there");
        Self::parse(&text)
    }

    pub(crate) fn parse(text: &str) -> Self {
        let is_whole = text.ends_with("\n]\n");
        let body = text.strip_prefix("[\n").expect("an array begins");
        let body = body.strip_suffix("]\n").unwrap_or(body);
        assert!(body.ends_with('\n'), "the last line is whole");
        let count = body.lines().count();
        let line = |(place, text): (usize, &str)| {
            let comma = text.strip_suffix(',');
            assert_eq!(
                comma.is_none(),
                is_whole && place + 1 == count,
                "a comma after each but the last: {text}"
            );
            let text = comma.unwrap_or(text);
            let line: Line = serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"));
            assert_eq!(serde_json::to_string(&line).expect("plain data"), text, "nothing is lost or added");
            line
        };
        let lines = body.lines().enumerate().map(line).collect();
        if is_whole {
            serde_json::from_str::<serde_json::Value>(text).expect("the whole is JSON");
        }
        let file = Self { lines, is_whole };
        file.assert_read_alike(text);
        file
    }

    /// Checks that the reader for reports finds the same content.
    fn assert_read_alike(&self, text: &str) {
        let trace = dahl_trace::Trace::parse(text).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(trace.cut().is_none(), self.is_whole);
        let seen = (trace.tasks().len(), trace.idle().len(), trace.transfers().len(), trace.memory().len());
        let there = (self.tasks().len(), self.idle().len(), self.transfers().len(), self.memory().len());
        assert_eq!(seen, there, "tasks, idle slices, transfers, counters");
        for (seen, (task, slice)) in trace.tasks().iter().zip(self.tasks()) {
            assert_eq!(
                (seen.number, seen.start_ns, seen.end_ns()),
                (task.task, ns(slice.ts), ns(slice.ts) + ns(slice.dur))
            );
            assert_eq!(seen.after[..], task.after[..]);
        }
    }

    fn facts(&self) -> impl Iterator<Item = (u32, u32, &Fact)> {
        self.lines.iter().filter_map(|line| match line {
            Line::Metadata(metadata) => Some((metadata.pid, metadata.tid, &metadata.fact)),
            _ => None,
        })
    }

    pub(crate) fn about(&self) -> &About {
        match &self.lines[0] {
            Line::Metadata(metadata) => match &metadata.fact {
                Fact::Dahl(about) => about,
                other => panic!("the first line is {other:?}"),
            },
            other => panic!("the first line is {other:?}"),
        }
    }

    pub(crate) fn end(&self) -> Option<&End> {
        match self.facts().last()?.2 {
            Fact::End(end) => Some(end),
            _ => None,
        }
    }

    /// The names of nodes, workers and links: pid, tid, name.
    pub(crate) fn names(&self) -> Vec<(u32, u32, &str)> {
        self.facts()
            .filter_map(|(pid, tid, fact)| match fact {
                Fact::ProcessName(named) | Fact::ThreadName(named) => Some((pid, tid, named.name.as_str())),
                _ => None,
            })
            .collect()
    }

    /// The workers: pid, tid, number, kind.
    pub(crate) fn workers(&self) -> Vec<(u32, u32, Option<u32>, &str)> {
        self.facts()
            .filter_map(|(pid, tid, fact)| match fact {
                Fact::Worker(worker) => {
                    assert_eq!(worker.node + 1, pid);
                    Some((pid, tid, worker.worker, worker.kind.as_str()))
                }
                _ => None,
            })
            .collect()
    }

    pub(crate) fn slices(&self) -> impl Iterator<Item = &Slice> {
        self.lines.iter().filter_map(|line| match line {
            Line::Slice(slice) => Some(slice),
            _ => None,
        })
    }

    /// The tasks in the order of submission, each with its slice.
    pub(crate) fn tasks(&self) -> Vec<(&Task, &Slice)> {
        let mut tasks: Vec<(&Task, &Slice)> = self
            .slices()
            .filter_map(|slice| match &slice.what {
                What::Task(task) => Some((task.as_ref(), slice)),
                _ => None,
            })
            .collect();
        tasks.sort_by_key(|(task, _)| task.task);
        tasks
    }

    pub(crate) fn idle(&self) -> Vec<(Idle, &Slice)> {
        self.slices()
            .filter_map(|slice| match slice.what {
                What::Idle(idle) => Some((idle, slice)),
                _ => None,
            })
            .collect()
    }

    pub(crate) fn transfers(&self) -> Vec<(Transfer, &Slice)> {
        self.slices()
            .filter_map(|slice| match slice.what {
                What::Transfer(transfer) => Some((transfer, slice)),
                _ => None,
            })
            .collect()
    }

    /// Counters: time, node, bytes.
    pub(crate) fn memory(&self) -> Vec<(f64, u32, u64)> {
        self.lines
            .iter()
            .filter_map(|line| match line {
                Line::Counter(counter) => match counter.args {
                    Level::Memory(Memory { bytes }) => {
                        assert_eq!(counter.name, "memory");
                        Some((counter.ts, counter.pid, bytes))
                    }
                    Level::Power(_) => None, // of a machine that has a meter
                },
                _ => None,
            })
            .collect()
    }

    /// The tails of arrows, and their heads.
    pub(crate) fn arrows(&self) -> (Vec<&Arrow>, Vec<&Arrow>) {
        let (mut tails, mut heads) = (Vec::new(), Vec::new());
        for line in &self.lines {
            match line {
                Line::ArrowFrom(arrow) => tails.push(arrow),
                Line::ArrowTo(arrow) => heads.push(arrow),
                _ => {}
            }
        }
        (tails, heads)
    }
}

/// Nanoseconds, exactly: a time has at most three digits after the point.
pub(crate) fn ns(us: f64) -> u64 {
    let ns = (us * 1e3).round();
    assert_eq!(ns / 1e3, us, "to the nanosecond");
    ns as u64
}
