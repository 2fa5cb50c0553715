//! Trains ResNet-20 on Fashion-MNIST by SGD with momentum and a schedule. `--help` lists the settings.

use std::process::ExitCode;

use dahl_nn::prelude::*;

mod fashion;
#[path = "networks/resnet.rs"]
mod resnet;

use fashion::{Settings, number};
use resnet::{Extents, ResNet};

const HELP: &str = "\
Trains a residual network on Fashion-MNIST by SGD with momentum and weight decay; the learning rate is divided by 10 after a
half and three quarters of the steps. The defaults are a short run, of a part of the images; a full run is
`--width 16 --limit 60000 --epochs 20 --data FOLDER`.

usage: resnet20 [OPTIONS]

  --blocks N            of each of the three groups; N blocks make 6 N + 2 layers [default: 3]
  --width N             channels of the first group; the paper has 16 [default: 8]
  --momentum X          [default: 0.9]
  --weight-decay X      [default: 0.0001]";

struct Network {
    blocks: usize,
    width: usize,
    momentum: f64,
    weight_decay: f64,
}

fn run(settings: &Settings<Network>) -> dahl::Result<()> {
    let network = &settings.own;
    let (rt, data) = (settings.runtime()?, settings.images()?);
    let arena = rt.arena();
    let extents = Extents { channels: 1, width: network.width, blocks: network.blocks, classes: 10 };
    let mut model = ResNet::<f32>::new(&mut Init::new(&arena, settings.seed), extents)?;
    println!("{} parameters", model.parameter_count());
    let sgd = Sgd::new(settings.learning_rate).momentum(network.momentum).weight_decay(network.weight_decay);
    let steps = settings.epochs * data.train.len().div_ceil(settings.batch_size);
    let (highest, half) = (settings.learning_rate, steps / 2);
    let schedule = Lambda::new(highest, move |step: usize| match step {
        step if step < half => 1.0,
        step if step < half + half / 2 => 0.1,
        _ => 0.01,
    });
    let test = |model: &ResNet<'_, f32>| {
        fashion::accuracy(&rt, &data.test, model, |step, model, x| model.forward(step, x))
    };
    let trainer = fashion::trainer(&rt, settings, &mut model, sgd, test).schedule(schedule);
    trainer.fit_with(&data.train, |step, model, part| {
        let scores = model.forward(step, &*fashion::images(&part.features)?)?;
        CrossEntropy.of(step, &scores, &part.labels, 1.0 / part.labels.len() as f64)
    })?;
    settings.save(&model)
}

fn main() -> ExitCode {
    let network = Network { blocks: 3, width: 8, momentum: 0.9, weight_decay: 1e-4 };
    let own = |network: &mut Network, name: &str, parser: &mut lexopt::Parser| {
        match name {
            "blocks" => network.blocks = number(parser)?,
            "width" => network.width = number(parser)?,
            "momentum" => network.momentum = number(parser)?,
            "weight-decay" => network.weight_decay = number(parser)?,
            _ => return Ok(false),
        }
        Ok(true)
    };
    fashion::main("resnet20", HELP, Settings::new(0.1, network).shorter(2000, 2), own, run)
}
