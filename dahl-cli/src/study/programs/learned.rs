//! Runs a program repeatedly on one runtime, whose models learn.

use dahl::Runtime;

use crate::trouble::Trouble;

/// Runs before the measured one.
const EARLIER: usize = 4;

/// The result of the fifth run of `program` on one runtime, whose models have the measurements of the earlier runs.
pub(crate) fn learned<R>(
    rt: &Runtime,
    program: impl Fn(&Runtime) -> Result<R, Trouble>,
) -> Result<R, Trouble> {
    for _ in 0..EARLIER {
        program(rt)?;
    }
    program(rt)
}
