//! The energy of codelets, as stored with performance models, and of the machine.

use serde_json::Value;

use crate::command::folder::Folder;

/// Four windows of a second of 10 W and 2 J a product, in which 0, 1, 2 and 5 products ended: exact.
const ENERGY: &str = r#"version = 1

[[energy]]
worker_kind = "cpu"

[energy.windows]
count = 4
kinds = ["dahl::ops::matmul::matmul"]
products = [4.0, 8.0, 30.0]
energies = [56.0, 140.0]
squares = 840.0
"#;

#[test]
fn stored_energies_are_listed_with_their_intervals() {
    let folder = Folder::new();
    folder.write("models/host/real-cc813471/energy.toml", ENERGY);
    let text = folder.prints("perf --dir models --machine real ls");
    let rows: Vec<Vec<_>> = text.lines().map(|line| line.split_whitespace().collect()).collect();
    let has = |row: &str| rows.iter().any(|words| words.join(" ") == row);
    assert!(has("energy by regression worker each from to windows"), "{text}");
    assert!(has("no task cpu 10.0 W 10.0 W 10.0 W 4"), "{text}");
    assert!(has("dahl::ops::matmul::matmul cpu 2.00 J 2.00 J 2.00 J 4"), "{text}");
    let json = folder.prints("--json perf --dir models --machine real ls");
    let json: Value = serde_json::from_str(&json).expect("it is JSON");
    let energies = &json["machines"][0]["energies"];
    assert_eq!((&energies[0]["codelet"], &energies[1]["worker_kind"]), (&Value::Null, &"cpu".into()));
    assert!(energies[1]["value"].as_f64().is_some_and(|joules| (joules - 2.0).abs() < 1e-9), "{energies}");
}

#[test]
fn the_machine_shows_its_energy_counters_or_says_why_it_has_none() {
    let json = Folder::new().prints("--json machine --no-measurements");
    let json: Value = serde_json::from_str(&json).expect("it is JSON");
    let absent = json["absent"].as_array().expect("a list");
    let why = absent.iter().find(|absence| absence["what"] == "energy counters");
    let of_host = |domain: &Value| domain["part"] == "host";
    let domains = json["energy"]["domains"].as_array().expect("a list");
    match why.and_then(|absence| absence["why"].as_str()) {
        Some(why) => {
            assert!(why.starts_with("none: ") && why.contains("Remedy: "), "{why}");
            assert!(
                why.contains("/sys/class/powercap") && why.contains("event_source/devices/power"),
                "{why}"
            );
            assert!(!domains.iter().any(of_host), "{json}");
        }
        None => assert!(domains.iter().any(of_host), "{json}"),
    }
    assert_eq!(json["energy"]["seconds"], Value::Null);
}
