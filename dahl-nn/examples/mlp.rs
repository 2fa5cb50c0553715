//! Trains a network of two linear maps, with batch normalisation and dropout, on Fashion-MNIST. `--help` lists the settings.

use std::process::ExitCode;

use dahl_nn::prelude::*;

mod fashion;
#[path = "networks/mlp.rs"]
mod mlp;

use fashion::{Settings, number};
use mlp::{Extents, Mlp};

const HELP: &str = "\
Trains a network of two linear maps, with batch normalisation, ReLU and dropout between them, on Fashion-MNIST by SGD with
momentum.

usage: mlp [OPTIONS]

  --width N             features between the maps [default: 128]
  --dropout X           the probability of a feature to be dropped [default: 0.2]
  --momentum X          [default: 0.9]";

struct Network {
    width: usize,
    dropout: f64,
    momentum: f64,
}

fn run(settings: &Settings<Network>) -> dahl::Result<()> {
    let Network { width, dropout, momentum } = settings.own;
    let (rt, data) = (settings.runtime()?, settings.images()?);
    let arena = rt.arena();
    let extents = Extents { inputs: 28 * 28, width, classes: 10 };
    let mut model = Mlp::<f32>::new(&mut Init::new(&arena, settings.seed), extents, dropout)?;
    println!("{}", model.summary());
    let sgd = Sgd::new(settings.learning_rate).momentum(momentum);
    let test = |model: &Mlp<'_, f32>| {
        fashion::accuracy(&rt, &data.test, model, |step, model, x| {
            let [batch, features @ ..] = x.shape();
            model.forward(step, &*x.reshaped([batch, features.iter().product()])?)
        })
    };
    fashion::trainer(&rt, settings, &mut model, sgd, test).fit_with(&data.train, |step, model, part| {
        let scores = model.forward(step, &part.features)?;
        CrossEntropy.of(step, &scores, &part.labels, 1.0 / part.labels.len() as f64)
    })?;
    settings.save(&model)
}

fn main() -> ExitCode {
    let settings = Settings::new(0.05, Network { width: 128, dropout: 0.2, momentum: 0.9 });
    let own = |network: &mut Network, name: &str, parser: &mut lexopt::Parser| {
        match name {
            "width" => network.width = number(parser)?,
            "dropout" => network.dropout = number(parser)?,
            "momentum" => network.momentum = number(parser)?,
            _ => return Ok(false),
        }
        Ok(true)
    };
    fashion::main("mlp", HELP, settings, own, run)
}
