use dahl::ndarray::Axis;
use dahl::ops::{gather_rows, gather_rows_init, permutation};
use dahl::prelude::*;

use crate::reference::{array, assert_refused, exact};

fn order(rt: &Runtime, length: usize, seed: u64) -> Vec<u32> {
    let mut out = rt.zeros([length]).unwrap();
    permutation(&mut out, seed).unwrap();
    let out = out.read().unwrap();
    out.to_vec()
}

#[test]
fn a_permutation_has_every_index_once_and_depends_on_the_seed() {
    let rt = Runtime::new().unwrap();
    for length in [0, 1, 2, 1009] {
        let mut sorted = order(&rt, length, 7);
        sorted.sort_unstable();
        assert!(sorted.into_iter().eq(0..length as u32));
    }
    assert_eq!(order(&rt, 100, 7), order(&rt, 100, 7));
    assert_ne!(order(&rt, 100, 7), order(&rt, 100, 8));
}

/// Of 6,000 permutations of 3 each of the 6 orders comes about 1,000 times: chi squared with 5 degrees of freedom is
/// above 30 in fewer than 2 of 100,000 cases.
#[test]
fn every_order_is_as_likely() {
    let rt = Runtime::new().unwrap();
    let mut counts = std::collections::BTreeMap::<_, f64>::new();
    for seed in 0..6000 {
        *counts.entry(order(&rt, 3, seed)).or_default() += 1.0;
    }
    assert_eq!(counts.len(), 6);
    let chi_squared: f64 = counts.values().map(|count| (count - 1000.0).powi(2) / 1000.0).sum();
    assert!(chi_squared < 30.0, "{counts:?}");
}

fn gathers<T: Real>() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    let input = array::<T, 3>(&rt, [5, 2, 3], 1);
    let values = exact(&input);
    for indices in [vec![], vec![4], vec![3, 3, 0, 4, 1, 2, 0]] {
        let list = rt.from_vec([indices.len()], indices.clone()).unwrap();
        let mut out = rt.zeros([indices.len(), 2, 3]).unwrap();
        gather_rows(&input, &list, &mut out).unwrap();
        let made = gather_rows_init(&arena, &input, &list).unwrap();
        for results in [exact(&out), exact(&made)] {
            for (row, &index) in results.outer_iter().zip(&indices) {
                assert_eq!(row, values.index_axis(Axis(0), index as usize));
            }
        }
    }
}

for_each_real!(gathers);

#[test]
fn wrong_rows_are_refused() {
    let rt = Runtime::new().unwrap();
    let (input, indices) = (array::<f32, 2>(&rt, [3, 2], 1), rt.from_vec([1], vec![3_u32]).unwrap());
    let mut out = rt.zeros([2, 2]).unwrap();
    assert_refused(gather_rows(&input, &indices, &mut out), &["gather_rows", "[1, 2]", "[2, 2]"]);
    let mut out = rt.zeros([1, 2]).unwrap();
    gather_rows(&input, &indices, &mut out).unwrap();
    assert!(out.read().unwrap_err().to_string().contains("index 3 is not below 3 rows"));
}
