//! Ranks that fail. Rank 1 of 3 does, and the others wait for it: they end, with the cause.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::{Command, ExitCode};
use std::time::Duration;

use dahl_core::{Result, Runtime};
use dahl_mpi::{Mpi, Settings};

use crate::programs::kernels::{V, scale};

/// Each way to fail, and what the processes or `mpirun` say then: lines, of which ` .. ` leaves something out.
pub(crate) const ALL: &[(&str, &[&str])] = &[
    (
        "a_rank_that_panics",
        &["rank 0 ends: rank 1 failed: out of paper", "rank 2 ends: rank 1 failed: out of paper"],
    ),
    (
        "a_rank_whose_task_fails",
        &[
            "rank 0 ends: rank .. too large",
            "rank 1 ends: rank .. too large",
            "rank 2 ends: rank .. too large",
        ],
    ),
    (
        "a_rank_that_panics_in_an_exchange",
        &[
            "rank 0 ends: rank 1 failed: out of paper",
            "rank 1 panics",
            "rank 2 ends: rank 1 failed: out of paper",
        ],
    ),
    (
        "a_rank_that_leaves",
        &["rank 0 ends: rank 1 failed: its process left", "rank 2 ends: rank 1 failed: its process left"],
    ),
    ("a_rank_that_exits", &["exiting"]),
    ("a_rank_that_is_killed", &["signal 9"]),
    ("a_rank_that_is_stopped", &["rank 1 failed: it has not answered for 1s"]),
    (
        "a_rank_that_does_not_hear_of_a_failure",
        &["rank 1 failed: out of paper; some ranks have not ended since"],
    ),
];

fn signal(name: &str) {
    let id = std::process::id().to_string();
    let sent = Command::new("kill").args([name, &id]).status();
    assert!(sent.is_ok_and(|status| status.success()), "there is no kill");
}

/// This process as a rank.
pub(crate) fn rank(what: &str) -> ExitCode {
    let mpi = match Settings::default().silence(Duration::from_secs(1)).init() {
        Ok(mpi) => mpi,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::FAILURE;
        }
    };
    let rank = mpi.rank();
    if rank == 1 && what == "a_rank_that_leaves" {
        return ExitCode::SUCCESS;
    }
    if what == "a_rank_that_panics_in_an_exchange" {
        return exchange(&mpi);
    }
    let builder = Runtime::builder().cpu_workers(1).cuda_devices(0);
    match mpi.run(builder, |rt| program(rt, what)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failed) => {
            println!("rank {rank} ends: {failed}");
            ExitCode::FAILURE
        }
    }
}

/// Rank 1 panics without a runtime, and the others end with its message.
fn exchange(mpi: &Mpi) -> ExitCode {
    let rank = mpi.rank();
    let part = |_| {
        if rank == 1 {
            std::panic::resume_unwind(Box::new("out of paper"));
        }
        Ok(())
    };
    match catch_unwind(AssertUnwindSafe(|| mpi.exchange(mpi.ranks(), part))) {
        Ok(Err(failed)) => println!("rank {rank} ends: {failed}"),
        Ok(Ok(_)) => println!("rank {rank} ends well"),
        Err(_) => println!("rank {rank} panics"),
    }
    ExitCode::FAILURE
}

fn program(rt: &Runtime, what: &str) -> Result<()> {
    let mut x: V = rt.zeros([3])?;
    if rt.rank() == 1 {
        match what {
            "a_rank_that_panics" | "a_rank_that_does_not_hear_of_a_failure" => {
                std::panic::resume_unwind(Box::new("out of paper"))
            }
            "a_rank_that_exits" => std::process::exit(0),
            "a_rank_that_is_killed" => signal("-KILL"),
            "a_rank_that_is_stopped" => signal("-STOP"),
            _ => {}
        }
    } else if rt.rank() == 0 && what == "a_rank_that_does_not_hear_of_a_failure" {
        loop {
            std::thread::park();
        }
    }
    let add = if what == "a_rank_whose_task_fails" { 5000.0 } else { 1.0 };
    scale(&mut x, add, Some(1))?;
    x.read().map(drop)
}
