//! The studies: each runs and writes its files, and those in virtual time write the same bytes in each run. No test
//! asserts a measured time.

mod command;
mod files;
mod frameworks;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use dahl::testing::Tier;

use command::{QUICK, dahl, quick};
use files::{about, column, files_of, require_svg, table};
use frameworks::Python;

/// A table of a study: its file, columns, number of rows with `--quick --workers 2`, and variants.
struct Table {
    study: &'static str,
    file: &'static str,
    columns: &'static str,
    rows: usize,
    /// A column, and all its values.
    variants: (&'static str, &'static [&'static str]),
}

const TABLES: [Table; 17] = [
    Table {
        study: "granularity",
        file: "efficiency.csv",
        columns: "system,pattern,workers,tasks,work_us,granularity_us,efficiency,efficiency_low,efficiency_high",
        rows: 2 * 4 * (7 + 6),
        variants: ("pattern", &["chains", "stencil", "fft", "tree"]),
    },
    Table {
        study: "batch-size",
        file: "batch-size.csv",
        columns: "batch,samples_per_s,samples_per_s_low,samples_per_s_high,latency_us,latency_us_low,latency_us_high,\
                  peak_mb,peak_mb_low,peak_mb_high,step_mb,step_mb_low,step_mb_high,loss",
        rows: 3,
        variants: ("batch", &["1", "16", "64"]),
    },
    Table {
        study: "element-type",
        file: "element-type.csv",
        columns: "element,samples_per_s,samples_per_s_low,samples_per_s_high,step_mb,step_mb_low,step_mb_high,loss,accuracy",
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
        columns: "varied,value,batch,filters,samples_per_task,latency_us,link_gbytes_per_s,way,cpu_us,time_us,\
                  speedup,device_busy,transferred_mb",
        rows: (5 * 2 + 5) * 4,
        variants: (
            "varied",
            &["batch", "filters", "samples per task", "latency", "bandwidth", "no kernels of"],
        ),
    },
    Table {
        study: "simulation",
        file: "simulation.csv",
        columns: "program,workers,real_us,real_us_low,real_us_high,simulated_us,error,real_peak_bytes_least,real_peak_bytes_most,\
                  simulated_peak_bytes,\
                  real_transfers,simulated_transfers,real_transferred_bytes,simulated_transferred_bytes",
        rows: 7 * 2,
        variants: ("workers", &["1", "2"]),
    },
    Table {
        study: "energy",
        file: "energy.csv",
        columns: "machine,program,by,seconds_per_joule,time_us,joules,proven",
        rows: 3 * (4 * 2 * 6 + 2),
        variants: ("by", &["dmda", "heft", "least time", "least energy"]),
    },
    Table {
        study: "ranks",
        file: "ranks.csv",
        columns: "ranks,batch,width,gbytes_per_s,way,step_us,by_hand_us,sent_bytes,by_hand_bytes",
        rows: (2 * 2 + 2) * 5,
        variants: ("way", &["data", "sharded data", "flushed pipeline", "stashed pipeline", "tensor"]),
    },
    Table {
        study: "idle",
        file: "real.csv",
        columns: IDLE,
        rows: 3,
        variants: ("batch", &["32", "64", "128"]),
    },
    Table {
        study: "idle",
        file: "virtual.csv",
        columns: IDLE,
        rows: 3 + 3 * 2,
        variants: ("workers", &["cpu", "device"]),
    },
    Table {
        study: "frameworks",
        file: "frameworks.csv",
        columns: "network,workers,framework,epoch_s,epoch_s_low,epoch_s_high,training_s,start_s,processor_s,joules,\
                  joules_low,joules_high,peak_mib,loss",
        rows: 2 * 2 * 2,
        variants: ("network", &["mlp", "lenet"]),
    },
    Table {
        study: "frameworks",
        file: "losses.csv",
        columns: "network,workers,framework,epoch,loss",
        rows: 2 * 2 * 2 * 2,
        variants: ("framework", &["dahl", "PyTorch"]),
    },
];

const IDLE: &str = "machine,time,batch,workers,tasks,submission,dependency,scheduler,transfer,end,other";

const SCHEDULERS: &[&str] =
    &["ws", "eager", "lws", "prio", "random", "dm", "dmda", "dmdas", "heft", "sequential"];

const STUDIES: [&str; 13] = [
    "granularity",
    "batch-size",
    "element-type",
    "workers",
    "scheduler",
    "softmax",
    "layers",
    "fast-device",
    "idle",
    "simulation",
    "energy",
    "ranks",
    "frameworks",
];

/// Studies with exact files only.
const VIRTUAL: [&str; 4] = ["layers", "fast-device", "energy", "ranks"];

#[test]
fn every_study_writes_its_tables_and_figures() {
    for &study in Tier::from_env().choose("tables", &STUDIES, 3) {
        let python = Python::new(frameworks::TRAINS);
        let more: &[&str] = if study == "frameworks" { &["--python", python.path()] } else { &[] };
        let folder = quick(study, &[&["--workers", "2"], more].concat());
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
        let provenance = provenance(&files["summary.md"]);
        assert!(files["summary.md"].ends_with(&format!("\n\n{QUICK}.\n")), "{study}: {provenance}");
        let is_virtual = VIRTUAL.contains(&study);
        assert!(provenance.contains(" build of "), "{study}: {provenance}");
        for fact in ["rounds in turn", "load average"] {
            assert_eq!(provenance.contains(fact), !is_virtual, "{study}: {fact}: {provenance}");
        }
        about(study, &files["about.toml"]);
    }
}

/// The codelets that a device may lack are codelets that the network runs.
#[test]
fn what_a_device_lacks_is_missed() {
    let files = files_of(quick("fast-device", &[]).path());
    let column = |name| column(&files["fast-device.csv"], name);
    let (varied, values, times) = (column("varied"), column("value"), column("time_us"));
    let times_without = |lacking: &str| -> Vec<&String> {
        let rows = varied.iter().zip(&values).zip(&times);
        let of_value = |((varied, value), _): &((&String, &String), &String)| {
            *varied == "no kernels of" && *value == lacking
        };
        rows.filter(of_value).map(|(_, time)| time).collect()
    };
    let with_all = times_without("none");
    assert!(!with_all.is_empty());
    for lacking in ["loss", "updates", "dense layer", "convolutions"] {
        let without = times_without(lacking);
        assert_eq!(without.len(), with_all.len());
        assert_ne!(without, with_all, "{lacking}");
    }
}

/// The line with the provenance of the figures.
fn provenance(summary: &str) -> &str {
    summary.lines().rfind(|line| line.contains("time: ") || line.contains("in turn")).unwrap_or_default()
}

#[test]
fn settings_of_the_environment_do_not_reach_a_study() {
    let folder = tempfile::tempdir().expect("there is room");
    let arguments = ["study", "idle", "--quick", "--workers", "1", "--out", "out", "--json"];
    let settings =
        [("DAHL_TRACE", "trace.json"), ("DAHL_STATS", "statistics.json"), ("DAHL_SCHED", "no scheduler")];
    let output = command::with_settings(folder.path(), &arguments, &settings);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stderr}");
    assert!(stderr.contains("DAHL_SCHED, DAHL_STATS, DAHL_TRACE"), "{stderr}");
    let entries = fs::read_dir(folder.path()).expect("it is there");
    let names: Vec<_> = entries.map(|entry| entry.expect("an entry").file_name()).collect();
    assert_eq!(names, ["out"], "no runtime was traced");
    let about: toml::Table = files_of(&folder.path().join("out"))["about.toml"].parse().expect("TOML");
    let ignored: Vec<_> =
        about["ignored"].as_array().expect("a list").iter().filter_map(toml::Value::as_str).collect();
    assert_eq!(ignored, ["DAHL_SCHED", "DAHL_STATS", "DAHL_TRACE"]);
}

#[test]
fn the_largest_seed_is_recorded_as_it_is() {
    let seed = u64::MAX.to_string();
    let files = files_of(quick("layers", &["--seed", &seed]).path());
    let about: toml::Table = files["about.toml"].parse().expect("TOML");
    assert_eq!(about["settings"]["seed"].as_str(), Some(seed.as_str()));
    assert_eq!(about["ignored"].as_array().map(Vec::len), Some(0));
}

#[test]
#[cfg(debug_assertions)]
fn a_debug_build_measures_nothing() {
    let output = dahl(&["study", "granularity"]);
    assert_eq!(output.status.code(), Some(2));
    let text = String::from_utf8(output.stderr).expect("text");
    assert!(text.contains("cargo run --release -p dahl-cli -- study granularity"), "{text}");
    assert!(text.contains("--quick"), "{text}");
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
    for &study in Tier::from_env().choose("virtual studies", &VIRTUAL, 1) {
        let [mut first, mut second] =
            [quick(study, &[]), quick(study, &[])].map(|folder| files_of(folder.path()));
        assert!(first.remove("about.toml").is_some() && second.remove("about.toml").is_some());
        assert_eq!(first, second, "{study}");
    }
    let in_part = [("workers", "virtual.csv"), ("scheduler", "virtual.csv"), ("idle", "virtual.csv")];
    for &(study, file) in Tier::from_env().choose("virtual tables", &in_part, 1) {
        let [first, second] =
            [quick(study, &[]), quick(study, &[])].map(|folder| files_of(folder.path())[file].clone());
        assert_eq!(first, second, "{study}");
    }
}

/// What ranks send is what the formulas say, but for the messages of the loss: some numbers for each rank, and with tensor parallel
/// layers its inputs too, at most once to each other rank, since nothing places it.
#[test]
fn ranks_send_what_a_calculation_says() {
    let text = &files_of(quick("ranks", &[]).path())["ranks.csv"];
    let numbers = |name| -> Vec<f64> {
        column(text, name).iter().map(|number| number.parse().expect("a number")).collect()
    };
    let (sent, by_hand, times) = (numbers("sent_bytes"), numbers("by_hand_bytes"), numbers("step_us"));
    let (ranks, batches, widths) = (numbers("ranks"), numbers("batch"), numbers("width"));
    for (row, way) in column(text, "way").iter().enumerate() {
        let more = sent[row] - by_hand[row];
        let inputs = 4.0 * batches[row] * widths[row] * (ranks[row] - 1.0);
        let most = 32.0 * ranks[row] + if way == "tensor" { inputs } else { 0.0 };
        assert!((0.0..=most).contains(&more), "{way}: {} bytes, by hand {}", sent[row], by_hand[row]);
        assert!(times[row].is_finite() && times[row] > 0.0, "{way}: {} us", times[row]);
    }
}

#[test]
fn causes_of_idle_time_and_tasks_add_up() {
    let files = files_of(quick("idle", &["--workers", "2"]).path());
    for name in ["real.csv", "virtual.csv"] {
        let (columns, rows) = table(&files[name]);
        let first = columns.iter().position(|column| column == "tasks").expect("a column");
        for row in rows {
            let shares: Vec<f64> =
                row[first..].iter().map(|share| share.parse().expect("a number")).collect();
            assert!(shares.iter().all(|share| (0.0..=1.0).contains(share)), "{row:?}");
            assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-6, "{row:?}");
            assert!(shares[0] > 0.0, "it runs tasks: {row:?}");
            let other = shares[shares.len() - 1];
            assert!(name == "real.csv" || other < 1e-6, "virtual time passes for a reason: {row:?}");
        }
    }
}

#[test]
fn pages_show_what_the_last_run_has_written() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/studies");
    let page = fs::read_to_string(docs.join("README.md")).expect("there is a page");
    for study in STUDIES {
        let folder = docs.join("data").join(study);
        let files = files_of(&folder);
        let shown = page.split_once(&format!("<!-- summary: {study} -->\n\n"));
        let shown = shown.and_then(|(_, rest)| Some(rest.split_once("\n<!-- end -->")?.0));
        assert_eq!(shown, Some(files["summary.md"].as_str()), "{study}");
        for (name, text) in files.iter().filter(|(name, _)| name.ends_with(".svg")) {
            require_svg(&format!("{study}/{name}"), text);
            assert!(page.contains(&format!("](data/{study}/{name})")), "the page shows {study}/{name}");
        }
        for fact in ["quick = false", "build = \"release\""] {
            assert!(files["about.toml"].contains(fact), "{study}: {fact}");
        }
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
