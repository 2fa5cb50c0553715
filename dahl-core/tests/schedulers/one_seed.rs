//! One seed: a run's seed and plan give the same order of tasks, placements and bits in a simulated run, in the real run and in the
//! replay of a plan.

use std::fs;

use dahl_core::{Machine, Result, Runtime, RuntimeBuilder};

use crate::schedulers::graph::{Placement, machine, of_worker, plan_file, recorded};
use crate::schedulers::{names, program};

const WORKERS: usize = 3;
const SEED: u64 = 7;

/// Workers whose tasks take different times by their codelets, and vary by the seed.
fn simulated() -> Machine {
    let times: Vec<f64> = (1..12).map(f64::from).collect();
    let mut machine = machine(&times, &[], 0.0);
    machine.cpu.speed.codelets.values_mut().for_each(|speed| speed.variation = Some(0.3));
    machine.seed = Some(SEED);
    machine
}

fn builder(scheduler: &str) -> RuntimeBuilder {
    Runtime::builder().cpu_workers(WORKERS).rand_seed(SEED).scheduler(scheduler)
}

/// The tasks of each worker, in the order in which they ran.
fn orders(placement: &Placement) -> Vec<Vec<u64>> {
    (0..WORKERS).map(|worker| of_worker(placement, worker)).collect()
}

#[test]
fn a_seed_gives_the_same_simulated_run_under_every_scheduler() {
    for name in names() {
        let run = || {
            recorded(builder(name).virtual_machine(simulated()), |rt| Ok((program(rt)?, rt.clock().now_ns())))
        };
        let first = run();
        assert_eq!(run(), first, "{name}");
    }
}

#[test]
fn another_seed_gives_other_durations() {
    let time = |seed| {
        let machine = Machine { seed, ..simulated() };
        let (ns, _) = recorded(builder("eager").virtual_machine(machine), |rt| {
            program(rt)?;
            Ok(rt.clock().now_ns())
        });
        ns
    };
    assert_eq!(time(Some(1)), time(Some(1)));
    assert_ne!(time(Some(1)), time(Some(2)));
    assert_ne!(time(Some(1)), time(None));
}

#[test]
fn the_plan_of_a_simulated_run_gives_the_real_run_and_the_replay_the_same_order_placements_and_bits()
-> Result<()> {
    for name in names() {
        let path = plan_file();
        let rt = builder(name).virtual_machine(simulated()).write_plan(&path).build()?;
        let bits = program(&rt)?;
        drop(rt);
        let plan = fs::read_to_string(&path).expect("the plan was written");
        let of_line = |line: &str| {
            let words: Vec<&str> = line.split(' ').collect();
            (words[0] == "task").then(|| (words[1].parse().unwrap(), words[3].parse().unwrap()))
        };
        let expected = orders(&plan.lines().filter_map(of_line).collect());
        let by_plan = |builder: RuntimeBuilder| {
            recorded(builder.plan(&path), |rt| Ok((program(rt)?, rt.plan_divergences())))
        };
        let runs = [
            ("simulated", by_plan(builder("static").virtual_machine(simulated()))),
            ("real", by_plan(builder("static"))),
            ("real again", by_plan(builder("static"))),
        ];
        let _ = fs::remove_file(&path);
        for (run, ((values, divergences), placement)) in runs {
            assert_eq!(divergences, [""; 0], "{name}, {run}");
            assert_eq!(values, bits, "{name}, {run}");
            assert_eq!(orders(&placement), expected, "{name}, {run}");
        }
    }
    Ok(())
}

#[test]
fn without_a_plan_the_real_run_is_the_simulated_one_in_the_order_of_submission() {
    let simulated = recorded(builder("sequential").virtual_machine(simulated()), program);
    let real = recorded(builder("sequential"), program);
    assert_eq!(real, simulated);
}
