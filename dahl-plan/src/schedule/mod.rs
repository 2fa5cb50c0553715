//! Schedules of task graphs: which worker runs which task when, in the least time or with the least energy.
//!
//! Tasks have a time and an energy on each kind of worker. What a task writes is read by others; between memory nodes it is
//! transferred, which takes time and energy. Workers take power while they are idle. [`plan`] looks for the best schedule by
//! branch and bound, and says what it has proven; [`front`] finds all schedules of which none is better than another in both time and energy;
//! [`execute`] runs a schedule as discrete events. The problem is NP-hard.
//!
//! | part | what it does |
//! |---|---|
//! | `problem` | tasks, arrays, workers, memory nodes, links |
//! | `model` | the problem in whole numbers: types of workers, ways of transfers |
//! | `state` | a schedule of some of the tasks |
//! | `bound` | what no completion of it goes below |
//! | `list`, `beam` | heuristics for problems of any size |
//! | `search`, `remembered` | the exact search |
//! | `execution` | a schedule, run |
//!
//! `docs/plans.md` describes the search.

mod beam;
mod bound;
mod error;
mod execution;
mod goal;
mod list;
mod model;
mod plan;
mod problem;
mod remembered;
mod search;
mod state;

pub use error::Error;
pub use execution::{Execution, execute};
use goal::Goal;
use model::Model;
pub use plan::{Front, Objective, Options, Placement, Plan};
pub use problem::{Cost, Edge, Link, Machine, Node, Problem, Source, Task, Worker};
use state::State;

/// The best schedule that is found in the steps of the options.
///
/// The result depends on the problem, the objective and the options only. Tasks start in any order in which each starts after
/// what it reads has been written and transferred. An array is transferred at most once to each node, from the node where it was
/// written, as soon as it is there. It and its copies are in memory from the start of its task, or of the first reader at
/// that node, to the end of its last reader; a result and what nobody reads is there to the end.
///
/// ```
/// use dahl_plan::schedule::{Cost, Machine, Node, Objective, Options, Problem, Task, Worker, plan};
///
/// // Three tasks of 2, 2 and 3 ns on two workers.
/// let task = |nanoseconds| Task { costs: vec![Some(Cost { nanoseconds, picojoules: 1 })], ..Task::default() };
/// let machine = Machine { kinds: 1, nodes: vec![Node::default()], workers: vec![Worker::default(); 2], links: vec![] };
/// let problem = Problem { tasks: vec![task(2), task(2), task(3)], edges: vec![], machine };
/// let plan = plan(&problem, Objective::Time, &Options::default())?;
/// assert_eq!((plan.nanoseconds, plan.picojoules, plan.optimal), (4, 3, true));
/// # Ok::<(), dahl_plan::schedule::Error>(())
/// ```
///
/// # Errors
/// If the problem is not valid, if there is no schedule, or if none was found.
pub fn plan(problem: &Problem, objective: Objective, options: &Options) -> Result<Plan, Error> {
    plan_until(problem, objective, options, &mut || false)
}

/// As [`plan`], and ends when `stop` says so.
///
/// # Errors
/// As [`plan`].
pub fn plan_until(
    problem: &Problem,
    objective: Objective,
    options: &Options,
    stop: &mut dyn FnMut() -> bool,
) -> Result<Plan, Error> {
    best(&Model::new(problem)?, objective, options, stop)
}

fn best(
    model: &Model,
    objective: Objective,
    options: &Options,
    stop: &mut dyn FnMut() -> bool,
) -> Result<Plan, Error> {
    let mut goal = Goal::new(model, objective);
    let root = State::new(model);
    let limit = match objective {
        Objective::Energy { deadline: Some(deadline) } => format!("{deadline} ns"),
        _ => "the links and the memory".to_owned(),
    };
    let inputs_fit = |(most, held): (&Option<u64>, &u64)| most.is_none_or(|most| *held <= most);
    if !model.memory.iter().zip(&model.inputs).all(inputs_fit) {
        return Err(Error::Infeasible { limit: "the memory, since the inputs do not fit".to_owned() });
    }
    let Some(bound) = goal.bound(&root) else { return Err(Error::Infeasible { limit }) };
    list::search(&mut goal, &root, stop);
    if goal.improves(bound) {
        beam::search(&mut goal, &root, stop);
    }
    let outcome = search::search(&mut goal, &root, options.states, options.remembered, stop);
    let Some((value, state)) = goal.best else {
        return Err(if outcome.open.is_some() {
            Error::Undecided { limit }
        } else {
            Error::Infeasible { limit }
        });
    };
    let lower_bound = outcome.open.unwrap_or(value).clamp(bound, value);
    let energy = state.energy + (model.idle * state.latest) as i64;
    let placement = |&(step, worker): &(state::Step, usize)| {
        let state::Step { task, start, end, .. } = step;
        Placement { task, worker, start, end }
    };
    Ok(Plan {
        placements: state.steps.iter().map(placement).collect(),
        nanoseconds: state.latest,
        picojoules: u64::try_from(energy).expect("a worker that runs takes no less than nothing"),
        lower_bound,
        optimal: lower_bound == value,
        states: outcome.states,
    })
}

/// All schedules of which none is better than another in both time and energy, from the fastest to the one with the least
/// energy. The options are for each of them.
///
/// # Errors
/// As [`plan`].
pub fn front(problem: &Problem, options: &Options, stop: &mut dyn FnMut() -> bool) -> Result<Front, Error> {
    let model = Model::new(problem)?;
    let mut plans: Vec<Plan> = Vec::new();
    let (mut deadline, mut complete) = (None, true);
    loop {
        match best(&model, Objective::Energy { deadline }, options, stop) {
            Ok(plan) => {
                complete &= plan.optimal;
                deadline = plan.nanoseconds.checked_sub(1);
                // It is no slower than the one before, with no more energy.
                if plans.last().is_some_and(|last| last.picojoules >= plan.picojoules) {
                    plans.pop();
                }
                plans.push(plan);
                if deadline.is_none() {
                    break;
                }
            }
            Err(Error::Infeasible { .. }) if !plans.is_empty() => break,
            Err(Error::Undecided { .. }) if !plans.is_empty() => {
                complete = false;
                break;
            }
            Err(other) => return Err(other),
        }
    }
    plans.reverse();
    Ok(Front { plans, complete })
}
