//! Compares the page's table of variables with those that the code reads.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The folders of the workspace whose code users run.
const SOURCES: [&str; 11] = [
    "src",
    "dahl-element/src",
    "dahl-core/src",
    "dahl-testing/src",
    "dahl-nn/src",
    "dahl-cli/src",
    "dahl-build/src",
    "dahl-cuda/src",
    "dahl-driver/src",
    "dahl-macros/src",
    "dahl-trace/src",
];

/// The prefix of dahl's variables.
const PREFIX: &str = "DAHL_";

/// Names like those of variables that users cannot set: macros of kernels in C and CUDA, a variable that a test of
/// dahl-build sets, those that the warning about unknown variables knows and that its tests invent.
const OTHERS: [&str; 10] = [
    "DAHL_REAL",
    "DAHL_KERNEL",
    "DAHL_BUILD_TARGET",
    "DAHL_CHECK_ONLY",
    "DAHL_CHEKC",
    "DAHL_MEOW",
    "DAHL_NCPUS",
    "DAHL_RANDOM_PROGRAMS",
    "DAHL_TEST_IMAGES",
    "DAHL_TRACE_TEST",
];

/// Requires that the page has a row for each variable that the code reads, and for no other.
pub(crate) fn compare(page: &str) -> Result<(), String> {
    let rows = page.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next());
    let listed: BTreeSet<_> = rows.filter(|name| name.starts_with(PREFIX)).map(name_of).collect();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace");
    let mut read = BTreeSet::new();
    for folder in SOURCES {
        for file in files(&root.join(folder))? {
            let text = fs::read_to_string(&file).map_err(|error| format!("{}: {error}", file.display()))?;
            read.extend(text.lines().flat_map(strings));
        }
    }
    OTHERS.iter().for_each(|other| {
        read.remove(*other);
    });
    let missing: Vec<_> = read.difference(&listed).collect();
    let unknown: Vec<_> = listed.difference(&read).collect();
    if missing.is_empty() && unknown.is_empty() {
        return Ok(());
    }
    Err(format!("not in the table: {missing:?}; in the table and not read: {unknown:?}"))
}

/// The variable at the beginning of `text`.
fn name_of(text: &str) -> String {
    let is_part =
        |character: &char| character.is_ascii_uppercase() || character.is_ascii_digit() || *character == '_';
    text.chars().take_while(is_part).collect()
}

/// The variables that a line of code names, each as a whole string. A name that ends with `_` is a prefix of several.
fn strings(line: &str) -> Vec<String> {
    let code = line.split("//").next().unwrap_or_default();
    let begins = format!("\"{PREFIX}");
    let candidates = code.match_indices(&begins).map(|(place, _)| &code[place + 1..]);
    let is_whole = |text: &&str| text[name_of(text).len()..].starts_with('"');
    candidates.filter(is_whole).map(name_of).filter(|name| !name.ends_with('_')).collect()
}

fn files(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let entries = fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut found = Vec::new();
    for entry in entries {
        let path = entry.map_err(|error| error.to_string())?.path();
        if path.is_dir() {
            found.extend(files(&path)?);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    Ok(found)
}
