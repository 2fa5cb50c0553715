//! [`Difference`]: the steps and arrays in which two listings differ.
//!
//! Steps are aligned by a longest common subsequence of what they do, whatever the numbers of their arrays are; in the gaps,
//! steps of one name are taken to be the same step, changed. Arrays are then the same if aligned steps use them at the same
//! place, or if they are the same argument or result. Lines of the source are not compared.

use std::collections::HashMap;
use std::fmt;

use serde::Serialize;

use super::text::hexadecimal;
use super::{Action, CodeletName, ListedArray, ListedStep, Listing, View, sequence};
use crate::graph::Origin;

/// In what two listings differ.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// The changes: those of the program and its arguments, of steps in their order, and of arrays.
    pub changes: Vec<Change>,
}

/// A change from one listing to another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "change")]
#[non_exhaustive]
pub enum Change {
    /// A step that only the second one has.
    Added {
        /// Its number there.
        step: usize,
        /// What it does.
        line: String,
    },
    /// A step that only the first one has.
    Removed {
        /// Its number there.
        step: usize,
        /// What it does.
        line: String,
    },
    /// A step that both have, with other fields.
    Changed {
        /// Its numbers in both.
        steps: (usize, usize),
        /// What it does, in the first one.
        line: String,
        /// The fields that differ.
        fields: Vec<Field>,
    },
    /// The program, or an array of it, with other fields.
    Declared {
        /// `program`, or the name of the array in the first one.
        what: String,
        /// The fields that differ.
        fields: Vec<Field>,
    },
}

/// A field that differs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Field {
    /// The field.
    pub field: String,
    /// Its value in the first listing.
    pub before: String,
    /// Its value in the second one.
    pub after: String,
}

/// What a step does, without the numbers of its arrays and its line: steps that are alike in it are the same.
#[derive(PartialEq, Eq, Hash)]
struct Key<'l> {
    codelet: Option<&'l CodeletName>,
    /// With codelet 0, whose number says nothing.
    action: Action,
    uses: Vec<(bool, bool, bool, Option<&'l View>)>,
}

/// Which arrays of two listings are the same.
#[derive(Default)]
struct Pairs {
    others: HashMap<usize, usize>,
    ones: HashMap<usize, usize>,
}

impl Listing {
    /// In what `other` differs from this listing, apart from lines of the source and the numbers of arrays.
    pub fn difference(&self, other: &Self) -> Difference {
        let keys = (self.keys(), other.keys());
        let mut numbers: HashMap<&Key<'_>, u32> = HashMap::new();
        let mut number = |key| {
            let next = numbers.len() as u32;
            *numbers.entry(key).or_insert(next)
        };
        let one: Vec<u32> = keys.0.iter().map(&mut number).collect();
        let two: Vec<u32> = keys.1.iter().map(&mut number).collect();
        let aligned = self.with_changed(other, &sequence::common(&one, &two));
        let mut arrays = Pairs::default();
        let mut changes = self.declared(other, &mut arrays);
        let mut next = (0, 0);
        for &(mine, its) in aligned.iter().chain([&(self.steps.len(), other.steps.len())]) {
            changes.extend(
                (next.0..mine).map(|step| Change::Removed { step, line: self.line(&self.steps[step]) }),
            );
            changes.extend(
                (next.1..its).map(|step| Change::Added { step, line: other.line(&other.steps[step]) }),
            );
            next = (mine + 1, its + 1);
            let (Some(step), Some(its_step)) = (self.steps.get(mine), other.steps.get(its)) else { continue };
            let fields = self.step_fields(other, step, its_step, &mut arrays);
            if !fields.is_empty() {
                changes.push(Change::Changed { steps: (mine, its), line: self.line(step), fields });
            }
        }
        let mut pairs: Vec<_> = arrays.others.into_iter().collect();
        pairs.sort_unstable();
        for (mine, its) in pairs {
            let fields = array_fields(&self.arrays[mine], &other.arrays[its]);
            if !fields.is_empty() {
                changes.push(Change::Declared { what: self.label(mine), fields });
            }
        }
        Difference { changes }
    }

    fn keys<'l>(&'l self) -> Vec<Key<'l>> {
        let key = |step: &'l ListedStep| {
            let ListedStep { action, uses, .. } = step;
            let mut action = action.clone();
            if let Action::Task(call) = &mut action {
                call.codelet = 0;
            }
            let uses =
                uses.iter().map(|used| (used.array.is_some(), used.reads, used.writes, used.view.as_ref()));
            Key { codelet: self.codelet(step), action, uses: uses.collect() }
        };
        self.steps.iter().map(key).collect()
    }

    /// Aligned steps, with those of one name between them.
    fn with_changed(&self, other: &Self, alike: &[(usize, usize)]) -> Vec<(usize, usize)> {
        let mut aligned = Vec::with_capacity(alike.len());
        let mut next = (0, 0);
        for &(mine, its) in alike.iter().chain([&(self.steps.len(), other.steps.len())]) {
            let names: Vec<_> = self.steps[next.0..mine].iter().map(|step| self.action(step)).collect();
            let other_names: Vec<_> =
                other.steps[next.1..its].iter().map(|step| other.action(step)).collect();
            let common = sequence::common(&names, &other_names);
            aligned.extend(common.into_iter().map(|(one, two)| (next.0 + one, next.1 + two)));
            if mine < self.steps.len() {
                aligned.push((mine, its));
            }
            next = (mine + 1, its + 1);
        }
        aligned
    }

    /// The changes of the name, the arguments and the results, which are the first pairs of arrays.
    fn declared(&self, other: &Self, pairs: &mut Pairs) -> Vec<Change> {
        let bound = |listing: &Self| -> HashMap<(bool, usize), usize> {
            let bound = listing.arrays.iter().enumerate().filter_map(|(number, array)| match array.origin {
                Origin::Argument(index) => Some(((false, index), number)),
                Origin::Output(index) => Some(((true, index), number)),
                Origin::Temporary | Origin::Part(_) => None,
            });
            bound.collect()
        };
        let (mine, its) = (bound(self), bound(other));
        let mut fields = Vec::new();
        compare(&mut fields, "name", &self.name, &other.name);
        let mut all: Vec<_> = mine.keys().chain(its.keys()).copied().collect();
        all.sort_unstable();
        all.dedup();
        for (is_output, index) in all {
            let shown = |listing: &Self, array: Option<&usize>| match array {
                Some(&array) => format!("{}: {}", listing.label(array), listing.arrays[array]),
                None => "none".to_owned(),
            };
            match (mine.get(&(is_output, index)), its.get(&(is_output, index))) {
                (Some(&one), Some(&two)) => _ = pairs.add(one, two),
                (one, two) => {
                    let what = if is_output { "result" } else { "argument" };
                    let (before, after) = (shown(self, one), shown(other, two));
                    fields.push(Field { field: format!("{what} {index}"), before, after });
                }
            }
        }
        let what = "program".to_owned();
        if fields.is_empty() { Vec::new() } else { vec![Change::Declared { what, fields }] }
    }

    /// The fields in which two aligned steps differ. Arrays that they use at the same place are the same, unless one of them
    /// is known to be another one.
    fn step_fields(&self, other: &Self, one: &ListedStep, two: &ListedStep, pairs: &mut Pairs) -> Vec<Field> {
        let mut fields = Vec::new();
        if let (Action::Task(mine), Action::Task(its)) = (&one.action, &two.action) {
            let (codelet, its_codelet) = (&self.codelets[mine.codelet], &other.codelets[its.codelet]);
            codelet_fields(&mut fields, codelet, its_codelet);
            compare(&mut fields, "form", &format!("{:?}", mine.form), &format!("{:?}", its.form));
            compare(&mut fields, "kernel", &shown(&mine.kernel), &shown(&its.kernel));
            compare(&mut fields, "arguments", &hexadecimal(&mine.arguments), &hexadecimal(&its.arguments));
            compare(
                &mut fields,
                "varying arguments",
                &format!("{:?}", mine.varies),
                &format!("{:?}", its.varies),
            );
            compare(&mut fields, "name", &shown(&mine.name), &shown(&its.name));
            compare(&mut fields, "priority", &mine.priority.to_string(), &its.priority.to_string());
            compare(&mut fields, "worker", &format!("{:?}", mine.worker), &format!("{:?}", its.worker));
        } else {
            compare(&mut fields, "action", &format!("{:?}", one.action), &format!("{:?}", two.action));
            for (body, its_body) in one.bodies.iter().zip(&two.bodies) {
                body_fields(&mut fields, body, its_body);
            }
        }
        compare(&mut fields, "operands", &one.uses.len().to_string(), &two.uses.len().to_string());
        for (index, (mine, its)) in one.uses.iter().zip(&two.uses).enumerate() {
            let label = |listing: &Self, array: Option<usize>| {
                array.map_or("scratch".to_owned(), |array| listing.label(array))
            };
            let is_same = match (mine.array, its.array) {
                (Some(array), Some(its_array)) => pairs.add(array, its_array),
                (mine, its) => mine == its,
            };
            if !is_same {
                let (before, after) = (label(self, mine.array), label(other, its.array));
                fields.push(Field { field: format!("operand {index}"), before, after });
            }
            let access = |reads: bool, writes: bool| match (reads, writes) {
                (true, true) => "reads and writes",
                (true, false) => "reads",
                (false, true) => "writes",
                (false, false) => "none",
            };
            let (before, after) = (access(mine.reads, mine.writes), access(its.reads, its.writes));
            compare(&mut fields, &format!("operand {index}, access"), before, after);
            let (Some(view), Some(its_view)) = (&mine.view, &its.view) else { continue };
            let mut compare = |name: &str, one: &str, two: &str| {
                compare(&mut fields, &format!("operand {index}, {name}"), one, two)
            };
            compare("mode", &view.mode, &its_view.mode);
            compare("extents", &format!("{:?}", view.extents), &format!("{:?}", its_view.extents));
            compare("strides", &format!("{:?}", view.strides), &format!("{:?}", its_view.strides));
            compare("offset", &view.offset.to_string(), &its_view.offset.to_string());
        }
        fields
    }
}

impl Pairs {
    /// Notes that two arrays are the same. Returns whether neither was known to be the same as another one.
    fn add(&mut self, one: usize, two: usize) -> bool {
        match (self.others.get(&one), self.ones.get(&two)) {
            (None, None) => {
                self.others.insert(one, two);
                self.ones.insert(two, one);
                true
            }
            (other, _) => other == Some(&two),
        }
    }
}

/// The changes of a body, as fields of its branch or loop.
fn body_fields(fields: &mut Vec<Field>, one: &Listing, two: &Listing) {
    let none = || "none".to_owned();
    for change in one.difference(two).changes {
        let (place, inside) = match change {
            Change::Added { step, line } => {
                let field = format!("{}, {step}", one.name);
                fields.push(Field { field, before: none(), after: line });
                continue;
            }
            Change::Removed { step, line } => {
                let field = format!("{}, {step}", one.name);
                fields.push(Field { field, before: line, after: none() });
                continue;
            }
            Change::Changed { steps: (step, _), line, fields } => (format!("{step} {line}"), fields),
            Change::Declared { what, fields } => (what, fields),
        };
        let inside = inside.into_iter();
        fields.extend(
            inside.map(|field| Field { field: format!("{}, {place}, {}", one.name, field.field), ..field }),
        );
    }
}

fn codelet_fields(fields: &mut Vec<Field>, one: &CodeletName, two: &CodeletName) {
    let path = |codelet: &CodeletName| format!("{}::{}", codelet.module, codelet.name);
    compare(fields, "codelet", &path(one), &path(two));
    let hash = |codelet: &CodeletName| format!("{:016x}", codelet.declaration);
    compare(fields, "declaration", &hash(one), &hash(two));
    let parameters = |codelet: &CodeletName| {
        let parameters = codelet.parameters.iter();
        let shown = parameters.map(|parameter| {
            let super::ListedParameter { name, mode, element } = parameter;
            format!("{name}: {mode} {element}")
        });
        shown.collect::<Vec<_>>().join(", ")
    };
    compare(fields, "parameters", &parameters(one), &parameters(two));
    compare(fields, "names of arguments", &one.arguments.join(", "), &two.arguments.join(", "));
}

fn array_fields(one: &ListedArray, two: &ListedArray) -> Vec<Field> {
    let mut fields = Vec::new();
    compare(&mut fields, "name", &shown(&one.name), &shown(&two.name));
    compare(&mut fields, "element", &one.element, &two.element);
    compare(&mut fields, "extents", &format!("{:?}", one.extents), &format!("{:?}", two.extents));
    compare(&mut fields, "bytes", &one.bytes.to_string(), &two.bytes.to_string());
    let origin = |array: &ListedArray| match array.origin {
        Origin::Part(_) => "a part".to_owned(),
        other => format!("{other:?}"),
    };
    compare(&mut fields, "origin", &origin(one), &origin(two));
    compare(&mut fields, "part", &format!("{:?}", one.part), &format!("{:?}", two.part));
    if one.initial != two.initial {
        let values = |initial: &Option<Vec<u8>>| match initial {
            Some(bytes) if bytes.len() <= 16 => hexadecimal(bytes),
            Some(bytes) => format!("{}.. ({} bytes)", hexadecimal(&bytes[..16]), bytes.len()),
            None => "zeros".to_owned(),
        };
        let (before, after) = (values(&one.initial), values(&two.initial));
        fields.push(Field { field: "values".to_owned(), before, after });
    }
    fields
}

fn compare(fields: &mut Vec<Field>, field: &str, before: &str, after: &str) {
    if before != after {
        fields.push(Field { field: field.to_owned(), before: before.to_owned(), after: after.to_owned() });
    }
}

fn shown(text: &Option<String>) -> String {
    text.clone().unwrap_or_else(|| "none".to_owned())
}

impl Difference {
    /// Whether the listings are the same.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }
}

/// A line for each change: `-`, `+` or `!`, the number of the step, and what it does; and a line for each field.
impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.changes.iter().try_for_each(|change| write!(f, "{change}"))
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fields = match self {
            Self::Removed { step, line } => return writeln!(f, "- {step}  {line}"),
            Self::Added { step, line } => return writeln!(f, "+ {step}  {line}"),
            Self::Changed { steps: (one, two), line, fields } => {
                let number = if one == two { one.to_string() } else { format!("{one} -> {two}") };
                writeln!(f, "! {number}  {line}")?;
                fields
            }
            Self::Declared { what, fields } => {
                writeln!(f, "! {what}")?;
                fields
            }
        };
        fields.iter().try_for_each(|field| writeln!(f, "      {field}"))
    }
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { field, before, after } = self;
        write!(f, "{field}: {before} -> {after}")
    }
}
