//! Gradients by a tape of operations whose results the other files compare, or `dahl-nn/tests`: with those by PyTorch's autograd.

use dahl::ops::{self, SortOrder, Transposed};
use dahl::prelude::*;

use super::closeness::Closeness;
use super::fixture::{Case, Stem};

/// Compares the result of an operation under a tape, and the gradients by its inputs. After `|` come the tape and the case,
/// which has the arguments.
macro_rules! differentiated {
    ($($test:ident of $op:ident($($input:ident: $rank:literal),+) |$tape:ident, $case:ident| $call:expr;)*) => {$(
        fn $test<T: Real>() -> Closeness {
            let rt = Runtime::new().unwrap();
            let mut closeness = Closeness::default();
            for $case in Stem::open("autograd").cases(stringify!($op), "", T::NAME) {
                closeness.cases += 1;
                let tape = rt.tape();
                let $tape = &tape;
                $(let $input = &$case.array::<T, $rank>(&rt, stringify!($input));)+
                let out = $call.unwrap();
                closeness.compare(&$case, "out", &out);
                let gradient = $case.array(&rt, "gradient");
                let ($($input,)+) = tape.gradients_from(&out, &gradient, ($($input,)+)).unwrap();
                $(closeness.compare(&$case, concat!("by_", stringify!($input)), &$input);)+
            }
            closeness
        }
    )*};
}

fn transposed(case: &Case<'_>) -> Transposed {
    Transposed { left: case.count("left") == 1, right: case.count("right") == 1 }
}

fn order(case: &Case<'_>) -> SortOrder {
    if case.count("descending") == 1 { SortOrder::Descending } else { SortOrder::Ascending }
}

/// The unsigned integers of an argument.
fn integers<'t, const N: usize>(tape: &'t Tape<'_>, case: &Case<'_>, role: &str) -> Array<'t, u32, N> {
    let values: Vec<u32> = case.integers(role).into_iter().map(|value| value as u32).collect();
    tape.detached().from_slice(case.shape(role), &values).unwrap()
}

differentiated!(
    add_gradients of add(x: 2, y: 2) |tape, case| ops::add_init(tape, x, y);
    sub_gradients of sub(x: 2, y: 2) |tape, case| ops::sub_init(tape, x, y);
    mul_gradients of mul(x: 2, y: 2) |tape, case| ops::mul_init(tape, x, y);
    div_gradients of div(x: 2, y: 2) |tape, case| ops::div_init(tape, x, y);
    axpy_gradients of axpy(x: 2, y: 2) |tape, case| ops::axpy_init(tape, x, y, T::from_f64(0.75));
    neg_gradient of neg(x: 2) |tape, case| ops::neg_init(tape, x);
    scale_gradient of scale(x: 2) |tape, case| ops::scale_init(tape, x, T::from_f64(0.75));
    add_value_gradient of add_value(x: 2) |tape, case| ops::add_value_init(tape, x, T::from_f64(0.75));
    copy_gradient of copy(input: 2) |tape, case| ops::copy_init(tape, input);
    matmul_gradients of matmul(a: 2, b: 2) |tape, case| ops::matmul_transposed_init(tape, a, b, transposed(&case));
    matmul_batched_gradients of matmul_batched(a: 3, b: 3)
        |tape, case| ops::matmul_batched_transposed_init(tape, a, b, transposed(&case));
    matmul_add_gradients of matmul_add(a: 2, b: 2) |tape, case| ops::matmul_add_init(tape, a, b);
    matvec_gradients of matvec(a: 2, vector: 1) |tape, case| ops::matvec_init(tape, a, vector);
    matvec_transposed_gradients of matvec_transposed(a: 2, vector: 1)
        |tape, case| ops::matvec_transposed_init(tape, a, vector);
    outer_gradients of outer(column: 1, row: 1) |tape, case| ops::outer_init(tape, column, row);
    dot_gradients of dot(x: 1, y: 1) |tape, case| ops::dot_init(tape, x, y);
    transpose_gradient of transpose(input: 2) |tape, case| ops::transpose_init(tape, input);
    rotate_180_gradient of rotate_180(input: 2) |tape, case| ops::rotate_180_init(tape, input);
    diag_gradient of diag(input: 1) |tape, case| ops::diag_init(tape, input);
    permute_gradient of permute(input: 3) |tape, case| ops::permute_init(tape, input, [2, 0, 1]);
    concat_gradients of concat(input: 3, second: 3)
        |tape, case| ops::concat_init(tape, &[input, second], case.count("axis"));
    stack_gradients of stack(input: 3, second: 3)
        |tape, case| ops::stack_init::<_, 3, 4>(tape, &[input, second], case.count("axis"));
    cumulative_sum_gradient of cumulative_sum(input: 3)
        |tape, case| ops::cumulative_sum_init(tape, input, case.count("axis"));
    sum_axes_gradient of sum_axes(input: 3) |tape, case| ops::sum_axes_init(tape, input, [0, 2]);
    sort_gradient of sort(input: 3)
        |tape, case| ops::sort_init(tape, input, case.count("axis"), order(&case)).map(|made| made.0);
    top_k_gradient of top_k(input: 3)
        |tape, case| ops::top_k_init(tape, input, 2, case.count("axis")).map(|made| made.0);
    gather_rows_gradient of gather_rows(input: 2)
        |tape, case| ops::gather_rows_init(tape, input, &integers(tape, &case, "indices"));
    segment_sum_gradient of segment_sum(input: 2)
        |tape, case| ops::segment_sum_init(tape, input, &integers(tape, &case, "segments"), 4);
    lstm_cell_gradients of lstm_cell(gates: 2, cell: 2)
        |tape, case| ops::lstm_cell_init(tape, gates, cell)
            .map(|(hidden, next)| if case.count("output") == 0 { hidden } else { next });
    gru_cell_gradients of gru_cell(input_gates: 2, hidden_gates: 2, hidden: 2)
        |tape, case| ops::gru_cell_init(tape, input_gates, hidden_gates, hidden);
);

for_each_real!(at least 1:
    add_gradients, sub_gradients, mul_gradients, div_gradients, axpy_gradients, neg_gradient, scale_gradient,
    add_value_gradient, copy_gradient, matmul_gradients, matmul_batched_gradients, matmul_add_gradients,
    matvec_gradients, matvec_transposed_gradients, outer_gradients, dot_gradients, transpose_gradient,
    rotate_180_gradient, diag_gradient, permute_gradient, concat_gradients, stack_gradients,
    cumulative_sum_gradient, sum_axes_gradient, sort_gradient, top_k_gradient, gather_rows_gradient, segment_sum_gradient,
    lstm_cell_gradients, gru_cell_gradients,
);
