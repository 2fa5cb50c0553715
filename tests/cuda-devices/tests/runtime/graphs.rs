//! Sequences of launches that repeat, which are launched as CUDA graphs.

use dahl_core::{GraphStatistics, Runtime};

use crate::runtime::bed::{Bed, Gate, M, add, builder, cuda, fill, in_seeds, map};

/// The number of calls after which a kernel has been measured often enough to be launched in a graph.
const ALONE: usize = 5;

/// The statistics of the first device's graphs.
fn graphs(rt: &Runtime) -> GraphStatistics {
    rt.statistics().graphs[0].clone()
}

fn zeros(rt: &Runtime, columns: usize) -> M<'static> {
    rt.zeros([1, columns]).expect("it can be had")
}

/// Tasks that have all been submitted before the first one may begin.
struct Steps<'r> {
    rt: &'r Runtime,
    begin: M<'static>,
}

impl<'r> Steps<'r> {
    /// For arrays of this many columns.
    fn new(rt: &'r Runtime, columns: usize) -> Self {
        Self { rt, begin: zeros(rt, columns) }
    }

    /// Submits tasks, of which the first one reads the array of zeros that `submit` is given; then lets them run.
    fn submit(&mut self, submit: impl FnOnce(&M<'_>)) {
        let gate = Gate::before(&mut self.begin);
        submit(&self.begin);
        drop(gate);
    }

    /// As [`submit`](Self::submit), and waits for all tasks.
    fn run(&mut self, submit: impl FnOnce(&M<'_>)) {
        self.submit(submit);
        self.rt.wait().expect("nothing failed");
    }

    /// Measures the kernels for arrays like `x` and `out`.
    fn measure(&mut self, x: &M<'_>, out: &mut M<'_>) {
        for _ in 0..ALONE {
            self.run(|_| {
                add(x, out, cuda(0)).expect("it is right");
                map(x, x, out, cuda(0)).expect("it is right");
                fill(out, 0, cuda(0)).expect("it is right");
            });
        }
    }
}

#[test]
fn a_step_that_repeats_is_one_graph() {
    in_seeds(1, || {
        let rt = builder().cuda_graphs(true).build().expect("it can be had");
        let (mut x, mut y) = (zeros(&rt, 4), zeros(&rt, 4));
        let mut steps = Steps::new(&rt, 4);
        let one = rt.from_vec([1, 4], vec![1; 4]).expect("it can be had");
        steps.measure(&one, &mut x);
        let before = graphs(&rt);
        for _ in 0..10 {
            steps.run(|begin| {
                add(begin, &mut x, cuda(0)).expect("it is right");
                add(&one, &mut x, cuda(0)).expect("it is right");
                add(&x, &mut y, cuda(0)).expect("it is right");
                map(&x, &one, &mut y, cuda(0)).expect("it is right");
            });
        }
        assert_eq!(x.to_vec().expect("nothing failed"), [10; 4]);
        assert_eq!(y.to_vec().expect("nothing failed"), [71; 4]);
        let after = graphs(&rt);
        assert_eq!((before.launches, before.kept), (0, 0), "{before:?}");
        // The first time, an array is copied to the device in the middle; the second time, the tasks are launched one
        // by one.
        assert_eq!((after.instantiated, after.launches, after.kernels), (1, 8, 32), "{after:?}");
    });
}

#[test]
fn other_arrays_and_arguments_change_the_nodes_of_the_graph() {
    in_seeds(1, || {
        let rt = builder().cuda_graphs(true).build().expect("it can be had");
        let [mut x, mut y, mut filled] = [(); 3].map(|()| zeros(&rt, 4));
        let mut steps = Steps::new(&rt, 4);
        let one = rt.from_vec([1, 4], vec![1; 4]).expect("it can be had");
        steps.measure(&one, &mut x);
        for round in 1..=10 {
            let out = if round % 2 == 0 { &mut x } else { &mut y };
            steps.run(|begin| {
                add(begin, &mut filled, cuda(0)).expect("it is right");
                fill(&mut filled, round, cuda(0)).expect("it is right");
                add(&filled, out, cuda(0)).expect("it is right");
            });
        }
        assert_eq!(x.to_vec().expect("nothing failed"), [2 + 4 + 6 + 8 + 10; 4]);
        assert_eq!(y.to_vec().expect("nothing failed"), [1 + 3 + 5 + 7 + 9; 4]);
        let graphs = graphs(&rt);
        assert_eq!((graphs.instantiated, graphs.launches), (1, 8), "{graphs:?}");
        // Each launch but the first, which made the graph, changes two nodes: the value of `fill`, and the array.
        assert_eq!(graphs.updated, 7 * 2, "{graphs:?}");
    });
}

#[test]
fn other_shapes_are_another_graph() {
    in_seeds(1, || {
        let rt = builder().cuda_graphs(true).build().expect("it can be had");
        for columns in [4, 400] {
            let mut steps = Steps::new(&rt, columns);
            let (one, mut x) = (rt.from_vec([1, columns], vec![1; columns]), zeros(&rt, columns));
            let one = one.expect("it can be had");
            steps.measure(&one, &mut x);
            for _ in 0..4 {
                steps.run(|begin| {
                    add(begin, &mut x, cuda(0)).expect("it is right");
                    add(&one, &mut x, cuda(0)).expect("it is right");
                    map(&x, &one, &mut zeros(&rt, columns), cuda(0)).expect("it is right");
                });
            }
            assert_eq!(x.to_vec().expect("nothing failed"), vec![4; columns]);
        }
        let graphs = graphs(&rt);
        assert_eq!((graphs.instantiated, graphs.kept, graphs.launches), (2, 2, 6), "{graphs:?}");
    });
}

#[test]
fn a_long_step_is_several_graphs_that_begin_alike() {
    in_seeds(1, || {
        let rt = builder().cuda_graphs(true).build().expect("it can be had");
        let mut x = zeros(&rt, 4);
        let mut steps = Steps::new(&rt, 4);
        let one = rt.from_vec([1, 4], vec![1; 4]).expect("it can be had");
        steps.measure(&one, &mut x);
        for _ in 0..6 {
            steps.run(|begin| {
                add(begin, &mut x, cuda(0)).expect("it is right");
                (0..39).for_each(|_| add(&one, &mut x, cuda(0)).expect("it is right"));
            });
        }
        assert_eq!(x.to_vec().expect("nothing failed"), [6 * 39; 4]);
        // The first step is split into 32 and 8 tasks; later ones, where it is known where a run begins, into 16, 16
        // and 8. In the second step the first 16 occur for the first time.
        let graphs = graphs(&rt);
        assert_eq!(
            (graphs.instantiated, graphs.launches, graphs.kernels),
            (2, 14, 24 + 4 * 40),
            "{graphs:?}"
        );
    });
}

/// Ten steps of four tasks each, on two arrays; returns their final elements.
fn ten_steps(rt: &Runtime) -> [Vec<i64>; 2] {
    let (mut x, mut y) = (zeros(rt, 4), zeros(rt, 4));
    let mut steps = Steps::new(rt, 4);
    let one = rt.from_vec([1, 4], vec![1; 4]).expect("it can be had");
    steps.measure(&one, &mut x);
    for _ in 0..10 {
        steps.run(|begin| {
            add(begin, &mut x, cuda(0)).expect("it is right");
            map(&x, &one, &mut y, cuda(0)).expect("it is right");
            add(&y, &mut x, cuda(0)).expect("it is right");
            add(&one, &mut y, cuda(0)).expect("it is right");
        });
    }
    [x, y].map(|array| array.to_vec().expect("nothing failed"))
}

#[test]
fn the_driver_is_called_less_often() {
    let Some(bed) = Bed::new("") else { return };
    let run = |graphs: bool| {
        let before = ["launch", "graph", "event", "query"].map(|kind| bed.calls(kind));
        let rt = builder().cuda_graphs(graphs).build().expect("it can be had");
        let result = ten_steps(&rt);
        let after = ["launch", "graph", "event", "query"].map(|kind| bed.calls(kind));
        (result, after[0] - before[0], after[1] - before[1], after[2] - before[2])
    };
    let (singly, single_launches, none, single_events) = run(false);
    let (together, launches, of_graphs, events) = run(true);
    assert_eq!(singly, together);
    // Three launches for each measured step, and four for each of ten steps; with graphs, nine of these are one launch.
    assert_eq!((single_launches, none), (3 * 5 + 40, 0));
    // The calls are: make a graph, add its four nodes, instantiate it.
    assert_eq!((launches, of_graphs), (3 * 5 + 4 + 9, 6));
    // Tasks that record both their begin and their end would make 233 calls for events. Without graphs, many begin
    // where the task before ends, depending on whether the device is still busy with it; with graphs there are ten runs
    // instead of forty tasks.
    assert!(events + 40 <= 233, "{events}");
    assert!(events < single_events, "{events} and {single_events} singly");
    assert_eq!(bed.findings(), "");
}

#[test]
fn nothing_is_held_back_unless_it_is_asked_for() {
    let Some(_bed) = Bed::new("") else { return };
    let rt = builder().build().expect("it can be had");
    assert!(rt.statistics().graphs.is_empty());
    ten_steps(&rt);
    let statistics = rt.statistics();
    assert!(statistics.codelets.iter().all(|codelet| codelet.together == 0));
}

#[test]
fn tasks_that_were_launched_together_are_counted_and_not_measured() {
    let Some(_bed) = Bed::new("") else { return };
    let rt = builder().cuda_graphs(true).build().expect("it can be had");
    ten_steps(&rt);
    let statistics = rt.statistics();
    let of_add = statistics.codelets.iter().find(|codelet| codelet.codelet == "add").expect("it ran");
    let measured: u64 = of_add.kernels.iter().map(|kernel| kernel.count).sum();
    assert_eq!((of_add.count, of_add.together, measured), (35, 30, 5));
    assert_eq!(statistics.tasks.completed, statistics.tasks.submitted);
    assert!(statistics.to_string().contains("together"), "{statistics}");
}

#[test]
fn with_a_trace_tasks_are_launched_one_by_one() {
    let Some(_bed) = Bed::new("") else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let trace = folder.path().join("trace.json");
    let rt = builder().cuda_graphs(true).trace(trace).build().expect("it can be had");
    ten_steps(&rt);
    assert_eq!(graphs(&rt).launches, 0);
    assert!(rt.statistics().codelets.iter().all(|codelet| codelet.together == 0));
}

#[test]
fn a_graph_that_is_refused_is_launched_one_by_one() {
    // After 15 and 4 launches, the calls are: make a graph, add its nodes, instantiate it; then launch it.
    for fail in ["graph:1", "graph:2", "graph:6", "launch:20", "launch:22=701"] {
        let Some(bed) = Bed::new(&format!("fail={fail}")) else { return };
        let rt = builder().cuda_graphs(true).build().expect("it can be had");
        let result = ten_steps(&rt);
        let graphs = graphs(&rt);
        assert_eq!((graphs.refused, graphs.kept), (1, 0), "{fail}: {graphs:?}");
        drop(rt);
        let rt = builder().build().expect("it can be had");
        assert_eq!(result, ten_steps(&rt), "{fail}");
        drop(rt);
        assert_eq!(bed.findings(), "", "{fail}");
    }
}

#[test]
fn a_node_that_cannot_be_changed_ends_the_graph() {
    // The calls are: make a graph, add three nodes, instantiate it; so the seventh call changes the second of two
    // nodes.
    let Some(bed) = Bed::new("fail=graph:7") else { return };
    let rt = builder().cuda_graphs(true).build().expect("it can be had");
    let [mut x, mut filled] = [(); 2].map(|()| zeros(&rt, 4));
    let mut steps = Steps::new(&rt, 4);
    let one = rt.from_vec([1, 4], vec![1; 4]).expect("it can be had");
    steps.measure(&one, &mut x);
    for round in 1..=10 {
        steps.run(|begin| {
            add(begin, &mut filled, cuda(0)).expect("it is right");
            fill(&mut filled, round, cuda(0)).expect("it is right");
            add(&filled, &mut x, cuda(0)).expect("it is right");
        });
    }
    assert_eq!(x.to_vec().expect("nothing failed"), [55; 4]);
    let graphs = graphs(&rt);
    assert_eq!((graphs.instantiated, graphs.refused, graphs.kept), (1, 1, 0), "{graphs:?}");
    drop((x, filled, one, steps));
    drop(rt);
    assert_eq!(bed.findings(), "");
}

/// The first of two devices is lost by its first graph, which fails by `settings`, and nothing else is lost.
fn goes_on_without_the_first_device(settings: &str) {
    let Some(_bed) = Bed::new(&format!("devices=2 {settings}")) else { return };
    let rt = builder().cuda_graphs(true).build().expect("it can be had");
    let (mut x, mut y) = (zeros(&rt, 4), zeros(&rt, 4));
    let mut steps = Steps::new(&rt, 4);
    let one = rt.from_vec([1, 4], vec![1; 4]).expect("it can be had");
    steps.measure(&one, &mut x);
    for _ in 0..2 {
        steps.submit(|begin| {
            add(begin, &mut x, cuda(0)).expect("it is right");
            for _ in 0..3 {
                add(&one, &mut x, cuda(0)).expect("it is right");
            }
        });
        let _ = rt.wait();
    }
    let error = x.to_vec().expect_err("its device is lost").to_string();
    assert!(error.contains("cuda 0"), "{settings}: {error}");
    let refused = add(&one, &mut y, cuda(0)).expect_err("it is lost").to_string();
    assert!(refused.contains("cannot run it"), "{settings}: {refused}");
    add(&one, &mut y, cuda(1)).expect("it is right");
    assert_eq!(y.to_vec().expect("nothing failed"), [1; 4], "{settings}");
    while rt.wait().is_err() {}
}

#[test]
fn a_launch_that_is_refused_after_all_loses_the_device() {
    // The launches of the first graph and of its first kernel fail.
    goes_on_without_the_first_device("fail=launch@0:20-21");
}

#[test]
fn a_fault_in_a_graph_loses_the_device_and_no_more() {
    for seed in 0..8 {
        // The second kernel of the first graph fails.
        goes_on_without_the_first_device(&format!("seed={seed} fail=fault@0:21"));
    }
}

#[test]
fn two_devices_wait_for_what_the_other_one_holds_back() {
    in_seeds(2, || {
        let rt = builder().cuda_graphs(true).build().expect("it can be had");
        let one = rt.from_vec([1, 4], vec![1; 4]).expect("it can be had");
        let (mut x, mut y) = (zeros(&rt, 4), zeros(&rt, 4));
        for _ in 0..12 {
            for device in [cuda(0), cuda(1)] {
                add(&one, &mut x, device).expect("it is right");
                add(&x, &mut y, device).expect("it is right");
                add(&one, &mut x, device).expect("it is right");
            }
        }
        assert_eq!(x.to_vec().expect("nothing failed"), [48; 4]);
        // After 2 k + 1 additions, each time.
        assert_eq!(y.to_vec().expect("nothing failed"), [(0..24).map(|k| 2 * k + 1).sum::<i64>(); 4]);
    });
}

#[test]
fn copies_are_evicted_while_work_on_them_is_held_back() {
    in_seeds(1, || {
        let limit_mb = f64::from(4 * 64) / f64::from(1 << 20);
        let rt = builder().cuda_graphs(true).cuda_limit_mb(limit_mb).build().expect("it can be had");
        let one = rt.from_vec([1, 8], vec![1; 8]).expect("it can be had");
        let mut arrays: Vec<M<'_>> = (0..6).map(|_| zeros(&rt, 8)).collect();
        for _ in 0..6 {
            for x in &mut arrays {
                add(&one, x, cuda(0)).expect("it is right");
                map(&one, &one, &mut zeros(&rt, 8), cuda(0)).expect("it is right");
                add(&one, x, cuda(0)).expect("it is right");
            }
        }
        for x in &arrays {
            assert_eq!(x.to_vec().expect("nothing failed"), [12; 8]);
        }
        assert!(rt.memory()[1].peak_bytes <= 4 * 64, "{:?}", rt.memory()[1]);
        drop((arrays, one));
        rt.wait().expect("nothing failed");
        assert_eq!(rt.memory()[1].current_bytes, 0);
    });
}

#[test]
fn the_host_reads_an_array_while_more_is_held_back() {
    in_seeds(1, || {
        let rt = builder().cuda_graphs(true).build().expect("it can be had");
        let one = rt.from_vec([1, 4], vec![1; 4]).expect("it can be had");
        let (mut x, mut y) = (zeros(&rt, 4), zeros(&rt, 4));
        for round in 1..=12 {
            for _ in 0..10 {
                add(&one, &mut x, cuda(0)).expect("it is right");
                add(&x, &mut y, cuda(0)).expect("it is right");
            }
            assert_eq!(x.to_vec().expect("nothing failed"), [10 * round; 4]);
        }
        assert_eq!(y.to_vec().expect("nothing failed"), [120 * 121 / 2; 4]);
    });
}

#[test]
fn arrays_and_the_runtime_go_while_work_is_held_back() {
    in_seeds(1, || {
        let rt = builder().cuda_graphs(true).build().expect("it can be had");
        let one = rt.from_vec([1, 4], vec![1; 4]).expect("it can be had");
        let mut x = zeros(&rt, 4);
        Steps::new(&rt, 4).measure(&one, &mut x);
        let mut steps = Steps::new(&rt, 4);
        steps.submit(|begin| {
            let mut passing = zeros(&rt, 4);
            add(begin, &mut passing, cuda(0)).expect("it is right");
            for _ in 0..10 {
                add(&one, &mut passing, cuda(0)).expect("it is right");
                map(&passing, &one, &mut zeros(&rt, 4), cuda(0)).expect("it is right");
                add(&passing, &mut x, cuda(0)).expect("it is right");
            }
        });
        drop((steps, one));
        drop(rt);
        assert_eq!(x.to_vec().expect("nothing failed"), [55; 4]);
    });
}

#[test]
fn few_graphs_are_kept() {
    let Some(bed) = Bed::new("") else { return };
    let rt = builder().cuda_graphs(true).build().expect("it can be had");
    let one = rt.from_vec([1, 4], vec![1; 4]).expect("it can be had");
    let mut x = zeros(&rt, 4);
    let mut steps = Steps::new(&rt, 4);
    steps.measure(&one, &mut x);
    // One run for each number: its binary digits, twice.
    for number in (0..100).flat_map(|number| [number; 2]) {
        steps.run(|begin| {
            add(begin, &mut x, cuda(0)).expect("it is right");
            for digit in 0..7 {
                match number >> digit & 1 {
                    0 => add(&one, &mut x, cuda(0)).expect("it is right"),
                    _ => fill(&mut x, number, cuda(0)).expect("it is right"),
                }
            }
        });
    }
    let graphs = graphs(&rt);
    assert_eq!((graphs.instantiated, graphs.launches, graphs.kept), (100, 100, 64), "{graphs:?}");
    drop((x, one, steps));
    drop(rt);
    assert_eq!(bed.findings(), "");
}
