//! Training a transformer on a device: every task of a step runs there, and the losses are those of the CPU.

#[path = "../../../../dahl-nn/examples/networks/gpt.rs"]
#[allow(dead_code, reason = "the example writes text and reads weights too")]
mod gpt;

use dahl::RuntimeBuilder;
use dahl::prelude::*;
use dahl_nn::prelude::*;

use self::gpt::{Extents, Gpt};
use super::bed::{Bed, on_device};

const EXTENTS: Extents = Extents { vocabulary: 11, context: 8, width: 16, heads: 2, layers: 2 };
const BATCH: usize = 3;
const STEPS: usize = 4;

/// The losses of some steps with AdamW, weight decay, dropout and clipped gradients; and the tasks of the steps by the kind of
/// worker that ran them, the CPU's first.
fn train<T: Real>(runtime: RuntimeBuilder) -> (Vec<f64>, [u64; 2]) {
    let rt = runtime.rand_seed(5).build().unwrap();
    let arena = rt.arena();
    let mut model = Gpt::<T>::new(&mut Init::new(&arena, 3), EXTENTS, 0.1).unwrap();
    let mut optimizer = AdamW::new(0.01).weight_decay(0.1);
    let token = |place: usize| (place * place + 3 * place) as u32 % 11;
    let before = tasks(&rt);
    let losses = (0..STEPS).map(|step| {
        let batch = |shift: usize| {
            let tokens = (0..BATCH * EXTENTS.context).map(|place| token(place + shift + 5 * step)).collect();
            rt.from_vec([BATCH, EXTENTS.context], tokens).unwrap()
        };
        let (inputs, targets) = (batch(0), batch(1));
        let loss = model
            .learn(&rt, |step, model| CrossEntropy.of_tokens(step, &model.forward(step, &inputs)?, &targets));
        let loss = loss.unwrap();
        clip_gradient_norm(&mut model, 1.0).unwrap();
        optimizer.step(&mut model).unwrap();
        loss
    });
    let losses = losses.collect();
    rt.wait().unwrap();
    let after = tasks(&rt);
    (losses, [after[0] - before[0], after[1] - before[1]])
}

/// How many tasks CPU workers and the host have run, and how many the devices.
fn tasks(rt: &Runtime) -> [u64; 2] {
    rt.wait().unwrap();
    let statistics = rt.statistics();
    let of = |is_cpu: bool| {
        let workers = statistics.workers.iter().filter(|worker| (worker.kind == "cpu") == is_cpu);
        workers.map(|worker| worker.tasks).sum::<u64>()
    };
    [of(true) + statistics.host.as_ref().map_or(0, |host| host.tasks), of(false)]
}

#[test]
fn a_transformer_learns_on_a_device_what_it_learns_on_the_cpu() {
    let bed = Bed::new();
    bed.reset(1);
    let (on_cpu, _) = train::<f32>(Runtime::builder().cpu_workers(2).cuda_devices(0));
    let (runtime, left) = on_device();
    let (on_device, [by_cpu, by_device]) = train::<f32>(runtime);
    assert_eq!(left.names(), Vec::<String>::new(), "everything runs on the device");
    assert_eq!(by_cpu, 0, "tasks of the steps that ran on the CPU, of {}", by_cpu + by_device);
    assert!(by_device > 100 * STEPS as u64, "{by_device} tasks ran on the device");
    let difference = on_cpu.iter().zip(&on_device).map(|(a, b)| (a - b).abs() / a).fold(0.0, f64::max);
    println!("losses {on_cpu:?}, which differ by {difference:e}; {by_device} tasks");
    assert!(on_cpu[STEPS - 1] < on_cpu[0], "it learns: {on_cpu:?}");
    assert!(difference <= 2e-6, "{on_cpu:?} and {on_device:?}");
    assert_eq!(bed.findings(), "");
}
