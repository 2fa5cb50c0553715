//! The task graph, for Graphviz.
//!
//! Tasks of a codelet stand together in the file and have its colour; what is on the critical path has a thick frame.

use crate::Trace;
use crate::palette::Codelets;
use crate::summary::text::time;
use std::collections::HashSet;
use std::io::{self, BufWriter, Write};

pub(super) fn write(trace: &Trace, out: impl Write) -> io::Result<()> {
    let mut out = BufWriter::new(out);
    let codelets = Codelets::of(trace);
    let path = trace.critical_path().tasks;
    let critical: HashSet<usize> = path.iter().copied().collect();
    writeln!(out, "digraph {} {{", quoted(&trace.about().program))?;
    writeln!(out, "  rankdir=TB")?;
    writeln!(out, "  node [shape=box style=\"filled,rounded\" fontname=\"sans-serif\" color=\"#40404080\"]")?;
    writeln!(out, "  edge [color=\"#808080\"]")?;
    for (place, codelet) in codelets.names.iter().enumerate() {
        writeln!(out, "  subgraph {} {{", quoted(&codelet.path))?;
        writeln!(out, "    node [fillcolor=\"{0}60\"]", codelet.color)?;
        for index in (0..trace.tasks().len()).filter(|&index| codelets.of[index] == place) {
            node(trace, index, critical.contains(&index), &mut out)?;
        }
        writeln!(out, "  }}")?;
    }
    let on_path: HashSet<(usize, usize)> = path.windows(2).map(|pair| (pair[0], pair[1])).collect();
    for (index, task) in trace.tasks().iter().enumerate() {
        for &before in trace.graph().predecessors(index) {
            let bold =
                if on_path.contains(&(before as usize, index)) { " [color=black penwidth=3]" } else { "" };
            writeln!(out, "  t{} -> t{}{bold}", trace.tasks()[before as usize].number, task.number)?;
        }
    }
    writeln!(out, "}}")?;
    out.flush()
}

fn node(trace: &Trace, index: usize, is_critical: bool, out: &mut impl Write) -> io::Result<()> {
    let task = &trace.tasks()[index];
    let name = task.name.as_deref().map(|name| format!("\n{name}")).unwrap_or_default();
    let label = format!("{} #{}{name}", task.codelet, task.number);
    let took = time(task.duration_ns as f64 / 1000.0);
    let tooltip = format!("{took} on {}, submitted at {}", trace.workers()[task.worker].name, task.at);
    let frame = if is_critical { " color=black penwidth=3" } else { "" };
    writeln!(out, "    t{} [label={} tooltip={}{frame}]", task.number, quoted(&label), quoted(&tooltip))
}

/// Text as DOT has it, so that no part of it is read as an escape. Control characters, which neither DOT nor the SVG that
/// is made of it may have, become the pictures that Unicode has of them.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for letter in text.chars() {
        match letter {
            '\\' => quoted.push_str("\\\\"),
            '"' => quoted.push_str("\\\""),
            '\n' => quoted.push_str("\\n"),
            '\0'..='\x1f' => quoted.push(char::from_u32(0x2400 + letter as u32).expect("a picture of it")),
            letter if letter.is_control() => quoted.push('\u{fffd}'),
            letter => quoted.push(letter),
        }
    }
    quoted.push('"');
    quoted
}
