use dahl::ndarray::{ArrayD, Axis};
use dahl::ops::{
    gather, gather_backward, gather_init, index_select, index_select_backward, index_select_init, scatter_add,
};
use dahl::prelude::*;

use crate::reference::{array, assert_all_close, assert_refused, exact, numbers};

/// Indices below `count`, each of them often.
fn indices<const N: usize>(rt: &Runtime, shape: [usize; N], count: usize) -> Array<'static, u32, N> {
    let numbers = numbers::<f64>(shape.iter().product(), 9);
    rt.from_vec(shape, numbers.into_iter().map(|x| ((x + 2.0) / 4.0 * count as f64) as u32).collect())
        .unwrap()
}

fn along_each_axis<T: Real>() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    for (shape, shorter) in [([1, 1, 1], 0), ([5, 3, 7], 1), ([2, 4, 3], 2), ([4, 67, 2], 0)] {
        let input = array::<T, 3>(&rt, shape, 1);
        for axis in 0..3 {
            for count in [0, 1, shape[axis], 2 * shape[axis] + 1] {
                let mut extents = shape.map(|extent| extent - shorter.min(extent - 1));
                extents[axis] = count;
                let index = indices(&rt, extents, shape[axis]);
                let places = index.read().unwrap().mapv(|index| index as usize).into_dyn();
                let place = |at: &dahl::ndarray::IxDyn| {
                    let mut place = at.clone();
                    place[axis] = places[at.clone()];
                    place
                };
                let made = gather_init(&arena, &input, &index, axis).unwrap();
                let values = exact(&input);
                let gathered = ArrayD::from_shape_fn(places.raw_dim(), |at| values[place(&at)]);
                assert_eq!(exact(&made), gathered);

                let gradient = array::<T, 3>(&rt, extents, 2);
                let mut out = array::<T, 3>(&rt, shape, 3);
                let (mut sums, mut magnitude) = (exact(&out), exact(&out).mapv(f64::abs));
                for (at, gradient) in exact(&gradient).indexed_iter() {
                    sums[place(&at)] += gradient;
                    magnitude[place(&at)] += gradient.abs();
                }
                gather_backward(&gradient, &index, &mut out, axis).unwrap();
                assert_all_close(&out, &sums, &magnitude, 3);
            }
        }
    }
}

fn whole_slices<T: Real>() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    let shape = [5, 3, 7];
    let input = array::<T, 3>(&rt, shape, 1);
    for axis in 0..3 {
        for count in [0, 1, 13] {
            let index = indices(&rt, [count], shape[axis]);
            let places = index.to_vec().unwrap().into_iter().map(|place| place as usize).collect::<Vec<_>>();
            let made = index_select_init(&arena, &input, &index, axis).unwrap();
            assert_eq!(exact(&made), exact(&input).select(Axis(axis), &places));

            let gradient = array::<T, 3>(&rt, made.shape(), 2);
            let mut out = array::<T, 3>(&rt, shape, 3);
            let (mut sums, mut magnitude) = (exact(&out), exact(&out).mapv(f64::abs));
            for (gradient, &place) in exact(&gradient).axis_iter(Axis(axis)).zip(&places) {
                let mut sums = sums.index_axis_mut(Axis(axis), place);
                sums += &gradient;
                let mut magnitude = magnitude.index_axis_mut(Axis(axis), place);
                magnitude += &gradient.mapv(f64::abs);
            }
            index_select_backward(&gradient, &index, &mut out, axis).unwrap();
            assert_all_close(&out, &sums, &magnitude, 3);
        }
    }
}

/// If terms are added one by one, the sum stops at 2,048 in `f16`, and at 256 in `bf16`.
fn an_index_that_occurs_often<T: Real>() {
    let rt = Runtime::new().unwrap();
    let mut out = rt.zeros::<T, 1>([2]).unwrap();
    let gradient = rt.from_vec([50_000], vec![T::from_f64(0.75); 50_000]).unwrap();
    gather_backward(&gradient, &rt.from_vec([50_000], vec![1; 50_000]).unwrap(), &mut out, 0).unwrap();
    assert_eq!(out.to_vec().unwrap(), [T::ZERO, T::from_f64(37_500.0)]);
}

fn scattered<T: Real>() {
    let rt = Runtime::new().unwrap();
    let (values, index) = (array::<T, 2>(&rt, [3, 17], 1), indices(&rt, [3, 17], 5));
    let [mut out, mut same] = [0, 1].map(|_| array::<T, 2>(&rt, [4, 5], 2));
    scatter_add(&values, &index, &mut out, 1).unwrap();
    gather_backward(&values, &index, &mut same, 1).unwrap();
    assert_eq!(out.to_vec().unwrap(), same.to_vec().unwrap());
    let refused = scatter_add(&values, &indices(&rt, [3, 16], 5), &mut out, 1);
    assert_refused(refused, &["[3, 17]", "[3, 16]"]);
}

for_each_real!(scattered, along_each_axis, whole_slices, an_index_that_occurs_often);

/// If terms are added one by one in f32, `1e8 + 1 + .. + 1` stays `1e8`.
#[test]
fn small_terms_beside_a_large_one() {
    let rt = Runtime::new().unwrap();
    let mut out = rt.from_vec([1], vec![1e8_f32]).unwrap();
    let gradient = rt.from_vec([1000], vec![1.0_f32; 1000]).unwrap();
    gather_backward(&gradient, &rt.zeros([1000]).unwrap(), &mut out, 0).unwrap();
    assert_eq!(out.to_vec().unwrap(), [1e8 + 1000.0]);
}

#[test]
fn strided_parts() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    let input = rt.from_vec([2, 3], vec![1_u8, 2, 3, 4, 5, 6]).unwrap();
    let columns = input.partition_by(Axis(1), &[1, 2]).unwrap();
    let index = rt.from_vec([2, 2], vec![1_u32, 0, 0, 1]).unwrap();
    assert_eq!(gather_init(&arena, &columns[1], &index, 1).unwrap().to_vec().unwrap(), [3, 2, 5, 6]);
    assert_eq!(gather_init(&arena, &columns[1], &index, 0).unwrap().to_vec().unwrap(), [5, 3, 2, 6]);
    let rows = rt.from_vec([1], vec![1_u32]).unwrap();
    assert_eq!(index_select_init(&arena, &columns[1], &rows, 1).unwrap().to_vec().unwrap(), [3, 6]);
}

#[test]
fn an_index_out_of_range_fails_the_task_and_is_named() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    let input = rt.zeros::<f32, 2>([2, 3]).unwrap();
    let index = rt.from_vec([1, 2], vec![1_u32, 7]).unwrap();
    let message = |result: dahl::Result<Vec<f32>>| result.unwrap_err().to_string();
    let error = message(gather_init(&arena, &input, &index, 1).unwrap().to_vec());
    assert!(error.contains("index 7 at 1 of axis 1 is not below the extent 3"), "{error}");
    let index = rt.from_vec([2], vec![0_u32, 2]).unwrap();
    let error = message(index_select_init(&arena, &input, &index, 0).unwrap().to_vec());
    assert!(error.contains("index 2 at 1 of axis 0 is not below the extent 2"), "{error}");
    let mut out = rt.zeros::<f32, 1>([2]).unwrap();
    gather_backward(&rt.zeros([2]).unwrap(), &index, &mut out, 0).unwrap();
    let error = message(out.to_vec());
    assert!(error.contains("index 2 at 1 of axis 0 is not below the extent 2"), "{error}");
    let none = rt.zeros::<f32, 2>([0, 3]).unwrap();
    let index = rt.zeros::<u32, 2>([1, 3]).unwrap();
    assert!(message(gather_init(&arena, &none, &index, 0).unwrap().to_vec()).contains("extent 0"));
}

#[test]
fn wrong_shapes_are_refused() {
    let rt = Runtime::new().unwrap();
    let input = array::<f32, 2>(&rt, [2, 3], 1);
    let index = rt.zeros::<u32, 2>([3, 3]).unwrap();
    let mut out = rt.zeros([3, 3]).unwrap();
    assert_refused(gather(&input, &index, &mut out, 1), &["gather", "[2, 3]", "[3, 3]"]);
    gather(&input, &index, &mut out, 0).unwrap();
    assert_refused(
        gather(&input, &index, &mut rt.zeros([2, 3]).unwrap(), 0),
        &["gather", "[2, 3]", "[3, 3]"],
    );
    assert_refused(gather(&input, &index, &mut out, 2), &["gather", "[2, 3]"]);
    assert_refused(gather_backward(&input, &index, &mut out, 0), &["gather_backward", "[2, 3]"]);
    let indices = rt.zeros::<u32, 1>([3]).unwrap();
    assert_refused(index_select(&input, &indices, &mut out, 1), &["index_select", "[3, 3]", "[2, 3]"]);
    assert_refused(
        index_select_backward(&input, &indices, &mut out, 0),
        &["index_select_backward", "[2, 3]"],
    );
}
