//! Unusable files: they are renamed, so that nothing is lost.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::super::warnings::Warnings;

/// An unused name beside `path`: `path.reason`, or `path.2.reason` and so on.
pub(super) fn free_name(path: &Path, reason: &str) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let names = (1..).map(|number| match number {
        1 => format!("{name}.{reason}"),
        number => format!("{name}.{number}.{reason}"),
    });
    let mut paths = names.map(|name| path.with_file_name(name));
    paths.find(|path| !path.exists()).expect("there are numbers without end")
}

/// Renames `path` to end in `.reason`, and warns with the reason.
pub(super) fn set_aside(path: &Path, reason: &str, fact: &str, warnings: &Warnings) -> io::Result<()> {
    let new = free_name(path, reason);
    fs::rename(path, &new)?;
    warnings.warn(format!(
        "performance models: {}: {fact}; it is set aside as {}, and measured anew",
        path.display(),
        new.display()
    ));
    Ok(())
}
