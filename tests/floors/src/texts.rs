//! The texts of the repository: pages, sources, scripts.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The endings of files that have texts. Beside these, files without an ending are texts if their name is in [`NAMES`].
const ENDINGS: [&str; 5] = ["md", "rs", "py", "sh", "toml"];

const NAMES: [&str; 2] = ["justfile", "run"];

/// Folders of what builds and studies write. They are in no commit.
const WRITTEN: [&str; 2] = ["target", "results"];

/// The texts below `root`, by their paths from there.
///
/// # Panics
/// If a folder or a file cannot be read.
pub fn read(root: &Path) -> BTreeMap<PathBuf, String> {
    let mut texts = BTreeMap::new();
    let mut folders = vec![PathBuf::new()];
    while let Some(folder) = folders.pop() {
        let whole = root.join(&folder);
        let entries = fs::read_dir(&whole).unwrap_or_else(|error| panic!("{}: {error}", whole.display()));
        for entry in entries {
            let entry = entry.unwrap_or_else(|error| panic!("{}: {error}", whole.display()));
            let name = entry.file_name().into_string().expect("names of files are UTF-8");
            let path = folder.join(&name);
            // An editor's lock file is a link to nowhere, and a linked folder is read where it is.
            if entry.file_type().is_ok_and(|kind| kind.is_symlink()) {
                continue;
            }
            if entry.path().is_dir() {
                let is_hidden = name.starts_with('.') && name != ".ci";
                if !is_hidden && !WRITTEN.contains(&&*name) {
                    folders.push(path);
                }
                continue;
            }
            let is_text = match path.extension().and_then(|ending| ending.to_str()) {
                Some(ending) => ENDINGS.contains(&ending),
                None => NAMES.contains(&&*name),
            };
            if is_text {
                let text = fs::read_to_string(entry.path());
                let text = text.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
                texts.insert(path, text);
            }
        }
    }
    texts
}
