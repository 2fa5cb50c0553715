//! A report in headless Chromium, and a hand on it.

use dahl_trace::Trace;
use headless_chrome::browser::tab::point::Point;
use headless_chrome::protocol::cdp::Input::{
    DispatchMouseEvent, DispatchMouseEventTypeOption as Kind, MouseButton,
};
use headless_chrome::protocol::cdp::types::Event;
use headless_chrome::{Browser, LaunchOptions, Tab};
use serde_json::Value;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

/// The names under which Chromium is installed.
const NAMES: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

pub(crate) struct Page {
    pub(crate) bytes: usize,
    tab: Arc<Tab>,
    complaints: Arc<Mutex<Vec<String>>>,
    _browser: Browser,
    _folder: tempfile::TempDir,
}

/// Where Chromium is.
fn chromium() -> Option<PathBuf> {
    let folders: Vec<PathBuf> = std::env::split_paths(&std::env::var_os("PATH")?).collect();
    let places = NAMES.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
    places.into_iter().find(|place| place.is_file())
}

impl Page {
    /// Opens the report of a trace; nothing, and a word about it, if there is no browser.
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
        let options = LaunchOptions::default_builder()
            .path(Some(path))
            .sandbox(false)
            .window_size(Some((1500, 1400)))
            .build()
            .unwrap();
        let browser = Browser::new(options).unwrap();
        let tab = browser.new_tab().unwrap();
        tab.set_default_timeout(std::time::Duration::from_secs(120));
        let complaints = listen(&tab);
        tab.navigate_to(&format!("file://{}", file.display())).unwrap();
        // The scripts fill the panel in one go with all else.
        tab.wait_for_element("#panel > *").unwrap();
        Some(Self { bytes: html.len(), tab, complaints, _browser: browser, _folder: folder })
    }

    fn value(&self, expression: &str) -> Value {
        self.tab.evaluate(expression, true).unwrap().value.unwrap_or(Value::Null)
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

    /// Waits until what has changed is drawn.
    fn drawn(&self) {
        self.value(
            "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))",
        );
    }

    /// Where a task is on the screen, which is scrolled there.
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
        self.tab.click_point(Point { x, y }).unwrap();
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
        self.tab.click_point(Point { x, y }).unwrap();
        self.drawn();
    }

    pub(crate) fn focus(&self, selector: &str) {
        self.value(&format!("document.querySelector({selector:?}).focus()"));
    }

    pub(crate) fn key(&self, key: &str) {
        self.tab.press_key(key).unwrap();
        self.drawn();
    }

    pub(crate) fn write(&self, text: &str) {
        self.tab.type_str(text).unwrap();
        self.drawn();
    }

    /// Turns the wheel at a place.
    pub(crate) fn wheel(&self, x: f64, y: f64, by: f64) {
        self.mouse(Kind::MouseWheel, (x, y), by);
        self.drawn();
    }

    pub(crate) fn drag(&self, from: (f64, f64), to: (f64, f64)) {
        self.mouse(Kind::MousePressed, from, 0.0);
        self.mouse(Kind::MouseMoved, ((from.0 + to.0) / 2.0, from.1), 0.0);
        self.mouse(Kind::MouseMoved, to, 0.0);
        self.mouse(Kind::MouseReleased, to, 0.0);
        self.drawn();
    }

    fn mouse(&self, kind: Kind, (x, y): (f64, f64), wheel: f64) {
        let is_wheel = matches!(kind, Kind::MouseWheel);
        let event = DispatchMouseEvent {
            Type: kind,
            x,
            y,
            modifiers: None,
            timestamp: None,
            button: (!is_wheel).then_some(MouseButton::Left),
            buttons: None,
            click_count: (!is_wheel).then_some(1),
            force: None,
            tangential_pressure: None,
            tilt_x: None,
            tilt_y: None,
            twist: None,
            delta_x: is_wheel.then_some(0.0),
            delta_y: is_wheel.then_some(wheel),
            pointer_Type: None,
        };
        self.tab.call_method(event).unwrap();
    }

    /// What the timeline looks like.
    pub(crate) fn pixels(&self) -> String {
        self.string("document.querySelector('#chart').toDataURL()")
    }

    /// The console has said nothing, and nothing was thrown.
    pub(crate) fn has_no_complaint(&self) {
        self.drawn();
        assert_eq!(*self.complaints.lock().unwrap(), [] as [String; 0]);
    }
}

fn listen(tab: &Tab) -> Arc<Mutex<Vec<String>>> {
    let complaints = Arc::new(Mutex::new(Vec::new()));
    let told = complaints.clone();
    tab.enable_runtime().unwrap();
    tab.enable_log().unwrap();
    let listener = move |event: &Event| {
        let complaint = match event {
            Event::RuntimeExceptionThrown(thrown) => format!("{:?}", thrown.params.exception_details),
            Event::RuntimeConsoleAPICalled(said) => format!("{:?}", said.params.args),
            Event::LogEntryAdded(entry) => entry.params.entry.text.clone(),
            _ => return,
        };
        told.lock().unwrap().push(complaint);
    };
    tab.add_event_listener(Arc::new(listener)).unwrap();
    complaints
}
