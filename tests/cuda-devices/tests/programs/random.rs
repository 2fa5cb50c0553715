//! Random programs on a device.

use dahl::prelude::*;
use proptest::prelude::*;

use super::graphs;
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
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    /// Of operations for which the fake driver has kernels, so that all of it is one graph.
    #[test]
    fn branches_and_loops_in_a_graph_change_no_bit(
        mut actions in actions(),
        flows in prop::collection::vec((0..6_usize, any::<usize>(), any::<usize>()), 1..4),
        seed in any::<u32>(),
        element in 0..4_usize,
        tight in any::<bool>(),
    ) {
        let has_kernel =
            |action: &Action| !matches!(action, Action::Permuted | Action::VarianceAxis(_) | Action::Joined(..));
        actions.retain(|(action, ..)| has_kernel(action));
        for (place, (what, one, other)) in flows.into_iter().enumerate() {
            let action = if what < 4 { Action::Loop(what) } else { Action::Branch };
            actions.insert((one % (actions.len() + 1)).max(place), (action, one, other));
        }
        let launches = keeps_bits(&actions, seed, element, Passes::none(), tight)?;
        prop_assert_eq!(launches, 3, "one for each call");
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

/// Checks that a program has the bits of the same tasks one by one, on a device whose order of work a seed draws. How many
/// graphs were launched.
fn keeps_bits(
    actions: &[(Action, usize, usize)],
    seed: u32,
    element: usize,
    passes: Passes,
    tight: bool,
) -> Result<u64, TestCaseError> {
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
    let launches = graphs(&rt).launches;
    drop(rt);
    prop_assert_eq!(bed.findings(), "");
    Ok(launches)
}
