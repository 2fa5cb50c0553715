//! The options of a task.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use dahl::device::{CodeletSpeed, Speed, VirtualDevice};
use dahl::prelude::*;
use dahl::{Result, Runtime};

/// `x = 2 x + 1`.
#[codelet(RW)]
fn step(x: &mut [i64]) {
    x[0] = 2 * x[0] + 1;
}

/// `out = x`.
#[codelet(R, W)]
fn take(x: &[i64], out: &mut [i64]) {
    out.copy_from_slice(x);
}

/// Panics.
#[codelet(RW)]
fn fails(x: &mut [i64]) {
    assert!(x.is_empty(), "it fails, as it should");
}

/// The order in which tasks run.
static ORDER: Mutex<Vec<i64>> = Mutex::new(Vec::new());

/// Records `x`.
#[codelet(RW)]
fn note(x: &mut [i64]) {
    ORDER.lock().unwrap().push(x[0]);
}

fn simulated() -> Result<Runtime> {
    let device = VirtualDevice::new("gpu").speed(Speed::default().times(5.0)).link(10.0, 1.0);
    Runtime::builder().cpu_workers(1).virtual_device(device).build()
}

#[test]
fn a_synchronous_task_has_ended_when_it_is_submitted() -> Result<()> {
    let rt = Runtime::builder().cpu_workers(2).build()?;
    let mut x = rt.zeros([1])?;
    let ended = Arc::new(AtomicU32::new(0));
    for round in 1..=50 {
        let count = Arc::clone(&ended);
        let callback = move |_: Option<&_>| {
            count.fetch_add(1, Ordering::SeqCst);
        };
        Step::task(&mut x).callback(callback).synchronous().submit()?;
        assert_eq!(ended.load(Ordering::SeqCst), round);
    }
    let error = Fails::task(&mut x).synchronous().submit().unwrap_err();
    assert!(error.to_string().contains("it fails, as it should"), "{error}");
    rt.wait() // somebody knows of the failure
}

#[test]
fn a_callback_learns_of_the_failure_and_its_panic_is_one() -> Result<()> {
    let rt = Runtime::builder().cpu_workers(1).build()?;
    let mut x = rt.zeros([1])?;
    let seen = Arc::new(Mutex::new(Vec::new()));
    for fail in [false, true] {
        let seen = Arc::clone(&seen);
        let callback = move |failure: Option<&dahl::Failure>| {
            seen.lock().unwrap().push(failure.map(|failure| failure.codelet))
        };
        let task = if fail { Fails::task(&mut x) } else { Step::task(&mut x) };
        task.callback(callback).submit()?;
    }
    assert!(rt.wait().is_err());
    assert_eq!(*seen.lock().unwrap(), [None, Some("fails")]);
    let mut y = rt.zeros([1])?;
    Step::task(&mut y).callback(|_| panic!("of the callback")).submit()?;
    assert_eq!(y.to_vec()?, [1], "the task itself is well");
    let error = loop {
        // The array may be read before the callback has ended.
        if let Err(error) = rt.wait() {
            break error;
        }
    };
    assert!(error.to_string().contains("its callback panicked: of the callback"), "{error}");
    Ok(())
}

#[test]
fn what_a_callback_holds_is_dropped_with_a_task_that_is_not_submitted() -> Result<()> {
    let rt = Runtime::builder().cpu_workers(1).build()?;
    let mut x = rt.zeros([1])?;
    let held = Arc::new(());
    let copy = Arc::clone(&held);
    drop(Step::task(&mut x).callback(move |_| drop(copy)));
    assert_eq!(Arc::strong_count(&held), 1);
    let copy = Arc::clone(&held);
    assert!(Step::task(&mut x).on(99).callback(move |_| drop(copy)).submit().is_err());
    assert_eq!(Arc::strong_count(&held), 1);
    Ok(())
}

#[test]
fn a_tag_orders_tasks_that_share_no_array() -> Result<()> {
    let rt = Runtime::builder().cpu_workers(2).build()?;
    let mut numbers: Vec<_> = (0..100).map(|i| rt.from_vec([1], vec![i])).collect::<Result<_>>()?;
    let mut tag = rt.tag()?;
    for pair in numbers.chunks_mut(2) {
        let [first, second] = pair else { unreachable!("there are an even number") };
        // The second is recorded after the first, and the next pair, which reuses the tag, after both.
        Note::task(first).tag(&mut tag).submit()?;
        Note::task(second).after(&tag).submit()?;
    }
    tag.wait()?;
    rt.wait()?;
    assert_eq!(*ORDER.lock().unwrap(), (0..100).collect::<Vec<_>>());
    Ok(())
}

#[test]
fn a_tag_orders_and_nothing_else() -> Result<()> {
    let rt = Runtime::builder().cpu_workers(1).build()?;
    let (mut x, mut y) = (rt.zeros([1])?, rt.zeros([1])?);
    let mut tag = rt.tag()?;
    tag.wait()?;
    Fails::task(&mut x).tag(&mut tag).submit()?;
    Step::task(&mut y).after(&tag).submit()?;
    assert_eq!(y.to_vec()?, [1], "it runs, whatever became of the task before");
    assert!(tag.wait().unwrap_err().to_string().contains("it fails, as it should"));
    Step::task(&mut y).tag(&mut tag).submit()?;
    tag.wait()?;
    // Neither the kernels' arguments nor the models depend on tags.
    let rows = rt.performance_models();
    let row = rows.iter().find(|row| row.codelet == "step").expect("it ran");
    assert_eq!((row.count, row.footprint.len()), (2, 1));
    Ok(())
}

#[test]
fn a_tag_of_another_runtime_is_an_error() -> Result<()> {
    let (rt, other) =
        (Runtime::builder().cpu_workers(1).build()?, Runtime::builder().cpu_workers(1).build()?);
    let mut x = rt.zeros([1])?;
    let tag = other.tag()?;
    assert_eq!(Step::task(&mut x).after(&tag).submit().unwrap_err().code(), "D0004");
    Ok(())
}

#[test]
fn tasks_run_on_the_kind_of_worker_that_they_want() -> Result<()> {
    for scheduler in Runtime::schedulers() {
        let device = VirtualDevice::new("gpu").speed(Speed::default().times(5.0));
        let rt = Runtime::builder()
            .cpu_workers(2)
            .virtual_device(device.clone())
            .virtual_device(device)
            .scheduler(scheduler)
            .build()?;
        let mut arrays = (0..10).map(|_| rt.zeros([1])).collect::<Result<Vec<_>>>()?;
        for x in &mut arrays[..6] {
            Step::task(x).on_kind("gpu").submit()?;
        }
        for x in &mut arrays[6..] {
            Step::task(x).on_kind("cpu").submit()?;
        }
        rt.wait()?;
        let tasks: Vec<_> = rt.worker_uses().iter().map(|worker| worker.tasks).collect();
        assert_eq!([tasks[0] + tasks[1], tasks[2] + tasks[3]], [4, 6], "{scheduler}: {tasks:?}");
        for x in &arrays {
            assert_eq!(x.to_vec()?, [1]);
        }
    }
    Ok(())
}

#[test]
fn a_worker_that_cannot_run_the_codelet_is_an_error() -> Result<()> {
    let mut speed = Speed::default();
    speed.codelets.insert("step".to_owned(), CodeletSpeed { absent: true, ..CodeletSpeed::default() });
    let rt =
        Runtime::builder().cpu_workers(1).virtual_device(VirtualDevice::new("gpu").speed(speed)).build()?;
    let mut x = rt.zeros([1])?;
    let errors = [
        Step::task(&mut x).on(1).submit().unwrap_err().to_string(),
        Step::task(&mut x).on_kind("gpu").submit().unwrap_err().to_string(),
        Step::task(&mut x).on_kind("tpu").submit().unwrap_err().to_string(),
        Step::task(&mut x).prefetch(2).submit().unwrap_err().to_string(),
    ];
    let wanted = ["worker 1", "worker of the kind `gpu`", "worker of the kind `tpu`", "worker 2"];
    for (error, wanted) in errors.iter().zip(wanted) {
        let start = format!(
            "step: there is no {wanted}; the runtime has 0 (`cpu 0`), 1 (`gpu`, which cannot run it)"
        );
        assert!(error.contains(&start), "{error}");
    }
    Step::task(&mut x).on(0).submit()?;
    assert_eq!(x.to_vec()?, [1]);
    Ok(())
}

#[test]
fn a_prefetch_of_what_another_worker_needs_is_a_copy_there() -> Result<()> {
    let rt = simulated()?;
    let (x, mut out) = (rt.from_vec([1000], vec![7_i64; 1000])?, rt.zeros([1000])?);
    Take::task(&x, &mut out).on(0).submit()?;
    rt.wait()?;
    assert_eq!(rt.transfers(), []);
    Take::task(&x, &mut out).on_kind("cpu").prefetch(1).submit()?;
    rt.wait()?;
    let [transfer] = rt.transfers()[..] else { panic!("one transfer: {:?}", rt.transfers()) };
    assert_eq!((transfer.from, transfer.to, transfer.bytes), (0, 1, 8000));
    assert_eq!(out.to_vec()?, [7; 1000]);
    Ok(())
}
