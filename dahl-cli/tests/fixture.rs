//! Writes the performance models that the other tests look at, `tests/fixture/models`, anew: of this machine, in real
//! time, and of a simulated one. What it measures differs from run to run, so it runs when it is asked to, and the golden
//! outputs are made again after it:
//!
//! ```text
//! cargo test -p dahl-cli --test fixture --release -- --ignored
//! TRYCMD=overwrite cargo test -p dahl-cli --test command
//! ```

use std::fs;
use std::path::Path;

use dahl::prelude::*;
use dahl::{Machine, Result, RuntimeBuilder, ops};

const MODELS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixture/models");
const MACHINE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixture/machine.toml");
/// What the host is called in the fixture.
const HOST: &str = "host";

const TASKS: usize = 40;

fn products<T: Real>(rt: &Runtime) -> Result<()> {
    for extent in [16, 32, 64, 96, 128, 192, 256] {
        let (a, b) = (rt.zeros::<T, 2>([extent, extent])?, rt.zeros([extent, extent])?);
        let mut out = rt.zeros([extent, extent])?;
        (0..TASKS).try_for_each(|_| ops::matmul(&a, &b, &mut out, false, false))?;
    }
    rt.wait()
}

fn sums(rt: &Runtime) -> Result<()> {
    for len in [1 << 8, 1 << 12, 1 << 16, 1 << 20] {
        let (x, y) = (rt.zeros::<f32, 1>([len])?, rt.zeros::<f32, 1>([len])?);
        let mut out = rt.zeros::<f32, 0>([])?;
        for kernel in ["rust", "dot_c"] {
            for _ in 0..TASKS {
                ops::Dot::task(&x, &y, &mut out).kernel(kernel).submit()?;
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
