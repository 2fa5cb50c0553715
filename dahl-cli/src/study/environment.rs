//! Removes the settings `DAHL_*` from the environment of a study.
//!
//! A study determines all of its settings itself: `DAHL_TRACE` would trace each of its runtimes, and `DAHL_MACHINE`
//! would simulate them. A program cannot remove variables from its environment while threads may read it, so the
//! command starts itself again without them.

use std::env;
use std::os::unix::process::CommandExt;
use std::process::Command;

use crate::output::Output;
use crate::trouble::Trouble;

/// The prefix of settings.
const PREFIX: &str = "DAHL_";
/// How settings begin that only tests and builds read: Cargo sets some in this repository.
const OF_OTHERS: [&str; 2] = ["DAHL_TESTING_", "DAHL_SIMD_LEVELS"];
/// Tells the restarted command which settings were removed.
const IGNORED: &str = "STUDY_IGNORED";

/// Restarts the command without the settings, if there are any.
pub(crate) fn leave(output: &Output) -> Result<(), Trouble> {
    let mut names: Vec<String> = env::vars_os().filter_map(|(name, _)| name.into_string().ok()).collect();
    let is_of_others = |name: &str| OF_OTHERS.iter().any(|other| name.starts_with(other));
    names.retain(|name| name.starts_with(PREFIX) && !is_of_others(name));
    names.sort();
    if names.is_empty() {
        return Ok(());
    }
    output.note(&format!("ignored, as a study sets all that matters itself: {}", names.join(", ")));
    let failed =
        |error| Trouble::Failed(format!("the study cannot begin without {}: {error}", names.join(", ")));
    let mut command = Command::new(env::current_exe().map_err(failed)?);
    let mut arguments = env::args_os();
    arguments.next().into_iter().for_each(|name| {
        command.arg0(name);
    });
    command.args(arguments).env(IGNORED, names.join(" "));
    names.iter().for_each(|name| {
        command.env_remove(name);
    });
    Err(failed(command.exec()))
}

/// The settings that were removed.
pub(crate) fn ignored() -> Vec<String> {
    let names = env::var(IGNORED).unwrap_or_default();
    names.split_whitespace().map(str::to_owned).collect()
}
