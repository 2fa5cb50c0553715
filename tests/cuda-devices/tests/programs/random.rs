//! Random programs on a device.

use dahl::prelude::*;
use proptest::prelude::*;

use super::steps::{Action, Memory, actions, check};
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
        let passes = Passes::none().dead_tasks(on[0]).common_subexpressions(on[1]);
        keeps_bits(&actions, seed, element, passes, tight)?;
    }
}

proptest! {
    // Each program has kernels of its own, which are compiled.
    #![proptest_config(ProptestConfig { cases: 4, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn fused_kernels_change_no_bit(actions in actions(), seed in any::<u32>(), element in 0..4_usize) {
        // The fake driver has no kernel of the others by themselves: the CPU would run them, and may round otherwise.
        let has_kernel = |action: &Action| !matches!(action, Action::Exp | Action::Branch);
        let actions: Vec<_> = actions.into_iter().filter(|(action, ..)| has_kernel(action)).collect();
        keeps_bits(&actions, seed, element, Passes::none().dead_tasks(true).fusion(true), false)?;
    }
}

/// Checks that a program has the bits of the same tasks one by one, on a device whose order of work a seed draws.
fn keeps_bits(
    actions: &[(Action, usize, usize)],
    seed: u32,
    element: usize,
    passes: Passes,
    tight: bool,
) -> Result<(), TestCaseError> {
    let bed = Bed::new();
    bed.reset(seed);
    let (builder, _) = on_device();
    let rt = match builder.build() {
        Ok(rt) => rt,
        Err(error) if !bed.is_fake() => return Err(TestCaseError::reject(error.to_string())),
        Err(error) => panic!("{error}"),
    };
    let check = [check::<f16>, check::<bf16>, check::<f32>, check::<f64>][element];
    let memory = if tight { Memory::Tight } else { Memory::Shared };
    check(&rt, 17, actions, passes, memory).expect("every call is right");
    drop(rt);
    prop_assert_eq!(bed.findings(), "");
    Ok(())
}
