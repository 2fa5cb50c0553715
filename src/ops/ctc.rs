//! Connectionist temporal classification: the loss of a sequence of labels that is shorter than the input, and not
//! aligned with it (Graves, Fernández, Gomez and Schmidhuber 2006, *Connectionist Temporal Classification*).
//!
//! A path has one class for each step of the input: it spells the labels that are left when repetitions are joined and
//! blanks are dropped. The loss is minus the logarithm of the sum of the probabilities of all paths that spell the
//! target. It is computed with logarithms throughout, by the recursions of section 4.1, so that long sequences do not
//! underflow.

use dahl::ndarray::{ArrayView1, ArrayView2, ArrayView3, ArrayViewMut1, ArrayViewMut3};
use dahl::prelude::*;

use crate::cpu::scratch::with_scratch;

/// The blank of a CTC loss, and how its losses count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Argument)]
#[repr(C)]
pub struct CtcOptions {
    /// The class that spells nothing.
    pub blank: u32,
    /// Whether an input that is too short for its target has the loss 0 and no gradient; otherwise its loss is
    /// infinite.
    pub zero_infinity: bool,
    /// Whether each loss is divided by the length of its target, if that is not 0.
    pub per_target: bool,
}

/// Whether the shapes belong to one batch, and the blank is a class.
fn agree(
    log_probabilities: [usize; 3],
    targets: [usize; 2],
    lengths: [usize; 2],
    options: CtcOptions,
) -> bool {
    let [_, batch, classes] = log_probabilities;
    targets[0] == batch && lengths == [batch; 2] && (options.blank as usize) < classes
}

/// The loss of each sequence: minus the logarithm of the probability of its target, divided by the target's length if
/// the options say so.
///
/// A length beyond its array, and a target that is no class, fail the task.
///
/// # Shapes
/// `log_probabilities: [steps, batch, classes]`, logarithms of probabilities, as from
/// [`log_softmax`](super::log_softmax()); `targets: [batch, longest]`, padded at the end; `input_lengths`, the steps
/// that count, `target_lengths` and `out: [batch]`.
#[codelet(
    R, R, R, R, W,
    shape(out = input_lengths),
    check(agree(
        log_probabilities.shape(),
        targets.shape(),
        [input_lengths.len(), target_lengths.len()],
        options
    )),
    flops = 10 * log_probabilities.shape()[0] * targets.len(),
    cpu_only,
    gradient = ctc_gradient(log_probabilities, targets, input_lengths, target_lengths)
)]
pub fn ctc<T: Real>(
    log_probabilities: ArrayView3<T>,
    targets: ArrayView2<u32>,
    input_lengths: ArrayView1<u32>,
    target_lengths: ArrayView1<u32>,
    mut out: ArrayViewMut1<T>,
    options: CtcOptions,
) {
    let batch = Batch { log_probabilities, targets, input_lengths, target_lengths, options };
    for (number, out) in out.iter_mut().enumerate() {
        let sequence = batch.sequence(number);
        let loss =
            with_scratch([sequence.cells()], |[forward]: [&mut [T::Compute]; 1]| sequence.loss(forward));
        let is_impossible = options.zero_infinity && loss == T::Compute::INFINITY;
        *out = if is_impossible { T::ZERO } else { T::narrow(sequence.share * loss) };
    }
}

fn ctc_gradient<T: Real>(rule: CtcGradient<'_, T>) -> dahl::Result<()> {
    let CtcGradient { log_probabilities, targets, input_lengths, target_lengths, gradient, .. } = rule;
    let Some(by_log_probabilities) = rule.by_log_probabilities else { return Ok(()) };
    // It writes the gradient: there is no second one.
    ctc_backward(
        log_probabilities,
        targets,
        input_lengths,
        target_lengths,
        gradient,
        by_log_probabilities,
        rule.options,
    )
}

/// The gradient of [`ctc`] by its input, `out[step, i, class] = -gradient[i] * p` (divided by the target's length if
/// the options say so), where `p` is the probability that a path that spells the target has this class at this step; 0
/// beyond the length of the input.
///
/// This is the derivative by `log_probabilities` as they are. PyTorch's adds `exp(log_probabilities)`, which is right
/// below a `log_softmax` only; the gradients by its logits are the same.
///
/// # Shapes
/// As for [`ctc`], and `gradient: [batch]`, `out` as `log_probabilities`.
#[codelet(
    R, R, R, R, R, W,
    shape(out = log_probabilities),
    check(agree(
        log_probabilities.shape(),
        targets.shape(),
        [input_lengths.len(), target_lengths.len()],
        options
    )),
    check(gradient.shape() == input_lengths.shape()),
    flops = 30 * log_probabilities.shape()[0] * targets.len(),
    cpu_only
)]
pub fn ctc_backward<T: Real>(
    log_probabilities: ArrayView3<T>,
    targets: ArrayView2<u32>,
    input_lengths: ArrayView1<u32>,
    target_lengths: ArrayView1<u32>,
    gradient: ArrayView1<T>,
    mut out: ArrayViewMut3<T>,
    options: CtcOptions,
) {
    let classes = log_probabilities.shape()[2];
    let batch = Batch { log_probabilities, targets, input_lengths, target_lengths, options };
    out.fill(T::ZERO);
    for (number, gradient) in gradient.iter().enumerate() {
        let sequence = batch.sequence(number);
        let lengths = [sequence.cells(), sequence.states(), classes];
        with_scratch(lengths, |[forward, backward, sums]: [&mut [T::Compute]; 3]| {
            let (loss, gradient) = (sequence.loss(forward), gradient.widen() * sequence.share);
            if options.zero_infinity && loss == T::Compute::INFINITY {
                return;
            }
            for step in (0..sequence.steps).rev() {
                sequence.step_back(step, backward);
                sums.fill(T::Compute::ZERO);
                let forward = &forward[step * sequence.states()..];
                for (state, (forward, backward)) in forward.iter().zip(&*backward).enumerate() {
                    sums[sequence.class(state)] += (*forward + *backward + loss).exp();
                }
                for (class, sum) in sums.iter().enumerate() {
                    out[[step, number, class]] = T::narrow(-(gradient * *sum));
                }
            }
        });
    }
}

/// The inputs of the loss.
struct Batch<'a, T: Real> {
    log_probabilities: ArrayView3<'a, T>,
    targets: ArrayView2<'a, u32>,
    input_lengths: ArrayView1<'a, u32>,
    target_lengths: ArrayView1<'a, u32>,
    options: CtcOptions,
}

/// One sequence of a batch. A path goes through the states: a blank, the first label, a blank, the second label, .., a
/// blank.
struct Sequence<'a, T: Real> {
    /// `[steps, classes]`.
    log_probabilities: ArrayView2<'a, T>,
    steps: usize,
    target: ArrayView1<'a, u32>,
    blank: usize,
    /// What its loss is multiplied by.
    share: T::Compute,
}

impl<T: Real> Batch<'_, T> {
    /// # Panics
    /// If a length or a target is out of range; the task fails with this message.
    fn sequence(&self, number: usize) -> Sequence<'_, T> {
        let ([most, _, classes], longest) = (self.log_probabilities.dim().into(), self.targets.ncols());
        let (steps, labels) = (self.input_lengths[number] as usize, self.target_lengths[number] as usize);
        assert!(steps <= most, "input length {steps} of sequence {number} is above the {most} steps");
        assert!(
            labels <= longest,
            "target length {labels} of sequence {number} is above the {longest} targets"
        );
        let log_probabilities = self.log_probabilities.index_axis(dahl::ndarray::Axis(1), number);
        let target = self.targets.row(number).split_at(dahl::ndarray::Axis(0), labels).0;
        for label in target {
            let is_class = (*label as usize) < classes;
            assert!(is_class, "target {label} of sequence {number} is not one of {classes} classes");
        }
        let share = if self.options.per_target { 1.0 / labels.max(1) as f64 } else { 1.0 };
        let (blank, share) = (self.options.blank as usize, T::Compute::from_f64(share));
        Sequence { log_probabilities, steps, target, blank, share }
    }
}

impl<T: Real> Sequence<'_, T> {
    fn states(&self) -> usize {
        2 * self.target.len() + 1
    }

    /// The states of all steps.
    fn cells(&self) -> usize {
        self.steps * self.states()
    }

    /// The class that a state emits.
    #[inline(always)]
    fn class(&self, state: usize) -> usize {
        if state.is_multiple_of(2) { self.blank } else { self.target[state / 2] as usize }
    }

    /// Whether a path may go from the state two before to this one: over a blank, from a label to another.
    #[inline(always)]
    fn may_skip_to(&self, state: usize) -> bool {
        state % 2 == 1 && state > 2 && self.target[state / 2] != self.target[state / 2 - 1]
    }

    #[inline(always)]
    fn emits(&self, step: usize, state: usize) -> T::Compute {
        self.log_probabilities[[step, self.class(state)]].widen()
    }

    /// Writes to `forward: [steps, states]` the logarithm of the probability of the beginnings of paths that are in
    /// each state after each step, and returns the loss.
    fn loss(&self, forward: &mut [T::Compute]) -> T::Compute {
        let (states, none) = (self.states(), T::Compute::NEG_INFINITY);
        if self.steps == 0 {
            return if self.target.is_empty() { T::Compute::ZERO } else { T::Compute::INFINITY };
        }
        for (state, forward) in forward[..states].iter_mut().enumerate() {
            *forward = if state < 2 { self.emits(0, state) } else { none };
        }
        for step in 1..self.steps {
            let (before, now) = forward[(step - 1) * states..].split_at_mut(states);
            for (state, now) in now[..states].iter_mut().enumerate() {
                let one = if state > 0 { before[state - 1] } else { none };
                let two = if self.may_skip_to(state) { before[state - 2] } else { none };
                *now = logarithm_of_sum([before[state], one, two]) + self.emits(step, state);
            }
        }
        let last = &forward[(self.steps - 1) * states..][..states];
        let label = if states > 1 { last[states - 2] } else { none };
        -logarithm_of_sum([last[states - 1], label, none])
    }

    /// Replaces in `backward: [states]` the logarithm of the probability of the ends of paths after `step + 1`, by that
    /// of those after `step`.
    fn step_back(&self, step: usize, backward: &mut [T::Compute]) {
        let (states, none) = (self.states(), T::Compute::NEG_INFINITY);
        if step + 1 == self.steps {
            for (state, backward) in backward.iter_mut().enumerate() {
                *backward = if state + 2 >= states { T::Compute::ZERO } else { none };
            }
            return;
        }
        // In the order of the states: each needs those after it, which are still the old ones.
        for state in 0..states {
            let after = |later: usize| {
                if later < states { backward[later] + self.emits(step + 1, later) } else { none }
            };
            let two = if state + 2 < states && self.may_skip_to(state + 2) { after(state + 2) } else { none };
            backward[state] = logarithm_of_sum([after(state), after(state + 1), two]);
        }
    }
}

/// `ln(exp(a) + exp(b) + exp(c))`.
#[inline(always)]
fn logarithm_of_sum<C: Real>(terms: [C; 3]) -> C {
    let largest = terms.into_iter().fold(C::NEG_INFINITY, Real::max);
    if largest == C::NEG_INFINITY {
        return largest;
    }
    largest + terms.into_iter().fold(C::ZERO, |sum, term| sum + (term - largest).exp()).ln()
}
