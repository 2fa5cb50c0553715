//! The statements of `docs/devices.md` are true.

#[path = "../examples/parts_on_a_device.rs"]
#[allow(dead_code, reason = "the example's main")]
pub mod parts_on_a_device;

use dahl::ops::Transposed;
use dahl::ops::codelets::Matmul;
use dahl::prelude::*;
use dahl::{Machine, VirtualDevice};

const PAGE: &str = include_str!("../docs/devices.md");

/// The text of the first code block of that language.
fn block(language: &str) -> &'static str {
    let (_, rest) = PAGE.split_once(&format!("```{language}\n")).expect("there is such a block");
    rest.split_once("```").expect("it ends").0
}

#[test]
fn the_trace_is_what_the_example_prints() {
    assert_eq!(block("text"), parts_on_a_device::trace().expect("it runs"));
}

#[test]
fn the_model_file_is_one() {
    let machine = Machine::from_toml(block("toml")).expect("it is right");
    let [gpu, old] = &machine.devices[..] else { panic!("{machine:?}") };
    assert_eq!((gpu.name.as_str(), gpu.memory_mb, gpu.watts), ("gpu", Some(8192.0), Some(250.0)));
    assert_eq!((old.name.as_str(), old.fails_at, old.lost_after), ("old gpu", Some(3), Some(100)));
    assert_eq!(old.latency_us, VirtualDevice::default().latency_us);
}

#[test]
fn the_times_of_the_example_are_right() -> dahl::Result<()> {
    let on = |worker: usize| -> dahl::Result<(f64, f64)> {
        let machine = Machine::from_toml(block("toml"))?;
        let rt = Runtime::builder().cpu_workers(1).virtual_machine(machine).build()?;
        let (a, b): (Matrix<f32>, Matrix<f32>) = (rt.zeros([512, 512])?, rt.zeros([512, 512])?);
        let mut out = rt.zeros([512, 512])?;
        Matmul::task(&a, &b, &mut out, Transposed::NEITHER).on(worker).submit()?;
        rt.wait()?;
        let us = rt.clock().now_ns() as f64 / 1e3;
        Ok((us, us - rt.worker_uses()[worker].busy_us))
    };
    let ((cpu_us, _), (gpu_us, transfers_us)) = (on(0)?, on(1)?);
    let sentence = format!(
        "takes {cpu_us:.3} us on this `[cpu]`; on `gpu` {gpu_us:.3} us, of which {transfers_us:.3} us are"
    );
    let page = PAGE.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(page.contains(&sentence), "{sentence}");
    Ok(())
}
