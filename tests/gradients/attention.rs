//! Attention, by query, key and value, and of the logarithms of its sums.

use dahl::ops::{AttentionGeometry, add_init, attention_init, attention_masked_init};

/// The masks of two samples of three queries and four keys. The second query of the first sees nothing.
const MASKS: [u8; 24] = [1, 0, 1, 1, 0, 0, 0, 0, 0, 1, 1, 0, 1, 1, 1, 1, 0, 0, 1, 0, 1, 0, 0, 1];

gradients!(of_all_keys: [query: [2, 2, 3, 4], key: [2, 2, 5, 4], value: [2, 2, 5, 3]],
    |tape| attention_init(tape, query, key, value, AttentionGeometry::new(0.5))
);

gradients!(causal: [query: [1, 2, 4, 3], key: [1, 2, 6, 3], value: [1, 2, 6, 3]],
    |tape| attention_init(tape, query, key, value, AttentionGeometry::new(0.75).causal())
);

gradients!(of_shared_keys: [query: [2, 4, 3, 2], key: [2, 2, 3, 2], value: [2, 2, 3, 2]],
    |tape| attention_init(tape, query, key, value, AttentionGeometry::new(-1.25).causal())
);

gradients!(of_queries_that_see_nothing: [query: [1, 1, 4, 3], key: [1, 1, 2, 3], value: [1, 1, 2, 2]],
    |tape| attention_init(tape, query, key, value, AttentionGeometry::new(0.75).causal())
);

gradients!(masked: [query: [2, 2, 3, 2], key: [2, 1, 4, 2], value: [2, 1, 4, 2]],
    |tape| {
        let mask = tape.detached().from_slice([2, 3, 4], &MASKS)?;
        attention_masked_init(tape, query, key, value, &mask, AttentionGeometry::new(0.75))
    }
);

gradients!(masked_for_all_and_causal: [query: [2, 2, 3, 2], key: [2, 2, 4, 2], value: [2, 2, 4, 2]],
    |tape| {
        let mask = tape.detached().from_slice([1, 3, 4], &MASKS[..12])?;
        attention_masked_init(tape, query, key, value, &mask, AttentionGeometry::new(0.75).causal())
    }
);

gradients!(of_both_outputs: [query: [1, 2, 3, 2], key: [1, 1, 4, 2], value: [1, 1, 4, 1]],
    |tape| {
        let (out, log_sum_exp) = attention_init(tape, query, key, value, AttentionGeometry::new(1.5))?;
        add_init(tape, &out, &log_sum_exp.reshape([1, 2, 3, 1])?)
    },
    first only
);

gradients!(of_logarithms_alone: [query: [1, 2, 3, 2], key: [1, 1, 4, 2], value: [1, 1, 4, 1]],
    |tape| Ok::<_, dahl::Error>(attention_init(tape, query, key, value, AttentionGeometry::new(1.5).causal())?.1),
    first only
);
