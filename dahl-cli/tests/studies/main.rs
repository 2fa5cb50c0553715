//! The studies: each runs, writes what it says it does, and those in virtual time write the same bytes each time. No test
//! looks at a time that was measured.

mod command;
mod files;

use std::collections::BTreeSet;
use std::fs;

use command::{dahl, quick};
use files::{about, column, files_of, require_svg, table};

/// A table of a study: its file, columns, number of rows by `--quick --workers 2`, and variants.
struct Table {
    study: &'static str,
    file: &'static str,
    columns: &'static str,
    rows: usize,
    /// A column, and all the values that it has.
    variants: (&'static str, &'static [&'static str]),
}

const TABLES: [Table; 10] = [
    Table {
        study: "granularity",
        file: "efficiency.csv",
        columns: "pattern,workers,tasks,work_us,granularity_us,efficiency,efficiency_low,efficiency_high",
        rows: 2 * 2 * 9,
        variants: ("pattern", &["chains", "stencil"]),
    },
    Table {
        study: "batch-size",
        file: "batch-size.csv",
        columns: "batch,samples_per_s,samples_per_s_low,samples_per_s_high,latency_us,latency_us_low,latency_us_high,\
                  peak_mb,peak_mb_low,peak_mb_high,loss",
        rows: 3,
        variants: ("batch", &["1", "16", "64"]),
    },
    Table {
        study: "element-type",
        file: "element-type.csv",
        columns: "element,samples_per_s,samples_per_s_low,samples_per_s_high,peak_mb,peak_mb_low,peak_mb_high,loss,accuracy",
        rows: 4,
        variants: ("element", &["f16", "bf16", "f32", "f64"]),
    },
    Table {
        study: "workers",
        file: "real.csv",
        columns: "program,time,workers,time_us,time_us_low,time_us_high,speedup",
        rows: 3 * 2,
        variants: ("workers", &["1", "2"]),
    },
    Table {
        study: "workers",
        file: "virtual.csv",
        columns: "program,time,workers,time_us,time_us_low,time_us_high,speedup",
        rows: 2 * 3,
        variants: ("workers", &["1", "2", "4"]),
    },
    Table {
        study: "scheduler",
        file: "real.csv",
        columns: "machine,program,scheduler,models,time_us,time_us_low,time_us_high",
        rows: 2 * 10,
        variants: ("scheduler", SCHEDULERS),
    },
    Table {
        study: "scheduler",
        file: "virtual.csv",
        columns: "machine,program,scheduler,models,time_us,time_us_low,time_us_high",
        rows: 2 * 10 * 2,
        variants: ("scheduler", SCHEDULERS),
    },
    Table {
        study: "softmax",
        file: "softmax.csv",
        columns: "codelets,workers,elements,time_us,time_us_low,time_us_high,of_one",
        rows: 2 * 2 * 4,
        variants: ("elements", &["128", "512", "2048", "8192"]),
    },
    Table {
        study: "layers",
        file: "layers.csv",
        columns: "layer,batch,tasks,cpu_us,device_us,transfers_us,speedup,speedup_with_transfers",
        rows: 7 * 2,
        variants: ("batch", &["1", "16"]),
    },
    Table {
        study: "fast-device",
        file: "fast-device.csv",
        columns: "varied,value,batch,filters,samples_per_task,latency_us,link_gbytes_per_s,cpu_us,both_us,device_us,\
                  speedup_both,speedup_device,device_busy_both,device_busy_alone,transferred_mb_both,transferred_mb_device",
        rows: 5 * 2 + 5,
        variants: (
            "varied",
            &["batch", "filters", "samples per task", "latency", "bandwidth", "no kernels of"],
        ),
    },
];

const SCHEDULERS: &[&str] =
    &["ws", "eager", "lws", "prio", "random", "dm", "dmda", "dmdas", "heft", "sequential"];

const STUDIES: [&str; 8] =
    ["granularity", "batch-size", "element-type", "workers", "scheduler", "softmax", "layers", "fast-device"];

/// Studies whose files are all exact.
const VIRTUAL: [&str; 2] = ["layers", "fast-device"];

#[test]
fn every_study_writes_its_tables_and_figures() {
    for study in STUDIES {
        let folder = quick(study, &["--workers", "2"]);
        let files = files_of(folder.path());
        let figures = files.keys().filter(|name| name.ends_with(".svg")).count();
        assert!(figures > 0, "{study} has no figure: {:?}", files.keys());
        for (name, text) in files.iter().filter(|(name, _)| name.ends_with(".svg")) {
            require_svg(&format!("{study}/{name}"), text);
        }
        let mut tables = 0;
        for expected in TABLES.iter().filter(|table| table.study == study) {
            let (columns, rows) = table(&files[expected.file]);
            assert_eq!(columns.join(","), expected.columns, "{study}/{}", expected.file);
            assert_eq!(rows.len(), expected.rows, "{study}/{}", expected.file);
            let (name, variants) = expected.variants;
            let found: BTreeSet<String> = column(&files[expected.file], name).into_iter().collect();
            assert_eq!(
                found,
                variants.iter().map(|&variant| variant.to_owned()).collect(),
                "{study}: {name}"
            );
            tables += 1;
        }
        assert!(tables > 0, "{study} has no table here");
        assert!(files["summary.md"].starts_with("| "), "{study}: {}", files["summary.md"]);
        about(study, &files["about.toml"]);
    }
}

#[test]
fn figures_of_times_are_numbers_above_zero() {
    let folder = quick("layers", &[]);
    let text = &files_of(folder.path())["layers.csv"];
    for name in ["cpu_us", "device_us", "transfers_us", "speedup", "speedup_with_transfers"] {
        for value in column(text, name) {
            let number: f64 = value.parse().unwrap_or_else(|_| panic!("{name}: {value}"));
            assert!(number.is_finite() && number > 0.0, "{name}: {value}");
        }
    }
}

#[test]
fn studies_in_virtual_time_write_the_same_bytes_each_time() {
    for study in VIRTUAL {
        let [mut first, mut second] =
            [quick(study, &[]), quick(study, &[])].map(|folder| files_of(folder.path()));
        assert!(first.remove("about.toml").is_some() && second.remove("about.toml").is_some());
        assert_eq!(first, second, "{study}");
    }
    for (study, file) in [("workers", "virtual.csv"), ("scheduler", "virtual.csv")] {
        let [first, second] =
            [quick(study, &[]), quick(study, &[])].map(|folder| files_of(folder.path())[file].clone());
        assert_eq!(first, second, "{study}");
    }
}

#[test]
fn losses_do_not_depend_on_workers_or_the_run() {
    let losses =
        |workers| files_of(quick("element-type", &["--workers", workers]).path())["losses.csv"].clone();
    let first = losses("1");
    assert_eq!(first, losses("2"));
    assert_eq!(column(&first, "element").len(), 8);
    let other = files_of(quick("element-type", &["--seed", "7"]).path())["losses.csv"].clone();
    assert_ne!(first, other, "another seed has other losses");
}

#[test]
fn half_precision_is_farther_from_f64_than_f32_is() {
    let files = files_of(quick("element-type", &[]).path());
    let far = |element: &str| -> f64 {
        let elements = column(&files["losses.csv"], "element");
        let distances = column(&files["losses.csv"], "from_f64");
        let of_type = elements.iter().zip(&distances).filter(|(name, _)| *name == element);
        of_type.map(|(_, distance)| distance.parse::<f64>().expect("a number")).fold(0.0, f64::max)
    };
    assert_eq!(far("f64"), 0.0);
    assert!(far("f32") < far("f16") && far("f32") < far("bf16"));
}

#[test]
fn without_a_name_the_studies_are_listed() {
    for arguments in [&["study"][..], &["study", "--list"]] {
        let output = dahl(arguments);
        assert!(output.status.success());
        let text = String::from_utf8(output.stdout).expect("text");
        for study in STUDIES {
            assert!(text.lines().any(|line| line.starts_with(study)), "{study}: {text}");
        }
    }
    let output = dahl(&["study", "--json"]);
    let listing: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(listing["studies"].as_array().map(Vec::len), Some(STUDIES.len()));
}

#[test]
fn a_name_that_is_not_there_is_an_error_with_the_choices() {
    let output = dahl(&["study", "softmaks"]);
    assert_eq!(output.status.code(), Some(2));
    let text = String::from_utf8(output.stderr).expect("text");
    assert!(text.contains("no study `softmaks`") && text.contains("did you mean `softmax`"), "{text}");
    STUDIES.iter().for_each(|study| assert!(text.contains(study), "{study}: {text}"));
}

#[test]
fn settings_that_make_no_sense_are_refused() {
    for arguments in [["study", "layers", "--rounds", "0"], ["study", "layers", "--workers", "0"]] {
        let output = dahl(&arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        let text = String::from_utf8(output.stderr).expect("text");
        assert!(text.contains(arguments[2]), "{text}");
    }
}

#[test]
fn a_folder_that_cannot_be_made_is_named() {
    let folder = tempfile::tempdir().expect("there is room");
    let file = folder.path().join("file");
    fs::write(&file, "not a folder").expect("there is room");
    let out = file.to_str().expect("a name");
    let output = dahl(&["study", "layers", "--quick", "--out", out]);
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8(output.stderr).expect("text");
    assert!(text.contains(out) && text.contains("cannot be written"), "{text}");
}

#[test]
fn each_run_has_a_folder_of_its_own() {
    let folder = tempfile::tempdir().expect("there is room");
    for _ in 0..2 {
        let output = command::in_folder(folder.path(), &["study", "layers", "--quick", "--quiet"]);
        assert!(output.status.success(), "{output:?}");
    }
    let results = fs::read_dir(folder.path().join("results")).expect("there are results");
    let mut names: Vec<String> =
        results.map(|entry| entry.expect("an entry").file_name().into_string().expect("a name")).collect();
    names.sort();
    assert_eq!(names.len(), 2, "{names:?}");
    assert!(names[0].contains("-layers-") && names[1] == format!("{}-2", names[0]), "{names:?}");
}
