//! Meters without hardware: trees of files, a stand-in for NVML, counters that do what counters do.

mod meters;
mod nvml_library;
mod power_pmu;
mod powercap;
mod tally;
