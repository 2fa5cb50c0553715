//! The last worker that sleeps looks by itself, where the host neither submits nor waits.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError, mpsc};
use std::thread;
use std::time::Duration;

use dahl_core::__private::{Kernel, Parameter};
use dahl_core::{AccessMode, Array, Codelet, ElementType, Result, Runtime, Task};

const X: &[Parameter] = &[Parameter::new("x", AccessMode::RW, ElementType::of::<i64>())];

static HELD: AtomicUsize = AtomicUsize::new(0);
static IS_OPEN: AtomicBool = AtomicBool::new(false);
static TELLS: Mutex<Option<mpsc::Sender<()>>> = Mutex::new(None);

/// Keeps its worker until the gate is open.
static HOLD: Codelet = Codelet::new("hold", module_path!(), 1).parameters(X).kernels(
    const {
        &[Some(Kernel::new("rust", |_| {
            HELD.fetch_add(1, Ordering::Relaxed);
            while !IS_OPEN.load(Ordering::Acquire) {
                thread::yield_now();
            }
        }))]
    },
);

/// Says that it has run.
static TELL: Codelet = Codelet::new("tell", module_path!(), 2).parameters(X).kernels(
    const {
        &[Some(Kernel::new("rust", |_| {
            let tells = TELLS.lock().unwrap_or_else(PoisonError::into_inner);
            tells.as_ref().expect("a sender").send(()).expect("a receiver");
        }))]
    },
);

fn submit(codelet: &'static Codelet, x: &mut Array<'_, i64, 1>) -> Result<()> {
    let mut task = Task::new(codelet);
    task.write(x);
    task.submit()
}

#[test]
fn a_task_is_run_while_the_host_is_elsewhere() -> Result<()> {
    let (send, told) = mpsc::channel();
    *TELLS.lock().unwrap_or_else(PoisonError::into_inner) = Some(send);
    // As many as cores, and all but one of them in kernels.
    let workers = thread::available_parallelism().map_or(2, |cores| cores.get().max(2));
    let rt = Runtime::builder().cpu_workers(workers).build()?;
    let mut held: Vec<_> = (1..workers).map(|_| rt.zeros([1])).collect::<Result<_>>()?;
    held.iter_mut().try_for_each(|x| submit(&HOLD, x))?;
    while HELD.load(Ordering::Relaxed) < workers - 1 {
        thread::yield_now();
    }
    let mut x = rt.zeros([1])?;
    for _ in 0..20 {
        (0..10_000).for_each(|_| thread::yield_now()); // by now the last worker sleeps, mostly
        submit(&TELL, &mut x)?;
        told.recv_timeout(Duration::from_secs(60)).expect("a worker that looks");
    }
    IS_OPEN.store(true, Ordering::Release);
    rt.wait()
}
