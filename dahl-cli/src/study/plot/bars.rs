//! [`Bars`]: values with names, one bar under the other.

use plotters::element::DashedPathElement;
use plotters::prelude::*;

use super::axis::Axis;
use super::legend::{Key, Legend};
use super::lines::relative;
use super::palette::{GRID, GUIDE, colour};
use super::{Area, CAPTION_SIZE, Drawn, TEXT_SIZE};

const BAR_HEIGHT: u32 = 26;
const AROUND: u32 = 88;
const LABEL_WIDTH: u32 = 100;
/// The fraction of its row that a bar's height fills.
const FILLED: f64 = 0.68;

/// A panel of horizontal bars.
pub(crate) struct Bars {
    caption: String,
    x: Axis,
    bars: Vec<Bar>,
    guide: Option<(String, f64)>,
}

/// A bar: consecutive parts, each with its name in the legend.
pub(crate) struct Bar {
    label: String,
    parts: Vec<(String, f64)>,
    spread: Option<(f64, f64)>,
}

impl Bar {
    /// A bar with one part; bars with the same name have the same colour.
    pub(crate) fn new(label: impl Into<String>, name: impl Into<String>, value: f64) -> Self {
        Self { label: label.into(), parts: vec![(name.into(), value)], spread: None }
    }

    /// A bar of several parts.
    pub(crate) fn stacked(label: impl Into<String>, parts: Vec<(String, f64)>) -> Self {
        Self { label: label.into(), parts, spread: None }
    }

    /// Sets the spread of the measurements.
    pub(crate) fn spread(mut self, low: f64, high: f64) -> Self {
        self.spread = (low < high).then_some((low, high));
        self
    }

    fn end(&self) -> f64 {
        self.parts.iter().map(|(_, value)| value).sum()
    }
}

impl Bars {
    pub(crate) fn new(caption: impl Into<String>, x: Axis) -> Self {
        Self { caption: caption.into(), x, bars: Vec::new(), guide: None }
    }

    pub(crate) fn bar(mut self, bar: Bar) -> Self {
        self.bars.push(bar);
        self
    }

    /// Adds a dashed line at a reference value.
    pub(crate) fn guide(mut self, name: impl Into<String>, value: f64) -> Self {
        self.guide = Some((name.into(), value));
        self
    }

    pub(super) fn height(&self) -> u32 {
        AROUND + BAR_HEIGHT * self.bars.len() as u32
    }

    pub(super) fn names(&self) -> impl Iterator<Item = (&str, Key)> {
        let parts = self.bars.iter().flat_map(|bar| &bar.parts).map(|(name, _)| (name.as_str(), Key::Area));
        parts.chain(self.guide.iter().map(|(name, _)| (name.as_str(), Key::Guide)))
    }

    pub(super) fn draw(&self, area: &Area<'_>, legend: &Legend) -> Drawn {
        // Panels beside this one may be higher.
        let (area, _) = area.split_vertically(self.height());
        let ends = self.bars.iter().flat_map(|bar| [bar.end(), bar.spread.map_or(0.0, |spread| spread.1)]);
        let x = self.x.scale(ends.chain(self.guide.iter().map(|(_, value)| *value)));
        let count = self.bars.len() as f64;
        let middle = |index: usize| count - index as f64 - 0.5;
        let labels = self.bars.iter().enumerate().map(|(index, bar)| (middle(index), bar.label.clone()));
        let y = Axis::linear("").to(count).ticks(labels.collect()).scale(std::iter::empty());
        let (x_ticks, y_ticks, within) = (x.ticks(), y.ticks(), x.clone());
        let mut builder = ChartBuilder::on(&area);
        builder.caption(&self.caption, ("sans-serif", CAPTION_SIZE)).margin(8).margin_right(18);
        builder.x_label_area_size(44).y_label_area_size(LABEL_WIDTH);
        let mut chart = builder.build_cartesian_2d(x, y)?;
        let mut mesh = chart.configure_mesh();
        mesh.disable_y_mesh().x_labels(x_ticks.max(1)).y_labels(y_ticks.max(1)).light_line_style(TRANSPARENT);
        mesh.bold_line_style(GRID).label_style(("sans-serif", TEXT_SIZE));
        mesh.x_desc(&self.x.label).axis_desc_style(("sans-serif", TEXT_SIZE)).draw()?;
        let at = |x: f64, y: f64| relative(&area, vec![chart.backend_coord(&(within.within(x), y))])[0];
        for (index, bar) in self.bars.iter().enumerate() {
            let (mut begin, middle) = (0.0, middle(index));
            for (name, value) in &bar.parts {
                let corners = [at(begin, middle + FILLED / 2.0), at(begin + value, middle - FILLED / 2.0)];
                area.draw(&Rectangle::new(corners, colour(legend.index(name)).filled()))?;
                begin += value;
            }
            if let Some((low, high)) = bar.spread {
                let ends = vec![at(low, middle), at(high, middle)];
                area.draw(&PathElement::new(ends.clone(), BLACK.stroke_width(1)))?;
                for (x, y) in ends {
                    area.draw(&PathElement::new(vec![(x, y - 4), (x, y + 4)], BLACK.stroke_width(1)))?;
                }
            }
        }
        if let Some((_, value)) = self.guide {
            let line = vec![at(value, 0.0), at(value, count)];
            area.draw(&DashedPathElement::new(line, 5, 4, GUIDE.stroke_width(1)))?;
        }
        Ok(())
    }
}
