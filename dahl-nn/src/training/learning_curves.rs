//! [`LearningCurves`]: results of a training against its epochs or steps, as a plot.

use std::path::Path;

use csv::{Position, ReaderBuilder};

use super::History;
use super::line_plot::{Line, Panel, draw};
use crate::dataset::csv_error;
use crate::error::{Error, Result};

/// The beginning of the names of results on validation data.
const VALIDATION: &str = "validation_";

/// Results of a training against its epochs or steps: what [`History::plot_svg`] and `dahl plot` draw.
///
/// Each result has a panel; the result `validation_NAME` is drawn with `NAME`.
#[derive(Clone, Debug, PartialEq)]
pub struct LearningCurves {
    /// The name of the epochs or steps.
    step: String,
    /// The results by name: steps and values.
    results: Vec<(String, Vec<(f64, f64)>)>,
}

impl LearningCurves {
    /// The table of a CSV file with a line of column names, such as [`History::to_csv`] writes: the first column is the
    /// epoch or step, every other one a result. An empty cell, `NaN` and `inf` leave a gap.
    ///
    /// # Errors
    /// If the file cannot be read or has another format: the error names the file, the offset and what was expected.
    pub fn from_csv(path: impl AsRef<Path>) -> dahl::Result<Self> {
        Ok(Self::read(path.as_ref())?)
    }

    fn read(path: &Path) -> Result<Self> {
        let bytes = std::fs::read(path).map_err(|error| Error::Io { path: path.to_owned(), error })?;
        let mut reader = ReaderBuilder::new().from_reader(&*bytes);
        let failed = |error| csv_error(path, error);
        let wrong =
            |offset, expected, found| Error::Format { path: path.to_owned(), offset, expected, found };
        let names = reader.headers().map_err(failed)?.clone();
        let mut columns = names.iter().map(|name| name.trim().to_owned());
        let step = columns.next().unwrap_or_default();
        let mut results: Vec<(String, Vec<(f64, f64)>)> = columns.map(|name| (name, Vec::new())).collect();
        if results.is_empty() {
            let expected = "a line of column names: a step and at least one result".to_owned();
            return Err(wrong(0, expected, format!("{} columns", names.len())));
        }
        for record in reader.records() {
            let record = record.map_err(failed)?;
            let number = |column: usize| -> Result<f64> {
                let text = record.get(column).unwrap_or_default().trim();
                if text.is_empty() {
                    return Ok(f64::NAN);
                }
                text.parse().map_err(|_| {
                    let offset = record.position().map_or(0, |at| at.byte() as usize);
                    let line = record.position().map_or(0, Position::line);
                    let name = names.get(column).unwrap_or_default();
                    let expected = format!("a number in column `{name}` of line {line}");
                    wrong(offset, expected, format!("`{text}`"))
                })
            };
            let at = number(0)?;
            for (column, (_, points)) in results.iter_mut().enumerate() {
                points.push((at, number(column + 1)?));
            }
        }
        Ok(Self { step, results })
    }

    /// The names of the results, in the order of the panels.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.results.iter().map(|(name, _)| name.as_str())
    }

    /// The number of epochs or steps.
    pub fn steps(&self) -> usize {
        self.results.first().map_or(0, |(_, points)| points.len())
    }

    /// The plot as the text of an SVG file.
    pub fn svg(&self) -> String {
        let mut panels: Vec<Panel> = Vec::new();
        for (name, points) in &self.results {
            let (title, line) = match name.strip_prefix(VALIDATION) {
                Some(title) => (title, "validation"),
                None => (name.as_str(), "training"),
            };
            let line = Line { name: line.to_owned(), points: points.clone() };
            match panels.iter_mut().find(|panel| panel.title == title) {
                Some(panel) => panel.lines.push(line),
                None => panels.push(Panel { title: title.to_owned(), lines: vec![line] }),
            }
        }
        draw(&self.step, &panels)
    }

    /// Writes the plot as an SVG file.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn to_svg(&self, path: impl AsRef<Path>) -> dahl::Result<()> {
        let path = path.as_ref();
        dahl_files::save(path, self.svg()).map_err(|error| Error::Io { path: path.to_owned(), error }.into())
    }
}

impl From<&History> for LearningCurves {
    fn from(history: &History) -> Self {
        let curve = |name: &str, value: &dyn Fn(&super::Epoch) -> f64| {
            let points = history.epochs.iter().map(|epoch| (epoch.epoch as f64, value(epoch)));
            (name.to_owned(), points.collect())
        };
        let loss_of = |epoch: &super::Epoch| epoch.validation.map_or(f64::NAN, |v| v.loss);
        let accuracy_of = |epoch: &super::Epoch| epoch.validation.map_or(f64::NAN, |v| v.accuracy);
        let epochs = &history.epochs;
        let mut results = vec![curve("loss", &|epoch| epoch.loss)];
        // An accuracy that was not counted has no panel.
        if epochs.is_empty() || epochs.iter().any(|epoch| !epoch.accuracy.is_nan()) {
            results.push(curve("accuracy", &|epoch| epoch.accuracy));
        }
        results.push(curve("samples_per_second", &|epoch| epoch.samples_per_second));
        if epochs.iter().any(|epoch| epoch.validation.is_some()) {
            results.push(curve("validation_loss", &loss_of));
        }
        if epochs.iter().any(|epoch| !accuracy_of(epoch).is_nan()) {
            results.push(curve("validation_accuracy", &accuracy_of));
        }
        if epochs.iter().any(|epoch| epoch.energy.value().is_some()) {
            results.push(curve("joules", &|epoch| epoch.energy.value().unwrap_or(f64::NAN)));
        }
        Self { step: "epoch".to_owned(), results }
    }
}
