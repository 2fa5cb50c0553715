use dahl::ops::{
    Pool2dGeometry, PoolGeometry, avg_pool_init, avg_pool2d_init, max_pool_backward_init, max_pool_init,
    max_pool2d_init,
};
use dahl::prelude::*;

use crate::reference::{array, assert_refused};

/// Sums of few small integers are exact in every type.
fn small_integers<T: Real, const N: usize>(rt: &Runtime, shape: [usize; N]) -> Array<'static, T, N> {
    let len = shape.iter().product();
    rt.from_vec(shape, (0..len).map(|i| T::from_f64((i * 7 % 13) as f64)).collect()).unwrap()
}

fn of_images_it_is_pool2d<T: Real>() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    let input = small_integers::<T, 4>(&rt, [2, 3, 9, 8]);
    for (size, stride, padding) in
        [([2, 2], [2, 2], [0, 0]), ([2, 4], [1, 3], [1, 2]), ([1, 2], [3, 2], [0, 1])]
    {
        let (of_images, general) = (
            Pool2dGeometry { size, stride, padding },
            PoolGeometry::new(size).stride(stride).padding(padding),
        );
        let (expected, places) = max_pool2d_init(&arena, &input, of_images).unwrap();
        let (made, index) = max_pool_init(&arena, &input, general).unwrap();
        assert_eq!(made.to_vec().unwrap(), expected.to_vec().unwrap());
        assert_eq!(index.to_vec().unwrap(), places.to_vec().unwrap());
        let expected = avg_pool2d_init(&arena, &input, of_images).unwrap();
        let made = avg_pool_init(&arena, &input, general).unwrap();
        assert_eq!(made.to_vec().unwrap(), expected.to_vec().unwrap());
    }
}

for_each_real!(of_images_it_is_pool2d);

/// The results of PyTorch 2: `max_pool1d`, `avg_pool1d`.
#[test]
fn of_signals() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    let input = rt.from_vec([1, 1, 6], vec![1.0_f32, 5.0, 2.0, 3.0, 9.0, 4.0]).unwrap();
    let plain = PoolGeometry::new([3]).stride([2]);
    let maxima = |geometry| {
        let (out, index) = max_pool_init(&arena, &input, geometry).unwrap();
        (out.to_vec().unwrap(), index.to_vec().unwrap())
    };
    assert_eq!(maxima(plain), (vec![5.0, 9.0], vec![1, 4]));
    assert_eq!(maxima(plain.ceil()), (vec![5.0, 9.0, 9.0], vec![1, 4, 4]));
    assert_eq!(maxima(plain.padding([1])), (vec![5.0, 5.0, 9.0], vec![1, 1, 4]));
    assert_eq!(maxima(plain.dilation([2])), (vec![9.0], vec![4]));
    let means = |geometry| avg_pool_init(&arena, &input, geometry).unwrap().to_vec().unwrap();
    assert_eq!(means(plain.padding([1])), [2.0, 10.0 / 3.0, 16.0 / 3.0]);
    assert_eq!(means(plain.padding([1]).without_padding()), [3.0, 10.0 / 3.0, 16.0 / 3.0]);
    // What is beyond the padding never counts.
    assert_eq!(means(plain.ceil()), [8.0 / 3.0, 14.0 / 3.0, 6.5]);
    assert_eq!(means(plain.padding([1]).stride([3]).ceil()), [2.0, 14.0 / 3.0, 2.0]);
}

/// A window that would begin in the padding behind the input is left out.
#[test]
fn windows_begin_on_the_input() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    let input = array::<f32, 3>(&rt, [1, 1, 3], 1);
    let geometry = PoolGeometry::new([2]).stride([4]).padding([1]).ceil();
    assert_eq!(avg_pool_init(&arena, &input, geometry).unwrap().shape(), [1, 1, 1]);
}

#[test]
fn special_values() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    let (low, nan) = (f32::NEG_INFINITY, f32::NAN);
    let input = rt.from_vec([1, 1, 8], vec![low, low, 1.0, nan, nan, 2.0, 3.0, 3.0]).unwrap();
    let (out, index) = max_pool_init(&arena, &input, PoolGeometry::new([2])).unwrap();
    assert_eq!(index.to_vec().unwrap(), [0, 3, 4, 6]);
    let out = out.to_vec().unwrap();
    assert!(out[0] == low && out[1].is_nan() && out[2].is_nan() && out[3] == 3.0);
}

#[test]
fn places_out_of_range_fail() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    let gradient = array::<f32, 3>(&rt, [1, 1, 1], 1);
    let index = rt.from_vec([1, 1, 1], vec![4_u32]).unwrap();
    assert_eq!(max_pool_backward_init(&arena, &gradient, &index, [5]).unwrap().len(), 5);
    assert!(max_pool_backward_init(&arena, &gradient, &index, [4]).unwrap().to_vec().is_err());
}

#[test]
fn wrong_windows_are_refused() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    let input = array::<f32, 3>(&rt, [2, 3, 4], 1);
    for geometry in [
        PoolGeometry::new([5]),
        PoolGeometry::new([0]),
        PoolGeometry::new([2]).stride([0]),
        PoolGeometry::new([2]).dilation([0]),
        PoolGeometry::new([2]).padding([2]),
        PoolGeometry::new([2]).padding([usize::MAX]),
        PoolGeometry::new([2]).padding([5]).dilation([9]),
    ] {
        assert_refused(max_pool_init(&arena, &input, geometry), &["max_pool", "[2, 3, 4]"]);
        assert_refused(avg_pool_init(&arena, &input, geometry), &["avg_pool", "[2, 3, 4]"]);
    }
    assert_refused(max_pool_init(&arena, &input, PoolGeometry::new([2, 2])), &["max_pool", "[2, 3, 4]"]);
}
