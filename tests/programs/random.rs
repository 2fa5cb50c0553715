//! Random programs of maps, stretched operands, reductions, products, views and updates in place, with passes and without:
//! the same bits as when each call is submitted.

use dahl::prelude::*;
use proptest::prelude::*;

use super::steps::{actions, check, memory};

fn cases() -> u32 {
    let wished = std::env::var("DAHL_RANDOM_PROGRAMS").ok().and_then(|text| text.parse().ok());
    wished.unwrap_or(64)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn passes_change_no_bit(
        // One tile, or several.
        n in prop_oneof![3 => Just(37_usize), 1 => Just(160)],
        actions in actions(),
        workers in 1..3_usize,
        element in 0..4_usize,
        on in any::<[bool; 9]>(),
        memory in memory(),
    ) {
        let passes = Passes::none().dead_tasks(on[0]).common_subexpressions(on[1]).fusion(on[2]);
        let passes = passes.in_place(on[3]).constants(on[4]).reductions(on[5]).epilogues(on[6]).views(on[7]);
        let passes = passes.recomputation(on[8]);
        let check = [check::<f16>, check::<bf16>, check::<f32>, check::<f64>][element];
        let rt = Runtime::builder().cpu_workers(workers).build().expect("it can be had");
        check(&rt, n, &actions, passes, memory).expect("every call is right");
    }
}
