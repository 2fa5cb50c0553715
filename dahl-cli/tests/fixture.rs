//! Writes the files in `tests/fixture` that the other tests read: performance models of this machine, in real time, and
//! of a simulated one, a trace of a run on each, and a program before and after a change. Its measurements differ from run to run, so it runs only on
//! request, and the golden outputs must be updated after it:
//!
//! ```text
//! cargo test -p dahl-cli fixture:: -- --ignored
//! TRYCMD=overwrite cargo test -p dahl-cli command::
//! ```

use std::fs;
use std::path::Path;

use dahl::prelude::*;
use dahl::{Machine, Result, RuntimeBuilder, ops};

const MODELS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixture/models");
const MACHINE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixture/machine.toml");
/// A trace in real time, and one of the simulated machine.
const REAL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixture/run.json");
const SIMULATED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixture/simulated.json");
/// The host's name in the fixture.
const HOST: &str = "host";

const TASKS: usize = 40;

fn products<T: Real>(rt: &Runtime) -> Result<()> {
    for extent in [16, 32, 64, 96, 128, 192, 256] {
        let (a, b) = (rt.zeros::<T, 2>([extent, extent])?, rt.zeros([extent, extent])?);
        let mut out = rt.zeros([extent, extent])?;
        (0..TASKS).try_for_each(|_| ops::matmul(&a, &b, &mut out))?;
    }
    rt.wait()
}

fn sums(rt: &Runtime) -> Result<()> {
    for len in [1 << 8, 1 << 12, 1 << 16, 1 << 20] {
        let (x, y) = (rt.zeros::<f32, 1>([len])?, rt.zeros::<f32, 1>([len])?);
        let mut out = rt.zeros::<f32, 0>([])?;
        for kernel in ["rust", "dot_c"] {
            for _ in 0..TASKS {
                ops::codelets::Dot::task(&x, &y, &mut out).kernel(kernel).submit()?;
            }
            rt.wait()?;
        }
    }
    Ok(())
}

fn softmaxes(rt: &Runtime) -> Result<()> {
    let input = rt.zeros::<f32, 2>([64, 1000])?;
    let mut out = rt.zeros::<f32, 2>([64, 1000])?;
    (0..TASKS).try_for_each(|_| ops::softmax(&input, &mut out, 1))?;
    rt.wait()
}

fn run(settings: RuntimeBuilder) -> Result<()> {
    let rt = settings.cpu_workers(2).performance_dir(MODELS).check(false).build()?;
    products::<f32>(&rt)?;
    products::<f64>(&rt)?;
    sums(&rt)?;
    softmaxes(&rt)
}

#[test]
#[ignore = "it writes the fixture anew, with what it measures now"]
fn write_the_models() -> Result<()> {
    let models = Path::new(MODELS);
    if models.exists() {
        fs::remove_dir_all(models).expect("the fixture is ours");
    }
    run(Runtime::builder().scheduler("eager"))?;
    let machine = Machine::from_file(MACHINE)?;
    run(Runtime::builder().scheduler("dmda").virtual_machine(machine))?;
    let host = fs::read_dir(models).expect("it was written").next().expect("it has a host");
    let host = host.expect("it can be read").path();
    fs::remove_file(host.join("lock")).expect("nobody holds it");
    fs::rename(host, models.join(HOST)).expect("the name is free");
    Ok(())
}

/// `c = a x b` in tiles.
fn tiled_product(rt: &Runtime) -> Result<()> {
    const TILES: usize = 4;
    const EXTENT: usize = 256;
    let tiles = |value: f32| -> Result<Vec<Matrix<'static, f32>>> {
        (0..TILES * TILES).map(|_| rt.from_vec([EXTENT, EXTENT], vec![value; EXTENT * EXTENT])).collect()
    };
    let (a, b, mut c) = (tiles(0.5)?, tiles(0.25)?, tiles(0.0)?);
    for (row, column) in (0..TILES).flat_map(|row| (0..TILES).map(move |column| (row, column))) {
        let out = &mut c[row * TILES + column];
        ops::matmul(&a[row * TILES], &b[column], out)?;
        for k in 1..TILES {
            ops::matmul_add(&a[row * TILES + k], &b[k * TILES + column], out)?;
        }
    }
    rt.wait()
}

#[test]
#[ignore = "it writes the fixture anew, with what it measures now"]
fn write_the_traces() -> Result<()> {
    let settings = |scheduler| Runtime::builder().cpu_workers(2).check(false).scheduler(scheduler);
    tiled_product(&settings("ws").trace(REAL).build()?)?;
    let simulated = settings("dmda").virtual_machine(Machine::from_file(MACHINE)?);
    tiled_product(&simulated.trace(SIMULATED).build()?)?;
    for path in [REAL, SIMULATED] {
        let trace = fs::read_to_string(path).expect("it was written");
        fs::write(path, named(&trace)).expect("it can be written again");
    }
    Ok(())
}

/// A step of a network with one hidden layer, without its gradients if there is no `rate`.
fn step<'s>(
    scope: &'s Recording<'_>,
    x: &Matrix<'_, f32>,
    y: &Matrix<'_, f32>,
    first: &mut Matrix<'_, f32>,
    second: &mut Matrix<'_, f32>,
    has_exp: bool,
) -> Result<Scalar<'s, f32>> {
    let tape = scope.tape();
    let wide = ops::matmul_init(&tape, x, &*first)?;
    let hidden = if has_exp { ops::exp_init(&tape, &wide)? } else { ops::relu_init(&tape, &wide)? };
    let error = ops::sub_init(&tape, &ops::matmul_init(&tape, &hidden, &*second)?, y)?;
    let loss = ops::sum_init(&tape, &ops::mul_init(&tape, &error, &error)?)?;
    let (by_first, by_second) = tape.gradients(&loss, (&*first, &*second))?;
    ops::axpy_self(&by_first, first, if has_exp { -0.1 } else { -0.01 })?;
    ops::axpy_self(&by_second, second, -0.01)?;
    ops::scale_init(scope, &loss, 1.0)
}

/// A program of [`step`].
#[program]
fn train<'s>(
    scope: &'s Recording<'_>,
    x: &Matrix<'_, f32>,
    y: &Matrix<'_, f32>,
    first: &mut Matrix<'_, f32>,
    second: &mut Matrix<'_, f32>,
    has_exp: bool,
) -> Result<Scalar<'s, f32>> {
    step(scope, x, y, first, second, has_exp)
}

#[test]
#[ignore = "it writes the fixture anew, with the lines of this file"]
fn write_the_programs() -> Result<()> {
    let rt = Runtime::builder().cpu_workers(1).cuda_devices(0).build()?;
    let (x, y) = (rt.zeros([32, 20])?, rt.zeros([32, 10])?);
    let (mut first, mut second) = (rt.zeros([20, 64])?, rt.zeros([64, 10])?);
    for (name, has_exp) in [("before", true), ("step", false)] {
        let mut program = Train::new(&rt).passes(Passes::none());
        program.call(&x, &y, &mut first, &mut second, has_exp)?;
        let path = format!("{}/tests/fixture/{name}.program", env!("CARGO_MANIFEST_DIR"));
        program.graph().save(path).expect("it can be written");
    }
    rt.wait()
}

/// A trace with the fixture's names of the program and the host.
fn named(trace: &str) -> String {
    let with = |text: String, field: &str, name: &str| {
        let (before, rest) = text.split_once(&format!("\"{field}\":\"")).expect("a trace says so");
        let (_, after) = rest.split_once('"').expect("a string ends");
        format!("{before}\"{field}\":\"{name}\"{after}")
    };
    with(with(trace.to_owned(), "program", "tiled_product"), "host", HOST)
}
