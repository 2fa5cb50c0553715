//! Codelets whose durations the machine model determines, and runs that record the worker of each task.

use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

use dahl_core::__private::{Kernel, Parameter};
use dahl_core::device::{CodeletSpeed, Speed};
use dahl_core::{
    AccessMode, Array, Codelet, ElementType, Machine, Result, Runtime, RuntimeBuilder, Task, VirtualDevice,
};

const I64: ElementType = ElementType::of::<i64>();

pub(crate) type V<'m, T = i64> = Array<'m, T, 1>;

const X: Parameter = Parameter::new("x", AccessMode::RW, I64);
const AFTER: Parameter = Parameter::new("after", AccessMode::R, I64);

/// `x = 3 x + 1`, whatever is in the other arrays.
const fn step(name: &'static str, hash: u64, parameters: &'static [Parameter]) -> Codelet {
    Codelet::new(name, module_path!(), hash).parameters(parameters).kernels(
        const {
            &[Some(Kernel::new("rust", |views| {
                let x = views.slice_mut::<i64>();
                x.iter_mut().for_each(|x| *x = x.wrapping_mul(3).wrapping_add(1));
            }))]
        },
    )
}

/// Ten codelets, whose speeds may differ.
pub(crate) static STEPS: [Codelet; 10] = [
    step("step0", 0, &[X]),
    step("step1", 1, &[X]),
    step("step2", 2, &[X]),
    step("step3", 3, &[X]),
    step("step4", 4, &[X]),
    step("step5", 5, &[X]),
    step("step6", 6, &[X]),
    step("step7", 7, &[X]),
    step("step8", 8, &[X]),
    step("step9", 9, &[X]),
];

/// The same with other arrays to wait for: none, one, or three.
static NODES: [Codelet; 10] = [
    step("step0", 20, &[X]),
    step("step1", 21, &[X, AFTER]),
    step("step2", 22, &[X, AFTER]),
    step("step3", 23, &[X, AFTER]),
    step("step4", 24, &[X, AFTER]),
    step("step5", 25, &[X, AFTER]),
    step("step6", 26, &[X, AFTER]),
    step("step7", 27, &[X, AFTER, AFTER, AFTER]),
    step("step8", 28, &[X, AFTER, AFTER, AFTER]),
    step("step9", 29, &[X, AFTER, AFTER, AFTER]),
];

/// A task of codelet `codelet` of [`NODES`] on `x`.
pub(crate) fn node<'a>(codelet: usize, x: &'a mut V<'_>, after: impl Iterator<Item = &'a V<'a>>) -> Task<'a> {
    let mut task = Task::new(&NODES[codelet]);
    task.write(x);
    after.for_each(|array| task.read(array));
    task
}

/// `out = 5 out + x`.
pub(crate) static JOIN: Codelet = Codelet::new("join", module_path!(), 10)
    .parameters(&[Parameter::new("x", AccessMode::R, I64), Parameter::new("out", AccessMode::RW, I64)])
    .kernels(&[Some(Kernel::new("rust", |views| {
        let (x, out) = (views.slice::<i64>(), views.slice_mut::<i64>());
        out.iter_mut().zip(x).for_each(|(out, x)| *out = out.wrapping_mul(5).wrapping_add(*x));
    }))]);

/// A task of codelet `codelet` of [`STEPS`] on `x`.
pub(crate) fn task<'a>(codelet: usize, x: &'a mut V<'_>) -> Task<'a> {
    let mut task = Task::new(&STEPS[codelet]);
    task.write(x);
    task
}

pub(crate) fn join(x: &V<'_>, out: &mut V<'_>) -> Result<()> {
    let mut task = Task::new(&JOIN);
    task.read(x);
    task.write(out);
    task.submit()
}

/// How long each codelet takes, in microseconds.
pub(crate) fn speed_of(us: &[(&str, f64)]) -> Speed {
    let speed = |us| CodeletSpeed { us: Some(us), ..CodeletSpeed::default() };
    let codelets = us.iter().map(|&(name, us)| (name.to_owned(), speed(us)));
    Speed { codelets: codelets.collect(), ..Speed::default() }
}

/// The same for [`STEPS`] and then `join`.
pub(crate) fn speed(us: &[f64]) -> Speed {
    let names = STEPS.iter().chain([&JOIN]).map(|codelet| codelet.name);
    speed_of(&names.zip(us.iter().copied()).collect::<Vec<_>>())
}

/// A CPU worker's times and those of each device, and the links' latency in microseconds.
pub(crate) fn machine(cpu: &[f64], devices: &[(&str, &[f64])], latency_us: f64) -> Machine {
    let mut machine = Machine::default();
    machine.cpu.speed = speed(cpu);
    let device =
        |&(name, us): &(&str, &[f64])| VirtualDevice::new(name).speed(speed(us)).link(latency_us, 1e9);
    machine.devices = devices.iter().map(device).collect();
    machine
}

/// Runs every one of the first `codelets` codelets once on each worker, so that durations are known.
pub(crate) fn measure(rt: &Runtime, codelets: usize, len: usize) -> Result<()> {
    for codelet in 0..codelets {
        for worker in 0..rt.workers() {
            task(codelet, &mut rt.zeros([len])?).on(worker).submit()?;
        }
    }
    rt.wait()
}

/// A file for a plan, of this test alone.
pub(crate) fn plan_file() -> PathBuf {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    std::env::temp_dir().join(format!("dahl-plan-{}-{number}", std::process::id()))
}

/// The number and worker of each task, in the order in which the tasks of a worker ran.
pub(crate) type Placement = Vec<(u64, usize)>;

/// Runs `program`; returns its result, and who ran what.
pub(crate) fn recorded<R>(
    builder: RuntimeBuilder,
    program: impl FnOnce(&Runtime) -> Result<R>,
) -> (R, Placement) {
    let path = plan_file();
    let rt = builder.write_plan(&path).build().expect("the settings are possible");
    let result = program(&rt).expect("nothing fails");
    drop(rt);
    let text = fs::read_to_string(&path).expect("the plan was written");
    let _ = fs::remove_file(&path);
    let of_line = |line: &str| {
        let words: Vec<&str> = line.split(' ').collect();
        (words[0] == "task").then(|| (words[1].parse().unwrap(), words[3].parse().unwrap()))
    };
    (result, text.lines().filter_map(of_line).collect())
}

/// The numbers of the tasks that a worker ran.
pub(crate) fn of_worker(placement: &Placement, worker: usize) -> Vec<u64> {
    placement.iter().filter(|(_, by)| *by == worker).map(|(task, _)| *task).collect()
}

/// The makespan of `program`, in microseconds.
pub(crate) fn time_us(rt: &Runtime, program: impl FnOnce() -> Result<()>) -> Result<f64> {
    let begin_ns = rt.clock().now_ns();
    program()?;
    rt.wait()?;
    Ok((rt.clock().now_ns() - begin_ns) as f64 / 1e3)
}
