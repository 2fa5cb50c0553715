//! The copies for each access mode, and the effects of host accesses.

use dahl_core::__private::{Kernel, Parameter};
use dahl_core::Scope;
use dahl_core::{AccessMode, Codelet, ElementType, Reduction, Result, Task};

use crate::coherence::bed::{Bed, CPU, FAR, GPU, LEN, ROWS, each};
use crate::coherence::kernels::{
    M, MAP, MIX, UNLUCKY, add_any, add_up, contribution, fill, fill_total, reduce, scale, three, two_in_place,
};

const NOTHING: [(usize, usize, usize); 0] = [];

#[test]
fn what_is_read_is_shared_by_all_who_read_it() -> Result<()> {
    let bed = Bed::new()?;
    let (x, y) = (bed.array()?, bed.array()?);
    let mut out = bed.rt.zeros([ROWS, 4])?;
    bed.on(GPU);
    three(&MAP, &x, &y, &mut out)?;
    assert_eq!(bed.moved(), [(0, GPU, 128), (0, GPU, 128)], "what is written alone is not copied in");
    three(&MAP, &x, &x, &mut out)?;
    three(&MIX, &y, &x, &mut out)?;
    assert_eq!(bed.moved(), NOTHING);
    bed.on(CPU);
    let mut sum = bed.rt.zeros([ROWS, 4])?;
    three(&MAP, &x, &out, &mut sum)?;
    assert_eq!(bed.moved(), [(GPU, 0, 128)], "`x` is valid at home still");
    bed.on(FAR);
    three(&MAP, &x, &out, &mut sum)?;
    assert_eq!(bed.moved(), [(0, FAR, 128), (0, FAR, 128)]);
    bed.on(GPU);
    three(&MAP, &out, &x, &mut sum)?;
    assert_eq!(bed.moved(), NOTHING, "the copy was valid all the time");
    assert_eq!(sum.to_vec()?, each(|x| 7 * 4 * x + x));
    assert_eq!(bed.moved(), [(GPU, 0, 128)]);
    assert_eq!((out.to_vec()?, x.to_vec()?), (each(|x| 4 * x), each(|x| x)));
    assert_eq!(bed.moved(), NOTHING);
    Ok(())
}

#[test]
fn what_is_changed_is_valid_there_alone() -> Result<()> {
    let bed = Bed::new()?;
    let mut x = bed.array()?;
    let expected = each(|x| ((5 * x + 1) * 5 + 2) * 5 + 3);
    for (worker, add) in [(GPU, 1), (GPU, 2), (FAR, 3)] {
        bed.on(worker);
        scale(&mut x, add)?;
    }
    assert_eq!(bed.moved(), [(0, GPU, 128), (GPU, FAR, 128)], "from device to device");
    assert_eq!(x.to_vec()?, expected);
    assert_eq!(bed.moved(), [(FAR, 0, 128)]);
    bed.on(CPU);
    scale(&mut x, 4)?;
    assert_eq!(bed.moved(), NOTHING);
    bed.on(GPU);
    scale(&mut x, 5)?;
    assert_eq!(bed.moved(), [(0, GPU, 128)], "the old copy was not valid any more");
    assert_eq!(x.to_vec()?, expected.iter().map(|x| (5 * x + 4) * 5 + 5).collect::<Vec<_>>());
    Ok(())
}

#[test]
fn what_is_overwritten_is_copied_nowhere() -> Result<()> {
    let bed = Bed::new()?;
    let mut x = bed.array()?;
    for (worker, value) in [(GPU, 1), (FAR, 2), (CPU, 3), (GPU, 4)] {
        bed.on(worker);
        fill(&mut x, value)?;
    }
    assert_eq!(bed.moved(), NOTHING);
    let mut out = bed.rt.zeros([ROWS, 4])?;
    bed.on(FAR);
    three(&MAP, &x, &x, &mut out)?;
    assert_eq!(out.to_vec()?, [32; LEN]);
    assert_eq!(x.to_vec()?, [4; LEN]);
    assert_eq!(bed.moved(), [(GPU, FAR, 128), (FAR, 0, 128), (GPU, 0, 128)]);
    Ok(())
}

#[test]
fn contributions_to_a_reduction_stay_until_they_are_folded() -> Result<()> {
    let bed = Bed::new()?;
    let (x, mut out) = (bed.array()?, bed.array()?);
    bed.on(GPU);
    for _ in 0..5 {
        add_up(&x, &mut out)?;
    }
    assert_eq!(bed.moved(), [(0, GPU, 128)], "neither the private buffers nor `out`");
    assert_eq!(out.to_vec()?, each(|x| 6 * x));
    assert_eq!(bed.moved(), [(GPU, 0, 128), (GPU, 0, 128)], "two buffers: of four contributions, and of one");
    for worker in [FAR, GPU, CPU, GPU] {
        bed.on(worker);
        add_up(&x, &mut out)?;
    }
    // A leaf's buffer moves to the node of each contribution.
    assert_eq!(bed.moved(), [(0, FAR, 128), (FAR, GPU, 128), (GPU, 0, 128), (0, GPU, 128)]);
    assert_eq!(out.to_vec()?, each(|x| 10 * x));
    assert_eq!(bed.moved(), [(GPU, 0, 128)]);
    Ok(())
}

#[test]
fn a_reduction_gives_the_same_bits_wherever_it_runs() -> Result<()> {
    let total = |workers: [usize; 3]| -> Result<Vec<u32>> {
        let bed = Bed::new()?;
        let (x, arena) = (bed.array()?, bed.rt.arena());
        let (mut total, mut anew) = (bed.rt.zeros([ROWS, 4])?, Scope::<()>::output(&arena, [ROWS, 4], true)?);
        bed.on(workers[2]);
        fill_total(&mut total, 0.7)?;
        for time in 0..23 {
            bed.on(workers[time % 3]);
            reduce(Reduction::Sum, &x, &mut total, 0.1 + 0.3 * time as f32)?;
            reduce(Reduction::Max, &x, &mut anew, 0.3 - time as f32)?;
        }
        let anew = anew.to_vec()?;
        assert_eq!(anew[3], contribution(3, 0.3));
        Ok(total.to_vec()?.into_iter().chain(anew).map(f32::to_bits).collect())
    };
    let expected = total([CPU; 3])?;
    for workers in [[GPU; 3], [GPU, FAR, CPU], [FAR, FAR, GPU]] {
        assert_eq!(total(workers)?, expected);
    }
    Ok(())
}

#[test]
fn commuting_tasks_take_the_elements_along() -> Result<()> {
    let bed = Bed::new()?;
    let (x, mut out) = (bed.array()?, bed.array()?);
    for worker in [GPU, GPU, CPU] {
        bed.on(worker);
        add_any(&x, &mut out)?;
    }
    let moved = bed.moved();
    assert_eq!(out.to_vec()?, each(|x| 4 * x));
    // In any order; for each, `x` is copied once, and `out` there and back.
    assert!(moved.iter().filter(|&&transfer| transfer == (0, GPU, 128)).count() <= 3, "{moved:?}");
    assert!(moved.contains(&(GPU, 0, 128)) || bed.moved() == [(GPU, 0, 128)], "{moved:?}");
    Ok(())
}

/// `out = x`, by way of a temporary buffer of as many elements.
static BY_WAY: Codelet = Codelet::new("by_way", module_path!(), 1)
    .parameters(&[
        Parameter::new("x", AccessMode::R, ElementType::of::<i64>()),
        Parameter::new("by_way", AccessMode::SCRATCH, ElementType::of::<i64>()),
        Parameter::new("out", AccessMode::W, ElementType::of::<i64>()),
    ])
    .kernels(&[Some(Kernel::new("rust", |views| {
        let (x, by_way, out) = (views.slice::<i64>(), views.slice_mut::<i64>(), views.slice_mut::<i64>());
        by_way.copy_from_slice(x);
        out.copy_from_slice(by_way);
    }))]);

pub(crate) fn by_way(x: &M<'_>, out: &mut M<'_>) -> Result<()> {
    let mut task = Task::new(&BY_WAY);
    task.read(x);
    task.scratch::<i64, 2>(x.shape());
    task.write(out);
    task.submit()
}

#[test]
fn scratch_is_in_the_memory_of_the_device() -> Result<()> {
    let bed = Bed::new()?;
    let (x, mut out) = (bed.array()?, bed.rt.zeros([ROWS, 4])?);
    bed.on(GPU);
    by_way(&x, &mut out)?;
    assert_eq!(bed.moved(), [(0, GPU, 128)]);
    let memory = &bed.rt.memory()[GPU];
    let scratch: usize =
        memory.holders.iter().filter(|holder| holder.what == "scratch").map(|holder| holder.bytes).sum();
    assert_eq!((memory.name.as_str(), scratch, memory.current_bytes), ("gpu", 128, 256));
    assert_eq!((memory.reserved_bytes, memory.peak_bytes, memory.limit_bytes), (384, 384, None));
    assert_eq!(out.to_vec()?, each(|x| x));
    Ok(())
}

#[test]
fn tasks_in_place_change_the_copy() -> Result<()> {
    for (codelet, target_first) in [(&MIX, true), (&MAP, false)] {
        let bed = Bed::new()?;
        let (other, mut x) = (bed.array()?, bed.array()?);
        let factor = if target_first { 3 } else { 1 };
        let step = |x: i64, other: i64| factor * x + if target_first { other } else { 7 * other };
        let mut expected = each(|x| x);
        for (round, worker) in [GPU, CPU, FAR, FAR, GPU, CPU].into_iter().enumerate() {
            bed.on(worker);
            two_in_place(codelet, target_first, &other, &mut x)?;
            expected.iter_mut().enumerate().for_each(|(i, x)| *x = step(*x, i as i64));
            let moved = bed.moved();
            let of_other = usize::from(round == 0 || round == 2);
            let of_target = usize::from(round != 3);
            assert_eq!(moved.len(), of_other + of_target, "round {round}: {moved:?}");
        }
        assert_eq!(x.to_vec()?, expected);
        assert_eq!(bed.moved(), NOTHING);
    }
    Ok(())
}

#[test]
fn the_host_reads_and_writes_at_home() -> Result<()> {
    let bed = Bed::new()?;
    let mut x = bed.array()?;
    bed.on(GPU);
    scale(&mut x, 1)?;
    let first = x.read()?.iter().sum::<i64>();
    assert_eq!(first, each(|x| 5 * x + 1).iter().sum::<i64>());
    assert_eq!(format!("{x:?}").matches('\n').count(), 4, "the elements are at home: {x:?}");
    let mut out = bed.rt.zeros([ROWS, 4])?;
    three(&MAP, &x, &x, &mut out)?;
    assert_eq!(bed.moved(), [(0, GPU, 128), (GPU, 0, 128)], "reading leaves the copy valid");
    {
        let guard = x.read()?;
        three(&MAP, &x, &x, &mut out)?;
        assert_eq!(out.to_vec()?[1], 8 * 6);
        assert_eq!(guard[[0, 1]], 6, "a task reads its copy while the host reads at home");
    }
    assert_eq!(bed.moved(), [(GPU, 0, 128)], "`out`");
    x.write()?.fill(2);
    three(&MAP, &x, &x, &mut out)?;
    assert_eq!(bed.moved(), [(0, GPU, 128)], "writing does not");
    assert_eq!(out.to_vec()?, [16; LEN]);
    bed.on(FAR);
    fill(&mut x, 3)?;
    assert!(!format!("{x:?}").contains('\n'), "the elements are not at home");
    assert_eq!(x.display()?.to_string().matches('3').count(), LEN);
    Ok(())
}

#[test]
fn arrays_without_elements_yet_are_made_at_home() -> Result<()> {
    let bed = Bed::new()?;
    let arena = bed.rt.arena();
    let (zeros, mut unset) = (arena.zeros([ROWS, 4])?, Scope::<()>::output(&arena, [ROWS, 4], false)?);
    bed.on(GPU);
    three(&MAP, &zeros, &zeros, &mut unset)?;
    assert_eq!(bed.moved(), [(0, GPU, 128)]);
    assert_eq!(unset.to_vec()?, [0; LEN]);
    let mut later = arena.zeros([ROWS, 4])?;
    scale(&mut later, 1)?;
    let (x, mut sum) = (bed.array()?, Scope::<()>::output(&arena, [ROWS, 4], false)?);
    fill(&mut sum, 1)?;
    add_up(&x, &mut sum)?;
    assert_eq!((later.to_vec()?, sum.to_vec()?), (vec![1; LEN], each(|x| x + 1)));
    Ok(())
}

#[test]
fn arrays_that_are_gone_leave_nothing_and_are_not_copied_home() -> Result<()> {
    let bed = Bed::new()?;
    bed.on(GPU);
    let mut x = bed.array()?;
    scale(&mut x, 1)?;
    let y = x.zeros_like()?;
    drop(x);
    let mut arena = bed.rt.arena();
    for round in 0..3 {
        let mut z = arena.filled([ROWS, 4], round)?;
        scale(&mut z, 2)?;
        add_up(&y, &mut z)?;
        arena.reset();
    }
    assert_eq!(bed.moved().iter().filter(|transfer| transfer.1 == 0).count(), 0);
    assert_eq!(bed.bytes_at(GPU), 128, "`y`");
    drop(y);
    assert_eq!(bed.bytes_at(GPU), 0);
    // Memory that is reused does not bring old copies back.
    let mut z = arena.filled([ROWS, 4], 7_i64)?;
    scale(&mut z, 0)?;
    assert_eq!(z.to_vec()?, [35; LEN]);
    Ok(())
}

#[test]
fn a_reshaped_array_has_the_same_copy() -> Result<()> {
    let bed = Bed::new()?;
    let mut x = bed.array()?;
    bed.on(GPU);
    scale(&mut x, 1)?;
    scale(&mut *x.reshaped_mut([2, 8])?, 2)?;
    let mut x = x.reshape([8, 2])?;
    scale(&mut x, 3)?;
    assert_eq!(bed.moved(), [(0, GPU, 128)]);
    assert_eq!(x.flattened()?.to_vec()?, each(|x| ((5 * x + 1) * 5 + 2) * 5 + 3));
    Ok(())
}

#[test]
fn a_failed_task_leaves_nothing_to_copy() -> Result<()> {
    let bed = Bed::new()?;
    let mut x = bed.array()?;
    bed.on(GPU);
    scale(&mut x, 1)?;
    scale(&mut x, UNLUCKY)?;
    bed.on(FAR);
    scale(&mut x, 1)?;
    assert!(x.read().is_err());
    assert_eq!(bed.moved(), [(0, GPU, 128)]);
    fill(&mut x, 3)?;
    bed.on(CPU);
    scale(&mut x, 1)?;
    assert_eq!(x.to_vec()?, [16; LEN]);
    assert_eq!(bed.moved(), [(FAR, 0, 128)], "what overwrites it heals it");
    let error = Reduction::Sum;
    let mut total = bed.rt.zeros([ROWS, 4])?;
    bed.on(GPU);
    scale(&mut x, UNLUCKY)?;
    reduce(error, &x, &mut total, 1.0)?;
    assert!(total.to_vec().is_err());
    fill_total(&mut total, 2.0)?;
    assert_eq!(total.to_vec()?, [2.0; LEN]);
    Ok(())
}

#[test]
fn checked_mode_looks_at_kernels_on_devices() -> Result<()> {
    let bed = Bed::new()?;
    let (x, mut out) = (bed.array()?, bed.rt.zeros([ROWS, 4])?);
    bed.on(GPU);
    let lazy = || {
        static LAZY: Codelet = Codelet::new("lazy", module_path!(), 2)
            .parameters(&[Parameter::new("out", AccessMode::W, ElementType::of::<i64>())])
            .kernels(&[Some(Kernel::new("rust", |views| views.slice_mut::<i64>()[0] = 1))]);
        &LAZY
    };
    three(&MAP, &x, &x, &mut out)?;
    assert_eq!(out.to_vec()?, each(|x| 8 * x));
    let checked =
        dahl_core::Runtime::builder().check(true).virtual_device(dahl_core::VirtualDevice::new("gpu"));
    let rt = checked.cpu_workers(1).build()?;
    let mut y: M<'_> = rt.zeros([ROWS, 4])?;
    let mut task = Task::new(lazy());
    task.write(&mut y);
    task.on(GPU).submit()?;
    let error = y.to_vec().expect_err("15 elements are not written").to_string();
    assert!(error.contains("lazy") && error.contains("gpu"), "{error}");
    Ok(())
}
