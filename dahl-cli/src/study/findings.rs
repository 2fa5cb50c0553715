//! [`Findings`]: the results of a study in a few lines, for the terminal and for pages.

use std::fmt;

use serde::Serialize;

/// A table, and sentences that the study computes from this run.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Findings {
    columns: Vec<String>,
    rows: Vec<Vec<String>>,
    remarks: Vec<String>,
}

impl Findings {
    /// Findings with a table of these columns.
    pub(crate) fn new<const N: usize>(columns: [&str; N]) -> Self {
        Self { columns: columns.map(str::to_owned).into(), ..Self::default() }
    }

    /// Adds a row to the table.
    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        let cells: Vec<String> = cells.into_iter().collect();
        assert_eq!(cells.len(), self.columns.len(), "a row has a cell for each column");
        self.rows.push(cells);
    }

    /// Adds a sentence.
    pub(crate) fn remark(&mut self, remark: impl Into<String>) {
        self.remarks.push(remark.into());
    }
}

/// Markdown with aligned columns.
impl fmt::Display for Findings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = |column: usize| {
            let cells = self.rows.iter().map(|row| &row[column]).chain([&self.columns[column]]);
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0).max(3)
        };
        let widths: Vec<usize> = (0..self.columns.len()).map(width).collect();
        let line = |f: &mut fmt::Formatter<'_>, cells: &[String]| {
            for (column, (cell, &width)) in cells.iter().zip(&widths).enumerate() {
                if column == 0 { write!(f, "| {cell:<width$} |")? } else { write!(f, " {cell:>width$} |")? }
            }
            writeln!(f)
        };
        line(f, &self.columns)?;
        for (column, &width) in widths.iter().enumerate() {
            let dashes = "-".repeat(width + 1);
            if column == 0 { write!(f, "|{dashes}-|")? } else { write!(f, "{dashes}:|")? }
        }
        writeln!(f)?;
        self.rows.iter().try_for_each(|row| line(f, row))?;
        if !self.remarks.is_empty() {
            writeln!(f)?;
        }
        self.remarks.iter().try_for_each(|remark| writeln!(f, "* {remark}"))
    }
}

#[cfg(test)]
mod tests {
    use super::Findings;

    #[test]
    fn columns_stand_under_each_other() {
        let mut findings = Findings::new(["way", "us"]);
        findings.row(["one codelet".to_owned(), "7".to_owned()]);
        findings.remark("It is so.");
        let text = "| way         |  us |\n|-------------|----:|\n| one codelet |   7 |\n\n* It is so.\n";
        assert_eq!(findings.to_string(), text);
    }
}
