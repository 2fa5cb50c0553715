//! [`Settings`]: the command line of the bench.

use std::error::Error;
use std::ffi::OsString;
use std::str::FromStr;

use lexopt::prelude::*;

/// What is measured.
pub(crate) struct Settings {
    pub(crate) n: Vec<usize>,
    pub(crate) tiles: Vec<usize>,
    pub(crate) schedulers: Vec<String>,
    types: Vec<String>,
    pub(crate) workers: usize,
    pub(crate) rounds: usize,
}

impl Settings {
    pub(crate) fn from_command_line() -> Self {
        Self::parse().unwrap_or_else(|error| {
            eprintln!("cholesky: {error}");
            std::process::exit(2)
        })
    }

    fn parse() -> Result<Self, lexopt::Error> {
        let mut settings = Self {
            n: vec![4096, 6144, 8192],
            tiles: vec![256, 512, 1024],
            schedulers: vec!["ws".to_owned()],
            types: vec!["f32".to_owned(), "f64".to_owned()],
            workers: 2,
            rounds: 5,
        };
        let mut parser = lexopt::Parser::from_env();
        while let Some(argument) = parser.next()? {
            match argument {
                Long("n") => settings.n = list(&mut parser)?,
                Long("tile") => settings.tiles = list(&mut parser)?,
                Long("scheduler") => settings.schedulers = list(&mut parser)?,
                Long("type") => settings.types = list(&mut parser)?,
                Long("workers") => settings.workers = parser.value()?.parse()?,
                Long("rounds") => settings.rounds = parser.value()?.parse::<usize>()?.max(1),
                Long("bench") => {} // what cargo says
                other => return Err(other.unexpected()),
            }
        }
        Ok(settings)
    }

    /// Whether this element type is measured.
    pub(crate) fn has(&self, element: &str) -> bool {
        self.types.iter().any(|name| name == element)
    }
}

fn list<V>(parser: &mut lexopt::Parser) -> Result<Vec<V>, lexopt::Error>
where
    V: FromStr,
    V::Err: Into<Box<dyn Error + Send + Sync>>,
{
    parser.value()?.string()?.split(',').map(|item| OsString::from(item).parse()).collect()
}
