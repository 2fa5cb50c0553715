//! Trains a GPT on all ranks, which share each batch: `mpirun -n 2 target/debug/examples/gpt`. Then it trains the same
//! network on one rank, and requires the same bits. An argument is the number of samples, 320 unless it is given.

use std::error::Error;
use std::result;

use dahl::{Result, Runtime};
use dahl_nn::dataset::{TokenWindows, king_james_bible};
use dahl_nn::prelude::*;

#[path = "../../dahl-nn/examples/networks/gpt.rs"]
#[allow(dead_code, reason = "it also writes text")]
mod gpt;

use gpt::{Extents, Gpt};

const CONTEXT: usize = 32;
const BATCH: usize = 16;
/// As many for any number of ranks: the bits depend on it.
const SHARDS: usize = 8;

/// The loss of each epoch, and the bits of the parameters.
fn train(rt: &Runtime, text: &[u32], vocabulary: usize) -> Result<(Vec<f64>, Vec<u32>)> {
    let arena = rt.arena();
    let extents = Extents { vocabulary, context: CONTEXT, width: 64, heads: 4, layers: 2 };
    let mut model = Gpt::<f32>::new(&mut Init::new(&arena, 42), extents, 0.1)?;
    let optimizer = AdamW::new(3e-3).weight_decay(0.1);
    let trainer = Trainer::of(rt, &mut model, optimizer).batch_size(BATCH).epochs(2).clip_gradient_norm(1.0);
    let windows = TokenWindows::new(text, CONTEXT).stride(CONTEXT);
    let history = trainer.parallel(Parallel::data(SHARDS)).fit_with(&windows, |step, model, part| {
        let (inputs, targets) = part;
        CrossEntropy.of_tokens(step, &model.forward(step, inputs)?, targets)
    })?;
    let mut bits = Vec::new();
    for named in model.parameters() {
        bits.extend(named.parameter().value.to_vec()?.into_iter().map(f32::to_bits));
    }
    Ok((history.epochs.iter().map(|epoch| epoch.loss).collect(), bits))
}

fn main() -> result::Result<(), Box<dyn Error>> {
    let samples: usize = std::env::args().nth(1).map_or(Ok(320), |samples| samples.parse())?;
    let text = king_james_bible();
    let tokenizer = CharacterTokenizer::new(&text);
    let tokens = tokenizer.encode(&text)?;
    let tokens = &tokens[..tokens.len().min(samples * CONTEXT + 1)];
    let vocabulary = tokenizer.vocabulary().len();
    let mpi = dahl_mpi::init()?;
    let builder = || Runtime::builder().cpu_workers(1);
    let (losses, bits) = mpi.run(builder(), |rt| train(rt, tokens, vocabulary))?;
    println!("rank {} of {}: losses {losses:?}", mpi.rank(), mpi.ranks());
    let alone = train(&builder().build()?, tokens, vocabulary)?;
    if alone != (losses.clone(), bits) || losses[1] >= losses[0] {
        return Err("the result differs from that of one rank, or the network does not learn".into());
    }
    if mpi.rank() == 0 {
        println!("the same bits as on one rank");
    }
    Ok(())
}
