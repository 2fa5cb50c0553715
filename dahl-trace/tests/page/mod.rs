//! A report in headless Chromium, and simulated input for it.

mod devtools;

use std::path::PathBuf;

use dahl_trace::Trace;
use devtools::Tab;
use serde_json::Value;

/// The names under which Chromium is installed.
const NAMES: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

pub(crate) struct Page {
    pub(crate) bytes: usize,
    tab: Tab,
    _folder: tempfile::TempDir,
}

/// The path of Chromium.
fn chromium() -> Option<PathBuf> {
    let folders: Vec<PathBuf> = std::env::split_paths(&std::env::var_os("PATH")?).collect();
    let places = NAMES.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
    places.into_iter().find(|place| place.is_file())
}

impl Page {
    /// Opens the report of a trace; none, with a note, if there is no browser.
    pub(crate) fn open(text: &str) -> Option<Self> {
        let Some(path) = chromium() else {
            eprintln!("skipped: there is no chromium");
            return None;
        };
        let folder = tempfile::tempdir().unwrap();
        let mut html = Vec::new();
        Trace::parse(text).unwrap().write_html(&mut html).unwrap();
        let file = folder.path().join("report.html");
        std::fs::write(&file, &html).unwrap();
        let tab = Tab::new(&path, folder.path(), [1500, 1400]);
        tab.navigate(&format!("file://{}", file.display()));
        // The scripts fill the panel together with the rest of the page.
        let filled = "document.querySelector('#panel > *')";
        tab.evaluate(&format!(
            "new Promise((done) => {{ const look = () => {filled} ? done(true) : requestAnimationFrame(look); look() }})"
        ));
        Some(Self { bytes: html.len(), tab, _folder: folder })
    }

    fn value(&self, expression: &str) -> Value {
        self.tab.evaluate(expression)
    }

    pub(crate) fn number(&self, expression: &str) -> f64 {
        let value = self.value(expression);
        value.as_f64().unwrap_or_else(|| panic!("{expression} is {value}"))
    }

    pub(crate) fn string(&self, expression: &str) -> String {
        self.value(expression).as_str().unwrap_or_else(|| panic!("{expression} is no text")).to_owned()
    }

    pub(crate) fn is_true(&self, expression: &str) -> bool {
        self.value(expression) == Value::Bool(true)
    }

    pub(crate) fn text(&self, selector: &str) -> String {
        self.string(&format!("document.querySelector({selector:?}).textContent"))
    }

    /// Waits until changes are drawn.
    fn drawn(&self) {
        self.value(
            "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))",
        );
    }

    /// The position of a task on the screen, scrolled into view.
    pub(crate) fn task(&self, number: u64) -> (f64, f64) {
        self.value(
            "document.querySelector('#chart').scrollIntoView({ block: 'center', behavior: 'instant' })",
        );
        self.drawn();
        let place = |part: &str| self.number(&format!("report.place({number}).{part}"));
        (place("x"), place("y"))
    }

    pub(crate) fn click_task(&self, number: u64) {
        let (x, y) = self.task(number);
        self.click_at((x, y));
        self.drawn();
    }

    pub(crate) fn click(&self, selector: &str) {
        let found = format!("document.querySelector({selector:?})");
        self.value(&format!("{found}.scrollIntoView({{ block: 'center', behavior: 'instant' }})"));
        self.drawn();
        let middle = |from: &str, to: &str| {
            self.number(&format!(
                "(({{ {from}, {to} }}) => {from} + {to} / 2)({found}.getBoundingClientRect())"
            ))
        };
        let (x, y) = (middle("left", "width"), middle("top", "height"));
        self.click_at((x, y));
        self.drawn();
    }

    pub(crate) fn focus(&self, selector: &str) {
        self.value(&format!("document.querySelector({selector:?}).focus()"));
    }

    pub(crate) fn key(&self, key: &str) {
        self.tab.key(key);
        self.drawn();
    }

    pub(crate) fn write(&self, text: &str) {
        text.chars().for_each(|letter| self.tab.key(&letter.to_string()));
        self.drawn();
    }

    fn click_at(&self, place: (f64, f64)) {
        self.tab.mouse("mouseMoved", place, false);
        self.tab.mouse("mousePressed", place, true);
        self.tab.mouse("mouseReleased", place, true);
    }

    /// Scrolls the wheel at a position.
    pub(crate) fn wheel(&self, x: f64, y: f64, by: f64) {
        self.tab.wheel((x, y), by);
        self.drawn();
    }

    pub(crate) fn drag(&self, from: (f64, f64), to: (f64, f64)) {
        self.tab.mouse("mousePressed", from, true);
        self.tab.mouse("mouseMoved", ((from.0 + to.0) / 2.0, from.1), true);
        self.tab.mouse("mouseMoved", to, true);
        self.tab.mouse("mouseReleased", to, true);
        self.drawn();
    }

    /// The pixels of the timeline.
    pub(crate) fn pixels(&self) -> String {
        self.string("document.querySelector('#chart').toDataURL()")
    }

    /// Requires that the console is empty and nothing was thrown.
    pub(crate) fn has_no_complaint(&self) {
        assert_eq!(self.complaints(), [] as [String; 0]);
    }

    /// Messages on the console, and exceptions.
    pub(crate) fn complaints(&self) -> Vec<String> {
        self.drawn();
        self.tab.complaints()
    }
}
