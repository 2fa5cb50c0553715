//! [`Table`]: a CSV file of buffers.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fmt::Display;
use std::path::Path;
use std::str::FromStr;

use csv::{ErrorKind, StringRecord};
use dahl_plan::memory::Buffer;
use serde::Serialize;

use crate::trouble::Trouble;

/// The columns. A column `offset` may be there too: that of a plan, which is not read.
const COLUMNS: [&str; 4] = ["id", "lower", "upper", "size"];

/// The buffers of a file.
pub(super) struct Table {
    ids: Vec<String>,
    /// The buffers, each with the number of its row as its id.
    pub(super) buffers: Vec<Buffer>,
}

/// A buffer with its offset.
#[derive(Serialize)]
pub(super) struct Row<'a> {
    id: &'a str,
    lower: i64,
    upper: i64,
    size: u64,
    offset: u64,
}

impl Table {
    /// Reads a file. An error names the line and what was expected.
    pub(super) fn read(path: &Path) -> Result<Self, Trouble> {
        let name = path.display();
        let at = |line: u64, fact: &dyn Display| Trouble::Input(format!("{name}:{line}: {fact}"));
        let unreadable = |error: csv::Error| match (error.position().map(csv::Position::line), error.kind()) {
            (Some(line), ErrorKind::UnequalLengths { expected_len, len, .. }) => {
                at(line, &format!("expected {expected_len} cells, as in the first line, and there are {len}"))
            }
            (Some(line), ErrorKind::Utf8 { .. }) => at(line, &"expected text in UTF-8"),
            (_, ErrorKind::Io(error)) => Trouble::Input(format!("{name}: {error}")),
            _ => Trouble::Input(format!("{name}: {error}")),
        };
        let mut reader =
            csv::ReaderBuilder::new().trim(csv::Trim::All).from_path(path).map_err(unreadable)?;
        let names = reader.headers().map_err(unreadable)?.clone();
        let places = columns(&names).map_err(|fact| at(1, &fact))?;
        let mut table = Self { ids: Vec::new(), buffers: Vec::new() };
        let mut lines: HashMap<String, u64> = HashMap::new();
        for record in reader.records() {
            let record = record.map_err(unreadable)?;
            let line = record.position().map_or(0, csv::Position::line);
            let [id, lower, upper, size] = places.map(|place| &record[place]);
            let time = |name, text| number::<i64>(name, text, "a whole number from -2^63 to 2^63 - 1");
            let buffer = || -> Result<Buffer, String> {
                let (lower, upper) = (time("lower", lower)?, time("upper", upper)?);
                if lower >= upper {
                    return Err(format!("expected lower < upper, and they are {lower} and {upper}"));
                }
                let size = number("size", size, "a whole number of bytes below 2^64")?;
                Ok(Buffer { id: table.buffers.len() as u64, lower, upper, size })
            };
            let buffer = buffer().map_err(|fact| at(line, &fact))?;
            match lines.entry(id.to_owned()) {
                Entry::Occupied(first) => {
                    let fact = format!("id `{id}` is that of line {} too: expected another one", first.get());
                    return Err(at(line, &fact));
                }
                Entry::Vacant(entry) => drop(entry.insert(line)),
            }
            table.ids.push(id.to_owned());
            table.buffers.push(buffer);
        }
        Ok(table)
    }

    /// The buffers with their offsets.
    pub(super) fn rows(&self, offsets: &[u64]) -> Vec<Row<'_>> {
        let all = self.ids.iter().zip(&self.buffers).zip(offsets);
        let rows = all.map(|((id, buffer), &offset)| {
            let Buffer { lower, upper, size, .. } = *buffer;
            Row { id, lower, upper, size, offset }
        });
        rows.collect()
    }
}

/// The place of each of [`COLUMNS`], or what is wrong with the names.
fn columns(names: &StringRecord) -> Result<[usize; 4], String> {
    let expected = "expected the columns id, lower, upper, size, in any order";
    for (place, name) in names.iter().enumerate() {
        if !COLUMNS.contains(&name) && name != "offset" {
            return Err(format!("unknown column `{name}`: {expected}"));
        }
        if names.iter().take(place).any(|other| other == name) {
            return Err(format!("column `{name}` is there twice: {expected}"));
        }
    }
    let mut places = [0; 4];
    for (place, column) in places.iter_mut().zip(COLUMNS) {
        let found = names.iter().position(|name| name == column);
        *place = found.ok_or_else(|| format!("no column `{column}`: {expected}"))?;
    }
    Ok(places)
}

fn number<T: FromStr>(name: &str, text: &str, expected: &str) -> Result<T, String> {
    text.parse().map_err(|_| format!("column `{name}` is `{text}`: expected {expected}"))
}
