use dahl::ndarray::Axis;
use dahl::ops::{diag, diag_init, diagonal_backward, diagonal_init};
use dahl::prelude::*;

use crate::reference::{array, assert_refused, exact};

fn to_and_from_a_matrix<T: Real>() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    for extent in [0, 1, 2, 13] {
        let input = array::<T, 1>(&rt, [extent], 1);
        let values = exact(&input);
        let matrix = diag_init(&arena, &input).unwrap();
        let made = exact(&matrix);
        for (i, row) in made.outer_iter().enumerate() {
            for (j, &value) in row.iter().enumerate() {
                assert_eq!(value, if i == j { values[i] } else { 0.0 });
            }
        }
        assert_eq!(exact(&diagonal_init(&arena, &matrix).unwrap()), values);
    }
    for [rows, cols] in [[3, 5], [7, 2], [4, 0], [1, 1]] {
        let matrix = array::<T, 2>(&rt, [rows, cols], 1);
        let made = exact(&diagonal_init(&arena, &matrix).unwrap());
        assert_eq!(
            made,
            (0..rows.min(cols))
                .map(|i| exact(&matrix)[[i, i]])
                .collect::<dahl::ndarray::Array1<_>>()
                .into_dyn()
        );
        let gradient = array::<T, 1>(&rt, [rows.min(cols)], 2);
        let mut out = array::<T, 2>(&rt, [rows, cols], 3);
        diagonal_backward(&gradient, &mut out).unwrap();
        for ((i, j), &value) in
            exact(&out).into_dimensionality::<dahl::ndarray::Ix2>().unwrap().indexed_iter()
        {
            assert_eq!(value, if i == j { exact(&gradient)[i] } else { 0.0 });
        }
    }
}

for_each_real!(to_and_from_a_matrix);

#[test]
fn strided_parts_and_wrong_shapes() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    let matrix = rt.from_vec([2, 3], vec![1_u8, 2, 3, 4, 5, 6]).unwrap();
    let columns = matrix.partition_by(Axis(1), &[1, 2]).unwrap();
    assert_eq!(diagonal_init(&arena, &columns[1]).unwrap().to_vec().unwrap(), [2, 6]);
    let input = rt.zeros::<u8, 1>([2]).unwrap();
    assert_refused(diag(&input, &mut rt.zeros([2, 3]).unwrap()), &["diag", "[2, 3]", "[2, 2]"]);
    assert_refused(
        diagonal_backward(&input, &mut rt.zeros([3, 3]).unwrap()),
        &["diagonal_backward", "[3, 3]"],
    );
}
