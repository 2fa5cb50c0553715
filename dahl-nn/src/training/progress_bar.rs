//! [`ProgressBar`]: how far a training is, on the terminal.

use std::time::{Duration, Instant};

use indicatif::{FormattedDuration, ProgressStyle};

use crate::metric_accumulator::MetricSum;

/// The number of updates in an epoch.
const TICKS: usize = 200;

/// A bar for each epoch, with loss, accuracy, speed, and the time that is left to the end of the last epoch.
pub(super) struct ProgressBar {
    bar: indicatif::ProgressBar,
    /// Samples that were read when it was drawn last.
    shown: usize,
    every: usize,
    /// The samples of the epochs after this one.
    later: usize,
    /// Whether there is an accuracy to show.
    counts: bool,
}

impl ProgressBar {
    /// A bar for epoch number `epoch`, from 1, of `samples` samples.
    pub(super) fn new(epoch: usize, epochs: usize, samples: usize, counts: bool) -> Self {
        let style = ProgressStyle::with_template("{prefix} {wide_bar} {pos}/{len} {msg}")
            .unwrap_or_else(|_| ProgressStyle::default_bar());
        let bar = indicatif::ProgressBar::new(samples as u64);
        let bar = bar.with_style(style).with_prefix(format!("epoch {epoch}/{epochs}"));
        let later = epochs.saturating_sub(epoch).saturating_mul(samples);
        Self { bar, shown: 0, every: samples / TICKS, later, counts }
    }

    /// Draws the bar if enough samples were read since the last time.
    pub(super) fn update(&mut self, sum: &MetricSum, speed: &Speed) {
        if sum.samples > self.shown + self.every {
            self.shown = sum.samples;
            self.show(sum, speed);
        }
    }

    fn show(&self, sum: &MetricSum, speed: &Speed) {
        let (loss, per_second) = (sum.mean_loss(), speed.samples_per_second(sum.samples));
        let accuracy = if self.counts { format!(", accuracy {:.4}", sum.accuracy()) } else { String::new() };
        let in_epoch = (self.bar.length().unwrap_or(0) as usize).saturating_sub(sum.samples);
        let left = time_left(in_epoch.saturating_add(self.later), per_second);
        let left = left.map_or_else(String::new, |left| format!(", {} left", FormattedDuration(left)));
        self.bar.set_position(sum.samples as u64);
        self.bar.set_message(format!("loss {loss:.4}{accuracy}, {per_second:.0} samples/s{left}"));
    }

    /// Leaves the bar on the terminal.
    pub(super) fn end(self, sum: &MetricSum, speed: &Speed) {
        self.show(sum, speed);
        self.bar.abandon();
    }
}

/// The time that so many samples take, if the speed is known.
fn time_left(samples: usize, per_second: f64) -> Option<Duration> {
    Duration::try_from_secs_f64(samples as f64 / per_second).ok()
}

/// The speed in an epoch, of the part that this process trains.
#[derive(Clone, Copy, Debug)]
pub(super) struct Speed {
    start: Instant,
    /// The samples that an earlier process has trained.
    before: usize,
}

impl Speed {
    /// From now on, after `before` samples of the epoch.
    pub(super) fn after(before: usize) -> Self {
        Self { start: Instant::now(), before }
    }

    pub(super) fn samples_per_second(&self, samples: usize) -> f64 {
        samples.saturating_sub(self.before) as f64 / self.start.elapsed().as_secs_f64()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_left_is_that_of_all_epochs() {
        let bar = ProgressBar::new(2, 5, 100, true);
        assert_eq!((bar.later, bar.every), (300, 0));
        assert_eq!(time_left(300 + 60, 30.0), Some(Duration::from_secs(12)));
        assert_eq!(time_left(10, 0.0), None);
        assert_eq!(time_left(0, 0.0), None);
    }
}
