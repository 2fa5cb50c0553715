//! What a rank of a data parallel training has in memory: a table of bytes for one rank and for four, with and without sharded
//! parameters.
//!
//! `cargo run -p dahl-nn --example ranks_memory`: takes 2 GB of memory, and needs Linux.

use std::error::Error;
use std::fs;

use dahl::prelude::*;
use dahl_nn::prelude::*;
use dahl_nn::training::DataParallel;

/// Features of each layer: a weight takes 36 MiB, which an allocator does not recycle.
const FEATURES: usize = 3072;
const LAYERS: usize = 4;
/// Each rank has one shard.
const SHARDS: usize = 4;

/// The bytes that a rank has after a training, and the most that it had of others' parameters for its tasks.
#[derive(Clone, Copy, Debug, Default)]
struct Bytes {
    parameters: usize,
    gradients: usize,
    optimizer: usize,
    gathered: usize,
}

fn train(rt: &Runtime, parallel: DataParallel) -> dahl::Result<Option<Bytes>> {
    let arena = rt.arena();
    let mut model = Sequential::<f32>::new(&arena, [FEATURES], 42);
    for _ in 0..LAYERS {
        model = model.dense(FEATURES)?;
    }
    let data = Synthetic::new(&[FEATURES], 10, 2 * SHARDS, 1);
    let mut optimizer = AdamW::<f32>::new(1e-4);
    let trainer = Trainer::new(&mut model, CrossEntropy, &mut optimizer).batch_size(SHARDS);
    trainer.parallel(parallel).fit(&data)?;
    rt.wait()?;
    let mut bytes = Some(Bytes { gathered: arena.peak_gathered_bytes(), ..Bytes::default() });
    let mut add = |resident: Option<usize>, to: fn(&mut Bytes) -> &mut usize| match (&mut bytes, resident) {
        (Some(bytes), Some(resident)) => *to(bytes) += resident,
        _ => bytes = None,
    };
    model.for_each_parameter(|_, parameter| {
        add(parameter.value.resident_bytes(), |bytes| &mut bytes.parameters);
        add(parameter.gradient.resident_bytes(), |bytes| &mut bytes.gradients);
        Ok(())
    })?;
    for array in optimizer.states().iter().flat_map(|state| &state.arrays) {
        add(array.resident_bytes(), |bytes| &mut bytes.optimizer);
    }
    Ok(bytes)
}

/// The most bytes that this process has had in memory since the last call.
fn take_peak() -> Option<usize> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: usize = line.split_whitespace().next()?.parse().ok()?;
    fs::write("/proc/self/clear_refs", "5").ok()?;
    Some(kib << 10)
}

fn main() -> Result<(), Box<dyn Error>> {
    let builder = || Runtime::builder().cpu_workers(1).cuda_devices(0);
    let cases = [
        ("one rank", 1, Parallel::data(SHARDS)),
        ("four ranks", SHARDS, Parallel::data(SHARDS)),
        ("four ranks, `.shard_parameters()`", SHARDS, Parallel::data(SHARDS).gather_bytes(40 << 20)),
    ];
    println!(
        "| MiB a rank | parameters | gradients | optimizer's state | others' parameters, at most | peak of the process |"
    );
    println!("|---|---|---|---|---|---|");
    for (name, ranks, parallel) in cases {
        take_peak();
        let of_ranks = dahl_ranks::threads(ranks, 1, builder, |rt| train(rt, parallel.clone()))?;
        let of_ranks: Option<Vec<_>> = of_ranks.into_iter().collect();
        let (Some(of_ranks), Some(peak)) = (of_ranks, take_peak()) else {
            return Err("the system does not say which memory is in use".into());
        };
        let most = |of: fn(&Bytes) -> usize| of_ranks.iter().map(of).max().unwrap_or(0) as f64 / 1048576.0;
        println!(
            "| {name} | {:.1} | {:.1} | {:.1} | {:.1} | {:.0} |",
            most(|bytes| bytes.parameters),
            most(|bytes| bytes.gradients),
            most(|bytes| bytes.optimizer),
            most(|bytes| bytes.gathered),
            peak as f64 / 1048576.0
        );
    }
    Ok(())
}
