//! [`Machine`]: CPU workers and devices, as a model file describes them; and types for what every runtime has: workers
//! ([`WorkerInfo`]), memory nodes, and copies between them ([`Transfer`]).
//!
//! This module has descriptions only. Not here: the devices of a runtime with their memories (`device`), and the
//! processors of the machine that the program runs on (`topology`).

mod cluster;
mod codelet_speed;
mod part_work;
mod speed;
mod submission;
mod transfer;
mod worker;

use std::path::Path;

use serde::{Deserialize, Serialize};

pub use cluster::{Cluster, NetworkLevel};
pub use codelet_speed::{CodeletSpeed, MeasuredTask};
pub(crate) use part_work::{PartWork, TaskDuration};
pub use speed::Speed;
use speed::{A_TIME, is_time, nanoseconds};
pub use submission::Submission;
pub use transfer::{Transfer, TransferTotal};
pub use worker::WorkerInfo;
pub(crate) use worker::{CPU, worker_name};

use crate::error::{Error, ErrorKind, Result};

/// A simulated machine: the speed of its CPU workers, and its devices.
///
/// ```
/// let machine = dahl_core::Machine::from_toml(
///     r#"
///     [cpu]
///     watts = 15
///
///     [cpu.speed]
///     gflops = 50
///     gbytes_per_s = 10
///     overhead_us = 1
///     codelets.matmul = { gflops = 200 }
///
///     [[device]]
///     name = "gpu"
///     speed = { gflops = 1000, gbytes_per_s = 500, overhead_us = 5 }
///     memory_mb = 8192
///     latency_us = 10
///     link_gbytes_per_s = 12
///     watts = 250
///     idle_watts = 40
///     "#,
/// )?;
/// assert_eq!(machine.devices[0].name, "gpu");
/// # dahl_core::Result::Ok(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Machine {
    /// The seed by which durations [vary](CodeletSpeed::variation); without one all tasks of a size take the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// The CPU workers.
    pub cpu: Cpu,
    /// The devices, each of which is an additional worker.
    #[serde(rename = "device")]
    pub devices: Vec<VirtualDevice>,
    /// The ranks, if it is a cluster: each of them has such CPU workers and devices. A runtime that is no rank simulates one.
    pub cluster: Option<Cluster>,
}

/// A CPU worker of a simulated machine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Cpu {
    /// Its speed.
    pub speed: Speed,
    /// Its power while it runs tasks, in watts, if known.
    pub watts: Option<f64>,
    /// Its power while it does not.
    pub idle_watts: Option<f64>,
    /// The cores that the workers and the host share; absent if there are enough. If more of them are busy than there are cores, each
    /// takes longer, as if the system gave all of them the same share.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cores: Option<usize>,
    /// The time in microseconds that the host takes to submit a task of a codelet that is none of `submissions`.
    pub submit_us: f64,
    /// What the host does before it submits tasks of particular codelets.
    #[serde(rename = "submission", skip_serializing_if = "Vec::is_empty")]
    pub submissions: Vec<Submission>,
}

/// A simulated device: a worker with a memory of its own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct VirtualDevice {
    /// Its name in messages, models and traces, and its kind: devices with the same name share performance models.
    pub name: String,
    /// Its speed.
    pub speed: Speed,
    /// Its memory, in units of 2^20 bytes; `None` for no limit.
    pub memory_mb: Option<f64>,
    /// The latency of each transfer to it and from it, in microseconds.
    pub latency_us: f64,
    /// Bytes transferred per nanosecond, in each direction.
    pub link_gbytes_per_s: f64,
    /// Its power while it runs tasks, in watts, if known.
    pub watts: Option<f64>,
    /// Its power while it does not.
    pub idle_watts: Option<f64>,
    /// The number of its task, counted from 1, that fails.
    pub fails_at: Option<u64>,
    /// The number of its tasks after which it is lost, with all elements that only its memory has.
    pub lost_after: Option<u64>,
}

impl Default for VirtualDevice {
    fn default() -> Self {
        Self {
            name: "device".to_owned(),
            speed: Speed::default(),
            memory_mb: None,
            latency_us: 10.0,
            link_gbytes_per_s: 12.0,
            watts: None,
            idle_watts: None,
            fails_at: None,
            lost_after: None,
        }
    }
}

impl VirtualDevice {
    /// A device with the speed of a CPU worker, a link of 10 us and 12 GB/s, and without a memory limit.
    pub fn new(name: &str) -> Self {
        Self { name: name.to_owned(), ..Self::default() }
    }

    /// Sets its speed.
    pub fn speed(mut self, speed: Speed) -> Self {
        self.speed = speed;
        self
    }

    /// Limits its memory, in units of 2^20 bytes.
    pub fn memory_mb(mut self, megabytes: f64) -> Self {
        self.memory_mb = Some(megabytes);
        self
    }

    /// Sets its link: a latency in microseconds, and bytes per nanosecond.
    pub fn link(mut self, latency_us: f64, gbytes_per_s: f64) -> Self {
        (self.latency_us, self.link_gbytes_per_s) = (latency_us, gbytes_per_s);
        self
    }

    /// Sets its power in watts: while it runs tasks, and while it does not.
    pub fn power(mut self, watts: f64, idle_watts: f64) -> Self {
        (self.watts, self.idle_watts) = (Some(watts), Some(idle_watts));
        self
    }

    /// Makes one of its tasks fail: the first is number 1.
    pub fn fails_at(mut self, task: u64) -> Self {
        self.fails_at = Some(task);
        self
    }

    /// Loses the device after so many of its tasks.
    pub fn lost_after(mut self, tasks: u64) -> Self {
        self.lost_after = Some(tasks);
        self
    }

    /// The bytes of its memory.
    pub(crate) fn limit_bytes(&self) -> Option<usize> {
        self.memory_mb.map(|megabytes| (megabytes * f64::from(1 << 20)) as usize)
    }

    /// The duration of a transfer.
    pub(crate) fn transfer_ns(&self, bytes: usize) -> u64 {
        nanoseconds(self.latency_us + bytes as f64 / self.link_gbytes_per_s / 1e3)
    }

    /// The first figure that is impossible for a device.
    fn wrong(&self) -> Option<String> {
        if self.name.is_empty() || self.name == CPU {
            return Some("name: a device has a name, which is not that of the CPU's workers".to_owned());
        }
        if let Some(wrong) = self.speed.wrong() {
            return Some(wrong);
        }
        let rate = self.link_gbytes_per_s;
        if !(rate.is_finite() && rate > 0.0) {
            return Some(format!("link_gbytes_per_s = {rate}: a rate is above 0"));
        }
        let latency = self.latency_us;
        if !is_time(latency) {
            return Some(format!("latency_us = {latency}: {A_TIME}"));
        }
        if self.fails_at == Some(0) {
            return Some("fails_at = 0: tasks are counted from 1".to_owned());
        }
        if let Some(memory) = self.memory_mb.filter(|memory| !(memory.is_finite() && *memory > 0.0)) {
            return Some(format!("memory_mb = {memory}: a memory is above 0"));
        }
        wrong_power(self.watts, self.idle_watts)
    }
}

/// The first power that is impossible.
fn wrong_power(watts: Option<f64>, idle_watts: Option<f64>) -> Option<String> {
    let mut powers = [("watts", watts), ("idle_watts", idle_watts)].into_iter();
    let (what, power) =
        powers.find(|(_, power)| power.is_some_and(|power| !(power.is_finite() && power >= 0.0)))?;
    Some(format!("{what} = {}: a power is 0 or more", power?))
}

impl Machine {
    /// The duration of task number `sequence`, whose codelet's durations vary so much around `mean_ns`: without a seed the mean.
    ///
    /// It is drawn from a log-normal distribution. What is drawn depends on the seed and the number alone, so that it is the same
    /// whoever runs the task.
    pub(crate) fn varied_ns(&self, mean_ns: u64, variation: f64, sequence: u64) -> u64 {
        let Some(seed) = self.seed.filter(|_| variation > 0.0) else { return mean_ns };
        let uniform =
            |draw: u64| (mixed(seed ^ mixed(2 * sequence + draw)) >> 11) as f64 / (1_u64 << 53) as f64;
        // Box and Muller, 1958.
        let normal = (-2.0 * (1.0 - uniform(0)).ln()).sqrt() * (std::f64::consts::TAU * uniform(1)).cos();
        let squared = (1.0 + variation * variation).ln();
        nanoseconds(mean_ns as f64 * (squared.sqrt() * normal - squared / 2.0).exp() / 1e3)
    }

    /// How many times longer each of so many busy threads takes, since they share the cores.
    pub(crate) fn share(&self, threads: usize) -> f64 {
        self.cpu.cores.map_or(1.0, |cores| (threads as f64 / cores as f64).max(1.0))
    }

    /// The time that the host takes to submit a task, if nothing is known of its codelet.
    pub(crate) fn submit_ns(&self) -> u64 {
        nanoseconds(self.cpu.submit_us)
    }

    /// What the host does before it submits a task of `codelet` that moves so many bytes, after one of `after`, if that is known.
    pub(crate) fn host_ns(&self, codelet: &str, after: Option<&str>, bytes: f64) -> Option<u64> {
        let own = Submission::find(&self.cpu.submissions, codelet, after)?;
        Some(nanoseconds(own.us_of(bytes)))
    }

    /// The machine that a text in TOML describes.
    ///
    /// # Errors
    /// If it cannot be parsed, or a figure is impossible; the error names the line or the figure.
    #[track_caller]
    pub fn from_toml(text: &str) -> Result<Self> {
        Self::read("machine", "machine", text)
    }

    /// The machine that a file describes.
    ///
    /// # Errors
    /// As [`from_toml`](Self::from_toml), or if there is no such file.
    #[track_caller]
    pub fn from_file(path: impl AsRef<Path>) -> Result<Self> {
        Self::from_file_of("machine", path.as_ref())
    }

    /// The same, for a setting with this name.
    #[track_caller]
    pub(crate) fn from_file_of(setting: &'static str, path: &Path) -> Result<Self> {
        let place = path.display().to_string();
        match std::fs::read_to_string(path) {
            Ok(text) => Self::read(setting, &place, &text),
            Err(error) => Err(invalid(setting, place, error.to_string())),
        }
    }

    #[track_caller]
    fn read(setting: &'static str, place: &str, text: &str) -> Result<Self> {
        let machine: Self = match toml::from_str(text) {
            Ok(machine) => machine,
            Err(error) => return Err(invalid(setting, place.to_owned(), error.to_string())),
        };
        machine.require_possible(place, setting)?;
        Ok(machine)
    }

    /// Returns an error if a figure is impossible.
    #[track_caller]
    pub(crate) fn require_possible(&self, place: &str, setting: &'static str) -> Result<()> {
        let Cpu { speed, watts, idle_watts, cores, submit_us, submissions } = &self.cpu;
        let of_cpu = speed.wrong().or_else(|| wrong_power(*watts, *idle_watts));
        let of_cpu =
            of_cpu.or_else(|| (!is_time(*submit_us)).then(|| format!("submit_us = {submit_us}: {A_TIME}")));
        let of_cpu =
            of_cpu.or_else(|| (*cores == Some(0)).then(|| "cores = 0: there is at least one".to_owned()));
        let of_cpu = of_cpu.or_else(|| submissions.iter().find_map(Submission::wrong));
        let of_cpu = of_cpu.map(|wrong| format!("cpu: {wrong}"));
        let of_device =
            |device: &VirtualDevice| Some(format!("device `{}`: {}", device.name, device.wrong()?));
        let of_cluster = || Some(format!("cluster: {}", self.cluster.as_ref()?.wrong()?));
        match of_cpu.or_else(|| self.devices.iter().find_map(of_device)).or_else(of_cluster) {
            Some(wrong) => Err(invalid(setting, place.to_owned(), wrong)),
            None => Ok(()),
        }
    }
}

/// A bijection that spreads its argument over all bits (SplitMix64; Steele, Lea, Flood, 2014).
fn mixed(number: u64) -> u64 {
    let mut mixed = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ mixed >> 31
}

#[track_caller]
fn invalid(setting: &'static str, place: String, fact: String) -> Error {
    Error::new(ErrorKind::Config { setting, value: place, expected: format!("a model of a machine: {fact}") })
}
