//! Partitions: the elements of each part, that they share the memory of the whole, and that tasks on both are ordered.

use dahl::Result;
use dahl::ndarray::{ArrayView2, ArrayViewMut2, Axis};
use dahl::prelude::*;

fn runtime() -> Runtime {
    Runtime::builder().cpu_workers(2).build().expect("a runtime")
}

/// `0, 1, 2, ..` in a shape.
fn counting<const N: usize>(rt: &Runtime, shape: [usize; N]) -> Result<Array<'static, f64, N>> {
    let len = shape.iter().product::<usize>();
    rt.from_vec(shape, (0..len).map(|i| i as f64).collect())
}

/// The address and strides of `x` in a kernel with a view.
#[codelet(R, W, cpu_only, shape(out = [3]))]
fn place_of_view(x: ArrayView2<f64>, out: &mut [i64]) {
    out.copy_from_slice(&[x.as_ptr().addr() as i64, x.strides()[0] as i64, x.strides()[1] as i64]);
}

/// The same for a mutable view, which is negated.
#[codelet(RW, W, cpu_only, shape(out = [3]))]
fn negate_and_place(mut x: ArrayViewMut2<f64>, out: &mut [i64]) {
    out.copy_from_slice(&[x.as_ptr().addr() as i64, x.strides()[0] as i64, x.strides()[1] as i64]);
    x.mapv_inplace(|x| -x);
}

/// The address of `x` in a kernel with a slice, and its elements.
#[codelet(R, W, W, cpu_only, shape(place = [1]), shape(elements = [len]))]
fn place_of_slice(x: &[f64], place: &mut [i64], elements: &mut [f64], len: usize) {
    assert_eq!(x.len(), len);
    place[0] = x.as_ptr().addr() as i64;
    elements.copy_from_slice(x);
}

/// `x = x + value`, of a slice.
#[codelet(RW)]
fn add_to<T: Real>(x: &mut [T], value: T) {
    for x in x {
        *x += value;
    }
}

/// The address of the first element.
fn address<const N: usize>(x: &Array<'_, f64, N>) -> Result<i64>
where
    dahl::ndarray::Dim<[usize; N]>: dahl::ndarray::Dimension,
{
    Ok(x.read()?.as_ptr().addr() as i64)
}

#[test]
fn strided_parts_reach_views_without_a_copy() -> Result<()> {
    let rt = runtime();
    let arena = rt.arena();
    let mut x = counting(&rt, [6, 10])?;
    let start = address(&x)?;
    for (i, part) in x.partition(Axis(1), 4)?.iter().enumerate() {
        let place = place_of_view_init(&arena, part)?;
        assert_eq!(place.to_vec()?, [start + 8 * 4 * i as i64, 10, 1]);
    }
    for (i, part) in x.partition_mut(Axis(1), 4)?.iter_mut().enumerate() {
        let place = negate_and_place_init(&arena, part)?;
        assert_eq!(place.to_vec()?, [start + 8 * 4 * i as i64, 10, 1]);
    }
    assert_eq!(x.to_vec()?, (0..60).map(|i| -f64::from(i)).collect::<Vec<_>>());
    assert_eq!(address(&x)?, start);
    Ok(())
}

#[test]
fn strided_parts_reach_slices_as_packed_copies() -> Result<()> {
    let rt = runtime();
    let arena = rt.arena();
    let mut x = counting(&rt, [3, 4])?;
    let start = address(&x)?;
    let columns = x.partition(Axis(1), 2)?;
    let (place, elements) = place_of_slice_init(&arena, &columns[1], 6)?;
    let place = place.to_vec()?[0];
    assert!(!(start..start + 8 * 12).contains(&place), "a copy lies elsewhere");
    assert_eq!(elements.to_vec()?, [2.0, 3.0, 6.0, 7.0, 10.0, 11.0]);
    drop(columns);
    let rows = x.partition(Axis(0), 2)?;
    let (place, elements) = place_of_slice_init(&arena, &rows[1], 4)?;
    assert_eq!(place.to_vec()?, [start + 8 * 8], "rows follow each other: no copy");
    assert_eq!(elements.to_vec()?, [8.0, 9.0, 10.0, 11.0]);
    drop(rows);
    for (i, column) in x.partition_mut(Axis(1), 1)?.iter_mut().enumerate() {
        add_to(column, 100.0 * i as f64)?;
    }
    let expected = (0..12).map(|i| f64::from(i + 100 * (i % 4))).collect::<Vec<_>>();
    assert_eq!(x.to_vec()?, expected);
    Ok(())
}

#[test]
fn parts_along_any_axis_by_chunk_and_by_count() -> Result<()> {
    let rt = runtime();
    let x = counting(&rt, [4, 5, 6])?;
    let shapes = |parts: &[Array<'_, f64, 3>]| parts.iter().map(Array::shape).collect::<Vec<_>>();
    assert_eq!(shapes(&x.partition(Axis(0), 3)?), [[3, 5, 6], [1, 5, 6]]);
    assert_eq!(shapes(&x.partition(Axis(1), 2)?), [[4, 2, 6], [4, 2, 6], [4, 1, 6]]);
    assert_eq!(shapes(&x.partition(Axis(2), 10)?), [[4, 5, 6]]);
    assert_eq!(shapes(&x.partition_into(Axis(2), 3)?), [[4, 5, 2]; 3]);
    assert_eq!(
        shapes(&x.partition_into(Axis(1), 4)?),
        [[4, 2, 6], [4, 2, 6], [4, 1, 6]],
        "as few as it takes"
    );
    for axis in 0..3 {
        for chunk in 1..=7 {
            let parts = x.partition(Axis(axis), chunk)?;
            let whole = x.read()?;
            for (part, expected) in parts.iter().zip(whole.axis_chunks_iter(Axis(axis), chunk)) {
                assert_eq!(part.read()?.view(), expected, "axis {axis} by {chunk}");
                assert_eq!(part.to_vec()?, expected.iter().copied().collect::<Vec<_>>());
            }
        }
    }
    assert!(x.partition(Axis(3), 1).is_err() && x.partition(Axis(0), 0).is_err());
    assert!(x.partition_into(Axis(0), 0).is_err());
    Ok(())
}

#[test]
fn parts_of_given_lengths() -> Result<()> {
    let rt = runtime();
    let mut x = counting(&rt, [3, 7])?;
    let columns = x.partition_by(Axis(1), &[2, 0, 4, 1])?;
    assert_eq!(columns.iter().map(Array::shape).collect::<Vec<_>>(), [[3, 2], [3, 0], [3, 4], [3, 1]]);
    assert_eq!(columns[2].to_vec()?, [2.0, 3.0, 4.0, 5.0, 9.0, 10.0, 11.0, 12.0, 16.0, 17.0, 18.0, 19.0]);
    assert!(columns[1].to_vec()?.is_empty());
    drop(columns);
    for round in 1..=3 {
        for (i, rows) in x.partition_mut_by(Axis(0), &[1, 2, 0])?.iter_mut().enumerate() {
            add_to(rows, 100.0 * (i + 1) as f64)?;
        }
        // These parts are the same as by a chunk of 2, so it is the same partition; others are another.
        for rows in x.partition_mut_by(Axis(0), &[2, 1])?.iter_mut() {
            add_to(rows, 0.5)?;
        }
        add_to(&mut x.partition_mut(Axis(0), 2)?[1], 0.25)?;
        let (first, last) = (100.5 * f64::from(round), 200.75 * f64::from(round));
        assert_eq!(x.to_vec()?[..2], [first, 1.0 + first]);
        assert_eq!(x.to_vec()?[19..], [19.0 + last, 20.0 + last]);
    }
    let empty = counting(&rt, [0, 2])?;
    assert_eq!(empty.partition_by(Axis(0), &[])?.len(), 0);
    assert_eq!(empty.partition_by(Axis(0), &[0, 0])?.len(), 2);
    Ok(())
}

#[test]
fn lengths_that_are_not_the_extent_are_refused() -> Result<()> {
    let rt = runtime();
    let mut x = counting(&rt, [3, 7])?;
    for (axis, lengths) in [(0, &[1, 1][..]), (0, &[2, 2]), (1, &[]), (2, &[1]), (0, &[usize::MAX, 4])] {
        assert!(x.partition_mut_by(Axis(axis), lengths).is_err(), "{axis} {lengths:?}");
        let error = x.partition_by(Axis(axis), lengths).unwrap_err().to_string();
        assert!(error.contains("[3, 7]") && error.contains("partition.rs"), "{error}");
    }
    let error = x.partition_by(Axis(1), &[5, 1]).unwrap_err().to_string();
    assert!(error.contains("sum to 6") && error.contains("extent 7"), "{error}");
    Ok(())
}

#[test]
fn parts_of_parts() -> Result<()> {
    let rt = runtime();
    let mut x = counting(&rt, [5, 7])?;
    for _ in 0..3 {
        for rows in x.partition_mut(Axis(0), 2)?.iter_mut() {
            add_to(rows, 1.0)?;
            for block in rows.partition_mut(Axis(1), 3)?.iter_mut() {
                add_to(block, 10.0)?;
                add_to(&mut block.partition_mut(Axis(0), 1)?[0], 100.0)?;
            }
            add_to(rows, 1000.0)?;
        }
        add_to(&mut x, 10_000.0)?;
    }
    let expected = |i: usize| {
        let first_of_its_rows = (i / 7).is_multiple_of(2);
        i as f64 + 3.0 * (11_011.0 + if first_of_its_rows { 100.0 } else { 0.0 })
    };
    assert_eq!(x.to_vec()?, (0..35).map(expected).collect::<Vec<_>>());
    let rows = x.partition(Axis(0), 2)?;
    let blocks = rows[1].partition(Axis(1), 3)?;
    assert_eq!(blocks[2].to_vec()?, [expected(20), expected(27)]);
    assert_eq!(rows[2].partition_into(Axis(1), 7)?[6].to_vec()?, [expected(34)]);
    Ok(())
}

#[test]
fn parts_of_reshaped_arrays() -> Result<()> {
    let rt = runtime();
    let mut x = counting(&rt, [2, 6])?;
    for part in x.reshaped_mut([3, 4])?.partition_mut(Axis(0), 2)?.iter_mut() {
        add_to(part, 100.0)?;
    }
    for part in x.flattened_mut()?.partition_mut(Axis(0), 5)?.iter_mut().skip(2) {
        add_to(part, 1000.0)?;
    }
    let mut expected: Vec<f64> = (0..12).map(|i| f64::from(i + 100)).collect();
    expected[10] += 1000.0;
    expected[11] += 1000.0;
    assert_eq!(x.to_vec()?, expected);
    assert_eq!(x.flattened()?.partition(Axis(0), 6)?[1].to_vec()?, expected[6..]);
    let flat: Vector<'_, f64> = x.flatten()?;
    assert_eq!((flat.shape(), flat.to_vec()?), ([12], expected));
    Ok(())
}

#[test]
fn contiguous_parts_are_reshaped_and_strided_ones_are_not() -> Result<()> {
    let rt = runtime();
    let x = counting(&rt, [4, 3])?;
    let rows = x.partition(Axis(0), 2)?;
    assert_eq!(rows[1].flattened()?.to_vec()?, [6.0, 7.0, 8.0, 9.0, 10.0, 11.0]);
    let columns = x.partition(Axis(1), 2)?;
    let error = columns[0].flattened().unwrap_err().to_string();
    assert!(error.contains("[4, 2]") && error.contains("partition.rs"), "{error}");
    Ok(())
}

#[test]
fn parts_outlive_their_last_use() -> Result<()> {
    let rt = runtime();
    let mut rows;
    let mut x = counting(&rt, [4, 3])?;
    rows = x.partition_mut(Axis(0), 1)?;
    add_to(&mut rows[0], 5.0)?;
    // The parts are not used any more, but are dropped after the array.
    assert_eq!(x.to_vec()?[..4], [5.0, 6.0, 7.0, 3.0]);
    Ok(())
}

#[test]
fn parts_swapped_for_other_arrays() -> Result<()> {
    let rt = runtime();
    let mut x = counting(&rt, [4, 2])?;
    let mut other = counting(&rt, [2, 2])?;
    let mut owned = counting(&rt, [2, 2])?;
    for round in 0..3 {
        let mut borrowed = other.partition_mut(Axis(0), 2)?;
        let mut parts = x.partition_mut(Axis(0), 2)?;
        parts.swap(0, 1);
        add_to(&mut parts[0], 10.0)?;
        std::mem::swap(&mut parts[0], &mut borrowed[0]);
        std::mem::swap(&mut parts[1], &mut owned);
        add_to(&mut owned, 100.0)?;
        // `parts` owns an array of its own now, which is dropped with it; `borrowed` has a part of `x`.
        add_to(&mut parts[1], 1.0)?;
        drop(parts);
        add_to(&mut borrowed[0], 1000.0)?;
        drop(borrowed);
        let later = f64::from(round + 1);
        owned = counting(&rt, [2, 2])?;
        assert_eq!(x.to_vec()?[0], 100.0 * later);
        assert_eq!(x.to_vec()?[4], 4.0 + 1010.0 * later);
    }
    assert_eq!(other.to_vec()?, [0.0, 1.0, 2.0, 3.0]);
    Ok(())
}

#[test]
fn whole_and_parts_are_in_order_without_a_barrier() -> Result<()> {
    let rt = runtime();
    let mut x = rt.zeros::<f64, 1>([64])?;
    for _ in 0..200 {
        add_to(&mut x, 1.0)?;
        for part in x.partition_mut(Axis(0), 7)?.iter_mut() {
            add_to(part, 1.0)?;
        }
        let parts = x.partition(Axis(0), 9)?;
        assert_eq!(parts.len(), 8);
    }
    assert_eq!(x.to_vec()?, [400.0; 64]);
    Ok(())
}

#[test]
fn more_parts_than_memory_holds_are_an_error_at_the_call() -> Result<()> {
    let rt = runtime();
    let arena = rt.arena();
    let mut none: Matrix<f32> = arena.zeros([1 << 40, 0])?;
    let errors = [
        none.partition(Axis(0), 1).map(drop).unwrap_err(),
        none.partition_into(Axis(0), usize::MAX).map(drop).unwrap_err(),
        none.partition_mut(Axis(0), 3).map(drop).unwrap_err(),
    ];
    for error in errors {
        let text = error.to_string();
        assert!(text.contains("D0006") && text.contains(file!()), "{text}");
    }
    assert_eq!(none.partition_mut(Axis(0), 1 << 39)?.len(), 2);
    Ok(())
}
