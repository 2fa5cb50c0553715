//! [`Tier`]: the part of the product of distributions and placements that a comparison runs.

use std::env;
use std::io::{self, Write as _};
use std::str::FromStr;
use std::sync::Once;
use std::time::{SystemTime, UNIX_EPOCH};

use fastrand::Rng;

use super::arrays::Placement;
use super::distribution::Distribution;

/// The default seed; `DAHL_TESTING_SEED` overrides it.
const SEED: u64 = 1;
/// The number of distributions of the fast tier for an operation.
const FAST_DISTRIBUTIONS: usize = 3;
const SECONDS_A_DAY: u64 = 86_400;

/// Which combinations of distributions and placements a comparison runs. Both tiers run every element type, every
/// variant and every kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tier {
    /// Three distributions of seven, [`Normal`](Distribution::Normal) among them, and for each of these one of the
    /// three placements in strided parts. The seed, the day and the operation determine which.
    Fast,
    /// Every distribution and every placement.
    #[default]
    Thorough,
}

impl Tier {
    /// The tier that `DAHL_TESTING_TIER` names; without it [`Thorough`](Self::Thorough).
    ///
    /// # Panics
    /// If the variable names no tier.
    pub fn from_env() -> Self {
        parsed("DAHL_TESTING_TIER", "expected `fast` or `thorough`").unwrap_or_default()
    }

    /// The cases of a test that this tier runs: all, or `count` of them, determined by the seed, the day and the test's
    /// name.
    pub fn choose<'c, T>(self, test: &str, cases: &'c [T], count: usize) -> Vec<&'c T> {
        let mut chosen: Vec<&T> = cases.iter().collect();
        if self == Self::Fast {
            let (seed, day) = (seed(), day());
            announce(seed, day);
            random_of(seed, day, test).shuffle(&mut chosen);
            chosen.truncate(count);
        }
        chosen
    }
}

impl FromStr for Tier {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        match text {
            "fast" => Ok(Self::Fast),
            "thorough" => Ok(Self::Thorough),
            _ => Err(()),
        }
    }
}

/// The cases that a comparison of one operation runs.
#[derive(Clone, Debug)]
pub(super) struct Selection {
    pub(super) seed: u64,
    /// The day since 1970 that determined the cases; none if all run.
    pub(super) day: Option<u64>,
    /// Each with its placements in strided parts.
    pub(super) distributions: Vec<(Distribution, Vec<Placement>)>,
}

impl Selection {
    /// The selection for an operation, from the environment.
    pub(super) fn from_env(tier: Tier, op: &str) -> Self {
        let seed = seed();
        match tier {
            Tier::Thorough => Self::everything(seed),
            Tier::Fast => {
                let day = day();
                announce(seed, day);
                Self::of_day(seed, day, op)
            }
        }
    }

    pub(super) fn everything(seed: u64) -> Self {
        let all = |distribution| (distribution, Placement::IN_PARTS.to_vec());
        Self { seed, day: None, distributions: Distribution::ALL.into_iter().map(all).collect() }
    }

    /// The same for every element type of an operation, so that their errors can be compared.
    fn of_day(seed: u64, day: u64, op: &str) -> Self {
        let mut random = random_of(seed, day, op);
        let mut others: Vec<_> = Distribution::ALL
            .into_iter()
            .filter(|&distribution| distribution != Distribution::Normal)
            .collect();
        random.shuffle(&mut others);
        let chosen = [Distribution::Normal].into_iter().chain(others).take(FAST_DISTRIBUTIONS);
        let mut placement = || Placement::IN_PARTS[random.usize(..Placement::IN_PARTS.len())];
        Self { seed, day: Some(day), distributions: chosen.map(|kind| (kind, vec![placement()])).collect() }
    }

    /// The variables that reproduce this selection.
    pub(super) fn variables(&self) -> String {
        let day = self.day.map(|day| format!(" DAHL_TESTING_TIER=fast DAHL_TESTING_DAY={day}"));
        format!("DAHL_TESTING_SEED={}{}", self.seed, day.unwrap_or_default())
    }
}

/// The value of a variable, if it is set.
fn parsed<T: FromStr>(variable: &str, expected: &str) -> Option<T> {
    let text = env::var(variable).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{variable} = `{text}`: {expected}")))
}

fn seed() -> u64 {
    parsed("DAHL_TESTING_SEED", "expected a whole number").unwrap_or(SEED)
}

fn day() -> u64 {
    let today =
        || SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs() / SECONDS_A_DAY);
    parsed("DAHL_TESTING_DAY", "expected a whole number").unwrap_or_else(today)
}

/// The random numbers that determine the cases of an operation or a test on a day.
fn random_of(seed: u64, day: u64, name: &str) -> Rng {
    let hash = name.bytes().fold(seed, |hash, byte| hash.wrapping_mul(31).wrapping_add(u64::from(byte)));
    Rng::with_seed(hash ^ day.rotate_left(32))
}

/// Prints the seed and the day once, past the capture of tests' output, so that a run that passes can be repeated too.
fn announce(seed: u64, day: u64) {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let _ = writeln!(
            io::stderr(),
            "fast tier, chosen by DAHL_TESTING_SEED={seed} DAHL_TESTING_DAY={day}; DAHL_TESTING_TIER=thorough runs all"
        );
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_thorough_tier_chooses_all() {
        assert_eq!(Tier::Thorough.choose("any", &[1, 2, 3], 1), [&1, &2, &3]);
        let chosen = Tier::Fast.choose("any", &[1, 2, 3], 2);
        assert_eq!(chosen.len(), 2);
        assert_ne!(chosen[0], chosen[1]);
    }

    #[test]
    fn a_day_chooses_the_same_again() {
        let (first, again) = (Selection::of_day(1, 20_000, "axpy"), Selection::of_day(1, 20_000, "axpy"));
        assert_eq!(first.distributions, again.distributions);
        assert_eq!(first.distributions.len(), FAST_DISTRIBUTIONS);
        assert_eq!(first.distributions[0].0, Distribution::Normal);
        assert_eq!(first.variables(), "DAHL_TESTING_SEED=1 DAHL_TESTING_TIER=fast DAHL_TESTING_DAY=20000");
    }

    #[test]
    fn a_month_chooses_everything_for_every_op() {
        let thorough = Selection::everything(1);
        for op in ["axpy", "conv2d", "sum"] {
            let mut left: Vec<_> = thorough
                .distributions
                .iter()
                .flat_map(|(kind, placements)| placements.iter().map(move |placement| (*kind, *placement)))
                .collect();
            for day in 20_000..20_031 {
                let chosen = Selection::of_day(1, day, op).distributions;
                left.retain(|(kind, placement)| !chosen.contains(&(*kind, vec![*placement])));
            }
            assert!(left.len() <= 2, "{op} in 31 days lacks {left:?}");
        }
    }
}
