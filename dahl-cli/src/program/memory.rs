//! `dahl program memory FILE`: the places of a program's arrays.

use std::fmt;
use std::path::{Path, PathBuf};

use clap::ValueHint;
use dahl::program::{Effort, MemoryPlan};
use serde::Serialize;

use super::read;
use crate::output::Output;
use crate::trouble::Trouble;

const EXAMPLES: &str = "\
Examples:
  dahl program memory step.program                      in an order with little memory
  dahl program memory step.program --any-order          for every order of the tasks
  dahl program memory step.program --capacity 1000000   fails if it needs more";

/// The arguments of `dahl program memory`.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The program, as `graph().save(FILE)` wrote it.
    #[arg(value_hint = ValueHint::FilePath)]
    file: PathBuf,
    /// Plans for every order that the dependencies of the tasks allow, as a program without `.tight()`.
    #[arg(long)]
    any_order: bool,
    /// The bytes that there are.
    #[arg(long, value_name = "BYTES")]
    capacity: Option<usize>,
    /// The most steps that the search for places may take, for a result that does not depend on the machine.
    #[arg(long, default_value_t = Effort::default().steps, hide_default_value = true)]
    steps: u64,
}

/// A plan.
#[derive(Serialize)]
struct Report<'a> {
    file: &'a Path,
    capacity_bytes: Option<usize>,
    peak_bytes: usize,
    lower_bound_bytes: usize,
    optimal: bool,
    least_bytes: Option<usize>,
    sum_bytes: usize,
    extra_edges: usize,
    arrays: Vec<Row<'a>>,
    #[serde(skip)]
    plan: &'a MemoryPlan,
}

/// An array in its place.
#[derive(Serialize)]
struct Row<'a> {
    array: &'a str,
    offset: usize,
    bytes: usize,
    first_step: usize,
    last_step: usize,
}

pub(crate) fn run(arguments: &Arguments, output: &Output) -> Result<(), Trouble> {
    let Arguments { ref file, any_order, capacity, steps } = *arguments;
    let mut listing = read(file)?;
    let plan = match any_order {
        true => listing.memory_plan(),
        false => listing.plan_tightly(&Effort { steps, ..Effort::default() }),
    };
    let (peak_bytes, lower_bound_bytes) = (plan.peak_bytes(), plan.lower_bound_bytes());
    let least_bytes = (!any_order).then(|| plan.least_bytes());
    if let Some(capacity) = capacity.filter(|&capacity| capacity < peak_bytes) {
        let least = match least_bytes {
            None => "without `--any-order` it may need less".to_owned(),
            Some(least) if least == peak_bytes => "that is the least possible".to_owned(),
            Some(least) => format!("every order needs at least {least}"),
        };
        let fact = format!("the arrays need {peak_bytes} bytes, more than {capacity}; {least}");
        return Err(Trouble::Failed(format!("{}: {fact}", file.display())));
    }
    let rows = plan.places().iter().map(|place| Row {
        array: &place.label,
        offset: place.offset,
        bytes: place.bytes,
        first_step: place.lifetime.0,
        last_step: place.lifetime.1,
    });
    output.show(&Report {
        file,
        capacity_bytes: capacity,
        peak_bytes,
        lower_bound_bytes,
        optimal: plan.is_optimal(),
        least_bytes,
        sum_bytes: plan.sum_bytes(),
        extra_edges: plan.extra_edges().len(),
        arrays: rows.collect(),
        plan: &plan,
    })
}

impl fmt::Display for Report<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.plan)
    }
}
