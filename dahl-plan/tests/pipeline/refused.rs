//! What is refused.

use dahl_plan::pipeline::{Cluster, Error, Layer, Level, Profile, plan};

fn layers(count: usize, edges: &[(usize, usize)]) -> Profile {
    let layer = Layer { forward_seconds: 1.0, parameter_bytes: 8.0, ..Layer::default() };
    Profile { layers: vec![layer; count], edges: edges.to_vec() }
}

#[test]
fn profiles_and_clusters_that_are_wrong() {
    let refused = |profile: &Profile, cluster: &Cluster| plan(profile, cluster).expect_err("it is refused");
    let two = Cluster::flat(2, 1.0);
    assert_eq!(refused(&layers(0, &[]), &two), Error::Empty);
    assert_eq!(refused(&layers(2, &[(0, 2)]), &two), Error::Edge { layer: 2, layers: 2 });
    let cycle = refused(&layers(3, &[(0, 1), (1, 2), (2, 1)]), &two);
    assert!(matches!(cycle, Error::Cycle { layer: 1, .. }), "{cycle}");
    let mut negative = layers(1, &[]);
    negative.layers[0].activation_bytes = -1.0;
    assert!(matches!(refused(&negative, &two), Error::Value { layer: 0, value: -1.0, .. }));
    let level = |machines, bandwidth| Cluster::flat(machines, bandwidth);
    assert!(matches!(refused(&layers(1, &[]), &level(0, 1.0)), Error::Level { level: 1, machines: 0, .. }));
    assert!(matches!(refused(&layers(1, &[]), &level(1, 0.0)), Error::Level { level: 1, .. }));
    assert!(matches!(refused(&layers(1, &[]), &level(1, f64::NAN)), Error::Level { level: 1, .. }));
    // Twenty layers side by side have a million cuts.
    assert_eq!(refused(&layers(20, &[]), &two), Error::Cuts { most: 8192 });
    let small = Cluster { memory: Some(7.0), ..two };
    assert_eq!(refused(&layers(1, &[]), &small), Error::Memory { memory: 7.0 });
}

/// Two stages need two versions at the first; replicas need one each.
#[test]
fn memory_counts_versions() {
    let profile = layers(2, &[(0, 1)]);
    let cluster = |memory| Cluster { memory: Some(memory), ..Cluster::flat(2, 8.0) };
    let stages = |memory| plan(&profile, &cluster(memory)).map(|plan| plan.stages.len());
    assert_eq!(stages(16.0), Ok(2));
    assert_eq!(stages(15.0), Err(Error::Memory { memory: 15.0 }));
    let levels = vec![Level { machines: 1, bandwidth: 8.0 }, Level { machines: 2, bandwidth: 8.0 }];
    let nested = |memory| plan(&profile, &Cluster { levels: levels.clone(), ..cluster(memory) });
    assert_eq!(nested(16.0).map(|plan| plan.stages.len()), Ok(2));
    assert!(nested(15.0).is_err());
}
