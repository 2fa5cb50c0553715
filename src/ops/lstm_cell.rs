//! [`lstm_cell`]: a step of a long short-term memory without its matrix products, and its gradient.

use dahl::ndarray::{ArrayView2, ArrayViewMut2};
use dahl::prelude::*;
use dahl::simd::{self, Vectorised};

use crate::cpu::gates::{LANES, gates_of, gates_of_mut, has_gates, load, load_each, logistic, store, tanh};
use crate::cpu::row_major::{elements, row_major, write};

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
    rows(1),
    flops = 30 * cell.len(),
    cuda = crate::kernels::LSTM_CELL,
    gradient = lstm_cell_gradient(gates, cell, next),
    reference = crate::reference::lstm_cell::lstm_cell,
    error = sum(n = 8, terms = crate::reference::lstm_cell::lstm_cell_terms)
)]
pub fn lstm_cell<T: Real>(
    gates: ArrayView2<T>,
    cell: ArrayView2<T>,
    hidden: ArrayViewMut2<T>,
    next: ArrayViewMut2<T>,
) {
    let width = cell.ncols().max(1);
    let (gates, cell) = (row_major(&gates), row_major(&cell));
    let inputs = elements(&gates).chunks_exact(4 * width).zip(elements(&cell).chunks_exact(width));
    write(hidden, |hidden| {
        write(next, |next| {
            let outputs = hidden.chunks_exact_mut(width).zip(next.chunks_exact_mut(width));
            for ((gates, cell), (hidden, next)) in inputs.zip(outputs) {
                simd::dispatch(LstmRow { gates: gates_of(gates, width), cell, hidden, next });
            }
        });
    });
}

/// [`lstm_cell`] of one row.
struct LstmRow<'a, T> {
    gates: [&'a [T]; 4],
    cell: &'a [T],
    hidden: &'a mut [T],
    next: &'a mut [T],
}

impl<T: Real> Vectorised for LstmRow<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for start in (0..self.cell.len()).step_by(LANES) {
            let [input, forget, candidate, output] = load_each(self.gates, start);
            let (input, forget) = (logistic(input), logistic(forget));
            let (candidate, mut output) = (tanh(candidate), logistic(output));
            let mut states = load(self.cell, start);
            for lane in 0..LANES {
                states[lane] = forget[lane] * states[lane] + input[lane] * candidate[lane];
            }
            store(states, self.next, start);
            let squashed = tanh(states);
            for lane in 0..LANES {
                output[lane] *= squashed[lane];
            }
            store(output, self.hidden, start);
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
    rows(1),
    flops = 50 * cell.len(),
    cuda = crate::kernels::LSTM_CELL_BACKWARD
)]
#[allow(clippy::too_many_arguments, reason = "the arrays of the operation, and a gradient for each")]
pub fn lstm_cell_backward<T: Real>(
    gates: ArrayView2<T>,
    cell: ArrayView2<T>,
    next: ArrayView2<T>,
    by_hidden: ArrayView2<T>,
    by_next: ArrayView2<T>,
    by_gates: ArrayViewMut2<T>,
    by_cell: ArrayViewMut2<T>,
) {
    let width = cell.ncols().max(1);
    let gates = row_major(&gates);
    let states = [cell, next, by_hidden, by_next];
    let states = states.each_ref().map(|state| row_major(state));
    let states = states.each_ref().map(elements);
    write(by_gates, |by_gates| {
        write(by_cell, |by_cell| {
            let outputs = by_gates.chunks_exact_mut(4 * width).zip(by_cell.chunks_exact_mut(width));
            let rows = elements(&gates).chunks_exact(4 * width).zip(outputs).enumerate();
            for (row, (gates, (by_gates, by_cell))) in rows {
                let (gates, by_gates) =
                    (gates_of::<_, 4>(gates, width), gates_of_mut::<_, 4>(by_gates, width));
                let states = states.map(|state| &state[row * width..][..width]);
                simd::dispatch(LstmRowBackward { gates, states, by_gates, by_cell });
            }
        });
    });
}

/// [`lstm_cell_backward`] of one row; the states are the cell, the next one, and the gradients by the outputs.
struct LstmRowBackward<'a, T> {
    gates: [&'a [T]; 4],
    states: [&'a [T]; 4],
    by_gates: [&'a mut [T]; 4],
    by_cell: &'a mut [T],
}

impl<T: Real> Vectorised for LstmRowBackward<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { gates, states, mut by_gates, by_cell } = self;
        let one = T::Compute::ONE;
        for start in (0..by_cell.len()).step_by(LANES) {
            let [input, forget, candidate, output] = load_each(gates, start);
            let [cell, next, by_hidden, by_next] = load_each(states, start);
            let (input, forget) = (logistic(input), logistic(forget));
            let (candidate, output) = (tanh(candidate), logistic(output));
            let squashed = tanh(next);
            let mut slopes = [[T::Compute::ZERO; LANES]; 4];
            let mut by_states = [T::Compute::ZERO; LANES];
            for lane in 0..LANES {
                let (input, forget) = (input[lane], forget[lane]);
                let (candidate, output) = (candidate[lane], output[lane]);
                let (squashed, by_hidden) = (squashed[lane], by_hidden[lane]);
                let by_state = by_next[lane] + by_hidden * output * (one - squashed * squashed);
                slopes[0][lane] = by_state * candidate * input * (one - input);
                slopes[1][lane] = by_state * cell[lane] * forget * (one - forget);
                slopes[2][lane] = by_state * input * (one - candidate * candidate);
                slopes[3][lane] = by_hidden * squashed * output * (one - output);
                by_states[lane] = by_state * forget;
            }
            for (by_gate, slope) in by_gates.iter_mut().zip(slopes) {
                store(slope, by_gate, start);
            }
            store(by_states, by_cell, start);
        }
    }
}
