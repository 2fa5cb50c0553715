//! The program that is killed.

use std::io::{self, Write as _};
use std::path::Path;
use std::process::ExitCode;

use dahl::ops::{scale_init, tanh_init};
use dahl::prelude::*;
use dahl_nn::dataset::transform::RandomErasing;
use dahl_nn::prelude::*;

/// The environment variable that makes this program train, in the folder that it names.
pub(crate) const FOLDER: &str = "TRAIN_IN_FOLDER";

/// The line before the results.
pub(crate) const RESULTS: &str = "results";

/// Updates of the whole training.
pub(crate) const STEPS: usize = 5 * EPOCHS;

const EPOCHS: usize = 5;

#[derive(Module)]
struct Net<'m, T: Real> {
    hidden: Linear<'m, T>,
    dropout: Dropout,
    norm: BatchNorm<'m, T>,
    output: Linear<'m, T>,
}

impl<'m, T: Real> Net<'m, T> {
    fn forward<'s>(&self, step: &'s Step<'_>, x: &Matrix<'_, T>) -> dahl::Result<Matrix<'s, T>> {
        let hidden = tanh_init(step, &self.norm.forward(step, &self.hidden.forward(step, x)?)?)?;
        self.output.forward(step, &self.dropout.forward(step, &hidden)?)
    }
}

/// Prints a line after each step, and changes the learning rate by a state of its own.
struct Lines {
    sum: u64,
}

impl<M> Callback<M> for Lines {
    fn step_ended(&mut self, progress: &mut Progress<'_, M>) -> dahl::Result<()> {
        self.sum = self.sum.wrapping_mul(3).wrapping_add(progress.steps() as u64);
        progress.set_learning_rate(1e-3 + (self.sum % 7) as f64 * 1e-4);
        println!("step {}", progress.steps());
        let _ = io::stdout().flush();
        Ok(())
    }

    fn state(&self) -> String {
        self.sum.to_string()
    }

    fn set_state(&mut self, state: &str) -> dahl::Result<()> {
        self.sum = state.parse().map_err(dahl::Error::other)?;
        Ok(())
    }
}

pub(crate) fn run(folder: &Path) -> ExitCode {
    match train(folder) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn train(folder: &Path) -> dahl::Result<()> {
    let rt = Runtime::builder().cpu_workers(2).rand_seed(11).build()?;
    let arena = rt.arena();
    let mut init = Init::new(&arena, 3);
    let mut net = Net::<f32> {
        hidden: Linear::new(&mut init, 16, 700)?,
        dropout: Dropout::new(0.3),
        norm: BatchNorm::new(&mut init, 700)?,
        output: Linear::new(&mut init, 700, 300)?,
    };
    let data = || Synthetic::new(&[1, 4, 4], 300, 47, 1);
    let (train, validation) = (data().transformed(RandomErasing::new(), 5)?, data().take(20));
    let checkpoints = folder.join("checkpoints");
    let mut lines = Lines { sum: 0 };
    // From the third step on, every second one counts.
    let mut average = WeightAverage::exponential(0.75).after(2).every(2);
    let history = Trainer::of(&rt, &mut net, AdamW::new(1e-3))
        .batch_size(10)
        .micro_batch_size(4)
        .epochs(EPOCHS)
        .shuffle(9)
        .threads(2)
        .clip_gradient_norm(1.0)
        .average(&mut average)
        .callback(&mut lines)
        .early_stop(EarlyStop::new(Monitor::ValidationLoss, 3).min_delta(1.5).restore_best())
        .checkpoints(Checkpoints::new(&checkpoints).every_steps(1).keep(2).best(Monitor::ValidationLoss))
        .resume(&checkpoints)
        .csv(folder.join("run.csv"))
        .json_lines(folder.join("run.jsonl"))
        .tensorboard(folder.join("events"))
        .validation_with(|net| {
            let evaluate = |step: &Step<'_>, net: &Net<'_, f32>| {
                let mut features = vec![0.0; 20 * 16];
                for (index, features) in features.chunks_exact_mut(16).enumerate() {
                    validation.copy_sample(index, features);
                }
                let labels = (0..20).map(|index| validation.label(index)).collect();
                let (x, labels) = (rt.from_vec([20, 16], features)?, rt.from_vec([20], labels)?);
                CrossEntropy.mean(step, &net.forward(step, &x)?, &labels)?.to_vec()
            };
            let loss = net.evaluate(&rt, |step, net| evaluate(step, net))?[0];
            Ok(Evaluation { loss: f64::from(loss), accuracy: f64::NAN, correct: 0 })
        })
        .fit_with(&train, |step, net, part| {
            let loss = CrossEntropy.mean(step, &net.forward(step, &part.features)?, &part.labels)?;
            // A random number of the runtime's.
            scale_init(step, &loss, 1.0 + (rt.next_seed() % 16) as f32 / 64.0)
        })?;
    println!("{RESULTS}");
    for epoch in &history.epochs {
        let validation = epoch.validation.map(|validation| validation.loss.to_bits());
        println!("epoch {}: {:016x} {validation:x?}", epoch.epoch, epoch.loss.to_bits());
    }
    println!("callback {}, seeds {}", lines.sum, rt.seeds_drawn());
    for (name, values) in net.parameters().map(|named| (named.name().to_owned(), named.value.to_vec())) {
        let bits: Vec<u32> = values?.into_iter().map(f32::to_bits).collect();
        println!("{name} {bits:x?}");
    }
    println!("updates of the average {}", average.updates());
    average.copy_to(&mut net)?;
    for (name, values) in net.parameters().map(|named| (named.name().to_owned(), named.value.to_vec())) {
        let bits: Vec<u32> = values?.into_iter().map(f32::to_bits).collect();
        println!("average of {name} {bits:x?}");
    }
    println!(
        "norm {:x?}",
        net.norm.running_mean.value().to_vec()?.iter().map(|x| x.to_bits()).collect::<Vec<_>>()
    );
    Ok(())
}
