//! Random programs on the runtime have the same results as if each call was executed immediately.
//!
//! Programs submit tasks in every mode on a few matrices, on parts of them by rows and by columns, in place with and
//! without an in-place kernel, fill, reduce, forget values, read, write, fail, panic, use arenas, and drop and forget
//! arrays. The oracle does the same on plain vectors. Reductions are compared bit by bit.
//!
//! They also run on simulated machines, whose devices have memories of their own, most too small, and may be lost. On the
//! fake CUDA driver they run in `tests/cuda-devices`.

pub(crate) mod kernels;
mod machines;
mod oracle;
mod program;
mod replay;
mod world;

use std::sync::Arc;

use dahl_core::Runtime;
use machines::{Transfers, machine};
use program::actions;
use proptest::prelude::*;
use world::{check, config, forgets_nothing, schedulers, with_scheduler};

proptest! {
    #![proptest_config(config(1))]

    #[test]
    fn random_programs_give_the_sequential_result(
        program in actions(),
        workers in 1..4_usize,
        scheduler in prop::sample::select(vec!["ws", "eager", "lifo"]),
        tasks in prop_oneof![Just(1_usize), Just(3), Just(4096)],
    ) {
        let builder = Runtime::builder().cpu_workers(workers).tasks_in_flight(tasks).cuda_devices(0);
        let rt = with_scheduler(builder, scheduler).build();
        check(&program, &rt.expect("it can be had"), false).expect("every call is right");
    }

    #[test]
    fn random_programs_give_the_sequential_result_on_devices(
        program in actions(),
        machine in machine(),
        workers in 1..4_usize,
        scheduler in prop::sample::select(schedulers()),
        tasks in prop_oneof![Just(1_usize), Just(3), Just(4096)],
        check_mode in prop::bool::weighted(0.2),
    ) {
        let may_lose = machine.devices.iter().any(|device| device.lost_after.is_some());
        let builder = Runtime::builder().virtual_machine(machine).observer(Arc::new(Transfers::default()));
        let builder = with_scheduler(builder, scheduler).cpu_workers(workers).tasks_in_flight(tasks);
        let rt = builder.check(check_mode).build().expect("it can be had");
        check(&program, &rt, may_lose).expect("every call is right");
        if forgets_nothing(&program) {
            let held: Vec<_> = rt.memory().iter().map(|node| node.current_bytes).collect();
            prop_assert!(held.iter().all(|&bytes| bytes == 0), "{held:?}");
        }
    }

}

proptest! {
    #![proptest_config(config(4))]

    #[test]
    fn recorded_streams_give_the_same_bits_on_other_arrays(
        program in actions(),
        workers in 1..4_usize,
        others in 1..4_usize,
        scheduler in prop::sample::select(vec!["ws", "eager", "lifo"]),
    ) {
        let stream = replay::record(&program, workers, scheduler).expect("every call is right");
        let again = replay::replay(&stream, others).expect("every task is right");
        prop_assert_eq!(stream.held, again);
    }
}
