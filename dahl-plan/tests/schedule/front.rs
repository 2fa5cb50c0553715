//! The whole front of a small factorisation.

use dahl_plan::schedule::{Objective, Options, front, plan};

use super::graphs::{cholesky, run};

#[test]
fn the_front_of_a_factorisation_ends_at_both_optima() {
    let problem = cholesky(3, 2, 1);
    let options = Options::default();
    let front = front(&problem, &options, &mut || false).expect("there are schedules");
    assert!(front.complete);
    assert!(front.plans.is_sorted_by(|a, b| a.nanoseconds < b.nanoseconds && a.picojoules > b.picojoules));
    front.plans.iter().for_each(|plan| drop(run(&problem, plan)));
    let time = plan(&problem, Objective::Time, &options).expect("there is one");
    let energy = plan(&problem, Objective::Energy { deadline: None }, &options).expect("there is one");
    assert_eq!(front.plans.first().map(|plan| plan.nanoseconds), Some(time.nanoseconds));
    assert_eq!(front.plans.last().map(|plan| plan.picojoules), Some(energy.picojoules));
}
