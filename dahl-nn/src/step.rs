//! [`Step`]: the scope of a network's operations in one step.

use std::fmt;
use std::panic::Location;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use dahl::__nn::{Composite, Gradient, SealedScope};
use dahl::ops::Philox;
use dahl::prelude::*;
use dahl::program::{Draws, ProgramScope, refusal};
use dahl::{Differentiable, Task};

use crate::gradients;
use crate::module::Module;

/// Where the operations of one step of a network run: under a tape if the step [learns](Self::learning), else in an
/// arena.
///
/// It also says whether this is training, for layers such as dropout, and has the random numbers of the step. Arrays that
/// are made under a step live until it ends or is [reset](Self::reset).
///
/// ```
/// use dahl::ops::{mul_init, sum_init};
/// use dahl::prelude::*;
/// use dahl_nn::prelude::*;
///
/// # fn main() -> dahl::Result<()> {
/// let rt = Runtime::new()?;
/// let x = rt.from_vec([2], vec![1.0_f32, 3.0])?;
/// let step = Step::evaluating(&rt);
/// let squares = mul_init(&step, &x, &x)?;
/// assert_eq!(sum_init(&step, &squares)?.to_vec()?, [10.0]);
/// # Ok(())
/// # }
/// ```
pub struct Step<'a> {
    under: Under<'a>,
    is_training: bool,
    seed: u64,
    /// Random numbers of the step that have been taken.
    taken: AtomicU64,
    /// While a program is recorded: what it draws, which are numbers of each call.
    draws: Option<Arc<Draws>>,
}

/// What the operations of a step run under.
#[allow(clippy::large_enum_variant, reason = "a step is made once, and stays where it is")]
enum Under<'a> {
    Arena(Arena),
    Tape(Tape<'a>),
}

impl Step<'static> {
    /// A step of training: its operations are remembered, so that gradients can be computed. Its random numbers are those of
    /// the runtime's next seed.
    #[track_caller]
    pub fn learning(rt: &Runtime) -> Self {
        let (under, seed) = (Under::Tape(rt.tape()), rt.next_seed());
        Self { under, is_training: true, seed, taken: AtomicU64::new(0), draws: None }
    }

    /// A step of evaluation: nothing is remembered.
    #[track_caller]
    pub fn evaluating(rt: &Runtime) -> Self {
        Self::in_arena(rt.arena())
    }

    pub(crate) fn in_arena(arena: Arena) -> Self {
        Self {
            under: Under::Arena(arena),
            is_training: false,
            seed: 0,
            taken: AtomicU64::new(0),
            draws: None,
        }
    }
}

impl<'a> Step<'a> {
    /// A step of training under a tape of the caller's, with the random numbers of seed 0: give each step a
    /// [seed](Self::seed) of its own.
    pub fn under(tape: Tape<'a>) -> Self {
        Self { under: Under::Tape(tape), is_training: true, seed: 0, taken: AtomicU64::new(0), draws: None }
    }

    /// Takes the random numbers of this seed. Steps with the same seed draw the same numbers.
    pub fn seed(mut self, seed: u64) -> Self {
        self.set_seed(seed);
        self
    }

    /// Takes the random numbers of this seed from now on.
    pub fn set_seed(&mut self, seed: u64) {
        self.seed = seed;
        *self.taken.get_mut() = 0;
    }

    /// The seed of its random numbers.
    pub(crate) fn current_seed(&self) -> u64 {
        self.seed
    }

    /// How many random numbers of the seed have been taken.
    pub(crate) fn numbers_taken(&self) -> u64 {
        self.taken.load(Ordering::Relaxed)
    }

    /// Goes on after so many random numbers of the seed.
    pub(crate) fn set_numbers_taken(&self, taken: u64) {
        self.taken.store(taken, Ordering::Relaxed);
    }

    /// Sets whether layers behave as in training (dropout drops, batch normalisation uses the batch).
    pub fn set_training(&mut self, is_training: bool) {
        self.is_training = is_training;
    }

    /// Whether layers behave as in training.
    pub fn is_training(&self) -> bool {
        self.is_training
    }

    /// The next `count` random numbers of the step: give them to an operation as they are. In a program they are drawn from
    /// the seed of each call, which is not known yet when it is recorded.
    pub fn numbers(&self, count: usize) -> Philox {
        if let Some(draws) = &self.draws {
            let (seed, offset) = draws.draw(count as u64);
            return Philox { seed, offset };
        }
        Philox::new(self.seed).skip(self.taken.fetch_add(count as u64, Ordering::Relaxed))
    }

    /// The tape, if the step learns.
    pub fn tape(&self) -> Option<&Tape<'a>> {
        match &self.under {
            Under::Arena(_) => None,
            Under::Tape(tape) => Some(tape),
        }
    }

    /// An arena with the same lifetime: what is made there is not differentiated, on purpose.
    pub fn detached(&self) -> &Arena {
        match &self.under {
            Under::Arena(arena) => arena,
            Under::Tape(tape) => tape.detached(),
        }
    }

    /// Forgets the tasks, and releases every array that was made here. Waits for nothing.
    pub fn reset(&mut self) {
        match &mut self.under {
            Under::Arena(arena) => arena.reset(),
            Under::Tape(tape) => tape.reset(),
        }
    }

    /// Forgets the tasks, and keeps the memory of the arrays that were made here: cheaper than a reset.
    pub(crate) fn forget(&mut self) {
        if let Under::Tape(tape) = &mut self.under {
            tape.forget();
        }
    }

    /// Resets the step, and waits until at most `left_bytes` are in use if more than `most_bytes` are.
    pub(crate) fn reset_beyond(&mut self, most_bytes: usize, left_bytes: usize) {
        match &mut self.under {
            Under::Arena(arena) => arena.reset_beyond(most_bytes, left_bytes),
            Under::Tape(tape) => tape.reset_beyond(most_bytes, left_bytes),
        }
    }

    /// As [`accumulate`](Self::accumulate), but adds the gradients to `sums`: one for each parameter that is not frozen, in
    /// their order.
    #[track_caller]
    pub(crate) fn accumulate_to<T: Real>(
        &self,
        loss: &Scalar<'_, T>,
        model: &impl Module<T>,
        sums: Vec<&mut Vector<'_, T>>,
    ) -> dahl::Result<()> {
        match self.tape() {
            Some(tape) => gradients::accumulate_to(tape, loss, model, sums),
            None => Ok(()),
        }
    }

    /// Computes the gradients of `loss` by the parameters of `model` that are not frozen, and adds them to the parameters'.
    /// Waits for nothing. A step that does not learn computes nothing.
    ///
    /// # Errors
    /// If the loss does not depend on a parameter that is not frozen: the error names it. And those of the operations.
    #[track_caller]
    pub fn accumulate<T: Real>(&self, loss: &Scalar<'_, T>, model: &mut impl Module<T>) -> dahl::Result<()> {
        match self.tape() {
            Some(tape) => gradients::accumulate(tape, loss, model),
            None => Ok(()),
        }
    }
}

/// A step of training in a program.
impl ProgramScope for Step<'static> {
    fn within(recording: &Recording<'_>) -> Self {
        let mut step = Self::under(recording.tape());
        step.draws = Some(Arc::clone(recording.draws()));
        step
    }
}

impl SealedScope for Step<'_> {}

/// A step that learns is under a tape, and has no branches: [`detached`](Step::detached) has them.
impl ControlFlow for Step<'_> {
    fn arena_of_flow(&self) -> &Arena {
        self.detached()
    }

    fn begin_body(&self, flow: &'static str, location: &'static Location<'static>) -> dahl::Result<Self> {
        let Under::Arena(arena) = &self.under else {
            let fact = "the step is under a tape, and no gradient passes through branches and loops yet; use those of \
                        `step.detached()`, whose tasks have no gradient"
                .to_owned();
            return Err(refusal(flow, fact, location));
        };
        Ok(Self {
            under: Under::Arena(arena.sibling()),
            is_training: self.is_training,
            seed: self.seed,
            taken: AtomicU64::new(self.numbers_taken()),
            draws: self.draws.clone(),
        })
    }

    fn end_body(&self, body: &mut Self) {
        self.set_numbers_taken(body.numbers_taken());
        body.reset();
    }
}

impl<C: Differentiable> Scope<C> for Step<'_> {
    #[inline]
    fn arena(&self) -> &Arena {
        self.detached()
    }

    #[inline]
    fn submit(&self, task: Task<'_>, gradient: impl FnOnce() -> &'static Gradient) -> dahl::Result<()> {
        match &self.under {
            Under::Arena(_) => task.submit(),
            Under::Tape(tape) => Scope::<C>::submit(tape, task, gradient),
        }
    }

    fn remember<'c>(&self, call: impl FnOnce() -> dahl::Result<Composite<'c>>) -> dahl::Result<()> {
        match &self.under {
            Under::Arena(_) => Ok(()),
            Under::Tape(tape) => Scope::<C>::remember(tape, call),
        }
    }
}

impl fmt::Debug for Step<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let learns = self.tape().is_some();
        f.debug_struct("Step").field("learns", &learns).field("is_training", &self.is_training).finish()
    }
}
