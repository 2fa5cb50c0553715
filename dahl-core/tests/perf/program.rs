//! Programs whose tasks are measured, and a scheduler that records the expected durations.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use dahl_core::__private::{Accumulator, Kernel, Parameter, Views};
use dahl_core::device::Speed;
use dahl_core::{
    AccessMode, Codelet, ElementType, Estimate, History, ReadyTask, Reduction, Result, Runtime,
    RuntimeBuilder, Scheduler, Task, VirtualDevice,
};

const F32: ElementType = ElementType::of::<f32>();

const fn double_codelet(declaration: u64) -> Codelet {
    Codelet::new("double", "programs", declaration)
        .parameters(const { &[Parameter::new("x", AccessMode::RW, F32)] })
        .kernels(
            const {
                &[Some(Kernel::new("rust", |views: &mut Views<'_>| {
                    views.slice_mut::<f32>().iter_mut().for_each(|x| *x *= 2.0);
                }))]
            },
        )
}

/// `x = 2 x`.
pub(crate) static DOUBLE: Codelet = double_codelet(0xd0);
/// The same after an edit.
pub(crate) static DOUBLE_EDITED: Codelet = double_codelet(0xd1);

/// Adds to `out` the sum of `x`.
pub(crate) static TOTAL: Codelet = Codelet::new("total", "programs", 0xd2)
    .parameters(&[
        Parameter::new("x", AccessMode::R, F32),
        Parameter::new("out", AccessMode::REDUX(Reduction::Sum), F32)
            .accumulates_in(Accumulator::same::<f32>(Reduction::Sum)),
    ])
    .kernels(&[Some(Kernel::new("rust", |views: &mut Views<'_>| {
        let (x, out) = (views.slice::<f32>(), views.slice_mut::<f32>());
        out[0] += x.iter().sum::<f32>();
    }))]);

/// Runs `codelet` `times` times on an array of `len` elements, one after the other, on a worker or any.
pub(crate) fn run(
    rt: &Runtime,
    codelet: &'static Codelet,
    len: usize,
    times: usize,
    on: Option<usize>,
) -> Result<()> {
    let mut x = rt.zeros::<f32, 1>([len])?;
    for _ in 0..times {
        let mut task = Task::new(codelet);
        task.write(&mut x);
        match on {
            Some(worker) => task.on(worker).submit()?,
            None => task.submit()?,
        }
    }
    rt.wait()
}

/// The settings of a machine with one CPU worker, the speed of whose model is 0.1 us + 0.1 ns a byte, and a device five
/// times faster.
pub(crate) fn simulated() -> RuntimeBuilder {
    let device = VirtualDevice::new("gpu").speed(Speed::default().times(5.0));
    Runtime::builder().cpu_workers(1).virtual_device(device)
}

/// How long `DOUBLE` takes on it, on the CPU and on the device, in nanoseconds.
pub(crate) fn duration_ns(len: usize) -> [u64; 2] {
    let bytes = 4.0 * len as f64;
    [1000.0 + bytes / 10.0, 200.0 + bytes / 50.0].map(|ns| ns.round() as u64)
}

/// The rows of a codelet.
pub(crate) fn rows(rt: &Runtime, codelet: &str) -> Vec<History> {
    rt.performance_models().into_iter().filter(|history| history.codelet == codelet).collect()
}

/// How often `DOUBLE` was run, by all rows.
pub(crate) fn count(rt: &Runtime) -> u64 {
    rows(rt, "double").iter().map(|history| history.count).sum()
}

/// All files below a folder, in the order of their paths.
pub(crate) fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).expect("the folder is there") {
        let path = entry.expect("it can be read").path();
        if path.is_dir() { files.extend(self::files(&path)) } else { files.push(path) }
    }
    files.sort();
    files
}

/// The one file of that name.
pub(crate) fn file(folder: &Path, name: &str) -> PathBuf {
    let mut found = files(folder).into_iter().filter(|path| path.ends_with(name));
    let file = found.next().unwrap_or_else(|| panic!("{name} in {:?}", files(folder)));
    assert_eq!(found.next(), None);
    file
}

/// The name of the file of `DOUBLE`.
pub(crate) const FILE: &str = "programs.double.toml";

/// The expected durations of each task on each worker when it became ready.
pub(crate) type Expected = Arc<Mutex<Vec<Vec<Option<Estimate>>>>>;

/// A scheduler, first in, first out, that records the expected durations.
pub(crate) struct Asking {
    tasks: Mutex<VecDeque<ReadyTask>>,
    workers: usize,
    expected: Expected,
}

impl Asking {
    pub(crate) fn new() -> (Self, Expected) {
        let expected = Expected::default();
        (Self { tasks: Mutex::default(), workers: 0, expected: Arc::clone(&expected) }, expected)
    }
}

impl Scheduler for Asking {
    fn name(&self) -> &'static str {
        "asking"
    }

    fn start(&mut self, workers: &dahl_core::Workers) {
        self.workers = workers.as_slice().len();
    }

    fn push(&self, task: ReadyTask, _worker: Option<usize>) {
        let expected: Vec<_> = (0..self.workers).map(|worker| task.estimate(worker)).collect();
        for (worker, estimate) in expected.iter().enumerate() {
            assert_eq!(task.expected_ns(worker), estimate.map(|estimate| estimate.ns));
        }
        self.expected.lock().unwrap_or_else(PoisonError::into_inner).push(expected);
        self.tasks.lock().unwrap_or_else(PoisonError::into_inner).push_back(task);
    }

    fn pop(&self, _worker: Option<usize>) -> Option<ReadyTask> {
        self.tasks.lock().unwrap_or_else(PoisonError::into_inner).pop_front()
    }
}

/// Takes the expected durations so far, as nanoseconds and samples.
pub(crate) fn take(expected: &Expected) -> Vec<Vec<Option<(u64, u64)>>> {
    let expected = std::mem::take(&mut *expected.lock().unwrap_or_else(PoisonError::into_inner));
    let pair = |estimate: Option<Estimate>| estimate.map(|estimate| (estimate.ns, estimate.samples));
    expected.into_iter().map(|workers| workers.into_iter().map(pair).collect()).collect()
}
