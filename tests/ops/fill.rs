use dahl::ops::fill;
use dahl::prelude::*;

fn fills_every_element<T: Real>() {
    let rt = Runtime::new().unwrap();
    for shape in [[0, 3, 2], [1, 1, 1], [5, 7, 3]] {
        let mut out = rt.zeros::<T, 3>(shape).unwrap();
        for value in [T::ONE, -T::ZERO, T::INFINITY] {
            fill(&mut out, value).unwrap();
            let out = out.read().unwrap();
            assert!(out.iter().all(|x| *x == value && x.is_sign_negative() == value.is_sign_negative()));
        }
    }
}

for_each_real!(fills_every_element);

#[test]
fn integers_and_scalars() {
    let rt = Runtime::new().unwrap();
    let mut out: Scalar<i64> = rt.zeros([]).unwrap();
    fill(&mut out, -7).unwrap();
    assert_eq!(out.read().unwrap()[[]], -7);
}
