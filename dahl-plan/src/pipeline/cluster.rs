//! [`Cluster`]: the machines that a pipeline runs on.

use super::error::Error;

/// Machines that are equal and connected at one bandwidth. Each is a worker, or all machines of the level below.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Level {
    /// How many machines there are.
    pub machines: usize,
    /// The bytes that a machine sends or receives in a second.
    pub bandwidth: f64,
}

/// The machines, and what a plan may do with them.
#[derive(Clone, Debug, PartialEq)]
pub struct Cluster {
    /// The levels, the innermost first: the workers of a machine, the machines of a rack, and so on.
    pub levels: Vec<Level>,
    /// The bytes of a worker, for the parameters and activations of all minibatches that it has in flight.
    pub memory: Option<f64>,
    /// Whether each stage has one machine.
    pub straight: bool,
}

impl Cluster {
    /// Machines at one bandwidth.
    #[must_use]
    pub fn flat(machines: usize, bandwidth: f64) -> Self {
        Self { levels: vec![Level { machines, bandwidth }], memory: None, straight: false }
    }

    pub(super) fn check(&self) -> Result<(), Error> {
        for (index, &Level { machines, bandwidth }) in self.levels.iter().enumerate() {
            if machines == 0 || bandwidth.is_nan() || bandwidth <= 0.0 {
                return Err(Error::Level { level: index + 1, machines, bandwidth });
            }
        }
        Ok(())
    }

    /// The workers of one machine of a level. Levels count from 1.
    pub(super) fn workers(&self, level: usize) -> usize {
        self.levels[..level - 1].iter().map(|level| level.machines).product()
    }
}
