//! [`Folder`]: the files of a study.
//!
//! A folder has tables as CSV, figures as SVG, `summary.md` with the parts that a page shows, and `about.toml`, which
//! describes the origin of the figures. The other files have no timestamps, so a study in virtual time writes the same
//! bytes in each run.

mod about;
mod checkout;

use std::fs;
use std::path::{Path, PathBuf};

use serde::Serialize;

pub(crate) use about::About;
pub(crate) use checkout::Checkout;

use super::plot::Figure;
use crate::trouble::Trouble;

/// A study's folder.
pub(crate) struct Folder {
    path: PathBuf,
}

impl Folder {
    /// Creates the folder that the user named; files of the study in it are overwritten.
    pub(crate) fn at(path: &Path) -> Result<Self, Trouble> {
        fs::create_dir_all(path).map_err(|error| Trouble::unwritable(path, error))?;
        Ok(Self { path: path.to_owned() })
    }

    /// Creates a new folder: `results/DATE-STUDY-COMMIT`, with a number if that exists.
    pub(crate) fn new(study: &str, date: &str, commit: &str) -> Result<Self, Trouble> {
        let results = Path::new("results");
        fs::create_dir_all(results).map_err(|error| Trouble::unwritable(results, error))?;
        let name = format!("{date}-{study}-{commit}");
        let numbered = (2..).map(|number| format!("{name}-{number}"));
        for name in std::iter::once(name.clone()).chain(numbered) {
            let path = results.join(name);
            match fs::create_dir(&path) {
                Ok(()) => return Ok(Self { path }),
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(Trouble::unwritable(&path, error)),
            }
        }
        unreachable!("some number is free")
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Writes a table with a line for each row, and the names of its fields as heading.
    pub(crate) fn table(&self, name: &str, rows: &[impl Serialize]) -> Result<(), Trouble> {
        let path = self.path.join(name);
        let write = || -> csv::Result<()> {
            let mut writer = csv::Writer::from_path(&path)?;
            rows.iter().try_for_each(|row| writer.serialize(row))?;
            Ok(writer.flush()?)
        };
        write().map_err(|error| Trouble::unwritable(&path, error))
    }

    /// Writes a figure.
    pub(crate) fn figure(&self, name: &str, figure: &Figure) -> Result<(), Trouble> {
        figure.write(&self.path.join(name))
    }

    /// Writes a text.
    pub(crate) fn text(&self, name: &str, text: &str) -> Result<(), Trouble> {
        let path = self.path.join(name);
        dahl_files::save(&path, text).map_err(|error| Trouble::unwritable(&path, error))
    }
}
