//! [`Graph`]: the tasks of a program and its arrays, as data.

mod order;
mod recorded;

use std::panic::Location;

use dahl_core::__program::{Initial, PartOf, StepKind, TaskDesc, Varying};
use dahl_core::ElementType;
use serde::{Deserialize, Serialize};

pub(crate) use order::{Order, Reach};

/// A recorded program: its tasks, in an order in which they could run one after the other, and their arrays.
///
/// Printed, it is a line for each task: `%4 = relu(%3)`, with the shape, and the line of the source that submitted it.
#[derive(Clone, Debug)]
pub struct Graph {
    pub(crate) name: &'static str,
    pub(crate) arrays: Vec<Array>,
    pub(crate) tasks: Vec<Task>,
}

/// An array of a program.
#[derive(Clone, Debug)]
pub struct Array {
    pub(crate) name: Option<String>,
    pub(crate) element: ElementType,
    pub(crate) bytes: usize,
    pub(crate) extents: Vec<usize>,
    pub(crate) origin: Origin,
    pub(crate) part: Option<PartOf>,
    pub(crate) initial: Initial,
}

/// Where an array of a program comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// It is an argument, of this number.
    Argument(usize),
    /// The program returns it, with this number.
    Output(usize),
    /// The program makes it, and nobody else sees it.
    Temporary,
    /// It is a part of the array of this number.
    Part(usize),
}

/// A task of a program.
#[derive(Clone, Debug)]
pub struct Task {
    pub(crate) kind: StepKind,
    pub(crate) uses: Vec<Use>,
    /// The plain arguments that each call sets.
    pub(crate) varying: Vec<Varying>,
    /// Of a branch or a loop: its bodies, whose arguments are the arrays that it uses, in order.
    pub(crate) bodies: Vec<Graph>,
    pub(crate) location: &'static Location<'static>,
}

/// An access of a task to an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Use {
    /// The number of the array; none for temporary memory of the kernel.
    pub array: Option<usize>,
    /// Whether the task depends on the value.
    pub reads: bool,
    /// Whether the task changes the value.
    pub writes: bool,
}

impl Graph {
    /// The name of the program.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The number of tasks that workers run; those of a body are counted once.
    pub fn tasks(&self) -> usize {
        let of_step = |task: &Task| match task.desc() {
            Some(_) => 1,
            None => task.bodies.iter().map(Self::tasks).sum(),
        };
        self.tasks.iter().map(of_step).sum()
    }

    /// Whether a step changes argument `index`, or a part of it.
    pub(crate) fn changes_argument(&self, index: usize) -> bool {
        // A partition whose parts may be changed changes the whole array.
        let mut changed = self.tasks.iter().flat_map(Task::writes);
        changed.any(|array| self.arrays[array].origin == Origin::Argument(index))
    }

    /// The tasks, the splits and joins of partitions, and the branches and loops, in an order in which they could run one after the other.
    pub fn steps(&self) -> &[Task] {
        &self.tasks
    }

    /// The arrays, by number.
    pub fn arrays(&self) -> &[Array] {
        &self.arrays
    }

    /// The dependencies: pairs of numbers of steps, of which the second waits for the first.
    pub fn edges(&self) -> Vec<(usize, usize)> {
        Order::of(self).edges()
    }

    /// Brings the steps into another order, in which each comes after those that it waits for. These stay the same.
    pub(crate) fn reorder(&mut self, order: &[usize]) {
        let mut tasks: Vec<_> = std::mem::take(&mut self.tasks).into_iter().map(Some).collect();
        self.tasks =
            order.iter().map(|&step| tasks[step].take().expect("each step is once in the order")).collect();
    }

    /// Removes arrays that no task uses, other than arguments and results.
    pub(crate) fn prune(&mut self) {
        let mut used = vec![false; self.arrays.len()];
        for array in self.tasks.iter().flat_map(|task| &task.uses).filter_map(|access| access.array) {
            used[array] = true;
        }
        for (array, used) in self.arrays.iter().zip(&mut used) {
            *used |= matches!(array.origin, Origin::Argument(_) | Origin::Output(_));
        }
        let mut next = 0;
        let renamed: Vec<Option<usize>> = used
            .iter()
            .map(|used| {
                next += usize::from(*used);
                used.then(|| next - 1)
            })
            .collect();
        let mut number = 0;
        self.arrays.retain(|_| {
            number += 1;
            used[number - 1]
        });
        for array in &mut self.arrays {
            if let Origin::Part(whole) = &mut array.origin {
                *whole = renamed[*whole].expect("a part is used with its whole array");
            }
        }
        for access in self.tasks.iter_mut().flat_map(|task| &mut task.uses) {
            access.array = access.array.and_then(|array| renamed[array]);
        }
    }

    /// The array that a part is in the end a part of; another array itself.
    pub(crate) fn root(&self, mut array: usize) -> usize {
        while let Origin::Part(whole) = self.arrays[array].origin {
            array = whole;
        }
        array
    }
}

impl Array {
    /// The name of an argument.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// Its element type.
    pub fn element(&self) -> ElementType {
        self.element
    }

    /// Its bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// The shape in which its first task uses it.
    pub fn extents(&self) -> &[usize] {
        &self.extents
    }

    /// Where it comes from.
    pub fn origin(&self) -> Origin {
        self.origin
    }

    /// Whether only the program sees it, in memory of its own.
    pub(crate) fn is_temporary(&self) -> bool {
        self.origin == Origin::Temporary
    }
}

impl Task {
    /// Its description, if a worker runs it.
    pub fn desc(&self) -> Option<&TaskDesc> {
        match &self.kind {
            StepKind::Task(desc) => Some(desc),
            StepKind::Split(_) | StepKind::Join(_) | StepKind::Forget | StepKind::Flow(_) => None,
        }
    }

    /// The bodies of a branch or of a loop. Their arguments are the arrays that it uses, in order.
    pub fn bodies(&self) -> &[Graph] {
        &self.bodies
    }

    /// The codelet's name, or what else it does.
    pub fn codelet(&self) -> &'static str {
        match &self.kind {
            StepKind::Task(desc) => desc.codelet().name,
            StepKind::Split(_) => "split",
            StepKind::Join(_) => "join",
            StepKind::Forget => "forget",
            StepKind::Flow(flow) => flow.name(),
        }
    }

    /// Its accesses, in the order of the declaration.
    pub fn uses(&self) -> &[Use] {
        &self.uses
    }

    /// Whether its plain arguments are set by each call: those of an optimizer's update, or random numbers.
    pub fn varies(&self) -> bool {
        !self.varying.is_empty()
    }

    /// The line that submitted it.
    pub fn location(&self) -> &'static Location<'static> {
        self.location
    }

    /// The arrays that it depends on.
    pub(crate) fn reads(&self) -> impl Iterator<Item = usize> {
        self.uses.iter().filter(|access| access.reads).filter_map(|access| access.array)
    }

    /// The arrays that it changes.
    pub(crate) fn writes(&self) -> impl Iterator<Item = usize> {
        self.uses.iter().filter(|access| access.writes).filter_map(|access| access.array)
    }
}
