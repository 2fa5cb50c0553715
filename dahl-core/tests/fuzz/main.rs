//! Small programs on the whole runtime, each by a schedule that a seed determines.
//!
//! Built with `--cfg dahl_fuzz` (`just fuzz`), atomics, locks and parking are shuttle's, and only one thread runs at a
//! time: at each of these operations, and between any two elements that a kernel accesses, the seed determines which
//! thread continues. The same seed also chooses the program and the runtime's settings. So a failure (a wrong value, a
//! panic, a deadlock, a thread that spins for ever) is reproduced by the same seed:
//!
//! * `DAHL_FUZZ_SEEDS=n` runs the seeds 0 to n - 1 (`just fuzz n`),
//! * `DAHL_FUZZ_SEED=s` runs the seed s alone.
#![cfg(dahl_fuzz)]

mod kernels;
mod program;

use std::env;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use shuttle::scheduler::RandomScheduler;
use shuttle::{Config, FailurePersistence, MaxSteps, Runner};

/// The default number of seeds.
const SEEDS: u64 = 10_000;
/// More context switches than a program that makes progress can need; a livelock reaches them.
const MOST_STEPS: usize = 1_000_000;

fn number(variable: &str) -> Option<u64> {
    let text = env::var(variable).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{variable}={text} is not a whole number")))
}

fn run(seed: u64) {
    let mut config = Config::new();
    config.failure_persistence = FailurePersistence::None;
    config.max_steps = MaxSteps::FailAfter(MOST_STEPS);
    config.stack_size = 1 << 18;
    Runner::new(RandomScheduler::new_from_seed(seed, 1), config).run(move || program::run(seed));
}

#[test]
fn every_schedule_gives_the_sequential_result() {
    let seeds = match number("DAHL_FUZZ_SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..number("DAHL_FUZZ_SEEDS").unwrap_or(SEEDS),
    };
    for seed in seeds {
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| run(seed))) {
            eprintln!("seed {seed} fails: DAHL_FUZZ_SEED={seed} just fuzz");
            eprintln!("{}", program::describe(seed));
            resume_unwind(panic);
        }
    }
}
