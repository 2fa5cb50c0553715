use dahl::ops::LossReduction;

use super::layers::labels;
use super::*;

/// Alike, not alike, and neither.
const TARGETS: [f64; 7] = [1.0, -1.0, 0.0, 1.0, -1.0, -1.0, 1.0];

on_cpu!(
    cross_entropy_weighted: cross_entropy_weighted ["u32"] of ops::codelets::CrossEntropyWeighted,
    ([31, 10], labels(), within(0.25, 4.0, [10]), _),
    (0.0, 3, LossReduction::Sum, 0.25)
);
on_cpu!(
    cross_entropy_weighted_mean: cross_entropy_weighted ["u32"] of ops::codelets::CrossEntropyWeighted,
    (within(-20.0, 20.0, [31, 10]), labels(), within(0.25, 4.0, [10]), _),
    (0.1, 3, LossReduction::Mean, 0.25)
);
on_cpu!(
    cross_entropy_each: cross_entropy_each ["u32"] of ops::codelets::CrossEntropyEach,
    (within(-20.0, 20.0, [31, 10]), labels(), within(0.25, 4.0, [1]), _),
    (0.1, 3)
);
on_cpu!(
    cross_entropy_weighted_backward: cross_entropy_weighted_backward ["u32"] of ops::codelets::CrossEntropyWeightedBackward,
    ([31, 10], labels(), within(0.25, 4.0, [10]), _),
    (0.0, 3, LossReduction::Mean, 0.25)
);
on_cpu!(
    cross_entropy_weighted_backward_smoothed: cross_entropy_weighted_backward ["u32"] of ops::codelets::CrossEntropyWeightedBackward,
    (within(-20.0, 20.0, [31, 10]), labels(), within(0.25, 4.0, [10]), _),
    (0.1, 3, LossReduction::Mean, 0.25)
);
on_cpu!(
    label_weight: label_weight ["u32"] of ops::codelets::LabelWeight,
    (labels(), within(0.25, 4.0, [10]), _),
    (10, 0.1, 3, LossReduction::Mean, 0.25)
);
on_cpu!(
    nll: nll ["u32"] of ops::codelets::Nll,
    ([31, 10], labels(), within(0.25, 4.0, [10]), _),
    (3, LossReduction::Mean, 0.25)
);
on_cpu!(
    nll_each: nll_each ["u32"] of ops::codelets::NllEach,
    ([31, 10], labels(), within(0.25, 4.0, [10]), _),
    (3,)
);
on_cpu!(
    nll_backward: nll_backward ["u32"] of ops::codelets::NllBackward,
    (labels(), within(0.25, 4.0, [10]), _),
    (10, 3, LossReduction::Mean, 0.25)
);
on_cpu!(
    cosine_embedding: cosine_embedding of ops::codelets::CosineEmbedding,
    (within(-10.0, 10.0, [7, 67]), within(-10.0, 10.0, [7, 67]), holding([7], &TARGETS), _),
    (-0.5,)
);
on_cpu!(
    cosine_embedding_backward: cosine_embedding_backward of ops::codelets::CosineEmbeddingBackward,
    (
        within(-10.0, 10.0, [7, 67]),
        within(-10.0, 10.0, [7, 67]),
        holding([7], &TARGETS),
        within(-10.0, 10.0, [7]),
        _
    ),
    (-0.5,)
);
