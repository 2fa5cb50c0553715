//! Listings in files: JSON, of which the first line names the format and has a hash of the rest.
//!
//! ```text
//! {"format": "dahl program 3", "hash": "5d1b3ab3ef0f0c7e",
//! "name": "score",
//! "codelets": [
//! ...
//! ]}
//! ```
//!
//! Codelets, arrays and steps have a line each. The hash is FNV-1a with 64 bits of all bytes after the first line. Each of its
//! steps is a bijection of the state, so a byte that differs always shows.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::{CodeletName, ListedArray, ListedStep, Listing, ListingError};
use crate::graph::Graph;

/// The version of the format: another number for each change of it.
const FORMAT: u32 = 3;

/// How a file begins, up to the version.
const BEGIN: &str = "{\"format\": \"dahl program ";

/// A file as JSON has it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    #[serde(rename = "format")]
    _format: String,
    hash: String,
    name: String,
    codelets: Vec<CodeletName>,
    arrays: Vec<ListedArray>,
    steps: Vec<ListedStep>,
}

impl Graph {
    /// Saves the graph as a [`Listing`] in a file.
    ///
    /// # Errors
    /// If the file cannot be written. What was there before stays.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), ListingError> {
        self.listing().save(path)
    }
}

impl Listing {
    /// Saves the listing in a file, whole or not at all.
    ///
    /// # Errors
    /// If the file cannot be written. What was there before stays.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), ListingError> {
        let path = path.as_ref();
        let saved = dahl_files::save(path, self.to_json());
        saved.map_err(|error| ListingError::Io { path: path.to_owned(), error })
    }

    /// Reads a file that [`save`](Self::save) has written.
    ///
    /// # Errors
    /// If the file cannot be read, is not one of those, has another version of the format, or has changed since.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, ListingError> {
        let path = path.as_ref();
        let bytes = fs::read(path).map_err(|error| ListingError::Io { path: path.to_owned(), error })?;
        Self::from_json(&bytes, path)
    }

    /// The content of a file.
    pub fn to_json(&self) -> String {
        let mut rest = format!("\"name\": {},\n", json(&self.name));
        list(&mut rest, "codelets", &self.codelets);
        rest.push_str(",\n");
        list(&mut rest, "arrays", &self.arrays);
        rest.push_str(",\n");
        list(&mut rest, "steps", &self.steps);
        rest.push_str("}\n");
        first_line(hash(rest.as_bytes())) + &rest
    }

    /// The listing of a file with this content. Errors name `path`.
    ///
    /// # Errors
    /// As [`load`](Self::load).
    pub fn from_json(bytes: &[u8], path: &Path) -> Result<Self, ListingError> {
        let own = || path.to_owned();
        let Some(after) = bytes.strip_prefix(BEGIN.as_bytes()) else {
            return Err(ListingError::Foreign { path: own(), begin: BEGIN });
        };
        let format = after.split(|&byte| byte == b'"' || byte == b'\n').next().unwrap_or_default();
        if format != FORMAT.to_string().as_bytes() {
            let format = format!("`{}`", String::from_utf8_lossy(format).escape_debug());
            return Err(ListingError::Format { path: own(), format, expected: FORMAT });
        }
        let document: Document = serde_json::from_slice(bytes).map_err(|error| {
            let text = error.to_string();
            let fact = text.rsplit_once(" at line ").map_or(&*text, |(fact, _)| fact).to_owned();
            ListingError::Line { path: own(), line: error.line(), column: error.column(), fact }
        })?;
        let first = bytes.iter().position(|&byte| byte == b'\n').map_or(bytes.len(), |end| end + 1);
        let found = hash(&bytes[first..]);
        if bytes[..first] != *first_line(found).as_bytes() {
            return Err(ListingError::Changed { path: own(), found, expected: document.hash });
        }
        let Document { name, codelets, arrays, steps, .. } = document;
        let listing = Self { name, codelets, arrays, steps };
        match listing.check() {
            Ok(()) => Ok(listing),
            Err((field, fact)) => Err(ListingError::Field { path: own(), field, fact }),
        }
    }
}

fn first_line(hash: u64) -> String {
    format!("{BEGIN}{FORMAT}\", \"hash\": \"{hash:016x}\",\n")
}

/// A field that is a list, with a line for each item.
fn list(text: &mut String, name: &str, items: &[impl Serialize]) {
    let _ = write!(text, "\"{name}\": [");
    for (index, item) in items.iter().enumerate() {
        let _ = write!(text, "{}\n{}", if index > 0 { "," } else { "" }, json(item));
    }
    text.push_str("\n]");
}

fn json(item: &(impl Serialize + ?Sized)) -> String {
    serde_json::to_string(item).expect("fields are texts, numbers and lists of them")
}

/// FNV-1a.
fn hash(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}
