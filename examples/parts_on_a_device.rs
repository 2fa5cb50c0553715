//! What goes over the link when a device works on a part: the whole block, or the part? (`docs/devices.md`)

use std::fmt::Write;
use std::sync::{Arc, Mutex};

use dahl::ndarray::Axis;
use dahl::observer::{Observer, Submission};
use dahl::ops::codelets::Scale;
use dahl::prelude::*;
use dahl::{Transfer, VirtualDevice};

/// Writes a line for each transfer.
#[derive(Default)]
struct Trace(Mutex<String>);

impl Trace {
    fn say(&self, line: std::fmt::Arguments<'_>) {
        writeln!(self.0.lock().expect("nothing panics"), "{line}").expect("a text takes what is written");
    }
}

impl Observer for Trace {
    fn submitted(&self, task: &Submission<'_>) {
        let extents = task.accesses().next().map(|access| access.extents()).unwrap_or_default();
        self.say(format_args!("submitted     {} {extents:?}", task.codelet().name));
    }

    fn transferred(&self, transfer: &Transfer, begin_ns: u64, end_ns: u64) {
        let [from, to] = [transfer.from, transfer.to].map(|node| ["host", "gpu"][node]);
        let [begin, end] = [begin_ns, end_ns].map(|ns| ns as f64 / 1e3);
        self.say(format_args!("{begin:6.1}-{end:6.1} us {from} -> {to}: {} bytes", transfer.bytes));
    }
}

/// Runs the program, and gives its trace.
pub fn trace() -> dahl::Result<String> {
    let trace = Arc::new(Trace::default());
    let device = VirtualDevice::new("gpu").link(10.0, 12.0);
    let rt = Runtime::builder().cpu_workers(1).virtual_device(device).observer(trace.clone()).build()?;
    let gpu = 1; // the worker after the CPU's

    let mut x: Matrix<f64> = rt.zeros([1000, 1000])?; // 8,000,000 bytes
    let mut parts = x.partition_mut(Axis(0), 250)?; // four parts of 2,000,000
    trace.say(format_args!("twice on the third part"));
    for _ in 0..2 {
        Scale::task_self(&mut parts[2], 2.0).on(gpu).submit()?;
    }
    rt.wait()?;
    trace.say(format_args!("the host reads the first part"));
    parts[0].read()?;
    trace.say(format_args!("the host reads the whole"));
    x.read()?;
    let trace = trace.0.lock().expect("nothing panics").clone();
    Ok(trace)
}

fn main() -> dahl::Result<()> {
    print!("{}", trace()?);
    Ok(())
}
