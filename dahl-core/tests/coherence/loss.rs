//! Lost devices: arrays with valid copies elsewhere stay valid, and reading others is an error.

use dahl_core::ndarray::Axis;
use dahl_core::{Reduction, Result, Runtime, Task, VirtualDevice};

use crate::coherence::bed::{Bed, COLUMNS, CPU, FAR, GPU, LEN, ROWS, each};
use crate::coherence::kernels::{M, MAP, add_up, fill, reduce, scale, three};

/// A machine whose first device is lost after so many tasks.
fn losing(after: u64) -> Result<Bed> {
    Bed::with([VirtualDevice::new("gpu").lost_after(after), VirtualDevice::new("far")])
}

#[test]
fn what_only_a_lost_device_had_is_an_error_and_nothing_else() -> Result<()> {
    let bed = losing(3)?;
    let (input, mut dirty, mut shared, mut at_home) =
        (bed.array()?, bed.array()?, bed.array()?, bed.array()?);
    bed.on(GPU);
    three(&MAP, &input, &input, &mut at_home)?;
    scale(&mut shared, 1)?;
    assert_eq!(shared.to_vec()?, each(|x| 5 * x + 1));
    bed.on(CPU);
    scale(&mut at_home, 1)?;
    bed.on(GPU);
    let line = line!() + 1;
    scale(&mut dirty, 2)?; // the third
    bed.rt.wait()?; // nobody has read it
    assert_eq!(bed.bytes_at(GPU), 0);
    assert_eq!(shared.to_vec()?, each(|x| 5 * x + 1));
    assert_eq!(at_home.to_vec()?, each(|x| 40 * x + 1));
    assert_eq!(input.to_vec()?, each(|x| x));
    let error = dirty.to_vec().expect_err("it was lost").to_string();
    assert!(error.contains("scale: its result was lost with gpu"), "{error}");
    assert!(error.contains("array #") && error.contains("memory of `gpu` alone"), "{error}");
    assert!(error.contains(&format!("loss.rs:{line}")), "{error}");
    assert!(dirty.write().is_err());
    // What depends on it is lost too, with the same first cause.
    let mut out = bed.rt.zeros([ROWS, COLUMNS])?;
    bed.on(FAR);
    three(&MAP, &input, &dirty, &mut out)?;
    let seen = out.to_vec().expect_err("it depends on what was lost").to_string();
    assert_eq!(seen, error);
    // Overwriting gives them values again, on either node.
    fill(&mut dirty, 3)?;
    fill(&mut out, 4)?;
    bed.on(CPU);
    scale(&mut out, 0)?;
    assert_eq!((dirty.to_vec()?, out.to_vec()?), (vec![3; LEN], vec![20; LEN]));
    bed.rt.wait()
}

#[test]
fn tasks_go_to_the_workers_that_remain() -> Result<()> {
    for scheduler in ["eager", "ws"] {
        let lost = VirtualDevice::new("gpu").lost_after(5);
        let builder = Runtime::builder().cpu_workers(1).scheduler(scheduler);
        let rt = builder.virtual_device(lost).virtual_device(VirtualDevice::new("far")).build()?;
        let mut arrays: Vec<M<'_>> =
            (0..40).map(|_| rt.from_vec([ROWS, COLUMNS], each(|x| x))).collect::<Result<_>>()?;
        arrays.iter_mut().try_for_each(|x| scale(x, 1))?;
        let _ = rt.wait();
        let tasks: Vec<_> = rt.worker_uses().iter().map(|worker| worker.tasks).collect();
        assert_eq!((tasks.iter().sum::<u64>(), tasks[1]), (40, 5));
        assert!(tasks[0] > 0 && tasks[2] > 0, "{tasks:?}");
        let (held, lost): (Vec<_>, Vec<_>) = arrays.iter().map(|x| x.to_vec()).partition(Result::is_ok);
        assert_eq!((held.len(), lost.len()), (35, 5));
        assert!(held.into_iter().all(|x| x.is_ok_and(|x| x == each(|x| 5 * x + 1))));
    }
    Ok(())
}

#[test]
fn a_device_that_is_lost_at_once_runs_nothing() -> Result<()> {
    let bed = losing(0)?;
    let mut x = bed.array()?;
    bed.on(GPU);
    scale(&mut x, 1)?;
    assert_eq!(x.to_vec()?, each(|x| 5 * x + 1));
    assert_eq!((bed.tasks(), bed.moved()), (vec![1, 0, 0], vec![]));
    Ok(())
}

#[test]
fn a_task_that_must_run_on_a_lost_device_fails() -> Result<()> {
    let bed = losing(1)?;
    let (mut x, y) = (bed.array()?, bed.array()?);
    for _ in 0..3 {
        let mut task = Task::new(&MAP);
        task.read(&y);
        task.read(&y);
        task.write(&mut x);
        task.on(GPU).submit()?;
    }
    let error = x.to_vec().expect_err("the device is lost").to_string();
    assert!(error.contains("map") && error.contains("the device `gpu` is lost"), "{error}");
    assert_eq!(y.to_vec()?, each(|x| x));
    Ok(())
}

#[test]
fn another_device_may_have_a_valid_copy() -> Result<()> {
    let bed = losing(2)?;
    let (mut x, mut out) = (bed.array()?, bed.rt.zeros([ROWS, COLUMNS])?);
    bed.on(GPU);
    scale(&mut x, 1)?;
    bed.on(FAR);
    three(&MAP, &x, &x, &mut out)?; // from device to device
    bed.on(GPU);
    let mut other = bed.array()?;
    scale(&mut other, 1)?;
    assert!(other.to_vec().is_err());
    assert_eq!(bed.bytes_at(GPU), 0);
    assert_eq!(x.to_vec()?, each(|x| 5 * x + 1));
    assert_eq!(out.to_vec()?, each(|x| 40 * x + 8));
    Ok(())
}

#[test]
fn a_part_that_is_lost_is_lost_for_its_whole() -> Result<()> {
    let bed = losing(1)?;
    let mut x = bed.array()?;
    let mut parts = x.partition_mut(Axis(0), 2)?;
    bed.on(FAR);
    scale(&mut parts[0], 1)?;
    bed.on(GPU);
    scale(&mut parts[1], 1)?;
    assert_eq!(parts[0].to_vec()?, (0..8).map(|x| 5 * x + 1).collect::<Vec<_>>());
    assert!(parts[1].to_vec().is_err());
    let error = x.to_vec().expect_err("a part of it was lost").to_string();
    assert!(error.contains("its result was lost with gpu"), "{error}");
    // The same parts again, of a whole that has all its values again.
    bed.on(CPU);
    fill(&mut x, 2)?;
    let parts = x.partition_mut(Axis(0), 2)?;
    assert_eq!(parts[1].to_vec()?, [2; 8]);
    Ok(())
}

#[test]
fn a_whole_that_was_lost_is_healed_by_all_its_parts() -> Result<()> {
    let bed = losing(1)?;
    let mut x = bed.array()?;
    bed.on(GPU);
    scale(&mut x, 1)?;
    bed.rt.wait()?;
    bed.on(CPU);
    for part in x.partition_mut(Axis(1), 2)?.iter_mut() {
        fill(part, 6)?;
    }
    assert_eq!(x.to_vec()?, [6; LEN]);
    bed.on(FAR);
    scale(&mut x, 1)?;
    assert_eq!(x.to_vec()?, [31; LEN]);
    Ok(())
}

#[test]
fn contributions_that_were_lost_are_missing_from_no_total() -> Result<()> {
    let bed = losing(2)?;
    let (x, mut out, mut other) = (bed.array()?, bed.array()?, bed.rt.zeros([ROWS, COLUMNS])?);
    bed.on(GPU);
    add_up(&x, &mut out)?;
    reduce(Reduction::Max, &x, &mut other, 1.0)?;
    bed.on(FAR);
    add_up(&x, &mut out)?; // takes what there is of the sum with it, before the device is lost
    assert_eq!(out.to_vec()?, each(|x| 3 * x));
    let error = other.to_vec().expect_err("a contribution was lost").to_string();
    assert!(error.contains("max: its result was lost with gpu"), "{error}");
    fill(&mut out, 1)?;
    add_up(&x, &mut out)?;
    assert_eq!(out.to_vec()?, each(|x| x + 1));
    Ok(())
}

#[test]
fn a_loss_that_only_a_task_has_met_is_told_by_wait() -> Result<()> {
    let bed = losing(1)?;
    let (mut x, mut out) = (bed.array()?, bed.rt.zeros([ROWS, COLUMNS])?);
    bed.on(GPU);
    scale(&mut x, 1)?;
    bed.rt.wait()?;
    bed.on(FAR);
    three(&MAP, &x, &x, &mut out)?;
    let error = bed.rt.wait().expect_err("a task needed it").to_string();
    assert!(error.contains("its result was lost with gpu"), "{error}");
    bed.rt.wait()
}
