//! What the examples on Fashion-MNIST have in common: settings, a trainer, and tests.

use std::path::PathBuf;
use std::process::ExitCode;

use dahl::Reshaped;
use dahl::prelude::*;
use dahl_nn::dataset::Images;
use dahl_nn::prelude::*;
use dahl_nn::training::ByStep;
use lexopt::{Arg, Parser};

#[path = "../command_line/mod.rs"]
mod command_line;

/// The settings that all have, and those that an example has besides.
pub(crate) struct Settings<O> {
    data: Option<PathBuf>,
    pub(crate) epochs: usize,
    pub(crate) batch_size: usize,
    pub(crate) learning_rate: f64,
    /// The most images to train with.
    limit: usize,
    workers: Option<usize>,
    pub(crate) seed: u64,
    save: Option<PathBuf>,
    /// The example's own.
    pub(crate) own: O,
}

/// The help of these settings, with their defaults.
fn help<O>(settings: &Settings<O>) -> String {
    let (epochs, batch_size) = (settings.epochs, settings.batch_size);
    let limit = if settings.limit == usize::MAX { "all".to_owned() } else { settings.limit.to_string() };
    format!(
        "  --data FOLDER         the folder with the four IDX files, plain or gzipped; `installed` for the one where Debian's
                        package dataset-fashion-mnist puts them [default: the part that comes with the crate]
  --limit N             trains with the first N images, or with all if there are fewer [default: {limit}]
  --epochs N            how often every image is shown [default: {epochs}]
  --batch-size N        images between two updates [default: {batch_size}]
  --learning-rate X     the highest, if there is a schedule
  --workers N           CPU workers [default: DAHL_NCPU, or one for each core]
  --seed N              of the weights, the order and dropout [default: 42]
  --save FILE           writes the parameters as safetensors
  --help                prints this"
    )
}

impl<O> Settings<O> {
    /// Three epochs of batches of 64 images.
    pub(crate) fn new(learning_rate: f64, own: O) -> Self {
        let (data, workers, save) = (None, None, None);
        let limit = usize::MAX;
        Self { data, epochs: 3, batch_size: 64, learning_rate, limit, workers, seed: 42, save, own }
    }

    /// With the first `limit` images, so often.
    #[allow(dead_code, reason = "the examples that train with all images do not call it")]
    pub(crate) fn shorter(self, limit: usize, epochs: usize) -> Self {
        Self { limit, epochs, ..self }
    }

    /// Reads the command line. `other` reads the example's own settings, and returns whether it has one of this name. The result
    /// says whether help is asked for.
    fn parse(
        &mut self,
        other: impl Fn(&mut O, &str, &mut Parser) -> Result<bool, lexopt::Error>,
    ) -> Result<bool, lexopt::Error> {
        let mut parser = Parser::from_env();
        while let Some(argument) = parser.next()? {
            let Arg::Long(name) = argument else { return Err(argument.unexpected()) };
            let name = name.to_owned();
            match name.as_str() {
                "data" => self.data = Some(parser.value()?.into()),
                "epochs" => self.epochs = number(&mut parser)?,
                "batch-size" => self.batch_size = number(&mut parser)?,
                "learning-rate" => self.learning_rate = number(&mut parser)?,
                "limit" => self.limit = number(&mut parser)?,
                "workers" => self.workers = Some(number(&mut parser)?),
                "seed" => self.seed = number(&mut parser)?,
                "save" => self.save = Some(parser.value()?.into()),
                "help" => return Ok(true),
                _ if other(&mut self.own, &name, &mut parser)? => {}
                _ => return Err(Arg::Long(&name).unexpected()),
            }
        }
        Ok(false)
    }

    /// A runtime with these settings.
    pub(crate) fn runtime(&self) -> dahl::Result<Runtime> {
        command_line::runtime(self.workers, self.seed)
    }

    /// The images to train and to test with.
    pub(crate) fn images(&self) -> dahl::Result<FashionMnist> {
        let mut data = match &self.data {
            None => FashionMnist::embedded()?,
            Some(folder) if folder.as_os_str() == "installed" => FashionMnist::installed()?,
            Some(folder) => FashionMnist::open(folder)?,
        };
        data.train = data.train.limited(self.limit);
        Ok(data)
    }

    /// Writes the parameters, if that is asked for.
    pub(crate) fn save(&self, model: &impl Module<f32>) -> dahl::Result<()> {
        self.save.as_ref().map_or(Ok(()), |path| model.save(path))
    }
}

/// The value of a setting.
pub(crate) fn number<N: std::str::FromStr>(parser: &mut Parser) -> Result<N, lexopt::Error>
where
    N::Err: std::error::Error + Send + Sync + 'static,
{
    use lexopt::ValueExt as _;
    parser.value()?.parse()
}

/// Runs an example: reads the settings, prints help or errors.
pub(crate) fn main<O>(
    name: &str,
    help: &str,
    mut settings: Settings<O>,
    other: impl Fn(&mut O, &str, &mut Parser) -> Result<bool, lexopt::Error>,
    run: impl FnOnce(&Settings<O>) -> dahl::Result<()>,
) -> ExitCode {
    let help = format!("{help}\n{}", self::help(&settings));
    let parsed = settings.parse(other).map(|asks_for_help| (!asks_for_help).then_some(settings));
    command_line::main(name, &help, parsed, run)
}

/// The images of these numbers, `[batch, 1, 28, 28]`, and their labels.
pub(crate) fn batch(
    rt: &Runtime,
    images: &Images,
    numbers: &[usize],
) -> dahl::Result<(Tensor<'static, f32>, Vector<'static, u32>)> {
    let pixels: usize = images.sample_shape().iter().product();
    let mut features = vec![0.0; numbers.len() * pixels];
    for (&number, features) in numbers.iter().zip(features.chunks_exact_mut(pixels)) {
        images.copy_sample(number, features);
    }
    let labels = numbers.iter().map(|&number| images.label(number)).collect();
    Ok((rt.from_vec([numbers.len(), 1, 28, 28], features)?, rt.from_vec([numbers.len()], labels)?))
}

/// A trainer with these settings, which prints the results of each epoch and what `test` finds.
pub(crate) fn trainer<'t, O, M: Module<f32>, U: Optimizer<f32>>(
    rt: &'t Runtime,
    settings: &Settings<O>,
    model: &'t mut M,
    optimizer: U,
    test: impl Fn(&M) -> dahl::Result<String> + 't,
) -> Trainer<'t, 't, f32, ByStep, U, M> {
    let trainer = Trainer::of(rt, model, optimizer).batch_size(settings.batch_size).epochs(settings.epochs);
    trainer.shuffle(settings.seed).callback(Prints(test))
}

/// Prints the results of each epoch.
struct Prints<F>(F);

impl<M, F: Fn(&M) -> dahl::Result<String>> Callback<M> for Prints<F> {
    fn epoch_ended(&mut self, progress: &mut Progress<'_, M>) -> dahl::Result<()> {
        let found = (self.0)(progress.model())?;
        if let Some(epoch) = progress.history().epochs.last() {
            let (loss, speed) = (epoch.loss, epoch.samples_per_second);
            println!("epoch {:>2}: loss {loss:.4}, {found}, {speed:.0} images/s", epoch.epoch);
        }
        Ok(())
    }
}

/// Features as images, `[batch, 1, 28, 28]`.
#[allow(dead_code, reason = "a linear map takes the features as they are")]
pub(crate) fn images<'a>(features: &'a Matrix<'_, f32>) -> dahl::Result<Reshaped<'a, f32, 4>> {
    features.reshaped([features.shape()[0], 1, 28, 28])
}

/// The share of images whose class has the highest score.
#[allow(dead_code, reason = "the autoencoder has no classes")]
pub(crate) fn accuracy<M: Module<f32>>(
    rt: &Runtime,
    images: &Images,
    model: &M,
    scores: impl for<'s> Fn(&'s Step<'s>, &M, &Tensor<'_, f32>) -> dahl::Result<Matrix<'s, f32>>,
) -> dahl::Result<String> {
    let all: Vec<usize> = (0..images.len()).collect();
    let mut correct = 0;
    for numbers in all.chunks(256) {
        let (x, labels) = batch(rt, images, numbers)?;
        let scores = model.evaluate(rt, |step, model| scores(step, model, &x)?.to_vec())?;
        let classes = scores.len() / numbers.len();
        for (scores, label) in scores.chunks_exact(classes).zip(labels.to_vec()?) {
            let best = (0..classes).max_by(|&a, &b| scores[a].total_cmp(&scores[b]));
            correct += usize::from(best == Some(label as usize));
        }
    }
    Ok(format!("test accuracy {:.4}", correct as f64 / images.len() as f64))
}
