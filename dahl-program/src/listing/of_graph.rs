//! The listing of a graph.

use std::collections::HashMap;
use std::ptr;

use dahl_core::__program::{Initial, PartOf, StepKind, TaskDesc, Varying, work};
use dahl_core::Codelet;

use super::{
    Action, Call, CodeletName, Form, ListedArray, ListedParameter, ListedPart, ListedStep, ListedUse,
    Listing, Varies, View,
};
use crate::graph::{Array, Graph, Task};

/// The codelets of a listing, each with its number.
#[derive(Default)]
struct Codelets {
    names: Vec<CodeletName>,
    numbers: HashMap<usize, usize>,
}

pub(super) fn listing(graph: &Graph) -> Listing {
    let mut partitions = HashMap::new();
    let arrays = graph.arrays.iter().map(|array| listed_array(array, &mut partitions)).collect();
    let mut codelets = Codelets::default();
    let steps = graph.tasks.iter().map(|task| listed_step(task, &mut codelets)).collect();
    Listing { name: graph.name.to_owned(), codelets: codelets.names, arrays, steps }
}

impl Codelets {
    fn number(&mut self, codelet: &'static Codelet) -> usize {
        let next = self.names.len();
        let number = *self.numbers.entry(ptr::from_ref(codelet).addr()).or_insert(next);
        if number == next {
            self.names.push(name(codelet));
        }
        number
    }
}

fn name(codelet: &Codelet) -> CodeletName {
    let parameters = codelet.parameters.iter().map(|parameter| ListedParameter {
        name: parameter.name.to_owned(),
        mode: parameter.mode.name().to_owned(),
        element: parameter.element.name.to_owned(),
    });
    CodeletName {
        module: codelet.module.to_owned(),
        name: codelet.name.to_owned(),
        declaration: codelet.declaration,
        parameters: parameters.collect(),
        arguments: codelet.arguments.iter().map(|&name| name.to_owned()).collect(),
    }
}

/// Partitions are numbered in the order of the arrays: their own numbers differ from one recording to the next.
fn listed_array(array: &Array, partitions: &mut HashMap<u64, usize>) -> ListedArray {
    let mut part = |part: &PartOf| {
        let (partition, index) = part.number();
        let next = partitions.len();
        let mut number = || *partitions.entry(partition).or_insert(next);
        ListedPart {
            partition: (partition > 0).then(|| (number(), index)),
            offset: part.offset(),
            extents: part.extents().to_vec(),
            strides: part.strides(),
            shared: part.is_shared(),
        }
    };
    ListedArray {
        name: array.name.clone(),
        element: array.element.name.to_owned(),
        extents: array.extents.clone(),
        bytes: array.bytes,
        origin: array.origin,
        part: array.part.as_ref().map(&mut part),
        initial: match &array.initial {
            Initial::Bytes(bytes) => Some(bytes.to_vec()),
            Initial::Zeros => None,
        },
    }
}

fn listed_step(task: &Task, codelets: &mut Codelets) -> ListedStep {
    let mut uses: Vec<_> = task
        .uses
        .iter()
        .map(|access| ListedUse {
            array: access.array,
            reads: access.reads,
            writes: access.writes,
            view: None,
        })
        .collect();
    let action = match &task.kind {
        StepKind::Task(desc) => {
            for (used, access) in uses.iter_mut().zip(desc.accesses()) {
                used.view = Some(View {
                    mode: access.mode().name().to_owned(),
                    offset: access.offset(),
                    extents: access.extents().to_vec(),
                    strides: access.strides(),
                });
            }
            Action::Task(call(desc, &task.varying, codelets))
        }
        StepKind::Split(shared) => Action::Split(*shared),
        StepKind::Join(shared) => Action::Join(*shared),
        StepKind::Forget => Action::Forget,
        StepKind::Flow(flow) if flow.repeats => Action::RepeatWhile,
        StepKind::Flow(_) => Action::Branch,
    };
    let bodies = task.bodies.iter().map(listing).collect();
    ListedStep { action, uses, bodies, source: task.location.to_string() }
}

fn call(desc: &TaskDesc, varying: &[Varying], codelets: &mut Codelets) -> Call {
    let varies = varying.iter().map(|varying| match varying {
        Varying::Arguments { slot, .. } => Varies::Slot(*slot),
        Varying::Random { at, drawn } => Varies::Seed { at: *at, drawn: *drawn },
    });
    let varies: Vec<_> = varies.collect();
    // The seed is zero in the recording; the other numbers are those of the call that was recorded.
    let has_slot = varies.iter().any(|varies| matches!(varies, Varies::Slot(_)));
    let arguments = if has_slot { vec![0; desc.arguments().len()] } else { desc.arguments().to_vec() };
    let form = match (desc.is_combination(), desc.is_last_of_reduction(), desc.is_in_place()) {
        (true, true, _) => Form::Finish,
        (true, false, _) => Form::Fold,
        (false, _, true) => Form::InPlace,
        (false, _, false) => Form::Call,
    };
    let (flops, bytes_moved) = work(desc);
    let whole = |amount: f64| (amount >= 0.0).then(|| amount.round() as u64);
    Call {
        flops: flops.and_then(whole),
        bytes_moved: whole(bytes_moved),
        codelet: codelets.number(desc.codelet()),
        form,
        kernel: desc.kernel_name().map(str::to_owned),
        arguments,
        varies,
        name: desc.name().map(str::to_owned),
        priority: desc.priority(),
        worker: desc.placed_on(),
    }
}
