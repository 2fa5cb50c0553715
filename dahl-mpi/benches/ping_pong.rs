//! What a message costs beside plain MPI, between two ranks of one machine: `cargo bench --bench ping_pong` starts itself by
//! `mpirun`.
//!
//! A ping-pong of plain MPI is `MPI_Send` and `MPI_Recv`. One of messages is between the threads for messages, without a
//! runtime. One of tasks is a chain of tasks that change one array, on one rank
//! after the other: the value is sent for each task. All are submitted before the first has run.

use std::process::{Command, ExitCode};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use dahl_core::__private::{Kernel, Parameter, Views};
use dahl_core::ranks::{Tag, Transport};
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
const SIZES: [(usize, usize); 2] = [(8, 200), (64 << 20, 4)];
const ROUNDS: usize = 20;

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

/// One end of a ping-pong: what arrives is sent back at once, by the thread for messages.
struct End {
    transport: Arc<dyn Transport>,
    memory: Vec<u8>,
    /// What has been sent last.
    spare: Arc<Mutex<Vec<u8>>>,
    message: u64,
    messages: u64,
    done: Sender<()>,
}

impl End {
    /// Expects the next message for this rank, if there is one.
    fn expect(self, message: u64) {
        if message >= self.messages {
            return self.done.send(()).expect("the program waits");
        }
        let (transport, from) = (Arc::clone(&self.transport), 1 - self.transport.rank());
        transport.receive(from, tag(message), Box::new(Self { message, ..self }));
    }
}

fn tag(message: u64) -> Tag {
    Tag::Value { array: 0, version: message }
}

/// Bytes that are used again when they have been sent.
struct Lent(Vec<u8>, Arc<Mutex<Vec<u8>>>);

impl Drop for Lent {
    fn drop(&mut self) {
        *lock(&self.1) = std::mem::take(&mut self.0);
    }
}

impl AsRef<[u8]> for Lent {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl dahl_core::ranks::Destination for End {
    fn memory(&mut self, len: usize) -> std::result::Result<&mut [u8], String> {
        self.memory.resize(len, 0);
        Ok(&mut self.memory)
    }

    fn arrived(mut self: Box<Self>, result: std::result::Result<(), String>) {
        result.expect("both ranks are there");
        let (next, to) = (self.message + 1, 1 - self.transport.rank());
        if next < self.messages {
            let bytes = std::mem::replace(&mut self.memory, std::mem::take(&mut *lock(&self.spare)));
            self.transport.send(to, tag(next), Ok(Box::new(Lent(bytes, Arc::clone(&self.spare)))));
        }
        self.expect(next + 1);
    }
}

/// Microseconds a message. Even ones go from rank 0 to rank 1.
fn messages(transport: &Arc<dyn Transport>, len: usize, messages: usize) -> f64 {
    let (done, is_done) = channel();
    let (rank, messages) = (transport.rank() as u64, messages as u64);
    let (transport, memory) = (Arc::clone(transport), vec![1_u8; len]);
    let spare = Arc::new(Mutex::new(vec![1_u8; len]));
    let start = Instant::now();
    if rank == 0 {
        let bytes = std::mem::take(&mut *lock(&spare));
        transport.send(1, tag(0), Ok(Box::new(Lent(bytes, Arc::clone(&spare)))));
    }
    End { transport, memory, spare, message: 0, messages, done }.expect(1 - rank);
    is_done.recv().expect("the last message comes");
    start.elapsed().as_secs_f64() * 1e6 / messages as f64
}

fn lock(spare: &Mutex<Vec<u8>>) -> MutexGuard<'_, Vec<u8>> {
    spare.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The fastest round: other programs only add time.
fn fastest(times: Vec<f64>) -> f64 {
    times.into_iter().fold(f64::INFINITY, f64::min)
}

fn rank() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let (_universe, _) = mpi::initialize_with_threading(mpi::Threading::Multiple).ok_or("no MPI")?;
    let world = mpi::topology::SimpleCommunicator::world();
    let mut of_plain = [Vec::new(), Vec::new()];
    let mut of_messages = [Vec::new(), Vec::new()];
    let mut of_tasks = [Vec::new(), Vec::new()];
    for _ in 0..ROUNDS {
        for (times, (len, messages)) in of_plain.iter_mut().zip(SIZES) {
            times.push(plain(&world, len, messages));
        }
        let ranks = dahl_mpi::init()?;
        for (times, (len, count)) in of_messages.iter_mut().zip(SIZES) {
            let time = ranks.exchange(2, |transport| Ok(messages(&transport, len, count)))?;
            times.extend(time);
        }
        let builder = Runtime::builder().cpu_workers(1).cuda_devices(0).tasks_in_flight(4096);
        let times = ranks.run(builder, |rt| {
            SIZES.iter().map(|(len, messages)| tasks(rt, *len, *messages)).collect::<Result<Vec<_>>>()
        })?;
        of_tasks.iter_mut().zip(times).for_each(|(all, time)| all.push(time));
    }
    if world.rank() == 0 {
        let titles = ["bytes", "MPI, us", "message, us", "ratio", "task, us", "ratio"];
        println!("{}", titles.map(|title| format!("{title:>12}")).concat());
        for ((((len, _), plain), messages), tasks) in
            SIZES.into_iter().zip(of_plain).zip(of_messages).zip(of_tasks)
        {
            let [plain, messages, tasks] = [plain, messages, tasks].map(fastest);
            let figures = [plain, messages, messages / plain, tasks, tasks / plain];
            println!("{len:>12}{}", figures.map(|figure| format!("{figure:>12.2}")).concat());
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
