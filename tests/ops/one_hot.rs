use dahl::ops::{one_hot, one_hot_init};
use dahl::prelude::*;

use crate::reference::{assert_refused, exact};

fn a_single_one_in_each_row<T: Real>() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    for labels in [vec![], vec![0_u8], vec![2, 0, 1, 2, 2]] {
        let classes = rt.from_vec([labels.len()], labels.clone()).unwrap();
        let mut out: Matrix<T> = rt.from_vec([labels.len(), 3], vec![T::NAN; labels.len() * 3]).unwrap();
        one_hot(&classes, &mut out, 3).unwrap();
        let made: Matrix<T> = one_hot_init(&arena, &classes, 3).unwrap();
        for results in [&out, &made] {
            for (index, &value) in exact(results).indexed_iter() {
                assert_eq!(value, f64::from(usize::from(labels[index[0]]) == index[1]));
            }
        }
    }
}

for_each_real!(a_single_one_in_each_row);

#[test]
fn a_label_out_of_range_fails_the_task() {
    let rt = Runtime::new().unwrap();
    for label in [3, -1] {
        let labels = rt.from_vec([2], vec![0_i64, label]).unwrap();
        let mut out: Matrix<f32> = rt.zeros([2, 3]).unwrap();
        one_hot(&labels, &mut out, 3).unwrap();
        let message = out.read().unwrap_err().to_string();
        assert!(
            message.contains(&format!("label {label} of sample 1")) && message.contains("one_hot"),
            "{message}"
        );
    }
}

#[test]
fn a_wrong_shape_is_refused() {
    let rt = Runtime::new().unwrap();
    let labels = rt.from_vec([2], vec![0_u32, 1]).unwrap();
    let mut out: Matrix<f32> = rt.zeros([2, 4]).unwrap();
    assert_refused(one_hot(&labels, &mut out, 3), &["one_hot", "[2, 4]", "[2, 3]"]);
}
