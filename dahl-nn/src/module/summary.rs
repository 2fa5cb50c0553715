//! The table of a model's modules.

use std::fmt::Write as _;

use dahl::prelude::*;

use super::{Member, Module, Visit};

/// A line for each module, and one for each parameter or buffer: name, kind, shape, elements.
pub(super) fn summary<T: Real, M: Module<T> + ?Sized>(module: &M) -> String {
    let mut text = String::new();
    let (mut count, mut frozen) = (0, 0);
    line(&mut text, "name", "kind", "shape", "elements");
    Visit::all(module, &mut |name, member| {
        let last = name.last().map(ToString::to_string).unwrap_or_default();
        let indented = format!("{:1$}{last}", "", 2 * name.depth().saturating_sub(1));
        match member {
            Member::Module { kind, detail } => {
                let detail = detail.to_string();
                let kind = if detail.is_empty() { kind.to_owned() } else { format!("{kind} ({detail})") };
                line(&mut text, &indented, &kind, "", "");
            }
            Member::Parameter(parameter) => {
                count += parameter.len();
                frozen += if parameter.frozen { parameter.len() } else { 0 };
                let kind = if parameter.frozen { "parameter, frozen" } else { "parameter" };
                line(
                    &mut text,
                    &indented,
                    kind,
                    &format!("{:?}", parameter.shape),
                    &parameter.len().to_string(),
                );
            }
            Member::Buffer(buffer) => {
                let elements = buffer.shape().iter().product::<usize>().to_string();
                line(&mut text, &indented, "buffer", &format!("{:?}", buffer.shape()), &elements);
            }
        }
    });
    let kind = format!("{} parameters, {frozen} frozen", T::NAME);
    line(&mut text, "total", &kind, "", &count.to_string());
    text
}

fn line(text: &mut String, name: &str, kind: &str, shape: &str, elements: &str) {
    let line = format!("{name:<32} {kind:<36} {shape:<20} {elements:>12}");
    let _ = writeln!(text, "{}", line.trim_end());
}
