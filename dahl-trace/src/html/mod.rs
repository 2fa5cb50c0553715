//! The report: one page in HTML with all that it needs in it.
//!
//! `page.html` has its parts; the scripts are files of one program, in the order of [`SCRIPTS`], and see each other's
//! names. What they draw comes as columns ([`columns`]), and what they say in figures from the [`Summary`](crate::Summary).

mod columns;

use crate::Trace;
use columns::Page;
use std::io::{self, BufWriter, Write};

const PAGE: &str = include_str!("page.html");
/// The style of dahl's pages, as CSS: colours, light and dark, headings, and sections.
pub const PAGE_STYLE: &str = include_str!("page.css");

const STYLES: [&str; 5] = [
    PAGE_STYLE,
    include_str!("overview.css"),
    include_str!("timeline.css"),
    include_str!("tables.css"),
    include_str!("narrow.css"),
];
const SCRIPTS: [&str; 14] = [
    include_str!("figures.js"),
    include_str!("run.js"),
    include_str!("state.js"),
    include_str!("theme.js"),
    include_str!("row.js"),
    include_str!("chart.js"),
    include_str!("minimap.js"),
    include_str!("curves.js"),
    include_str!("hand.js"),
    include_str!("tooltip.js"),
    include_str!("panel.js"),
    include_str!("overview.js"),
    include_str!("codelets.js"),
    include_str!("main.js"),
];

impl Trace {
    /// Writes the report: one self-contained HTML file, without requests to the network.
    ///
    /// # Errors
    /// If `out` cannot be written to.
    pub fn write_html(&self, out: impl Write) -> io::Result<()> {
        let mut out = BufWriter::new(out);
        for piece in PAGE.split_inclusive("}}") {
            let Some((text, mark)) = piece.rsplit_once("{{") else {
                out.write_all(piece.as_bytes())?;
                continue;
            };
            out.write_all(text.as_bytes())?;
            match mark {
                "title}}" => out.write_all(escaped(&self.about().program).as_bytes())?,
                "style}}" => STYLES.iter().try_for_each(|style| out.write_all(style.as_bytes()))?,
                "script}}" => SCRIPTS.iter().try_for_each(|script| out.write_all(script.as_bytes()))?,
                "data}}" => out.write_all(data(self)?.as_bytes())?,
                other => unreachable!("page.html has a mark {other}"),
            }
        }
        out.flush()
    }
}

/// The run as JSON inside a script element: nothing in it ends the element.
fn data(trace: &Trace) -> io::Result<String> {
    Ok(serde_json::to_string(&Page::of(trace))?.replace('<', "\\u003c"))
}

fn escaped(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    text.replace(char::is_control, "\u{fffd}")
}
