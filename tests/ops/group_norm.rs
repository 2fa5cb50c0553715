use dahl::ops::{group_norm_backward_init, group_norm_init};
use dahl::prelude::*;

use crate::batch_norm::Reference;
use crate::reference::{array, assert_all_close, assert_refused, exact};

/// Compares a group normalisation and its gradients, of any rank.
fn compare<T: Real, const N: usize>(shape: [usize; N], groups: usize) {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    let epsilon = T::from_f64(1.0 / 1024.0);
    let channels = shape[1];
    let (input, gradient) = (array::<T, N>(&rt, shape, 1), array::<T, N>(&rt, shape, 4));
    let (weight, bias) = (array::<T, 1>(&rt, [channels], 2), array::<T, 1>(&rt, [channels], 3));
    let set = |sample: usize, channel: usize| sample * groups + channel / (channels / groups);
    let reference = Reference::new(&shape, epsilon.to_f64(), set);
    let terms = 4 * input.len() + 16;

    let out = group_norm_init(&arena, &input, &weight, &bias, groups, epsilon).unwrap();
    let (expected, size) = reference.forward([&exact(&input), &exact(&weight), &exact(&bias)]);
    assert_all_close(&out, &expected, &size, terms);

    let made = group_norm_backward_init(&arena, &input, &weight, &gradient, groups, epsilon).unwrap();
    let expected = reference.backward([&exact(&input), &exact(&weight), &exact(&gradient)]);
    assert_all_close(&made.0, &expected[0].0, &expected[0].1, terms);
    for (made, (expected, size)) in [&made.1, &made.2].into_iter().zip(&expected[1..]) {
        assert_all_close(made, expected, size, terms);
    }
}

/// Groups of several channels, one of all of them, and instance normalisation.
fn each_rank<T: Real>() {
    compare::<T, 2>([7, 6], 2);
    compare::<T, 3>([3, 4, 11], 4);
    compare::<T, 4>([2, 6, 5, 1300], 3);
    compare::<T, 5>([2, 3, 2, 3, 4], 1);
}

for_each_real!(each_rank);

#[test]
fn wrong_shapes_are_refused() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    let input = array::<f32, 3>(&rt, [4, 6, 3], 1);
    let (six, three) = (array::<f32, 1>(&rt, [6], 2), array::<f32, 1>(&rt, [3], 3));
    for groups in [0, 4, 7] {
        assert_refused(
            group_norm_init(&arena, &input, &six, &six, groups, 0.1),
            &["group_norm", "[4, 6, 3]"],
        );
    }
    assert_refused(group_norm_init(&arena, &input, &three, &six, 2, 0.1), &["group_norm", "[3]"]);
    assert_refused(
        group_norm_backward_init(&arena, &input, &three, &input, 2, 0.1),
        &["group_norm_backward", "[3]"],
    );
}
