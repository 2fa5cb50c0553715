//! Draws the floors of dahl from its code: `cargo run -p dahl-floors [ROOT]` writes `docs/images/floors.svg` and prints
//! a summary.

use std::path::PathBuf;
use std::{env, fs, io};

use dahl_floors::graph::Graph;
use dahl_floors::order::{CRATES, ROOMS};
use dahl_floors::{crates, drawing, modules};

fn main() -> io::Result<()> {
    let here = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let root = env::args().nth(1).map_or_else(|| PathBuf::from(here), PathBuf::from);
    let folders: Vec<&str> = CRATES.iter().flat_map(|row| row.iter().map(|(_, folder)| *folder)).collect();
    let (_, dependencies) = crates::read(&root, &folders);
    let graph = Graph::new(&modules::read(&root.join("dahl-core/src")));
    let arrows = graph.rooms();
    for ((from, to), files) in &arrows {
        println!("{from} -> {to}: {}", files.len());
    }
    for circle in graph.circles() {
        println!("a circle of {} files", circle.len());
    }
    fs::write(root.join("docs/images/floors.svg"), drawing::draw(CRATES, &dependencies, ROOMS, &arrows))
}
