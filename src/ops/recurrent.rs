//! The cells of recurrent networks, without their matrix products: [`lstm_cell`] and [`gru_cell`], and their gradients.

use dahl::ndarray::{ArrayView2, ArrayViewMut2};
use dahl::prelude::*;
use dahl::simd::{self, Vectorised};

use crate::cpu::row_major::{elements, row_major, write};

/// Elements of a row that are computed side by side. They are in arrays of this length, which overlap no other array, so the loops
/// over them become vector instructions.
const LANES: usize = 32;

/// The elements of a row from `start` on, at most [`LANES`], and zeros after them.
#[inline(always)]
fn load<T: Real>(row: &[T], start: usize) -> [T::Compute; LANES] {
    let rest = &row[start..];
    let mut lanes = [T::Compute::ZERO; LANES];
    match rest.first_chunk::<LANES>() {
        Some(rest) => lanes.iter_mut().zip(rest).for_each(|(lane, value)| *lane = value.widen()),
        None => lanes.iter_mut().zip(rest).for_each(|(lane, value)| *lane = value.widen()),
    }
    lanes
}

/// Writes what [`load`] would read.
#[inline(always)]
fn store<T: Real>(lanes: [T::Compute; LANES], row: &mut [T], start: usize) {
    let rest = &mut row[start..];
    match rest.first_chunk_mut::<LANES>() {
        Some(rest) => rest.iter_mut().zip(lanes).for_each(|(value, lane)| *value = T::narrow(lane)),
        None => rest.iter_mut().zip(lanes).for_each(|(value, lane)| *value = T::narrow(lane)),
    }
}

/// The gates of a row, each `width` elements.
#[inline(always)]
fn gates_of<T, const N: usize>(row: &[T], width: usize) -> [&[T]; N] {
    std::array::from_fn(|gate| &row[gate * width..][..width])
}

/// The gates of a row, each `width` elements, to be written.
#[inline(always)]
fn gates_of_mut<T, const N: usize>(row: &mut [T], width: usize) -> [&mut [T]; N] {
    let mut gates = row.chunks_exact_mut(width);
    std::array::from_fn(|_| gates.next().expect("a row has all gates"))
}

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
            let [input, forget, candidate, output] = self.gates.map(|gate| load(gate, start));
            let (mut states, mut outs) = (load(self.cell, start), [T::Compute::ZERO; LANES]);
            for lane in 0..LANES {
                let (input, forget) = (logistic(input[lane]), logistic(forget[lane]));
                let (candidate, output) = (candidate[lane].tanh(), logistic(output[lane]));
                states[lane] = forget * states[lane] + input * candidate;
                outs[lane] = output * states[lane].tanh();
            }
            store(states, self.next, start);
            store(outs, self.hidden, start);
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
            let [input, forget, candidate, output] = gates.map(|gate| load(gate, start));
            let [cell, next, by_hidden, by_next] = states.map(|state| load(state, start));
            let mut slopes = [[T::Compute::ZERO; LANES]; 4];
            let mut by_states = [T::Compute::ZERO; LANES];
            for lane in 0..LANES {
                let (input, forget) = (logistic(input[lane]), logistic(forget[lane]));
                let (candidate, output) = (candidate[lane].tanh(), logistic(output[lane]));
                let (squashed, by_hidden) = (next[lane].tanh(), by_hidden[lane]);
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
            let [[x_r, x_z, x_n], [h_r, h_z, h_n]] =
                self.gates.map(|gates| gates.map(|gate| load(gate, start)));
            let mut states = load(self.hidden, start);
            for lane in 0..LANES {
                let (reset, update) = (logistic(x_r[lane] + h_r[lane]), logistic(x_z[lane] + h_z[lane]));
                let candidate = (x_n[lane] + reset * h_n[lane]).tanh();
                states[lane] = candidate + update * (states[lane] - candidate);
            }
            store(states, self.out, start);
        }
    }
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
            let [x_r, x_z, x_n] = of_input.map(|gate| load(gate, start));
            let [h_r, h_z, h_n] = of_hidden.map(|gate| load(gate, start));
            let (states, gradients) = (load(hidden, start), load(gradient, start));
            let mut slopes = [[T::Compute::ZERO; LANES]; 4];
            let mut by_states = [T::Compute::ZERO; LANES];
            for lane in 0..LANES {
                let (reset, update) = (logistic(x_r[lane] + h_r[lane]), logistic(x_z[lane] + h_z[lane]));
                let candidate = (x_n[lane] + reset * h_n[lane]).tanh();
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
