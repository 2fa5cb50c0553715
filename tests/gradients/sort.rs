//! Elements in order: gradients go back to where the elements were.

use dahl::ops::{SortOrder, sort_init, top_k_init};

gradients!(ascending: [input: [3, 5]],
    |tape| sort_init(tape, input, 1, SortOrder::Ascending)
);

gradients!(descending_along_the_first_axis: [input: [4, 3]],
    |tape| sort_init(tape, input, 0, SortOrder::Descending)
);

gradients!(top_k: [input: [3, 5]],
    |tape| top_k_init(tape, input, 2, 1)
);
