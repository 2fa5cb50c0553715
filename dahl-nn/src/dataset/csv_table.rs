//! [`CsvTable`]: the numbers and classes of a CSV file.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::path::Path;

use csv::{Position, ReaderBuilder, StringRecord};

use crate::error::{Error, Result};

/// The numbers of a CSV file, and the classes of one of its columns.
#[derive(Debug)]
pub(super) struct CsvTable {
    /// The number of columns that have features.
    pub(super) columns: usize,
    pub(super) class_names: Vec<String>,
    /// Line by line.
    pub(super) features: Vec<f64>,
    pub(super) labels: Vec<u32>,
}

impl CsvTable {
    /// The file at `path`, whose column `label` has the classes.
    pub(super) fn read(path: &Path, label: &str) -> Result<Self> {
        let file = File::open(path).map_err(|error| Error::Io { path: path.to_owned(), error })?;
        let mut reader = ReaderBuilder::new().from_reader(file);
        let failed = |error: csv::Error| csv_error(path, error);
        let wrong = |at: Option<&Position>, expected: String, found: String| Error::Format {
            path: path.to_owned(),
            offset: at.map_or(0, |at| at.byte() as usize),
            expected,
            found,
        };
        let names = reader.headers().map_err(failed)?.clone();
        let column = names.iter().position(|name| name.trim() == label).ok_or_else(|| {
            wrong(None, format!("a column `{label}`"), format!("the columns {:?}", Vec::from_iter(&names)))
        })?;
        let (mut features, mut classes) = (Vec::new(), Vec::new());
        let mut record = StringRecord::new();
        while reader.read_record(&mut record).map_err(failed)? {
            for (index, text) in record.iter().enumerate() {
                if index == column {
                    classes.push(text.trim().to_owned());
                    continue;
                }
                let number = text.trim().parse().ok().filter(|number: &f64| number.is_finite());
                features.push(number.ok_or_else(|| {
                    let line = record.position().map_or(0, Position::line);
                    let name = &names[index];
                    let expected = format!("a finite number in column `{name}` of line {line}");
                    wrong(record.position(), expected, format!("`{text}`"))
                })?);
            }
        }
        let class_names = in_order(&classes);
        let numbers: BTreeMap<&String, u32> = class_names.iter().zip(0..).collect();
        let labels = classes.iter().map(|class| numbers[class]).collect();
        Ok(Self { columns: names.len() - 1, class_names, features, labels })
    }
}

/// The different classes, in order: as numbers if they all are whole numbers, else as texts.
fn in_order(classes: &[String]) -> Vec<String> {
    let different: BTreeSet<&String> = classes.iter().collect();
    let mut names: Vec<String> = different.into_iter().cloned().collect();
    if names.iter().all(|name| name.parse::<i64>().is_ok()) {
        names.sort_by_key(|name| name.parse::<i64>().ok());
    }
    names
}

/// An error of the crate `csv`, as one of the file.
pub(crate) fn csv_error(path: &Path, error: csv::Error) -> Error {
    let path = path.to_owned();
    let at = error.position().map_or(0, |at| at.byte() as usize);
    let (expected, found) = match error.kind() {
        csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
            (format!("{expected_len} columns"), format!("{len}"))
        }
        csv::ErrorKind::Utf8 { err, .. } => ("text in UTF-8".to_owned(), err.to_string()),
        _ => match error.into_kind() {
            csv::ErrorKind::Io(error) => return Error::Io { path, error },
            other => ("a table".to_owned(), format!("{other:?}")),
        },
    };
    Error::Format { path, offset: at, expected, found }
}
