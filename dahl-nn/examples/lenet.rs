//! Trains LeNet on Fashion-MNIST by Adam. `--help` lists the settings.

use std::process::ExitCode;

use dahl_nn::prelude::*;

mod fashion;
#[path = "networks/lenet.rs"]
mod lenet;

use fashion::{Settings, number};
use lenet::LeNet;

const HELP: &str = "\
Trains LeNet (two convolutions with pooling, two linear maps) on Fashion-MNIST by Adam.

usage: lenet [OPTIONS]

  --width N             features between the linear maps [default: 84]";

fn run(settings: &Settings<usize>) -> dahl::Result<()> {
    let (rt, data) = (settings.runtime()?, settings.images()?);
    let arena = rt.arena();
    let mut model = LeNet::<f32>::new(&mut Init::new(&arena, settings.seed), 28, settings.own, 10)?;
    println!("{}", model.summary());
    let adam = Adam::new(settings.learning_rate);
    let test = |model: &LeNet<'_, f32>| {
        fashion::accuracy(&rt, &data.test, model, |step, model, x| model.forward(step, x))
    };
    let trainer = fashion::trainer(&rt, settings, &mut model, adam, test);
    trainer.fit_with(&data.train, |step, model, part| {
        let scores = model.forward(step, &*fashion::images(&part.features)?)?;
        CrossEntropy.of(step, &scores, &part.labels, 1.0 / part.labels.len() as f64)
    })?;
    settings.save(&model)
}

fn main() -> ExitCode {
    let own = |width: &mut usize, name: &str, parser: &mut lexopt::Parser| {
        let is_width = name == "width";
        if is_width {
            *width = number(parser)?;
        }
        Ok(is_width)
    };
    fashion::main("lenet", HELP, Settings::new(1e-3, 84), own, run)
}
