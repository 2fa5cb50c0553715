//! The floors as a picture in SVG: crates as boxes, with the core's modules inside, lower floors below.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use crate::crates::Dependency;
use crate::graph::Arrows;

const WIDTH: f64 = 1080.0;
const MARGIN: f64 = 24.0;
const CRATE_WIDTH: f64 = 150.0;
const CORE_WIDTH: f64 = 4.0 * (ROOM_WIDTH + 34.0) + 40.0;
const CRATE_HEIGHT: f64 = 46.0;
const CRATE_GAP: f64 = 44.0;
const ROOM_HEIGHT: f64 = 30.0;
const ROOM_GAP: f64 = 26.0;
const ROOM_WIDTH: f64 = 108.0;

#[derive(Clone, Copy)]
struct Rectangle {
    x: f64,
    y: f64,
    width: f64,
    height: f64,
}

impl Rectangle {
    fn bottom(self) -> (f64, f64) {
        (self.x + self.width / 2.0, self.y + self.height)
    }

    fn top(self) -> (f64, f64) {
        (self.x + self.width / 2.0, self.y)
    }
}

/// The picture of `crates` and of the modules `rooms`, floor by floor from the lowest, and of the arrows between them.
/// Downward arrows that follow from others are left out.
pub fn draw(
    crates: &[&[(&str, &str)]],
    dependencies: &BTreeSet<Dependency>,
    rooms: &[&[&str]],
    arrows: &Arrows,
) -> String {
    let floors = rooms.iter().enumerate();
    let floor: BTreeMap<&str, usize> =
        floors.flat_map(|(floor, row)| row.iter().map(move |name| (*name, floor))).collect();
    let core_height = rooms.len() as f64 * (ROOM_HEIGHT + ROOM_GAP) + 40.0;
    let mut places: BTreeMap<String, Rectangle> = BTreeMap::new();
    let mut y = MARGIN;
    for row in crates.iter().rev() {
        let has_core = row.iter().any(|(name, _)| *name == "dahl-core");
        let height = if has_core { core_height } else { CRATE_HEIGHT };
        for (name, x) in row_of(row, dependencies, &places) {
            let width = if name == "dahl-core" { CORE_WIDTH } else { CRATE_WIDTH };
            let height = if name == "dahl-core" { height } else { CRATE_HEIGHT };
            places.insert(name.to_owned(), Rectangle { x, y, width, height });
        }
        y += height + CRATE_GAP;
    }
    let mut room_places = BTreeMap::new();
    let core = places["dahl-core"];
    for (floor, row) in rooms.iter().enumerate() {
        let y = core.y + core.height - (floor + 1) as f64 * (ROOM_HEIGHT + ROOM_GAP) + ROOM_GAP / 2.0;
        let step = core.width / row.len() as f64;
        for (index, name) in row.iter().enumerate() {
            // Every second floor is shifted a little, so that long arrows do not meet.
            let aside = if row.len() == 1 { if floor % 2 == 0 { -70.0 } else { 70.0 } } else { 0.0 };
            let x = core.x + step * (index as f64 + 0.5) - ROOM_WIDTH / 2.0 + aside;
            room_places
                .insert((*name).to_owned(), Rectangle { x, y, width: ROOM_WIDTH, height: ROOM_HEIGHT });
        }
    }

    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {y:.0}\" font-family=\"sans-serif\" font-size=\"13\">\n\
         <defs><marker id=\"down\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" orient=\"auto\">\
         <path d=\"M0 0 8 4 0 8z\" fill=\"#8795a1\"/></marker><marker id=\"up\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" \
         markerWidth=\"7\" markerHeight=\"7\" orient=\"auto\"><path d=\"M0 0 8 4 0 8z\" fill=\"#c0392b\"/></marker></defs>\n\
         <rect width=\"{WIDTH}\" height=\"{y:.0}\" fill=\"#fff\"/>\n"
    );
    for (name, place) in &places {
        let is_core = name == "dahl-core";
        write_box(&mut svg, *place, name, if is_core { "#eef3f7" } else { "#dbe7f0" }, is_core);
    }
    let pairs: BTreeSet<(String, String)> =
        dependencies.iter().map(|dependency| (dependency.from.clone(), dependency.to.clone())).collect();
    for (from, to) in reduced(&pairs) {
        write_arrow(&mut svg, places[&from].bottom(), places[&to].top(), false);
    }
    let is_down = |(from, to): &&(String, String)| floor[&**from] > floor[&**to];
    let down: BTreeSet<_> = arrows.keys().filter(is_down).cloned().collect();
    for (from, to) in reduced(&down) {
        write_arrow(&mut svg, room_places[&from].bottom(), room_places[&to].top(), false);
    }
    for (from, to) in arrows.keys().filter(|arrow| !is_down(arrow)) {
        write_arrow(&mut svg, room_places[from].top(), room_places[to].bottom(), true);
    }
    for (name, place) in &room_places {
        write_box(&mut svg, *place, name, "#fff", false);
    }
    let up = arrows.keys().filter(|arrow| !is_down(arrow)).count();
    let _ = writeln!(
        svg,
        "<text x=\"{MARGIN}\" y=\"{:.0}\" fill=\"#555\">Grey: what is above uses what is below; what follows from other arrows \
         is left out. Red: the {up} exceptions.</text>\n</svg>",
        y - 14.0
    );
    svg
}

/// The positions of the crates of a row: the core at the left, others below the middle of those that depend on them,
/// side by side.
fn row_of<'a>(
    row: &[(&'a str, &str)],
    dependencies: &BTreeSet<Dependency>,
    places: &BTreeMap<String, Rectangle>,
) -> Vec<(&'a str, f64)> {
    let middle = |name: &str| {
        let above = dependencies.iter().filter(|dependency| dependency.to == name);
        let middles: Vec<f64> =
            above.filter_map(|dependency| Some(places.get(&dependency.from)?.bottom().0)).collect();
        let sum: f64 = middles.iter().sum();
        if middles.is_empty() { WIDTH / 2.0 } else { sum / middles.len() as f64 }
    };
    let mut wanted: Vec<(&str, f64)> =
        row.iter().map(|(name, _)| (*name, if *name == "dahl-core" { 0.0 } else { middle(name) })).collect();
    wanted.sort_by(|(_, a), (_, b)| a.total_cmp(b));
    let mut free = MARGIN;
    let mut placed = Vec::new();
    for (name, middle) in wanted {
        let width = if name == "dahl-core" { CORE_WIDTH } else { CRATE_WIDTH };
        let x = free.max(middle - width / 2.0);
        free = x + width + CRATE_GAP;
        placed.push((name, x));
    }
    placed
}

/// The arrows that do not follow from others.
fn reduced(arrows: &BTreeSet<(String, String)>) -> BTreeSet<(String, String)> {
    let leads = |from: &String, to: &String| {
        let (mut open, mut seen) = (vec![from.clone()], BTreeSet::new());
        while let Some(at) = open.pop() {
            for (_, next) in arrows.iter().filter(|(start, _)| *start == at) {
                if (&at, next) == (from, to) {
                    continue;
                }
                if next == to {
                    return true;
                }
                if seen.insert(next.clone()) {
                    open.push(next.clone());
                }
            }
        }
        false
    };
    arrows.iter().filter(|(from, to)| !leads(from, to)).cloned().collect()
}

fn write_box(svg: &mut String, at: Rectangle, name: &str, fill: &str, is_outer: bool) {
    let Rectangle { x, y, width, height } = at;
    let (middle, line) = (x + width / 2.0, if is_outer { y + 20.0 } else { y + height / 2.0 + 4.5 });
    let _ = writeln!(
        svg,
        "<rect x=\"{x:.0}\" y=\"{y:.0}\" width=\"{width:.0}\" height=\"{height:.0}\" rx=\"5\" fill=\"{fill}\" \
         stroke=\"#5b7083\"/><text x=\"{middle:.0}\" y=\"{line:.0}\" text-anchor=\"middle\">{name}</text>"
    );
}

fn write_arrow(svg: &mut String, from: (f64, f64), to: (f64, f64), is_up: bool) {
    let (color, marker, dash) = if is_up {
        ("#c0392b", "up", " stroke-dasharray=\"5 3\" opacity=\"0.55\"")
    } else {
        ("#8795a1", "down", "")
    };
    let middle = (from.1 + to.1) / 2.0;
    let _ = writeln!(
        svg,
        "<path d=\"M{:.0} {:.0}C{:.0} {middle:.0} {:.0} {middle:.0} {:.0} {:.0}\" fill=\"none\" stroke=\"{color}\"{dash} \
         marker-end=\"url(#{marker})\"/>",
        from.0, from.1, from.0, to.0, to.0, to.1
    );
}
