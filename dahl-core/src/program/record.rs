//! [`record`]: calls a function whose tasks are recorded and not run.

use std::marker::PhantomData;
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, Location, catch_unwind, resume_unwind};
use std::sync::Arc;

use super::bindings::Detached;
use super::engine::Engine;
use super::flow::ControlFlow;
use super::over_ranks::note_recording;
use super::region;
use super::varying::{CallNumbers, Draws, Varying};
use crate::access::AccessMode;
use crate::arena::Arena;
use crate::array::{Array, Shared, StandIns};
use crate::array_id::ArrayId;
use crate::config::Config;
use crate::element::{Element, ElementType};
use crate::error::{Error, ErrorKind, Result};
use crate::executor::Executor;
use crate::graph::{self, ArrayState, Content, Entries, Initial, LoggedArray, LoggedStep, Origin};
use crate::memory::ALIGN_BYTES;
use crate::submission::Task;
use crate::tape::{Composite, Gradient, Scope, SealedScope, Tape};

/// The scope of a program while it is recorded: what is submitted under it is remembered, and nothing runs.
///
/// Values cannot be read, since there are none.
#[derive(Debug)]
pub struct Recording<'r> {
    arena: Arena,
    draws: Arc<Draws>,
    lives: PhantomData<&'r ()>,
}

impl Recording<'_> {
    /// Memory for arrays of the program that no operation makes: zeros, and constants.
    pub fn arena(&self) -> &Arena {
        &self.arena
    }

    /// A tape in the program: gradients are recorded too.
    #[track_caller]
    pub fn tape(&self) -> Tape<'static> {
        Tape::beside(&self.arena)
    }
}

impl Recording<'_> {
    /// The random numbers that the program draws: those of the call.
    #[doc(hidden)]
    pub fn draws(&self) -> &Arc<Draws> {
        &self.draws
    }
}

impl SealedScope for Recording<'_> {}

impl ControlFlow for Recording<'_> {
    fn arena_of_flow(&self) -> &Arena {
        &self.arena
    }

    fn begin_body(&self, _: &'static str, _: &'static Location<'static>) -> Result<Self> {
        Ok(Self { arena: self.arena.sibling(), draws: Arc::clone(&self.draws), lives: PhantomData })
    }

    fn end_body(&self, body: &mut Self) {
        body.arena.reset();
    }
}

impl<C> Scope<C> for Recording<'_> {
    fn arena(&self) -> &Arena {
        &self.arena
    }

    fn submit(&self, task: Task<'_>, _: impl FnOnce() -> &'static Gradient) -> Result<()> {
        task.submit()
    }

    fn remember<'a>(&self, _: impl FnOnce() -> Result<Composite<'a>>) -> Result<()> {
        Ok(())
    }
}

/// The arrays that a program returns.
#[derive(Debug, Default)]
pub struct Outputs {
    arrays: Vec<Output>,
    is_part: bool,
}

#[derive(Debug)]
struct Output {
    owner: Shared,
    extents: Vec<usize>,
    element: ElementType,
}

impl Outputs {
    /// Adds an array.
    pub fn array<T: Element, const N: usize>(&mut self, array: &Array<'_, T, N>) {
        match Shared::of(array.state()) {
            Some(owner) => self.arrays.push(Output {
                owner,
                extents: array.shape().to_vec(),
                element: ElementType::of::<T>(),
            }),
            None => self.is_part = true,
        }
    }
}

/// What a function has submitted.
#[derive(Debug)]
pub struct Recorded {
    /// The steps, in order.
    pub steps: Vec<LoggedStep>,
    /// For each step: the plain arguments that a call sets.
    pub varying: Vec<Vec<Varying>>,
    /// How many random numbers a call draws.
    pub drawn: u64,
    /// All arrays.
    pub arrays: Vec<LoggedArray>,
    /// The arrays of the arguments.
    pub arguments: Vec<ArrayId>,
    /// The arrays that it returns, with their shapes.
    pub outputs: Vec<(ArrayId, Vec<usize>, ElementType)>,
}

/// Requires that this thread records no program.
///
/// # Errors
/// If it does.
pub fn require_no_recording(program: &'static str, location: &'static Location<'static>) -> Result<()> {
    if !crate::array::is_recording() {
        return Ok(());
    }
    let fact = "a program cannot be called while another one is recorded; call its function".to_owned();
    Err(refusal(program, fact, location))
}

/// The error of a program that cannot be recorded, or not be called: D0027.
pub fn refusal(program: &'static str, fact: String, location: &'static Location<'static>) -> Error {
    Error::at(ErrorKind::Program { program, fact }, location)
}

/// Records what `body` submits, with stand-ins for the arguments.
///
/// # Errors
/// Those of `body`. If it keeps a task or parts of an argument beyond its end, returns what it has not made, or does
/// something that cannot be replayed.
pub fn record(
    engine: &Engine,
    detached: &Detached,
    program: &'static str,
    location: &'static Location<'static>,
    body: impl FnOnce(&Recording<'_>, &mut Outputs) -> Result<()>,
) -> Result<Recorded> {
    let refuse = |fact: String| refusal(program, fact, location);
    require_no_recording(program, location)?;
    let real = engine.executor();
    let machine = real.devices().map(|devices| devices.machine().clone());
    let executor = Executor::new(Config::recording(real.cpu_workers(), machine));
    let recording: Arc<dyn graph::Engine> = Arc::<Executor>::clone(&executor);
    let mut table = StandIns::new(real.ranks().is_some());
    let mut arguments = Vec::with_capacity(detached.arrays());
    for (&state, kind) in detached.states.iter().zip(&detached.signature.arrays) {
        let nowhere = std::ptr::without_provenance_mut(ALIGN_BYTES);
        let is_part = kind.layout.offset > 0 || !kind.layout.is_contiguous();
        let stand_in = if is_part {
            ArrayState::create_part_of(&recording, kind.element, kind.layout)
        } else {
            let bytes = kind.layout.len() * kind.element.size_bytes;
            ArrayState::create(&recording, kind.element, nowhere, bytes, Origin::None, Content::Ready, None)
        };
        let stand_in = Shared::of_new(stand_in);
        if let Some(len) = NonZeroUsize::new(kind.leaf_len) {
            stand_in.state().reductions().set_leaf_len(len);
        }
        arguments.push(stand_in.state().id());
        table.add(state, stand_in);
    }
    let draws = Arc::default();
    let arena = Arena::new(Arc::clone(&recording));
    let scope = Recording { arena, draws: Arc::clone(&draws), lives: PhantomData };
    let mut outputs = Outputs::default();
    let result = catch_unwind(AssertUnwindSafe(|| table.meanwhile(|| body(&scope, &mut outputs))));
    if !executor.records().is_unused() || table.states().any(|state| state.partitions().are_read()) {
        // They refer to stand-ins, which stay forever.
        std::mem::forget((table, outputs, scope, recording));
        return Err(refuse("a task or parts of an array were kept beyond its end".to_owned()));
    }
    result.unwrap_or_else(|panic| resume_unwind(panic))?;
    // What is pending for arrays that are used afterwards is a part of the program.
    for state in table.states().chain(outputs.arrays.iter().map(|output| output.owner.state())) {
        state.flush_pending(AccessMode::R);
    }
    if outputs.is_part {
        return Err(refuse("it returns a part of an array; return a copy".to_owned()));
    }
    let log = executor.log().expect("the engine of a recording has a log");
    let Entries { mut steps, arrays, problem, .. } = log.take();
    if let Some((what, location)) = problem {
        return Err(Error::at(
            ErrorKind::Program { program, fact: format!("{what} cannot be replayed") },
            location,
        ));
    }
    region::check(&steps, &arrays, program)?;
    let outputs = outputs
        .arrays
        .iter()
        .map(|output| (output.owner.state().id(), output.extents.clone(), output.element));
    let outputs: Vec<_> = outputs.collect();
    if outputs.iter().any(|(id, ..)| arguments.contains(id)) {
        return Err(refuse("it returns an argument; return a copy".to_owned()));
    }
    if (1..outputs.len()).any(|index| outputs[..index].iter().any(|(id, ..)| *id == outputs[index].0)) {
        return Err(refuse("it returns one array twice; return a copy".to_owned()));
    }
    region::check_outputs(&steps, &arrays, program, |id| outputs.iter().any(|(output, ..)| *output == id))?;
    let is_filled = |array: &LoggedArray| {
        array.initial != Initial::Zeros && outputs.iter().any(|(id, ..)| *id == array.id)
    };
    if arrays.iter().any(is_filled) {
        return Err(refuse("it returns an array that it has filled with values; return a copy".to_owned()));
    }
    if let Some(ranks) = real.ranks() {
        note_recording(ranks, program, &arguments, &steps, &outputs);
    }
    let varying = varying(&mut steps, &detached.numbers, &draws).map_err(refuse)?;
    Ok(Recorded { steps, varying, drawn: draws.count(), arrays, arguments, outputs })
}

/// The plain arguments of each step that calls set.
///
/// # Errors
/// If the tasks of a slot have other arguments than the slot has, or if random numbers cannot be found in the tasks.
fn varying(
    steps: &mut [LoggedStep],
    numbers: &CallNumbers,
    draws: &Draws,
) -> std::result::Result<Vec<Vec<Varying>>, String> {
    let mut varying = vec![Vec::new(); steps.len()];
    let mut taken = vec![0; numbers.ends.len()];
    for (step, varying) in steps.iter().zip(&mut varying) {
        let LoggedStep::Task { desc, slot: Some((slot, before)), .. } = step else { continue };
        let arguments = desc.arguments();
        let taken_here = numbers.range(*slot).and_then(|range| {
            let bytes = range.start + before..range.start + before + arguments.len();
            (bytes.end <= range.end && numbers.bytes[bytes.clone()] == *arguments).then_some(bytes)
        });
        let Some(bytes) = taken_here else {
            let (task, location) = (desc.codelet().name, desc.location());
            return Err(format!(
                "{task}, submitted at {location}, has other plain arguments than were announced for this call; \
                 an update rule's `numbers` must be the arguments of the tasks of its `update`, and its optimizer an \
                 argument of the program"
            ));
        };
        taken[*slot] += arguments.len();
        varying.push(Varying::Arguments { slot: *slot, bytes });
    }
    let is_whole = |(slot, taken): (usize, &usize)| {
        *taken == 0 || numbers.range(slot).is_some_and(|range| range.len() == *taken)
    };
    if !taken.iter().enumerate().all(is_whole) {
        return Err(
            "an update rule's `numbers` are more than the arguments of the tasks of its `update`".to_owned()
        );
    }
    let mut inside = Vec::new();
    let mut tasks = Vec::new();
    for (step, varying) in steps.iter_mut().zip(&mut varying) {
        match step {
            LoggedStep::Task { desc, .. } => tasks.push((desc.arguments_mut(), varying)),
            LoggedStep::Flow(flow) => {
                flow.each_task(&mut |desc| inside.push((desc.arguments_mut(), Vec::new())))
            }
            _ => {}
        }
    }
    let all =
        tasks.into_iter().chain(inside.iter_mut().map(|(arguments, varying)| (&mut **arguments, varying)));
    draws
        .find(all)
        .ok_or("random numbers are drawn, and no task of the program gets them as they were drawn")?;
    if inside.iter().any(|(_, varying)| !varying.is_empty()) {
        return Err("the body of a branch or of a loop draws random numbers of the call; give it a seed that is a plain \
                    value, or numbers in an array"
            .to_owned());
    }
    Ok(varying)
}
