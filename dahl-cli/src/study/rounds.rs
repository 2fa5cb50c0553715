//! Measures in real time: runs the variants in turn, round by round, so that other activity of the machine affects all
//! of them alike.

use super::session::Session;
use crate::trouble::Trouble;

/// Measurements of one variant: their median and quartiles.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Spread {
    pub(crate) median: f64,
    /// The lower quartile.
    pub(crate) low: f64,
    /// The upper quartile.
    pub(crate) high: f64,
}

impl Spread {
    /// The spread of these measurements, of which there must be one.
    pub(crate) fn of(mut values: Vec<f64>) -> Self {
        values.sort_by(f64::total_cmp);
        let at = |share: f64| {
            let place = share * (values.len() - 1) as f64;
            let (below, above) = (values[place.floor() as usize], values[place.ceil() as usize]);
            below + (above - below) * place.fract()
        };
        Self { median: at(0.5), low: at(0.25), high: at(0.75) }
    }

    /// Whether the quartiles of the two do not overlap, so that one may be called larger.
    pub(crate) fn is_apart(&self, other: &Self) -> bool {
        self.high < other.low || other.high < self.low
    }

    /// The spread of one figure of each round.
    pub(crate) fn over<M>(rounds: &[M], figure: impl Fn(&M) -> f64) -> Self {
        Self::of(rounds.iter().map(figure).collect())
    }
}

/// Measures each variant once per round. Returns the measurements of each variant, in the order of the variants.
///
/// A warm-up round, in which code is loaded and memory is touched, is not counted. Each round begins with another
/// variant, so that no variant always follows the same one.
pub(crate) fn in_turn<V, M>(
    session: &Session<'_>,
    what: &'static str,
    variants: &[V],
    name: impl Fn(&V) -> String,
    mut measure: impl FnMut(&V) -> Result<M, Trouble>,
) -> Result<Vec<Vec<M>>, Trouble> {
    let rounds = session.settings.rounds;
    let progress = session.progress((rounds + 1) * variants.len(), what);
    let mut measured: Vec<Vec<M>> = variants.iter().map(|_| Vec::new()).collect();
    for round in 0..=rounds {
        for step in 0..variants.len() {
            let index = (step + round) % variants.len();
            progress.begin(format!("round {round} of {rounds}: {}", name(&variants[index])));
            let measurement = measure(&variants[index])?;
            if round > 0 {
                measured[index].push(measurement);
            }
            progress.done();
        }
    }
    Ok(measured)
}

#[cfg(test)]
mod tests {
    use super::Spread;

    #[test]
    fn what_overlaps_is_not_apart() {
        let spread = |low, high| Spread { median: f64::midpoint(low, high), low, high };
        for (first, second, is_apart) in
            [((1.0, 2.0), (2.5, 3.0), true), ((1.0, 2.0), (1.5, 3.0), false), ((1.0, 4.0), (2.0, 3.0), false)]
        {
            let (first, second) = (spread(first.0, first.1), spread(second.0, second.1));
            assert_eq!((first.is_apart(&second), second.is_apart(&first)), (is_apart, is_apart));
        }
    }

    #[test]
    fn quartiles_lie_between_measurements() {
        let spread = Spread::of(vec![4.0, 1.0, 3.0, 2.0, 5.0]);
        assert_eq!(spread, Spread { median: 3.0, low: 2.0, high: 4.0 });
        let spread = Spread::of(vec![1.0, 2.0]);
        assert_eq!(spread, Spread { median: 1.5, low: 1.25, high: 1.75 });
        assert_eq!(Spread::of(vec![7.0]), Spread { median: 7.0, low: 7.0, high: 7.0 });
    }
}
