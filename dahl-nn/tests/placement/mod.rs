//! Placements on a simulated machine: schedulers compared with the best static placement found by search.
//!
//! `docs/studies/placement.md` has the figures of long searches.
#![allow(clippy::duplicate_mod, reason = "each example has the module that both share")]

pub mod graph;
pub mod plan;
pub mod programs;
pub mod replayed;
pub mod search;

use dahl::Runtime;
use dahl::testing::Tier;
use plan::Plan;
use programs::{Program, Workers};
use search::{calibrated, evaluate, graph, on_device, search};

const PROGRAMS: [Program; 3] = [Program::Matmul(4), Program::Cholesky(6), Program::Cnn(4, 16, 4)];

fn scheduled(program: Program, workers: Workers, scheduler: &str) -> u64 {
    program.run(workers, Runtime::builder().scheduler(scheduler)).unwrap().ns
}

#[test]
fn a_plan_is_followed_in_the_same_time_each_time() {
    for program in PROGRAMS {
        let tasks = graph(program).unwrap().tasks.len();
        let plan = Plan { workers: (0..tasks).map(|task| task % 3).collect(), ranks: Vec::new() };
        assert_eq!(evaluate(program, &plan).unwrap(), evaluate(program, &plan).unwrap(), "{program:?}");
    }
}

#[test]
fn a_search_finds_a_placement_that_is_better_than_either_kind_of_worker_alone() {
    for &program in Tier::from_env().choose("search", &PROGRAMS, 1) {
        let alone = scheduled(program, Workers::Cpu, "eager").min(on_device(program).unwrap());
        let found = search(program, 1, 400).unwrap();
        assert!(found.ns < alone, "{program:?}: {} ns, and {alone} ns on one kind of worker", found.ns);
        assert_eq!(evaluate(program, &found.plan).unwrap(), found.ns, "{program:?}");
    }
}

#[test]
fn dmda_is_within_a_tenth_of_the_best_static_placement_where_tasks_outlast_transfers() {
    let programs = [Program::Matmul(4), Program::Cholesky(6), Program::Cholesky(8), Program::Cnn(32, 16, 4)];
    for &program in Tier::from_env().choose("static placements", &programs, 1) {
        let folder = tempfile::tempdir().unwrap();
        let dmda = calibrated(program, folder.path(), |builder| builder.scheduler("dmda")).unwrap();
        let found = search(program, 1, 300).unwrap();
        assert!(dmda * 10 <= found.ns * 11, "{program:?}: {dmda} ns, and {} ns were found", found.ns);
        let alone = scheduled(program, Workers::Cpu, "eager").min(on_device(program).unwrap());
        assert!(dmda * 20 <= alone * 21, "{program:?}: {dmda} ns, and {alone} ns on one kind of worker");
    }
}

const NETWORKS: [(usize, usize); 6] = [(4, 16), (16, 16), (32, 16), (4, 64), (16, 64), (32, 64)];

/// The duration with `dmda` with models, for so many steps, and that with the better kind of worker alone.
fn dmda_and_alone(filters: usize, part: usize, steps: usize) -> (u64, u64) {
    let program = Program::Cnn(filters, part, steps);
    let folder = tempfile::tempdir().unwrap();
    let dmda = calibrated(program, folder.path(), |builder| builder.scheduler("dmda")).unwrap();
    (dmda, scheduled(program, Workers::Cpu, "eager").min(on_device(program).unwrap()))
}

#[test]
fn dmda_with_models_is_no_slower_on_networks_than_either_kind_of_worker_alone() {
    for &(filters, part) in Tier::from_env().choose("networks", &NETWORKS, 1) {
        let (dmda, alone) = dmda_and_alone(filters, part, 16);
        assert!(
            dmda * 20 <= alone * 21,
            "{filters}, {part}: {dmda} ns, and {alone} ns on one kind of worker"
        );
    }
}

/// Before the first step the runtime does not know where the parameters will be used: with four steps that costs a part
/// of the time.
#[test]
fn dmda_loses_little_before_it_knows_where_parameters_are_wanted() {
    for &(filters, part) in Tier::from_env().choose("first steps", &NETWORKS, 2) {
        let (dmda, alone) = dmda_and_alone(filters, part, 4);
        assert!(dmda * 7 <= alone * 8, "{filters}, {part}: {dmda} ns, and {alone} ns on one kind of worker");
    }
}
