//! `dahl completions SHELL`: a script with which a shell completes the command's words.

use std::fmt;

use clap::Command;
use clap_complete::{Shell, generate};
use serde::Serialize;

use crate::output::Output;
use crate::trouble::Trouble;

const EXAMPLES: &str = "\
Examples:
  dahl completions bash > ~/.local/share/bash-completion/completions/dahl
  dahl completions zsh > ~/.zfunc/_dahl
  dahl completions fish > ~/.config/fish/completions/dahl.fish";

/// The arguments of `dahl completions`.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The shell.
    shell: Shell,
}

#[derive(Serialize)]
struct Report {
    shell: String,
    script: String,
}

/// Prints the script for `command`.
pub(crate) fn run(arguments: &Arguments, mut command: Command, output: &Output) -> Result<(), Trouble> {
    let mut script = Vec::new();
    generate(arguments.shell, &mut command, "dahl", &mut script);
    let script = String::from_utf8_lossy(&script).into_owned();
    output.show(&Report { shell: arguments.shell.to_string(), script })
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.script)
    }
}
