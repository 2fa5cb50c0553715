//! A program as one page in HTML, without scripts and without requests to the network: the graph, the memory plans, the tasks.

use std::collections::HashMap;
use std::fmt::Write as _;

use dahl::program::{Effort, Listing, MemoryPlan, StepRow};
use dahl_trace::{PAGE_STYLE, codelet_color};

use super::layout::Layout;

const PAGE: &str = include_str!("page/page.html");
const STYLE: &str = include_str!("page/page.css");

/// The height of a box, and the distance from one layer to the next, in pixels.
const BOX: f64 = 38.0;
const LAYER: f64 = 66.0;
/// The width of a letter in a box.
const LETTER: f64 = 7.3;
/// The most letters of a line in a box.
const LETTERS: usize = 34;
/// The size of a drawing of memory.
const MEMORY: (f64, f64) = (1000.0, 260.0);

/// The colours of actions: those that occur most come first.
struct Colors<'a> {
    of: HashMap<&'a str, &'static str>,
    /// With the number of steps.
    legend: Vec<(&'a str, usize)>,
}

/// The page of a program.
pub(super) fn page(listing: &Listing) -> String {
    let rows = listing.rows();
    let colors = Colors::of(&rows);
    let mut reordered = listing.clone();
    let (ordered, tight) =
        (listing.memory_plan(), reordered.plan_tightly(&Effort { steps: 20_000_000, ..Effort::default() }));
    let tight_rows = reordered.rows();
    let marks = [
        ("title", escaped(listing.name())),
        ("style", format!("{PAGE_STYLE}\n{STYLE}")),
        ("signature", escaped(&listing.signature())),
        ("figures", figures(listing, &ordered, &tight)),
        ("legend", colors.legend()),
        ("graph", graph(listing, &rows, &colors)),
        ("ordered", memory(&ordered, &rows, &colors)),
        ("tight", memory(&tight, &tight_rows, &colors)),
        ("tasks", tasks(&rows)),
    ];
    let mut page = String::new();
    for piece in PAGE.split_inclusive("}}") {
        let Some((text, mark)) = piece.rsplit_once("{{") else {
            page.push_str(piece);
            continue;
        };
        let value = marks.iter().find(|(name, _)| mark.strip_suffix("}}") == Some(name));
        page.push_str(text);
        page.push_str(&value.expect("page.html has no other marks").1);
    }
    page
}

impl<'a> Colors<'a> {
    fn of(rows: &'a [StepRow]) -> Self {
        let mut counts: HashMap<&str, usize> = HashMap::new();
        for row in rows {
            *counts.entry(&row.action).or_default() += 1;
        }
        let mut legend: Vec<(&str, usize)> = counts.into_iter().collect();
        legend.sort_by(|one, other| other.1.cmp(&one.1).then(one.0.cmp(other.0)));
        let of =
            legend.iter().enumerate().map(|(place, (action, _))| (*action, codelet_color(place))).collect();
        Self { of, legend }
    }

    fn legend(&self) -> String {
        let item = |(action, count): &(&str, usize)| {
            let color = self.of[action];
            format!("<li><i style=\"background:{color}\"></i>{} <b>{count}</b></li>", escaped(action))
        };
        self.legend.iter().map(item).collect()
    }
}

fn figures(listing: &Listing, ordered: &MemoryPlan, tight: &MemoryPlan) -> String {
    let figures = [
        ("Tasks", listing.tasks().to_string()),
        ("Dependencies", listing.edges().len().to_string()),
        ("Arrays", listing.arrays().to_string()),
        ("Memory, any order", bytes(ordered.peak_bytes())),
        ("Memory, tight", bytes(tight.peak_bytes())),
        ("Every order needs", bytes(tight.least_bytes())),
        ("Without sharing", bytes(ordered.sum_bytes())),
    ];
    let bodies = ("Bodies, tight", bytes(tight.bodies_bytes()));
    let figures = figures.into_iter().chain((tight.bodies_bytes() > 0).then_some(bodies));
    figures.map(|(name, value)| format!("<div><dt>{name}</dt><dd>{value}</dd></div>")).collect()
}

/// The graph: a box for each step, which leads to its row in the table.
fn graph(listing: &Listing, rows: &[StepRow], colors: &Colors<'_>) -> String {
    let texts: Vec<(String, String)> = rows
        .iter()
        .map(|row| (shortened(&row.action), shortened(row.writes.as_deref().unwrap_or_default())))
        .collect();
    let letters = |(one, other): &(String, String)| one.chars().count().max(other.chars().count());
    let widths: Vec<f64> = texts.iter().map(|texts| letters(texts) as f64 * LETTER + 22.0).collect();
    let layout = Layout::new(&widths, &listing.edges());
    let (width, height) = (layout.width, layout.layers as f64 * LAYER);
    let mut svg = format!(
        "<svg width=\"{width:.0}\" height=\"{height:.0}\" role=\"img\" aria-label=\"The graph of the tasks\">"
    );
    let top = |layer: usize| layer as f64 * LAYER + (LAYER - BOX) / 2.0;
    for line in &layout.lines {
        let (x, layer) = line[0];
        let mut at = (x, top(layer) + BOX);
        let _ = write!(svg, "<path d=\"M{:.1} {:.1}", at.0, at.1);
        for (index, &(x, layer)) in line.iter().enumerate().skip(1) {
            let (from, to) = (at.1, top(layer));
            let middle = f64::midpoint(from, to);
            let _ = write!(svg, " C{:.1} {middle:.1} {x:.1} {middle:.1} {x:.1} {to:.1}", at.0);
            at = (x, to);
            if index + 1 < line.len() {
                at.1 = to + BOX;
                let _ = write!(svg, " V{:.1}", at.1);
            }
        }
        svg.push_str("\"/>");
    }
    for ((row, texts), (&width, &(x, layer))) in
        rows.iter().zip(&texts).zip(widths.iter().zip(&layout.places))
    {
        let (left, top, color) = (x - width / 2.0, top(layer), colors.of[&*row.action]);
        let title = escaped(&format!("{}: {}\n{}", row.number, row.line, row.source));
        let _ = write!(
            svg,
            "<a href=\"#step-{}\"><title>{title}</title><rect x=\"{left:.1}\" y=\"{top:.1}\" width=\"{width:.1}\" height=\"{BOX}\" rx=\"6\"/><rect class=\"mark\" x=\"{left:.1}\" y=\"{top:.1}\" width=\"6\" height=\"{BOX}\" rx=\"3\" style=\"fill:{color}\"/><text x=\"{:.1}\" y=\"{:.1}\"><tspan>{}</tspan><tspan class=\"quiet\" x=\"{:.1}\" dy=\"15\">{}</tspan></text></a>",
            row.number,
            left + 14.0,
            top + 16.0,
            escaped(&texts.0),
            left + 14.0,
            escaped(&texts.1),
        );
    }
    svg.push_str("</svg>");
    svg
}

/// The arrays of a plan: the steps from left to right, the block of memory from below to above.
fn memory(plan: &MemoryPlan, rows: &[StepRow], colors: &Colors<'_>) -> String {
    let (width, height) = MEMORY;
    let peak = plan.peak_bytes();
    if peak == 0 {
        return "<p class=\"quiet\">The program makes no arrays.</p>".to_owned();
    }
    let label = format!("The places of {} arrays in {peak} bytes", plan.places().len());
    let mut svg = format!(
        "<svg class=\"memory\" viewBox=\"0 0 {width} {height}\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\"{label}\">"
    );
    let (a_step, a_byte) = (width / rows.len() as f64, height / peak as f64);
    for place in plan.places() {
        let (first, last) = place.lifetime;
        let (left, right) = (first as f64 * a_step, (last + 1) as f64 * a_step);
        let top = height - (place.offset + place.bytes) as f64 * a_byte;
        let color = colors.of[&*rows[first].action];
        let from = format!("bytes {} to {}", place.offset, place.offset + place.bytes);
        let title = escaped(&format!("{}: {from}, from step {first} to {last}", place.label));
        let _ = write!(
            svg,
            "<rect x=\"{left:.2}\" y=\"{top:.2}\" width=\"{:.2}\" height=\"{:.2}\" fill=\"{color}\"><title>{title}</title></rect>",
            right - left,
            place.bytes as f64 * a_byte
        );
    }
    svg.push_str("</svg>");
    let needs = match (plan.is_optimal(), plan.least_bytes()) {
        (true, least) if least == peak => "the least possible".to_owned(),
        (true, _) => "the least possible in this order".to_owned(),
        (false, _) => format!("this order needs at least {}", bytes(plan.lower_bound_bytes())),
    };
    let _ = write!(
        svg,
        "<p class=\"quiet\">{}: {needs}. From left to right: {} steps.</p>",
        bytes(peak),
        rows.len()
    );
    svg
}

fn tasks(rows: &[StepRow]) -> String {
    let row = |row: &StepRow| {
        let StepRow { number, line, codelet, declaration, inside, source, .. } = row;
        let inside = if inside.is_empty() {
            String::new()
        } else {
            format!("<pre>{}</pre>", escaped(&inside.join("\n")))
        };
        let [line, codelet, declaration, source] = [
            line,
            codelet.as_deref().unwrap_or_default(),
            declaration.as_deref().unwrap_or_default(),
            source,
        ]
        .map(escaped);
        format!(
            "<tr id=\"step-{number}\"><td class=\"number\">{number}</td><td><code>{line}</code>{inside}</td><td><code>{codelet}</code></td><td><code class=\"quiet\">{declaration}</code></td><td class=\"quiet\">{source}</td></tr>\n"
        )
    };
    rows.iter().map(row).collect()
}

fn bytes(bytes: usize) -> String {
    crate::units::bytes(bytes as f64)
}

fn shortened(text: &str) -> String {
    if text.chars().count() <= LETTERS {
        return text.to_owned();
    }
    text.chars().take(LETTERS - 1).chain(['\u{2026}']).collect()
}

fn escaped(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;");
    text.replace(|letter: char| letter.is_control() && letter != '\n', "\u{fffd}")
}
