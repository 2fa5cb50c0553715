use dahl::ndarray::Axis;
use dahl::ops::{arg_max_init, arg_min, arg_min_init};
use dahl::prelude::*;

use crate::reference::{along, array, assert_refused, exact};

fn along_each_axis<T: Real>() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    for shape in [[1, 1, 1], [2, 3, 5], [131, 7, 1], [1, 2, 37], [3, 67, 17]] {
        let input = array::<T, 3>(&rt, shape, 1);
        for axis in 0..3 {
            let places = |smallest: bool| {
                along(&exact(&input), axis, |lane| {
                    let before = |a: f64, b: f64| if smallest { a < b } else { a > b };
                    (1..lane.len()).fold(0, |best, i| if before(lane[i], lane[best]) { i } else { best })
                        as f64
                })
            };
            let lowest = arg_min_init(&arena, &input, axis).unwrap();
            let highest = arg_max_init(&arena, &input, axis).unwrap();
            assert_eq!(lowest.read().unwrap().mapv(f64::from).into_dyn(), places(true));
            assert_eq!(highest.read().unwrap().mapv(f64::from).into_dyn(), places(false));
        }
    }
}

fn the_first_of_equal_ones_and_of_nan<T: Real>() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    let rows =
        [[2.0, 1.0, 1.0, 2.0], [0.0, f64::NAN, -1.0, f64::NAN], [f64::INFINITY, 0.0, f64::NEG_INFINITY, 0.0]];
    let input = rt.from_vec([3, 4], rows.concat().into_iter().map(T::from_f64).collect()).unwrap();
    assert_eq!(arg_min_init(&arena, &input, 1).unwrap().to_vec().unwrap(), [1, 1, 2]);
    assert_eq!(arg_max_init(&arena, &input, 1).unwrap().to_vec().unwrap(), [0, 1, 0]);
    assert_eq!(arg_min_init(&arena, &input, 0).unwrap().to_vec().unwrap(), [1, 1, 2, 1]);
}

for_each_real!(along_each_axis, the_first_of_equal_ones_and_of_nan);

#[test]
fn parts_and_integers() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    let input = rt.from_vec([2, 3], vec![3_i32, 1, 2, 0, 5, 4]).unwrap();
    let columns = input.partition(Axis(1), 2).unwrap();
    assert_eq!(arg_min_init(&arena, &columns[0], 1).unwrap().to_vec().unwrap(), [1, 0]);
    assert_eq!(arg_max_init(&arena, &columns[0], 0).unwrap().to_vec().unwrap(), [0, 1]);
}

#[test]
fn wrong_shapes_are_refused() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    let input = array::<f32, 2>(&rt, [2, 3], 1);
    assert_refused(arg_min(&input, &mut rt.zeros([2, 3]).unwrap(), 0), &["arg_min", "[2, 3]", "[1, 3]"]);
    assert_refused(arg_min_init(&arena, &input, 2), &["arg_min", "[2, 3]"]);
    assert_refused(arg_min_init(&arena, &rt.zeros::<f32, 2>([2, 0]).unwrap(), 1), &["arg_min", "[2, 0]"]);
}
