//! The programs on ranks that are threads.

use libtest_mimic::{Arguments, Trial};

mod launch;
mod programs;
mod stalls;

fn main() {
    let test = |(name, run): &(&str, fn())| {
        let run = *run;
        Trial::test(*name, move || {
            run();
            Ok(())
        })
    };
    let stall = (
        "stalls::a_report_names_what_a_rank_waits_for",
        stalls::a_report_names_what_a_rank_waits_for as fn(),
    );
    let trials = programs::ALL.iter().chain([&stall]).map(test).collect();
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}
