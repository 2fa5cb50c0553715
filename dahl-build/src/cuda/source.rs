//! [`Source`]: a CUDA file with its kernels.

use std::path::{Path, PathBuf};

use super::kernel::{Kernel, is_name};
use crate::error::Error;

/// A file of kernels.
#[derive(Debug)]
pub(crate) struct Source {
    /// `conv2d` of `conv2d.cu`.
    pub(crate) name: String,
    /// Its name in messages: the path in the package, `kernels/conv2d.cu`.
    pub(crate) shown: String,
    pub(crate) text: String,
    pub(crate) kernels: Vec<Kernel>,
}

impl Source {
    /// The CUDA files in `folder` of the package in `package`, by name.
    pub(crate) fn find(package: &Path, folder: &str) -> Result<Vec<Self>, Error> {
        let path = package.join(folder);
        let sources = files(&path, "cu")?.into_iter().map(|path| Self::read(folder, &path));
        let sources = sources.collect::<Result<Vec<_>, Error>>()?;
        let mut seen: Vec<(&str, &Source)> = Vec::new();
        for source in &sources {
            for kernel in &source.kernels {
                if let Some((_, other)) = seen.iter().find(|(name, _)| *name == kernel.name) {
                    let fact = format!(
                        "another kernel `{}` is in {}: expected one of each name",
                        kernel.name, other.shown
                    );
                    return Err(Error::at(&source.shown, kernel.line, fact));
                }
                seen.push((&kernel.name, source));
            }
        }
        Ok(sources)
    }

    fn read(folder: &str, path: &Path) -> Result<Self, Error> {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let shown = format!("{}/{name}.cu", folder.trim_end_matches('/'));
        if !is_name(&name) {
            return Err(Error::about(
                shown,
                "expected lower-case letters, digits and `_` in the file's name",
            ));
        }
        let text = std::fs::read_to_string(path).map_err(|error| Error::file(path, &error))?;
        let kernels = Kernel::read_all(&shown, &text)?;
        Ok(Self { name, shown, text, kernels })
    }
}

/// The files of this extension in a folder, sorted; none if there is no such folder.
pub(crate) fn files(folder: &Path, extension: &str) -> Result<Vec<PathBuf>, Error> {
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(|error| Error::file(folder, &error))? {
        paths.push(entry.map_err(|error| Error::file(folder, &error))?.path());
    }
    paths.retain(|path| path.extension().is_some_and(|found| found == extension));
    paths.sort();
    Ok(paths)
}
