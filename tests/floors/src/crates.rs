//! The dependencies between the crates of the workspace, from their manifests.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// A dependency of one crate of the workspace on another, of its own code or its build script. Dependencies of tests do
/// not count.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Dependency {
    /// The crate that depends.
    pub from: String,
    /// The crate that it depends on.
    pub to: String,
}

/// The crates in `folders` of `root`, by name, and the dependencies between them.
///
/// # Panics
/// If a manifest cannot be read.
pub fn read(root: &Path, folders: &[&str]) -> (BTreeSet<String>, BTreeSet<Dependency>) {
    let manifests: BTreeMap<String, toml::Table> =
        folders.iter().map(|folder| manifest(root, folder)).collect();
    let names: BTreeSet<String> = manifests.keys().cloned().collect();
    let mut dependencies = BTreeSet::new();
    for (from, manifest) in &manifests {
        for table in ["dependencies", "build-dependencies"] {
            let listed = manifest.get(table).and_then(toml::Value::as_table).into_iter().flatten();
            let known = listed.map(|(name, _)| name).filter(|name| names.contains(*name));
            dependencies.extend(known.map(|to| Dependency { from: from.clone(), to: to.clone() }));
        }
    }
    (names, dependencies)
}

fn manifest(root: &Path, folder: &str) -> (String, toml::Table) {
    let path = root.join(folder).join("Cargo.toml");
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let table: toml::Table = text.parse().unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let name = table["package"]["name"].as_str().expect("a name").to_owned();
    (name, table)
}
