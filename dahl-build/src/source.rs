//! [`Source`]: a C file with its kernel.

use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::signature::Signature;

/// A kernel's file.
#[derive(Debug)]
pub(crate) struct Source {
    /// Its path.
    pub(crate) path: PathBuf,
    /// Its name in messages: the path in the package, `kernels/dot.c`.
    pub(crate) shown: String,
    pub(crate) signature: Signature,
}

impl Source {
    /// The kernels in `folder` of the package in `package`, by name.
    pub(crate) fn find(package: &Path, folder: &str) -> Result<Vec<Self>, Error> {
        let path = package.join(folder);
        if !path.is_dir() {
            let fact = format!("there is no such folder: expected C kernels there, as `{folder}/dot.c`");
            return Err(Error::about(path.display(), fact));
        }
        let mut paths = Vec::new();
        for entry in std::fs::read_dir(&path).map_err(|error| Error::file(&path, &error))? {
            paths.push(entry.map_err(|error| Error::file(&path, &error))?.path());
        }
        paths.retain(|path| path.extension().is_some_and(|extension| extension == "c"));
        paths.sort();
        paths.into_iter().map(|path| Self::read(folder, path)).collect()
    }

    fn read(folder: &str, path: PathBuf) -> Result<Self, Error> {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let shown = format!("{}/{name}.c", folder.trim_end_matches('/'));
        let is_name = name.starts_with(|letter: char| letter.is_ascii_lowercase())
            && name
                .chars()
                .all(|letter| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '_');
        if !is_name {
            let fact = "the file's name is the kernel's: expected lower-case letters, digits and `_`";
            return Err(Error::about(shown, fact));
        }
        let text = std::fs::read_to_string(&path).map_err(|error| Error::file(&path, &error))?;
        let signature = Signature::read(&shown, &name, &text)?;
        Ok(Self { path, shown, signature })
    }
}
