//! [`Request`]: what is to be measured.

use std::str::FromStr;

/// `KIND DIRECTION TYPE WORKERS SECONDS EXTENT..`: an operation, what of it is measured, and for how long.
pub(crate) struct Request {
    pub(crate) kind: String,
    pub(crate) direction: String,
    pub(crate) element: String,
    /// 1 or 2.
    pub(crate) workers: usize,
    pub(crate) seconds: f64,
    /// The extents, in the order that the operation's function names.
    pub(crate) extents: Vec<usize>,
}

impl Request {
    /// What tells it from others, for however long it is measured.
    pub(crate) fn footprint(&self) -> String {
        let Self { kind, direction, element, workers, extents, .. } = self;
        format!("{kind} {direction} {element} {workers} {extents:?}")
    }

    /// The extents, if there are so many.
    ///
    /// # Panics
    /// If there are not.
    pub(crate) fn extents<const N: usize>(&self) -> [usize; N] {
        self.extents.as_slice().try_into().unwrap_or_else(|_| panic!("{} has {N} extents", self.kind))
    }
}

impl FromStr for Request {
    type Err = String;

    fn from_str(line: &str) -> Result<Self, String> {
        let words: Vec<_> = line.split_whitespace().collect();
        let [kind, direction, element, workers, seconds, extents @ ..] = words.as_slice() else {
            return Err(format!("`{line}`: KIND DIRECTION TYPE WORKERS SECONDS EXTENT.. are expected"));
        };
        let number = |word: &&str| word.parse::<usize>().map_err(|error| format!("`{word}`: {error}"));
        let workers = number(workers)?;
        if !(1..=2).contains(&workers) {
            return Err(format!("{workers} workers: 1 or 2 are expected"));
        }
        Ok(Self {
            kind: (*kind).to_owned(),
            direction: (*direction).to_owned(),
            element: (*element).to_owned(),
            workers,
            seconds: seconds.parse().map_err(|error| format!("`{seconds}`: {error}"))?,
            extents: extents.iter().map(number).collect::<Result<_, _>>()?,
        })
    }
}
