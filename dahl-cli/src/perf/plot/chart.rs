//! The drawing: logarithmic axes; for each footprint the median, its spread, and the range from the shortest to the
//! longest duration; for each kernel its curve.

use std::error::Error;
use std::ops::Range;
use std::path::Path;

use plotters::prelude::*;

use crate::perf::family::Family;
use crate::units;

const WIDTH: u32 = 960;
const HEIGHT: u32 = 600;
/// Colours that the colour-blind tell apart (Okabe and Ito, 2008).
const COLOURS: [RGBColor; 7] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
    RGBColor(80, 80, 80),
];
const FONT: &str = "sans-serif";
const GREY: RGBColor = RGBColor(110, 110, 110);
/// A log scale cannot show 0.
const LEAST_US: f64 = 1e-3;
/// Few: coordinates are whole pixels, and short pieces of the curve would look jagged.
const CURVE_STEPS: usize = 30;
/// The factor by which series are shifted to lie side by side.
const BESIDE: f64 = 1.03;
const KEY: &str = "dot: median; thick line: its spread; thin line: shortest to longest; curve: what is expected of other sizes";

/// A family and its name in the legend.
pub(super) struct Series<'s> {
    pub(super) title: String,
    pub(super) family: &'s Family<'s>,
}

type Failure = Box<dyn Error + Send + Sync>;
type Chart<'c, 'b> = ChartContext<'c, SVGBackend<'b>, Cartesian2d<LogCoord<f64>, LogCoord<f64>>>;

/// Draws `series` as SVG, under a title and a subtitle.
pub(super) fn write(
    path: &Path,
    (title, subtitle): (&str, &str),
    size: &str,
    series: &[Series<'_>],
) -> Result<(), Failure> {
    let mut svg = String::new();
    draw(&mut svg, (title, subtitle), size, series).map_err(|error| error.to_string())?;
    dahl_files::save(path, svg)?;
    Ok(())
}

fn draw(
    svg: &mut String,
    (title, subtitle): (&str, &str),
    size: &str,
    series: &[Series<'_>],
) -> Result<(), Box<dyn Error>> {
    let area = SVGBackend::with_string(svg, (WIDTH, HEIGHT)).into_drawing_area();
    area.fill(&WHITE)?;
    area.draw(&Text::new(title, (76, 16), (FONT, 22).into_font()))?;
    area.draw(&Text::new(subtitle, (76, 44), (FONT, 13).into_font().color(&GREY)))?;
    area.draw(&Text::new(KEY, (76, 62), (FONT, 13).into_font().color(&GREY)))?;
    let (sizes, times) = ranges(series);
    let mut chart = ChartBuilder::on(&area)
        .margin(16)
        .margin_top(84)
        .x_label_area_size(46)
        .y_label_area_size(70)
        .build_cartesian_2d(sizes.log_scale(), times.log_scale())?;
    chart
        .configure_mesh()
        .light_line_style(RGBColor(243, 243, 243))
        .bold_line_style(RGBColor(225, 225, 225))
        .x_desc(format!("work of a task ({size}s)"))
        .y_desc("time of a task")
        .x_label_formatter(&|size| short(units::count(*size)))
        .y_label_formatter(&|us| short(units::time(*us)))
        .label_style((FONT, 13))
        .axis_desc_style((FONT, 15))
        .draw()?;
    let middle = (series.len() as f64 - 1.0) / 2.0;
    for (index, series) in series.iter().enumerate() {
        let beside = BESIDE.powf(index as f64 - middle);
        draw_series(&mut chart, series, COLOURS[index % COLOURS.len()], beside)?;
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperLeft)
        .background_style(WHITE.mix(0.85))
        .border_style(RGBColor(200, 200, 200))
        .label_font((FONT, 13))
        .draw()?;
    area.present()?;
    Ok(())
}

/// Draws thin lines for all durations, thick ones for the median and its spread, a dot for the median, and the curve.
fn draw_series(
    chart: &mut Chart<'_, '_>,
    series: &Series<'_>,
    colour: RGBColor,
    beside: f64,
) -> Result<(), Box<dyn Error>> {
    let Series { title, family } = series;
    let upright = |size: f64, us: [f64; 2], style: ShapeStyle| {
        PathElement::new(us.map(|us| (size * beside, us.max(LEAST_US))).to_vec(), style)
    };
    let histories = || family.histories.iter();
    chart.draw_series(histories().map(|history| {
        upright(history.size(), [history.min_us, history.max_us], colour.mix(0.45).stroke_width(1))
    }))?;
    chart.draw_series(histories().map(|history| {
        let (median, spread) = (history.median_us, history.spread_us);
        upright(history.size(), [median - spread, median + spread], colour.stroke_width(5))
    }))?;
    chart
        .draw_series(histories().map(|history| {
            Circle::new((history.size() * beside, history.median_us.max(LEAST_US)), 4, colour.filled())
        }))?
        .label(title.as_str())
        .legend(move |(x, y)| Circle::new((x + 10, y), 4, colour.filled()));
    if let Some(curve) = family.curve {
        let (smallest, largest) = curve.sizes();
        let step = |step: usize| smallest * (largest / smallest).powf(step as f64 / CURVE_STEPS as f64);
        let points =
            (0..=CURVE_STEPS).map(step).filter_map(|size| Some((size, curve.us(size)?.max(LEAST_US))));
        chart.draw_series(LineSeries::new(points, colour.stroke_width(2)))?;
    }
    Ok(())
}

/// A number at an axis, which is a power of ten.
fn short(number: String) -> String {
    let (digits, unit) = number.split_once(' ').unwrap_or((&number, ""));
    let digits =
        if digits.contains('.') { digits.trim_end_matches('0').trim_end_matches('.') } else { digits };
    format!("{digits} {unit}").trim_end().to_owned()
}

/// The ranges of the axes: all sizes and durations, with a margin.
fn ranges(series: &[Series<'_>]) -> (Range<f64>, Range<f64>) {
    let histories = || series.iter().flat_map(|series| series.family.histories.iter());
    let around = |values: &mut dyn Iterator<Item = f64>, room: f64| {
        let (least, most) =
            values.fold((f64::MAX, 0.0_f64), |(least, most), value| (least.min(value), most.max(value)));
        (least / room)..(most * room)
    };
    let sizes = around(&mut histories().map(|history| history.size().max(LEAST_US)), 1.5);
    let times = &mut histories().flat_map(|history| {
        [history.min_us, history.max_us, history.median_us + history.spread_us].map(|us| us.max(LEAST_US))
    });
    (sizes, around(times, 1.6))
}
