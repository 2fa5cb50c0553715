//! Checks that the code keeps the order of `order.rs`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use dahl_floors::graph::Graph;
use dahl_floors::order::{CRATES, EXCEPTIONS, MOST_IN_A_CIRCLE, ROOMS};
use dahl_floors::{crates, modules};

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

fn core() -> Graph {
    Graph::new(&modules::read(&root().join("dahl-core/src")))
}

#[test]
fn crates_depend_on_lower_floors() {
    let floors = CRATES.iter().enumerate();
    let floor: BTreeMap<&str, usize> =
        floors.flat_map(|(floor, row)| row.iter().map(move |(name, _)| (*name, floor))).collect();
    let folders: Vec<&str> = CRATES.iter().flat_map(|row| row.iter().map(|(_, folder)| *folder)).collect();
    let (names, dependencies) = crates::read(root(), &folders);
    assert_eq!(
        names.iter().map(String::as_str).collect::<Vec<_>>(),
        floor.keys().copied().collect::<Vec<_>>()
    );
    assert!(dependencies.len() > 10, "the manifests say on what crates depend: {dependencies:?}");
    let upward: Vec<_> =
        dependencies.iter().filter(|dependency| floor[&*dependency.from] <= floor[&*dependency.to]).collect();
    assert!(upward.is_empty(), "dependencies that lead upward: {upward:?}");
}

#[test]
fn rooms_of_the_core_use_lower_floors() {
    let floors = ROOMS.iter().enumerate();
    let floor: BTreeMap<&str, usize> =
        floors.flat_map(|(floor, row)| row.iter().map(move |name| (*name, floor))).collect();
    let allowed: BTreeSet<(&str, &str)> =
        EXCEPTIONS.iter().flat_map(|(arrows, _)| arrows.iter().copied()).collect();
    let arrows = core().rooms();
    let mut wrong = Vec::new();
    for ((from, to), files) in &arrows {
        let is_known = |room: &String| floor.contains_key(&**room);
        assert!(is_known(from) && is_known(to), "{from} or {to} has no floor in order.rs");
        if floor[&**from] <= floor[&**to] && !allowed.contains(&(from, to)) {
            wrong.push(format!("{from} -> {to}: {files:?}"));
        }
    }
    assert!(wrong.is_empty(), "arrows that lead upward:\n{}", wrong.join("\n"));
    let is_needed = |(from, to): &&(&str, &str)| {
        floor[from] <= floor[to] && arrows.contains_key(&((*from).to_owned(), (*to).to_owned()))
    };
    let idle: Vec<_> = allowed.iter().filter(|arrow| !is_needed(arrow)).collect();
    assert!(idle.is_empty(), "no arrow needs these exceptions of order.rs any more, take them out: {idle:?}");
}

#[test]
fn circles_of_files_stay_small() {
    let circles = core().circles();
    let largest = circles.first().map_or(0, Vec::len);
    assert!(largest <= MOST_IN_A_CIRCLE, "a circle of {largest} files: {:?}", circles.first());
}

/// Paths are followed through re-exports, globs and macros' arguments; tests and other crates do not count.
#[test]
fn arrows_lead_to_where_a_name_is_defined() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    write("lib.rs", "mod high;\nmod low;\nmod printed;\npub use high::Deep;");
    write("high/mod.rs", "mod deep;\nmod wide;\npub use deep::Deep;\npub use wide::*;");
    write(
        "high/deep.rs",
        "use std::fmt;\npub struct Deep;\n#[cfg(test)]\nmod tests { use crate::printed::Printed; }",
    );
    write("high/wide.rs", "pub fn wide() { crate::low::low(); }");
    write("low.rs", "pub fn low(_: crate::Deep) {}\nfn other() { crate::high::wide() }");
    write("printed.rs", "pub struct Printed;\nfn print() { println!(\"{}\", crate::low::low(Deep)); }");
    let graph = Graph::new(&modules::read(folder.path()));
    let uses = |file: &str| -> Vec<_> {
        graph.uses[Path::new(file)].iter().map(|to| to.to_str().unwrap()).collect()
    };
    assert_eq!(uses("low.rs"), ["high/deep.rs", "high/wide.rs"]);
    assert_eq!(uses("high/wide.rs"), ["low.rs"]);
    assert_eq!(uses("high/deep.rs"), [""; 0]);
    assert_eq!(uses("printed.rs"), ["low.rs"]);
    assert_eq!(graph.circles(), [["high/wide.rs", "low.rs"].map(PathBuf::from)]);
    let rooms: Vec<_> = graph.rooms().into_keys().collect();
    let names = |(from, to): &(String, String)| format!("{from} -> {to}");
    assert_eq!(rooms.iter().map(names).collect::<Vec<_>>(), ["high -> low", "low -> high", "printed -> low"]);
}
