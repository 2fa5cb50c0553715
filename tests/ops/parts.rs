//! Ops on the parts of a partition: strided ones, and sums over parts that add up.

use dahl::ndarray::Axis;
use dahl::ops::{
    Conv2dGeometry, Philox, conv2d, conv2d_init, copy, count_correct, count_correct_init, cross_entropy,
    cross_entropy_init, dot, matmul_add, normal, sum, uniform,
};
use dahl::prelude::*;

use crate::reference::{self, array, assert_all_close, assert_close, exact};

/// Parts of a batch, and parts along the channels, which are strided.
fn convolutions<T: Real>() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    let (input, filters) = (array::<T, 4>(&rt, [5, 4, 6, 7], 1), array::<T, 4>(&rt, [3, 4, 3, 3], 2));
    let (stride, padding) = ([1, 1], [1, 0]);
    let whole = conv2d_init(&arena, &input, &filters, Conv2dGeometry { stride, padding }).unwrap();
    let mut out = rt.zeros(whole.shape()).unwrap();
    let mut parts = out.partition_mut(Axis(0), 2).unwrap();
    for (input, out) in input.partition(Axis(0), 2).unwrap().iter().zip(parts.iter_mut()) {
        conv2d(input, &filters, out, Conv2dGeometry { stride, padding }).unwrap();
    }
    drop(parts);
    assert_eq!(exact(&out), exact(&whole));
    let mut parts = out.partition_mut(Axis(1), 2).unwrap();
    for (filters, out) in filters.partition(Axis(0), 2).unwrap().iter().zip(parts.iter_mut()) {
        conv2d(&input, filters, out, Conv2dGeometry { stride, padding }).unwrap();
    }
    drop(parts);
    for (a, b) in exact(&out).iter().zip(&exact(&whole)) {
        assert!((a - b).abs() <= 8.0 * T::EPSILON.to_f64() * 36.0 * 4.0); // 36 terms of at most 4
    }
}

#[test]
fn copies() {
    let rt = Runtime::new().unwrap();
    let input = rt.from_vec([2, 3], vec![1_u8, 2, 3, 4, 5, 6]).unwrap();
    let mut out = rt.zeros::<u8, 2>([2, 3]).unwrap();
    let from = input.partition(Axis(1), 2).unwrap();
    let mut to = out.partition_mut(Axis(1), 2).unwrap();
    for (from, to) in from.iter().zip(to.iter_mut()) {
        copy(from, to).unwrap();
    }
    drop(to);
    assert_eq!(out.read().unwrap().iter().copied().collect::<Vec<_>>(), [1, 2, 3, 4, 5, 6]);
}

#[test]
fn losses() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    let logits = array::<f64, 2>(&rt, [23, 5], 1);
    let labels = rt.from_vec([23], (0..23).map(|sample| sample % 5).collect::<Vec<u32>>()).unwrap();
    let whole = cross_entropy_init(&arena, &logits, &labels, 0.125).unwrap();
    let counted = count_correct_init(&arena, &logits, &labels).unwrap();
    let (mut loss, mut count) = (rt.zeros::<f64, 0>([]).unwrap(), rt.zeros::<u32, 0>([]).unwrap());
    let parts = (logits.partition(Axis(0), 4).unwrap(), labels.partition(Axis(0), 4).unwrap());
    for (logits, labels) in parts.0.iter().zip(parts.1.iter()) {
        cross_entropy(logits, labels, &mut loss, 0.125).unwrap();
        count_correct(logits, labels, &mut count).unwrap();
    }
    let expected = whole.read().unwrap()[[]];
    assert_close(loss.read().unwrap()[[]], expected, expected, 24);
    assert_eq!(count.read().unwrap()[[]], counted.read().unwrap()[[]]);
}

#[test]
fn inner_products() {
    let rt = Runtime::new().unwrap();
    let x = rt.from_vec([1000], vec![0.5_f32; 1000]).unwrap();
    let mut out: Scalar<f32> = rt.zeros([]).unwrap();
    for part in x.partition(Axis(0), 33).unwrap().iter() {
        dot(part, part, &mut out).unwrap();
    }
    assert_eq!(out.read().unwrap()[[]], 250.0);
}

/// Column parts of the operands are strided; the products of parts of the inner dimension add up.
fn products<T: Real>() {
    let rt = Runtime::new().unwrap();
    let (a, b) = (array::<T, 2>(&rt, [11, 10], 1), array::<T, 2>(&rt, [10, 13], 2));
    let mut out: Matrix<T> = rt.zeros([11, 13]).unwrap();
    let (a_parts, b_parts) = (a.partition(Axis(1), 4).unwrap(), b.partition(Axis(0), 4).unwrap());
    for (a, b) in a_parts.iter().zip(b_parts.iter()) {
        matmul_add(a, b, &mut out).unwrap();
    }
    let (exact_a, exact_b) = (exact(&a), exact(&b));
    let magnitude = reference::matmul(exact_a.mapv(f64::abs).view(), exact_b.mapv(f64::abs).view());
    assert_all_close(&out, &reference::matmul(exact_a.view(), exact_b.view()), &magnitude, 14);
}

/// Filled in parts of an odd number of rows or whole, an array has the same numbers.
#[test]
fn random_numbers() {
    let rt = Runtime::new().unwrap();
    for op in [uniform::<f64, 2>, normal::<f64, 2>] {
        let (mut whole, mut parted) = (rt.zeros([101, 3]).unwrap(), rt.zeros([101, 3]).unwrap());
        op(&mut whole, 0.0, 1.0, Philox::new(7)).unwrap();
        for (i, part) in parted.partition_mut(Axis(0), 7).unwrap().iter_mut().enumerate() {
            op(part, 0.0, 1.0, Philox::new(7).skip(i as u64 * 7 * 3)).unwrap();
        }
        assert_eq!(exact(&whole), exact(&parted));
    }
}

/// If terms are added one by one, 16-bit sums stop at 2,048 or 256; rounded once, they are exact.
fn sums<T: Real>() {
    let rt = Runtime::new().unwrap();
    let ones: Matrix<T> = rt.from_vec([20_000, 3], vec![T::ONE; 60_000]).unwrap();
    let mut total: Scalar<T> = rt.zeros([]).unwrap();
    for part in ones.partition(Axis(0), 999).unwrap().iter() {
        sum(part, &mut total).unwrap();
    }
    assert_eq!(total.read().unwrap()[[]], T::from_f64(60_000.0));
}

for_each_real!(convolutions, products, sums);
