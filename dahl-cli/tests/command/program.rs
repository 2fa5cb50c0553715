//! `dahl program`: programs in files, drawn and compared.

use crate::command::folder::{Folder, text};

#[test]
fn a_program_is_drawn_on_a_page_that_needs_nothing_else() {
    let folder = Folder::new();
    let printed = folder.prints("program show step.program --html step.html --dot step.dot");
    assert!(
        printed.starts_with("train(x: f32[32, 20], y: f32[32, 10], first: &mut f32[20, 64]"),
        "{printed}"
    );
    let tasks = printed.lines().filter(|line| line.starts_with("    ")).count();
    let read = |name: &str| std::fs::read_to_string(folder.path(name)).expect("it was written");
    let (page, dot) = (read("step.html"), read("step.dot"));
    assert_eq!(page.matches("<tr id=\"step-").count(), tasks);
    assert_eq!(page.matches("<a href=\"#step-").count(), tasks);
    assert_eq!(dot.matches(" [label=").count(), tasks);
    assert_eq!(dot.matches(" -> ").count(), page.matches("<path ").count(), "a line for each dependency");
    for absent in ["{{", "}}\n<", "http://", "https://", "<script", "NaN"] {
        assert!(!page.contains(absent), "{absent} is on the page");
    }
    assert_eq!(folder.prints("program show step.program --html -"), page);
}

#[test]
fn a_difference_has_the_exit_code_of_diff() {
    let folder = Folder::new();
    assert_eq!(folder.prints("program diff step.program step.program"), "");
    let output = folder.dahl("program diff before.program step.program");
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert_eq!((output.status.code(), err.as_str()), (Some(1), ""), "{out}");
    assert!(out.starts_with("--- before.program\n+++ step.program\n"), "{out}");
    assert!(out.contains("= exp(") && out.contains("= relu("), "{out}");
    assert!(out.contains("arguments: "), "the rate differs: {out}");
    let missing = folder.dahl("program diff before.program nothing.program");
    assert_eq!(missing.status.code(), Some(2));
}

#[test]
fn the_limit_of_memory_is_kept_or_the_least_is_named() {
    let folder = Folder::new();
    let plan: serde_json::Value =
        serde_json::from_str(&folder.prints("program memory step.program --json")).expect("JSON");
    let peak = plan["peak_bytes"].as_u64().expect("a number");
    folder.prints(&format!("program memory step.program --capacity {peak}"));
    let output = folder.dahl(&format!("program memory step.program --capacity {}", peak - 1));
    let err = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{err}");
    assert!(err.contains(&format!("the arrays need {peak} bytes, more than {}", peak - 1)), "{err}");
    assert!(
        err.contains("that is the least possible") || err.contains("every order needs at least"),
        "{err}"
    );
}
