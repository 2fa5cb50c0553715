//! The programs of `dahl-ranks` on processes of MPI, and processes that fail. Started by `cargo test`, this starts itself by
//! `mpirun`.

use std::process::ExitCode;

mod failing;
mod launch;
mod mpirun;
#[path = "../../dahl-ranks/tests/programs/mod.rs"]
mod programs;

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    if arguments.next().as_deref() == Some(mpirun::AS_RANK) {
        let what = arguments.next().unwrap_or_default();
        return if what == "programs" { launch::all(programs::ALL) } else { failing::rank(&what) };
    }
    mpirun::tests()
}
