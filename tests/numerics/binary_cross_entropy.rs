use super::*;

numerics!(binary_cross_entropy: ops::codelets::BinaryCrossEntropy, (within(0.0, 1.0, [31, 67]), within(0.0, 1.0, [31, 67]), _), ());
numerics!(
    binary_cross_entropy_backward: ops::codelets::BinaryCrossEntropyBackward,
    (within(0.0, 1.0, [31, 67]), within(0.0, 1.0, [31, 67]), within(-100.0, 100.0, [31, 67]), _),
    ()
);
numerics!(
    binary_cross_entropy_backward_target: ops::codelets::BinaryCrossEntropyBackwardTarget,
    (within(0.0, 1.0, [31, 67]), within(-100.0, 100.0, [31, 67]), _),
    ()
);
numerics!(
    binary_cross_entropy_with_logits: ops::codelets::BinaryCrossEntropyWithLogits,
    (within(-100.0, 100.0, [31, 67]), within(0.0, 1.0, [31, 67]), _),
    ()
);
numerics!(
    binary_cross_entropy_with_logits_weighted: ops::codelets::BinaryCrossEntropyWithLogitsWeighted,
    (within(-100.0, 100.0, [31, 67]), within(0.0, 1.0, [31, 67]), within(0.0, 10.0, [1, 67]), _),
    ()
);
