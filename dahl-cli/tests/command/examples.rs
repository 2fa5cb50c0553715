//! Runs every example of a `--help`.

use crate::command::folder::{Folder, text};

/// The commands of `dahl`, except for studies, whose examples take long.
const COMMANDS: [&str; 28] = [
    "",
    "machine",
    "machine calibrate",
    "perf",
    "perf ls",
    "perf show",
    "perf plot",
    "perf explain",
    "trace",
    "trace summary",
    "trace html",
    "trace chrome",
    "trace paje",
    "trace dot",
    "trace join",
    "plan",
    "plan memory",
    "plan pipeline",
    "plan schedule",
    "simulate",
    "program",
    "program show",
    "program diff",
    "program memory",
    "plot",
    "bench",
    "bench overhead",
    "completions",
];

/// Programs that examples pipe their output to, which not every machine has.
const OTHERS: [&str; 2] = ["dot", "pj_dump"];

/// The examples of a command: lines that begin with `dahl`, possibly after a setting.
fn examples(folder: &Folder, command: &str) -> Vec<String> {
    let words = format!("{command} --help");
    let help = folder.prints(words.trim_start());
    let Some((_, examples)) = help.split_once("Examples:\n") else { return Vec::new() };
    let lines = examples.lines().take_while(|line| line.starts_with("  ")).map(str::trim);
    // The purpose of an example follows after two spaces.
    let lines = lines.map(|line| line.split("  ").next().unwrap_or_default().to_owned());
    lines.filter(|line| !line.contains("cargo run")).collect()
}

fn is_there(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).exists())
}

#[test]
fn every_command_shows_examples_that_run() {
    let folder = Folder::new();
    for made in [".local/share/bash-completion/completions", ".zfunc", ".config/fish/completions"] {
        std::fs::create_dir_all(folder.path(made)).expect("it can be made");
    }
    for command in COMMANDS {
        let examples = examples(&folder, command);
        assert!(!examples.is_empty(), "dahl {command} --help shows none");
        for example in examples {
            let other = example.split_once("| ").and_then(|(_, other)| other.split(' ').next());
            if other.is_some_and(|other| OTHERS.contains(&other) && !is_there(other)) {
                eprintln!("left out, as its other program is not there: {example}");
                continue;
            }
            let shell = format!("set -o pipefail; {example}");
            let output = folder.command("bash").args(["-c", &shell]).output().expect("bash is there");
            assert!(output.status.success(), "{example}: {}", text(&output.stderr));
        }
    }
}

/// Fails if a command is missing above.
#[test]
fn all_commands_are_listed_here() {
    let folder = Folder::new();
    for parent in COMMANDS {
        let help = folder.prints(format!("{parent} --help").trim_start());
        let Some((_, commands)) = help.split_once("\nCommands:\n") else { continue };
        let names = commands.lines().take_while(|line| !line.is_empty());
        // The description of a name may continue in the next line, indented further.
        let names = names.filter(|line| line.starts_with("  ") && !line.starts_with("   "));
        for name in names.filter_map(|line| line.split_whitespace().next()) {
            let full = format!("{parent} {name}");
            let is_known = COMMANDS.contains(&full.trim_start()) || ["study", "help"].contains(&name);
            assert!(is_known, "dahl {full}");
        }
    }
}
