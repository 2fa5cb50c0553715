//! Random programs on a device.

use dahl::prelude::*;
use proptest::prelude::*;

use super::steps::{Memory, actions, check};
use crate::networks::{Bed, on_device};

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    /// Passes that compute on the host are off: kernels of a device may round otherwise.
    #[test]
    fn a_graph_changes_no_bit(
        actions in actions(),
        seed in any::<u32>(),
        element in 0..4_usize,
        on in any::<[bool; 2]>(),
        tight in any::<bool>(),
    ) {
        let bed = Bed::new();
        bed.reset(seed);
        let (builder, _) = on_device();
        let rt = match builder.build() {
            Ok(rt) => rt,
            Err(error) if !bed.is_fake() => return Err(TestCaseError::reject(error.to_string())),
            Err(error) => panic!("{error}"),
        };
        let passes = Passes::none().dead_tasks(on[0]).common_subexpressions(on[1]);
        let check = [check::<f16>, check::<bf16>, check::<f32>, check::<f64>][element];
        let memory = if tight { Memory::Tight } else { Memory::Shared };
        check(&rt, 17, &actions, passes, memory).expect("every call is right");
        drop(rt);
        prop_assert_eq!(bed.findings(), "");
    }
}
