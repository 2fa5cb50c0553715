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
