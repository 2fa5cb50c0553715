//! The programs on ranks that are threads.

use libtest_mimic::{Arguments, Trial};

mod launch;
mod programs;

fn main() {
    let test = |(name, run): &(&str, fn())| {
        let run = *run;
        Trial::test(*name, move || {
            run();
            Ok(())
        })
    };
    libtest_mimic::run(&Arguments::from_args(), programs::ALL.iter().map(test).collect()).exit();
}
