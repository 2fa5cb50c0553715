//! The colours, and the markers of lines.

use plotters::element::{Circle, Cross, DynElement, IntoDynElement, Polygon, Rectangle, TriangleMarker};
use plotters::prelude::SVGBackend;
use plotters::style::{BLACK, Color, RGBColor};

/// The palette of Okabe and Ito, without yellow, which is invisible on white.
const COLOURS: [RGBColor; 7] = [
    RGBColor(0, 114, 178),
    RGBColor(230, 159, 0),
    RGBColor(0, 158, 115),
    RGBColor(213, 94, 0),
    RGBColor(204, 121, 167),
    RGBColor(86, 180, 233),
    BLACK,
];

/// The colour of lines for reference values.
pub(super) const GUIDE: RGBColor = RGBColor(110, 110, 110);
/// The colour of grid lines.
pub(super) const GRID: RGBColor = RGBColor(226, 226, 226);

/// The colour of entry `index` of the legend.
pub(super) fn colour(index: usize) -> RGBColor {
    COLOURS[index % COLOURS.len()]
}

/// The marker of entry `index`, at a pixel.
pub(super) fn marker<'a>(
    index: usize,
    (x, y): (i32, i32),
) -> DynElement<'static, SVGBackend<'a>, (i32, i32)> {
    let style = colour(index).filled();
    match index % 5 {
        0 => Circle::new((x, y), 4, style).into_dyn(),
        1 => Rectangle::new([(x - 4, y - 4), (x + 4, y + 4)], style).into_dyn(),
        2 => TriangleMarker::new((x, y), 5, style).into_dyn(),
        3 => Polygon::new(vec![(x, y - 5), (x + 5, y), (x, y + 5), (x - 5, y)], style).into_dyn(),
        _ => Cross::new((x, y), 4, colour(index).stroke_width(2)).into_dyn(),
    }
}
