//! [`EnergyWeight`]: how much time a joule is worth.

/// The power of a worker, in watts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Power {
    /// While it runs tasks.
    pub(crate) watts: f64,
    /// While it does not.
    pub(crate) idle_watts: f64,
}

/// How much time a joule is worth, and what workers need: the gamma of StarPU's `dmda`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct EnergyWeight {
    seconds_per_joule: f64,
    powers: Vec<Power>,
    /// The idle power of all workers.
    idle_watts: f64,
}

impl EnergyWeight {
    /// That of a machine with these workers.
    pub(crate) fn new(seconds_per_joule: f64, powers: Vec<Power>) -> Self {
        let idle_watts = powers.iter().map(|power| power.idle_watts).sum();
        Self { seconds_per_joule, powers, idle_watts }
    }

    /// What the energy of a task is worth, in nanoseconds: that of its worker beyond its idle power, and the idle power of
    /// all workers for as long as the task makes the run longer.
    pub(super) fn worth_ns(&self, worker: usize, run_ns: u64, longer_ns: u64) -> u64 {
        let Power { watts, idle_watts } = self.powers[worker];
        // Watts times nanoseconds are 10^-9 J, which are worth so many 10^-9 s.
        let nanojoules = (watts - idle_watts) * run_ns as f64 + self.idle_watts * longer_ns as f64;
        (self.seconds_per_joule * nanojoules).max(0.0) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::{EnergyWeight, Power};

    #[test]
    fn a_task_costs_its_worker_and_the_time_of_all() {
        let slow = Power { watts: 5.0, idle_watts: 1.0 };
        let fast = Power { watts: 50.0, idle_watts: 3.0 };
        let weight = EnergyWeight::new(0.5, vec![slow, fast]);
        assert_eq!(weight.worth_ns(0, 100, 0), 200);
        assert_eq!(weight.worth_ns(0, 100, 60), 200 + 120);
        assert_eq!(weight.worth_ns(1, 20, 0), 470);
        assert_eq!(EnergyWeight::new(f64::MAX, vec![fast]).worth_ns(0, u64::MAX, u64::MAX), u64::MAX);
    }
}
