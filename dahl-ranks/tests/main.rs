//! The programs on ranks that are threads, in real and in virtual time.

use launch::{Network, use_network};
use libtest_mimic::{Arguments, Trial};

mod launch;
mod programs;
mod stalls;
mod virtual_time;

fn main() {
    if std::env::args().nth(1).as_deref() == Some(virtual_time::AS_PROGRAM) {
        return virtual_time::program();
    }
    let on = |network: Network| {
        move |&(name, run): &(&str, fn())| {
            Trial::test(format!("{network:?}::{name}"), move || {
                use_network(network);
                run();
                Ok(())
            })
        }
    };
    let others: [(&str, fn()); 9] = [
        ("virtual_time::the_last_message_has_its_time", virtual_time::the_last_message_has_its_time),
        ("virtual_time::devices_take_part", virtual_time::devices_take_part),
        (
            "virtual_time::failures_at_one_time_are_that_of_the_first_rank",
            virtual_time::failures_at_one_time_are_that_of_the_first_rank,
        ),
        ("virtual_time::a_machine_file_runs_a_program", virtual_time::a_machine_file_runs_a_program),
        ("stalls::a_report_names_what_a_rank_waits_for", stalls::a_report_names_what_a_rank_waits_for),
        ("virtual_time::messages_take_their_time", virtual_time::messages_take_their_time),
        ("virtual_time::ports_are_shared", virtual_time::ports_are_shared),
        ("virtual_time::a_run_is_the_same_every_time", virtual_time::a_run_is_the_same_every_time),
        ("virtual_time::impossible_clusters_are_refused", virtual_time::impossible_clusters_are_refused),
    ];
    let others = others.iter().map(|&(name, run)| {
        Trial::test(name, move || {
            run();
            Ok(())
        })
    });
    let programs = [Network::Threads, Network::Cluster]
        .into_iter()
        .flat_map(|network| programs::ALL.iter().map(on(network)));
    libtest_mimic::run(&Arguments::from_args(), programs.chain(others).collect()).exit();
}
