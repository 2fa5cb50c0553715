//! [`Listing`]: a program as data, which a file keeps and any process can look at.
//!
//! A [`Graph`] has the codelets of the process that recorded it. A listing names them instead: by module, name, element types
//! and a hash of the declaration. It is printed and drawn, saved and loaded ([`Listing::load`]), compared
//! ([`Listing::difference`]), and its memory is planned. It is not run: kernels are code. A program that is recorded again
//! can be held to a listing ([`Program::add_listing`](crate::Program::add_listing)).
//!
//! Not here: passes, which work on graphs.

mod check;
mod difference;
mod digits;
mod dot;
mod error;
mod file;
mod of_graph;
mod refusal;
mod sequence;
mod text;
mod work;

use serde::{Deserialize, Serialize};

pub use difference::{Change, Difference, Field};
pub use error::ListingError;
pub(crate) use refusal::require_listed;
pub(crate) use text::label;
pub use work::{ListedAccess, ListedTask};

use digits::{bytes, hash};

use crate::graph::{Graph, Order, Origin, Use};
use crate::plan::{Demand, Described, Effort, MemoryPlan, Sharing};

/// A program as data, without the code of its codelets.
///
/// Printed, it is a line for each step: `%4 = relu(%3)`, with the shape, and the line of the source that submitted it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Listing {
    name: String,
    codelets: Vec<CodeletName>,
    arrays: Vec<ListedArray>,
    steps: Vec<ListedStep>,
}

/// A step of a listing, as texts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StepRow {
    /// Its number.
    pub number: usize,
    /// What it does: `%4: f32[2, 3] = relu(%3)`.
    pub line: String,
    /// The name of the codelet, or what else it does.
    pub action: String,
    /// The last array that it writes, with its type and shape.
    pub writes: Option<String>,
    /// The codelet, with its module.
    pub codelet: Option<String>,
    /// The hash of its declaration.
    pub declaration: Option<String>,
    /// Of a branch or a loop: its bodies, as indented lines.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub inside: Vec<String>,
    /// The line that submitted it.
    pub source: String,
}

/// What identifies a codelet.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct CodeletName {
    module: String,
    name: String,
    /// The hash of its declaration.
    #[serde(with = "hash")]
    declaration: u64,
    parameters: Vec<ListedParameter>,
    arguments: Vec<String>,
}

/// A data parameter of a codelet.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ListedParameter {
    name: String,
    mode: String,
    element: String,
}

/// An array of a program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ListedArray {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    element: String,
    extents: Vec<usize>,
    bytes: usize,
    origin: Origin,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    part: Option<ListedPart>,
    /// Its value before its first step, if that is not zeros.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "bytes::optional")]
    initial: Option<Vec<u8>>,
}

/// The place of a part in its whole array.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ListedPart {
    /// The number of its partition, and its number there; none for an argument that is a part.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    partition: Option<(usize, usize)>,
    offset: usize,
    extents: Vec<usize>,
    strides: Vec<isize>,
    shared: bool,
}

/// A step of a program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ListedStep {
    action: Action,
    uses: Vec<ListedUse>,
    /// Of a branch or a loop: its bodies, whose arguments are the arrays that it uses, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    bodies: Vec<Listing>,
    /// The line that submitted it.
    source: String,
}

/// What a step does.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum Action {
    /// A worker calls a codelet.
    Task(Call),
    /// Parts get the value of their whole array. They are only read if this is true.
    Split(bool),
    /// An array gets the value of its parts, unless they are only read.
    Join(bool),
    /// An array's value is discarded.
    Forget,
    /// One of two bodies runs: the first one if the first array's element is not zero.
    Branch,
    /// A body runs as long as the first array's element is not zero.
    RepeatWhile,
}

/// The call of a codelet.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Call {
    /// The number of the codelet in the listing.
    codelet: usize,
    form: Form,
    /// The kernel that the submitter named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    kernel: Option<String>,
    /// The bytes of the plain arguments.
    #[serde(default, skip_serializing_if = "Vec::is_empty", with = "bytes")]
    arguments: Vec<u8>,
    /// Which of these each call sets.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    varies: Vec<Varies>,
    /// The floating-point operations that the codelet's declaration says, as a whole number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    flops: Option<u64>,
    /// The bytes that it moves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    bytes_moved: Option<u64>,
    /// The name that the submitter gave.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(default, skip_serializing_if = "is_zero")]
    priority: i32,
    /// The worker on which it runs, and whether any other of its kind does as well.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    worker: Option<(usize, bool)>,
}

/// Plain arguments that each call of the program sets, and that are zero in the listing.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum Varies {
    /// All, from the slot of this number: those of an optimizer's update.
    Slot(usize),
    /// The seed of random numbers.
    Seed {
        /// Its first byte.
        at: usize,
        /// How many random numbers of the call come before.
        drawn: u64,
    },
}

/// Which of a codelet's tasks a call is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Form {
    /// An ordinary call.
    Call,
    /// A call that overwrites one of its inputs.
    InPlace,
    /// Combines two partial results of a reduction.
    Fold,
    /// Combines the result of a reduction with the array.
    Finish,
}

/// An access of a step to an array.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ListedUse {
    /// The number of the array; none for temporary memory of the kernel.
    array: Option<usize>,
    reads: bool,
    writes: bool,
    /// How the task sees the array; none for a step that is no task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    view: Option<View>,
}

/// How a task sees an array.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct View {
    mode: String,
    offset: usize,
    extents: Vec<usize>,
    strides: Vec<isize>,
}

impl Listing {
    /// The name of the program.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The number of tasks that workers run; those of a body are counted once.
    pub fn tasks(&self) -> usize {
        let of_step = |step: &ListedStep| match step.action {
            Action::Task(_) => 1,
            _ => step.bodies.iter().map(Self::tasks).sum(),
        };
        self.steps.iter().map(of_step).sum()
    }

    /// The number of arrays, without those that bodies make.
    pub fn arrays(&self) -> usize {
        self.arrays.len()
    }

    /// The bytes of the values that the program fills arrays with.
    pub fn constant_bytes(&self) -> usize {
        let own: usize = self.arrays.iter().filter_map(|array| array.initial.as_ref()).map(Vec::len).sum();
        let bodies = self.steps.iter().flat_map(|step| &step.bodies);
        own + bodies.map(Self::constant_bytes).sum::<usize>()
    }

    /// The steps as texts, in order.
    pub fn rows(&self) -> Vec<StepRow> {
        let row = |(number, step): (usize, &ListedStep)| {
            let codelet = self.codelet(step);
            let made = step.uses.iter().rev().find(|used| used.writes).and_then(|used| used.array);
            StepRow {
                number,
                line: self.line(step),
                action: self.action(step),
                writes: made.map(|array| format!("{}: {}", self.label(array), self.arrays[array])),
                codelet: codelet.map(|codelet| format!("{}::{}", codelet.module, codelet.name)),
                declaration: codelet.map(|codelet| format!("{:016x}", codelet.declaration)),
                inside: self.inside(step).into_iter().map(|(line, _)| line).collect(),
                source: step.source.clone(),
            }
        };
        self.steps.iter().enumerate().map(row).collect()
    }

    /// The number of steps: tasks, and splits and joins of partitions.
    pub fn steps(&self) -> usize {
        self.steps.len()
    }

    /// The dependencies: pairs of numbers of steps, of which the second waits for the first.
    pub fn edges(&self) -> Vec<(usize, usize)> {
        self.order().edges()
    }

    /// The steps that use an array, or a part of it.
    pub fn steps_with(&self, array: usize) -> Vec<usize> {
        let is_meant =
            |used: &ListedUse| used.array.is_some_and(|used| used == array || self.root(used) == array);
        (0..self.steps.len()).filter(|&step| self.steps[step].uses.iter().any(is_meant)).collect()
    }

    fn order(&self) -> Order {
        let steps = self.steps.iter();
        Order::of_uses(self.arrays.len(), steps.map(|step| step.uses.iter().map(ListedUse::access)))
    }

    /// The plan of a program that runs in any order which its dependencies allow.
    pub fn memory_plan(&self) -> MemoryPlan {
        let mut plan = MemoryPlan::new(&self.demand(), &mut self.order(), Sharing::Ordered);
        let bodies = self.steps.iter().flat_map(|step| &step.bodies);
        plan.add_bodies(bodies.map(|body| body.memory_plan().all_bytes()).sum());
        plan
    }

    /// Brings the steps into an order in which little memory is in use at one time, and returns the plan of a program that
    /// follows it (`.tight()`).
    pub fn plan_tightly(&mut self, effort: &Effort) -> MemoryPlan {
        let (demand, order) = (self.demand(), self.order());
        let reorder = |order: &[usize]| {
            let mut steps: Vec<_> = std::mem::take(&mut self.steps).into_iter().map(Some).collect();
            self.steps = order
                .iter()
                .map(|&step| steps[step].take().expect("each step is once in the order"))
                .collect();
            (self.demand(), self.order())
        };
        let (mut plan, _) = MemoryPlan::tight(demand, order, effort, reorder);
        let bodies = self.steps.iter_mut().flat_map(|step| &mut step.bodies);
        plan.add_bodies(bodies.map(|body| body.plan_tightly(effort).all_bytes()).sum());
        plan
    }

    fn demand(&self) -> Demand {
        let arrays = self.arrays.iter().map(|array| Described {
            name: array.name.as_deref(),
            bytes: array.bytes,
            origin: array.origin,
            is_constant: array.initial.is_some(),
        });
        let steps = self.steps.iter();
        Demand::new(
            &self.name,
            &arrays.collect::<Vec<_>>(),
            steps.map(|step| step.uses.iter().map(ListedUse::access)),
        )
    }

    /// The codelet that a step calls.
    fn codelet(&self, step: &ListedStep) -> Option<&CodeletName> {
        match &step.action {
            Action::Task(call) => Some(&self.codelets[call.codelet]),
            _ => None,
        }
    }

    /// The array that a part is in the end a part of; another array itself.
    fn root(&self, mut array: usize) -> usize {
        while let Origin::Part(whole) = self.arrays[array].origin {
            array = whole;
        }
        array
    }
}

impl ListedUse {
    fn access(&self) -> Use {
        Use { array: self.array, reads: self.reads, writes: self.writes }
    }
}

impl Graph {
    /// The graph without the code of its codelets, to be saved or compared.
    pub fn listing(&self) -> Listing {
        of_graph::listing(self)
    }

    /// The graph for Graphviz: a box for each task, with its arrays, and an arrow to each task that waits for it.
    pub fn dot(&self) -> String {
        self.listing().dot()
    }
}

fn is_zero(priority: &i32) -> bool {
    *priority == 0
}
