//! Listings and graphs as text.

use std::fmt::{self, Write as _};

use super::{Action, Form, ListedArray, ListedStep, Listing};
use crate::graph::{Array, Graph, Origin};

/// The name of an array in texts: an argument's own, `%3` for another.
pub(crate) fn label(name: Option<&str>, number: usize) -> String {
    name.map_or_else(|| format!("%{number}"), str::to_owned)
}

/// Two hexadecimal digits for each byte.
pub(super) fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// As its [listing](Graph::listing).
impl fmt::Display for Graph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.listing().fmt(f)
    }
}

/// Element type and shape: `f32[2, 3]`.
impl fmt::Display for Array {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{:?}", self.element.name, self.extents)
    }
}

/// Element type and shape: `f32[2, 3]`.
impl fmt::Display for ListedArray {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{:?}", self.element, self.extents)
    }
}

impl fmt::Display for Listing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.signature())?;
        let lines = self.lines();
        let width = lines.iter().map(|(line, _)| line.chars().count()).max().unwrap_or(0).min(72);
        lines.iter().try_for_each(|(line, source)| match source {
            Some(source) => write!(f, "\n    {line:width$}  {source}"),
            None => write!(f, "\n    {line}"),
        })
    }
}

impl Listing {
    /// The name of an array in texts: an argument's own, `%3` for another.
    pub(super) fn label(&self, array: usize) -> String {
        label(self.arrays[array].name.as_deref(), array)
    }

    /// The program as a declaration: `score(x: f32[4], total: &mut f32[4]) -> %7: f32[]`.
    pub fn signature(&self) -> String {
        let of = |is: fn(Origin) -> Option<usize>| {
            let arrays = self.arrays.iter().enumerate();
            let mut of: Vec<_> =
                arrays.filter_map(|(number, array)| Some((is(array.origin)?, number, array))).collect();
            of.sort_by_key(|(index, ..)| *index);
            of
        };
        let mut is_written = vec![false; self.arrays.len()];
        for access in self.steps.iter().flat_map(|step| &step.uses).filter(|access| access.writes) {
            if let Some(array) = access.array {
                is_written[self.root(array)] = true;
            }
        }
        let arguments = of(|origin| match origin {
            Origin::Argument(index) => Some(index),
            _ => None,
        });
        let arguments = arguments.into_iter().map(|(_, number, array)| {
            let mutable = if is_written[number] { "&mut " } else { "" };
            format!("{}: {mutable}{array}", self.label(number))
        });
        let outputs = of(|origin| match origin {
            Origin::Output(index) => Some(index),
            _ => None,
        });
        let outputs =
            outputs.into_iter().map(|(_, number, array)| format!("{}: {array}", self.label(number)));
        let outputs = outputs.collect::<Vec<_>>().join(", ");
        let arrow = if outputs.is_empty() { "" } else { " -> " };
        format!("{}({}){arrow}{outputs}", self.name, arguments.collect::<Vec<_>>().join(", "))
    }

    /// A line for each step, with the line of the source. The bodies of a branch or of a loop follow it, indented: each as a
    /// declaration, whose parameters are the arrays that the step uses, and lines.
    fn lines(&self) -> Vec<(String, Option<&str>)> {
        let mut lines = Vec::new();
        for step in &self.steps {
            lines.push((self.line(step), Some(&*step.source)));
            lines.extend(self.inside(step));
        }
        lines
    }

    /// The lines of a step's bodies.
    pub(super) fn inside<'l>(&self, step: &'l ListedStep) -> Vec<(String, Option<&'l str>)> {
        let mut lines = Vec::new();
        for body in &step.bodies {
            lines.push((format!("    {}", body.signature()), None));
            let inside = body.lines().into_iter();
            lines.extend(inside.map(|(line, source)| (format!("        {line}"), source)));
        }
        lines
    }

    /// `%4 = relu(%3)`; an array that is changed is marked: `add_self(&mut total, a)`.
    pub(super) fn line(&self, step: &ListedStep) -> String {
        let made = step.uses.iter().filter(|access| access.writes && !access.reads);
        let targets = made.filter_map(|access| access.array);
        let targets: Vec<_> =
            targets.map(|array| format!("{}: {}", self.label(array), self.arrays[array])).collect();
        let operands = step.uses.iter().filter(|access| access.reads || !access.writes).map(|access| {
            match access.array {
                Some(array) if access.writes => format!("&mut {}", self.label(array)),
                Some(array) => self.label(array),
                None => "scratch".to_owned(),
            }
        });
        let call = format!("{}({})", self.action(step), operands.collect::<Vec<_>>().join(", "));
        if targets.is_empty() { call } else { format!("{} = {call}", targets.join(", ")) }
    }

    /// What a step does, as a name.
    pub(super) fn action(&self, step: &ListedStep) -> String {
        let (codelet, form) = match &step.action {
            Action::Task(call) => (&self.codelets[call.codelet].name, call.form),
            Action::Split(_) => return "split".to_owned(),
            Action::Join(_) => return "join".to_owned(),
            Action::Forget => return "forget".to_owned(),
            Action::Branch => return "branch".to_owned(),
            Action::RepeatWhile => return "repeat_while".to_owned(),
        };
        match form {
            Form::Call => codelet.clone(),
            Form::InPlace => format!("{codelet}_self"),
            Form::Fold | Form::Finish => format!("{codelet}: combine"),
        }
    }
}
