//! Whole programs on a CUDA device, each as one graph: the bits of the same tasks submitted one by one to the device, on the fake
//! driver in orders that a seed draws, or on the device of the machine.

#[path = "../../../programs/descend.rs"]
mod descend;
mod failures;
mod flow;
mod flow_failures;
mod fusion;
mod graphs;
mod random;
#[path = "../../../programs/steps.rs"]
mod steps;
mod training;

use dahl::Result;
use dahl::prelude::*;
use dahl_core::GraphStatistics;

use crate::networks::{Bed, on_device};

/// Runs the test on the fake driver, once for each seed, which is an order of the work in streams; or once on the driver of the
/// machine. All tasks that can run on the device do.
fn in_seeds(seeds: std::ops::Range<u32>, test: impl Fn(&Runtime, &Bed) -> Result<()>) {
    with_settings("", seeds, test);
}

/// The same, on the fake driver with these settings.
fn with_settings(settings: &str, seeds: std::ops::Range<u32>, test: impl Fn(&Runtime, &Bed) -> Result<()>) {
    let bed = Bed::new();
    for seed in if bed.is_fake() { seeds } else { 0..1 } {
        bed.reset_with(seed, settings);
        let (builder, _) = on_device();
        let rt = match builder.build() {
            Ok(rt) => rt,
            Err(error) if !bed.is_fake() => return eprintln!("not tested: {error}"),
            Err(error) => panic!("{error}"),
        };
        test(&rt, &bed).expect("every call is right");
        drop(rt);
        assert_eq!(bed.findings(), "", "seed {seed}");
    }
}

/// What graphs the device has had.
fn graphs(rt: &Runtime) -> GraphStatistics {
    rt.wait().expect("nothing fails");
    rt.statistics().graphs[0].clone()
}

/// Numbers between -1 and 1.
fn numbers<T: Real>(count: usize, seed: usize) -> Vec<T> {
    (seed..seed + count).map(|i| T::from_f64(((i * 7919) % 211) as f64 / 105.0 - 1.0)).collect()
}
