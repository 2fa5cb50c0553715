//! Traces in virtual time, to the nanosecond. A task takes 2 us on the CPU and 1 us on the device; 1,000 bytes take
//! 11 us over the link.

use dahl_core::{CodeletSpeed, Cpu, Machine, Result, Runtime, RuntimeBuilder, Speed, VirtualDevice};
use dahl_trace::format::Cause::{Dependency, End, Scheduler, Submission, Transfer};
use dahl_trace::format::{Cause, TRANSFERS};

use crate::trace::file::{File, Folder, ns};
use crate::trace::kernels::{M, add_any, add_up, fill, join, mix_self, step};

/// Elements of an array of 1,000 bytes.
const SHAPE: [usize; 2] = [25, 5];

fn each_takes(us: f64) -> Speed {
    let speed = || CodeletSpeed { us: Some(us), ..CodeletSpeed::default() };
    let codelets = ["step", "join", "fill", "mix", "add_any"].map(|name| (name.to_owned(), speed()));
    Speed { codelets: codelets.into(), overhead_us: 0.0, gbytes_per_s: 1.0, ..Speed::default() }
}

fn cpu(workers: usize) -> RuntimeBuilder {
    let cpu = Cpu { speed: each_takes(2.0), ..Cpu::default() };
    Runtime::builder()
        .cpu_workers(workers)
        .scheduler("eager")
        .virtual_machine(Machine { cpu, ..Machine::default() })
}

fn with_device(workers: usize) -> RuntimeBuilder {
    cpu(workers).virtual_device(VirtualDevice::new("gpu").speed(each_takes(1.0)).link(10.0, 1.0))
}

fn array(rt: &Runtime) -> Result<M<'static>> {
    rt.zeros(SHAPE)
}

/// Runs a program; returns its trace.
fn traced(builder: RuntimeBuilder, program: impl FnOnce(&Runtime) -> Result<()>) -> Result<File> {
    let folder = Folder::new();
    let rt = builder.trace(folder.path()).build()?;
    program(&rt)?;
    drop(rt);
    let file = folder.read();
    assert!(file.is_whole);
    assert_tiled(&file);
    Ok(file)
}

/// Checks that the slices of each worker cover the time from the beginning to the end without gaps.
pub(crate) fn assert_tiled(file: &File) {
    let end_ns = ns(file.end().expect("a run that came to its end").end_us);
    for (pid, tid, worker, _) in file.workers() {
        if worker.is_none() {
            continue;
        }
        let of_worker = file.slices().filter(|slice| (slice.pid, slice.tid) == (pid, tid));
        let mut spans: Vec<(u64, u64)> = of_worker.map(|slice| (ns(slice.ts), ns(slice.dur))).collect();
        spans.sort_unstable();
        let mut at_ns = 0;
        for (begin_ns, length_ns) in spans {
            assert_eq!(begin_ns, at_ns, "worker {worker:?} has a gap, or does two things at once");
            at_ns += length_ns;
        }
        assert_eq!(at_ns, end_ns, "worker {worker:?}");
    }
}

/// The slices of tasks: number, name, thread, begin and length.
fn spans(file: &File) -> Vec<(u64, &str, u32, f64, f64)> {
    let tasks = file.tasks();
    tasks
        .into_iter()
        .map(|(task, slice)| (task.task, slice.name.as_str(), slice.tid, slice.ts, slice.dur))
        .collect()
}

/// Idle slices of a thread: cause, task, begin and length.
fn idle(file: &File, tid: u32) -> Vec<(Cause, Option<u64>, f64, f64)> {
    let idle = file.idle().into_iter().filter(|(_, slice)| slice.tid == tid);
    idle.map(|(idle, slice)| (idle.cause, idle.before, slice.ts, slice.dur)).collect()
}

#[test]
fn a_run_introduces_itself_and_those_who_work() -> Result<()> {
    let file = traced(with_device(2).scheduler("dmda"), |_| Ok(()))?;
    let about = file.about();
    assert_eq!(
        (about.version, about.is_virtual, about.scheduler.as_str()),
        (dahl_trace::format::VERSION, true, "dmda")
    );
    assert!(about.program.starts_with("dahl_core-"), "this test program: {}", about.program);
    assert_eq!(
        file.names(),
        [(1, 0, "host"), (2, 0, "gpu"), (1, 1, "cpu 0"), (1, 2, "cpu 1"), (2, 3, "gpu"), (1, 4, "the host")]
    );
    assert_eq!(
        file.workers(),
        [(1, 1, Some(0), "cpu"), (1, 2, Some(1), "cpu"), (2, 3, Some(2), "gpu"), (1, 4, None, "cpu")]
    );
    let end = file.end().expect("the last line");
    assert_eq!((end.end_us, end.tasks), (0.0, 0));
    Ok(())
}

#[test]
fn tasks_say_what_they_are() -> Result<()> {
    let file = traced(cpu(1), |rt| {
        let (x, mut y) = (array(rt)?, array(rt)?);
        join(&x, &mut y).priority(3).name("first").submit()?;
        mix_self(&mut y, &x).submit()?;
        join(&x, &mut y).submit()
    })?;
    let tasks = file.tasks();
    let (first, slice) = tasks[0];
    assert_eq!((slice.name.as_str(), slice.ts, slice.dur, slice.pid, slice.tid), ("join", 0.0, 2.0, 1, 1));
    assert_eq!(first.codelet, format!("{}::trace::kernels::join", env!("CARGO_CRATE_NAME")));
    assert_eq!(
        (first.kernel.as_deref(), first.priority, first.name.as_deref()),
        (Some("rust"), 3, Some("first"))
    );
    assert_eq!(
        (&first.elements[..], &first.footprint[..]),
        (&["i64", "i64"].map(String::from)[..], &[vec![25, 5], vec![25, 5]][..])
    );
    let modes: Vec<_> = first.arrays.iter().map(|array| (array.array, array.mode.as_str())).collect();
    assert_eq!(modes, [(1, "R"), (2, "RW")]);
    assert!(
        first.at.contains("tests/trace/kernels.rs:") || first.at.contains("tests/trace/exact.rs:"),
        "{}",
        first.at
    );
    assert_eq!((first.predicted_us, first.measured_us), (None, 2.0), "nothing like it was measured before");
    let (in_place, _) = tasks[1];
    assert_eq!((in_place.elements.len(), in_place.footprint.len()), (2, 2), "the output is the target");
    let modes: Vec<_> = in_place.arrays.iter().map(|array| (array.array, array.mode.as_str())).collect();
    assert_eq!(modes, [(2, "RW"), (1, "R")]);
    assert_eq!(tasks[2].0.predicted_us, Some(2.0), "what the model expected before the task ran");
    Ok(())
}

#[test]
fn idle_time_has_the_cause_that_the_next_task_gives() -> Result<()> {
    let file = traced(cpu(2), |rt| {
        let (mut x, mut y, mut z) = (array(rt)?, array(rt)?, array(rt)?);
        step(&mut x).on(0).submit()?; // 0: 0 to 2 us
        step(&mut x).on(0).submit()?; // 1: 2 to 4 us
        join(&x, &mut y).on(1).submit()?; // 2: 4 to 6 us; worker 1 waits for it
        rt.wait()?;
        step(&mut z).on(0).submit()?; // 3: submitted at 6 us, where worker 0 has waited since 4 us
        rt.wait()
    })?;
    assert_eq!(
        spans(&file),
        [
            (0, "step", 1, 0.0, 2.0),
            (1, "step", 1, 2.0, 2.0),
            (2, "join", 2, 4.0, 2.0),
            (3, "step", 1, 6.0, 2.0)
        ]
    );
    assert_eq!(idle(&file, 1), [(Submission, Some(3), 4.0, 2.0)]);
    assert_eq!(idle(&file, 2), [(Dependency, Some(2), 0.0, 4.0), (End, None, 6.0, 2.0)]);
    assert_eq!(file.end().map(|end| (end.end_us, end.tasks)), Some((8.0, 4)));
    let third = file.tasks()[3].0;
    assert_eq!((third.submitted_us, third.ready_us, third.taken_us), (6.0, 6.0, 6.0));
    let second = file.tasks()[2].0;
    assert_eq!((second.submitted_us, second.ready_us, second.taken_us), (0.0, 4.0, 4.0));
    Ok(())
}

#[test]
fn a_task_that_was_ready_and_not_taken_waited_for_the_scheduler() -> Result<()> {
    // The only worker runs both tasks, one after the other. The second is ready from the beginning, and taken when the
    // worker is free.
    let file = traced(cpu(1), |rt| {
        let (mut x, mut y) = (array(rt)?, array(rt)?);
        step(&mut x).submit()?;
        step(&mut y).submit()?;
        rt.wait()
    })?;
    let second = file.tasks()[1].0;
    assert_eq!(
        (second.ready_us, second.taken_us),
        (0.0, 2.0),
        "ready at once, taken when the worker was free"
    );
    assert_eq!(
        file.idle().len(),
        0,
        "the worker was never idle: a task that waits for a busy one is no idle time"
    );
    Ok(())
}

#[test]
fn transfers_lie_on_links_and_make_workers_wait() -> Result<()> {
    let file = traced(with_device(1), |rt| {
        let mut x = array(rt)?;
        step(&mut x).on(1).submit()?;
        rt.wait()?;
        assert_eq!(x.to_vec()?, [1; 125]);
        assert_eq!(rt.clock().now_ns(), 23_000);
        Ok(())
    })?;
    assert_eq!(spans(&file), [(0, "step", 2, 11.0, 1.0)]);
    assert_eq!(idle(&file, 2), [(Transfer, Some(0), 0.0, 11.0), (End, None, 12.0, 11.0)]);
    let transfers: Vec<_> = file
        .transfers()
        .into_iter()
        .map(|(transfer, slice)| {
            (transfer.from, transfer.to, transfer.array, transfer.bytes, slice.pid, slice.ts, slice.dur)
        })
        .collect();
    assert_eq!(transfers, [(0, 1, 1, 1000, 2, 0.0, 11.0), (1, 0, 1, 1000, 1, 12.0, 11.0)]);
    for (transfer, slice) in file.transfers() {
        assert_eq!(slice.tid, TRANSFERS + 2 * transfer.from + transfer.to, "a thread for each pair of nodes");
        let name = if transfer.from == 0 { "host to gpu" } else { "gpu to host" };
        assert!(file.names().contains(&(slice.pid, slice.tid, name)));
    }
    Ok(())
}

#[test]
fn a_transfer_during_another_task_keeps_nobody_waiting() -> Result<()> {
    // The device takes the second task ahead and prefetches its data while the first runs. 13 us: 11 for the second
    // transfer, which begins when the first has ended, at 11.
    let file = traced(with_device(1), |rt| {
        let (mut x, mut y) = (array(rt)?, array(rt)?);
        step(&mut x).on(1).submit()?;
        step(&mut y).on(1).submit()?;
        rt.wait()
    })?;
    assert_eq!(spans(&file), [(0, "step", 2, 11.0, 1.0), (1, "step", 2, 22.0, 1.0)]);
    assert_eq!(idle(&file, 2), [(Transfer, Some(0), 0.0, 11.0), (Transfer, Some(1), 12.0, 10.0)]);
    Ok(())
}

#[test]
fn two_transfers_between_devices_at_once_lie_on_two_threads() -> Result<()> {
    let device = |name| VirtualDevice::new(name).speed(each_takes(1.0)).link(10.0, 1.0);
    let machine = cpu(1).virtual_device(device("one")).virtual_device(device("two"));
    let file = traced(machine, |rt| {
        let (mut x, mut y) = (array(rt)?, array(rt)?);
        for array in [&mut x, &mut y] {
            fill(array, 1).on(1).submit()?;
        }
        rt.wait()?;
        for array in [&mut x, &mut y] {
            step(array).on(2).submit()?;
        }
        rt.wait()
    })?;
    let between: Vec<_> =
        file.transfers().into_iter().map(|(_, slice)| (slice.tid, slice.ts, slice.dur)).collect();
    // Each uses both links, one after the other; the second begins when the first link is free again.
    let first = TRANSFERS + 3 + 2;
    assert_eq!(between, [(first, 2.0, 22.0), (first + 9, 13.0, 22.0)]);
    Ok(())
}

#[test]
fn arrows_go_from_slice_to_slice() -> Result<()> {
    let file = traced(cpu(2), |rt| {
        let (mut x, mut y) = (array(rt)?, array(rt)?);
        step(&mut x).on(0).submit()?;
        step(&mut y).on(1).submit()?;
        join(&x, &mut y).on(1).submit()
    })?;
    let (tails, heads) = file.arrows();
    let ends = |arrows: &[&dahl_trace::format::Arrow]| -> Vec<_> {
        arrows.iter().map(|arrow| (arrow.id, arrow.ts, arrow.pid, arrow.tid)).collect()
    };
    assert_eq!(ends(&tails), [(0, 1.999, 1, 1), (1, 1.999, 1, 2)]);
    assert_eq!(ends(&heads), [(0, 2.0, 1, 2), (1, 2.0, 1, 2)]);
    assert!(heads.iter().all(|head| head.bp.as_deref() == Some("e")));
    assert_eq!(file.tasks()[2].0.after, [0, 1]);
    Ok(())
}

#[test]
fn memory_is_counted_when_it_changes() -> Result<()> {
    let file = traced(with_device(1), |rt| {
        let mut x = array(rt)?;
        step(&mut x).on(1).submit()?;
        rt.wait()?;
        drop(x);
        rt.wait()
    })?;
    // Blocks have whole lines of 64 bytes.
    assert_eq!(file.memory(), [(0.0, 1, 1024), (0.0, 2, 1024), (12.0, 1, 0), (12.0, 2, 0)]);
    Ok(())
}

#[test]
fn failures_and_what_they_cancel_are_in_the_trace() -> Result<()> {
    let file = traced(with_device(1), |rt| {
        let (mut x, mut y) = (array(rt)?, array(rt)?);
        fill(&mut x, 13).submit()?;
        join(&x, &mut y).submit()?;
        assert!(rt.wait().is_err());
        fill(&mut y, 1).on(0).submit()?;
        rt.wait()
    })?;
    let tasks = file.tasks();
    let failed = tasks[0].0;
    assert_eq!(failed.kernel.as_deref(), Some("rust"));
    assert!(failed.failure.as_ref().is_some_and(|failure| failure.contains("unlucky")), "{failed:?}");
    let cancelled = tasks[1].0;
    let failure = cancelled.failure.as_deref().expect("it was cancelled");
    assert!(failure.starts_with("cancelled: fill: its kernel failed on"), "{failure}");
    assert_eq!(
        (cancelled.kernel.as_deref(), cancelled.predicted_us),
        (None, None),
        "its kernel was not called"
    );
    assert_eq!((tasks[2].0.failure.as_ref(), &tasks[2].0.after[..]), (None, &[1][..]));
    assert_eq!(file.end().map(|end| end.tasks), Some(3));
    Ok(())
}

#[test]
fn a_device_that_fails_leaves_its_trace() -> Result<()> {
    let device = VirtualDevice::new("gpu").speed(each_takes(1.0)).link(10.0, 1.0).fails_at(1);
    let file = traced(cpu(1).virtual_device(device), |rt| {
        let mut x = array(rt)?;
        step(&mut x).on(1).submit()?;
        assert!(rt.wait().is_err());
        Ok(())
    })?;
    let (task, slice) = file.tasks()[0];
    assert_eq!((slice.pid, slice.dur, task.kernel.as_deref()), (2, 1.0, None));
    assert!(task.failure.as_ref().is_some_and(|failure| failure.contains("as it was told to")), "{task:?}");
    Ok(())
}

#[test]
fn reductions_show_their_folds_and_the_step_into_the_array() -> Result<()> {
    let file = traced(cpu(1), |rt| {
        let (x, mut total) = (array(rt)?, array(rt)?);
        for _ in 0..6 {
            add_up(&x, &mut total).submit()?;
        }
        assert_eq!(total.to_vec()?, [0; 125]);
        Ok(())
    })?;
    // Two leaves, of 4 contributions and of 2, which are combined and then added to the array.
    let tasks = file.tasks();
    let about: Vec<_> = tasks.iter().map(|(task, slice)| (slice.name.as_str(), task.after.clone())).collect();
    let contribution = "add_up";
    assert_eq!(
        about,
        [
            (contribution, vec![]),
            (contribution, vec![0]),
            (contribution, vec![1]),
            (contribution, vec![2]),
            (contribution, vec![]),
            (contribution, vec![4]),
            ("add_up (fold)", vec![3, 5]),
            ("add_up (finish)", vec![6]),
        ]
    );
    let kernels: Vec<_> =
        tasks[5..].iter().map(|(task, _)| task.kernel.as_deref().unwrap_or_default()).collect();
    assert_eq!(kernels, ["rust", "fold", "finish"]);
    let last: Vec<_> = tasks.iter().map(|(task, _)| task.arrays.last().map(|array| array.array)).collect();
    assert_eq!(last, [Some(2); 8], "all are to the total");
    assert_eq!(tasks[0].0.arrays[1].mode, "REDUX");
    assert_eq!(tasks[7].0.elements, ["i64", "i64"]);
    Ok(())
}

#[test]
fn tasks_that_commute_depend_on_no_other_and_are_ready_at_their_turn() -> Result<()> {
    let file = traced(cpu(2), |rt| {
        let (x, mut y) = (array(rt)?, array(rt)?);
        step(&mut y).on(0).submit()?;
        add_any(&x, &mut y).submit()?;
        add_any(&x, &mut y).submit()?;
        step(&mut y).submit()
    })?;
    let after: Vec<_> = file.tasks().iter().map(|(task, _)| task.after.clone()).collect();
    assert_eq!(after, [vec![], vec![0], vec![0], vec![1, 2]]);
    let mut ready: Vec<_> =
        file.tasks()[1..3].iter().map(|(task, slice)| (task.ready_us, slice.ts)).collect();
    ready.sort_by(|a, b| a.0.total_cmp(&b.0));
    assert_eq!(ready, [(2.0, 2.0), (4.0, 4.0)]);
    Ok(())
}

#[test]
fn tags_make_dependencies_and_are_no_arrays_of_a_task() -> Result<()> {
    let file = traced(cpu(2), |rt| {
        let (mut x, mut y) = (array(rt)?, array(rt)?);
        let mut tag = rt.tag()?;
        step(&mut x).tag(&mut tag).submit()?;
        step(&mut y).after(&tag).submit()
    })?;
    let tasks = file.tasks();
    assert_eq!((&tasks[0].0.after[..], &tasks[1].0.after[..]), (&[][..], &[0][..]));
    for (task, _) in tasks {
        assert_eq!((task.arrays.len(), task.elements.len(), task.footprint.len()), (1, 1, 1), "{task:?}");
    }
    Ok(())
}

#[test]
fn partitions_are_no_tasks_and_dependencies_go_through_them() -> Result<()> {
    let file = traced(cpu(2), |rt| {
        let mut x = array(rt)?;
        step(&mut x).submit()?; // 0
        for part in x.partition_into_mut(dahl_core::ndarray::Axis(0), 2)?.iter_mut() {
            step(part).submit()?; // 1, 2
        }
        {
            let (parts, mut y) = (x.partition_into(dahl_core::ndarray::Axis(1), 1)?, array(rt)?);
            join(&parts[0], &mut y).submit()?; // 3
            let mut z = array(rt)?;
            join(&x, &mut z).submit()?; // 4: the whole stays readable
        }
        step(&mut x).submit() // 5
    })?;
    let after: Vec<_> = file.tasks().iter().map(|(task, _)| task.after.clone()).collect();
    assert_eq!(after[..5], [vec![], vec![0], vec![0], vec![1, 2], vec![1, 2]]);
    assert!([3, 4].iter().all(|reader| after[5].contains(reader)), "{after:?}");
    let arrays: Vec<_> = file.tasks().iter().map(|(task, _)| task.arrays[0].array).collect();
    assert!(arrays[0] == arrays[4] && arrays[1] != arrays[2] && arrays[0] != arrays[1], "{arrays:?}");
    Ok(())
}

#[test]
fn the_host_s_own_writing_is_no_task_and_dependencies_go_through_it() -> Result<()> {
    let file = traced(cpu(2), |rt| {
        let (mut x, mut y) = (array(rt)?, array(rt)?);
        join(&x, &mut y).submit()?; // 0 reads x
        x.write()?.fill(3);
        step(&mut x).submit() // 1
    })?;
    assert_eq!(file.tasks()[1].0.after, [0]);
    Ok(())
}

#[test]
fn numbers_of_arrays_are_not_given_twice() -> Result<()> {
    let file = traced(cpu(1), |rt| {
        for _ in 0..5 {
            let mut x = array(rt)?;
            step(&mut x).submit()?;
            step(&mut x).submit()?;
            drop(x);
            rt.wait()?; // the slot is free before the next array
        }
        Ok(())
    })?;
    let arrays: Vec<_> = file.tasks().iter().map(|(task, _)| task.arrays[0].array).collect();
    assert_eq!(arrays, [1, 1, 2, 2, 3, 3, 4, 4, 5, 5]);
    let after: Vec<_> = file.tasks().iter().map(|(task, _)| task.after.clone()).collect();
    assert_eq!(after, [vec![], vec![0], vec![], vec![2], vec![], vec![4], vec![], vec![6], vec![], vec![8]]);
    Ok(())
}

#[test]
fn the_same_program_gives_the_same_file() -> Result<()> {
    let once = || -> Result<String> {
        let folder = Folder::new();
        let rt = with_device(2).scheduler("dmda").trace(folder.path()).build()?;
        let (mut x, mut y, mut total) = (array(&rt)?, array(&rt)?, array(&rt)?);
        for _ in 0..300 {
            step(&mut x).submit()?;
            join(&x, &mut y).submit()?;
            add_up(&y, &mut total).submit()?;
        }
        drop(rt);
        let text = std::fs::read_to_string(folder.path()).expect("the trace");
        let (first, rest) = text.split_once(",\n").expect("lines");
        assert!(first.contains("\"started\":"), "the only line that differs");
        Ok(rest.to_owned())
    };
    assert!(once()? == once()?);
    Ok(())
}

#[test]
fn nobody_asks_for_a_task_while_none_is_ready() -> Result<()> {
    // A worker is idle from the end of its task to the end of the other's, on which its next one depends.
    let file = traced(cpu(2), |rt| {
        let (mut x, mut y) = (array(rt)?, array(rt)?);
        step(&mut x).on(0).submit()?; // 0: 0 to 2
        step(&mut y).on(1).submit()?; // 1: 0 to 2
        step(&mut y).on(1).submit()?; // 2: 2 to 4
        join(&y, &mut x).on(0).submit() // 3: 4 to 6
    })?;
    assert_eq!(idle(&file, 1), [(Dependency, Some(3), 2.0, 2.0)]);
    assert!(file.idle().iter().all(|(idle, _)| idle.cause != Scheduler));
    Ok(())
}
