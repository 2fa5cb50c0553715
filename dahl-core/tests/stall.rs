//! The stall report on tasks that do not end, that are lost, and that wait.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use dahl_core::__private::{Kernel, Parameter, Views};
use dahl_core::ndarray::Axis;
use dahl_core::{
    AccessMode, Array, Codelet, ElementType, ReadyTask, Result, Runtime, RuntimeBuilder, Scheduler, Task,
};

static GATE: Mutex<Option<mpsc::Receiver<()>>> = Mutex::new(None);

fn hold(views: &mut Views<'_>) {
    views.slice_mut::<f32>().fill(1.0);
    let gate = GATE.lock().unwrap().take();
    if let Some(gate) = gate {
        gate.recv().expect("a sender");
    }
}

fn touch(views: &mut Views<'_>) {
    views.slice_mut::<f32>()[0] += 1.0;
}

static HOLD: Codelet = Codelet::new("hold", module_path!(), 1)
    .parameters(const { &[Parameter::new("out", AccessMode::W, ElementType::of::<f32>())] })
    .kernels(const { &[Some(Kernel::new("rust", hold))] });

static TOUCH: Codelet = Codelet::new("touch", module_path!(), 1)
    .parameters(const { &[Parameter::new("x", AccessMode::RW, ElementType::of::<f32>())] })
    .kernels(const { &[Some(Kernel::new("rust", touch))] });

#[track_caller]
fn submit(codelet: &'static Codelet, out: &mut Array<'_, f32, 1>) -> Result<()> {
    let mut task = Task::new(codelet);
    task.write(out);
    task.name("named").submit()
}

fn reporting(builder: RuntimeBuilder) -> (RuntimeBuilder, mpsc::Receiver<String>) {
    let (send, reports) = mpsc::channel();
    let send = Mutex::new(send);
    let hook = move |text: &str| {
        // The receiver may be gone, if this is a report more than the test needs.
        let _ = send.lock().unwrap().send(text.to_owned());
    };
    (builder.stall_report_after(Duration::from_millis(5)).on_stall(hook), reports)
}

fn assert_parts(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "no {part:?} in:\n{text}");
    }
}

#[test]
fn a_kernel_that_does_not_end_is_named_with_what_waits_for_it() -> Result<()> {
    let (builder, reports) = reporting(Runtime::builder().cpu_workers(2));
    let rt = builder.build()?;
    let (open, gate) = mpsc::channel();
    *GATE.lock().unwrap() = Some(gate);
    let mut x = rt.zeros([10])?;
    submit(&HOLD, &mut x)?;
    for _ in 0..30 {
        submit(&TOUCH, &mut x)?;
    }
    while GATE.lock().unwrap().is_some() {
        std::thread::yield_now(); // the first one runs before anybody waits
    }
    {
        let mut parts = x.partition_mut(Axis(0), 5)?;
        submit(&TOUCH, &mut parts[1])?;
    }
    let text = std::thread::scope(|scope| {
        let reader = scope.spawn(|| x.to_vec());
        let text = reports.recv().expect("a report");
        open.send(()).expect("a kernel that waits");
        reader.join().expect("no panic").map(|_| text)
    })?;
    assert_parts(
        &text,
        &[
            "0 of 32",
            "1 running:",
            "hold#0 `named`, submitted at dahl-core/tests/stall.rs:",
            "W of array",
            "waiting for other tasks:",
            "touch#1 `named`",
            "RW of array",
            "not ready",
            "after hold#0",
            "more",
            ": runs hold#0",
            "main memory:",
        ],
    );
    assert!(x.to_vec()?.iter().sum::<f32>() == 10.0 + 30.0 + 1.0);
    Ok(())
}

/// Loses the task of that number, until it is told to release it.
struct Losing {
    tasks: Mutex<Vec<ReadyTask>>,
    lost: Mutex<Option<ReadyTask>>,
    is_found: Arc<AtomicBool>,
}

impl Scheduler for Losing {
    fn name(&self) -> &'static str {
        "losing"
    }

    fn push(&self, task: ReadyTask, _: Option<usize>) {
        if task.sequence() == 1 {
            *self.lost.lock().unwrap() = Some(task);
        } else {
            self.tasks.lock().unwrap().push(task);
        }
    }

    fn pop(&self, _: Option<usize>) -> Option<ReadyTask> {
        if self.is_found.load(Ordering::SeqCst)
            && let Some(task) = self.lost.lock().unwrap().take()
        {
            return Some(task);
        }
        self.tasks.lock().unwrap().pop()
    }
}

#[test]
fn a_task_that_a_scheduler_lost_is_reported_also_when_the_runtime_is_dropped() -> Result<()> {
    let is_found = Arc::new(AtomicBool::new(false));
    let scheduler =
        Losing { tasks: Mutex::default(), lost: Mutex::default(), is_found: Arc::clone(&is_found) };
    let builder = Runtime::builder().cpu_workers(2).custom_scheduler(scheduler).check(false);
    let (builder, reports) = reporting(builder);
    let rt = builder.build()?;
    let (mut x, mut y, mut z) = (rt.zeros([2])?, rt.zeros([2])?, rt.zeros([2])?);
    submit(&TOUCH, &mut x)?;
    assert_eq!(x.to_vec()?, [1.0, 0.0]);
    submit(&TOUCH, &mut y)?; // lost
    submit(&TOUCH, &mut y)?;
    let text = std::thread::scope(|scope| {
        let dropper = scope.spawn(|| drop(rt));
        // An earlier one may be because of a slow start.
        let text = reports.iter().find(|text| text.contains("1 of 3")).expect("a report");
        is_found.store(true, Ordering::SeqCst);
        // A push wakes a worker, which then finds the lost one.
        submit(&TOUCH, &mut z).expect("the runtime is not stopped yet");
        dropper.join().expect("no panic");
        text
    });
    assert_parts(
        &text,
        &[
            "1 of 3",
            "1 ready, and not taken from the scheduler `losing` by any worker:",
            "touch#1 `named`",
            "1 waiting for other tasks:",
            "touch#2 `named`",
            "after touch#1",
            "cpu 1: ",
        ],
    );
    Ok(())
}
