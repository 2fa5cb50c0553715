//! Tests of orders with little memory.

use dahl_plan::order::{Error, Options, Order, Task, order};
use proptest::prelude::*;

fn task(reads: &[usize], output: u64) -> Task {
    Task { reads: reads.to_vec(), output, ..Task::default() }
}

/// The most bytes that live at one time, by what the documentation of `Task` says; `None` if a task runs too early.
fn peak(tasks: &[Task], sequence: &[usize]) -> Option<u64> {
    let place = |task: usize| sequence.iter().position(|&other| other == task).expect("all tasks are in it");
    let mut most = 0;
    for (time, &running) in sequence.iter().enumerate() {
        if tasks[running].reads.iter().any(|&reads| place(reads) >= time) {
            return None;
        }
        let lives = |of: usize| {
            let readers = (0..tasks.len()).filter(|&reader| tasks[reader].reads.contains(&of));
            let last = readers.map(place).max().unwrap_or(place(of));
            place(of) <= time && (time <= last || tasks[of].is_result)
        };
        let outputs: u64 = (0..tasks.len()).filter(|&of| lives(of)).map(|of| tasks[of].output).sum();
        most = most.max(outputs + tasks[running].temporary);
    }
    Some(most)
}

/// The least peak of all orders.
fn least_peak(tasks: &[Task], sequence: &mut Vec<usize>) -> u64 {
    if sequence.len() == tasks.len() {
        return peak(tasks, sequence).expect("each task came after those that it reads");
    }
    let mut least = u64::MAX;
    for next in 0..tasks.len() {
        let is_ready = tasks[next].reads.iter().all(|reads| sequence.contains(reads));
        if is_ready && !sequence.contains(&next) {
            sequence.push(next);
            least = least.min(least_peak(tasks, sequence));
            sequence.pop();
        }
    }
    least
}

/// The order, after a check that it is one and has the peak that it says.
fn plan(tasks: &[Task], options: &Options) -> Order {
    let plan = order(tasks, options).expect("there is an order");
    let mut all = plan.tasks.clone();
    all.sort_unstable();
    assert!(all.iter().copied().eq(0..tasks.len()), "{all:?}");
    assert_eq!(peak(tasks, &plan.tasks), Some(plan.peak), "{tasks:?} {plan:?}");
    assert!(plan.lower_bound <= plan.peak);
    assert_eq!(plan.optimal, plan.lower_bound == plan.peak);
    plan
}

/// Tasks that read what is before them, in any numbering.
fn graphs(most: usize) -> impl Strategy<Value = Vec<Task>> {
    let one =
        (proptest::collection::vec(any::<proptest::sample::Index>(), 0..3), 0_u64..6, 0_u64..3, 0_u8..5);
    let tasks = proptest::collection::vec(one, 0..=most);
    let numbered = tasks.prop_flat_map(|tasks| {
        let numbers: Vec<usize> = (0..tasks.len()).collect();
        (Just(tasks), Just(numbers).prop_shuffle())
    });
    numbered.prop_map(|(tasks, numbers)| {
        let mut all = vec![Task::default(); tasks.len()];
        for (place, (reads, output, temporary, kind)) in tasks.into_iter().enumerate() {
            let before = reads.iter().filter(|_| place > 0).map(|index| numbers[index.index(place)]);
            let reads = before.collect();
            all[numbers[place]] = Task { reads, output, temporary, is_result: kind == 0 };
        }
        all
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn the_search_finds_the_least_peak_of_all_orders(tasks in graphs(7), beam in 1_usize..3) {
        let found = plan(&tasks, &Options { beam, ..Options::default() });
        let least = least_peak(&tasks, &mut Vec::new());
        prop_assert_eq!((found.peak, found.optimal), (least, true));
    }

    #[test]
    fn however_early_it_ends_the_bound_is_one(tasks in graphs(7), states in 0_usize..12) {
        let found = plan(&tasks, &Options { beam: 1, states });
        let least = least_peak(&tasks, &mut Vec::new());
        prop_assert!(found.lower_bound <= least && least <= found.peak);
    }
}

/// Both branches have a large intermediate output: one is to end before the other begins. A beam of one begins with both.
#[test]
fn branches_run_one_after_the_other() {
    let tasks = [
        task(&[], 1),
        task(&[0], 2),
        task(&[0], 3),
        task(&[1], 9),
        task(&[2], 9),
        task(&[3], 1),
        task(&[4], 1),
    ];
    let found = plan(&tasks, &Options::default());
    assert!(found.optimal);
    assert_eq!(found.peak, least_peak(&tasks, &mut Vec::new()));
}

/// A forward pass of many layers, and a reverse pass which reads the activations and has results.
#[test]
fn a_reverse_pass_is_solved() {
    let layers = 100;
    let mut tasks = vec![task(&[], 10)];
    tasks.extend((0..layers).map(|layer| task(&[layer], 10)));
    let mut gradient = layers;
    for layer in (0..layers).rev() {
        tasks.push(Task { is_result: true, ..task(&[gradient, layer], 1) });
        tasks.push(task(&[gradient, layer], 10));
        gradient = tasks.len() - 1;
    }
    let found = plan(&tasks, &Options::default());
    // All activations live before the reverse pass, and beside them its first two outputs.
    assert_eq!((found.peak, found.optimal), (10 * (layers as u64 + 1) + 11, true));
}

#[test]
fn a_graph_beyond_the_states_gets_an_order_and_a_bound() {
    // Sixty chains of three tasks, whose ends one task reads.
    let mut tasks = Vec::new();
    for chain in 0..60 {
        let first = tasks.len();
        tasks.push(task(&[], 3 + chain % 5));
        tasks.push(task(&[first], 7 + chain % 3));
        tasks.push(task(&[first + 1], 1));
    }
    let ends: Vec<usize> = (0..60).map(|chain| 3 * chain + 2).collect();
    tasks.push(task(&ends, 1));
    let found = plan(&tasks, &Options { beam: 4, states: 1000 });
    assert!(found.peak <= 59 + 16, "{}", found.peak);
    assert!(found.lower_bound >= 61);
}

#[test]
fn what_is_refused() {
    let refused = |tasks: &[Task]| order(tasks, &Options::default()).expect_err("it is refused");
    assert_eq!(refused(&[task(&[], 1), task(&[2], 1)]), Error::Unknown { task: 1, reads: 2, tasks: 2 });
    assert_eq!(refused(&[task(&[0], 1)]), Error::Cycle { task: 0 });
    // Task 0 waits for the cycle of 1 and 2, and is not in it.
    let Error::Cycle { task: in_cycle } = refused(&[task(&[1], 1), task(&[2], 1), task(&[1], 1)]) else {
        panic!("it is a cycle")
    };
    assert!([1, 2].contains(&in_cycle));
    assert_eq!(refused(&[task(&[], 1 << 62), task(&[], 1 << 62)]), Error::TooLarge);
    assert_eq!(plan(&[], &Options::default()).peak, 0);
}
