//! Line plots as SVG: panels side by side, each with axes, ticks and a legend.
//!
//! Colours are those of Okabe and Ito (2008, *Color Universal Design*), which people with any kind of colour vision can
//! distinguish.

use std::fmt::Write;

/// A plot of lines with common axes.
#[derive(Debug)]
pub(super) struct Panel {
    pub(super) title: String,
    pub(super) lines: Vec<Line>,
}

/// Points that are joined in their order. One that is not finite leaves a gap.
#[derive(Debug)]
pub(super) struct Line {
    pub(super) name: String,
    pub(super) points: Vec<(f64, f64)>,
}

const COLOURS: [&str; 6] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"];
const COLUMNS: usize = 3;
const WIDTH: f64 = 380.0;
const HEIGHT: f64 = 290.0;
/// The space of a panel around its axes: left, top, right, bottom.
const MARGINS: [f64; 4] = [64.0, 58.0, 18.0, 46.0];
/// The most points of a line that are drawn with a marker each.
const MARKED_POINTS: usize = 40;

/// The plot of these panels, all against the quantity `step`.
pub(super) fn draw(step: &str, panels: &[Panel]) -> String {
    let columns = panels.len().clamp(1, COLUMNS);
    let rows = panels.len().div_ceil(columns);
    let (width, height) = (columns as f64 * WIDTH, rows.max(1) as f64 * HEIGHT);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
         font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"{width}\" height=\"{height}\" fill=\"#fff\"/>\n"
    );
    for (index, panel) in panels.iter().enumerate() {
        let (left, top) = ((index % columns) as f64 * WIDTH, (index / columns) as f64 * HEIGHT);
        let _ = writeln!(svg, "<g transform=\"translate({left} {top})\">");
        draw_panel(&mut svg, step, panel);
        svg += "</g>\n";
    }
    svg += "</svg>\n";
    svg
}

fn draw_panel(svg: &mut String, step: &str, panel: &Panel) {
    let [left, top, right, bottom] = [MARGINS[0], MARGINS[1], WIDTH - MARGINS[2], HEIGHT - MARGINS[3]];
    let points = || panel.lines.iter().flat_map(|line| &line.points).filter(|point| is_finite(point));
    let is_whole = points().all(|point| point.0.fract() == 0.0);
    let across = Axis::new(points().map(|point| point.0), [left, right], is_whole);
    let up = Axis::new(points().map(|point| point.1), [bottom, top], false);
    let title = escaped(&panel.title.replace('_', " "));
    let _ = writeln!(svg, "<text x=\"{left}\" y=\"22\" font-size=\"14\" font-weight=\"bold\">{title}</text>");
    draw_legend(svg, panel, left);
    for (value, label) in across.ticks() {
        let x = across.place(value);
        let _ = writeln!(svg, "<path d=\"M{x:.1} {top}V{:.1}\" stroke=\"#e2e2e2\"/>", bottom + 4.0);
        let _ =
            writeln!(svg, "<text x=\"{x:.1}\" y=\"{}\" text-anchor=\"middle\">{label}</text>", bottom + 18.0);
    }
    for (value, label) in up.ticks() {
        let y = up.place(value);
        let _ = writeln!(svg, "<path d=\"M{} {y:.1}H{right}\" stroke=\"#e2e2e2\"/>", left - 4.0);
        let (x, y) = (left - 8.0, y + 4.0);
        let _ = writeln!(svg, "<text x=\"{x}\" y=\"{y:.1}\" text-anchor=\"end\">{label}</text>");
    }
    let _ = writeln!(svg, "<path d=\"M{left} {top}V{bottom}H{right}\" fill=\"none\" stroke=\"#444\"/>");
    let (middle, below) = ((left + right) / 2.0, bottom + 37.0);
    let step = escaped(&step.replace('_', " "));
    let _ = writeln!(svg, "<text x=\"{middle}\" y=\"{below}\" text-anchor=\"middle\">{step}</text>");
    if points().next().is_none() {
        let y = (top + bottom) / 2.0;
        let _ = writeln!(svg, "<text x=\"{middle}\" y=\"{y}\" text-anchor=\"middle\">no finite value</text>");
    }
    for (line, colour) in panel.lines.iter().zip(COLOURS.iter().cycle()) {
        for piece in line.points.split(|point| !is_finite(point)).filter(|piece| !piece.is_empty()) {
            let places: Vec<String> =
                piece.iter().map(|&(x, y)| format!("{:.1},{:.1}", across.place(x), up.place(y))).collect();
            let places = places.join(" ");
            let _ = writeln!(
                svg,
                "<polyline points=\"{places}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.8\" stroke-linejoin=\"round\"/>"
            );
            if line.points.len() <= MARKED_POINTS || piece.len() == 1 {
                for &(x, y) in piece {
                    let (x, y) = (across.place(x), up.place(y));
                    let _ =
                        writeln!(svg, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"2.6\" fill=\"{colour}\"/>");
                }
            }
        }
    }
}

/// The names of the lines, below the title; nothing if there is one line.
fn draw_legend(svg: &mut String, panel: &Panel, left: f64) {
    if panel.lines.len() < 2 {
        return;
    }
    let mut x = left;
    for (line, colour) in panel.lines.iter().zip(COLOURS.iter().cycle()) {
        let _ = writeln!(svg, "<path d=\"M{x:.1} 39h18\" stroke=\"{colour}\" stroke-width=\"1.8\"/>");
        let _ = writeln!(svg, "<circle cx=\"{:.1}\" cy=\"39\" r=\"2.6\" fill=\"{colour}\"/>", x + 9.0);
        let _ = writeln!(svg, "<text x=\"{:.1}\" y=\"43\">{}</text>", x + 24.0, escaped(&line.name));
        x += 42.0 + 7.0 * line.name.chars().count() as f64;
    }
}

fn is_finite(point: &(f64, f64)) -> bool {
    point.0.is_finite() && point.1.is_finite()
}

/// An axis: values from `low` to `high`, at pixels from one to another.
#[derive(Debug)]
struct Axis {
    low: f64,
    high: f64,
    pixels: [f64; 2],
    /// Values between two ticks.
    step: f64,
}

impl Axis {
    /// An axis with all these values, and a little more.
    fn new(values: impl Iterator<Item = f64>, pixels: [f64; 2], is_whole: bool) -> Self {
        let (low, high) = values
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)));
        let (mut low, mut high) = if low > high { (0.0, 1.0) } else { (low, high) };
        let range = high - low;
        // Values that are equal, or so close that their difference has no digits, and those too far apart for a range.
        let is_range = range.is_finite() && range > 1e-12 * low.abs().max(high.abs());
        let margin = match is_range {
            true => 0.04 * range,
            false if range.is_finite() => (0.1 * low.abs()).max(if is_whole { 1.0 } else { 1e-3 }),
            false => 0.0,
        };
        (low, high) = (low - margin, high + margin);
        let step = round_step(high / 6.0 - low / 6.0).max(if is_whole { 1.0 } else { f64::MIN_POSITIVE });
        Self { low, high, pixels, step }
    }

    /// The pixel of a value.
    fn place(&self, value: f64) -> f64 {
        // Halves, whose difference is finite.
        let part = (value / 2.0 - self.low / 2.0) / (self.high / 2.0 - self.low / 2.0);
        self.pixels[0] + part * (self.pixels[1] - self.pixels[0])
    }

    /// The ticks and their labels.
    fn ticks(&self) -> Vec<(f64, String)> {
        let (first, last) = ((self.low / self.step).ceil(), (self.high / self.step).floor());
        let count = (last - first).clamp(0.0, 20.0) as usize;
        let ticks = (0..=count).map(|index| (first + index as f64) * self.step);
        ticks.map(|value| (value, self.label(value))).collect()
    }

    /// A value with the digits that distinguish ticks.
    fn label(&self, value: f64) -> String {
        let largest = self.low.abs().max(self.high.abs());
        if largest >= 1e6 || self.step < 1e-5 {
            let digits = (largest.log10().floor() - self.step.log10().floor()).clamp(0.0, 15.0) as usize;
            return if value == 0.0 { "0".to_owned() } else { format!("{value:.digits$e}") };
        }
        let decimals = (-self.step.log10()).ceil().max(0.0) as usize;
        let text = format!("{value:.decimals$}");
        // Without "-0.0".
        if value == 0.0 { text.trim_start_matches('-').to_owned() } else { text }
    }
}

/// The number of the form 1, 2 or 5 times a power of ten that is at least `step`.
fn round_step(step: f64) -> f64 {
    if !(step.is_finite() && step > 0.0) {
        return 1.0;
    }
    let power = 10_f64.powf(step.log10().floor());
    let digit = step / power;
    power
        * if digit <= 1.0 {
            1.0
        } else if digit <= 2.0 {
            2.0
        } else if digit <= 5.0 {
            5.0
        } else {
            10.0
        }
}

/// A text in XML.
fn escaped(text: &str) -> String {
    let printable = text.chars().filter(|character| !character.is_control());
    let mut out = String::new();
    for character in printable {
        match character {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(values: &[f64], is_whole: bool) -> Vec<String> {
        let axis = Axis::new(values.iter().copied(), [0.0, 100.0], is_whole);
        axis.ticks().into_iter().map(|(_, label)| label).collect()
    }

    #[test]
    fn ticks_are_round_numbers() {
        assert_eq!(labels(&[0.0, 1.0], false), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(labels(&[1.0, 3.0], true), ["1", "2", "3"]);
        assert_eq!(labels(&[1.0, 30.0], true), ["0", "10", "20", "30"]);
        assert_eq!(labels(&[-1.0, 1.0], false), ["-1.0", "-0.5", "0.0", "0.5", "1.0"]);
        assert_eq!(labels(&[0.0, 4e7], false), ["0", "1e7", "2e7", "3e7", "4e7"]);
        assert_eq!(labels(&[0.9e6, 1.5e6], false), ["1.0e6", "1.2e6", "1.4e6"]);
        assert_eq!(labels(&[5.0], true), ["4", "5", "6"]);
    }

    #[test]
    fn all_values_are_on_the_axis() {
        let largest = f64::MAX / 2.0;
        for values in [[0.0, 0.0], [-3.0, 1e-9], [1e300, 1e300], [-largest, largest], [1e-300, 2e-300]] {
            let axis = Axis::new(values.into_iter(), [0.0, 100.0], false);
            for value in values {
                assert!((0.0..=100.0).contains(&axis.place(value)), "{value:e} of {values:?}: {axis:?}");
            }
            assert!(axis.ticks().len() <= 21);
            let inside = |(value, _): (f64, String)| (-1.0..=101.0).contains(&axis.place(value));
            assert!(axis.ticks().into_iter().all(inside), "{values:?}: {:?}", axis.ticks());
        }
        assert!(Axis::new([].into_iter(), [0.0, 1.0], false).place(0.5).is_finite());
    }

    #[test]
    fn names_are_escaped_and_gaps_divide_lines() {
        let points = vec![(1.0, 1.0), (2.0, f64::NAN), (3.0, 2.0), (4.0, 3.0)];
        let line = |name: &str| Line { name: name.to_owned(), points: points.clone() };
        let panel = Panel { title: "a<b".to_owned(), lines: vec![line("x&y"), line("z")] };
        let svg = draw("step", &[panel, Panel { title: "none".to_owned(), lines: vec![] }]);
        assert!(svg.contains(">a&lt;b<") && svg.contains(">x&amp;y<") && svg.contains("no finite value"));
        assert_eq!((svg.matches("<polyline").count(), svg.matches("NaN").count()), (4, 0));
    }
}
