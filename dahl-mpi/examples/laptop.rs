//! Trains a small network on all ranks: `mpirun -n 2 target/debug/examples/laptop`. At the end it trains the same network on
//! one rank, and requires the same bits.
//!
//! The batch is cut into as many shards for any number of ranks. The arrays of a shard belong to one rank, which computes
//! its gradients. Rank 0 owns the weights: it receives the gradients, adds them up in the order of the shards, and its new
//! weights are sent to all.

use std::error::Error;

use dahl::ops::{
    Transposed, axpy_self, fill, matmul, matmul_transposed, mean_squared_error_backward, relu, relu_backward,
};
use dahl::{Matrix, Result, Runtime};

const SHARDS: usize = 4;
const EXAMPLES: usize = 64;
const INPUTS: usize = 8;
const WIDTH: usize = 32;
const STEPS: usize = 200;
const RATE: f32 = 0.2;

type M = Matrix<'static, f32>;

/// A part of the batch, and the arrays that its gradients are computed in.
struct Shard {
    inputs: M,
    targets: M,
    hidden: M,
    active: M,
    outputs: M,
    by_outputs: M,
    by_active: M,
    by_hidden: M,
    by_first: M,
    by_second: M,
}

impl Shard {
    fn new(rt: &Runtime, random: &mut fastrand::Rng, owner: usize) -> Result<Self> {
        let inputs: Vec<f32> = (0..EXAMPLES * INPUTS).map(|_| random.f32() - 0.5).collect();
        let targets = inputs.chunks(INPUTS).map(|x| x[0] * x[1] * 4.0 + x[2].abs() - x[3]).collect();
        let shard = Self {
            inputs: rt.from_vec([EXAMPLES, INPUTS], inputs)?,
            targets: rt.from_vec([EXAMPLES, 1], targets)?,
            hidden: rt.zeros([EXAMPLES, WIDTH])?,
            active: rt.zeros([EXAMPLES, WIDTH])?,
            outputs: rt.zeros([EXAMPLES, 1])?,
            by_outputs: rt.zeros([EXAMPLES, 1])?,
            by_active: rt.zeros([EXAMPLES, WIDTH])?,
            by_hidden: rt.zeros([EXAMPLES, WIDTH])?,
            by_first: rt.zeros([INPUTS, WIDTH])?,
            by_second: rt.zeros([WIDTH, 1])?,
        };
        let Self { inputs, targets, hidden, active, outputs, by_outputs, by_active, by_hidden, .. } = &shard;
        for array in [inputs, targets, hidden, active, outputs, by_outputs, by_active, by_hidden] {
            rt.set_owner(array, owner)?;
        }
        rt.set_owner(&shard.by_first, owner)?;
        rt.set_owner(&shard.by_second, owner)?;
        Ok(shard)
    }

    /// The outputs, and the gradients of the mean squared error.
    fn compute(&mut self, first: &M, second: &M) -> Result<()> {
        matmul(&self.inputs, first, &mut self.hidden)?;
        relu(&self.hidden, &mut self.active)?;
        matmul(&self.active, second, &mut self.outputs)?;
        let factor = 1.0 / (SHARDS * EXAMPLES) as f64;
        mean_squared_error_backward(&self.outputs, &self.targets, &mut self.by_outputs, factor)?;
        matmul_transposed(&self.active, &self.by_outputs, &mut self.by_second, Transposed::LEFT)?;
        matmul_transposed(&self.by_outputs, second, &mut self.by_active, Transposed::RIGHT)?;
        relu_backward(&self.hidden, &self.by_active, &mut self.by_hidden)?;
        matmul_transposed(&self.inputs, &self.by_hidden, &mut self.by_first, Transposed::LEFT)
    }
}

/// The mean squared error before and after the training, and the weights.
fn train(rt: &Runtime) -> Result<(f32, f32, Vec<f32>)> {
    let mut random = fastrand::Rng::with_seed(7);
    let mut weights = |inputs: usize, outputs: usize| -> Result<M> {
        let weights = (0..inputs * outputs).map(|_| (random.f32() - 0.5) * 2.0 / (inputs as f32).sqrt());
        rt.from_vec([inputs, outputs], weights.collect())
    };
    let (mut first, mut second) = (weights(INPUTS, WIDTH)?, weights(WIDTH, 1)?);
    let (mut by_first, mut by_second): (M, M) = (rt.zeros([INPUTS, WIDTH])?, rt.zeros([WIDTH, 1])?);
    for array in [&first, &second, &by_first, &by_second] {
        rt.set_owner(array, 0)?;
    }
    let shard = |shard: usize| Shard::new(rt, &mut random, shard % rt.ranks());
    let mut shards: Vec<Shard> = (0..SHARDS).map(shard).collect::<Result<_>>()?;
    let mut errors = Vec::new();
    for step in 0..=STEPS {
        fill(&mut by_first, 0.0)?;
        fill(&mut by_second, 0.0)?;
        for shard in &mut shards {
            shard.compute(&first, &second)?;
            axpy_self(&shard.by_first, &mut by_first, 1.0)?;
            axpy_self(&shard.by_second, &mut by_second, 1.0)?;
        }
        if step == 0 || step == STEPS {
            let mut error = 0.0;
            for shard in &shards {
                let (outputs, targets) = (shard.outputs.to_vec()?, shard.targets.to_vec()?);
                error += outputs.iter().zip(&targets).map(|(y, t)| (y - t).powi(2)).sum::<f32>();
            }
            errors.push(error / (SHARDS * EXAMPLES) as f32);
        }
        axpy_self(&by_first, &mut first, -RATE)?;
        axpy_self(&by_second, &mut second, -RATE)?;
    }
    Ok((errors[0], errors[1], [first.to_vec()?, second.to_vec()?].concat()))
}

fn main() -> std::result::Result<(), Box<dyn Error>> {
    let mpi = dahl_mpi::init()?;
    let builder = || Runtime::builder().cpu_workers(1);
    let (before, after, weights) = mpi.run(builder(), train)?;
    let alone = train(&builder().build()?)?;
    let bits = |weights: &[f32]| weights.iter().map(|weight| weight.to_bits()).collect::<Vec<_>>();
    let is_same = bits(&alone.2) == bits(&weights) && alone.1.to_bits() == after.to_bits();
    println!("rank {} of {}: mean squared error {before} -> {after}", mpi.rank(), mpi.ranks());
    if !is_same || after >= before / 2.0 {
        return Err("the result differs from that of one rank, or the network does not learn".into());
    }
    if mpi.rank() == 0 {
        println!("the same bits as on one rank");
    }
    Ok(())
}
