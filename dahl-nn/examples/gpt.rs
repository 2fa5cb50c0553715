//! Trains a small GPT on the characters of a text, and writes text with it. `--help` lists the settings.

use std::io::{self, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use dahl::prelude::*;
use dahl_nn::prelude::*;
use lexopt::prelude::*;

mod command_line;
#[path = "networks/gpt.rs"]
#[allow(dead_code, reason = "tests use the rest")]
mod gpt;
mod text;

use gpt::{Extents, Gpt, Sampling, generate};

const HELP: &str = "\
Trains a GPT on the characters of the King James Bible (1 MB, in the crate) with AdamW, gradient clipping and a cosine
schedule, and writes text.

usage: gpt [OPTIONS]

  --text FILE           another text, UTF-8
  --steps N             steps of training; 0 only writes [default: 500]
  --batch-size N        windows of a step [default: 12]
  --context N           tokens of a window [default: 64]
  --width N             features of a token [default: 128]
  --heads N             [default: 4]
  --layers N            [default: 4]
  --dropout X           [default: 0]
  --learning-rate X     the highest [default: 0.001]
  --save FILE           writes model and optimizer at the end, and every 250 steps
  --resume FILE         goes on from such a file
  --load FILE           reads GPT-2's weights; the extents must be the file's, and tokens are not turned into text
  --write N             characters that are written at the end [default: 400]
  --prompt TEXT         what they continue [default: In the beginning]
  --temperature X       [default: 0.8]
  --top-k N             [default: 0: all]
  --top-p X             [default: 1]
  --workers N           CPU workers [default: DAHL_NCPU, or one for each core]
  --seed N              of weights, order and text [default: 42]
  --help                prints this";

struct Settings {
    text: Option<PathBuf>,
    steps: usize,
    batch_size: usize,
    extents: Extents,
    dropout: f64,
    learning_rate: f64,
    save: Option<PathBuf>,
    resume: Option<PathBuf>,
    load: Option<PathBuf>,
    write: usize,
    prompt: String,
    sampling: Sampling,
    workers: Option<usize>,
    seed: u64,
}

impl Settings {
    /// The settings of the command line; nothing if it asks for help.
    fn parse() -> Result<Option<Self>, lexopt::Error> {
        let mut settings = Self {
            text: None,
            steps: 500,
            batch_size: 12,
            extents: Extents { vocabulary: 0, context: 64, width: 128, heads: 4, layers: 4 },
            dropout: 0.0,
            learning_rate: 1e-3,
            save: None,
            resume: None,
            load: None,
            write: 400,
            prompt: "In the beginning".to_owned(),
            sampling: Sampling { temperature: 0.8, top_k: 0, top_p: 1.0 },
            workers: None,
            seed: 42,
        };
        let mut parser = lexopt::Parser::from_env();
        while let Some(argument) = parser.next()? {
            match argument {
                Long("text") => settings.text = Some(parser.value()?.into()),
                Long("steps") => settings.steps = parser.value()?.parse()?,
                Long("batch-size") => settings.batch_size = parser.value()?.parse()?,
                Long("context") => settings.extents.context = parser.value()?.parse()?,
                Long("width") => settings.extents.width = parser.value()?.parse()?,
                Long("heads") => settings.extents.heads = parser.value()?.parse()?,
                Long("layers") => settings.extents.layers = parser.value()?.parse()?,
                Long("dropout") => settings.dropout = parser.value()?.parse()?,
                Long("learning-rate") => settings.learning_rate = parser.value()?.parse()?,
                Long("save") => settings.save = Some(parser.value()?.into()),
                Long("resume") => settings.resume = Some(parser.value()?.into()),
                Long("load") => settings.load = Some(parser.value()?.into()),
                Long("write") => settings.write = parser.value()?.parse()?,
                Long("prompt") => settings.prompt = parser.value()?.string()?,
                Long("temperature") => settings.sampling.temperature = parser.value()?.parse()?,
                Long("top-k") => settings.sampling.top_k = parser.value()?.parse()?,
                Long("top-p") => settings.sampling.top_p = parser.value()?.parse()?,
                Long("workers") => settings.workers = Some(parser.value()?.parse()?),
                Long("seed") => settings.seed = parser.value()?.parse()?,
                Long("help") => return Ok(None),
                other => return Err(other.unexpected()),
            }
        }
        Ok(Some(settings))
    }
}

fn run(settings: &Settings) -> dahl::Result<()> {
    let text = text::read(settings.text.as_ref())?;
    let tokenizer = CharacterTokenizer::new(&text);
    let rt = command_line::runtime(settings.workers, settings.seed)?;
    let arena = rt.arena();
    let vocabulary = if settings.load.is_some() { 50_257 } else { tokenizer.vocabulary().len() };
    let extents = Extents { vocabulary, ..settings.extents };
    let mut model = Gpt::<f32>::new(&mut Init::new(&arena, settings.seed), extents, settings.dropout)?;
    let mut optimizer = AdamW::new(settings.learning_rate).weight_decay(0.1);
    if let Some(path) = &settings.load {
        model.load_gpt2(path)?;
    }
    if let Some(path) = &settings.resume {
        load_checkpoint(path, &mut model, &mut optimizer)?;
    }
    println!("{} parameters, {} tokens of text", model.parameter_count(), text.chars().count());
    if settings.steps > 0 {
        train(&rt, &mut model, &mut optimizer, &tokenizer.encode(&text)?, settings)?;
    }
    let prompt = tokenizer.encode(&settings.prompt)?;
    print!("{}", settings.prompt);
    let start = Instant::now();
    generate(&rt, &model, &prompt, settings.write, settings.sampling, |token| {
        let text = tokenizer.decode(&[token]).unwrap_or_else(|_| format!("[{token}]"));
        print!("{text}");
        let _ = io::stdout().flush();
    })?;
    let per_second = settings.write as f64 / start.elapsed().as_secs_f64();
    println!("\n\nwritten: {per_second:.0} tokens/s");
    Ok(())
}

fn train(
    rt: &Runtime,
    model: &mut Gpt<'_, f32>,
    optimizer: &mut AdamW<f32>,
    text: &[u32],
    settings: &Settings,
) -> dahl::Result<()> {
    let context = settings.extents.context;
    let windows = TokenWindows::new(text, context);
    let schedule = Cosine::new(settings.learning_rate, settings.steps)
        .warmup(settings.steps / 10)
        .minimum(settings.learning_rate / 10.0);
    let start = Instant::now();
    let batches = windows.batches(rt, settings.batch_size).shuffle(settings.seed).take(settings.steps);
    for (index, batch) in batches.enumerate() {
        let (inputs, targets) = batch?;
        let loss = model.learn(rt, |step, model| {
            CrossEntropy.of_tokens(step, &model.forward(step, &inputs)?, &targets)
        })?;
        clip_gradient_norm(model, 1.0)?;
        optimizer.set_learning_rate(schedule.at(index));
        optimizer.step(model)?;
        let done = index + 1;
        if done % 50 == 0 || done == settings.steps {
            let tokens = done * settings.batch_size * context;
            let per_second = tokens as f64 / start.elapsed().as_secs_f64();
            println!("step {done:>5}: loss {loss:.4}, {per_second:.0} tokens/s");
        }
        if let Some(path) = settings.save.as_ref().filter(|_| done % 250 == 0 || done == settings.steps) {
            save_checkpoint(path, model, optimizer)?;
        }
    }
    Ok(())
}

fn main() -> ExitCode {
    command_line::main("gpt", HELP, Settings::parse(), run)
}
