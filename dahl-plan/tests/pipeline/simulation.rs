//! Plans in virtual time against the planner.

use dahl_plan::pipeline::{Cluster, Layer, Level, Profile, plan, simulate};
use proptest::prelude::*;

use super::model::{clusters, profiles};

proptest! {
    #![proptest_config(ProptestConfig { cases: 4000, ..ProptestConfig::default() })]

    #[test]
    fn the_steady_state_is_the_planners(profile in profiles(7, false), cluster in clusters(3, 4)) {
        let Ok(plan) = plan(&profile, &cluster) else { return Ok(()) };
        let run = simulate(&plan, &cluster);
        prop_assert!(run.agrees, "{} {run:?} {plan:?}", plan.seconds);
        // Nothing is faster than its busiest part, apart from rounding to nanoseconds.
        prop_assert!(run.rule_seconds >= plan.seconds * 0.99, "{} {run:?}", plan.seconds);
    }
}

/// A network whose replicas end minibatches in groups of four: measured from one end to another, it was 1.2 % faster than its
/// busiest part.
#[test]
fn groups_of_minibatches_do_not_count_as_speed() {
    let layer = |forward_seconds, backward_seconds, activation_bytes, parameter_bytes| Layer {
        forward_seconds,
        backward_seconds,
        activation_bytes,
        parameter_bytes,
        ..Layer::default()
    };
    let layers = vec![
        layer(0.875, 1.625, 9.0, 8.0),
        layer(2.25, 1.25, 0.0, 10.0),
        layer(0.25, 0.875, 0.0, 20.0),
        layer(2.0, 0.75, 0.0, 11.0),
    ];
    let profile = Profile { layers, edges: vec![(0, 1), (1, 2)] };
    let level = |bandwidth| Level { machines: 4, bandwidth };
    let cluster = Cluster { levels: vec![level(256.0), level(16.0)], memory: None, straight: false };
    let plan = plan(&profile, &cluster).expect("it is valid");
    let run = simulate(&plan, &cluster);
    assert!(run.agrees && run.rule_seconds >= plan.seconds * 0.99, "{} {run:?}", plan.seconds);
}

/// Two equal stages, and a transfer that takes as long as a stage: with two minibatches in flight each pass waits for it.
#[test]
fn the_rule_for_minibatches_in_flight_does_not_hide_transfers() {
    let layer = |activation_bytes| Layer {
        forward_seconds: 0.5,
        backward_seconds: 0.5,
        activation_bytes,
        parameter_bytes: 1e9,
        ..Layer::default()
    };
    let profile = Profile { layers: vec![layer(5e5), layer(0.0)], edges: vec![(0, 1)] };
    let cluster = Cluster::flat(2, 1e6);
    let plan = plan(&profile, &cluster).expect("it is valid");
    let run = simulate(&plan, &cluster);
    assert_eq!((plan.seconds, plan.stages.len()), (1.0, 2));
    // A minibatch is 1 second in each stage and 0.5 in each transfer, so two in flight are 3 seconds.
    assert_eq!(run.rule_seconds, 1.5);
    assert_eq!((run.seconds, run.extra, run.agrees), (1.0, 1, true));
}
