//! The random programs of `dahl-core` on a CUDA device: on the fake driver, in orders that a seed draws, or on a device
//! of the machine.

#[path = "../../../../dahl-core/tests/random_programs/kernels.rs"]
mod kernels;
#[path = "../../../../dahl-core/tests/random_programs/machines.rs"]
#[expect(dead_code, reason = "these programs run on no simulated machine")]
mod machines;
#[path = "../../../../dahl-core/tests/random_programs/oracle.rs"]
mod oracle;
#[path = "../../../../dahl-core/tests/random_programs/program.rs"]
mod program;
#[path = "../../../../dahl-core/tests/random_programs/world.rs"]
mod world;

use std::sync::Arc;

use dahl_core::Runtime;
use fake_cuda::{FakeDriver, driver};
pub(crate) use kernels::on_cuda;
use machines::Transfers;
use program::actions;
use proptest::prelude::*;
use world::{check, config, forgets_nothing, schedulers, with_scheduler};

proptest! {
    #![proptest_config(config(20))]

    /// On the fake CUDA driver, which runs the work in streams in an order that its seed draws from those that streams
    /// and events permit.
    #[test]
    fn random_programs_give_the_sequential_result_on_cuda(
        program in actions(),
        seed in any::<u32>(),
        devices in 1..4_usize,
        lines in prop_oneof![1 => Just(1_000_000_u32), 4 => 4..30_u32],
        workers in 1..3_usize,
        scheduler in prop::sample::select(schedulers()),
        tasks in prop_oneof![Just(1_usize), Just(3), Just(4096)],
    ) {
        let fake = driver();
        // On the driver of the machine, which has no seeds, the first device only.
        let devices = if fake.is_some() { devices } else { 1 };
        if let Some(fake) = fake.as_ref() {
            fake.reset(&format!("seed={seed} devices={devices}"));
        }
        let limit_mb = f64::from(64 * lines) / f64::from(1 << 20);
        let builder = Runtime::builder().cuda_devices(devices).cuda_limit_mb(limit_mb);
        let builder = with_scheduler(builder, scheduler).cpu_workers(workers).tasks_in_flight(tasks);
        let builder = builder.observer(Arc::new(Transfers::default()));
        let rt = builder.build().expect("it can be had");
        check(&program, &rt, false).expect("every call is right");
        if forgets_nothing(&program) {
            let held: Vec<_> = rt.memory().iter().map(|node| node.current_bytes).collect();
            prop_assert!(held.iter().all(|&bytes| bytes == 0), "{held:?}");
        }
        drop(rt);
        prop_assert_eq!(fake.as_ref().map_or_else(String::new, FakeDriver::findings), "");
    }
}
