//! [`Record`]: the tasks that a tape remembers.
//!
//! Arrays are numbered from 0 when a task has them first, so that a reverse pass keeps what it knows of them in vectors.
//! Operands, arguments, layouts and arrays of all tasks are in one vector each, which keep their memory when a tape is
//! reset.

use std::ops::Range;
use std::panic::Location;

use super::gradient::{AdditionOf, Gradient, has};
use super::numbers::Numbers;
use super::repeat::Repeat;
use crate::array::Shared;
use crate::array_id::ArrayId;
use crate::codelet::Codelet;
use crate::element::ElementType;
use crate::error::Result;
use crate::shape::Layout;
use crate::submission::GateId;

/// The tasks that a tape remembers, in the order of their submission.
#[derive(Debug, Default)]
pub(super) struct Record {
    /// The number of the first task: not 0 while a pass has taken what came before.
    first: usize,
    pub(super) nodes: Vec<Node>,
    pub(super) operands: Vec<Operand>,
    arguments: Vec<u8>,
    pub(super) layouts: Vec<Layout>,
    pub(super) arrays: Vec<Recorded>,
    numbers: Numbers,
    pub(super) checkpoints: Vec<Checkpoint>,
    /// The numbers of tasks whose submission failed.
    failed: Vec<usize>,
}

/// A task.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) codelet: &'static Codelet,
    pub(super) gradient: &'static Gradient,
    /// The line that submitted it.
    pub(super) location: &'static Location<'static>,
    /// The rank that a call of `on_rank` says for it; the tasks of its gradient run there too.
    pub(super) rank: Option<usize>,
    /// The gate that it was submitted within; the tasks of its gradient are within it too.
    pub(super) gate: Option<GateId>,
    operands: Range<usize>,
    arguments: Range<usize>,
    again: Again,
}

/// How what is remembered runs again, for a checkpoint.
#[derive(Clone, Copy, Debug)]
pub(super) enum Again {
    /// It is a task.
    Task,
    /// It consists of several tasks.
    Tasks(fn(&Repeat<'_>) -> Result<()>),
    /// It is the checkpoint of this number.
    Checkpoint(usize),
}

/// An array of a task, in the place of its parameter.
#[derive(Debug)]
pub(super) struct Operand {
    /// The writes of the array before the value that the task read, if its value is saved or there is a gradient by it.
    pub(super) writes: u64,
    /// The number of the array; none for a temporary buffer.
    pub(super) array: Option<u32>,
    pub(super) layout: u32,
    /// Whether its value is read later, so that it is saved.
    pub(super) is_saved: bool,
    /// Whether nobody can change the array any more.
    pub(super) is_constant: bool,
}

/// An array of one or several tasks.
#[derive(Debug)]
pub(super) struct Recorded {
    pub(super) id: ArrayId,
    pub(super) element: &'static ElementType,
    /// How gradients by it are added.
    pub(super) addition: AdditionOf,
    /// Another owner, if a task's gradient reads it.
    pub(super) saved: Option<Shared>,
    /// Whether a task made it.
    is_made: bool,
}

impl Record {
    /// A task whose operands follow.
    pub(super) fn node(
        &mut self,
        codelet: &'static Codelet,
        gradient: &'static Gradient,
        location: &'static Location<'static>,
        again: Again,
        arguments: &[u8],
    ) -> Node {
        let (operands, start) = (self.operands.len(), self.arguments.len());
        self.arguments.extend_from_slice(arguments);
        let (operands, arguments) = (operands..operands, start..self.arguments.len());
        Node { codelet, gradient, location, rank: None, gate: None, operands, arguments, again }
    }

    /// Adds a task with the operands since it was made. Returns its number.
    pub(super) fn push(&mut self, mut node: Node) -> usize {
        node.operands.end = self.operands.len();
        self.nodes.push(node);
        self.first + self.nodes.len() - 1
    }

    /// Removes what a task that is not pushed has added.
    pub(super) fn cut(&mut self, node: &Node) {
        self.operands.truncate(node.operands.start);
        self.arguments.truncate(node.arguments.start);
    }

    /// Forgets a task, whose submission failed. Nobody has its outputs.
    #[cold]
    pub(super) fn fail(&mut self, task: usize) {
        self.failed.push(task);
    }

    /// Whether a task was submitted.
    pub(super) fn ran(&self, node: usize) -> bool {
        !self.failed.contains(&(self.first + node))
    }

    /// The number of an array, which is a new one if no task had it.
    pub(super) fn number(&mut self, array: &Recorded, is_made: bool) -> u32 {
        let number = self.numbers.get(array.id).unwrap_or_else(|| {
            let number = compact(self.arrays.len());
            self.numbers.insert(array.id, number, is_made);
            self.arrays.push(array.alone());
            number
        });
        self.arrays[number as usize].is_made |= is_made;
        number
    }

    /// The checkpoint that a task stands for.
    pub(super) fn checkpoint(&self, node: &Node) -> Option<&Checkpoint> {
        match node.again {
            Again::Checkpoint(number) => Some(&self.checkpoints[number]),
            _ => None,
        }
    }

    /// Forgets all tasks and releases what is saved. Keeps its memory.
    pub(super) fn clear(&mut self) {
        self.first = 0;
        self.nodes.clear();
        self.operands.clear();
        self.arguments.clear();
        self.layouts.clear();
        self.arrays.clear();
        self.numbers.clear();
        self.checkpoints.clear();
        self.failed.clear();
    }

    /// Takes all tasks out. Those that follow are numbered as if they had stayed.
    pub(super) fn take(&mut self) -> Self {
        let following = Self { first: self.first + self.nodes.len(), ..Self::default() };
        std::mem::replace(self, following)
    }

    /// Adds the tasks of another record, which followed when these were [taken](Self::take).
    pub(super) fn append(&mut self, mut other: Self) {
        let mut numbers = Vec::with_capacity(other.arrays.len());
        for array in other.arrays {
            let number = self.number(&array, array.is_made);
            numbers.push(number);
            let known = &mut self.arrays[number as usize];
            known.saved = known.saved.take().or(array.saved);
        }
        let shift = |range: &Range<usize>, by: usize| range.start + by..range.end + by;
        let (operands, arguments) = (self.operands.len(), self.arguments.len());
        let (layouts, checkpoints) = (self.layouts.len(), self.checkpoints.len());
        self.nodes.extend(other.nodes.into_iter().map(|node| Node {
            operands: shift(&node.operands, operands),
            arguments: shift(&node.arguments, arguments),
            again: match node.again {
                Again::Checkpoint(number) => Again::Checkpoint(number + checkpoints),
                again => again,
            },
            ..node
        }));
        self.operands.extend(other.operands.into_iter().map(|operand| Operand {
            array: operand.array.map(|number| numbers[number as usize]),
            layout: compact(operand.layout as usize + layouts),
            ..operand
        }));
        self.arguments.append(&mut other.arguments);
        self.layouts.append(&mut other.layouts);
        self.checkpoints.append(&mut other.checkpoints);
        self.failed.append(&mut other.failed);
    }

    pub(super) fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    pub(super) fn operands(&self, node: &Node) -> &[Operand] {
        &self.operands[node.operands.clone()]
    }

    pub(super) fn arguments(&self, node: &Node) -> &[u8] {
        &self.arguments[node.arguments.clone()]
    }

    /// All arrays, in the order of their numbers.
    pub(super) fn arrays(&self) -> &[Recorded] {
        &self.arrays
    }

    /// The array of an operand that is no temporary buffer.
    pub(super) fn array(&self, operand: &Operand) -> &Recorded {
        &self.arrays[operand.number().expect("a temporary buffer has no gradient")]
    }

    /// The number of an array, if a task has it.
    pub(super) fn number_of(&self, id: ArrayId) -> Option<usize> {
        self.numbers.get(id).map(|number| number as usize)
    }

    /// The number of an array that a task made.
    pub(super) fn made(&self, id: ArrayId) -> Option<usize> {
        self.number_of(id).filter(|number| self.arrays[*number].is_made)
    }

    pub(super) fn layout(&self, operand: &Operand) -> &Layout {
        &self.layouts[operand.layout as usize]
    }

    /// The owner of an operand's value, if a gradient reads it.
    pub(super) fn saved(&self, operand: &Operand) -> Option<&Shared> {
        self.arrays[operand.number().filter(|_| operand.is_saved)?].saved.as_ref()
    }

    /// The operands by which there is a gradient: the numbers of their arrays.
    pub(super) fn inputs(&self, node: &Node) -> impl Iterator<Item = usize> {
        self.chosen(node, node.gradient.inputs)
    }

    /// The operands whose gradient the rule takes: the numbers of their arrays.
    pub(super) fn outputs(&self, node: &Node) -> impl Iterator<Item = usize> {
        self.chosen(node, node.gradient.outputs)
    }

    fn chosen(&self, node: &Node, bits: u64) -> impl Iterator<Item = usize> {
        let operands = self.operands(node).iter().enumerate();
        operands.filter(move |(index, _)| has(bits, *index)).filter_map(|(_, operand)| operand.number())
    }
}

/// Tasks to be run again.
#[derive(Debug)]
pub(super) struct Checkpoint {
    pub(super) record: Record,
    /// The number of its result in the record.
    pub(super) output: usize,
    /// The number of the tape whose checkpoint it is.
    pub(super) tape: u64,
}

impl Checkpoint {
    /// The tasks of a record, one of which has made the array number `output`.
    pub(super) fn new(record: Record, output: usize, tape: u64) -> Self {
        Self { record, output, tape }
    }

    /// Its result.
    pub(super) fn output(&self) -> &Recorded {
        &self.record.arrays()[self.output]
    }

    /// What came from outside: once for each task that reads it.
    pub(super) fn inputs(&self) -> impl Iterator<Item = (&Operand, &Recorded)> {
        let operands = self.record.nodes().iter().flat_map(|node| self.record.operands(node));
        operands.filter(|operand| operand.is_saved).map(|operand| (operand, self.record.array(operand)))
    }
}

impl Recorded {
    pub(super) fn new(id: ArrayId, element: &'static ElementType, addition: AdditionOf) -> Self {
        Self { id, element, addition, saved: None, is_made: false }
    }

    /// The same array, without what tasks have done with it.
    pub(super) fn alone(&self) -> Self {
        Self::new(self.id, self.element, self.addition)
    }
}

impl Operand {
    /// A temporary buffer.
    pub(super) fn of_buffer(layout: u32) -> Self {
        Self { writes: 0, array: None, layout, is_saved: false, is_constant: true }
    }

    /// The number of its array; none for a temporary buffer.
    pub(super) fn number(&self) -> Option<usize> {
        self.array.map(|number| number as usize)
    }
}

impl Node {
    /// The name of an operand, for errors.
    pub(super) fn name_of(&self, index: usize) -> &'static str {
        name_of(self.codelet, index)
    }

    /// For an operation of several tasks: how they are run again.
    pub(super) fn repeat(&self) -> Option<fn(&Repeat<'_>) -> Result<()>> {
        match self.again {
            Again::Tasks(repeat) => Some(repeat),
            _ => None,
        }
    }
}

/// A number of a record's entry, in half of the memory.
pub(super) fn compact(number: usize) -> u32 {
    u32::try_from(number).expect("a tape remembers fewer than 2^32 operands")
}

/// The name of an array of an operation, for errors.
pub(super) fn name_of(codelet: &Codelet, index: usize) -> &'static str {
    let parameter = codelet.parameters.get(index).or(codelet.parameters.last());
    parameter.map_or("an array", |parameter| parameter.name)
}
