//! Training steps that are programs: where they run as a whole, on a machine with two CPU workers and a device.

use std::path::Path;

use dahl::ops::cross_entropy_init;
use dahl::prelude::*;
use dahl::testing::Tier;
use dahl::{RuntimeBuilder, program};
use dahl_nn::prelude::*;

use super::plan::{Plan, Planned};
use super::programs::{CPU_WORKERS, Program, Workers};

const BATCH: usize = 64;

#[program]
fn train_step(
    step: &Step<'_>,
    images: &Matrix<'_, f32>,
    labels: &Vector<'_, u32>,
    model: &mut Sequential<'_, f32>,
    sgd: &mut Sgd<f32>,
) -> dahl::Result<()> {
    model.for_each_parameter(|_, parameter| parameter.gradient.invalidate())?;
    let loss = cross_entropy_init(step, &model.forward(step, images)?, labels, 1.0 / BATCH as f64)?;
    step.accumulate(&loss, model)?;
    sgd.step(model)
}

/// So many steps of a network with so many filters, after a first one: the virtual nanoseconds, and where the steps ran in the
/// end. In the first step the parameters come to where they are used.
fn train(
    filters: usize,
    steps: usize,
    workers: Workers,
    builder: RuntimeBuilder,
) -> dahl::Result<(u64, Option<String>)> {
    let machine = Program::Cnn(filters, BATCH, steps).machine(workers);
    let rt = builder.cpu_workers(CPU_WORKERS).virtual_machine(machine).build()?;
    let arena = rt.arena();
    let mut model = Sequential::<f32>::new(&arena, [1, 28, 28], 42)
        .conv2d(filters, 3)?
        .relu()?
        .max_pool2d(2)?
        .flatten()?
        .dense(10)?;
    let mut sgd = Sgd::new(0.05);
    sgd.prepare(&mut model)?;
    let mut train_step = TrainStep::new(&rt);
    let mut begin_ns = 0;
    for number in 0..=steps {
        let pixel = |i: usize| ((i * 31 + number * 17) % 255) as f32 / 255.0;
        let images = rt.from_vec([BATCH, 784], (0..BATCH * 784).map(pixel).collect())?;
        let labels = rt.from_vec([BATCH], (0..BATCH).map(|i| (i * 7 + number) as u32 % 10).collect())?;
        train_step.call(&images, &labels, &mut model, &mut sgd)?;
        if number == 0 {
            rt.wait()?;
            begin_ns = rt.clock().now_ns();
        }
    }
    rt.wait()?;
    Ok((rt.clock().now_ns() - begin_ns, train_step.target()))
}

/// The same with `dmda`, with performance models from earlier runs.
fn with_models(filters: usize, steps: usize, folder: &Path) -> dahl::Result<(u64, Option<String>)> {
    let builder = || Runtime::builder().performance_dir(folder);
    train(filters, steps, Workers::Both, builder().scheduler("dm").calibrate(true))?;
    for _ in 0..3 {
        train(filters, steps, Workers::Both, builder().scheduler("dmda"))?;
    }
    train(filters, steps, Workers::Both, builder().scheduler("dmda"))
}

#[test]
fn steps_are_no_slower_than_on_either_kind_of_worker_alone() -> dahl::Result<()> {
    let cases = [4, 16, 32].map(|filters| [4, 16].map(|steps| (filters, steps))).concat();
    for &(filters, steps) in Tier::from_env().choose("replayed networks", &cases, 2) {
        let (on_cpu, _) = train(filters, steps, Workers::Cpu, Runtime::builder().scheduler("eager"))?;
        let all_on_device = Plan { workers: vec![CPU_WORKERS; 10_000], ranks: Vec::new() };
        let builder = Runtime::builder().custom_scheduler(Planned::new(all_on_device));
        let (on_device, _) = train(filters, steps, Workers::Both, builder)?;
        let folder = tempfile::tempdir().expect("there is room for a folder");
        let (dmda, target) = with_models(filters, steps, folder.path())?;
        let target = target.expect("there are several targets");
        println!(
            "{filters} filters, {steps} steps: CPU {on_cpu} ns, device {on_device} ns, dmda {dmda} ns; it {target}"
        );
        let alone = on_cpu.min(on_device);
        assert!(
            dmda * 20 <= alone * 21,
            "{filters} filters, {steps} steps: {dmda} ns, and {on_cpu} ns on CPU workers, {on_device} ns on the device; it {target}"
        );
    }
    Ok(())
}
