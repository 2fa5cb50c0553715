use dahl::testing::{Describes, Input, holding};

use super::*;

/// Ten classes, as integers, whose type the codelet does not fix.
fn labels() -> Input<u32, 1> {
    let classes = (0..31).map(|sample| f64::from(7 * sample % 10)).collect::<Vec<_>>();
    Describes::<u32>::describe(holding([31], &classes))
}

/// The only class.
fn one_class() -> Input<u32, 1> {
    Describes::<u32>::describe(holding([31], &[0.0; 31]))
}

numerics!(cross_entropy: ops::codelets::CrossEntropy, ([31, 10], labels(), _), (0.25,));
numerics!(cross_entropy_backward: ops::codelets::CrossEntropyBackward, ([31, 10], labels(), _), (0.25,));
numerics!(cross_entropy_of_one_class: ops::codelets::CrossEntropy, ([31, 1], one_class(), _), (0.25,));
numerics!(cross_entropy_backward_of_one_class: ops::codelets::CrossEntropyBackward, ([31, 1], one_class(), _), (0.25,));
numerics!(count_correct: ops::codelets::CountCorrect, ([31, 10], labels(), _), ());
