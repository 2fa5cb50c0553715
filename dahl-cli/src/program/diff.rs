//! `dahl program diff A B`: in what two programs differ.

use std::fmt;
use std::path::{Path, PathBuf};

use clap::ValueHint;
use dahl::program::Difference;
use serde::Serialize;

use super::read;
use crate::output::Output;
use crate::trouble::Trouble;

const EXAMPLES: &str = "\
Examples:
  dahl program diff step.program step.program
  dahl program diff before.program step.program || echo \"it has changed\"

Exit codes:
  0  the programs are the same, apart from lines of the source and the numbers of arrays
  1  they differ
  2  a file cannot be read";

/// The arguments of `dahl program diff`.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The program before.
    #[arg(value_name = "A", value_hint = ValueHint::FilePath)]
    before: PathBuf,
    /// The program after.
    #[arg(value_name = "B", value_hint = ValueHint::FilePath)]
    after: PathBuf,
}

/// A difference.
#[derive(Serialize)]
struct Report<'a> {
    before: &'a Path,
    after: &'a Path,
    #[serde(flatten)]
    difference: Difference,
}

pub(crate) fn run(arguments: &Arguments, output: &Output) -> Result<(), Trouble> {
    let Arguments { before, after } = arguments;
    let difference = read(before)?.difference(&read(after)?);
    let is_same = difference.is_empty();
    output.show(&Report { before, after, difference })?;
    if is_same { Ok(()) } else { Err(Trouble::Different) }
}

/// Nothing if there is no difference, as `diff` has it.
impl fmt::Display for Report<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { before, after, difference } = self;
        if difference.is_empty() {
            return Ok(());
        }
        write!(f, "--- {}\n+++ {}\n{difference}", before.display(), after.display())
    }
}
