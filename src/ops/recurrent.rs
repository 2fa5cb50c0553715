//! The cells of recurrent networks, without their matrix products: [`lstm_cell`] and [`gru_cell`], and their gradients.

use dahl::ndarray::{ArrayView2, ArrayViewMut2, Zip};
use dahl::prelude::*;

/// `1 / (1 + exp(-x))`.
#[inline(always)]
fn logistic<C: Real>(x: C) -> C {
    C::ONE / (C::ONE + (-x).exp())
}

/// Whether `gates` has `count` times the columns of `state`.
fn has_gates(gates: [usize; 2], state: [usize; 2], count: usize) -> bool {
    gates[0] == state[0] && state[1].checked_mul(count) == Some(gates[1])
}

/// A step of a long short-term memory (Hochreiter and Schmidhuber 1997), from the sums that enter its gates: input gate `i`,
/// forget gate `f`, candidate `g` and output gate `o`, in PyTorch's order, each as wide as the state.
///
/// `next = sigmoid(f) * cell + sigmoid(i) * tanh(g)`, `hidden = sigmoid(o) * tanh(next)`.
///
/// # Shapes
/// `gates: [batch, 4 * width]`, all others `[batch, width]`.
#[codelet(
    R, R, W, W,
    shape(hidden = cell),
    shape(next = cell),
    check(has_gates(gates.shape(), cell.shape(), 4)),
    flops = 30 * cell.len(),
    cpu_only,
    gradient = lstm_cell_gradient(gates, cell, next)
)]
pub fn lstm_cell<T: Real>(
    gates: ArrayView2<T>,
    cell: ArrayView2<T>,
    mut hidden: ArrayViewMut2<T>,
    mut next: ArrayViewMut2<T>,
) {
    let width = cell.ncols();
    for (row, (mut hidden, mut next)) in hidden.rows_mut().into_iter().zip(next.rows_mut()).enumerate() {
        for column in 0..width {
            let gate = |gate: usize| gates[[row, gate * width + column]].widen();
            let (input, forget) = (logistic(gate(0)), logistic(gate(1)));
            let (candidate, output) = (gate(2).tanh(), logistic(gate(3)));
            let state = forget * cell[[row, column]].widen() + input * candidate;
            next[column] = T::narrow(state);
            hidden[column] = T::narrow(output * state.tanh());
        }
    }
}

fn lstm_cell_gradient<T: Real>(rule: LstmCellGradient<'_, T>) -> dahl::Result<()> {
    let LstmCellGradient { gates, cell, next, scope, .. } = rule;
    let arena = scope.detached();
    // An output that the loss does not depend on has a gradient of zero; an input that nobody wants has a place for its own.
    let zeros = arena.zeros(cell.shape())?;
    let by_hidden = rule.gradient_hidden.unwrap_or(&zeros);
    let by_next = rule.gradient_next.unwrap_or(&zeros);
    let (mut unwanted_gates, mut unwanted_cell);
    let by_gates = match rule.by_gates {
        Some(by_gates) => by_gates,
        None => {
            unwanted_gates = arena.zeros(gates.shape())?;
            &mut unwanted_gates
        }
    };
    let by_cell = match rule.by_cell {
        Some(by_cell) => by_cell,
        None => {
            unwanted_cell = arena.zeros(cell.shape())?;
            &mut unwanted_cell
        }
    };
    lstm_cell_backward(gates, cell, next, by_hidden, by_next, by_gates, by_cell)
}

/// The gradients of [`lstm_cell`] by its inputs, from those by its outputs.
///
/// # Shapes
/// `gates` and `by_gates: [batch, 4 * width]`, all others `[batch, width]`.
#[codelet(
    R, R, R, R, R, W, W,
    check(has_gates(gates.shape(), cell.shape(), 4)),
    check(next.shape() == cell.shape() && by_hidden.shape() == cell.shape() && by_next.shape() == cell.shape()),
    check(by_gates.shape() == gates.shape() && by_cell.shape() == cell.shape()),
    flops = 50 * cell.len(),
    cpu_only
)]
#[allow(clippy::too_many_arguments, reason = "the arrays of the operation, and a gradient for each")]
pub fn lstm_cell_backward<T: Real>(
    gates: ArrayView2<T>,
    cell: ArrayView2<T>,
    next: ArrayView2<T>,
    by_hidden: ArrayView2<T>,
    by_next: ArrayView2<T>,
    mut by_gates: ArrayViewMut2<T>,
    mut by_cell: ArrayViewMut2<T>,
) {
    let width = cell.ncols();
    for (row, mut by_gates) in by_gates.rows_mut().into_iter().enumerate() {
        for column in 0..width {
            let at = [row, column];
            let gate = |gate: usize| gates[[row, gate * width + column]].widen();
            let (input, forget) = (logistic(gate(0)), logistic(gate(1)));
            let (candidate, output) = (gate(2).tanh(), logistic(gate(3)));
            let (one, squashed) = (T::Compute::ONE, next[at].widen().tanh());
            let by_hidden = by_hidden[at].widen();
            let by_state = by_next[at].widen() + by_hidden * output * (one - squashed * squashed);
            let slopes = [
                by_state * candidate * input * (one - input),
                by_state * cell[at].widen() * forget * (one - forget),
                by_state * input * (one - candidate * candidate),
                by_hidden * squashed * output * (one - output),
            ];
            for (gate, slope) in slopes.into_iter().enumerate() {
                by_gates[gate * width + column] = T::narrow(slope);
            }
            by_cell[at] = T::narrow(by_state * forget);
        }
    }
}

/// A step of a gated recurrent unit (Cho et al. 2014) as PyTorch computes it, from the sums that enter its gates: reset gate
/// `r`, update gate `z` and candidate `n`, each as wide as the state, from the input (`x`) and from the state (`h`).
///
/// `n = tanh(x_n + sigmoid(x_r + h_r) * h_n)`, `out = (1 - z) * n + z * hidden` with `z = sigmoid(x_z + h_z)`.
///
/// # Shapes
/// `input_gates` and `hidden_gates: [batch, 3 * width]`, all others `[batch, width]`.
#[codelet(
    R, R, R, W,
    shape(out = hidden),
    check(has_gates(input_gates.shape(), hidden.shape(), 3)),
    check(input_gates.shape() == hidden_gates.shape()),
    flops = 25 * hidden.len(),
    cpu_only,
    gradient = gru_cell_gradient(input_gates, hidden_gates, hidden)
)]
pub fn gru_cell<T: Real>(
    input_gates: ArrayView2<T>,
    hidden_gates: ArrayView2<T>,
    hidden: ArrayView2<T>,
    out: ArrayViewMut2<T>,
) {
    let width = hidden.ncols();
    Zip::indexed(out).and(hidden).for_each(|(row, column), out, hidden| {
        let gates = |gate: usize| {
            let at = [row, gate * width + column];
            (input_gates[at].widen(), hidden_gates[at].widen())
        };
        let ((x_r, h_r), (x_z, h_z), (x_n, h_n)) = (gates(0), gates(1), gates(2));
        let (reset, update) = (logistic(x_r + h_r), logistic(x_z + h_z));
        let candidate = (x_n + reset * h_n).tanh();
        *out = T::narrow(candidate + update * (hidden.widen() - candidate));
    });
}

fn gru_cell_gradient<T: Real>(rule: GruCellGradient<'_, T>) -> dahl::Result<()> {
    let GruCellGradient { input_gates, hidden_gates, hidden, gradient, scope, .. } = rule;
    let arena = scope.detached();
    let (mut unwanted_input, mut unwanted_gates, mut unwanted_hidden);
    let by_input_gates = match rule.by_input_gates {
        Some(by_input_gates) => by_input_gates,
        None => {
            unwanted_input = arena.zeros(input_gates.shape())?;
            &mut unwanted_input
        }
    };
    let by_hidden_gates = match rule.by_hidden_gates {
        Some(by_hidden_gates) => by_hidden_gates,
        None => {
            unwanted_gates = arena.zeros(hidden_gates.shape())?;
            &mut unwanted_gates
        }
    };
    let by_hidden = match rule.by_hidden {
        Some(by_hidden) => by_hidden,
        None => {
            unwanted_hidden = arena.zeros(hidden.shape())?;
            &mut unwanted_hidden
        }
    };
    gru_cell_backward(input_gates, hidden_gates, hidden, gradient, by_input_gates, by_hidden_gates, by_hidden)
}

/// The gradients of [`gru_cell`] by its inputs, from that by its output.
///
/// # Shapes
/// Gates `[batch, 3 * width]`, all others `[batch, width]`.
#[codelet(
    R, R, R, R, W, W, W,
    check(has_gates(input_gates.shape(), hidden.shape(), 3)),
    check(input_gates.shape() == hidden_gates.shape() && gradient.shape() == hidden.shape()),
    check(by_input_gates.shape() == input_gates.shape() && by_hidden_gates.shape() == input_gates.shape()),
    check(by_hidden.shape() == hidden.shape()),
    flops = 45 * hidden.len(),
    cpu_only
)]
#[allow(clippy::too_many_arguments, reason = "the arrays of the operation, and a gradient for each")]
pub fn gru_cell_backward<T: Real>(
    input_gates: ArrayView2<T>,
    hidden_gates: ArrayView2<T>,
    hidden: ArrayView2<T>,
    gradient: ArrayView2<T>,
    mut by_input_gates: ArrayViewMut2<T>,
    mut by_hidden_gates: ArrayViewMut2<T>,
    mut by_hidden: ArrayViewMut2<T>,
) {
    let (rows, width) = hidden.dim();
    for (row, column) in (0..rows).flat_map(|row| (0..width).map(move |column| (row, column))) {
        let place = |gate: usize| [row, gate * width + column];
        let gates = |gate: usize| (input_gates[place(gate)].widen(), hidden_gates[place(gate)].widen());
        let ((x_r, h_r), (x_z, h_z), (x_n, h_n)) = (gates(0), gates(1), gates(2));
        let (reset, update) = (logistic(x_r + h_r), logistic(x_z + h_z));
        let candidate = (x_n + reset * h_n).tanh();
        let one = T::Compute::ONE;
        let (gradient, state) = (gradient[[row, column]].widen(), hidden[[row, column]].widen());
        let by_sum = gradient * (one - update) * (one - candidate * candidate);
        let by_update = gradient * (state - candidate) * update * (one - update);
        let by_reset = by_sum * h_n * reset * (one - reset);
        for (gate, slope) in [by_reset, by_update, by_sum].into_iter().enumerate() {
            by_input_gates[place(gate)] = T::narrow(slope);
        }
        for (gate, slope) in [by_reset, by_update, by_sum * reset].into_iter().enumerate() {
            by_hidden_gates[place(gate)] = T::narrow(slope);
        }
        by_hidden[[row, column]] = T::narrow(gradient * update);
    }
}
