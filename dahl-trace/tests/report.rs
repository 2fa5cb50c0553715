//! The report as a file: it is self-contained, and texts of the trace add no markup to it.

use crate::made::{self, by_hand};
use dahl_trace::Trace;
use serde_json::Value;

fn html(text: &str) -> String {
    let mut out = Vec::new();
    Trace::parse(text).unwrap().write_html(&mut out).unwrap();
    String::from_utf8(out).unwrap()
}

/// The data that the page's scripts read.
fn data(html: &str) -> Value {
    let (_, rest) = html.split_once("id=\"data\">").unwrap();
    serde_json::from_str(rest.split_once("</script>").unwrap().0).unwrap()
}

#[test]
fn nothing_is_asked_of_the_network() {
    let html = html(&made::cholesky(4, 2));
    for mark in ["src=", "@import", "url(", "fetch(", "XMLHttpRequest", "import(", "http://", "https://"] {
        assert!(!html.contains(mark), "{mark}");
    }
    assert_eq!(html.matches("href=").count(), html.matches("href=\"data:,\"").count());
}

#[test]
fn all_tasks_are_in_the_columns() {
    let text = made::cholesky(6, 3);
    let trace = Trace::parse(&text).unwrap();
    let data = data(&html(&text));
    let column = |name: &str| -> Vec<i64> {
        data["tasks"][name].as_array().unwrap().iter().map(|value| value.as_i64().unwrap()).collect()
    };
    let (submitted, ready, taken, start) =
        (column("submitted"), column("ready"), column("taken"), column("start"));
    let (duration, before, back) = (column("duration"), column("before"), column("back"));
    let (mut at, mut edge) = (0, 0);
    for (index, task) in trace.tasks().iter().enumerate() {
        at += submitted[index];
        assert_eq!(at + ready[index] + taken[index] + start[index], task.start_ns as i64);
        assert_eq!(duration[index], task.duration_ns as i64);
        let count = before[index] as usize;
        let found: Vec<i64> = back[edge..edge + count].iter().map(|back| index as i64 - back).collect();
        let told: Vec<i64> = trace.graph().predecessors(index).iter().map(|&before| before.into()).collect();
        assert_eq!(found, told);
        edge += count;
    }
    assert_eq!(data["path"].as_array().unwrap().len(), trace.critical_path().tasks.len());
    assert_eq!(data["summary"]["verdict"], trace.summary().verdict);
}

/// The page has its own scripts and no others, for any names.
#[test]
fn names_end_no_script() {
    let mut lines = by_hand::diamond();
    made::rename(&mut lines, "</script><!--<script>{{data}}");
    let odd = html(&made::text(&lines));
    let plain = html(&made::text(&by_hand::one()));
    for mark in ["<script", "</script", "<!--"] {
        assert_eq!(odd.matches(mark).count(), plain.matches(mark).count(), "{mark}");
    }
    assert_eq!(data(&odd)["codelets"][0]["name"], "</script><!--<script>{{data}}");
}

#[test]
fn the_power_is_in_the_columns() {
    let data = data(&html(&made::text(&by_hand::powered())));
    let power = &data["power"];
    let texts: Vec<_> = data["texts"].as_array().unwrap().iter().map(|text| text.as_str().unwrap()).collect();
    let domain = |place: usize| texts[power["domain"][place].as_u64().unwrap() as usize];
    assert_eq!([domain(0), domain(1), domain(2)], ["core", "package-0", "package-0"]);
    assert_eq!(power["at"], serde_json::json!([0, 0, 40_000]));
    assert_eq!(power["duration"], serde_json::json!([80_000, 20_000, 20_000]));
    assert_eq!(power["watts"], serde_json::json!([5.0, 12.5, 30.0]));
    assert_eq!(data["summary"]["energy"]["run"]["source"], "unavailable");
}
