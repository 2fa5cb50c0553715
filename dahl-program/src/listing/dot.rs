//! Listings as DOT.

use std::fmt::Write as _;

use super::Listing;

impl Listing {
    /// The graph for Graphviz: a box for each task, with its arrays, and an arrow to each task that waits for it.
    pub fn dot(&self) -> String {
        let name = quoted(&self.name);
        let mut text = format!("digraph \"{name}\" {{\n    node [shape=box, fontname=monospace];\n");
        for (number, step) in self.steps.iter().enumerate() {
            let (line, source) = (quoted(&self.line(step)), quoted(&step.source));
            let _ = writeln!(text, "    t{number} [label=\"{line}\", tooltip=\"{source}\"];");
        }
        for (earlier, later) in self.edges() {
            let _ = writeln!(text, "    t{earlier} -> t{later};");
        }
        text.push_str("}\n");
        text
    }
}

/// Text inside of quotes in DOT. Neither DOT nor the SVG that is made of it may have control characters.
fn quoted(text: &str) -> String {
    let text = text.replace('\\', "\\\\").replace('"', "\\\"");
    text.replace(char::is_control, "\u{fffd}")
}
