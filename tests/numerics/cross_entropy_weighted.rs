use dahl::ops::LossReduction;
use dahl::testing::{Describes, Input, holding};

use super::*;

/// Ten classes, as integers, whose type the codelet does not fix.
fn labels() -> Input<u32, 1> {
    let classes = (0..31).map(|sample| f64::from(7 * sample % 10)).collect::<Vec<_>>();
    Describes::<u32>::describe(holding([31], &classes))
}

numerics!(
    cross_entropy_weighted: ops::codelets::CrossEntropyWeighted,
    ([31, 10], labels(), within(0.25, 4.0, [10]), _),
    (0.0, 3, LossReduction::Sum, 0.25)
);
numerics!(
    cross_entropy_weighted_mean: ops::codelets::CrossEntropyWeighted,
    (within(-20.0, 20.0, [31, 10]), labels(), within(0.25, 4.0, [10]), _),
    (0.1, 3, LossReduction::Mean, 0.25)
);
numerics!(
    cross_entropy_each: ops::codelets::CrossEntropyEach,
    (within(-20.0, 20.0, [31, 10]), labels(), within(0.25, 4.0, [1]), _),
    (0.1, 3)
);
numerics!(
    cross_entropy_weighted_backward: ops::codelets::CrossEntropyWeightedBackward,
    ([31, 10], labels(), within(0.25, 4.0, [10]), _),
    (0.0, 3, LossReduction::Mean, 0.25)
);
numerics!(
    cross_entropy_weighted_backward_smoothed: ops::codelets::CrossEntropyWeightedBackward,
    (within(-20.0, 20.0, [31, 10]), labels(), within(0.25, 4.0, [10]), _),
    (0.1, 3, LossReduction::Mean, 0.25)
);
numerics!(
    label_weight: ops::codelets::LabelWeight,
    (labels(), within(0.25, 4.0, [10]), _),
    (10, 0.1, 3, LossReduction::Mean, 0.25)
);
numerics!(nll: ops::codelets::Nll, ([31, 10], labels(), within(0.25, 4.0, [10]), _), (3, LossReduction::Mean, 0.25));
numerics!(nll_each: ops::codelets::NllEach, ([31, 10], labels(), within(0.25, 4.0, [10]), _), (3,));
numerics!(
    nll_backward: ops::codelets::NllBackward,
    (labels(), within(0.25, 4.0, [10]), _),
    (10, 3, LossReduction::Mean, 0.25)
);
