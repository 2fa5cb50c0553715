//! Runs the commands of `docs/debugging-and-performance.md`, section by section, and compares their output with the
//! output on the page. The program that they run, `heat`, is this one under another name.

#[path = "../../../examples/heat.rs"]
mod heat;
mod output;
mod page;
mod variables;

use std::path::Path;
use std::process::{Command, ExitCode};

use libtest_mimic::{Arguments, Failed, Trial};
use page::{Block, Page, Section};

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/debugging-and-performance.md");
/// Lines of `heat` that differ since it is in a test, not an example.
const OF_THE_TEST: [(&str, &str); 3] = [
    (concat!(env!("CARGO_MANIFEST_DIR"), "/tests/debugging_page/../../../"), ""),
    ("dahl-cli/tests/debugging_page/../../../", ""),
    ("debugging_page::heat", "heat"),
];
/// Tools that a machine may lack.
const TOOLS: [&str; 4] = ["valgrind", "callgrind_annotate", "gdb", "perf"];

fn main() -> ExitCode {
    let name = std::env::args_os().next().unwrap_or_default();
    if Path::new(&name).file_name() == Some("heat".as_ref()) {
        return heat::main();
    }
    let text: &'static str = std::fs::read_to_string(PAGE).expect("the page is there").leak();
    let page: &'static Page = Box::leak(Box::new(Page::parse(text)));
    let of_section = |section: &'static Section| {
        Trial::test(section.title.clone(), || run(page, section).map_err(Failed::from))
    };
    let sections = page.sections.iter().filter(|section| section.has_commands()).map(of_section);
    let variables = [
        Trial::test("the table has the variables that are read", || Ok(variables::compare(text)?)),
        Trial::test("differences are found", || Ok(output::finds_differences()?)),
    ];
    libtest_mimic::run(&Arguments::from_args(), sections.chain(variables).collect()).exit_code()
}

/// Runs the commands of a section in a folder of their own, with the files of the page up to it.
fn run(page: &Page, section: &Section) -> Result<(), String> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let programs = tempfile::tempdir().map_err(|error| error.to_string())?;
    let this = std::env::current_exe().map_err(|error| error.to_string())?;
    for (name, target) in [("heat", this.as_path()), ("dahl", Path::new(env!("CARGO_BIN_EXE_dahl")))] {
        std::os::unix::fs::symlink(target, programs.path().join(name)).map_err(|error| error.to_string())?;
    }
    for (name, text) in page.files() {
        std::fs::write(folder.path().join(name), text).map_err(|error| error.to_string())?;
    }
    let commands = section.blocks.iter().filter_map(|block| match block {
        Block::Commands { commands, is_exact } => Some((commands, *is_exact)),
        Block::File { .. } => None,
    });
    for (commands, is_exact) in commands {
        for command in commands {
            if let Some(tool) = missing_tool(&command.text) {
                eprintln!("skipped: there is no {tool}: {}", command.text);
                continue;
            }
            let printed = shell(&command.text, folder.path(), programs.path())?;
            output::compare(&command.output, &printed, is_exact)
                .map_err(|difference| format!("$ {}\n{difference}\nIt printed:\n{printed}", command.text))?;
        }
    }
    Ok(())
}

/// A tool that the command uses and the machine lacks.
fn missing_tool(command: &str) -> Option<&'static str> {
    let words: Vec<_> = command.split_whitespace().collect();
    let is_there = |tool: &str| {
        let path = std::env::var_os("PATH").unwrap_or_default();
        std::env::split_paths(&path).any(|folder| folder.join(tool).is_file())
    };
    TOOLS.into_iter().find(|tool| words.contains(tool) && !is_there(tool))
}

/// The standard output and the standard error of a command.
fn shell(command: &str, folder: &Path, programs: &Path) -> Result<String, String> {
    let path = std::env::var("PATH").unwrap_or_default();
    let mut shell = Command::new("bash");
    shell.args(["-c", &format!("exec 2>&1; {command}")]).current_dir(folder);
    shell.env("PATH", format!("{}:{path}", programs.display()));
    let settings = std::env::vars_os().map(|(name, _)| name);
    for name in
        settings.filter(|name| name.to_string_lossy().starts_with("DAHL_") || name == "RUST_BACKTRACE")
    {
        shell.env_remove(name);
    }
    // The page shows a run with two workers.
    let output = shell
        .env("DAHL_NCPU", "2")
        .env("DAHL_ENERGY_MS", "0")
        .env("HOME", folder)
        .output()
        .map_err(|error| error.to_string())?;
    let workspace =
        format!("{}/", Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("a workspace").display());
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    let printed = OF_THE_TEST.iter().fold(printed, |text, (own, example)| text.replace(own, example));
    Ok(printed.replace(&workspace, ""))
}
