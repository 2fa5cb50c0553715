//! Running a program on a simulated machine when performance models know its tasks.

use dahl::Runtime;

use crate::trouble::Trouble;

/// Runs before the one that counts. In virtual time a task is known when it has run once on each kind of worker.
const EARLIER: usize = 4;

/// Runs `program` again and again on one runtime, whose models learn its tasks. What the first run has shown, which knew
/// nothing, and the last one.
pub(crate) fn first_and_known<R>(
    rt: &Runtime,
    program: impl Fn(&Runtime) -> Result<R, Trouble>,
) -> Result<[R; 2], Trouble> {
    let first = program(rt)?;
    for _ in 1..EARLIER {
        program(rt)?;
    }
    Ok([first, program(rt)?])
}
