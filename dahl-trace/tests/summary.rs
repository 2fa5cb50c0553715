//! The uses of time add up: every nanosecond is accounted for.

use crate::made::{self, by_hand};
use dahl_trace::format::{Cause, Line, Slice, Task, What};
use dahl_trace::{Summary, Trace};
use expect_test::expect;

fn summary(text: &str) -> Summary {
    Trace::parse(text).unwrap().summary()
}

#[test]
fn of_a_small_run() {
    let summary = summary(&made::text(&by_hand::diamond()));
    expect![[r#"
        net on node7: 4 tasks in 80.0 us of virtual time, scheduler dmda
        Workers were busy 58 % of the time, 70 % of it with matmul; for 41 % of the rest, tasks waited for others, and the critical path takes 98 % of the run: more workers would not help.

        worker          kind  node  tasks     busy     idle  submission  dependency  scheduler  transfer      end  unknown
        cpu 0            cpu     0      3  58.5 us  21.5 us     1.00 us     20.0 us    0.50 us         0        0        0
        device 0  toy device     1      1  35.0 us  45.0 us     2.50 us     7.50 us    0.25 us   14.8 us  20.0 us        0

        codelet      count    total  share     mean   median      min      max  prediction error
        net::matmul      2  65.0 us   70 %  32.5 us  32.5 us  30.0 us  35.0 us              25 %
        net::sum         1  19.5 us   21 %  19.5 us  19.5 us  19.5 us  19.5 us              25 %
        net::fill        1  9.00 us  9.6 %  9.00 us  9.00 us  9.00 us  9.00 us                 -

        transfers             count    bytes    total
        memory 0 to memory 1      1  4.00 kB  14.8 us

        memory       peak       at
        memory 0  4.00 kB  1.00 us
        memory 1  4.00 kB  10.2 us

        critical path: 78.2 us, 98 % of the run, 3 tasks, waiting for transfers 14.8 us
          net::matmul: 1 task, 35.0 us
          net::sum: 1 task, 19.5 us
          net::fill: 1 task, 9.00 us
    "#]].assert_eq(&summary.to_string());
}

#[test]
fn as_data() {
    let summary = summary(&made::text(&by_hand::diamond()));
    expect![[r#"
        {
          "verdict": "Workers were busy 58 % of the time, 70 % of it with matmul; for 41 % of the rest, tasks waited for others, and the critical path takes 98 % of the run: more workers would not help.",
          "program": "net",
          "host": "node7",
          "started": 1795280400,
          "scheduler": "dmda",
          "is_virtual": true,
          "cut": null,
          "run_us": 80.0,
          "tasks": 4,
          "failed": 0,
          "busy_share": 0.584375,
          "workers": [
            {
              "name": "cpu 0",
              "number": 0,
              "kind": "cpu",
              "node": 0,
              "tasks": 3,
              "busy_us": 58.5,
              "idle_us": 21.5,
              "idle": {
                "submission_us": 1.0,
                "dependency_us": 20.0,
                "scheduler_us": 0.5,
                "transfer_us": 0.0,
                "end_us": 0.0,
                "unknown_us": 0.0
              }
            },
            {
              "name": "device 0",
              "number": 1,
              "kind": "toy device",
              "node": 1,
              "tasks": 1,
              "busy_us": 35.0,
              "idle_us": 45.0,
              "idle": {
                "submission_us": 2.5,
                "dependency_us": 7.5,
                "scheduler_us": 0.25,
                "transfer_us": 14.75,
                "end_us": 20.0,
                "unknown_us": 0.0
              }
            }
          ],
          "codelets": [
            {
              "name": "matmul",
              "path": "net::matmul",
              "count": 2,
              "total_us": 65.0,
              "mean_us": 32.5,
              "median_us": 32.5,
              "min_us": 30.0,
              "max_us": 35.0,
              "share": 0.6951871657754011,
              "predicted": 2,
              "prediction_error": 0.25
            },
            {
              "name": "sum",
              "path": "net::sum",
              "count": 1,
              "total_us": 19.5,
              "mean_us": 19.5,
              "median_us": 19.5,
              "min_us": 19.5,
              "max_us": 19.5,
              "share": 0.20855614973262032,
              "predicted": 1,
              "prediction_error": 0.25
            },
            {
              "name": "fill",
              "path": "net::fill",
              "count": 1,
              "total_us": 9.0,
              "mean_us": 9.0,
              "median_us": 9.0,
              "min_us": 9.0,
              "max_us": 9.0,
              "share": 0.0962566844919786,
              "predicted": 0,
              "prediction_error": null
            }
          ],
          "transfers": [
            {
              "from": "memory 0",
              "to": "memory 1",
              "count": 1,
              "bytes": 4000,
              "total_us": 14.75
            }
          ],
          "memory": [
            {
              "node": "memory 0",
              "peak_bytes": 4000,
              "at_us": 1.0
            },
            {
              "node": "memory 1",
              "peak_bytes": 4000,
              "at_us": 10.25
            }
          ],
          "energy": null,
          "critical_path": {
            "length_us": 78.25,
            "transfers_us": 14.75,
            "share": 0.978125,
            "tasks": 3,
            "codelets": [
              {
                "path": "net::matmul",
                "name": "matmul",
                "count": 1,
                "total_us": 35.0
              },
              {
                "path": "net::sum",
                "name": "sum",
                "count": 1,
                "total_us": 19.5
              },
              {
                "path": "net::fill",
                "name": "fill",
                "count": 1,
                "total_us": 9.0
              }
            ]
          }
        }"#]].assert_eq(&serde_json::to_string_pretty(&summary).unwrap());
}

#[test]
fn of_runs_that_are_cut_of_nothing_and_of_one_task() {
    let text = made::text(&by_hand::diamond());
    expect![[r#"
        net on node7: 2 tasks in 40.0 us of virtual time, scheduler dmda
        The file ends before the run does: after line 19, in the middle of the next.
        Workers were busy 49 % of the time, 77 % of it with matmul; for 37 % of the rest, the trace does not say why.

        worker          kind  node  tasks     busy     idle  submission  dependency  scheduler  transfer  end  unknown
        cpu 0            cpu     0      2  39.0 us  1.00 us     1.00 us           0          0         0    0        0
        device 0  toy device     1      0        0  40.0 us     2.50 us     7.50 us    0.25 us   14.8 us    0  15.0 us

        codelet      count    total  share     mean   median      min      max  prediction error
        net::matmul      1  30.0 us   77 %  30.0 us  30.0 us  30.0 us  30.0 us              25 %
        net::fill        1  9.00 us   23 %  9.00 us  9.00 us  9.00 us  9.00 us                 -

        transfers             count    bytes    total
        memory 0 to memory 1      1  4.00 kB  14.8 us

        memory       peak       at
        memory 0  4.00 kB  1.00 us
        memory 1  4.00 kB  10.2 us

        critical path: 39.0 us, 98 % of the run, 2 tasks
          net::matmul: 1 task, 30.0 us
          net::fill: 1 task, 9.00 us
    "#]].assert_eq(&summary(&text[..text.len() * 2 / 3]).to_string());
    expect![[r#"
        nothing on node7: 0 tasks in 0, scheduler dmda
        No task ran.
    "#]]
    .assert_eq(&summary(&made::text(&by_hand::nothing())).to_string());
    expect![[r#"
        one on node7: 1 task in 10.0 us, scheduler dmda
        Workers were busy 90 % of the time, with fill.

        worker  kind  node  tasks     busy     idle  submission  dependency  scheduler  transfer  end  unknown
        cpu 0    cpu     0      1  9.00 us  1.00 us           0           0          0         0    0  1.00 us

        codelet    count    total  share     mean   median      min      max  prediction error
        net::fill      1  9.00 us  100 %  9.00 us  9.00 us  9.00 us  9.00 us                 -

        critical path: 9.00 us, 90 % of the run, 1 task
          net::fill: 1 task, 9.00 us
    "#]]
    .assert_eq(&summary(&made::text(&by_hand::one())).to_string());
}

#[test]
fn failures_are_counted() {
    let mut lines = by_hand::diamond();
    [2, 3].iter().for_each(|&number| made::fail(&mut lines, number, "poisoned"));
    let summary = summary(&made::text(&lines));
    assert_eq!(summary.failed, 2);
    assert!(summary.to_string().contains("2 tasks failed or were cancelled"), "{summary}");
}

/// Busy and idle times of a worker add up to the run, and the causes to its idle time, to the nanosecond.
#[test]
fn the_causes_of_idle_time_are_all_of_it() {
    for text in [made::cholesky(10, 4), made::chains(2000, 3), made::text(&by_hand::diamond())] {
        let trace = Trace::parse(&text).unwrap();
        let ns = |us: f64| (us * 1000.0).round() as u64;
        for worker in trace.summary().workers {
            let causes: u64 = worker.idle.causes().iter().map(|&(_, us)| ns(us)).sum();
            assert_eq!(causes, ns(worker.idle_us), "{worker:?}");
            assert_eq!(ns(worker.busy_us) + causes, trace.duration_ns(), "{worker:?}");
            assert_eq!(worker.idle.unknown_us, 0.0, "these traces give a cause for all of it: {worker:?}");
        }
    }
}

#[test]
fn idle_time_that_the_trace_says_nothing_of_is_unknown() {
    let mut lines = by_hand::diamond();
    let is_dependency = |line: &Line| match line {
        Line::Slice(Slice { what: What::Idle(idle), .. }) => idle.cause == Cause::Dependency,
        _ => false,
    };
    lines.retain(|line| !is_dependency(line));
    let workers = summary(&made::text(&lines)).workers;
    let unknown: Vec<f64> = workers.iter().map(|worker| worker.idle.unknown_us).collect();
    assert_eq!(unknown, [20.0, 7.5]);
}

/// The sentence names the largest cause of idle time.
#[test]
fn the_verdict_follows_the_largest_cause() {
    let verdict = |cause: Cause| {
        let mut lines = vec![made::about("run", false)];
        lines.extend(by_hand::workers().drain(..3));
        lines.push(by_hand::idle(cause, (1, 1), 0.0, 60.0, Some(0)));
        lines.push(by_hand::task(0, "fill", (1, 1), [0.0, 0.0, 60.0, 60.0, 20.0], &[]));
        lines.push(by_hand::idle(Cause::Scheduler, (1, 1), 80.0, 20.0, None));
        lines.push(made::end(100.0, 1));
        summary(&made::text(&lines)).verdict
    };
    expect![[r#"
        Workers were busy 20 % of the time, with fill; for 75 % of the rest, the next task had not been submitted yet.
        Workers were busy 20 % of the time, with fill; for 75 % of the rest, tasks waited for others, and all are in one chain: there is no other order.
        Workers were busy 20 % of the time, with fill; for 100 % of the rest, tasks were ready and not taken yet (a task takes 20.0 us on average).
        Workers were busy 20 % of the time, with fill; for 75 % of the rest, data were on their way.
        Workers were busy 20 % of the time, with fill; for 75 % of the rest, there was no further task."#]].assert_eq(&Cause::ALL.map(verdict).join("\n"));
}

/// The path does not include the runtime's time, so it is short relative to the run if tasks are short.
#[test]
fn short_tasks_are_not_called_badly_ordered() {
    let verdict = |us: f64, is_virtual: bool, is_chain: bool| {
        let mut lines = vec![made::about("run", is_virtual)];
        lines.extend(by_hand::workers().drain(..3));
        for number in 0..4 {
            let begin = number as f64 * 100.0;
            let after = if number > 0 && is_chain { vec![number - 1] } else { vec![] };
            lines.push(by_hand::idle(Cause::Dependency, (1, 1), begin, 100.0 - us, Some(number)));
            let times = [0.0, 0.0, begin, begin + 100.0 - us, us];
            lines.push(by_hand::task(number, "work", (1, 1), times, &after));
        }
        lines.push(made::end(400.0, 4));
        summary(&made::text(&lines)).verdict
    };
    assert!(verdict(2.0, false, true).ends_with("and take only 2.00 us on average: they are too short."));
    assert!(verdict(2.0, false, false).ends_with("they are too short."));
    assert!(verdict(2.0, true, false).ends_with("another order might help."), "the runtime takes no time");
    assert!(verdict(20.0, false, false).ends_with("another order might help."));
    assert!(verdict(20.0, false, true).ends_with("all are in one chain: there is no other order."));
}

/// The longest chain among all chains of small random graphs.
#[test]
fn the_critical_path_is_the_longest_chain() {
    let mut random = fastrand::Rng::with_seed(11);
    for _ in 0..300 {
        let count = random.u64(1..10);
        let tasks: Vec<(u64, u64, Vec<u64>)> = (0..count)
            .map(|number| {
                let after = (0..number).filter(|_| random.u8(..3) == 0).collect();
                (random.u64(1..20), random.u64(..2) * random.u64(..15), after)
            })
            .collect();
        let trace = Trace::parse(&graph(&tasks)).unwrap();
        let path = trace.critical_path();
        let longest = (0..count).map(|last| longest_to(&tasks, last)).max().unwrap();
        assert_eq!(path.length_ns, longest * 1000, "{tasks:?}");
        let length = |index: usize| tasks[index].0 + tasks[index].1;
        assert_eq!(path.tasks.iter().map(|&index| length(index)).sum::<u64>(), longest, "{tasks:?}");
        for pair in path.tasks.windows(2) {
            assert!(tasks[pair[1]].2.contains(&(pair[0] as u64)), "{pair:?} is no edge of {tasks:?}");
        }
    }
}

/// All chains that end with a task, by enumeration.
fn longest_to(tasks: &[(u64, u64, Vec<u64>)], last: u64) -> u64 {
    let (duration, wait, after) = &tasks[last as usize];
    duration + wait + after.iter().map(|&before| longest_to(tasks, before)).max().unwrap_or(0)
}

/// A trace of tasks with a duration, a time of waiting for data, and their dependencies.
fn graph(tasks: &[(u64, u64, Vec<u64>)]) -> String {
    let mut lines = vec![made::about("graph", true)];
    lines.extend(by_hand::workers());
    for (number, (duration, wait, after)) in tasks.iter().enumerate() {
        let (ts, place) = (number as f64 * 100.0, (1, 1));
        let before = Some(number as u64);
        lines.push(by_hand::idle(Cause::Dependency, place, ts, 3.0, before));
        lines.push(by_hand::idle(Cause::Transfer, place, ts, *wait as f64, before));
        lines.push(by_hand::task(number as u64, "work", place, [0.0, 0.0, 0.0, ts, *duration as f64], after));
    }
    made::text(&lines)
}

/// In an incomplete file, tasks may depend on tasks that are not in it.
#[test]
fn tasks_that_are_not_in_the_file_are_on_no_path() {
    let mut lines = by_hand::diamond();
    lines.retain(|line| match line {
        Line::Slice(Slice { what: What::Task(task), .. }) => task.task != 1,
        _ => true,
    });
    let trace = Trace::parse(&made::text(&lines)).unwrap();
    assert_eq!(trace.graph().edges(), 2);
    let numbers: Vec<u64> =
        trace.critical_path().tasks.iter().map(|&index| trace.tasks()[index].number).collect();
    assert_eq!(numbers, [0, 2, 3]);
}

/// The reader parses lines itself; its results must agree with the format.
#[test]
fn the_reader_agrees_with_the_format() {
    let lines = by_hand::diamond();
    let trace = Trace::parse(&made::text(&lines)).unwrap();
    let told: Vec<(&Slice, &Task)> = lines
        .iter()
        .filter_map(|line| match line {
            Line::Slice(slice @ Slice { what: What::Task(task), .. }) => Some((slice, &**task)),
            _ => None,
        })
        .collect();
    assert_eq!(told.len(), trace.tasks().len());
    for (task, (slice, told)) in trace.tasks().iter().zip(told) {
        assert_eq!((task.number, &*task.codelet, &*task.path), (told.task, &*slice.name, &*told.codelet));
        assert_eq!((&*task.elements, &*task.footprint), (&*told.elements, &*told.footprint));
        assert_eq!(
            (task.name.as_deref(), task.priority, task.team),
            (told.name.as_deref(), told.priority, told.team)
        );
        assert_eq!((task.start_ns as f64, task.duration_ns as f64), (slice.ts * 1000.0, slice.dur * 1000.0));
        assert_eq!(
            (&*task.after, &*task.at, task.predicted_us),
            (&*told.after, &*told.at, told.predicted_us)
        );
    }
}

#[test]
fn the_energy_of_a_run_is_in_its_summary() {
    let summary = Trace::parse(&made::text(&by_hand::powered())).unwrap().summary();
    let energy = summary.energy.as_ref().expect("the file has it");
    assert_eq!((energy.nodes[0].mean_watts, energy.nodes[1].mean_watts), (Some(1.2e-3 / 80e-6), None));
    let text = summary.to_string();
    let (_, text) = text.split_once("\nenergy").expect("a table");
    let (text, _) = text.split_once("\n\ncritical").expect("what comes next");
    expect![[r#"
              joules  mean power                       source
        memory 0   1.20 mJ      15.0 W  measured by RAPL (powercap)
        memory 1         -           -                  unavailable
        package-0  1.20 mJ      15.0 W  measured by RAPL (powercap)
          core      400 uJ      5.00 W  measured by RAPL (powercap)
        the energy of memory 1 is unavailable: NVML is not there: libnvidia-ml.so.1: no such file. Remedy: install <the> driver"#]].assert_eq(text);
}
