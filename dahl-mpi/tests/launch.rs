//! How the programs run here: this process is one of the ranks.

use std::cell::RefCell;
use std::panic::catch_unwind;
use std::process::ExitCode;

use dahl_core::{Result, Runtime, RuntimeBuilder};
use dahl_mpi::{Mpi, RankFailed, Settings};

thread_local! {
    static MPI: RefCell<Option<Mpi>> = const { RefCell::new(None) };
}

/// Runs all programs, one after the other.
pub(crate) fn all(programs: &[(&str, fn())]) -> ExitCode {
    // So small that many messages have several chunks.
    let mpi = match Settings::default().chunk_bytes(1000).init() {
        Ok(mpi) => mpi,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::FAILURE;
        }
    };
    let rank = mpi.rank();
    MPI.set(Some(mpi));
    for (name, run) in programs {
        if catch_unwind(run).is_err() {
            eprintln!("{name} failed on rank {rank}");
            // The others may wait for this rank in the same program: `mpirun` ends them.
            std::process::exit(1);
        }
        if rank == 0 {
            println!("{name}: ok");
        }
    }
    MPI.set(None);
    ExitCode::SUCCESS
}

/// The result of this process, if it is one of `ranks` ranks and there are so many.
pub(crate) fn on_ranks<R: Send>(
    ranks: usize,
    _seed: u64,
    builder: impl Fn() -> RuntimeBuilder + Sync,
    program: impl Fn(&Runtime) -> Result<R> + Sync,
) -> Option<std::result::Result<Vec<R>, RankFailed>> {
    MPI.with_borrow(|mpi| {
        let mpi = mpi.as_ref().expect("`all` sets it");
        if ranks > mpi.ranks() {
            return None;
        }
        let result = mpi.run_on(ranks, builder(), program);
        result.map(|result| result.map(|result| vec![result])).transpose()
    })
}
