//! Cells of recurrent networks: each column of a state is computed as if it were alone, at every width. Their values are compared
//! with PyTorch's in dahl-nn.

use dahl::ops::{gru_cell, gru_cell_backward, lstm_cell, lstm_cell_backward};
use dahl::prelude::*;

/// Below, at, and above the number of elements that are computed side by side.
const WIDTHS: [usize; 5] = [1, 5, 32, 33, 70];
const ROWS: usize = 3;

/// Numbers from -4 to 4, others for each `seed`: `[ROWS, width]`.
fn matrix<T: Real>(rt: &Runtime, width: usize, seed: usize) -> Matrix<'static, T> {
    let value = |i: usize| T::from_f64(((i * 37 + seed * 101) % 81) as f64 / 10.0 - 4.0);
    rt.from_vec([ROWS, width], (0..ROWS * width).map(value).collect()).unwrap()
}

/// The elements of `column` of each of the parts, `width` wide, that a row has.
fn column<T: Real>(rt: &Runtime, whole: &Matrix<'_, T>, width: usize, column: usize) -> Matrix<'static, T> {
    let (values, all) = (whole.to_vec().unwrap(), whole.shape()[1]);
    let parts = all / width;
    let at = |i: usize| values[i / parts * all + i % parts * width + column];
    rt.from_vec([ROWS, parts], (0..ROWS * parts).map(at).collect()).unwrap()
}

/// Runs a cell on arrays whose widths are multiples of one width, and on each of their columns.
fn assert_columns_are_apart<T: Real>(
    inputs: &[usize],
    outputs: &[usize],
    cell: impl Fn(&[Matrix<'_, T>], &mut [Matrix<'_, T>]),
) {
    let rt = Runtime::builder().cpu_workers(1).build().unwrap();
    let zeros = |width: usize| -> Vec<Matrix<'static, T>> {
        outputs.iter().map(|parts| rt.zeros([ROWS, parts * width]).unwrap()).collect()
    };
    for width in WIDTHS {
        let inputs: Vec<_> =
            inputs.iter().enumerate().map(|(seed, parts)| matrix::<T>(&rt, parts * width, seed)).collect();
        let mut whole = zeros(width);
        cell(&inputs, &mut whole);
        for index in 0..width {
            let alone: Vec<_> = inputs.iter().map(|input| column(&rt, input, width, index)).collect();
            let mut expected = zeros(1);
            cell(&alone, &mut expected);
            for (whole, expected) in whole.iter().zip(&expected) {
                let found = column(&rt, whole, width, index).to_vec().unwrap();
                assert_eq!(found, expected.to_vec().unwrap(), "column {index} of {width}");
            }
        }
    }
}

fn lstm<T: Real>() {
    assert_columns_are_apart::<T>(&[4, 1], &[1, 1], |inputs, outputs| {
        let [hidden, next] = outputs else { unreachable!() };
        lstm_cell(&inputs[0], &inputs[1], hidden, next).unwrap();
    });
}

fn lstm_backward<T: Real>() {
    assert_columns_are_apart::<T>(&[4, 1, 1, 1, 1], &[4, 1], |inputs, outputs| {
        let ([gates, cell, next, by_hidden, by_next], [by_gates, by_cell]) = (inputs, outputs) else {
            unreachable!()
        };
        lstm_cell_backward(gates, cell, next, by_hidden, by_next, by_gates, by_cell).unwrap();
    });
}

fn gru<T: Real>() {
    assert_columns_are_apart::<T>(&[3, 3, 1], &[1], |inputs, outputs| {
        gru_cell(&inputs[0], &inputs[1], &inputs[2], &mut outputs[0]).unwrap();
    });
}

fn gru_backward<T: Real>() {
    assert_columns_are_apart::<T>(&[3, 3, 1, 1], &[3, 3, 1], |inputs, outputs| {
        let ([of_input, of_hidden, hidden, gradient], [by_input, by_gates, by_hidden]) = (inputs, outputs)
        else {
            unreachable!()
        };
        gru_cell_backward(of_input, of_hidden, hidden, gradient, by_input, by_gates, by_hidden).unwrap();
    });
}

for_each_real!(lstm, lstm_backward, gru, gru_backward);
