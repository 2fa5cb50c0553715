//! [`gru_cell`]: a step of a gated recurrent unit without its matrix products, and its gradient.

use dahl::ndarray::{ArrayView2, ArrayViewMut2};
use dahl::prelude::*;
use dahl::simd::{self, Vectorised};

use crate::cpu::gates::{LANES, gates_of, gates_of_mut, has_gates, load, load_each, logistic, store, tanh};
use crate::cpu::row_major::{elements, row_major, write};

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
    rows(1),
    flops = 25 * hidden.len(),
    cuda = crate::kernels::GRU_CELL,
    gradient = gru_cell_gradient(input_gates, hidden_gates, hidden),
    reference = crate::reference::gru_cell::gru_cell,
    error = sum(n = 8, terms = crate::reference::gru_cell::gru_cell_terms)
)]
pub fn gru_cell<T: Real>(
    input_gates: ArrayView2<T>,
    hidden_gates: ArrayView2<T>,
    hidden: ArrayView2<T>,
    out: ArrayViewMut2<T>,
) {
    let width = hidden.ncols().max(1);
    let (input_gates, hidden_gates, hidden) =
        (row_major(&input_gates), row_major(&hidden_gates), row_major(&hidden));
    let gates = [&input_gates, &hidden_gates].map(|gates| elements(gates).chunks_exact(3 * width));
    let [of_input, of_hidden] = gates;
    write(out, |out| {
        let states = elements(&hidden).chunks_exact(width).zip(out.chunks_exact_mut(width));
        for ((of_input, of_hidden), (hidden, out)) in of_input.zip(of_hidden).zip(states) {
            let gates = [gates_of(of_input, width), gates_of(of_hidden, width)];
            simd::dispatch(GruRow { gates, hidden, out });
        }
    });
}

/// [`gru_cell`] of one row, with the gates of the input and of the state.
struct GruRow<'a, T> {
    gates: [[&'a [T]; 3]; 2],
    hidden: &'a [T],
    out: &'a mut [T],
}

impl<T: Real> Vectorised for GruRow<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for start in (0..self.hidden.len()).step_by(LANES) {
            let [of_input, of_hidden] = self.gates;
            let [_, update, candidate] = activated(load_each(of_input, start), load_each(of_hidden, start));
            let mut states = load(self.hidden, start);
            for lane in 0..LANES {
                states[lane] = candidate[lane] + update[lane] * (states[lane] - candidate[lane]);
            }
            store(states, self.out, start);
        }
    }
}

/// The reset gate, the update gate and the candidate, from the gates of the input and of the state.
#[inline(always)]
fn activated<C: Real>(
    [mut reset, mut update, mut candidate]: [[C; LANES]; 3],
    [h_r, h_z, h_n]: [[C; LANES]; 3],
) -> [[C; LANES]; 3] {
    for lane in 0..LANES {
        reset[lane] += h_r[lane];
        update[lane] += h_z[lane];
    }
    let (reset, update) = (logistic(reset), logistic(update));
    for lane in 0..LANES {
        candidate[lane] += reset[lane] * h_n[lane];
    }
    [reset, update, tanh(candidate)]
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
    rows(1),
    flops = 45 * hidden.len(),
    cuda = crate::kernels::GRU_CELL_BACKWARD
)]
#[allow(clippy::too_many_arguments, reason = "the arrays of the operation, and a gradient for each")]
pub fn gru_cell_backward<T: Real>(
    input_gates: ArrayView2<T>,
    hidden_gates: ArrayView2<T>,
    hidden: ArrayView2<T>,
    gradient: ArrayView2<T>,
    by_input_gates: ArrayViewMut2<T>,
    by_hidden_gates: ArrayViewMut2<T>,
    by_hidden: ArrayViewMut2<T>,
) {
    let width = hidden.ncols().max(1);
    let given = [input_gates, hidden_gates, hidden, gradient];
    let given = given.each_ref().map(|given| row_major(given));
    let [of_input, of_hidden, hidden, gradient] = given.each_ref().map(elements);
    write(by_input_gates, |by_input| {
        write(by_hidden_gates, |by_gates| {
            write(by_hidden, |by_hidden| {
                for (row, by_hidden) in by_hidden.chunks_exact_mut(width).enumerate() {
                    let (state, gates) = (row * width, row * 3 * width);
                    simd::dispatch(GruRowBackward {
                        gates: [gates_of(&of_input[gates..], width), gates_of(&of_hidden[gates..], width)],
                        states: [hidden, gradient].map(|all| &all[state..][..width]),
                        by_input: gates_of_mut(&mut by_input[gates..], width),
                        by_gates: gates_of_mut(&mut by_gates[gates..], width),
                        by_hidden,
                    });
                }
            });
        });
    });
}

/// [`gru_cell_backward`] of one row: gates, and gradients by them, of the input and of the state; the states are the hidden one and
/// the gradient by the output.
struct GruRowBackward<'a, T> {
    gates: [[&'a [T]; 3]; 2],
    states: [&'a [T]; 2],
    by_input: [&'a mut [T]; 3],
    by_gates: [&'a mut [T]; 3],
    by_hidden: &'a mut [T],
}

impl<T: Real> Vectorised for GruRowBackward<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self {
            gates: [of_input, of_hidden],
            states: [hidden, gradient],
            mut by_input,
            mut by_gates,
            by_hidden,
        } = self;
        let one = T::Compute::ONE;
        for start in (0..by_hidden.len()).step_by(LANES) {
            let x = load_each(of_input, start);
            let h = load_each(of_hidden, start);
            let h_n = h[2];
            let [reset, update, candidate] = activated(x, h);
            let (states, gradients) = (load(hidden, start), load(gradient, start));
            let mut slopes = [[T::Compute::ZERO; LANES]; 4];
            let mut by_states = [T::Compute::ZERO; LANES];
            for lane in 0..LANES {
                let (reset, update, candidate) = (reset[lane], update[lane], candidate[lane]);
                let (gradient, state) = (gradients[lane], states[lane]);
                let by_sum = gradient * (one - update) * (one - candidate * candidate);
                slopes[0][lane] = by_sum * h_n[lane] * reset * (one - reset);
                slopes[1][lane] = gradient * (state - candidate) * update * (one - update);
                slopes[2][lane] = by_sum;
                slopes[3][lane] = by_sum * reset;
                by_states[lane] = gradient * update;
            }
            let [by_reset, by_update, by_sum, by_product] = slopes;
            for (by_gate, slope) in by_input.iter_mut().zip([by_reset, by_update, by_sum]) {
                store(slope, by_gate, start);
            }
            for (by_gate, slope) in by_gates.iter_mut().zip([by_reset, by_update, by_product]) {
                store(slope, by_gate, start);
            }
            store(by_states, by_hidden, start);
        }
    }
}
