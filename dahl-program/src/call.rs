//! [`Program`]: the graphs that a function was recorded as, for the shapes that it was called with, and their replays.

use std::panic::Location;
use std::path::Path;
use std::sync::Arc;

use dahl_core::__program::{
    Bindings, Detached, Engine, Instance, Outputs, ProgramMemory, Signature, record, refusal,
    require_no_recording,
};
use dahl_core::{Arena, Codelet, Recording, Result, Runtime};

use crate::argument::{Arguments, Slots};
use crate::graph::Graph;
use crate::listing::{Listing, require_listed};
use crate::pass::{PassReport, Passes};
use crate::plan::MemoryPlan;
use crate::planner::Planner;
use crate::returned::Returned;

/// The recordings that are kept for other shapes, unless [`set_kept`](Program::set_kept) says otherwise.
const KEPT: usize = 64;

/// The same on a runtime with devices, where each recording has memory of its own.
const KEPT_ON_DEVICES: usize = 16;

/// What a program is, apart from its types. `#[program]` makes one.
#[derive(Debug)]
pub struct Body {
    /// Its name, as that of a codelet without parameters.
    pub codelet: Codelet,
    /// The names of its parameters, without the scope.
    pub parameters: &'static [&'static str],
    /// Whether each call draws random numbers of the runtime's next seed.
    pub draws: bool,
}

/// A program on a runtime: what its function was recorded as, for each of the shapes that it was called with last.
#[derive(Debug)]
pub struct Program {
    engine: Engine,
    body: &'static Body,
    passes: Passes,
    tight: bool,
    most_bytes: Option<usize>,
    listings: Vec<Listing>,
    most: usize,
    /// Whether the second call for each shape records too.
    compares: bool,
    /// The most recent call's is the first.
    kept: Vec<Kept>,
    recordings: u64,
    replays: u64,
    /// The seed of the random numbers of the calls to come, and how many come before, unless each call has a seed.
    random: Option<(u64, u64)>,
    /// The memory of all recordings, on a runtime without devices.
    memory: Option<Arc<ProgramMemory>>,
    spare: (Bindings<'static>, Bindings<'static>),
}

/// A recording for some shapes.
#[derive(Debug)]
struct Kept {
    signature: Signature,
    /// Whether a second recording was the same.
    is_compared: bool,
    /// How many random numbers a call draws.
    drawn: u64,
    /// The slots that tasks take their arguments from.
    slots: Slots,
    shapes: Vec<Vec<usize>>,
    graph: Graph,
    reports: Vec<PassReport>,
    memory: MemoryPlan,
    instance: Arc<Instance>,
}

impl Program {
    /// A program that has not been called.
    #[doc(hidden)]
    pub fn new(runtime: &Runtime, body: &'static Body) -> Self {
        Self::on(Engine::of(runtime), body)
    }

    /// The same, on the runtime of an arena. Its calls have no seeds but those that are set.
    #[doc(hidden)]
    pub fn beside(arena: &Arena, body: &'static Body) -> Self {
        Self::on(Engine::of_arena(arena), body)
    }

    fn on(engine: Engine, body: &'static Body) -> Self {
        let spare = (Bindings::new(), Bindings::new());
        let passes = Passes::all();
        let most = if engine.has_devices() { KEPT_ON_DEVICES } else { KEPT };
        Self {
            engine,
            body,
            passes,
            tight: false,
            most_bytes: None,
            listings: Vec::new(),
            most,
            compares: false,
            kept: Vec::new(),
            recordings: 0,
            replays: 0,
            random: None,
            memory: None,
            spare,
        }
    }

    /// Lets the second call for each shape record too: if that recording is another one, the call fails. So a function that
    /// depends on more than its arguments is noticed.
    #[doc(hidden)]
    pub fn compare_recordings(&mut self) {
        self.compares = true;
    }

    /// Forgets all recordings: the next call records.
    pub fn forget(&mut self) {
        self.kept.clear();
        self.memory = None;
    }

    /// Sets the passes of graphs that are recorded from now on.
    pub fn set_passes(&mut self, passes: Passes) {
        self.passes = passes;
        self.forget();
    }

    /// Whether the tasks get an order in which little memory is in use at one time, which then holds for every run as far as
    /// arrays share memory by it. Otherwise only arrays share it whose tasks cannot run side by side anyway.
    pub fn set_tight(&mut self, tight: bool) {
        self.tight = tight;
        self.forget();
    }

    /// Limits the bytes of the arrays that it makes: it is [tight](Self::set_tight), and tasks run again for later readers where
    /// that saves memory ([`Passes::recomputation`]). A recording that needs more is an error, which says how much is needed.
    pub fn set_most_bytes(&mut self, most: usize) {
        self.most_bytes = Some(most);
        self.set_tight(true);
    }

    /// Lets it record only what this listing has, after the passes, or another one that was added. A call that would record
    /// something else is an error, which names what differs: codelets whose declarations have changed, tasks, arrays.
    pub fn add_listing(&mut self, listing: Listing) {
        self.listings.push(listing);
        self.forget();
    }

    /// As [`add_listing`](Self::add_listing), with the listing in a file.
    ///
    /// # Errors
    /// As [`Listing::load`].
    #[track_caller]
    pub fn load(&mut self, path: impl AsRef<Path>) -> Result<()> {
        let (name, location) = (self.body.codelet.name, Location::caller());
        let listing = Listing::load(path)
            .map_err(|error| refusal(name, format!("cannot be loaded: {error}"), location))?;
        self.add_listing(listing);
        Ok(())
    }

    /// Sets for how many shapes recordings are kept; the one that was not called for the longest time goes.
    pub fn set_kept(&mut self, most: usize) {
        self.most = most.max(1);
        self.kept.truncate(self.most);
    }

    /// Lets the next calls draw the random numbers of `seed` after the first `before` ones.
    #[doc(hidden)]
    pub fn set_random(&mut self, seed: u64, before: u64) {
        self.random = Some((seed, before));
    }

    /// How many random numbers the last call has drawn.
    #[doc(hidden)]
    pub fn drawn(&self) -> u64 {
        self.kept.first().map_or(0, |kept| kept.drawn)
    }

    /// The graph of the last call, after the passes.
    ///
    /// # Panics
    /// If it has not been called.
    #[track_caller]
    pub fn graph(&self) -> &Graph {
        &self.last().graph
    }

    /// Where the arrays of the last call's graph are.
    ///
    /// # Panics
    /// If it has not been called.
    #[track_caller]
    pub fn memory_plan(&self) -> &MemoryPlan {
        &self.last().memory
    }

    /// What each pass did with the last call's graph, and what it did not do.
    ///
    /// # Panics
    /// If it has not been called.
    #[track_caller]
    pub fn explain(&self) -> &[PassReport] {
        &self.last().reports
    }

    /// Where the last call's graph runs, and how long a replay takes on each target, as far as it is known; none if the scheduler
    /// places each task, or there are no devices.
    ///
    /// # Panics
    /// If it has not been called.
    #[track_caller]
    pub fn target(&self) -> Option<String> {
        self.last().instance.shown_target()
    }

    #[track_caller]
    fn last(&self) -> &Kept {
        match self.kept.first() {
            Some(kept) => kept,
            None => panic!("{} has not been called yet: there is no graph", self.body.codelet.name),
        }
    }

    /// How many calls have recorded.
    pub fn recordings(&self) -> u64 {
        self.recordings
    }

    /// How many calls have replayed what an earlier one recorded.
    pub fn replays(&self) -> u64 {
        self.replays
    }

    /// Calls the program: replays what was recorded for such arguments, or records `function` first.
    ///
    /// # Errors
    /// As for the operations of the function, if it records; otherwise those of [`Instance::submit`].
    #[doc(hidden)]
    pub fn call<A: Arguments, R: Returned>(
        &mut self,
        arguments: &mut A,
        location: &'static Location<'static>,
        function: impl FnOnce(&mut A, &Recording<'_>, &mut Outputs) -> Result<()>,
    ) -> Result<R::Kept> {
        require_no_recording(self.body.codelet.name, location)?;
        let (spare, spare_outputs) = std::mem::take(&mut self.spare);
        let mut bindings = spare.recycled();
        arguments.bind(&mut bindings);
        let (seed, before) = match self.random {
            Some(random) => random,
            None if self.body.draws => (self.engine.next_seed(), 0),
            None => (0, 0),
        };
        bindings.set_random(seed, before);
        let found = self.kept.iter().position(|kept| bindings.fits(&kept.signature));
        if let Some(position) = found {
            self.kept[..=position].rotate_right(1);
        }
        let replays = found.is_some() && (!self.compares || self.kept[0].is_compared);
        if replays {
            self.replays += 1;
        } else {
            // The function gets the arguments, which must not be borrowed meanwhile.
            let detached = bindings.detached(&self.engine, self.body.codelet.name, location)?;
            drop(bindings);
            let mut names = Vec::new();
            arguments.name(self.body.parameters, &mut names);
            let kept = self.record(arguments, &detached, &names, location, function)?;
            if found.is_some() {
                self.require_equal(&kept, location)?;
            }
            bindings = Bindings::new();
            arguments.bind(&mut bindings);
            // The function has counted the step of an optimizer: the numbers are those from before.
            bindings.set_numbers(&detached);
            detached.require_same(&bindings, self.body.codelet.name, location)?;
            if found.is_some() {
                self.kept[0].is_compared = true;
            } else {
                self.kept.insert(0, kept);
                self.kept.truncate(self.most);
            }
            self.recordings += 1;
        }
        let kept = &self.kept[0];
        let mut shapes = &kept.shapes[..];
        let mut result = R::make(&self.engine, &mut shapes)?;
        let mut outputs = spare_outputs.recycled();
        R::bind(&mut result, &mut outputs);
        let submitted = kept.instance.submit(&bindings, &outputs, location);
        self.spare = (bindings.recycled(), outputs.recycled());
        submitted?;
        if replays {
            arguments.replayed(&kept.slots);
        }
        Ok(result)
    }
}

impl Program {
    /// Requires that a second recording is the first one again.
    fn require_equal(&self, again: &Kept, location: &'static Location<'static>) -> Result<()> {
        let difference = self.kept[0].graph.listing().difference(&again.graph.listing());
        if difference.is_empty() {
            return Ok(());
        }
        let program = self.body.codelet.name;
        let fact = format!("called twice, it submits other tasks, or other arguments:\n{difference}");
        Err(refusal(program, fact, location))
    }

    /// Records the function for the arguments.
    fn record<A>(
        &mut self,
        arguments: &mut A,
        before: &Detached,
        names: &[String],
        location: &'static Location<'static>,
        function: impl FnOnce(&mut A, &Recording<'_>, &mut Outputs) -> Result<()>,
    ) -> Result<Kept> {
        let name = self.body.codelet.name;
        let recorded = record(&self.engine, before, name, location, |scope, outputs| {
            function(arguments, scope, outputs)
        })?;
        let (drawn, slots) = (recorded.drawn, Slots::of(&recorded.varying));
        let shapes = recorded.outputs.iter().map(|(_, extents, _)| extents.clone()).collect();
        let mut graph = Graph::new(name, recorded, names);
        let mut reports = self.passes.run(&mut graph, &self.engine);
        let planner =
            Planner { engine: &self.engine, codelet: &self.body.codelet, tight: self.tight, location };
        let mut planned = planner.plan(&mut graph);
        if let Some(most) = self.most_bytes.filter(|_| self.passes.recomputes()) {
            let before = graph.tasks();
            let notes = planner.fit(&mut graph, &mut planned, most);
            reports.push(PassReport { pass: "recomputation", before, after: graph.tasks(), notes });
        }
        require_listed(&graph, &self.listings).map_err(|fact| refusal(name, fact, location))?;
        if let Some(most) = self.most_bytes.filter(|&most| planned.memory.all_bytes() > most) {
            return Err(refusal(name, planned.memory.too_large_for(most), location));
        }
        let shared = match &self.memory {
            Some(memory) => Arc::clone(memory),
            None => ProgramMemory::new(&self.engine)?,
        };
        let (memory, instance) = planner.instance(&graph, planned, Some(&shared))?;
        // A replica of an array on a device may come home later, so its memory at home is not another recording's.
        self.memory = (!self.engine.has_devices()).then_some(shared);
        reports.extend(on_device(&instance, graph.tasks()));
        Ok(Kept {
            signature: before.signature().clone(),
            is_compared: false,
            drawn,
            slots,
            shapes,
            graph,
            reports,
            memory,
            instance,
        })
    }
}

/// Whether a device runs a program of so many tasks as one graph, where there are devices.
fn on_device(instance: &Instance, tasks: usize) -> Option<PassReport> {
    let (after, note) = match instance.on_device()? {
        Ok(()) => (1, "a CUDA device runs it as one graph".to_owned()),
        Err(reason) => (tasks, format!("not done: {reason}")),
    };
    Some(PassReport { pass: "device", before: tasks, after, notes: vec![note] })
}
