//! What generated code computes: every mode, several outputs, checks, and the compute type.

use dahl::Variants;
use dahl::ndarray::{ArrayView1, ArrayView2, ArrayViewMut1};
use dahl::prelude::*;

#[codelet(R, R, W)]
fn length<T: Real>(a: T, b: T) -> T {
    (a * a + b * b).sqrt()
}

#[codelet(R, R, W, broadcast, in_place = a)]
fn weighted<T: Real>(a: T, b: T, first: T, second: T) -> T {
    a * first + b * second
}

#[codelet(R, W, W, shape(largest = [x.nrows()]), shape(place = [x.nrows()]), check(x.ncols() > 0))]
fn max_rows<T: Real>(x: ArrayView2<T>, mut largest: ArrayViewMut1<T>, place: &mut [u32]) {
    for ((row, largest), place) in x.rows().into_iter().zip(&mut largest).zip(place) {
        (*place, *largest) = (0, row[0]);
        for (i, &x) in row.iter().enumerate() {
            if x > *largest {
                (*place, *largest) = (i as u32, x);
            }
        }
    }
}

#[codelet(R, REDUX, REDUX(max), shape(total = []), shape(largest = []))]
fn sum_and_max<T: Real>(x: &[T], total: &mut [T::Compute], largest: &mut [T]) {
    for &x in x {
        total[0] += x.widen();
        largest[0] = largest[0].max(x);
    }
}

#[codelet(R, SCRATCH, RW, COMMUTE, shape(shifted = [x.len() - 1]), check(x.len() > 1), check(count.len() == 1))]
fn differences<T: Real>(x: &[T], shifted: &mut [T], sums: &mut [T], count: &mut [u32]) {
    shifted.copy_from_slice(&x[1..]);
    for ((sum, &x), &next) in sums.iter_mut().zip(x).zip(&*shifted) {
        *sum += next - x;
    }
    count[0] += 1;
}

#[codelet(R, W, check(out.shape()[0] + lost == x.shape()[0]))]
fn tail<T: Element>(x: ArrayView1<T>, mut out: ArrayViewMut1<T>, lost: usize) {
    for (out, x) in out.iter_mut().zip(x.iter().skip(lost)) {
        *out = *x;
    }
}

#[test]
fn half_precision_is_computed_in_single() -> dahl::Result<()> {
    let rt = Runtime::builder().cpu_workers(1).build()?;
    let arena = rt.arena();
    let a = arena.from_slice([1], &[f16::from_f64(300.0)])?;
    let b = arena.from_slice([1], &[f16::from_f64(400.0)])?;
    // 300 * 300 is infinite in f16.
    assert_eq!(length_init(&arena, &a, &b)?.to_vec()?, [f16::from_f64(500.0)]);
    let mut out = [f16::from_f64(0.0)];
    Length::cpu(&[f16::from_f64(3.0)], &[f16::from_f64(4.0)], &mut out);
    assert_eq!(out, [f16::from_f64(5.0)]);
    Ok(())
}

#[test]
fn an_extent_of_one_stretches() -> dahl::Result<()> {
    let rt = Runtime::builder().cpu_workers(1).build()?;
    let arena = rt.arena();
    let mut a = arena.from_slice([2, 2], &[1.0_f32, 2.0, 3.0, 4.0])?;
    let b = arena.from_slice([1, 2], &[10.0_f32, 20.0])?;
    assert_eq!(weighted_init(&arena, &a, &b, 1.0, 2.0)?.to_vec()?, [21.0, 42.0, 23.0, 44.0]);
    weighted_self(&mut a, &b, 1.0, 1.0)?;
    assert_eq!(a.to_vec()?, [11.0, 22.0, 13.0, 24.0]);
    Ok(())
}

#[test]
fn several_outputs_are_a_tuple() -> dahl::Result<()> {
    let rt = Runtime::builder().cpu_workers(1).build()?;
    let arena = rt.arena();
    let x = arena.from_slice([2, 3], &[1.0_f64, 5.0, 2.0, 7.0, 0.0, -1.0])?;
    let (largest, place) = max_rows_init(&arena, &x)?;
    assert_eq!((largest.to_vec()?, place.to_vec()?), (vec![5.0, 7.0], vec![1, 0]));

    let mut short: Vector<f64> = arena.zeros([1])?;
    let mut place: Vector<u32> = arena.zeros([2])?;
    let error = max_rows(&x, &mut short, &mut place).unwrap_err().to_string();
    assert!(error.contains("largest") && error.contains("[1]") && error.contains("[2]"), "{error}");
    Ok(())
}

#[test]
fn reductions_begin_with_the_identity() -> dahl::Result<()> {
    let rt = Runtime::builder().cpu_workers(2).build()?;
    let arena = rt.arena();
    let x = arena.from_slice([3], &[-1.0, -2.0, -3.0].map(bf16::from_f64))?;
    let (total, largest) = sum_and_max_init(&arena, &x)?;
    assert_eq!((total.read()?[[]].to_f64(), largest.read()?[[]].to_f64()), (-6.0, -1.0));
    Ok(())
}

#[test]
fn scratch_and_commute() -> dahl::Result<()> {
    let rt = Runtime::builder().cpu_workers(2).build()?;
    let arena = rt.arena();
    let x = arena.from_slice([3], &[1.0_f32, 4.0, 9.0])?;
    let mut sums: Vector<f32> = arena.zeros([2])?;
    let mut count: Vector<u32> = arena.zeros([1])?;
    for _ in 0..3 {
        differences(&x, &mut sums, &mut count)?;
    }
    assert_eq!((sums.to_vec()?, count.to_vec()?), (vec![9.0, 15.0], vec![3]));
    Ok(())
}

#[test]
fn a_failed_check_shows_both_sides_and_the_line() -> dahl::Result<()> {
    let rt = Runtime::builder().cpu_workers(1).build()?;
    let arena = rt.arena();
    let x = arena.from_slice([3], &[1_u32, 2, 3])?;
    let mut out: Vector<u32> = arena.zeros([2])?;
    tail(&x, &mut out, 1)?;
    assert_eq!(out.to_vec()?, [2, 3]);
    let (error, line) = (tail(&x, &mut out, 2).unwrap_err().to_string(), line!());
    for part in [
        "tail",
        "out.shape()[0] + lost == x.shape()[0]",
        "out.shape()[0] + lost: 4",
        "x.shape()[0]: 3",
        "lost: 2",
    ] {
        assert!(error.contains(part), "{error}");
    }
    assert!(error.contains(&format!("variants.rs:{line}")), "{error}");

    let empty: Matrix<f32> = arena.zeros([2, 0])?;
    let error = max_rows_init(&arena, &empty).map(drop).unwrap_err().to_string();
    assert!(
        error.contains("x.ncols() > 0") && error.contains("x.ncols(): 0") && error.contains("variants.rs"),
        "{error}"
    );
    Ok(())
}

/// The arrays that `init` makes, with their places.
fn made<A, B, V: Variants<A, B>>(rt: &Runtime, arrays: &A, arguments: B) -> Vec<(usize, Vec<u8>)> {
    let mut made = Vec::new();
    let called = V::init(&rt.arena(), arrays, arguments, &mut |place, array| {
        made.push((place, array.bytes().unwrap()));
    });
    called.unwrap().unwrap();
    made
}

/// The numerics that `V` promises for arrays of these types.
fn numerics<V: Variants<A, B>, A, B>(_: &A, _: B) -> dahl::__private::Numerics {
    V::numerics()
}

#[test]
fn every_variant_is_behind_the_trait() -> dahl::Result<()> {
    let rt = Runtime::builder().cpu_workers(1).build()?;
    let x = rt.from_vec([2], vec![1.0_f32, 2.0])?;
    let y = rt.from_vec([2], vec![10.0_f32, 20.0])?;
    let mut arrays = (x, y, rt.from_vec([2], vec![0.0_f32; 2])?);
    <Weighted as Variants<_, _>>::task(&mut arrays, (3.0, 2.0)).submit()?;
    assert_eq!(arrays.2.to_vec()?, [23.0, 46.0]);
    let bytes = [43.0_f32, 86.0].map(f32::to_ne_bytes).concat();
    assert_eq!(made::<_, _, Weighted>(&rt, &arrays, (3.0, 4.0)), [(2, bytes)]);
    <Weighted as Variants<_, _>>::task_self(&mut arrays, (0.5, 1.0)).unwrap().submit()?;
    assert_eq!(arrays.0.to_vec()?, [10.5, 21.0]);

    let x = rt.from_vec([2, 2], vec![1.0_f64, 2.0, 7.0, 3.0])?;
    let mut arrays = (x, rt.from_vec([2], vec![0.0; 2])?, rt.from_vec([2], vec![0_u32; 2])?);
    assert!(<MaxRows as Variants<_, _>>::task_self(&mut arrays, ()).is_none());
    let outputs = [[2.0_f64, 7.0].map(f64::to_ne_bytes).concat(), [1_u32, 0].map(u32::to_ne_bytes).concat()];
    assert_eq!(made::<_, _, MaxRows>(&rt, &arrays, ()), [(1, outputs[0].clone()), (2, outputs[1].clone())]);
    Ok(())
}

#[test]
fn the_scratch_is_no_array_of_the_variants() -> dahl::Result<()> {
    let rt = Runtime::builder().cpu_workers(1).build()?;
    let x = rt.from_vec([3], vec![1.0_f32, 2.0, 4.0])?;
    let mut arrays = (x, rt.from_vec([2], vec![10.0_f32; 2])?, rt.from_vec([1], vec![0_u32])?);
    <Differences as Variants<_, _>>::task(&mut arrays, ()).submit()?;
    assert_eq!(arrays.1.to_vec()?, [11.0, 12.0]);
    assert_eq!(numerics::<Differences, _, _>(&arrays, ()).generic, [true, true, true, false]);
    Ok(())
}
