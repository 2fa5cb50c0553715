//! Problems beyond the exact search: the best found and a bound.

use dahl_plan::schedule::{Objective, Options, plan};

use super::graphs::{cholesky, run};

#[test]
fn a_factorisation_of_hundreds_of_tasks_has_a_schedule_and_a_bound() {
    let problem = cholesky(11, 4, 2);
    assert_eq!(problem.tasks.len(), 286);
    let options = Options { states: 100, ..Options::default() };
    for objective in [Objective::Time, Objective::Energy { deadline: None }] {
        let plan = plan(&problem, objective, &options).expect("there is a schedule");
        run(&problem, &plan);
        let value = if objective == Objective::Time { plan.nanoseconds } else { plan.picojoules };
        assert!(plan.lower_bound > 0 && plan.lower_bound <= value);
        eprintln!("{objective:?} {value} {} {}", plan.lower_bound, value as f64 / plan.lower_bound as f64);
    }
}
