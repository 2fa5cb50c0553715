//! What is refused.

use dahl_plan::schedule::{
    Cost, Edge, Error, Link, Node, Objective, Options, Problem, Source, Task, execute, plan,
};

use super::graphs::machine;

fn problem(tasks: usize, edges: &[(Source, usize)]) -> Problem {
    let cost = Some(Cost { nanoseconds: 5, picojoules: 1 });
    let edge = |&(source, reader): &(Source, usize)| Edge { source, readers: vec![reader], bytes: 4 };
    Problem {
        tasks: vec![Task { name: "a".to_owned(), costs: vec![cost] }; tasks],
        edges: edges.iter().map(edge).collect(),
        machine: machine(1, 1),
    }
}

fn refused(problem: &Problem) -> Error {
    plan(problem, Objective::Time, &Options::default()).expect_err("it is refused")
}

#[test]
fn problems_that_are_wrong() {
    let unknown = |what, index, count| Error::Unknown { what, index, count };
    assert_eq!(refused(&problem(1, &[(Source::Task(1), 0)])), unknown("task", 1, 1));
    assert_eq!(refused(&problem(1, &[(Source::Task(0), 2)])), unknown("task", 2, 1));
    assert_eq!(refused(&problem(1, &[(Source::Node(2), 0)])), unknown("node", 2, 2));
    let cycle = refused(&problem(3, &[(Source::Task(1), 2), (Source::Task(2), 1)]));
    assert_eq!(cycle, Error::Cycle { task: 1, name: "a".to_owned() });
    let mut one = problem(1, &[]);
    one.tasks[0].costs.clear();
    assert_eq!(refused(&one), Error::NoWorker { task: 0, name: "a".to_owned() });
    let mut one = problem(1, &[]);
    one.machine.links.push(Link { bytes_per_second: 0.0, ..one.machine.links[0] });
    one.edges.push(Edge { source: Source::Task(0), readers: vec![], bytes: 1 });
    assert_eq!(refused(&one), Error::Bandwidth { from: 0, to: 1 });
    let mut one = problem(4, &[]);
    one.tasks.iter_mut().for_each(|task| task.costs[0] = Some(Cost { nanoseconds: 1 << 60, picojoules: 0 }));
    assert_eq!(refused(&one), Error::TooLarge { what: "times", unit: "ns" });
    let mut one = problem(1, &[]);
    one.machine.nodes.resize(65, Node::default());
    assert_eq!(refused(&one), Error::TooMany { nodes: 65, types: 2 });
}

#[test]
fn what_cannot_be_kept_to_is_proven() {
    let one = problem(2, &[]);
    let objective = |deadline| Objective::Energy { deadline: Some(deadline) };
    let in_time = |deadline| plan(&one, objective(deadline), &Options::default());
    assert_eq!(in_time(10).map(|plan| plan.nanoseconds), Ok(10));
    assert_eq!(in_time(9), Err(Error::Infeasible { limit: "9 ns".to_owned() }));
    let mut small = problem(1, &[(Source::Node(0), 0)]);
    small.machine.nodes[0].bytes = Some(3);
    assert!(matches!(refused(&small), Error::Infeasible { .. }));
    // An output beside an input: both are there while the task runs.
    small.machine.nodes[0].bytes = Some(7);
    small.edges.push(Edge { source: Source::Task(0), readers: vec![], bytes: 4 });
    assert!(matches!(refused(&small), Error::Infeasible { .. }));
    small.machine.nodes[0].bytes = Some(8);
    assert!(plan(&small, Objective::Time, &Options::default()).is_ok());
}

#[test]
fn orders_that_cannot_run() {
    let two = problem(2, &[(Source::Task(0), 1)]);
    assert!(execute(&two, &[(0, 0), (1, 0)]).is_ok());
    for order in [&[(1, 0), (0, 0)][..], &[(0, 0)], &[(0, 0), (0, 0)], &[(0, 1), (1, 0)], &[(0, 7), (1, 0)]] {
        assert!(execute(&two, order).is_err(), "{order:?}");
    }
}
