//! Finds the clubs of the members of Zachary's karate club from who met whom and the clubs of two of them. `--help` lists the
//! settings.

use std::process::ExitCode;

use dahl::prelude::*;
use dahl_nn::prelude::*;
use lexopt::prelude::*;

mod command_line;
#[path = "networks/karate_club.rs"]
mod karate_club;

use karate_club::{CLUBS, EDGES, Gat, Gcn, KNOWN, MEMBERS, Scores};

const HELP: &str = "\
Trains two graph layers on Zachary's karate club by Adam. The network knows which members met, and the clubs of the instructor and of
the president after the club split; it predicts the clubs of the others.

usage: gcn [OPTIONS]

  --attention           layers of graph attention, not graph convolutions
  --steps N             steps of training [default: 100]
  --width N             features between the layers, of each head [default: 8]
  --heads N             heads of attention [default: 2]
  --learning-rate X     [default: 0.02]
  --workers N           CPU workers [default: DAHL_NCPU, or one for each core]
  --seed N              of the weights [default: 42]
  --help                prints this";

struct Settings {
    attention: bool,
    steps: usize,
    width: usize,
    heads: usize,
    learning_rate: f64,
    workers: Option<usize>,
    seed: u64,
}

impl Settings {
    /// The settings of the command line; nothing if it asks for help.
    fn parse() -> Result<Option<Self>, lexopt::Error> {
        let mut settings = Self {
            attention: false,
            steps: 100,
            width: 8,
            heads: 2,
            learning_rate: 0.02,
            workers: None,
            seed: 42,
        };
        let mut parser = lexopt::Parser::from_env();
        while let Some(argument) = parser.next()? {
            match argument {
                Long("attention") => settings.attention = true,
                Long("steps") => settings.steps = parser.value()?.parse()?,
                Long("width") => settings.width = parser.value()?.parse()?,
                Long("heads") => settings.heads = parser.value()?.parse()?,
                Long("learning-rate") => settings.learning_rate = parser.value()?.parse()?,
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
    let rt = command_line::runtime(settings.workers, settings.seed)?;
    let arena = rt.arena();
    let init = &mut Init::new(&arena, settings.seed);
    if settings.attention {
        train(&rt, &mut Gat::new(init, MEMBERS, settings.width, settings.heads)?, settings)
    } else {
        train(&rt, &mut Gcn::new(init, MEMBERS, settings.width)?, settings)
    }
}

fn train(rt: &Runtime, model: &mut impl Scores<f32>, settings: &Settings) -> dahl::Result<()> {
    println!("{}", model.summary());
    let graph = Graph::undirected(rt, MEMBERS, &EDGES)?;
    // Each member has a feature of its own.
    let identity = |index: usize| f32::from(u8::from(index.is_multiple_of(MEMBERS + 1)));
    let x = rt.from_vec([MEMBERS, MEMBERS], (0..MEMBERS * MEMBERS).map(identity).collect())?;
    let known = rt.from_vec([KNOWN.len()], KNOWN.to_vec())?;
    let labels = rt.from_vec([KNOWN.len()], KNOWN.map(|member| CLUBS[member as usize]).to_vec())?;
    let mut adam = Adam::new(settings.learning_rate);
    for index in 0..settings.steps {
        let loss = model.learn(rt, |step, model| model.loss(step, &graph, &x, [&known, &labels]))?;
        adam.step(model)?;
        let done = index + 1;
        if done % 20 == 0 || done == settings.steps {
            println!("step {done:>4}: loss {loss:.4}");
        }
    }
    let scores = model.evaluate(rt, |step, model| model.scores(step, &graph, &x)?.to_vec())?;
    let found: Vec<u32> = scores.chunks_exact(2).map(|scores| u32::from(scores[1] > scores[0])).collect();
    let right = found.iter().zip(CLUBS).filter(|(found, club)| **found == *club).count();
    println!("the clubs of {right} of {MEMBERS} members are right");
    for (member, (found, club)) in
        found.iter().zip(CLUBS).enumerate().filter(|(_, (found, club))| *found != club)
    {
        println!("member {member}: club {found}, not {club}");
    }
    Ok(())
}

fn main() -> ExitCode {
    command_line::main("gcn", HELP, Settings::parse(), run)
}
