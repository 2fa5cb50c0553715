//! The content of a study's files.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// The files of a folder by name.
pub(crate) fn files_of(folder: &Path) -> BTreeMap<String, String> {
    let entries = fs::read_dir(folder).expect("there is a folder");
    let file = |entry: fs::DirEntry| {
        let name = entry.file_name().into_string().expect("a name");
        (name, fs::read_to_string(entry.path()).expect("text"))
    };
    entries.map(|entry| file(entry.expect("an entry"))).collect()
}

/// The columns and the rows of a table.
pub(crate) fn table(text: &str) -> (Vec<String>, Vec<Vec<String>>) {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let columns = reader.headers().expect("a header").iter().map(str::to_owned).collect();
    let row = |record: csv::StringRecord| record.iter().map(str::to_owned).collect();
    (columns, reader.records().map(|record| row(record.expect("a row"))).collect())
}

/// A column of a table.
pub(crate) fn column(text: &str, name: &str) -> Vec<String> {
    let (columns, rows) = table(text);
    let index =
        columns.iter().position(|column| column == name).unwrap_or_else(|| panic!("no column {name}"));
    rows.into_iter().map(|mut row| row.swap_remove(index)).collect()
}

/// Requires that a figure is XML, has a title, and draws nothing outside its area.
pub(crate) fn require_svg(name: &str, text: &str) {
    let document = roxmltree::Document::parse(text).unwrap_or_else(|error| panic!("{name}: {error}"));
    let root = document.root_element();
    assert_eq!(root.tag_name().name(), "svg", "{name}");
    let size = |side: &str| root.attribute(side).and_then(|size| size.parse::<f64>().ok()).expect("a size");
    let (width, height) = (size("width"), size("height"));
    let texts = root.descendants().filter(|node| node.has_tag_name("text")).count();
    assert!(texts > 4, "{name}: {texts} texts");
    for node in root.descendants().filter(|node| node.has_tag_name("circle")) {
        let at =
            |name: &str| node.attribute(name).and_then(|value| value.parse::<f64>().ok()).expect("a place");
        let (x, y) = (at("cx"), at("cy"));
        assert!((0.0..=width).contains(&x) && (0.0..=height).contains(&y), "{name}: a marker at {x}, {y}");
    }
    let points = root.descendants().filter_map(|node| node.attribute("points"));
    for number in points.flat_map(|points| points.split([' ', ','])).filter(|number| !number.is_empty()) {
        let number: f64 = number.parse().unwrap_or_else(|_| panic!("{name}: {number}"));
        assert!((0.0..=width.max(height)).contains(&number), "{name}: a line at {number}");
    }
}

/// Requires the content of `about.toml`.
pub(crate) fn about(study: &str, text: &str) {
    let about: toml::Table = text.parse().unwrap_or_else(|error| panic!("{study}: {error}"));
    let said = |table: &toml::Table, names: &[&str]| {
        for name in names {
            let fact = table
                .get(*name)
                .and_then(toml::Value::as_str)
                .unwrap_or_else(|| panic!("{study}: no {name}"));
            assert!(!fact.is_empty(), "{study}: {name} is empty");
        }
    };
    said(&about, &["study", "question", "time", "command", "started", "ended"]);
    assert_eq!(about["study"].as_str(), Some(study));
    assert!(about["command"].as_str().is_some_and(|command| command.contains("--quick")));
    let of = |name: &str| about.get(name).and_then(toml::Value::as_table).expect("a part");
    said(of("sources"), &["version", "commit", "committed", "tree", "built", "build", "rustc"]);
    said(of("machine"), &["host", "os", "cpu", "instruction_set", "load_at_start", "load_at_end"]);
    assert!(of("machine")["cores"].as_integer().is_some_and(|cores| cores > 0));
    said(of("settings"), &["seed"]);
    for name in ["rounds", "workers"] {
        assert!(of("settings")[name].is_integer(), "{study}: {name}");
    }
    assert_eq!(of("settings")["quick"].as_bool(), Some(true));
}
