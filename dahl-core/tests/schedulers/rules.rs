//! The rule of each scheduler.

use dahl_core::{Result, Runtime};

use crate::schedulers::graph::{V, join, machine, measure, node, of_worker, recorded, task, time_us};

/// Submits so many tasks that do not depend on each other.
fn independent(rt: &Runtime, tasks: usize) -> Result<()> {
    for _ in 0..tasks {
        task(0, &mut rt.zeros([1])?).submit()?;
    }
    rt.wait()
}

#[test]
fn dm_divides_work_by_speed() {
    for name in ["dm", "dmda", "dmdas", "heft"] {
        let machine = machine(&[100.0], &[("gpu", &[20.0])], 0.0);
        let builder = Runtime::builder().cpu_workers(1).scheduler(name).virtual_machine(machine);
        // Each measures one; then the device runs 9 in the time in which the CPU worker could have run a second one.
        let (time_us, placement) = recorded(builder, |rt| time_us(rt, || independent(rt, 12)));
        assert_eq!(time_us, 200.0, "{name}");
        assert_eq!(of_worker(&placement, 0).len(), 2, "{name}");
        assert_eq!(of_worker(&placement, 1).len(), 10, "{name}");
    }
}

#[test]
fn dm_measures_a_slow_kind_once() {
    let machine = machine(&[1000.0], &[("gpu", &[1.0])], 0.0);
    let builder = Runtime::builder().cpu_workers(1).scheduler("dm").virtual_machine(machine);
    let (time_us, placement) = recorded(builder, |rt| time_us(rt, || independent(rt, 500)));
    assert_eq!(time_us, 1000.0);
    assert_eq!(of_worker(&placement, 0).len(), 1);
}

#[test]
fn dmda_counts_transfers_and_dm_does_not() -> Result<()> {
    let place = |name| -> Result<_> {
        let machine = machine(&[100.0], &[("gpu", &[20.0])], 1000.0);
        let rt = Runtime::builder().cpu_workers(1).scheduler(name).virtual_machine(machine).build()?;
        measure(&rt, 1, 8)?;
        let mut x = rt.zeros([8])?;
        let before = rt.worker_uses();
        let time_us = time_us(&rt, || task(0, &mut x).submit())?;
        let on_device = rt.worker_uses()[1].tasks - before[1].tasks == 1;
        // Its data is on the device now, or on the host: the next task stays there.
        let again_us = crate::schedulers::graph::time_us(&rt, || task(0, &mut x).submit())?;
        Ok((on_device, time_us, again_us))
    };
    assert_eq!(place("dm")?, (true, 1020.0, 20.0));
    for name in ["dmda", "dmdas", "heft"] {
        assert_eq!(place(name)?, (false, 100.0, 100.0), "{name}");
    }
    Ok(())
}

#[test]
fn dmda_counts_one_transfer_for_tasks_that_share_an_array() -> Result<()> {
    // The input of ten tasks is transferred once, in 150 us. The first task ends earlier on the host. The second is
    // worth the transfer, and then the others follow, except for one more when the host is free again.
    let mut machine = machine(&[100.0; 11], &[("gpu", &[10.0; 11])], 0.0);
    machine.devices[0].link_gbytes_per_s = 1.0;
    let rt = Runtime::builder().cpu_workers(1).scheduler("dmda").virtual_machine(machine).build()?;
    let (x, other) = (rt.zeros([18_750])?, rt.zeros([18_750])?);
    let mut outs: Vec<V<'_>> = (0..10).map(|_| rt.zeros([1])).collect::<Result<_>>()?;
    outs[..2].iter_mut().try_for_each(|out| join(&other, out))?; // measures both kinds
    rt.wait()?;
    let before = rt.worker_uses()[1].tasks;
    outs.iter_mut().try_for_each(|out| join(&x, out))?;
    rt.wait()?;
    assert_eq!(rt.worker_uses()[1].tasks - before, 8);
    let of_x = rt.transfers().iter().map(|total| total.bytes).max();
    assert!(of_x < Some(3 * 150_000), "{of_x:?}");
    Ok(())
}

/// The order in which the tasks with these priorities run on one worker.
fn order(name: &str, priorities: &[i32]) -> Vec<u64> {
    let machine = machine(&[10.0], &[], 0.0);
    let builder = Runtime::builder().cpu_workers(1).scheduler(name).virtual_machine(machine);
    let (first, placement) = recorded(builder, |rt| {
        measure(rt, 1, 1)?;
        let mut arrays: Vec<V<'_>> = priorities.iter().map(|_| rt.zeros([1])).collect::<Result<_>>()?;
        for (x, &priority) in arrays.iter_mut().zip(priorities) {
            task(0, x).priority(priority).submit()?;
        }
        rt.wait()?;
        Ok(1)
    });
    placement.iter().map(|(task, _)| task - first).collect()
}

#[test]
fn larger_priorities_run_first_where_that_is_promised() {
    let priorities = [0, -3, 7, 0, 2, 7];
    for name in ["prio", "dmdas"] {
        assert_eq!(order(name, &priorities), [2, 5, 4, 0, 3, 1], "{name}");
    }
    for name in ["eager", "dm", "dmda", "sequential"] {
        assert_eq!(order(name, &priorities), [0, 1, 2, 3, 4, 5], "{name}");
    }
}

#[test]
fn dmdas_runs_what_is_there_first() -> Result<()> {
    let machine = machine(&[1e6; 11], &[("gpu", &[10.0; 11])], 5.0);
    let builder = Runtime::builder().cpu_workers(1).scheduler("dmdas").virtual_machine(machine);
    let (numbers, placement) = recorded(builder, |rt| {
        measure(rt, 2, 1)?;
        let mut arrays: Vec<V<'_>> = (0..4).map(|_| rt.zeros([1])).collect::<Result<_>>()?;
        task(1, &mut arrays[3]).on(1).submit()?;
        rt.wait()?;
        arrays.iter_mut().try_for_each(|x| task(0, x).submit())?;
        rt.wait()?;
        Ok(5..9)
    });
    let ran: Vec<u64> = placement.iter().map(|(task, _)| task - numbers.start).collect();
    assert_eq!(ran, [3, 0, 1, 2]);
    Ok(())
}

#[test]
fn heft_runs_the_longest_way_first() {
    let machine = machine(&[10.0; 11], &[], 0.0);
    let builder = Runtime::builder().cpu_workers(1).scheduler("heft").virtual_machine(machine);
    let ((), placement) = recorded(builder, |rt| {
        measure(rt, 1, 1)?;
        let mut arrays: Vec<V<'_>> = (0..4).map(|_| rt.zeros([1])).collect::<Result<_>>()?;
        for (x, length) in arrays.iter_mut().zip([1, 2, 1, 3]) {
            (0..length).try_for_each(|_| task(0, x).submit())?;
        }
        rt.wait()
    });
    let ran: Vec<u64> = placement.iter().map(|(task, _)| *task).collect();
    // Of the chains 1, 2 to 3, 4, 5 to 7, tasks with the longest rest of a chain come first: three, two, two, one, ..
    assert_eq!(ran, [5, 2, 6, 1, 3, 4, 7]);
}

/// The times of Topcuoglu, Hariri, Wu 2002, figure 2, in microseconds: ten tasks on three processors.
const TIMES: [[f64; 10]; 3] = [
    [14.0, 13.0, 11.0, 13.0, 12.0, 13.0, 7.0, 5.0, 18.0, 21.0],
    [16.0, 19.0, 13.0, 8.0, 13.0, 16.0, 15.0, 11.0, 12.0, 7.0],
    [9.0, 18.0, 19.0, 17.0, 10.0, 9.0, 11.0, 14.0, 20.0, 16.0],
];
/// The dependencies of that figure, tasks counted from 0.
const EDGES: [(usize, usize); 15] = [
    (0, 1),
    (0, 2),
    (0, 3),
    (0, 4),
    (0, 5),
    (1, 7),
    (1, 8),
    (2, 6),
    (3, 7),
    (3, 8),
    (4, 8),
    (5, 7),
    (6, 9),
    (7, 9),
    (8, 9),
];

#[test]
fn heft_schedules_the_graph_of_its_paper() -> Result<()> {
    // Without its transfers, since links here serve one transfer at a time. The expected end is that of the paper's
    // algorithm, computed by hand.
    let machine = machine(&TIMES[0], &[("p2", &TIMES[1]), ("p3", &TIMES[2])], 0.0);
    let rt = Runtime::builder().cpu_workers(1).scheduler("heft").virtual_machine(machine).build()?;
    let mut arrays: Vec<V<'_>> = (0..10).map(|_| rt.zeros([1])).collect::<Result<_>>()?;
    let mut run = |worker: Option<usize>| -> Result<()> {
        for to in 0..10 {
            let (before, rest) = arrays.split_at_mut(to);
            let inputs = EDGES.iter().filter(|edge| edge.1 == to).map(|edge| &before[edge.0]);
            let task = node(to, &mut rest[0], inputs);
            worker.into_iter().fold(task, |task, worker| task.on(worker)).submit()?;
        }
        rt.wait()
    };
    (0..3).try_for_each(|worker| run(Some(worker)))?;
    let begin_ns = rt.clock().now_ns();
    run(None)?;
    assert_eq!((rt.clock().now_ns() - begin_ns) as f64 / 1e3, 48.0);
    Ok(())
}

#[test]
fn random_gives_fast_workers_more_and_follows_its_seed() {
    let place = |seed| {
        let machine = machine(&[40.0], &[("gpu", &[10.0])], 0.0);
        let builder = Runtime::builder().cpu_workers(1).scheduler("random").rand_seed(seed);
        let ((), placement) = recorded(builder.virtual_machine(machine), |rt| {
            measure(rt, 1, 1)?;
            independent(rt, 1000)
        });
        placement
    };
    let (one, again, other) = (place(1), place(1), place(2));
    assert_eq!(one, again);
    assert_ne!(of_worker(&one, 1), of_worker(&other, 1));
    for placement in [one, other] {
        // 800 expected; the deviation of the binomial distribution is 12.6.
        let of_device = of_worker(&placement, 1).len();
        assert!(of_device.abs_diff(800) < 64, "{of_device}");
    }
}

#[test]
fn lws_leaves_tasks_where_their_arrays_were_written() {
    let machine = machine(&[10.0], &[("gpu", &[10.0])], 0.0);
    let builder = Runtime::builder().cpu_workers(2).scheduler("lws").virtual_machine(machine);
    let ((), placement) = recorded(builder, |rt| {
        let mut arrays: Vec<V<'_>> = (0..3).map(|_| rt.zeros([1])).collect::<Result<_>>()?;
        arrays.iter_mut().try_for_each(|x| task(0, x).submit())?; // 0, 1, 2: each worker takes one
        rt.wait()?;
        arrays.iter_mut().rev().try_for_each(|x| task(0, x).submit())?; // 3, 4, 5
        rt.wait()
    });
    let by = |task| placement.iter().find(|&&(number, _)| number == task).expect("it has run").1;
    assert_eq!([by(0), by(1), by(2)], [0, 1, 2]);
    assert_eq!([by(3), by(4), by(5)], [2, 1, 0]);
}

#[test]
fn lws_takes_from_its_own_memory_node_first() {
    // Tasks 7 to 9 go to worker 2, the device, and 10 and 11 to worker 1. Worker 0, which has none, begins with one of
    // worker 1's, though those of worker 2 became ready first.
    let machine = machine(&[10.0], &[("gpu", &[10.0])], 0.0);
    let builder = Runtime::builder().cpu_workers(2).scheduler("lws").virtual_machine(machine);
    let (first, placement) = recorded(builder, |rt| {
        let mut arrays: Vec<V<'_>> = (0..7).map(|_| rt.zeros([1])).collect::<Result<_>>()?;
        // Workers 0, 1, 2, 2 (ahead), and then 0, 1, 2.
        arrays.iter_mut().try_for_each(|x| task(0, x).submit())?;
        rt.wait()?;
        for x in [2, 3, 6, 1, 5] {
            task(0, &mut arrays[x]).submit()?;
        }
        rt.wait()?;
        Ok(7)
    });
    let of_worker_0 = of_worker(&placement, 0);
    assert_eq!(of_worker_0.iter().find(|&&task| task >= first), Some(&(first + 3)));
}

#[test]
fn sequential_keeps_the_order_of_submission_on_worker_0() {
    let builder = Runtime::builder().cpu_workers(3).scheduler("sequential");
    let ((), placement) = recorded(builder, |rt| {
        let mut arrays: Vec<V<'_>> = (0..5).map(|_| rt.zeros([1])).collect::<Result<_>>()?;
        (0..50).try_for_each(|i| task(0, &mut arrays[i * i % 5]).priority(i as i32).submit())?;
        rt.wait()
    });
    assert_eq!(placement, (0..50).map(|task| (task, 0)).collect::<Vec<_>>());
}
