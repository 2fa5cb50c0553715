//! That the code keeps the order of `order.rs`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

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
