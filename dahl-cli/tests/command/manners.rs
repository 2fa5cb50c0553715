//! Rules for all commands: colours and progress on terminals only, and a silent end when the reader of the output has
//! closed it.

use std::process::Stdio;

use crate::command::folder::{Folder, text};

#[test]
fn there_are_no_colours_where_there_is_no_terminal() {
    let folder = Folder::new();
    for words in ["perf --dir models ls", "perf --dir models show dot", "machine --no-measurements", "--help"]
    {
        let printed = folder.prints(words);
        assert!(!printed.contains('\u{1b}'), "dahl {words}: {printed:?}");
    }
    let forced =
        folder.command("dahl").args(["perf", "--dir", "models", "ls"]).env("CLICOLOR_FORCE", "1").output();
    let forced = text(&forced.expect("it runs").stdout);
    assert!(forced.contains("\u{1b}[1m"), "there are some to remove: {forced:?}");
}

#[test]
fn nothing_is_said_of_progress_where_there_is_no_terminal() {
    let folder = Folder::new();
    // `prints` requires that standard error is empty.
    folder.prints("bench overhead --tasks 10 --rounds 1 --workers 1");
    folder.prints("-q bench overhead --tasks 10 --rounds 1 --workers 1");
}

#[test]
fn a_reader_who_wants_no_more_ends_it_quietly() {
    let folder = Folder::new();
    // More than a pipe holds, so that writing fails.
    for words in ["completions bash", "--json perf --dir models show dot", "trace chrome run.json -o -"] {
        let words: Vec<_> = words.split(' ').collect();
        let mut command = folder.command("dahl");
        let command = command.args(&words).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("it runs");
        drop(child.stdout.take());
        let output = child.wait_with_output().expect("it ends");
        assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), String::new()), "{words:?}");
    }
}

#[test]
fn the_exit_codes_are_in_the_help() {
    let help = Folder::new().prints("--help");
    let codes = help.split("Exit codes:").nth(1).expect("it has a part of them");
    for code in ["\n  0  ", "\n  1  ", "\n  2  "] {
        assert!(codes.contains(code), "{help}");
    }
}

#[test]
fn there_is_a_script_for_each_shell() {
    let folder = Folder::new();
    for (shell, word) in [
        ("bash", "_dahl()"),
        ("zsh", "#compdef dahl"),
        ("fish", "complete -c dahl"),
        ("elvish", "'dahl'"),
        ("powershell", "'dahl'"),
    ] {
        let script = folder.prints(&format!("completions {shell}"));
        assert!(script.contains(word) && script.contains("explain"), "{shell}: {script}");
    }
    folder.write("dahl.bash", &folder.prints("completions bash"));
    let script =
        "source dahl.bash; COMP_WORDS=(dahl perf ex); COMP_CWORD=2; _dahl dahl ex perf; echo ${COMPREPLY[*]}";
    let output = folder.command("bash").args(["-c", script]).output().expect("bash is there");
    assert_eq!(text(&output.stdout).trim(), "explain", "{}", text(&output.stderr));
}
