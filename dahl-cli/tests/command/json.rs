//! `--json`: one object on the standard output, with the fields that `docs/command.md` names.

use serde_json::Value;

use crate::command::folder::Folder;

const PAGE: &str = include_str!("../../../docs/command.md");

fn object(words: &str) -> Value {
    let folder = Folder::new();
    let printed = folder.prints(&format!("--json {words}"));
    let value: Value =
        serde_json::from_str(&printed).unwrap_or_else(|error| panic!("{words}: {error}: {printed}"));
    assert!(value.is_object(), "{words}: {printed}");
    value
}

/// The fields of an object and of the objects in it, as `a`, `a.b`, `a[].b`.
fn fields(value: &Value, path: &str, found: &mut Vec<String>) {
    match value {
        Value::Object(object) => {
            for (name, value) in object {
                let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                found.push(path.clone());
                fields(value, &path, found);
            }
        }
        Value::Array(values) => values.iter().for_each(|value| fields(value, &format!("{path}[]"), found)),
        _ => {}
    }
}

/// A field on the page, and whether it may be missing, since what contains it may be empty or null.
struct Documented {
    field: String,
    may_be_missing: bool,
}

/// The fields of a command's object on the page: the lines of the block below its heading.
fn documented(heading: &str) -> Vec<Documented> {
    let start = format!("```json-fields {heading}\n");
    let block = PAGE.split(&start).nth(1).unwrap_or_else(|| panic!("the page has no `{start}`"));
    let lines = block.split("```").next().unwrap_or_default().lines();
    let fields = lines.filter_map(|line| line.split_whitespace().next());
    fields
        .map(|field| Documented {
            may_be_missing: field.ends_with('?'),
            field: field.trim_end_matches('?').to_owned(),
        })
        .collect()
}

/// Requires that an object has exactly the documented fields.
fn has_documented_fields(heading: &str, value: &Value) {
    let mut found = Vec::new();
    fields(value, "", &mut found);
    let documented = documented(heading);
    for field in &found {
        assert!(documented.iter().any(|one| one.field == *field), "{heading}: {field} is not documented");
    }
    for Documented { field, may_be_missing } in &documented {
        assert!(*may_be_missing || found.contains(field), "{heading}: there is no {field}: {value}");
    }
}

#[test]
fn machine() {
    let value = object("machine --model machine.toml");
    has_documented_fields("machine", &value);
    assert_eq!(
        value["runtime"]["workers"].as_array().map(Vec::len),
        Some(3),
        "2 of the CPU and a device: {value}"
    );
    assert_eq!(
        (&value["links"][0]["basis"], &value["links"][0]["gbytes_per_s"]),
        (&"modelled".into(), &12.0.into())
    );
    assert_eq!(value["bandwidth"]["basis"], "measured");
    assert!(value["bandwidth"]["together_gbytes_per_s"].as_f64().is_some_and(|rate| rate > 0.0), "{value}");
}

#[test]
fn simulate() {
    let value = object("simulate step.program --machine machine.toml");
    has_documented_fields("simulate", &value);
    assert_eq!(value["workers"].as_array().map(Vec::len), Some(2), "one of the CPU and a device: {value}");
}

#[test]
fn perf_ls() {
    let value = object("perf --dir models ls");
    has_documented_fields("perf-ls", &value);
    let codelets = value["machines"][0]["codelets"].as_array().expect("a list");
    assert_eq!(codelets.len(), 3, "{value}");
    let matmul = codelets.iter().find(|codelet| codelet["codelet"] == "dahl::ops::matmul::matmul");
    assert_eq!(matmul.expect("it is one of them")["tasks"], 2 * 7 * 40);
}

#[test]
fn perf_show() {
    let value = object("perf --dir models --machine real show matmul");
    has_documented_fields("perf-show", &value);
    let entry = &value["codelets"][0]["families"][0]["entries"][0];
    assert_eq!(
        (&entry["footprint"][0][0], &entry["count"], &entry["flops"]),
        (&16.into(), &40.into(), &8192.0.into())
    );
}

#[test]
fn perf_plot() {
    let value = object("perf --dir models --machine real plot matmul -o plot.svg");
    has_documented_fields("perf-plot", &value);
    assert_eq!((&value["file"], &value["size"]), (&"plot.svg".into(), &"flop".into()));
}

#[test]
fn perf_explain() {
    let value = object("perf --dir models --machine real explain matmul --trace run.json");
    has_documented_fields("perf-explain", &value);
    let codelet = &value["codelets"][0];
    assert_eq!(codelet["tasks"], 2 * 7 * 40);
    let causes = codelet["causes"].as_array().expect("a list");
    assert!(causes.iter().any(|cause| cause["what"] == "footprint"), "{value}");
    assert!(causes.is_sorted_by(|a, b| a["factor"].as_f64() >= b["factor"].as_f64()), "{value}");
    assert_eq!(value["circumstances"]["calls"], 16, "tiles of the product");
}

#[test]
fn trace() {
    let value = object("trace summary simulated.json");
    assert_eq!((&value["tasks"], &value["is_virtual"]), (&64.into(), &true.into()));
    let value = object("trace chrome run.json");
    has_documented_fields("trace-chrome", &value);
    assert_eq!(value["tasks"], 64);
}

#[test]
fn plan_memory() {
    let value = object("plan memory buffers.csv --capacity 8");
    has_documented_fields("plan-memory", &value);
    assert_eq!((&value["peak_bytes"], &value["capacity_bytes"]), (&8.into(), &8.into()));
    assert_eq!(value["lower_bound_bytes"], 7, "it is not asked for the least peak");
    assert_eq!((&value["buffers"][1]["id"], &value["buffers"][1]["size"]), (&"h1".into(), &2.into()));
}

#[test]
fn plan_pipeline() {
    let value = object("plan pipeline --profile profile.txt --machines 4 --bandwidth 1e9");
    has_documented_fields("plan-pipeline", &value);
    let text = object("plan pipeline --profile profile.txt --machines 2 2 --bandwidth 1e10 1e9 --memory 8e8");
    let json =
        object("plan pipeline --profile profile.json --machines 2 2 --bandwidth 1e10 1e9 --memory 8e8");
    assert_eq!((&text["stages"], &text["seconds"]), (&json["stages"], &json["seconds"]));
    assert_eq!(text["simulation"]["agrees"], true, "{text}");
}

#[test]
fn plan_schedule() {
    let value = object("plan schedule tasks.toml");
    has_documented_fields("plan-schedule", &value);
    assert_eq!(value["optimal"], true, "{value}");
    let front = object("plan schedule tasks.toml --objective front");
    let plans = front["plans"].as_array().expect("a list");
    assert!(plans.len() > 1 && plans[0]["nanoseconds"] == value["plans"][0]["nanoseconds"], "{front}");
    // The machine file has no power; the speed of a device is what the tasks' flops and bytes give.
    let other = object("plan schedule work.json --machine machine.toml --cpus 2");
    assert_eq!((&other["workers"], &other["plans"][0]["joules"]), (&3.into(), &0.0.into()));
}

#[test]
fn programs() {
    let value = object("program show step.program");
    has_documented_fields("program-show", &value);
    assert_eq!((&value["program"], &value["constant_bytes"]), (&"train".into(), &4.into()));
    assert_eq!(value["steps"].as_array().map(Vec::len), value["tasks"].as_u64().map(|tasks| tasks as usize));
    let value = object("program memory step.program");
    has_documented_fields("program-memory", &value);
    assert_eq!(value["peak_bytes"], value["lower_bound_bytes"]);
    has_documented_fields("program-diff", &object("program diff step.program step.program"));
}

#[test]
fn plot() {
    let value = object("plot training.csv -o curves.svg");
    has_documented_fields("plot", &value);
    assert_eq!((&value["file"], &value["steps"]), (&"curves.svg".into(), &5.into()));
    assert_eq!(value["results"][4], "validation_accuracy");
}

#[test]
fn bench_overhead() {
    let value = object("bench overhead --workers 1,2 --graph chain --tasks 100 --rounds 3");
    has_documented_fields("bench-overhead", &value);
    assert_eq!(value["rows"].as_array().map(Vec::len), Some(2));
    assert!(value["rows"][0]["median_ns"].as_f64().is_some_and(|ns| ns > 0.0), "{value}");
}

#[test]
fn completions() {
    let value = object("completions fish");
    has_documented_fields("completions", &value);
    assert_eq!(value["shell"], "fish");
}
