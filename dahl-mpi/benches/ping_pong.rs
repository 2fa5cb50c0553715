//! What a message costs beside plain MPI, between two ranks of one machine: `cargo bench --bench ping_pong` starts itself by
//! `mpirun`.
//!
//! A ping-pong of plain MPI is `MPI_Send` and `MPI_Recv`. One of dahl is a chain of tasks that change one array, on one rank
//! after the other: the value is sent for each task. All are submitted before the first has run.

use std::process::{Command, ExitCode};
use std::time::Instant;

use dahl_core::__private::{Kernel, Parameter, Views};
use dahl_core::{AccessMode, Codelet, ElementType, Result, Runtime, Task, Vector};
use mpi::traits::{Communicator, Destination, Source};

/// `x[0] += 1`
static COUNT: Codelet = Codelet::new("count", module_path!(), 1)
    .parameters(&[Parameter::new("x", AccessMode::RW, ElementType::of::<u8>())])
    .kernels(&[Some(Kernel::new("rust", |views: &mut Views<'_>| {
        let x = views.slice_mut::<u8>();
        x[0] = x[0].wrapping_add(1);
    }))]);

/// Lengths in bytes, and numbers of messages.
const SIZES: [(usize, usize); 2] = [(8, 2000), (64 << 20, 20)];
const ROUNDS: usize = 7;

/// Microseconds a message.
fn plain(world: &impl Communicator, len: usize, messages: usize) -> f64 {
    let (rank, mut bytes) = (world.rank(), vec![1_u8; len]);
    let other = world.process_at_rank(1 - rank);
    world_barrier(world);
    let start = Instant::now();
    for message in 0..messages {
        if message as i32 % 2 == rank {
            bytes[0] = bytes[0].wrapping_add(1);
            other.send(&bytes[..]);
        } else {
            other.receive_into(&mut bytes[..]);
        }
    }
    start.elapsed().as_secs_f64() * 1e6 / messages as f64
}

fn world_barrier(world: &impl Communicator) {
    use mpi::traits::CommunicatorCollectives;
    world.barrier();
}

/// Microseconds a message.
fn tasks(rt: &Runtime, len: usize, messages: usize) -> Result<f64> {
    let mut x: Vector<'static, u8> = rt.from_vec([len], vec![1_u8; len])?;
    let submit = |x: &mut Vector<'static, u8>, messages: usize| {
        for message in 0..messages {
            let mut task = Task::new(&COUNT);
            task.write(x);
            task.on_rank(message % 2).submit()?;
        }
        rt.wait()
    };
    submit(&mut x, 2)?; // memory and threads are there after that
    let start = Instant::now();
    submit(&mut x, messages)?;
    Ok(start.elapsed().as_secs_f64() * 1e6 / messages as f64)
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

fn rank() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let (_universe, _) = mpi::initialize_with_threading(mpi::Threading::Multiple).ok_or("no MPI")?;
    let world = mpi::topology::SimpleCommunicator::world();
    let mut of_plain = [Vec::new(), Vec::new()];
    let mut of_tasks = [Vec::new(), Vec::new()];
    for _ in 0..ROUNDS {
        for (times, (len, messages)) in of_plain.iter_mut().zip(SIZES) {
            times.push(plain(&world, len, messages));
        }
        let ranks = dahl_mpi::init()?;
        let builder = Runtime::builder().cpu_workers(1).cuda_devices(0).tasks_in_flight(4096);
        let times = ranks.run(builder, |rt| {
            SIZES.iter().map(|(len, messages)| tasks(rt, *len, *messages)).collect::<Result<Vec<_>>>()
        })?;
        of_tasks.iter_mut().zip(times).for_each(|(all, time)| all.push(time));
    }
    if world.rank() == 0 {
        println!("{:>12} {:>14} {:>14} {:>8}", "bytes", "MPI, us", "dahl, us", "ratio");
        for (((len, _), plain), tasks) in SIZES.into_iter().zip(of_plain).zip(of_tasks) {
            let (plain, tasks) = (median(plain), median(tasks));
            println!("{len:>12} {plain:>14.2} {tasks:>14.2} {:>8.2}", tasks / plain);
        }
    }
    Ok(())
}

fn main() -> ExitCode {
    if std::env::args().any(|argument| argument == "as-rank") {
        return match rank() {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("{error}");
                ExitCode::FAILURE
            }
        };
    }
    let version = Command::new("mpirun").arg("--version").output();
    let Ok(version) = version else {
        println!("skipped: there is no mpirun (Debian: openmpi-bin)");
        return ExitCode::SUCCESS;
    };
    let is_open_mpi = String::from_utf8_lossy(&version.stdout).contains("Open");
    let options: &[&str] = if is_open_mpi { &["--allow-run-as-root", "--oversubscribe"] } else { &[] };
    let own = std::env::current_exe().expect("this program has a path");
    let status = Command::new("mpirun").args(options).args(["-n", "2"]).arg(own).arg("as-rank").status();
    if status.is_ok_and(|status| status.success()) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
