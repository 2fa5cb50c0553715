//! The dynamic program against all plans.

use dahl_plan::pipeline::{Cluster, Error, Profile, Stage, enumerate, plan};
use proptest::prelude::*;

use super::model::{clusters, least, profiles};

fn is_equal(a: f64, b: f64) -> bool {
    a == b || (a - b).abs() <= 1e-12 * a.abs().max(b.abs())
}

/// The layers of stages, in order, after a check that no machine is used twice.
fn layers(stages: &[Stage], cluster: &Cluster, level: usize) -> Vec<usize> {
    let machines: usize = stages.iter().map(|stage| stage.replicas).sum();
    assert!(machines <= cluster.levels[level - 1].machines);
    for stage in stages.iter().filter(|_| level > 1) {
        let mut inside = layers(&stage.inner, cluster, level - 1);
        inside.sort_unstable();
        assert_eq!(inside, stage.layers);
    }
    stages.iter().flat_map(|stage| stage.layers.clone()).collect()
}

fn check(profile: &Profile, cluster: &Cluster) -> Result<(), TestCaseError> {
    let expected = least(profile, cluster);
    let all = enumerate(profile, cluster, u64::MAX).expect("it is valid").expect("without a limit it ends");
    match plan(profile, cluster) {
        Ok(plan) => {
            prop_assert!(is_equal(plan.seconds, expected), "{} {expected} {plan:?}", plan.seconds);
            // The same formulas on the same numbers: not a bit may differ.
            prop_assert_eq!(plan.seconds, all.seconds);
            let mut layers = layers(&plan.stages, cluster, cluster.levels.len());
            layers.sort_unstable();
            prop_assert!(layers.into_iter().eq(0..profile.layers.len()));
        }
        Err(Error::Memory { .. }) => {
            prop_assert_eq!((expected, all.seconds), (f64::INFINITY, f64::INFINITY));
        }
        Err(other) => return Err(TestCaseError::fail(other.to_string())),
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, ..ProptestConfig::default() })]

    #[test]
    fn chains_on_one_level(profile in profiles(6, true), cluster in clusters(1, 4)) {
        check(&profile, &cluster)?;
    }

    #[test]
    fn graphs_on_one_level(profile in profiles(5, false), cluster in clusters(1, 3)) {
        check(&profile, &cluster)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, ..ProptestConfig::default() })]

    #[test]
    fn chains_on_several_levels(profile in profiles(4, true), cluster in clusters(3, 2)) {
        check(&profile, &cluster)?;
    }

    #[test]
    fn graphs_on_two_levels(profile in profiles(4, false), cluster in clusters(2, 3)) {
        check(&profile, &cluster)?;
    }
}
