//! The memory that one step needs, by the plans of its program.

use dahl::Result;
use dahl::prelude::*;
use dahl::program::MemoryPlan;

/// How the places of a step's arrays are chosen.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Placing {
    /// By lifetimes that hold in any order of the tasks.
    AnyOrder,
    /// In one order, which needs little memory.
    Tight,
}

impl Placing {
    /// In the order in which the peak of memory grows: the runtime tells the highest one alone.
    pub(crate) const ALL: [Self; 2] = [Self::Tight, Self::AnyOrder];
}

/// Prints what a step needs: `step` takes one, which is recorded, and returns its plan.
pub(crate) fn print(rt: &Runtime, placing: Placing, step: impl FnOnce() -> Result<MemoryPlan>) -> Result<()> {
    rt.wait()?;
    let before = rt.memory()[0].current_bytes;
    let plan = step()?;
    rt.wait()?;
    let line = serde_json::json!({
        "placing": format!("{placing:?}"),
        "arrays_bytes": plan.sum_bytes(),
        "planned_bytes": plan.peak_bytes(),
        "reached_bytes": rt.memory()[0].peak_bytes - before,
        "lower_bound_bytes": plan.lower_bound_bytes(),
        "least_bytes": plan.least_bytes(),
    });
    println!("{line}");
    Ok(())
}
