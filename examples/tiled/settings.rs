//! [`Settings`]: the command line.

use std::ffi::OsString;
use std::path::PathBuf;

use dahl::{Machine, Runtime};
use lexopt::prelude::*;

const OPTIONS: &str = "\
  --n N             rows and columns [default: 2048]
  --tile N          rows and columns of a tile [default: 512]
  --type TYPE       f32 or f64 [default: f64]
  --scheduler NAME  [default: DAHL_SCHED, or ws]
  --workers N       CPU workers [default: DAHL_NCPU, or one for each core]
  --machine FILE    a model of a machine, such as examples/tiled/machine.toml: runs on it in virtual time
  --help            prints this";

/// What the command line says.
pub struct Settings {
    /// Rows and columns of a matrix.
    pub n: usize,
    /// Rows and columns of a tile.
    pub tile: usize,
    /// The element type: `f32` or `f64`.
    pub element: String,
    scheduler: Option<String>,
    workers: Option<usize>,
    machine: Option<PathBuf>,
}

impl Settings {
    /// The settings of this process. Prints what is wrong with them, or `purpose` and the options, and exits.
    pub fn from_command_line(purpose: &str) -> Self {
        match Self::parse(std::env::args_os()) {
            Ok(Some(settings)) => settings,
            Ok(None) => {
                println!("{purpose}\n\n{OPTIONS}");
                std::process::exit(0)
            }
            Err(error) => {
                eprintln!("{error}; `--help` lists the settings");
                std::process::exit(2)
            }
        }
    }

    /// The settings that a program's name and arguments give; nothing if they ask for help.
    pub fn parse(
        arguments: impl IntoIterator<Item = impl Into<OsString>>,
    ) -> Result<Option<Self>, lexopt::Error> {
        let mut settings = Self {
            n: 2048,
            tile: 512,
            element: "f64".to_owned(),
            scheduler: None,
            workers: None,
            machine: None,
        };
        let mut parser = lexopt::Parser::from_iter(arguments);
        while let Some(argument) = parser.next()? {
            match argument {
                Long("n") => settings.n = positive(&mut parser)?,
                Long("tile") => settings.tile = positive(&mut parser)?,
                Long("type") => settings.element = element(parser.value()?.string()?)?,
                Long("scheduler") => settings.scheduler = Some(parser.value()?.string()?),
                Long("workers") => settings.workers = Some(positive(&mut parser)?),
                Long("machine") => settings.machine = Some(parser.value()?.into()),
                Long("help") | Short('h') => return Ok(None),
                other => return Err(other.unexpected()),
            }
        }
        Ok(Some(settings))
    }

    /// The runtime that they ask for.
    pub fn runtime(&self) -> dahl::Result<Runtime> {
        let mut builder = Runtime::builder();
        if let Some(scheduler) = &self.scheduler {
            builder = builder.scheduler(scheduler);
        }
        if let Some(workers) = self.workers {
            builder = builder.cpu_workers(workers);
        }
        if let Some(machine) = &self.machine {
            builder = builder.virtual_machine(Machine::from_file(machine)?);
        }
        builder.build()
    }
}

fn positive(parser: &mut lexopt::Parser) -> Result<usize, lexopt::Error> {
    match parser.value()?.parse()? {
        0 => Err("0: expected a number above 0".into()),
        number => Ok(number),
    }
}

fn element(name: String) -> Result<String, lexopt::Error> {
    match name.as_str() {
        "f32" | "f64" => Ok(name),
        _ => Err(format!("--type {name}: expected f32 or f64").into()),
    }
}
