use dahl::testing::holding;

use super::*;

/// Alike, not alike, and neither.
const TARGETS: [f64; 7] = [1.0, -1.0, 0.0, 1.0, -1.0, -1.0, 1.0];

numerics!(
    hinge_embedding: ops::codelets::HingeEmbedding,
    (within(-100.0, 100.0, [7]), holding([7], &TARGETS), _),
    (1.0,)
);
numerics!(
    cosine_embedding: ops::codelets::CosineEmbedding,
    (within(-10.0, 10.0, [7, 67]), within(-10.0, 10.0, [7, 67]), holding([7], &TARGETS), _),
    (-0.5,)
);
numerics!(
    cosine_embedding_backward: ops::codelets::CosineEmbeddingBackward,
    (
        within(-10.0, 10.0, [7, 67]),
        within(-10.0, 10.0, [7, 67]),
        holding([7], &TARGETS),
        within(-10.0, 10.0, [7]),
        _
    ),
    (-0.5,)
);
