//! Plots of the studies: a [`Figure`] of panels with one legend beside them, all in one style.
//!
//! Colours are those of Okabe and Ito (2008, *Color Universal Design*), which people with any kind of colour vision can
//! distinguish. Lines also differ in their markers, for print. The studies decide which figures are drawn.

mod axis;
mod bars;
mod legend;
mod lines;
mod palette;

use std::fmt::Display;
use std::path::Path;

use plotters::coord::Shift;
use plotters::prelude::*;

pub(crate) use axis::Axis;
pub(crate) use bars::{Bar, Bars};
pub(crate) use lines::{Lines, Point, Series};

use crate::trouble::Trouble;
use legend::Legend;

/// The drawing area of plotters.
type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// The result of drawing.
type Drawn = Result<(), Box<dyn std::error::Error>>;

const PANEL_WIDTH: u32 = 390;
const TITLE_HEIGHT: u32 = 34;
const TITLE_SIZE: u32 = 17;
const CAPTION_SIZE: u32 = 14;
const TEXT_SIZE: u32 = 13;

/// Panels in one or several rows, with one legend.
pub(crate) struct Figure {
    title: String,
    columns: usize,
    panels: Vec<Panel>,
}

/// A plot of a figure.
pub(crate) enum Panel {
    Lines(Lines),
    Bars(Bars),
}

impl From<Lines> for Panel {
    fn from(lines: Lines) -> Self {
        Self::Lines(lines)
    }
}

impl From<Bars> for Panel {
    fn from(bars: Bars) -> Self {
        Self::Bars(bars)
    }
}

impl Panel {
    fn height(&self) -> u32 {
        match self {
            Self::Lines(_) => lines::HEIGHT,
            Self::Bars(bars) => bars.height(),
        }
    }

    /// The entries of the legend.
    fn names(&self) -> Vec<(&str, legend::Key)> {
        match self {
            Self::Lines(lines) => lines.names().collect(),
            Self::Bars(bars) => bars.names().collect(),
        }
    }

    fn draw(&self, area: &Area<'_>, legend: &Legend) -> Drawn {
        match self {
            Self::Lines(lines) => lines.draw(area, legend),
            Self::Bars(bars) => bars.draw(area, legend),
        }
    }
}

impl Figure {
    /// A figure with so many columns of panels.
    pub(crate) fn new(title: impl Into<String>, columns: usize) -> Self {
        Self { title: title.into(), columns, panels: Vec::new() }
    }

    /// Adds a panel.
    pub(crate) fn panel(mut self, panel: impl Into<Panel>) -> Self {
        self.panels.push(panel.into());
        self
    }

    /// Writes the figure as SVG.
    pub(crate) fn write(&self, path: &Path) -> Result<(), Trouble> {
        self.draw(path).map_err(|error| Trouble::unwritable(path, error))
    }

    fn draw(&self, path: &Path) -> Drawn {
        let mut legend = Legend::default();
        for (name, key) in self.panels.iter().flat_map(Panel::names) {
            legend.add(name, key);
        }
        let rows: Vec<&[Panel]> = self.panels.chunks(self.columns).collect();
        let heights = rows.iter().map(|row| row.iter().map(Panel::height).max().unwrap_or(0));
        let heights: Vec<u32> = heights.collect();
        let panels_width = PANEL_WIDTH * self.columns as u32;
        let size = (panels_width + legend.width(), TITLE_HEIGHT + heights.iter().sum::<u32>());
        let root = SVGBackend::new(path, size).into_drawing_area();
        root.fill(&WHITE)?;
        let title = ("sans-serif", TITLE_SIZE).into_font().style(FontStyle::Bold);
        root.draw(&Text::new(self.title.clone(), (14, 10), title.color(&BLACK)))?;
        let (_, below) = root.split_vertically(TITLE_HEIGHT);
        let (left, right) = below.split_horizontally(panels_width);
        legend.draw(&right)?;
        let mut rest = left;
        for (row, height) in rows.into_iter().zip(heights) {
            let (area, below) = rest.split_vertically(height);
            rest = below;
            for (panel, area) in row.iter().zip(area.split_evenly((1, self.columns))) {
                panel.draw(&area, &legend)?;
            }
        }
        root.present()?;
        Ok(())
    }
}

/// A number with at most three significant digits.
pub(crate) fn number(value: impl Into<f64>) -> String {
    let value: f64 = value.into();
    let scaled = |value: f64, unit: &str| {
        let decimals = if value.abs() >= 99.95 || value.fract().abs() < 1e-9 { 0 } else { 1 };
        format!("{value:.decimals$}{unit}")
    };
    match value.abs() {
        size if size >= 1e9 => scaled(value / 1e9, "G"),
        size if size >= 1e6 => scaled(value / 1e6, "M"),
        size if size >= 1e4 => scaled(value / 1e3, "k"),
        size if size >= 1.0 || size == 0.0 => scaled(value, ""),
        size => {
            let decimals = (2.0 - size.log10().floor()) as usize;
            let text = format!("{value:.decimals$}");
            text.trim_end_matches('0').to_owned()
        }
    }
}

/// Ticks at these values.
pub(crate) fn at<T: Copy + Display>(values: &[T], value: impl Fn(T) -> f64) -> Vec<(f64, String)> {
    values.iter().map(|&tick| (value(tick), tick.to_string())).collect()
}
