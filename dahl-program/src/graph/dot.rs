//! Graphs as DOT.

use std::fmt::Write as _;

use super::Graph;

impl Graph {
    /// The graph for Graphviz: a box for each task, with its arrays, and an arrow to each task that waits for it.
    pub fn dot(&self) -> String {
        let quoted = |text: &str| text.replace('\\', "\\\\").replace('"', "\\\"");
        let mut text =
            format!("digraph \"{}\" {{\n    node [shape=box, fontname=monospace];\n", quoted(self.name));
        for (step, task) in self.tasks.iter().enumerate() {
            let line = quoted(&self.line(task));
            let _ = writeln!(
                text,
                "    t{step} [label=\"{line}\", tooltip=\"{}\"];",
                quoted(&task.location.to_string())
            );
        }
        for (earlier, later) in self.edges() {
            let _ = writeln!(text, "    t{earlier} -> t{later};");
        }
        text.push_str("}\n");
        text
    }
}
