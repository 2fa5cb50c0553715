//! Every objective against all orders of all tasks on all workers.

use dahl_plan::schedule::{Error, Objective, Options, Problem, execute, front, plan};
use proptest::prelude::*;

use super::graphs::{problems, run};

/// The time and energy of all orders in which the tasks can run.
fn all(problem: &Problem, order: &mut Vec<(usize, usize)>, found: &mut Vec<(u64, u64)>) {
    let tasks = problem.tasks.len();
    if order.len() == tasks {
        if let Ok(run) = execute(problem, order) {
            found.push((run.nanoseconds, run.picojoules));
        }
        return;
    }
    for task in (0..tasks).filter(|&task| order.iter().all(|one| one.0 != task)).collect::<Vec<_>>() {
        for worker in 0..problem.machine.workers.len() {
            order.push((task, worker));
            all(problem, order, found);
            order.pop();
        }
    }
}

fn check(problem: &Problem) -> Result<(), TestCaseError> {
    let mut found = Vec::new();
    all(problem, &mut Vec::new(), &mut found);
    let options = Options::default();
    let least = |objective| match plan(problem, objective, &options) {
        Ok(plan) => {
            run(problem, &plan);
            assert!(plan.optimal);
            Some((plan.nanoseconds, plan.picojoules))
        }
        Err(Error::Infeasible { .. }) => None,
        Err(other) => panic!("{other}"),
    };
    let time = found.iter().map(|one| one.0).min();
    prop_assert_eq!(least(Objective::Time).map(|one| one.0), time);
    let energy = found.iter().map(|one| one.1).min();
    prop_assert_eq!(least(Objective::Energy { deadline: None }).map(|one| one.1), energy);
    // Deadlines from the fastest to beyond the slowest, and one below.
    let mut times: Vec<u64> = found.iter().map(|one| one.0).collect();
    times.sort_unstable();
    times.dedup();
    for deadline in times.iter().take(3).copied().chain(times.first().and_then(|time| time.checked_sub(1))) {
        let in_time = found.iter().filter(|one| one.0 <= deadline);
        let energy = in_time.map(|one| one.1).min();
        let best = least(Objective::Energy { deadline: Some(deadline) });
        prop_assert_eq!(best.map(|one| one.1), energy);
        prop_assert!(best.is_none_or(|best| best.0 <= deadline));
    }
    found.sort_unstable();
    let mut pareto: Vec<(u64, u64)> = Vec::new();
    for one in found {
        if pareto.last().is_none_or(|last| one.1 < last.1) {
            pareto.push(one);
        }
    }
    match front(problem, &options, &mut || false) {
        Ok(front) => {
            prop_assert!(front.complete);
            let plans: Vec<_> = front.plans.iter().map(|plan| (plan.nanoseconds, plan.picojoules)).collect();
            prop_assert_eq!(plans, pareto);
        }
        Err(_) => prop_assert!(pareto.is_empty()),
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, ..ProptestConfig::default() })]

    #[test]
    fn all_objectives(problem in problems(4, 3, false)) {
        check(&problem)?;
    }

    #[test]
    fn all_objectives_with_limits_of_memory(problem in problems(4, 3, true)) {
        check(&problem)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 15, ..ProptestConfig::default() })]

    #[test]
    fn all_objectives_of_six_tasks(problem in problems(6, 2, false)) {
        check(&problem)?;
    }

}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn however_early_the_search_ends_the_bound_is_one(problem in problems(6, 3, false), states in 0_u64..20) {
        let options = Options { states, ..Options::default() };
        for objective in [Objective::Time, Objective::Energy { deadline: None }] {
            let value = |plan: &dahl_plan::schedule::Plan| match objective {
                Objective::Time => plan.nanoseconds,
                Objective::Energy { .. } => plan.picojoules,
            };
            let (Ok(early), Ok(late)) = (plan(&problem, objective, &options), plan(&problem, objective, &Options::default())) else {
                continue;
            };
            run(&problem, &early);
            prop_assert!(late.optimal);
            prop_assert!(early.lower_bound <= value(&late) && value(&late) <= value(&early));
        }
    }
}
