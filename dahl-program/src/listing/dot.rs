//! Listings as DOT.

use std::fmt::Write as _;

use super::Listing;

impl Listing {
    /// The graph for Graphviz: a box for each task, with its arrays, and an arrow to each task that waits for it.
    pub fn dot(&self) -> String {
        let name = quoted(&self.name);
        let mut text = format!("digraph \"{name}\" {{\n    node [shape=box, fontname=monospace];\n");
        self.write_steps(&mut text, "t", "    ");
        text.push_str("}\n");
        text
    }

    /// The steps and arrows, whose names begin with `prefix`. A body is a box around its steps, after that of its branch or loop.
    fn write_steps(&self, text: &mut String, prefix: &str, indent: &str) {
        for (number, step) in self.steps.iter().enumerate() {
            let (line, source) = (quoted(&self.line(step)), quoted(&step.source));
            let _ = writeln!(text, "{indent}{prefix}{number} [label=\"{line}\", tooltip=\"{source}\"];");
            for body in &step.bodies {
                let inside = format!("{prefix}{number}_{}_", body.name);
                let label = quoted(&body.signature());
                let _ =
                    writeln!(text, "{indent}subgraph cluster_{inside} {{\n{indent}    label=\"{label}\";");
                body.write_steps(text, &inside, &format!("{indent}    "));
                let _ = writeln!(text, "{indent}}}");
                if !body.steps.is_empty() {
                    let _ = writeln!(text, "{indent}{prefix}{number} -> {inside}0 [style=dashed];");
                }
            }
        }
        for (earlier, later) in self.edges() {
            let _ = writeln!(text, "{indent}{prefix}{earlier} -> {prefix}{later};");
        }
    }
}

/// Text inside of quotes in DOT. Neither DOT nor the SVG that is made of it may have control characters.
fn quoted(text: &str) -> String {
    let text = text.replace('\\', "\\\\").replace('"', "\\\"");
    text.replace(char::is_control, "\u{fffd}")
}
