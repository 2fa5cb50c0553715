//! Trains a convolutional network on all ranks: `mpirun -n 2 target/debug/examples/train`. Then it trains the same network on one
//! rank, and requires the same bits. With the argument `pipeline` the ranks share the layers, with `replicas` both layers and
//! micro-batches, else the samples of each batch; with `sharded`, also the parameters.

use std::error::Error;

use dahl::{Result, Runtime};
use dahl_nn::prelude::*;

/// The loss of the first and the last epoch, and the bits of the parameters.
fn train(rt: &Runtime, parallel: &Parallel) -> Result<(f64, f64, Vec<u32>)> {
    let arena = rt.arena();
    let mut model = Sequential::<f32>::new(&arena, [1, 12, 12], 42)
        .conv2d(6, 3)?
        .relu()?
        .max_pool2d(2)?
        .flatten()?
        .dense(32)?
        .relu()?
        .dense(10)?;
    let data = Synthetic::new(&[1, 12, 12], 10, 512, 1);
    let trainer = Trainer::new(&mut model, CrossEntropy, AdamW::new(3e-3)).batch_size(64).micro_batch_size(8);
    let history = trainer.epochs(4).parallel(parallel.clone()).fit(&data)?;
    let mut bits = Vec::new();
    for named in model.parameters() {
        bits.extend(named.parameter().value.to_vec()?.into_iter().map(f32::to_bits));
    }
    Ok((history.epochs[0].loss, history.epochs[3].loss, bits))
}

fn main() -> std::result::Result<(), Box<dyn Error>> {
    let parallel: Parallel = match std::env::args().nth(1).as_deref() {
        None | Some("data") => Parallel::data(8).into(),
        Some("sharded") => Parallel::data(8).shard_parameters().into(),
        Some("pipeline") => Parallel::pipeline([4]).into(),
        // On two ranks, each has a replica of each stage.
        Some("replicas") => Parallel::pipeline([4]).replicas([2, 2]).interleaved().into(),
        Some(other) => {
            return Err(format!("`data`, `sharded`, `pipeline` or `replicas`, not `{other}`").into());
        }
    };
    let mpi = dahl_mpi::init()?;
    let builder = || Runtime::builder().cpu_workers(1);
    let (first, last, bits) = mpi.run(builder(), |rt| train(rt, &parallel))?;
    println!("rank {} of {}: loss {first} -> {last}", mpi.rank(), mpi.ranks());
    let alone = train(&builder().build()?, &parallel)?;
    if alone.2 != bits || alone.1.to_bits() != last.to_bits() || last >= first {
        return Err("the result differs from that of one rank, or the network does not learn".into());
    }
    if mpi.rank() == 0 {
        println!("the same bits as on one rank");
    }
    Ok(())
}
