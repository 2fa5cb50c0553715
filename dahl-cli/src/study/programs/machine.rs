//! Machines to be simulated.

use dahl::{Machine, Speed, VirtualDevice};

/// What devices are called.
pub(crate) const DEVICE: &str = "device";

/// CPU workers of this speed, and nothing else.
pub(crate) fn of_cpu(speed: Speed) -> Machine {
    let mut machine = Machine::default();
    machine.cpu.speed = speed;
    machine
}

/// CPU workers of this speed, and a device.
pub(crate) fn beside_cpu(speed: Speed, device: VirtualDevice) -> Machine {
    Machine { devices: vec![device], ..of_cpu(speed) }
}

/// How many times as many rows the tiles have that tiles of 16 rows stand for.
const TILE_SCALE: f64 = 32.0;

/// A speed at which tiles of 16 rows take as long as tiles of 512 would at `speed`: a simulated run computes all it
/// simulates.
pub(crate) fn of_tiles(speed: Speed) -> Speed {
    Speed {
        gflops: speed.gflops / TILE_SCALE.powi(3),
        gbytes_per_s: speed.gbytes_per_s / TILE_SCALE.powi(2),
        ..speed
    }
}

/// The link that goes with it.
pub(crate) fn link_of_tiles(gbytes_per_s: f64) -> f64 {
    gbytes_per_s / TILE_SCALE.powi(2)
}
