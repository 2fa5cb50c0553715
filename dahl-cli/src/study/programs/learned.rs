//! Running a program again and again on one runtime, which learns.

use dahl::Runtime;

use crate::trouble::Trouble;

/// Runs before the one that counts.
const EARLIER: usize = 4;

/// What the fifth run of `program` on one runtime shows, when the models have what the runs before have measured.
pub(crate) fn learned<R>(
    rt: &Runtime,
    program: impl Fn(&Runtime) -> Result<R, Trouble>,
) -> Result<R, Trouble> {
    for _ in 0..EARLIER {
        program(rt)?;
    }
    program(rt)
}
