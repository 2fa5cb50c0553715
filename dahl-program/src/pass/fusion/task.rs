//! [`fused`]: the task that several steps become.

use dahl_core::__program::{FusedOperand, FusedTask, StepKind, fuse};

use super::tiles::{Member, Tiles};
use crate::graph::{Task, Use};

/// An array that steps read: its number, its extents and strides, the first element, and whether it is cut.
type Input = (usize, Vec<usize>, Vec<isize>, usize, bool);

/// One task for these steps, and a sum of what one of them makes. `is_passed`: whether only they read an array.
pub(super) fn fused(
    members: &[Member<'_>],
    sum: Option<&Task>,
    tiles: Tiles,
    is_passed: impl Fn(usize) -> bool,
) -> Task {
    // What is made inside, and not passed on only, is an output; what is read from outside is an input.
    let made: Vec<usize> = members.iter().map(Member::made).collect();
    let (passed, outputs): (Vec<usize>, Vec<usize>) = made.iter().partition(|array| is_passed(**array));
    let input = |member: &Member<'_>, operand: usize| -> Input {
        let access =
            member.part.desc().accesses().nth(member.part.access(operand)).expect("it has an access");
        let (extents, strides) = (access.extents().to_vec(), access.strides());
        (member.arrays[operand], extents, strides, access.offset(), member.part.is_cut(operand))
    };
    let mut inputs: Vec<Input> = Vec::new();
    for member in members {
        for operand in 0..member.part.output() {
            let input = input(member, operand);
            if !made.contains(&input.0) && !inputs.contains(&input) {
                inputs.push(input);
            }
        }
    }
    let operand = |member: &Member<'_>, operand: usize| {
        let array = member.arrays[operand];
        if let Some(index) = passed.iter().position(|&other| other == array) {
            return FusedOperand::Passed(index);
        }
        if let Some(index) = outputs.iter().position(|&other| other == array) {
            return FusedOperand::Given(inputs.len() + index);
        }
        let own = input(member, operand);
        FusedOperand::Given(inputs.iter().position(|other| *other == own).expect("it was found above"))
    };
    let tasks: Vec<FusedTask<'_>> = members
        .iter()
        .map(|member| {
            let operands = (0..member.arrays.len()).map(|index| operand(member, index)).collect();
            FusedTask { part: member.part, operands }
        })
        .collect();
    let reduction = sum.map(|sum| {
        let is_its = |&array: &usize| sum.uses[0].array == Some(array);
        let passed = passed.iter().position(is_its).expect("only the sum reads its input");
        (sum.desc().expect("a sum is a task"), passed)
    });
    let desc = fuse(&tasks, inputs.len(), reduction, tiles.axes());
    let read = inputs.iter().map(|(array, ..)| Use { array: Some(*array), reads: true, writes: false });
    let written = outputs.iter().map(|&array| Use { array: Some(array), reads: false, writes: true });
    let uses = read.chain(written).chain(sum.map(|sum| sum.uses[1])).collect();
    Task {
        location: desc.location(),
        uses,
        varying: Vec::new(),
        bodies: Vec::new(),
        kind: StepKind::Task(Box::new(desc)),
    }
}
