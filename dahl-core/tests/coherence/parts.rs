//! Parts of partitions: only those that are used are copied, and a whole and its parts agree.

use dahl_core::Result;
use dahl_core::ndarray::Axis;

use crate::coherence::bed::{Bed, COLUMNS, CPU, FAR, GPU, LEN, ROWS, each};
use crate::coherence::kernels::{MAP, MIX, UNLUCKY, add_up, fill, scale, three, two_in_place};

const NOTHING: [(usize, usize, usize); 0] = [];

/// `f` of each element in the given rows.
fn in_rows(rows: std::ops::Range<usize>, f: impl Fn(i64) -> i64) -> Vec<i64> {
    each(|x| if rows.contains(&(x as usize / COLUMNS)) { f(x) } else { x })
}

#[test]
fn of_a_partition_only_the_parts_that_are_used_are_copied() -> Result<()> {
    let bed = Bed::new()?;
    let mut x = bed.array()?;
    let mut parts = x.partition_mut(Axis(0), 1)?;
    bed.on(GPU);
    scale(&mut parts[1], 1)?;
    scale(&mut parts[1], 1)?;
    assert_eq!(bed.moved(), [(0, GPU, 32)]);
    fill(&mut parts[2], 7)?;
    assert_eq!(bed.moved(), NOTHING);
    assert_eq!(parts[0].to_vec()?, [0, 1, 2, 3]);
    assert_eq!(bed.moved(), NOTHING);
    assert_eq!(
        x.to_vec()?,
        each(|x| match x / 4 {
            1 => 25 * x + 6,
            2 => 7,
            _ => x,
        })
    );
    assert_eq!(bed.moved(), [(GPU, 0, 32), (GPU, 0, 32)], "the two that were changed come home");
    Ok(())
}

#[test]
fn parts_are_used_on_several_devices_at_once() -> Result<()> {
    let bed = Bed::new()?;
    let mut x = bed.array()?;
    let mut parts = x.partition_mut(Axis(1), 1)?;
    for (worker, part) in [CPU, GPU, FAR, GPU].into_iter().zip(parts.iter_mut()) {
        bed.on(worker);
        scale(part, 3)?;
    }
    let mut moved = bed.moved();
    moved.sort_unstable();
    assert_eq!(moved, [(0, GPU, 32), (0, GPU, 32), (0, FAR, 32)]);
    assert_eq!(x.to_vec()?, each(|x| 5 * x + 3), "columns come home between each other");
    Ok(())
}

#[test]
fn a_whole_that_is_on_a_device_comes_home_to_be_divided() -> Result<()> {
    let bed = Bed::new()?;
    let mut x = bed.array()?;
    bed.on(GPU);
    scale(&mut x, 0)?;
    {
        let mut parts = x.partition_mut(Axis(0), 2)?;
        scale(&mut parts[0], 1)?;
    }
    assert_eq!(bed.moved(), [(0, GPU, 128), (GPU, 0, 128), (0, GPU, 64)]);
    scale(&mut x, 0)?;
    assert_eq!(bed.moved(), [(GPU, 0, 64), (0, GPU, 128)], "the whole's old copy is not believed");
    assert_eq!(x.to_vec()?, each(|x| 5 * (if x < 8 { 25 * x + 1 } else { 5 * x })));
    Ok(())
}

#[test]
fn a_shared_partition_leaves_the_whole_and_its_copy() -> Result<()> {
    let bed = Bed::new()?;
    let x = bed.array()?;
    let mut out = bed.rt.zeros([ROWS, COLUMNS])?;
    let mut half = bed.rt.zeros([2, COLUMNS])?;
    bed.on(GPU);
    three(&MAP, &x, &x, &mut out)?;
    let parts = x.partition(Axis(0), 2)?;
    three(&MAP, &parts[1], &parts[1], &mut half)?;
    three(&MIX, &x, &x, &mut out)?;
    assert_eq!(bed.moved(), [(0, GPU, 128), (0, GPU, 64)], "whole and part are copies of their own");
    assert_eq!(half.to_vec()?, (8..16).map(|x| 8 * x).collect::<Vec<_>>());
    drop(parts);
    three(&MAP, &x, &x, &mut out)?;
    assert_eq!(out.to_vec()?, each(|x| 8 * x));
    assert_eq!(bed.moved(), [(GPU, 0, 64), (GPU, 0, 128)]);
    Ok(())
}

#[test]
fn no_old_copy_of_a_part_is_believed_when_the_whole_was_changed() -> Result<()> {
    let bed = Bed::new()?;
    let mut x = bed.array()?;
    let mut half = bed.rt.zeros([2, COLUMNS])?;
    let mut expected = each(|x| x);
    for round in 0..4 {
        // The same partition each time, so the same parts.
        let parts = x.partition(Axis(0), 2)?;
        bed.on(GPU);
        three(&MAP, &parts[0], &parts[0], &mut half)?;
        drop(parts);
        assert_eq!(half.to_vec()?, expected[..8].iter().map(|x| 8 * x).collect::<Vec<_>>());
        bed.on(if round % 2 == 0 { CPU } else { GPU });
        scale(&mut x, round)?;
        expected.iter_mut().for_each(|x| *x = 5 * *x + round);
    }
    assert_eq!(x.to_vec()?, expected);
    Ok(())
}

#[test]
fn no_old_copy_of_a_whole_is_believed_when_a_part_was_changed() -> Result<()> {
    let bed = Bed::new()?;
    let mut x = bed.array()?;
    let mut out = bed.rt.zeros([ROWS, COLUMNS])?;
    let mut expected = each(|x| x);
    for (round, worker) in [CPU, GPU, FAR].into_iter().enumerate() {
        bed.on(GPU);
        three(&MAP, &x, &x, &mut out)?;
        bed.on(worker);
        let mut parts = x.partition_mut(Axis(1), 2)?;
        scale(&mut parts[1], 9)?;
        expected.iter_mut().enumerate().filter(|(i, _)| i % 4 >= 2).for_each(|(_, x)| *x = 5 * *x + 9);
        bed.on(GPU);
        three(&MAP, &x, &x, &mut out)?;
        assert_eq!(out.to_vec()?, expected.iter().map(|x| 8 * x).collect::<Vec<_>>(), "round {round}");
    }
    Ok(())
}

#[test]
fn parts_of_parts_come_home_one_into_the_other() -> Result<()> {
    let bed = Bed::new()?;
    let mut x = bed.array()?;
    {
        let mut rows = x.partition_mut(Axis(0), 2)?;
        bed.on(GPU);
        scale(&mut rows[0], 0)?;
        {
            let mut cells = rows[0].partition_mut(Axis(1), 1)?;
            bed.on(FAR);
            scale(&mut cells[1], 1)?;
            bed.on(CPU);
            scale(&mut cells[2], 2)?;
        }
        // The cell is copied into the part, and the part leaves the host.
        bed.on(GPU);
        scale(&mut rows[0], 0)?;
    }
    assert_eq!(bed.moved(), [(0, 1, 64), (1, 0, 64), (0, 2, 16), (2, 0, 16), (0, 1, 64)]);
    let cell = |x: i64| match x % 4 {
        1 => 25 * x + 1,
        2 => 25 * x + 2,
        _ => 5 * x,
    };
    assert_eq!(x.to_vec()?, in_rows(0..2, |x| 5 * cell(x)));
    assert_eq!(bed.moved(), [(GPU, 0, 64)]);
    Ok(())
}

#[test]
fn a_reshaped_part_has_the_same_copy() -> Result<()> {
    let bed = Bed::new()?;
    let mut x = bed.array()?;
    {
        let mut parts = x.partition_mut(Axis(0), 2)?;
        bed.on(GPU);
        scale(&mut parts[1], 1)?;
        scale(&mut *parts[1].reshaped_mut([1, 8])?, 2)?;
    }
    assert_eq!(bed.moved(), [(0, GPU, 64)]);
    assert_eq!(x.to_vec()?, in_rows(2..4, |x| (5 * x + 1) * 5 + 2));
    Ok(())
}

#[test]
fn parts_are_renamed_and_reduced_into_on_devices() -> Result<()> {
    let bed = Bed::new()?;
    let (mut x, y) = (bed.array()?, bed.array()?);
    for axis in [0, 1] {
        let others = y.partition(Axis(axis), 2)?;
        let mut parts = x.partition_mut(Axis(axis), 2)?;
        for (worker, (part, other)) in [GPU, FAR].into_iter().zip(parts.iter_mut().zip(others.iter())) {
            bed.on(worker);
            two_in_place(&MIX, true, other, part)?;
            for _ in 0..6 {
                add_up(other, part)?;
            }
        }
    }
    assert_eq!(x.to_vec()?, each(|x| 3 * (3 * x + 7 * x) + 7 * x));
    Ok(())
}

#[test]
fn a_failed_part_fails_the_whole_and_all_parts_written_heal_it() -> Result<()> {
    let bed = Bed::with_room(2)?;
    let mut x = bed.array()?;
    bed.on(GPU);
    {
        let mut parts = x.partition_mut(Axis(0), 2)?;
        scale(&mut parts[0], 0)?;
        scale(&mut parts[1], UNLUCKY)?;
    }
    assert!(x.to_vec().is_err());
    {
        let mut parts = x.partition_mut(Axis(0), 2)?;
        bed.on(CPU);
        fill(&mut parts[0], 1)?;
        fill(&mut parts[1], 2)?;
        // Other arrays take the memory of the array that failed on the device.
        bed.on(GPU);
        let (mut y, mut z) = (bed.array()?, bed.array()?);
        scale(&mut y, 0)?;
        scale(&mut z, 0)?;
        assert_eq!((y.to_vec()?, z.to_vec()?), (each(|x| 5 * x), each(|x| 5 * x)));
    }
    assert_eq!(x.to_vec()?, (0..LEN).map(|i| if i < 8 { 1 } else { 2 }).collect::<Vec<_>>());
    Ok(())
}

#[test]
fn a_failed_whole_on_a_device_does_not_write_over_its_parts() -> Result<()> {
    let bed = Bed::with_room(2)?;
    let mut x = bed.array()?;
    bed.on(GPU);
    scale(&mut x, 1)?;
    scale(&mut x, UNLUCKY)?;
    {
        let mut parts = x.partition_mut(Axis(0), 2)?;
        bed.on(CPU);
        fill(&mut parts[0], 1)?;
        fill(&mut parts[1], 2)?;
        let _ = bed.rt.wait();
        bed.on(GPU);
        let (mut y, mut z) = (bed.array()?, bed.array()?);
        scale(&mut y, 0)?;
        scale(&mut z, 0)?;
        assert_eq!(bed.moved().iter().filter(|transfer| transfer.1 == 0).count(), 0);
    }
    assert_eq!(x.to_vec()?, (0..LEN).map(|i| if i < 8 { 1 } else { 2 }).collect::<Vec<_>>());
    Ok(())
}

#[test]
fn parts_that_are_forgotten_come_home_all_the_same() -> Result<()> {
    let bed = Bed::new()?;
    let mut x = bed.array()?;
    bed.on(GPU);
    let mut parts = x.partition_mut(Axis(1), 3)?;
    parts.iter_mut().try_for_each(|part| scale(part, 2))?;
    std::mem::forget(parts);
    bed.on(FAR);
    scale(&mut x, 0)?;
    assert_eq!(x.to_vec()?, each(|x| 5 * (5 * x + 2)));
    drop(x);
    let _ = bed.rt.wait();
    assert_eq!((bed.bytes_at(GPU), bed.bytes_at(FAR)), (0, 0));
    Ok(())
}
