//! The text that examples learn.

use std::fs;
use std::path::PathBuf;

use dahl_nn::dataset::king_james_bible;

/// The text in a file, or the King James Bible.
pub(crate) fn read(path: Option<&PathBuf>) -> dahl::Result<String> {
    match path {
        Some(path) => {
            Ok(fs::read_to_string(path).map_err(|error| dahl_nn::Error::Io { path: path.clone(), error })?)
        }
        None => Ok(king_james_bible()),
    }
}
