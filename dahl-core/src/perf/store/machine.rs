//! [`MachineFacts`]: the machine for which stored durations hold.

use std::fs;
use std::thread::available_parallelism;

use serde::{Deserialize, Serialize};

use super::file::{Stored, VERSION};
use super::stored::StoredProcessor;
use crate::machine::Machine;
use crate::simd;

/// The machine that stored durations are valid for: `machine.toml`. They are useless for another machine, so the folder
/// is named after a hash of this.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MachineFacts {
    version: u32,
    pub(super) host: String,
    /// For a real machine.
    real: Option<Cores>,
    /// The model of a simulated one.
    simulated: Option<Machine>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Cores {
    cpu: String,
    cores: usize,
    /// Instructions that kernels are compiled for.
    simd: String,
    /// Whether this crate has debug assertions.
    build: String,
}

impl MachineFacts {
    /// The facts of this machine, or of a simulated one.
    pub(super) fn new(simulated: Option<&Machine>) -> Self {
        let host = fs::read_to_string("/proc/sys/kernel/hostname").ok();
        let host = host.or_else(|| std::env::var("HOSTNAME").ok()).unwrap_or_default();
        let host = Some(host.trim()).filter(|host| !host.is_empty()).unwrap_or("localhost").to_owned();
        let simulated = simulated.map(|machine| {
            let mut machine = machine.clone();
            for device in &mut machine.devices {
                (device.fails_at, device.lost_after) = (None, None); // which change no duration
            }
            machine
        });
        let real = simulated.is_none().then(Cores::here);
        Self { version: VERSION, host, real, simulated }
    }

    /// The name of the folder: a word and a hash.
    pub(super) fn folder(&self) -> String {
        // FNV-1a: the same in every version of every compiler.
        let hash = self.text().bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        format!("{}-{:08x}", self.kind(), (hash >> 32) ^ (hash & 0xffff_ffff))
    }

    /// `real` or `simulated`.
    pub(super) fn kind(&self) -> &'static str {
        if self.real.is_some() { "real" } else { "simulated" }
    }

    /// The processor of a real machine.
    pub(super) fn processor(&self) -> Option<StoredProcessor> {
        let Cores { cpu, cores, simd, build } = self.real.clone()?;
        Some(StoredProcessor { name: cpu, processors: cores, simd: simd.to_lowercase(), build })
    }

    /// The model of a simulated machine.
    pub(super) fn simulated(&self) -> Option<Machine> {
        self.simulated.clone()
    }

    pub(super) fn text(&self) -> String {
        toml::to_string(self).expect("a machine is plain data")
    }

    /// The first difference from the text of another machine, for a warning.
    pub(super) fn difference(&self, other: &str) -> String {
        let own = self.text();
        let line = other.lines().find(|line| !own.lines().any(|own| own == *line));
        match line {
            Some(line) => format!("it is of another machine, where `{line}`"),
            None => "it is of another machine".to_owned(),
        }
    }
}

impl Stored for MachineFacts {
    fn wrong(&self) -> Option<String> {
        let of = [self.real.is_some(), self.simulated.is_some()];
        (of == [false; 2] || of == [true; 2]).then(|| "expected either `real` or `simulated`".to_owned())
    }
}

impl Cores {
    fn here() -> Self {
        let facts = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let named = |name: &str| {
            let line = facts.lines().find(|line| line.starts_with(name))?;
            Some(line.split_once(':')?.1.trim().to_owned())
        };
        let listed = facts.lines().filter(|line| line.starts_with("processor")).count();
        let cores = if listed > 0 { listed } else { available_parallelism().map_or(1, |cores| cores.get()) };
        let build = if cfg!(debug_assertions) { "debug" } else { "release" };
        Self {
            cpu: named("model name").unwrap_or_else(|| std::env::consts::ARCH.to_owned()),
            cores,
            simd: format!("{:?}", simd::level()),
            build: build.to_owned(),
        }
    }
}
