use dahl::ndarray::{Axis, concatenate, stack as stacked};
use dahl::ops::{concat, concat_init, split, split_init, stack, stack_init, unstack};
use dahl::prelude::*;

use crate::reference::{array, assert_refused, exact};

/// Extents along the axis: one, a prime, none.
const LENGTHS: [usize; 4] = [1, 7, 0, 2];

fn there_and_back<T: Real>() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    for axis in 0..3 {
        let mut shape = [3, 2, 5];
        let inputs = LENGTHS.map(|length| {
            shape[axis] = length;
            array::<T, 3>(&rt, shape, length as u64)
        });
        let values = inputs.each_ref().map(exact);
        let whole = concat_init(&arena, &inputs.each_ref(), axis).unwrap();
        let expected = concatenate(Axis(axis), &values.each_ref().map(|values| values.view())).unwrap();
        assert_eq!(exact(&whole), expected);
        let mut over = array::<T, 3>(&rt, whole.shape(), 99);
        for _ in 0..2 {
            concat(&inputs.each_ref(), &mut over, axis).unwrap();
        }
        assert_eq!(exact(&over), expected);

        let parts = split_init(&arena, &whole, axis, &LENGTHS).unwrap();
        assert_eq!(parts.iter().map(exact).collect::<Vec<_>>(), values);
        let mut outs = inputs.each_ref().map(|input| rt.zeros(input.shape()).unwrap());
        split(&whole, &mut outs.each_mut(), axis).unwrap();
        assert_eq!(outs.each_ref().map(exact), values);
    }
}

fn along_a_new_axis<T: Real>() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    let inputs = [1, 2, 3].map(|seed| array::<T, 2>(&rt, [4, 5], seed));
    let values = inputs.each_ref().map(exact);
    for axis in 0..3 {
        let whole: Block<T> = stack_init(&arena, &inputs.each_ref(), axis).unwrap();
        assert_eq!(
            exact(&whole),
            stacked(Axis(axis), &values.each_ref().map(|values| values.view())).unwrap()
        );
        let mut outs = [0; 3].map(|_| rt.zeros([4, 5]).unwrap());
        unstack(&whole, &mut outs.each_mut(), axis).unwrap();
        assert_eq!(outs.each_ref().map(exact), values);
    }
}

for_each_real!(there_and_back, along_a_new_axis);

/// Tasks that were submitted on the whole before and after, and on the inputs, keep their order.
#[test]
fn in_order_with_other_tasks() {
    let rt = Runtime::new().unwrap();
    let mut a = rt.zeros::<i32, 2>([2, 2]).unwrap();
    let mut whole = rt.zeros([2, 3]).unwrap();
    for round in 1..100 {
        dahl::ops::fill(&mut a, round).unwrap();
        let b = rt.from_vec([2, 1], vec![-round; 2]).unwrap();
        concat(&[&a, &b], &mut whole, 1).unwrap();
        dahl::ops::fill(&mut a, 0).unwrap();
        assert_eq!(whole.to_vec().unwrap(), [round, round, -round, round, round, -round]);
    }
}

#[test]
fn strided_parts() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    let input = rt.from_vec([2, 3], vec![1_u8, 2, 3, 4, 5, 6]).unwrap();
    let columns = input.partition_by(Axis(1), &[1, 2]).unwrap();
    let made = concat_init(&arena, &[&columns[1], &columns[0]], 1).unwrap();
    assert_eq!(made.to_vec().unwrap(), [2, 3, 1, 5, 6, 4]);
    let error = stack_init::<u8, 2, 3>(&arena, &[&columns[1]], 0);
    assert_refused(error, &["not contiguous"]);
}

#[test]
fn wrong_shapes_are_refused_before_anything_is_written() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    let (a, b) = (array::<f32, 2>(&rt, [2, 3], 1), array::<f32, 2>(&rt, [2, 4], 2));
    let mut out = rt.zeros::<f32, 2>([2, 6]).unwrap();
    assert_refused(concat(&[&a, &b], &mut out, 1), &["concat", "[2, 6]", "[2, 7]"]);
    assert_refused(concat(&[&a, &b], &mut out, 0), &["concat", "[2, 3]", "[2, 4]"]);
    assert_refused(concat_init(&arena, &[&a, &b], 2), &["concat", "no axis 2"]);
    assert_refused(concat_init::<f32, 2>(&arena, &[], 0), &["concat", "no arrays"]);
    assert_refused(split(&a, &mut [&mut out], 1), &["split", "[2, 3]", "[2, 6]"]);
    assert_refused(split_init(&arena, &a, 1, &[1, 1]), &["[2, 3]", "sum to 2"]);
    assert_refused(stack_init::<f32, 2, 3>(&arena, &[&a, &b], 0), &["stack", "[2, 3]", "[2, 4]"]);
    assert_refused(stack_init::<f32, 2, 3>(&arena, &[&a], 3), &["stack", "[2, 3]"]);
    assert_refused(stack(&[&a], &mut rt.zeros([2, 2, 3]).unwrap(), 0), &["stack", "[2, 2, 3]", "[1, 2, 3]"]);
    assert_eq!(out.to_vec().unwrap(), [0.0; 12]);
}
