//! Placements on a simulated machine: what schedulers reach, compared with the best static placement found by search.

pub mod graph;
pub mod plan;
pub mod programs;
pub mod search;

use dahl::Runtime;
use plan::Plan;
use programs::{Program, Workers};
use search::{evaluate, graph, search};

const PROGRAMS: [Program; 3] = [Program::Matmul(4), Program::Cholesky(6), Program::Cnn(1)];

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
    for program in PROGRAMS {
        let alone = scheduled(program, Workers::Cpu, "eager");
        let found = search(program, 1, 60).unwrap();
        assert!(found.ns < alone, "{program:?}: {} ns, and {alone} ns on CPU workers alone", found.ns);
        assert_eq!(evaluate(program, &found.plan).unwrap(), found.ns, "{program:?}");
    }
}
