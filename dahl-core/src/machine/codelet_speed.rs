//! [`CodeletSpeed`]: how long the tasks of one codelet take, by rates or by what was measured.

use serde::{Deserialize, Serialize};

/// The speed of a codelet, as far as it differs.
///
/// What was measured comes first: [`measured`](Self::measured), then `us`, then the rates.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CodeletSpeed {
    /// Floating-point operations per nanosecond.
    pub gflops: Option<f64>,
    /// Bytes moved per nanosecond.
    pub gbytes_per_s: Option<f64>,
    /// The duration in microseconds, for any size of task.
    pub us: Option<f64>,
    /// Whether the worker has no kernel of it.
    pub absent: bool,
    /// How much longer its tasks take for each other worker of the CPU that is busy: 0.3 is 30 %.
    pub co_running: Option<f64>,
    /// How much its durations vary: their standard deviation, relative to their mean. Without a [seed](super::Machine::seed)
    /// all take the mean.
    pub variation: Option<f64>,
    /// What tasks of some sizes took.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub measured: Vec<MeasuredTask>,
}

impl CodeletSpeed {
    /// Whether it says how long tasks take.
    pub(super) fn has_time(&self) -> bool {
        self.us.or(self.gflops).or(self.gbytes_per_s).is_some() || !self.measured.is_empty()
    }
}

/// What the tasks of one size took on a worker, while no other worker was busy.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MeasuredTask {
    /// The extents of its arrays.
    pub footprint: Vec<Vec<usize>>,
    /// Its floating-point operations, if declared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flops: Option<f64>,
    /// The bytes that it moves.
    pub bytes: f64,
    /// The mean duration in microseconds.
    pub us: f64,
}

/// A measured task beside the one that is asked for: its size, and its duration.
#[derive(Clone, Copy)]
struct Point {
    size: f64,
    us: f64,
}

impl CodeletSpeed {
    /// The same, `factor` times as fast.
    pub(super) fn times(&self, factor: f64) -> Self {
        let faster = |task: &MeasuredTask| MeasuredTask { us: task.us / factor, ..task.clone() };
        Self {
            gflops: self.gflops.map(|gflops| gflops * factor),
            gbytes_per_s: self.gbytes_per_s.map(|bytes| bytes * factor),
            us: self.us.map(|us| us / factor),
            measured: self.measured.iter().map(faster).collect(),
            ..*self
        }
    }

    /// The duration of a task by what was measured; none if nothing was.
    ///
    /// A task of the same extents says it directly; of several, in other element types, the one that moves the nearest number of
    /// bytes. Else those whose extents are the task's, or differ from them by one common
    /// factor, do: batches of other lengths, tiles of other sides. Between two of them the duration is a straight line over the
    /// size (`flops`, or `bytes` if those are not declared). Beyond them it continues the line through the last two, but
    /// grows no slower than not at all, and no faster than the size. Without such a task the one of the nearest size says the rate.
    pub(super) fn measured_us(
        &self,
        footprint: &[impl AsRef<[usize]>],
        flops: Option<f64>,
        bytes: f64,
    ) -> Option<f64> {
        let apart = |task: &MeasuredTask| (task.bytes - bytes).abs();
        let same = self.measured.iter().filter(|task| scale(&task.footprint, footprint) == Some(1.0));
        if let Some(same) = same.min_by(|a, b| apart(a).total_cmp(&apart(b))) {
            return Some(same.us);
        }
        let size = flops.unwrap_or(bytes);
        let point = |task: &MeasuredTask| Point { size: task.flops.unwrap_or(task.bytes), us: task.us };
        let is_similar = |task: &&MeasuredTask| scale(&task.footprint, footprint).is_some();
        let mut similar: Vec<Point> = self.measured.iter().filter(is_similar).map(point).collect();
        similar.sort_by(|a, b| a.size.total_cmp(&b.size));
        similar.dedup_by(|a, b| a.size == b.size);
        if let Some(us) = on_line(&similar, size) {
            return Some(us);
        }
        let distance = |point: &Point| (point.size.max(1.0) / size.max(1.0)).ln().abs();
        let all = self.measured.iter().map(point);
        let nearest = all.min_by(|a, b| distance(a).total_cmp(&distance(b)))?;
        Some(in_proportion(nearest, size))
    }

    /// The first figure that is impossible, with its name.
    pub(super) fn wrong(&self) -> Option<String> {
        let shares = [("co_running", self.co_running), ("variation", self.variation)];
        for (what, share) in shares {
            if let Some(share) = share.filter(|share| !(share.is_finite() && *share >= 0.0)) {
                return Some(format!("{what} = {share}: a share is 0 or more"));
            }
        }
        let task = self.measured.iter().find(|task| {
            !super::speed::is_time(task.us) || !is_amount(task.bytes) || !task.flops.is_none_or(is_amount)
        })?;
        let MeasuredTask { flops, bytes, us, .. } = task;
        Some(format!(
            "measured: flops = {flops:?}, bytes = {bytes}, us = {us}: expected finite numbers from 0 on"
        ))
    }
}

fn is_amount(amount: f64) -> bool {
    amount.is_finite() && amount >= 0.0
}

/// The factor by which those extents of `asked` that differ from `known` are larger; none if there is no such factor.
fn scale(known: &[Vec<usize>], asked: &[impl AsRef<[usize]>]) -> Option<f64> {
    if known.len() != asked.len() {
        return None;
    }
    let mut factor: Option<(usize, usize)> = None;
    for (known, asked) in known.iter().zip(asked) {
        let asked = asked.as_ref();
        if known.len() != asked.len() {
            return None;
        }
        for (&from, &to) in known.iter().zip(asked).filter(|(from, to)| from != to) {
            if from == 0 || to == 0 {
                return None;
            }
            let (above, below) = *factor.get_or_insert((to, from));
            if to.checked_mul(below)? != from.checked_mul(above)? {
                return None;
            }
        }
    }
    Some(factor.map_or(1.0, |(above, below)| above as f64 / below as f64))
}

/// The duration at `size` by points of increasing sizes; none without points.
fn on_line(points: &[Point], size: f64) -> Option<f64> {
    let after = points.partition_point(|point| point.size < size);
    let (low, high) = match points.len() {
        0 => return None,
        1 => return Some(in_proportion(points[0], size)),
        len if after == 0 => (0, len.min(2) - 1),
        len if after == len => (len - 2, len - 1),
        _ => (after - 1, after),
    };
    let (low, high) = (points[low], points[high]);
    let line = low.us + (high.us - low.us) * (size - low.size) / (high.size - low.size);
    if (low.size..=high.size).contains(&size) {
        return Some(line);
    }
    let end = if size < low.size { low } else { high };
    let proportional = in_proportion(end, size);
    Some(line.clamp(proportional.min(end.us), proportional.max(end.us)))
}

fn in_proportion(point: Point, size: f64) -> f64 {
    if point.size > 0.0 { point.us * size / point.size } else { point.us }
}
