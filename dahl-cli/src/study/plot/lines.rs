//! [`Lines`]: values against a quantity.

use plotters::element::DashedPathElement;
use plotters::prelude::*;

use super::axis::Axis;
use super::legend::{Key, Legend};
use super::palette::{GRID, GUIDE, colour, marker};
use super::{Area, CAPTION_SIZE, Drawn, TEXT_SIZE};

pub(super) const HEIGHT: u32 = 310;
const LABEL_WIDTH: u32 = 62;
const LABEL_HEIGHT: u32 = 44;
/// Half the width of the ends of a whisker.
const WHISKER: i32 = 3;

/// A panel with a line for each series.
pub(crate) struct Lines {
    caption: String,
    x: Axis,
    y: Axis,
    series: Vec<Series>,
    guides: Vec<(String, Vec<(f64, f64)>)>,
}

/// One line.
pub(crate) struct Series {
    name: String,
    points: Vec<Point>,
}

/// A value, and the spread of its measurements.
#[derive(Clone, Copy)]
pub(crate) struct Point {
    pub(crate) x: f64,
    pub(crate) y: f64,
    pub(crate) low: f64,
    pub(crate) high: f64,
}

impl Point {
    /// A value that is exact.
    pub(crate) fn exact(x: f64, y: f64) -> Self {
        Self { x, y, low: y, high: y }
    }
}

impl Series {
    pub(crate) fn new(name: impl Into<String>, points: Vec<Point>) -> Self {
        Self { name: name.into(), points }
    }
}

impl Lines {
    pub(crate) fn new(caption: impl Into<String>, x: Axis, y: Axis) -> Self {
        Self { caption: caption.into(), x, y, series: Vec::new(), guides: Vec::new() }
    }

    pub(crate) fn series(mut self, series: Series) -> Self {
        self.series.push(series);
        self
    }

    /// Adds a dashed line for reference values.
    pub(crate) fn guide(mut self, name: impl Into<String>, points: Vec<(f64, f64)>) -> Self {
        self.guides.push((name.into(), points));
        self
    }

    pub(super) fn names(&self) -> impl Iterator<Item = (&str, Key)> {
        let series = self.series.iter().map(|series| (series.name.as_str(), Key::Line));
        series.chain(self.guides.iter().map(|(name, _)| (name.as_str(), Key::Guide)))
    }

    pub(super) fn draw(&self, area: &Area<'_>, legend: &Legend) -> Drawn {
        let points = || self.series.iter().flat_map(|series| &series.points);
        let guides = || self.guides.iter().flat_map(|(_, points)| points);
        let x = self.x.scale(points().map(|point| point.x).chain(guides().map(|point| point.0)));
        let values = points().flat_map(|point| [point.y, point.low, point.high]);
        let y = self.y.scale(values.chain(guides().map(|point| point.1)));
        let (x_ticks, y_ticks) = (x.ticks(), y.ticks());
        let within = (x.clone(), y.clone());
        let mut builder = ChartBuilder::on(area);
        builder.caption(&self.caption, ("sans-serif", CAPTION_SIZE)).margin(8).margin_right(18);
        builder.x_label_area_size(LABEL_HEIGHT).y_label_area_size(LABEL_WIDTH);
        let mut chart = builder.build_cartesian_2d(x, y)?;
        let mut mesh = chart.configure_mesh();
        mesh.x_labels(x_ticks.max(1)).y_labels(y_ticks.max(1)).light_line_style(TRANSPARENT);
        mesh.bold_line_style(GRID).label_style(("sans-serif", TEXT_SIZE));
        mesh.x_desc(&self.x.label).y_desc(&self.y.label).axis_desc_style(("sans-serif", TEXT_SIZE)).draw()?;
        let place = |x: f64, y: f64| (within.0.within(x), within.1.within(y));
        for (_, points) in &self.guides {
            let line: Vec<_> = points.iter().map(|&(x, y)| chart.backend_coord(&place(x, y))).collect();
            area.draw(&DashedPathElement::new(relative(area, line), 5, 4, GUIDE.stroke_width(1)))?;
        }
        for series in &self.series {
            let index = legend.index(&series.name);
            let at = |x, y| relative(area, vec![chart.backend_coord(&place(x, y))])[0];
            let line: Vec<_> = series.points.iter().map(|point| at(point.x, point.y)).collect();
            for (point, &(x, _)) in
                series.points.iter().zip(&line).filter(|(point, _)| point.low < point.high)
            {
                let (low, high) = (at(point.x, point.low).1, at(point.x, point.high).1);
                whisker(area, index, x, [low, high])?;
            }
            area.draw(&PathElement::new(line.clone(), colour(index).stroke_width(2)))?;
            for pixel in line {
                area.draw(&marker(index, pixel))?;
            }
        }
        Ok(())
    }
}

fn whisker(area: &Area<'_>, index: usize, x: i32, ends: [i32; 2]) -> Drawn {
    let style = colour(index).stroke_width(1);
    area.draw(&PathElement::new(ends.map(|y| (x, y)).to_vec(), style))?;
    for y in ends {
        area.draw(&PathElement::new(vec![(x - WHISKER, y), (x + WHISKER, y)], style))?;
    }
    Ok(())
}

/// Converts pixels of the whole picture to pixels of an area.
pub(super) fn relative(area: &Area<'_>, pixels: Vec<(i32, i32)>) -> Vec<(i32, i32)> {
    let (left, top) = area.get_base_pixel();
    pixels.into_iter().map(|(x, y)| (x - left, y - top)).collect()
}
