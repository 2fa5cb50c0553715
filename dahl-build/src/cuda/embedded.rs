//! The sources of kernels that a crate embeds where there is no nvcc: everything that NVRTC needs for all of its files,
//! compressed together.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use super::entries::for_device;
use super::source::{Source, files};
use crate::error::Error;

/// The texts of a package's kernels, by the names with which they include each other.
#[derive(Debug, Default)]
pub(crate) struct Texts(BTreeMap<String, String>);

impl Texts {
    /// The texts of `sources`, of their entry points, and of all headers in `kernels` and in `include/` there.
    pub(crate) fn read(kernels: &Path, sources: &[Source]) -> Result<Self, Error> {
        let mut texts = Self::default();
        for (name, path) in headers(kernels)? {
            let text = fs::read_to_string(&path).map_err(|error| Error::file(&path, &error))?;
            // Of two headers with the same name, nvcc also finds the one beside the kernels.
            texts.0.entry(name).or_insert(text);
        }
        for source in sources {
            texts.0.insert(format!("{}.cu", source.name), source.text.clone());
            texts.0.insert(entries(source), for_device(source));
        }
        Ok(texts)
    }

    /// The texts that compiling the entry points of `source` needs: their own, and those that it includes or may
    /// include.
    pub(crate) fn of(&self, source: &Source) -> Vec<&str> {
        let mut found: Vec<&str> = Vec::new();
        let first = entries(source);
        let mut next: Vec<&str> = self.0.get_key_value(&first).map(|(name, _)| &**name).into_iter().collect();
        while let Some(name) = next.pop() {
            if !found.contains(&name) {
                found.push(name);
                // A header that is missing here is one of dahl's, or does not exist.
                let included = self.0[name].lines().filter_map(included);
                let included = included.filter_map(quoted);
                next.extend(included.filter_map(|name| Some(&**self.0.get_key_value(name)?.0)));
            }
        }
        found[1..].sort_unstable();
        found
    }

    /// The headers that they include and that are missing, as written: `<cuda_fp16.h>`.
    pub(crate) fn not_found(&self, source: &Source) -> Vec<&str> {
        let is_there = |name: &str| {
            let is_of_dahl = dahl_cuda::HEADERS.iter().any(|(header, _)| *header == name);
            is_of_dahl || self.0.contains_key(name)
        };
        let included = self.of(source).into_iter().flat_map(|name| self.0[name].lines().filter_map(included));
        included.filter(|name| !quoted(name).is_some_and(is_there)).collect()
    }

    pub(crate) fn get(&self, name: &str) -> &str {
        &self.0[name]
    }

    /// All texts, compressed.
    pub(crate) fn pack(&self) -> Result<Vec<u8>, Error> {
        let texts = self.0.iter().map(|(name, text)| (&**name, &**text));
        dahl_cuda::texts::pack(texts)
            .map_err(|name| Error::about(name, "there is a zero byte in it: expected text"))
    }
}

/// The name of the text with the entry points of a source.
fn entries(source: &Source) -> String {
    format!("{}_entries.cu", source.name)
}

/// `"fold.cuh"` of `#include "fold.cuh"`, with its quotation marks; `<math.h>` likewise.
fn included(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix('#')?.trim_start().strip_prefix("include")?.trim_start();
    let end = if rest.starts_with('"') { '"' } else { '>' };
    let len = rest.get(1..)?.find(end)?;
    rest.starts_with(['"', '<']).then(|| &rest[..len + 2])
}

/// `fold.cuh` of `"fold.cuh"`.
fn quoted(included: &str) -> Option<&str> {
    included.strip_prefix('"')?.strip_suffix('"')
}

/// The headers of a package, with the names by which its kernels include them.
pub(crate) fn headers(kernels: &Path) -> Result<Vec<(String, PathBuf)>, Error> {
    let mut headers = Vec::new();
    for folder in [kernels.to_owned(), kernels.join("include")] {
        for extension in ["cuh", "h"] {
            for path in files(&folder, extension)? {
                headers.push((path.file_name().unwrap_or_default().to_string_lossy().into_owned(), path));
            }
        }
    }
    Ok(headers)
}
