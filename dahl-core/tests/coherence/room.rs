//! Memories that are too small: eviction, and what happens when nothing can be evicted.

use dahl_core::{Matrix, Result, Runtime, Speed, Task, VirtualDevice};

use crate::coherence::bed::{Bed, CPU, GPU, LEN, ROWS, each};
use crate::coherence::kernels::{M, MAP, abandon, fill, scale, three};
use crate::coherence::modes::by_way;

const NOTHING: [(usize, usize, usize); 0] = [];

/// Reads `x` and writes `out` on the device.
fn use_there(bed: &Bed, x: &M<'_>, out: &mut M<'_>) -> Result<()> {
    bed.on(GPU);
    three(&MAP, x, x, out)
}

#[test]
fn what_was_not_used_for_longest_makes_room() -> Result<()> {
    let bed = Bed::with_room(4)?;
    let (a, b, c, d) = (bed.array()?, bed.array()?, bed.array()?, bed.array()?);
    let mut out = bed.rt.zeros([ROWS, 4])?;
    for x in [&a, &b, &c, &a] {
        use_there(&bed, x, &mut out)?;
    }
    assert_eq!(bed.moved(), [(0, GPU, 128); 3]);
    use_there(&bed, &d, &mut out)?; // `b` goes, which costs nothing
    assert_eq!(bed.moved(), [(0, GPU, 128)]);
    for x in [&a, &c, &d] {
        use_there(&bed, x, &mut out)?;
    }
    assert_eq!(bed.moved(), NOTHING);
    use_there(&bed, &b, &mut out)?; // `a` goes
    use_there(&bed, &c, &mut out)?;
    assert_eq!(bed.moved(), [(0, GPU, 128)]);
    use_there(&bed, &a, &mut out)?;
    assert_eq!(bed.moved(), [(0, GPU, 128)]);
    assert_eq!(out.to_vec()?, each(|x| 8 * x));
    Ok(())
}

#[test]
fn what_need_not_be_written_back_makes_room_first() -> Result<()> {
    let bed = Bed::with_room(3)?;
    let (mut dirty, clean, mut old) = (bed.array()?, bed.array()?, bed.array()?);
    bed.on(GPU);
    scale(&mut dirty, 1)?;
    scale(&mut old, 1)?;
    let mut out = bed.rt.zeros([ROWS, 4])?;
    bed.on(CPU);
    fill(&mut old, 2)?; // its copy is not valid any more
    let _ = bed.moved();
    use_there(&bed, &clean, &mut out)?;
    assert_eq!(bed.moved(), [(0, GPU, 128)], "in the place of `old`");
    let other = bed.array()?;
    use_there(&bed, &other, &mut out)?;
    assert_eq!(bed.moved(), [(0, GPU, 128)], "in the place of `clean`, though `dirty` was used before it");
    assert_eq!(dirty.to_vec()?, each(|x| 5 * x + 1));
    assert_eq!(bed.moved(), [(GPU, 0, 128)], "it was there all the time");
    Ok(())
}

#[test]
fn what_is_valid_there_alone_is_written_back() -> Result<()> {
    let bed = Bed::with_room(2)?;
    let mut arrays = (0..5).map(|_| bed.array()).collect::<Result<Vec<_>>>()?;
    bed.on(GPU);
    for round in 0..3 {
        arrays.iter_mut().try_for_each(|x| scale(x, round))?;
    }
    let moved = bed.moved();
    assert_eq!(moved.iter().filter(|transfer| transfer.0 == 0).count(), 15);
    assert_eq!(moved.iter().filter(|transfer| transfer.1 == 0).count(), 13, "two are there still");
    assert!(bed.rt.memory()[GPU].peak_bytes <= 256);
    for x in &arrays {
        assert_eq!(x.to_vec()?, each(|x| (25 * x + 1) * 5 + 2));
    }
    assert_eq!(bed.moved(), [(GPU, 0, 128); 2]);
    assert_eq!(bed.tasks(), [0, 15]);
    Ok(())
}

#[test]
fn a_task_waits_for_the_room_of_the_one_before_it() -> Result<()> {
    // Each needs two arrays of three, so none is prefetched beside another.
    let bed = Bed::with_room(3)?;
    let inputs = (0..4).map(|_| bed.array()).collect::<Result<Vec<_>>>()?;
    let mut outputs = (0..4).map(|_| bed.rt.zeros([ROWS, 4])).collect::<Result<Vec<_>>>()?;
    for (x, out) in inputs.iter().zip(&mut outputs) {
        use_there(&bed, x, out)?;
    }
    assert_eq!(bed.tasks(), [0, 4], "none is sent away");
    let moved = bed.moved();
    assert_eq!(moved.iter().filter(|transfer| transfer.1 == GPU).count(), 4, "{moved:?}");
    for out in &outputs {
        assert_eq!(out.to_vec()?, each(|x| 8 * x));
    }
    Ok(())
}

#[test]
fn a_task_that_never_fits_goes_to_the_host() -> Result<()> {
    let bed = Bed::with_room(2)?;
    let (x, y, mut out) = (bed.array()?, bed.array()?, bed.rt.zeros([ROWS, 4])?);
    bed.on(GPU);
    three(&MAP, &x, &y, &mut out)?;
    assert_eq!((bed.tasks(), bed.moved()), (vec![1, 0], NOTHING.to_vec()), "nothing goes there in vain");
    three(&MAP, &x, &x, &mut out)?;
    assert_eq!(bed.tasks(), [1, 1], "an array counts once");
    by_way(&x, &mut out)?;
    assert_eq!(bed.tasks(), [2, 1], "a temporary buffer counts");
    assert_eq!(out.to_vec()?, each(|x| x));
    Ok(())
}

#[test]
fn temporary_buffers_make_room_and_have_it_made() -> Result<()> {
    let bed = Bed::with_room(3)?;
    let (x, y, mut out) = (bed.array()?, bed.array()?, bed.rt.zeros([ROWS, 4])?);
    bed.on(GPU);
    three(&MAP, &x, &y, &mut out)?;
    by_way(&x, &mut out)?; // `y` goes for the buffer
    assert_eq!(bed.moved(), [(0, GPU, 128), (0, GPU, 128)]);
    assert_eq!(out.to_vec()?, each(|x| x));
    three(&MAP, &x, &y, &mut out)?; // and the buffer for `y`
    assert_eq!(bed.tasks(), [0, 3]);
    assert_eq!(out.to_vec()?, each(|x| 8 * x));
    Ok(())
}

#[test]
fn a_task_that_must_run_where_it_does_not_fit_is_an_error_that_says_who_holds_what() -> Result<()> {
    let bed = Bed::with_room(2)?;
    let (x, y, mut out) = (bed.array()?, bed.array()?, bed.rt.zeros([ROWS, 4])?);
    let mut task = Task::new(&MAP);
    task.read(&x);
    task.read(&y);
    task.write(&mut out);
    task.on(GPU).submit()?;
    let error = out.to_vec().expect_err("it does not fit").to_string();
    for part in ["map", "gpu", "128 bytes", "256 of 256 bytes are reserved", "copies", "room.rs"] {
        assert!(error.contains(part), "{part}: {error}");
    }
    assert!(!error.contains("DAHL_LIMIT_MB"), "{error}");
    assert_eq!((x.to_vec()?, y.to_vec()?), (each(|x| x), each(|x| x)));
    bed.on(GPU);
    fill(&mut out, 1)?;
    assert_eq!(out.to_vec()?, [1; LEN]);
    assert_eq!(bed.tasks(), [0, 2], "the device goes on");
    Ok(())
}

#[test]
fn a_task_that_is_not_submitted_brings_nothing() -> Result<()> {
    let bed = Bed::with_room(1)?;
    bed.on(GPU);
    abandon(&mut bed.array()?);
    assert_eq!((bed.moved(), bed.bytes_at(GPU)), (NOTHING.to_vec(), 0));
    Ok(())
}

/// Elements of a tile of 64 KiB along an axis: 64 x 128.
const TILE: [usize; 2] = [64, 128];

#[test]
fn a_working_set_eight_times_the_memory_goes_on() -> Result<()> {
    for scheduler in ["eager", "ws"] {
        let gpu = VirtualDevice::new("gpu").speed(Speed::default().times(50.0)).memory_mb(0.5);
        let rt = Runtime::builder().cpu_workers(1).virtual_device(gpu).scheduler(scheduler).build()?;
        let mut tiles: Vec<Matrix<'_, i64>> = (0..64).map(|_| rt.zeros(TILE)).collect::<Result<_>>()?;
        let mut expected = vec![0_i64; tiles.len()];
        for round in 0..4 {
            for place in 0..tiles.len() {
                // One before and one far away.
                let [x, y, out] = [(place + 63) % 64, (place * 5 + 2) % 64, place];
                scale(&mut tiles[place], round + place as i64 % 11)?;
                expected[place] = 5 * expected[place] + round + place as i64 % 11;
                if x != y && y != out {
                    let [x, y, out] = tiles.get_disjoint_mut([x, y, out]).expect("three tiles");
                    three(&MAP, x, y, out)?;
                    let [x, y, out] = expected
                        .get_disjoint_mut([(place + 63) % 64, (place * 5 + 2) % 64, place])
                        .expect("three");
                    *out = x.wrapping_mul(7).wrapping_add(*y);
                }
            }
        }
        for (tile, expected) in tiles.iter().zip(expected) {
            assert!(tile.read()?.iter().all(|&x| x == expected));
        }
        let memory = &rt.memory()[GPU];
        assert_eq!(memory.limit_bytes, Some(1 << 19));
        assert_eq!(memory.peak_bytes, 1 << 19, "it was full, and not more");
        assert!(rt.worker_uses()[1].tasks > 100);
    }
    Ok(())
}
