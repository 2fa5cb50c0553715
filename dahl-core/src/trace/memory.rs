//! [`Reserved`]: the reserved bytes of each memory node, over time.

use dahl_trace::format::{Counter, Level, Line, Memory};

use super::lines::{microseconds, node_pid};

/// The reserved bytes of each memory node.
#[derive(Debug, Default)]
pub(super) struct Reserved {
    bytes: Vec<i64>,
    /// Changes that are not written yet: time, node, bytes.
    changes: Vec<(u64, usize, i64)>,
    /// The time of the last written change.
    last_ns: u64,
}

impl Reserved {
    pub(super) fn new(nodes: usize) -> Self {
        Self { bytes: vec![0; nodes], ..Self::default() }
    }

    pub(super) fn change(&mut self, at_ns: u64, node: usize, bytes: i64) {
        self.changes.push((at_ns, node, bytes));
    }

    /// The lines of the changes since the last call; of several at a node at one time, the last.
    pub(super) fn take_lines(&mut self) -> Vec<Line> {
        self.changes.sort_by_key(|&(at_ns, node, _)| (at_ns, node));
        let mut lines = Vec::new();
        let mut changes = self.changes.drain(..).peekable();
        while let Some((at_ns, node, bytes)) = changes.next() {
            self.bytes[node] += bytes;
            // A thread that reports late does not change lines about earlier times.
            self.last_ns = self.last_ns.max(at_ns);
            if changes.peek().is_some_and(|next| (next.0, next.1) == (at_ns, node)) {
                continue;
            }
            lines.push(Line::Counter(Counter {
                name: "memory".to_owned(),
                ts: microseconds(self.last_ns),
                dur: None,
                pid: node_pid(node),
                args: Level::Memory(Memory { bytes: self.bytes[node].max(0).unsigned_abs() }),
            }));
        }
        lines
    }
}
