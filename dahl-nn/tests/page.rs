//! `docs/networks-against-pytorch.md`: its tables have a row for each case of the tests, which write them with `UPDATE_EXPECT=1`.
//!
//! The figures are those of the machine that wrote them; on another one, sums may have another order. So the tests compare
//! the cases alone, and each figure with what is allowed.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// A row: its first cell, and the others.
pub(crate) type Row = (String, Vec<String>);

/// Compares the rows of the table under the heading `section` with these, or replaces them.
///
/// # Panics
/// If their first cells differ, or there is no such table.
#[track_caller]
pub(crate) fn check(section: &str, rows: &[Row]) {
    /// Tests write one after the other.
    static PAGE: Mutex<()> = Mutex::new(());
    let guard = PAGE.lock().unwrap_or_else(PoisonError::into_inner);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/networks-against-pytorch.md");
    let page = std::fs::read_to_string(&path).expect("it is in the repository");
    let start = page.find(&format!("\n## {section}\n")).unwrap_or_else(|| panic!("no section {section:?}"));
    let rule = start + page[start..].find("\n|--").expect("the section has a table");
    let first = rule + 1 + page[rule + 1..].find('\n').expect("the table has rows") + 1;
    let end = page[first..].find("\n\n").map_or(page.len(), |len| first + len + 1);
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        let mut table = String::new();
        for (name, cells) in rows {
            writeln!(table, "| {name} | {} |", cells.join(" | ")).expect("a string grows");
        }
        std::fs::write(&path, [&page[..first], &table, &page[end..]].concat()).expect("it can be written");
        return;
    }
    drop(guard);
    let found: Vec<_> = page[first..end].lines().filter_map(|row| row.split(" | ").next()).collect();
    let expected: Vec<_> = rows.iter().map(|(name, _)| format!("| {name}")).collect();
    assert_eq!(found, expected, "the cases of {section:?}: `UPDATE_EXPECT=1` writes them");
}
