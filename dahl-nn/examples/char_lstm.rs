//! Trains an LSTM on the characters of a text, and writes text with it. `--help` lists the settings.

use std::io::{self, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use dahl::prelude::*;
use dahl_nn::prelude::*;
use lexopt::prelude::*;

#[path = "networks/char_lstm.rs"]
mod char_lstm;
mod command_line;
mod text;

use char_lstm::{CharLstm, Extents, generate};

const HELP: &str = "\
Trains a long short-term memory on the characters of the King James Bible (1 MB, in the crate) by Adam with clipped gradients,
and writes text.

usage: char_lstm [OPTIONS]

  --text FILE           another text, UTF-8
  --steps N             steps of training [default: 300]
  --batch-size N        windows of a step [default: 32]
  --window N            characters of a window [default: 32]
  --features N          features of a character [default: 32]
  --width N             features of a state [default: 64]
  --layers N            [default: 1]
  --learning-rate X     [default: 0.005]
  --write N             characters that are written at the end [default: 200]
  --prompt TEXT         what they continue [default: In the beginning]
  --temperature X       [default: 0.8]
  --workers N           CPU workers [default: DAHL_NCPU, or one for each core]
  --seed N              of weights, order and text [default: 42]
  --help                prints this";

struct Settings {
    text: Option<PathBuf>,
    steps: usize,
    batch_size: usize,
    window: usize,
    extents: Extents,
    learning_rate: f64,
    write: usize,
    prompt: String,
    temperature: f64,
    workers: Option<usize>,
    seed: u64,
}

impl Settings {
    /// The settings of the command line; nothing if it asks for help.
    fn parse() -> Result<Option<Self>, lexopt::Error> {
        let mut settings = Self {
            text: None,
            steps: 300,
            batch_size: 32,
            window: 32,
            extents: Extents { vocabulary: 0, features: 32, width: 64, layers: 1 },
            learning_rate: 5e-3,
            write: 200,
            prompt: "In the beginning".to_owned(),
            temperature: 0.8,
            workers: None,
            seed: 42,
        };
        let mut parser = lexopt::Parser::from_env();
        while let Some(argument) = parser.next()? {
            match argument {
                Long("text") => settings.text = Some(parser.value()?.into()),
                Long("steps") => settings.steps = parser.value()?.parse()?,
                Long("batch-size") => settings.batch_size = parser.value()?.parse()?,
                Long("window") => settings.window = parser.value()?.parse()?,
                Long("features") => settings.extents.features = parser.value()?.parse()?,
                Long("width") => settings.extents.width = parser.value()?.parse()?,
                Long("layers") => settings.extents.layers = parser.value()?.parse()?,
                Long("learning-rate") => settings.learning_rate = parser.value()?.parse()?,
                Long("write") => settings.write = parser.value()?.parse()?,
                Long("prompt") => settings.prompt = parser.value()?.string()?,
                Long("temperature") => settings.temperature = parser.value()?.parse()?,
                Long("workers") => settings.workers = Some(parser.value()?.parse()?),
                Long("seed") => settings.seed = parser.value()?.parse()?,
                Long("help") => return Ok(None),
                other => return Err(other.unexpected()),
            }
        }
        if settings.prompt.is_empty() {
            return Err("--prompt: expected at least one character".into());
        }
        Ok(Some(settings))
    }
}

fn run(settings: &Settings) -> dahl::Result<()> {
    let text = text::read(settings.text.as_ref())?;
    let tokenizer = CharacterTokenizer::new(&text);
    let rt = command_line::runtime(settings.workers, settings.seed)?;
    let arena = rt.arena();
    let extents = Extents { vocabulary: tokenizer.vocabulary().len(), ..settings.extents };
    let mut model = CharLstm::<f32>::new(&mut Init::new(&arena, settings.seed), extents)?;
    println!("{}", model.summary());
    train(&rt, &mut model, &tokenizer.encode(&text)?, settings)?;
    print!("{}", settings.prompt);
    let prompt = tokenizer.encode(&settings.prompt)?;
    generate(&rt, &model, &prompt, [settings.write, settings.window], settings.temperature, |token| {
        print!("{}", tokenizer.decode(&[token]).unwrap_or_else(|_| format!("[{token}]")));
        let _ = io::stdout().flush();
    })?;
    println!();
    Ok(())
}

fn train(rt: &Runtime, model: &mut CharLstm<'_, f32>, text: &[u32], settings: &Settings) -> dahl::Result<()> {
    let windows = TokenWindows::new(text, settings.window);
    let batches = windows.batches(rt, settings.batch_size).shuffle(settings.seed).take(settings.steps);
    let mut adam = Adam::new(settings.learning_rate);
    let start = Instant::now();
    for (index, batch) in batches.enumerate() {
        let (inputs, targets) = batch?;
        let loss = model.learn(rt, |step, model| {
            CrossEntropy.of_tokens(step, &model.forward(step, &inputs)?, &targets)
        })?;
        clip_gradient_norm(model, 1.0)?;
        adam.step(model)?;
        let done = index + 1;
        if done % 50 == 0 || done == settings.steps {
            let characters = (done * settings.batch_size * settings.window) as f64;
            let per_second = characters / start.elapsed().as_secs_f64();
            println!("step {done:>5}: loss {loss:.4}, {per_second:.0} characters/s");
        }
    }
    Ok(())
}

fn main() -> ExitCode {
    command_line::main("char_lstm", HELP, Settings::parse(), run)
}
