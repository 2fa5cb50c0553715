//! Codelets with kernels for devices, and runtimes to run them.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use dahl_core::__private::{InPlace, Kernel, Parameter};
use dahl_core::{
    AccessMode, Codelet, ElementType, Matrix, Result, Runtime, RuntimeBuilder, Task, TransferTotal,
};
use fake_cuda::FakeDriver;

use crate::random_programs::on_cuda;

const I64: ElementType = ElementType::of::<i64>();

pub(crate) type M<'m> = Matrix<'m, i64>;

/// The argument with which [`scale`] fails on a device.
pub(crate) const UNLUCKY: i64 = 13;

/// `x = 5 x + add`.
static SCALE: Codelet = Codelet::new("scale", module_path!(), 1)
    .parameters(&[Parameter::new("x", AccessMode::RW, I64)])
    .arguments(&["add"])
    .kernels(&[Some(Kernel::new("rust", |views| {
        let add: i64 = views.argument();
        views.slice_mut::<i64>().iter_mut().for_each(|x| *x = 5 * *x + add);
    }))])
    .cuda(on_cuda::SCALE.instance(&[]));

/// `out += x`, in turn.
static ADD: Codelet = Codelet::new("add", module_path!(), 2)
    .parameters(&[Parameter::new("x", AccessMode::R, I64), Parameter::new("out", AccessMode::RW, I64)])
    .kernels(&[Some(Kernel::new("rust", |views| {
        let (x, out) = (views.slice::<i64>(), views.slice_mut::<i64>());
        out.iter_mut().zip(x).for_each(|(out, x)| *out += x);
    }))])
    .cuda(on_cuda::ADD.instance(&[]));

/// `out = 7 x + y`.
static MAP: Codelet = Codelet::new("map", module_path!(), 3)
    .parameters(&[
        Parameter::new("x", AccessMode::R, I64),
        Parameter::new("y", AccessMode::R, I64),
        Parameter::new("out", AccessMode::W, I64),
    ])
    .kernels(&[Some(Kernel::new("rust", |views| {
        let (x, y, out) = (views.slice::<i64>(), views.slice::<i64>(), views.slice_mut::<i64>());
        for i in 0..out.len() {
            out[i] = 7 * x[i] + y[i];
        }
    }))])
    .in_place(InPlace::rename(1))
    .cuda(on_cuda::MAP.instance(&[]));

/// A codelet for the CPU alone: `out += x`.
static ADD_ON_CPU: Codelet = Codelet::new("add_on_cpu", module_path!(), 4)
    .parameters(&[Parameter::new("x", AccessMode::R, I64), Parameter::new("out", AccessMode::RW, I64)])
    .kernels(&[Some(Kernel::new("rust", |views| {
        let (x, out) = (views.slice::<i64>(), views.slice_mut::<i64>());
        out.iter_mut().zip(x).for_each(|(out, x)| *out += x);
    }))]);

/// `out = value`.
static FILL: Codelet = Codelet::new("fill", module_path!(), 5)
    .parameters(&[Parameter::new("out", AccessMode::W, I64)])
    .arguments(&["value"])
    .kernels(&[Some(Kernel::new("rust", |views| {
        let value: i64 = views.argument();
        views.slice_mut::<i64>().fill(value);
    }))])
    .cuda(on_cuda::FILL.instance(&[]));

/// The gates up to this number are open.
static OPEN: (Mutex<i64>, Condvar) = (Mutex::new(0), Condvar::new());

/// A task on the CPU that ends when its gate is open.
static HOLD: Codelet = Codelet::new("hold", module_path!(), 6)
    .parameters(&[Parameter::new("x", AccessMode::RW, I64)])
    .arguments(&["gate"])
    .kernels(&[Some(Kernel::new("rust", |views| {
        let gate: i64 = views.argument();
        let open = OPEN.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_closed = |open: &mut i64| *open < gate;
        drop(OPEN.1.wait_while(open, is_closed).unwrap_or_else(PoisonError::into_inner));
    }))]);

/// Keeps tasks that read an array from starting until this is dropped. There is one at a time.
pub(crate) struct Gate(i64);

impl Gate {
    /// Puts a gate before all later tasks that read or write `x`.
    pub(crate) fn before(x: &mut M<'_>) -> Self {
        let number = *OPEN.0.lock().unwrap_or_else(PoisonError::into_inner) + 1;
        let mut task = Task::new(&HOLD);
        task.write(x);
        task.argument(number);
        task.submit().expect("it is right");
        Self(number)
    }
}

impl Drop for Gate {
    fn drop(&mut self) {
        *OPEN.0.lock().unwrap_or_else(PoisonError::into_inner) = self.0;
        OPEN.1.notify_all();
    }
}

/// The CUDA driver, which one test at a time uses: the fake driver, or, if the environment says `FAKE_CUDA=0`, that of
/// the machine.
pub(crate) struct Bed(MutexGuard<'static, Option<FakeDriver>>);

impl Bed {
    fn of_any_driver() -> Self {
        Self(fake_cuda::driver())
    }

    /// The fake driver, reset with these settings. `None` where the driver of the machine is used, which has no
    /// settings: only the fake driver behaves as such a test needs.
    pub(crate) fn new(settings: &str) -> Option<Self> {
        let bed = Self::of_any_driver();
        let fake = bed.0.as_ref()?;
        fake.reset(settings);
        fake.products();
        fake.convolutions();
        Some(bed)
    }

    /// The errors that the fake driver has found.
    pub(crate) fn findings(&self) -> String {
        self.0.as_ref().map_or_else(String::new, FakeDriver::findings)
    }

    /// The number of calls of a kind to the fake driver.
    pub(crate) fn calls(&self, kind: &str) -> u64 {
        self.0.as_ref().map_or(0, |fake| fake.calls(kind))
    }

    /// The products that were requested from cuBLAS since the last call of this, a line each.
    pub(crate) fn products(&self) -> String {
        self.0.as_ref().map_or_else(String::new, FakeDriver::products)
    }

    /// The convolutions that were requested from cuDNN since the last call of this, a line each.
    pub(crate) fn convolutions(&self) -> String {
        self.0.as_ref().map_or_else(String::new, FakeDriver::convolutions)
    }
}

/// How often the host may ask for events until what a test waits for has not come: what waits pauses between two of them.
const PATIENCE: u64 = 20_000;

/// While it is there, copies to the host do not run.
pub(crate) struct Held<'b>(&'b FakeDriver);

impl Bed {
    /// Holds copies to the host back.
    pub(crate) fn hold_downloads(&self) -> Held<'_> {
        let fake = self.0.as_ref().expect("a bed with settings has the fake driver");
        fake.hold_downloads(true);
        Held(fake)
    }
}

impl Held<'_> {
    /// Whether `holds` comes to hold though no copy to the host ends.
    pub(crate) fn comes(&self, holds: impl Fn() -> bool) -> bool {
        let last = self.0.calls("query") + PATIENCE;
        while !holds() {
            if self.0.calls("query") > last {
                return false;
            }
            std::thread::yield_now();
        }
        true
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        self.0.hold_downloads(false);
    }
}

/// Runs the test under several seeds, each of which is another order of the work in streams: as early as possible, as
/// late as possible, and random ones. On the driver of the machine once, if it has so many devices.
pub(crate) fn in_seeds(devices: usize, test: impl Fn()) {
    let bed = Bed::of_any_driver();
    let Some(fake) = bed.0.as_ref() else {
        match builder().cuda_devices(devices).build() {
            Ok(_) => test(),
            Err(error) => eprintln!("not tested: {error}"),
        }
        return;
    };
    for seed in 0..8 {
        fake.reset(&format!("seed={seed} devices={devices}"));
        test();
        assert_eq!(bed.findings(), "", "seed {seed}");
    }
}

/// Two CPU workers, numbers 0 and 1; devices follow.
pub(crate) fn builder() -> RuntimeBuilder {
    Runtime::builder().cpu_workers(2).scheduler("eager")
}

/// The worker of CUDA device `device`.
pub(crate) fn cuda(device: usize) -> usize {
    2 + device
}

#[track_caller]
pub(crate) fn scale(x: &mut M<'_>, add: i64, worker: usize) -> Result<()> {
    let mut task = Task::new(&SCALE);
    task.write(x);
    task.argument(add);
    task.on(worker).submit()
}

/// Something that has come about.
#[derive(Clone, Default)]
pub(crate) struct Flag(Arc<AtomicBool>);

impl Flag {
    pub(crate) fn put_up(&self) {
        self.0.store(true, Ordering::Release);
    }

    pub(crate) fn is_up(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}

/// The same, which puts a flag up when it has run.
#[track_caller]
pub(crate) fn scale_and_tell(x: &mut M<'_>, worker: usize, flag: &Flag) -> Result<()> {
    let flag = flag.clone();
    let mut task = Task::new(&SCALE);
    task.write(x);
    task.argument(0_i64);
    task.on(worker).callback(move |_| flag.put_up()).submit()
}

#[track_caller]
pub(crate) fn add(x: &M<'_>, out: &mut M<'_>, worker: usize) -> Result<()> {
    let mut task = Task::new(&ADD);
    task.read(x);
    task.write(out);
    task.on(worker).submit()
}

#[track_caller]
pub(crate) fn add_anywhere(x: &M<'_>, out: &mut M<'_>) -> Result<()> {
    let mut task = Task::new(&ADD);
    task.read(x);
    task.write(out);
    task.submit()
}

#[track_caller]
pub(crate) fn add_on_cpu(x: &M<'_>, out: &mut M<'_>) -> Result<()> {
    let mut task = Task::new(&ADD_ON_CPU);
    task.read(x);
    task.write(out);
    task.submit()
}

#[track_caller]
pub(crate) fn map(x: &M<'_>, y: &M<'_>, out: &mut M<'_>, worker: usize) -> Result<()> {
    let mut task = Task::new(&MAP);
    task.read(x);
    task.read(y);
    task.write(out);
    task.on(worker).submit()
}

#[track_caller]
pub(crate) fn map_self(x: &M<'_>, y: &mut M<'_>, worker: usize) -> Result<()> {
    let mut task = Task::new_in_place(&MAP);
    task.read(x);
    task.write(y);
    task.on(worker).submit()
}

/// The error of a task that no worker of a device can run, which `submit` refuses.
pub(crate) fn refused_on_device(x: &M<'_>, out: &mut M<'_>) -> String {
    let mut task = Task::new(&ADD_ON_CPU);
    task.read(x);
    task.write(out);
    task.on(cuda(0)).submit().expect_err("it has no kernel there").to_string()
}

/// The number of transfers between memory nodes: from, to, count.
pub(crate) fn moves(rt: &Runtime) -> Vec<(usize, usize, u64)> {
    let mut moves: Vec<_> =
        rt.transfers().iter().map(|&TransferTotal { from, to, count, .. }| (from, to, count)).collect();
    moves.sort_unstable();
    moves
}

#[track_caller]
pub(crate) fn fill(out: &mut M<'_>, value: i64, worker: usize) -> Result<()> {
    let mut task = Task::new(&FILL);
    task.write(out);
    task.argument(value);
    task.on(worker).submit()
}
