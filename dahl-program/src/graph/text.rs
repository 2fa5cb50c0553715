//! Graphs as text.

use std::fmt;

use super::{Array, Graph, Origin};

impl Graph {
    /// The name of an array in texts: an argument's own, `%3` for another.
    pub(crate) fn label(&self, array: usize) -> String {
        match &self.arrays[array].name {
            Some(name) => name.clone(),
            None => format!("%{array}"),
        }
    }
}

/// Element type and shape: `f32[2, 3]`.
impl fmt::Display for Array {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{:?}", self.element.name, self.extents)
    }
}

impl fmt::Display for Graph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let of = |is: fn(&Origin) -> bool| {
            self.arrays.iter().enumerate().filter(move |(_, array)| is(&array.origin))
        };
        let written: Vec<bool> = (0..self.arrays.len())
            .map(|array| {
                self.tasks.iter().any(|task| task.writes().any(|written| self.root(written) == array))
            })
            .collect();
        write!(f, "{}(", self.name)?;
        for (index, (number, array)) in of(|origin| matches!(origin, Origin::Argument(_))).enumerate() {
            let separator = if index > 0 { ", " } else { "" };
            let mutable = if written[number] { "&mut " } else { "" };
            write!(f, "{separator}{}: {mutable}{array}", self.label(number))?;
        }
        f.write_str(")")?;
        let mut outputs: Vec<_> = of(|origin| matches!(origin, Origin::Output(_))).collect();
        outputs.sort_by_key(|(_, array)| match array.origin {
            Origin::Output(index) => index,
            _ => 0,
        });
        for (index, (number, array)) in outputs.iter().enumerate() {
            let separator = if index > 0 { ", " } else { " -> " };
            write!(f, "{separator}{}: {array}", self.label(*number))?;
        }
        let lines: Vec<_> = self.tasks.iter().map(|task| self.line(task)).collect();
        let width = lines.iter().map(String::len).max().unwrap_or(0).min(72);
        for (line, task) in lines.iter().zip(&self.tasks) {
            write!(f, "\n    {line:width$}  {}", task.location)?;
        }
        Ok(())
    }
}

impl Graph {
    /// `%4 = relu(%3)`; an array that is changed is marked: `add_self(&mut total, a)`.
    pub(crate) fn line(&self, task: &super::Task) -> String {
        let made: Vec<_> = task.uses.iter().filter(|access| access.writes && !access.reads).collect();
        let targets = made.iter().filter_map(|access| access.array);
        let targets: Vec<_> =
            targets.map(|array| format!("{}: {}", self.label(array), self.arrays[array])).collect();
        let operands = task.uses.iter().filter(|access| access.reads || !access.writes).map(|access| {
            match access.array {
                Some(array) if access.writes => format!("&mut {}", self.label(array)),
                Some(array) => self.label(array),
                None => "scratch".to_owned(),
            }
        });
        let call = format!("{}({})", self.action(task), operands.collect::<Vec<_>>().join(", "));
        if targets.is_empty() { call } else { format!("{} = {call}", targets.join(", ")) }
    }

    fn action(&self, task: &super::Task) -> String {
        match task.desc() {
            Some(desc) if desc.is_combination() => format!("{}: combine", task.codelet()),
            Some(desc) if desc.is_in_place() => format!("{}_self", task.codelet()),
            _ => task.codelet().to_owned(),
        }
    }
}
