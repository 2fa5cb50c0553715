//! The profile of VGG-16 that PipeDream's authors published, and what their partitioner makes of it.

use dahl_plan::pipeline::{Cluster, Level, Plan, Profile, enumerate, plan, simulate};

fn profile() -> Profile {
    Profile::parse(include_str!("../pipedream/vgg16.txt")).expect("it is a profile")
}

fn replicas(plan: &Plan) -> Vec<(usize, usize)> {
    plan.stages.iter().map(|stage| (stage.layers.len(), stage.replicas)).collect()
}

/// The authors' partitioner gives layers 0 to 17 three machines and 17 to 40 one: 0.205520896 seconds, 3.2724 times one machine
/// and 2.8377 times data parallel.
#[test]
fn four_machines_are_as_good_as_by_the_authors_partitioner_and_none_is_better() {
    let (profile, cluster) = (profile(), Cluster::flat(4, 1e9));
    let plan = plan(&profile, &cluster).expect("there is a plan");
    assert_eq!(replicas(&plan), [(17, 3), (23, 1)]);
    assert!(plan.stages[0].layers.iter().copied().eq(0..17));
    assert!((plan.seconds - 0.205_520_896).abs() < 1e-12, "{}", plan.seconds);
    assert!((plan.one_worker_seconds / plan.seconds - 3.2724).abs() < 1e-4);
    assert!((plan.data_parallel_seconds / plan.seconds - 2.8377).abs() < 5e-5);
    let all = enumerate(&profile, &cluster, 1_000_000).expect("it is valid").expect("there are few plans");
    assert_eq!(all.seconds, plan.seconds);
    // Up to four machines for one to four stages: 4 + 6 x 39 + 4 x 741 + 9139.
    assert_eq!(all.pipelines, 4 + 6 * 39 + 4 * 741 + 9139);
}

#[test]
fn it_runs_as_planned_in_virtual_time() {
    let profile = profile();
    for (machines, bandwidth) in [(2, 1e9), (4, 1e9), (4, 1e10), (8, 2e9), (16, 1e10)] {
        let cluster = Cluster::flat(machines, bandwidth);
        let plan = plan(&profile, &cluster).expect("there is a plan");
        let run = simulate(&plan, &cluster);
        assert!(run.agrees, "{machines} machines: {} {run:?}", plan.seconds);
    }
    let levels = vec![Level { machines: 4, bandwidth: 1e10 }, Level { machines: 4, bandwidth: 1e9 }];
    let cluster = Cluster { levels, memory: None, straight: false };
    let plan = plan(&profile, &cluster).expect("there is a plan");
    assert!(simulate(&plan, &cluster).agrees);
}
