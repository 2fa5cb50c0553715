//! [`Table`]: aligned rows under headings.

use std::fmt;

use comfy_table::{CellAlignment, presets};

use crate::output::HEADING;

/// Rows under headings. Columns whose heading begins with `>` are right-aligned.
pub(crate) struct Table {
    table: comfy_table::Table,
    indent: usize,
}

impl Table {
    pub(crate) fn new(headings: &[&str]) -> Self {
        let mut table = comfy_table::Table::new();
        table.load_preset(presets::NOTHING);
        table.set_header(headings.iter().map(|heading| heading.trim_start_matches('>')));
        for (heading, column) in headings.iter().zip(table.column_iter_mut()) {
            column.set_padding((0, 2));
            if heading.starts_with('>') {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        Self { table, indent: 0 }
    }

    /// Indents each line by so many spaces.
    pub(crate) fn indent(mut self, indent: usize) -> Self {
        self.indent = indent;
        self
    }

    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.table.add_row(cells);
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, line) in self.table.lines().enumerate() {
            let (line, indent) = (line.trim_end(), self.indent);
            match index {
                0 => writeln!(f, "{:indent$}{HEADING}{line}{HEADING:#}", "")?,
                _ => writeln!(f, "{:indent$}{line}", "")?,
            }
        }
        Ok(())
    }
}
