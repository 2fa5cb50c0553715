//! Trains a convolutional autoencoder on Fashion-MNIST, and prints an image with its reconstruction. `--help` lists the
//! settings.

use std::process::ExitCode;

use dahl::ops::mean_squared_error_init;
use dahl::prelude::*;
use dahl_nn::prelude::*;

#[path = "networks/autoencoder.rs"]
mod autoencoder;
mod fashion;

use autoencoder::Autoencoder;
use fashion::{Settings, number};

const HELP: &str = "\
Trains a convolutional autoencoder on Fashion-MNIST by Adam with the mean squared error of the pixels, and prints the first test
image beside what it makes of it.

usage: autoencoder [OPTIONS]

  --width N             channels after the first convolution [default: 8]
  --code N              channels of the code, of 7 by 7 elements [default: 4]";

/// The mean squared error of the pixels.
fn error<'s>(
    step: &'s Step<'_>,
    model: &Autoencoder<'_, f32>,
    x: &Tensor<'_, f32>,
) -> dahl::Result<Scalar<'s, f32>> {
    mean_squared_error_init(step, &model.forward(step, x)?, x, 1.0 / x.len() as f64)
}

struct Network {
    width: usize,
    code: usize,
}

fn run(settings: &Settings<Network>) -> dahl::Result<()> {
    let Network { width, code } = settings.own;
    let (rt, data) = (settings.runtime()?, settings.images()?);
    let arena = rt.arena();
    let mut model = Autoencoder::<f32>::new(&mut Init::new(&arena, settings.seed), width, code)?;
    println!("{}", model.summary());
    let adam = Adam::new(settings.learning_rate);
    let test: Vec<usize> = (0..data.test.len()).collect();
    let (test, _) = fashion::batch(&rt, &data.test, &test)?;
    let found = |model: &Autoencoder<'_, f32>| {
        let error = model.evaluate(&rt, |step, model| error(step, model, &test)?.to_vec())?;
        Ok(format!("test error {:.4}", error[0]))
    };
    fashion::trainer(&rt, settings, &mut model, adam, found)
        .fit_with(&data.train, |step, model, part| error(step, model, &*fashion::images(&part.features)?))?;
    let (image, _) = fashion::batch(&rt, &data.test, &[0])?;
    let made = model.evaluate(&rt, |step, model| model.forward(step, &image)?.to_vec())?;
    for (image, made) in image.to_vec()?.chunks_exact(28).zip(made.chunks_exact(28)) {
        println!("{}  {}", shades(image), shades(made));
    }
    settings.save(&model)
}

/// A row of pixels as text.
fn shades(row: &[f32]) -> String {
    row.iter().map(|pixel| [' ', '.', ':', 'o', '#'][((pixel * 5.0) as usize).min(4)]).collect()
}

fn main() -> ExitCode {
    let own = |network: &mut Network, name: &str, parser: &mut lexopt::Parser| {
        match name {
            "width" => network.width = number(parser)?,
            "code" => network.code = number(parser)?,
            _ => return Ok(false),
        }
        Ok(true)
    };
    fashion::main("autoencoder", HELP, Settings::new(2e-3, Network { width: 8, code: 4 }), own, run)
}
