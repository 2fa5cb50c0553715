//! The programs of packages: tests, benchmarks, examples, commands; and the features.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// What `cargo` can be told to run of one package.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Programs {
    /// The names, by the option that chooses one: `--test`, `--bench`, `--example`, `--bin`.
    pub by_option: BTreeMap<&'static str, BTreeSet<String>>,
    /// The features.
    pub features: BTreeSet<String>,
}

/// The option, the table of the manifest, the switch against finding files, and the folder in which they are found.
const KINDS: [(&str, &str, &str, &str); 4] = [
    ("--test", "test", "autotests", "tests"),
    ("--bench", "bench", "autobenches", "benches"),
    ("--example", "example", "autoexamples", "examples"),
    ("--bin", "bin", "autobins", "src/bin"),
];

/// The programs of each package whose manifest is among `texts`.
///
/// # Panics
/// If a manifest is not TOML.
pub fn read(texts: &BTreeMap<PathBuf, String>) -> BTreeMap<String, Programs> {
    let manifests = texts.iter().filter(|(path, _)| path.ends_with("Cargo.toml"));
    manifests.filter_map(|(path, text)| of_package(path, text, texts)).collect()
}

fn of_package(path: &Path, text: &str, texts: &BTreeMap<PathBuf, String>) -> Option<(String, Programs)> {
    let manifest: toml::Table = text.parse().unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let package = manifest.get("package")?.as_table()?;
    let name = package.get("name")?.as_str()?.to_owned();
    let folder = path.parent().expect("a manifest is a file");
    let mut programs = Programs::default();
    for (option, table, switch, place) in KINDS {
        let listed = manifest.get(table).and_then(toml::Value::as_array).into_iter().flatten();
        let mut names: BTreeSet<String> =
            listed.filter_map(|entry| Some(entry.get("name")?.as_str()?.to_owned())).collect();
        if package.get(switch).and_then(toml::Value::as_bool) != Some(false) {
            names.extend(texts.keys().filter_map(|file| found(file.strip_prefix(folder.join(place)).ok()?)));
        }
        programs.by_option.insert(option, names);
    }
    if texts.contains_key(&folder.join("src/main.rs")) {
        programs.by_option.entry("--bin").or_default().insert(name.clone());
    }
    let features = manifest.get("features").and_then(toml::Value::as_table).into_iter().flatten();
    programs.features = features.map(|(feature, _)| feature.clone()).collect();
    Some((name, programs))
}

/// The name of the program that `file`, a path in a folder of programs, is the root of: `NAME.rs` or `NAME/main.rs`.
fn found(file: &Path) -> Option<String> {
    let parts: Vec<&str> = file.iter().filter_map(|part| part.to_str()).collect();
    match parts[..] {
        [file] => Some(file.strip_suffix(".rs")?.to_owned()),
        [folder, "main.rs"] => Some(folder.to_owned()),
        _ => None,
    }
}
