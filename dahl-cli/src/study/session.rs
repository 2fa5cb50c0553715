//! [`Session`]: one run of a study.

use std::path::Path;

use serde::Serialize;

use super::plot::Figure;
use super::results::{About, Folder};
use crate::output::Output;
use crate::progress::Progress;
use crate::trouble::Trouble;

/// The settings of every study.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settings {
    pub(crate) seed: u64,
    pub(crate) rounds: usize,
    /// The most CPU workers in real time.
    pub(crate) workers: usize,
    /// Whether to measure only a little.
    pub(crate) is_quick: bool,
}

/// A run of a study: its settings, and the folder of its results.
pub(crate) struct Session<'a> {
    pub(crate) settings: Settings,
    folder: &'a Folder,
    about: About,
    output: &'a Output,
    python: Option<&'a Path>,
}

impl<'a> Session<'a> {
    pub(super) fn new(
        settings: Settings,
        folder: &'a Folder,
        about: About,
        output: &'a Output,
        python: Option<&'a Path>,
    ) -> Self {
        Self { settings, folder, about, output, python }
    }

    /// The Python that the user named.
    pub(crate) fn python(&self) -> Option<&'a Path> {
        self.python
    }

    /// `quick` for a quick run, else `whole`.
    pub(crate) fn either<T>(&self, whole: T, quick: T) -> T {
        if self.settings.is_quick { quick } else { whole }
    }

    /// Adds a setting that only this study has to the description of its results.
    pub(crate) fn setting(&mut self, name: &str, value: impl Into<toml::Value>) {
        self.about.setting(name, value);
    }

    /// Progress through so many steps.
    pub(crate) fn progress(&self, steps: usize, what: &'static str) -> Progress {
        self.output.progress(steps, what)
    }

    /// Writes a table as CSV.
    pub(crate) fn table(&self, name: &str, rows: &[impl Serialize]) -> Result<(), Trouble> {
        self.folder.table(name, rows)
    }

    /// Writes a text.
    pub(crate) fn text(&self, name: &str, text: &str) -> Result<(), Trouble> {
        self.folder.text(name, text)
    }

    /// Where progress is shown.
    pub(crate) fn output(&self) -> &Output {
        self.output
    }

    /// Writes a figure as SVG.
    pub(crate) fn figure(&self, name: &str, figure: &Figure) -> Result<(), Trouble> {
        self.folder.figure(name, figure)
    }

    pub(super) fn end(mut self) -> About {
        self.about.end();
        self.about
    }
}
