//! [`PartWork`]: the parts of a fused task, and how long they take together.

use super::codelet_speed::CodeletSpeed;
use super::speed::{Speed, nanoseconds};

/// The work of one part of a fused task.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PartWork {
    /// The name of its codelet.
    pub(crate) codelet: &'static str,
    /// The extents of its operands.
    pub(crate) footprint: Vec<Vec<usize>>,
    /// Floating-point operations, if declared.
    pub(crate) flops: Option<f64>,
    /// The bytes that it moves as a task of its own.
    pub(crate) bytes: f64,
    /// Those that it exchanges with the memory as a part: what the parts pass on stays in the cache or in registers.
    pub(crate) exchanged: f64,
}

/// How long a task takes while no other worker is busy, and how that varies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct TaskDuration {
    pub(crate) ns: u64,
    /// How much longer for each other worker of the CPU that is busy.
    pub(crate) co_running: f64,
    /// The standard deviation, relative to the mean.
    pub(crate) variation: f64,
}

impl Speed {
    /// The duration of a fused task: the overhead of one task, and each part without its own. By rates a part takes the time of its
    /// operations or of the bytes that it exchanges; one that was measured, or takes a time of its own, takes that.
    ///
    /// Parts are slowed down by other workers as they are alone, and vary independently of each other, unless the machine says how
    /// the whole (`name`) does.
    pub(crate) fn fused(&self, name: &str, parts: &[PartWork]) -> TaskDuration {
        let (mut us, mut slowed_us, mut variance) = (0.0, 0.0, 0.0);
        for part in parts {
            let of_part = self.part_us(part);
            us += of_part;
            slowed_us += of_part * self.co_running(part.codelet);
            variance += (of_part * self.variation(part.codelet)).powi(2);
        }
        let all_us = self.overhead_us + us;
        let of_all = |part_us: f64| if all_us > 0.0 { part_us / all_us } else { 0.0 };
        let whole = self.codelets.get(name);
        let of_parts = of_all(slowed_us + self.overhead_us * self.co_running);
        TaskDuration {
            ns: nanoseconds(all_us),
            co_running: whole.and_then(|whole| whole.co_running).unwrap_or(of_parts),
            variation: whole.and_then(|whole| whole.variation).unwrap_or_else(|| of_all(variance.sqrt())),
        }
    }

    /// The duration of a part in microseconds, without the overhead of a task.
    fn part_us(&self, part: &PartWork) -> f64 {
        let own = self.codelets.get(part.codelet);
        let measured = |own: &CodeletSpeed| own.measured_us(&part.footprint, part.flops, part.bytes);
        let given = |own: &CodeletSpeed| own.us.map(|us| (us - self.overhead_us).max(0.0));
        let by_rates = || self.rates_us(own, part.flops, part.exchanged);
        own.and_then(|own| measured(own).or_else(|| given(own))).unwrap_or_else(by_rates)
    }
}
