//! The commands of cargo that pages, comments and scripts name: whether the packages, programs and features exist.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::programs::Programs;

/// The packages that cargo takes without `-p`, each the root of a workspace.
const ROOTS: [&str; 2] = ["dahl", "dahl-mpi"];

const SUBCOMMANDS: [&str; 4] = ["test", "bench", "run", "build"];

/// The commands in `texts` that name what is not in `programs`, as lines `file: command: what is missing`.
pub fn wrong(texts: &BTreeMap<PathBuf, String>, programs: &BTreeMap<String, Programs>) -> Vec<String> {
    let mut wrong = Vec::new();
    for (path, text) in texts {
        for command in commands(text) {
            for missing in missing(&command, programs) {
                wrong.push(format!("{}: cargo {}: {missing}", path.display(), command.join(" ")));
            }
        }
    }
    wrong
}

/// The words behind `cargo` of each command in `text` that builds or runs something, without those behind `--`.
pub fn commands(text: &str) -> Vec<Vec<&str>> {
    let places = text.match_indices("cargo ").map(|(at, found)| text.split_at(at + found.len()));
    let commands = places.map(|(before, rest)| words(before, rest));
    commands.filter(|words| words.first().is_some_and(|first| SUBCOMMANDS.contains(first))).collect()
}

/// The words of the command that `rest` begins with: up to the backtick, if it stands in backticks, else to the end of its
/// line, which a backslash continues.
fn words<'a>(before: &str, rest: &'a str) -> Vec<&'a str> {
    let line = before.rsplit('\n').next().unwrap_or_default();
    let is_quoted = line.matches('`').count() % 2 == 1;
    let newlines = || rest.match_indices('\n').map(|(at, _)| at);
    let end = if is_quoted { rest.find('`') } else { newlines().find(|&at| !rest[..at].ends_with('\\')) };
    let command = &rest[..end.unwrap_or(rest.len())];
    let command = command.split(['`', '"', ';', '|', '&', '#', '<', '>', '[']).next().unwrap_or_default();
    // Comments go on with `//!`, commands with a backslash.
    let words = command.split_whitespace().filter(|word| !word.starts_with("//") && *word != "\\");
    words.take_while(|word| *word != "--").collect()
}

fn missing(command: &[&str], programs: &BTreeMap<String, Programs>) -> Vec<String> {
    let with = |options: &[&str]| {
        let pairs = command.windows(2).filter(|pair| options.contains(&pair[0]));
        pairs.map(|pair| pair[1]).collect::<Vec<_>>()
    };
    let mut missing = Vec::new();
    let mut packages = with(&["-p", "--package"]);
    missing.extend(
        packages
            .iter()
            .filter(|name| !programs.contains_key(**name))
            .map(|name| format!("no package {name}")),
    );
    if packages.is_empty() {
        packages = ROOTS.to_vec();
    }
    let chosen: Vec<&Programs> = packages.iter().filter_map(|name| programs.get(*name)).collect();
    for option in ["--test", "--bench", "--example", "--bin"] {
        for name in with(&[option]) {
            if !chosen.iter().any(|programs| programs.by_option[option].contains(name)) {
                missing.push(format!("no {option} {name} in {packages:?}"));
            }
        }
    }
    for feature in with(&["--features"]).iter().flat_map(|list| list.split(',')) {
        if !chosen.iter().any(|programs| programs.features.contains(feature)) {
            missing.push(format!("no feature {feature} in {packages:?}"));
        }
    }
    missing
}
