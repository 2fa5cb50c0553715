//! Trains a small convolutional network on Fashion-MNIST. `--help` lists the settings.

use std::path::PathBuf;
use std::process::ExitCode;

use dahl::prelude::*;
use dahl_nn::prelude::*;
use lexopt::prelude::*;

const HELP: &str = "\
Trains a small convolutional network (conv 1->4 3x3, relu, max-pool 2, dense 10) on Fashion-MNIST.

usage: train_cnn [OPTIONS]

  --data FOLDER         the folder with the four IDX files, plain or gzipped; `installed` for the one where Debian's
                        package dataset-fashion-mnist puts them [default: the part that comes with the crate]
  --type TYPE           f16, bf16, f32 or f64 [default: f32]
  --epochs N            how often every sample is shown [default: 3]
  --batch-size N        samples between two updates [default: 64]
  --learning-rate X     [default: 0.05]
  --momentum X          [default: 0]
  --workers N           CPU workers [default: DAHL_NCPU, or one for each core]
  --seed N              of the initial weights and the shuffling [default: 42]
  --csv FILE            writes epoch, loss, accuracy, samples per second
  --save FILE           writes the parameters as safetensors
  --help                prints this";

struct Settings {
    data: Option<PathBuf>,
    element: String,
    epochs: usize,
    batch_size: usize,
    learning_rate: f64,
    momentum: f64,
    workers: Option<usize>,
    seed: u64,
    csv: Option<PathBuf>,
    save: Option<PathBuf>,
}

impl Settings {
    /// The settings of the command line; nothing if it asks for help.
    fn parse() -> Result<Option<Self>, lexopt::Error> {
        let mut settings = Self {
            data: None,
            element: "f32".to_owned(),
            epochs: 3,
            batch_size: 64,
            learning_rate: 0.05,
            momentum: 0.0,
            workers: None,
            seed: 42,
            csv: None,
            save: None,
        };
        let mut parser = lexopt::Parser::from_env();
        while let Some(argument) = parser.next()? {
            match argument {
                Long("data") => settings.data = Some(parser.value()?.into()),
                Long("type") => settings.element = parser.value()?.string()?,
                Long("epochs") => settings.epochs = parser.value()?.parse()?,
                Long("batch-size") => settings.batch_size = parser.value()?.parse()?,
                Long("learning-rate") => settings.learning_rate = parser.value()?.parse()?,
                Long("momentum") => settings.momentum = parser.value()?.parse()?,
                Long("workers") => settings.workers = Some(parser.value()?.parse()?),
                Long("seed") => settings.seed = parser.value()?.parse()?,
                Long("csv") => settings.csv = Some(parser.value()?.into()),
                Long("save") => settings.save = Some(parser.value()?.into()),
                Long("help") | Short('h') => return Ok(None),
                other => return Err(other.unexpected()),
            }
        }
        Ok(Some(settings))
    }
}

fn train<T: Real>(settings: &Settings) -> dahl::Result<()> {
    let mut builder = Runtime::builder();
    if let Some(workers) = settings.workers {
        builder = builder.cpu_workers(workers);
    }
    let rt = builder.build()?;
    let data = match &settings.data {
        None => FashionMnist::embedded()?,
        Some(folder) if folder.as_os_str() == "installed" => FashionMnist::installed()?,
        Some(folder) => FashionMnist::open(folder)?,
    };
    let network = rt.arena();
    let mut model = Sequential::<T>::new(&network, [1, 28, 28], settings.seed)
        .conv2d(4, 3)?
        .relu()?
        .max_pool2d(2)?
        .flatten()?
        .dense(10)?;
    println!("{model}");
    println!("{} workers, {} training samples", rt.workers(), data.train.len());
    let optimizer = Sgd::new(settings.learning_rate).momentum(settings.momentum);
    let history = Trainer::new(&mut model, CrossEntropy, optimizer)
        .batch_size(settings.batch_size)
        .epochs(settings.epochs)
        .shuffle(settings.seed)
        .progress(true)
        .fit(&data.train)?;
    for epoch in &history.epochs {
        let (loss, accuracy, speed) = (epoch.loss, epoch.accuracy, epoch.samples_per_second);
        println!("epoch {:>2}: loss {loss:.4}, accuracy {accuracy:.4}, {speed:.0} samples/s", epoch.epoch);
    }
    let test = model.evaluate(CrossEntropy, &data.test)?;
    println!("test accuracy {:.4}, loss {:.4}", test.accuracy, test.loss);
    if let Some(path) = &settings.csv {
        history.to_csv(path)?;
    }
    if let Some(path) = &settings.save {
        model.save(path)?;
    }
    Ok(())
}

fn main() -> ExitCode {
    let settings = match Settings::parse() {
        Ok(Some(settings)) => settings,
        Ok(None) => {
            println!("{HELP}");
            return ExitCode::SUCCESS;
        }
        Err(error) => {
            eprintln!("train_cnn: {error}; `--help` lists the settings");
            return ExitCode::from(2);
        }
    };
    let result = match settings.element.as_str() {
        "f16" => train::<f16>(&settings),
        "bf16" => train::<bf16>(&settings),
        "f32" => train::<f32>(&settings),
        "f64" => train::<f64>(&settings),
        other => {
            eprintln!("train_cnn: --type {other}: expected f16, bf16, f32 or f64");
            return ExitCode::from(2);
        }
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("train_cnn: {error}");
            ExitCode::FAILURE
        }
    }
}
