//! [`Output`]: where reports go, as text for people or as one JSON object for programs.

use std::fmt::Display;
use std::io::{self, Write};

use anstyle::Style;
use serde::Serialize;

use crate::progress::Progress;
use crate::trouble::Trouble;

/// The style of names and headings. The escapes are removed if the output is not a terminal, or if `NO_COLOR` is set.
pub(crate) const HEADING: Style = Style::new().bold();

/// The options of every command about its output.
#[derive(Clone, Debug, clap::Args)]
#[command(next_display_order = 100)]
pub(crate) struct Output {
    /// Prints one JSON object, and nothing else, on the standard output.
    #[arg(long, global = true)]
    json: bool,
    /// Shows no progress and no notes.
    #[arg(short, long, global = true)]
    quiet: bool,
}

impl Output {
    /// Prints a report: as text, or as JSON.
    pub(crate) fn show(&self, report: &(impl Display + Serialize)) -> Result<(), Trouble> {
        if self.json {
            let mut out = io::stdout().lock();
            serde_json::to_writer_pretty(&mut out, report).map_err(io::Error::from)?;
            writeln!(out)?;
            out.flush()?;
        } else {
            let mut out = anstream::stdout().lock();
            write!(out, "{report}")?;
            out.flush()?;
        }
        Ok(())
    }

    /// Whether the standard output is for one JSON object.
    pub(crate) fn is_json(&self) -> bool {
        self.json
    }

    /// Writes a note beside the report, to standard error.
    pub(crate) fn note(&self, text: &str) {
        if !self.quiet {
            anstream::eprintln!("dahl: {text}");
        }
    }

    /// Progress through `steps` steps, on the standard error if that is a terminal.
    pub(crate) fn progress(&self, steps: usize, what: &'static str) -> Progress {
        Progress::new(steps, what, self.quiet)
    }
}
