//! Comparison, selection, the larger and smaller of two, and limits: NaN, ties and zeros of both signs.

use dahl::ops;
use dahl::prelude::*;

use crate::reference::{array, assert_refused, assert_value};

const NAN: f64 = f64::NAN;
const INFINITY: f64 = f64::INFINITY;

/// Below, equal, above, zeros, NaN on either side.
const PAIRS: [(f32, f32); 7] =
    [(1.0, 2.0), (2.0, 2.0), (3.0, 2.0), (0.0, -0.0), (f32::NAN, 1.0), (1.0, f32::NAN), (f32::NAN, f32::NAN)];

#[test]
fn comparisons_give_zero_or_one() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    let x = rt.from_vec([7], PAIRS.map(|pair| pair.0).to_vec()).unwrap();
    let y = rt.from_vec([7], PAIRS.map(|pair| pair.1).to_vec()).unwrap();
    let of = |mask: dahl::Result<Vector<'_, u8>>| mask.unwrap().to_vec().unwrap();
    assert_eq!(of(ops::equal_init(&arena, &x, &y)), [0, 1, 0, 1, 0, 0, 0]);
    assert_eq!(of(ops::not_equal_init(&arena, &x, &y)), [1, 0, 1, 0, 1, 1, 1]);
    assert_eq!(of(ops::less_init(&arena, &x, &y)), [1, 0, 0, 0, 0, 0, 0]);
    assert_eq!(of(ops::less_equal_init(&arena, &x, &y)), [1, 1, 0, 1, 0, 0, 0]);
    assert_eq!(of(ops::greater_init(&arena, &x, &y)), [0, 0, 1, 0, 0, 0, 0]);
    assert_eq!(of(ops::greater_equal_init(&arena, &x, &y)), [0, 1, 1, 1, 0, 0, 0]);
}

#[test]
fn select_takes_any_number_but_zero_for_true_and_stretches() {
    let rt = Runtime::new().unwrap();
    let (arena, tape) = (rt.arena(), rt.tape());
    let mask = rt.from_vec([2, 1], vec![0_u8, 7]).unwrap();
    let x = rt.from_vec([1, 2], vec![1.0_f32, f32::NAN]).unwrap();
    let y = rt.from_vec([2, 2], vec![3.0, 4.0, 5.0, 6.0]).unwrap();
    let selected = ops::select_init(&arena, &mask, &x, &y).unwrap().to_vec().unwrap();
    assert_eq!(selected[..3], [3.0, 4.0, 1.0]);
    assert!(selected[3].is_nan());
    let wide = rt.from_vec([2, 2], vec![0_u8, 7, 1, 0]).unwrap();
    let z = rt.zeros([2, 2]).unwrap();
    let selected = ops::select_init(&tape, &wide, &y, &z).unwrap();
    let (by_y, by_z) = tape.gradients_from(&selected, &y, (&y, &z)).unwrap();
    assert_eq!(by_y.to_vec().unwrap(), [0.0, 4.0, 5.0, 0.0]);
    assert_eq!(by_z.to_vec().unwrap(), [3.0, 0.0, 0.0, 6.0]);
}

#[test]
fn the_larger_of_two_shares_a_tie() {
    let rt = Runtime::new().unwrap();
    let tape = rt.tape();
    let x = rt.from_vec([7], PAIRS.map(|pair| pair.0).to_vec()).unwrap();
    let y = rt.from_vec([7], PAIRS.map(|pair| pair.1).to_vec()).unwrap();
    let gradient = rt.from_vec([7], vec![3.0_f32; 7]).unwrap();
    let (below, above) = ([0.0, 1.5, 3.0, 1.5, 3.0, 3.0, 3.0], [3.0, 1.5, 0.0, 1.5, 3.0, 3.0, 3.0]);
    let larger = ops::maximum_init(&tape, &x, &y).unwrap();
    let (by_x, by_y) = tape.gradients_from(&larger, &gradient, (&x, &y)).unwrap();
    assert_eq!((by_x.to_vec().unwrap(), by_y.to_vec().unwrap()), (below.to_vec(), above.to_vec()));
    let smaller = ops::minimum_init(&tape, &x, &y).unwrap();
    let (by_x, by_y) = tape.gradients_from(&smaller, &gradient, (&x, &y)).unwrap();
    assert_eq!((by_x.to_vec().unwrap(), by_y.to_vec().unwrap()), (above.to_vec(), below.to_vec()));
}

values_of_one! {
    clip_init(-0.5, 2.0): [(-1.0, -0.5), (1.0, 1.0), (3.0, 2.0), (-0.0, -0.0), (INFINITY, 2.0), (-INFINITY, -0.5), (NAN, NAN)];
}

values_of_two! {
    maximum_init(): [(1.0, 2.0, 2.0), (0.0, -0.0, 0.0), (-0.0, 0.0, 0.0), (NAN, 1.0, NAN), (1.0, NAN, NAN), (-INFINITY, 1.0, 1.0)];
    minimum_init(): [(1.0, 2.0, 1.0), (0.0, -0.0, -0.0), (-0.0, 0.0, -0.0), (NAN, 1.0, NAN), (1.0, NAN, NAN), (-INFINITY, 1.0, -INFINITY)];
}

gradients_of_one! {
    clip_by_x: clip_init(-0.5, 2.0): [(-1.0, 3.0, 0.0), (-0.5, 3.0, 3.0), (1.0, 3.0, 3.0), (2.0, 3.0, 3.0), (2.5, 3.0, 0.0), (NAN, 3.0, 0.0)];
}

#[test]
fn wrong_shapes_are_refused() {
    let rt = Runtime::new().unwrap();
    let (x, y) = (array::<f32, 2>(&rt, [2, 3], 1), array::<f32, 2>(&rt, [3, 2], 1));
    let mut mask = rt.zeros([2, 3]).unwrap();
    assert_refused(ops::less(&x, &y, &mut mask), &["less", "[2, 3]", "[3, 2]"]);
}

#[test]
fn logical_and_takes_any_number_but_zero_for_true_and_stretches() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    let x = rt.from_vec([2, 3], vec![0_u8, 1, 7, 255, 0, 2]).unwrap();
    let y = rt.from_vec([1, 3], vec![3_u8, 0, 128]).unwrap();
    assert_eq!(ops::logical_and_init(&arena, &x, &y).unwrap().to_vec().unwrap(), [0, 0, 1, 1, 0, 1]);
}
