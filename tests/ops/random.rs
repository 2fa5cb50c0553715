use dahl::ops::{Philox, normal, uniform};
use dahl::prelude::*;

use crate::reference::exact;

const COUNT: usize = 20_011;

/// The same numbers in every type, up to one rounding.
fn types_agree<T: Real>() {
    let rt = Runtime::new().unwrap();
    let (mut numbers, mut wide) = (rt.zeros::<T, 1>([257]).unwrap(), rt.zeros::<f64, 1>([257]).unwrap());
    uniform(&mut numbers, -3.0, 5.0, Philox::new(42)).unwrap();
    uniform(&mut wide, -3.0, 5.0, Philox::new(42)).unwrap();
    assert_eq!(exact(&numbers), exact(&wide).mapv(|x| T::from_f64(x).to_f64()));
    normal(&mut numbers, 1.0, 2.0, Philox::new(42)).unwrap();
    normal(&mut wide, 1.0, 2.0, Philox::new(42)).unwrap();
    assert_eq!(exact(&numbers), exact(&wide).mapv(|x| T::from_f64(x).to_f64()));
}

for_each_real!(types_agree);

/// The largest distance between the distribution function of a sample and the expected one, times the square root of
/// its size; above 2 in fewer than 7 of 10,000 samples (Kolmogorov).
fn kolmogorov(mut sample: Vec<f64>, distribution: impl Fn(f64) -> f64) -> f64 {
    sample.sort_by(f64::total_cmp);
    let count = sample.len() as f64;
    let distance = |(i, &x): (usize, &f64)| {
        let expected = distribution(x);
        (expected - i as f64 / count).abs().max((expected - (i + 1) as f64 / count).abs())
    };
    sample.iter().enumerate().map(distance).fold(0.0, f64::max) * count.sqrt()
}

#[test]
fn distributions() {
    let rt = Runtime::new().unwrap();
    let mut out = rt.zeros::<f64, 1>([COUNT]).unwrap();
    uniform(&mut out, -3.0, 5.0, Philox::new(1)).unwrap();
    let sample = exact(&out).into_raw_vec_and_offset().0;
    assert!(sample.iter().all(|x| (-3.0..5.0).contains(x)));
    assert!(kolmogorov(sample, |x| (x + 3.0) / 8.0) < 2.0);

    normal(&mut out, 1.0, 2.0, Philox::new(1)).unwrap();
    let sample = exact(&out).into_raw_vec_and_offset().0;
    let correlation: f64 = sample.windows(2).map(|x| (x[0] - 1.0) * (x[1] - 1.0) / 4.0).sum();
    assert!(correlation.abs() / (COUNT as f64).sqrt() < 4.0);
    assert!(kolmogorov(sample, |x| normal_distribution((x - 1.0) / 2.0)) < 2.0);
}

/// The distribution function of the normal distribution, by Simpson's rule from 0.
fn normal_distribution(x: f64) -> f64 {
    let density = |x: f64| (-x * x / 2.0).exp() / std::f64::consts::TAU.sqrt();
    let step = x / 200.0;
    let weight = |i: u32| {
        if i == 0 || i == 200 {
            1.0
        } else if i % 2 == 1 {
            4.0
        } else {
            2.0
        }
    };
    0.5 + (0..=200).map(|i| weight(i) * density(f64::from(i) * step)).sum::<f64>() * step / 3.0
}

#[test]
fn seeds_differ() {
    let rt = Runtime::new().unwrap();
    let (mut first, mut second) = (rt.zeros::<f32, 1>([9]).unwrap(), rt.zeros::<f32, 1>([9]).unwrap());
    uniform(&mut first, 0.0, 1.0, Philox::new(1)).unwrap();
    uniform(&mut second, 0.0, 1.0, Philox::new(1 << 32)).unwrap();
    assert!(exact(&first).iter().zip(&exact(&second)).all(|(a, b)| a != b));
}

/// Every number is in the interval from the rounded lower bound up to the rounded upper one, which it excludes.
fn intervals_are_half_open<T: Real>() {
    let rt = Runtime::new().unwrap();
    let mut out = rt.zeros::<T, 1>([COUNT]).unwrap();
    let largest = T::MAX.to_f64();
    let last = 1.0 + T::EPSILON.to_f64();
    for (low, high) in [(0.0, 1.0), (1.0, last), (-1.0, 0.0), (-3.0, 5.0), (-largest, largest), (2.0, 2.0)] {
        uniform(&mut out, low, high, Philox::new(7)).unwrap();
        let numbers = exact(&out);
        let end = T::from_f64(high).to_f64();
        assert!(numbers.iter().all(|&x| low <= x && (x < end || low == end)), "[{low}, {high})");
        assert!(numbers.iter().all(|x| x.is_finite()));
    }
}

for_each_real!(intervals_are_half_open);

#[test]
fn what_is_no_interval_and_no_deviation_is_refused_at_the_call() {
    let rt = Runtime::new().unwrap();
    let mut out = rt.zeros::<f32, 1>([4]).unwrap();
    let numbers = Philox::new(1);
    let none = [(1.0, 0.0), (f64::NAN, 1.0), (0.0, f64::NAN), (0.0, f64::INFINITY)];
    for (low, high) in none {
        crate::reference::assert_refused(uniform(&mut out, low, high, numbers), &["D0003", "uniform", "low"]);
    }
    for (mean, deviation) in [(0.0, -1.0), (0.0, f64::NAN), (0.0, f64::INFINITY), (f64::NAN, 1.0)] {
        crate::reference::assert_refused(normal(&mut out, mean, deviation, numbers), &["D0003", "normal"]);
    }
    normal(&mut out, 3.0, 0.0, numbers).unwrap();
    assert_eq!(out.to_vec().unwrap(), [3.0; 4]);
}
