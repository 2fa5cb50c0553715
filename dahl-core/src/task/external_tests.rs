//! Tests of external tasks: a task that another thread completes keeps its place in the order.

use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender};

use super::External;
use crate::access::AccessMode;
use crate::codelet::{Codelet, Kernel, Parameter};
use crate::element::ElementType;
use crate::observer::{Observer, Submission, TaskDesc};
use crate::sync::Mutex;
use crate::{Result, Runtime, Task, Vector};

const I64: ElementType = ElementType::of::<i64>();

/// Receives a message.
static RECEIVE: Codelet =
    Codelet::new("receive", module_path!(), 1).parameters(&[Parameter::new("out", AccessMode::W, I64)]);
/// Sends a message.
static SEND: Codelet =
    Codelet::new("send", module_path!(), 2).parameters(&[Parameter::new("x", AccessMode::R, I64)]);
/// Changes an array elsewhere.
static CHANGE: Codelet =
    Codelet::new("change", module_path!(), 3).parameters(&[Parameter::new("x", AccessMode::RW, I64)]);
/// `x += 1`
static ADD_ONE: Codelet = Codelet::new("add_one", module_path!(), 4)
    .parameters(&[Parameter::new("x", AccessMode::RW, I64)])
    .kernels(&[Some(Kernel::new("rust", |views| views.slice_mut::<i64>().iter_mut().for_each(|x| *x += 1)))]);

fn runtime() -> Runtime {
    Runtime::builder().cpu_workers(2).build().expect("a runtime")
}

fn changing<'a>(codelet: &'static Codelet, x: &'a mut Vector<'_, i64>) -> Task<'a> {
    let mut task = Task::new(codelet);
    task.write(x);
    task
}

/// Sends beginning tasks to the other end.
fn mailbox() -> (Sender<External>, Receiver<External>) {
    mpsc::channel()
}

fn send_to(mailbox: &Sender<External>) -> impl FnOnce(External) + Send + use<> {
    let mailbox = mailbox.clone();
    move |external| mailbox.send(external).expect("somebody listens")
}

fn elements(external: &mut External) -> &mut [i64] {
    let bytes = external.bytes_mut(0, None).expect("it is in the main memory");
    bytemuck::cast_slice_mut(bytes.expect("it is contiguous"))
}

fn fill(external: &mut External, value: i64) {
    elements(external).fill(value);
}

#[test]
fn what_comes_after_waits_until_another_thread_completes_the_task() -> Result<()> {
    let rt = runtime();
    let mut x = rt.zeros([3])?;
    let (sender, receiver) = mailbox();
    changing(&RECEIVE, &mut x).submit_external(send_to(&sender))?;
    changing(&ADD_ONE, &mut x).submit()?;
    let mut external = receiver.recv().expect("its accesses are held");
    assert!(x.state().quiescent_pointer().is_none(), "it is not done");
    std::thread::spawn(move || {
        fill(&mut external, 41);
        external.complete(Ok(()));
    });
    assert_eq!(x.to_vec()?, [42; 3]);
    Ok(())
}

#[test]
fn it_begins_when_what_is_before_it_has_ended() -> Result<()> {
    let rt = runtime();
    let mut x = rt.zeros([2])?;
    let (sender, receiver) = mailbox();
    changing(&RECEIVE, &mut x).submit_external(send_to(&sender))?;
    changing(&CHANGE, &mut x).submit_external(send_to(&sender))?;
    let mut first = receiver.recv().expect("the first begins");
    assert!(receiver.try_recv().is_err(), "the second waits for the first");
    fill(&mut first, 5);
    first.complete(Ok(()));
    let mut second = receiver.recv().expect("now it begins");
    assert_eq!(second.desc().codelet().name, "change");
    elements(&mut second).iter_mut().for_each(|x| *x *= 2);
    second.complete(Ok(()));
    assert_eq!(x.to_vec()?, [10; 2]);
    Ok(())
}

#[test]
fn an_error_and_a_task_given_up_are_failures_of_what_they_write() -> Result<()> {
    let rt = runtime();
    for given_up in [false, true] {
        let mut x = rt.zeros([2])?;
        let (sender, receiver) = mailbox();
        changing(&RECEIVE, &mut x).submit_external(send_to(&sender))?;
        changing(&ADD_ONE, &mut x).submit()?;
        let mut task = Task::new(&SEND);
        task.read(&x);
        task.submit_external(send_to(&sender))?;
        let external = receiver.recv().expect("it begins");
        if given_up {
            drop(external);
        } else {
            external.complete(Err("the peer is gone".to_owned()));
        }
        let error = x.read().expect_err("it has no value").to_string();
        let why = if given_up { "it was given up before it was done" } else { "the peer is gone" };
        assert!(error.contains("receive") && error.contains(why), "{error}");
        assert!(receiver.try_recv().is_err(), "what would be sent has no value, so that does not begin");
        changing(&RECEIVE, &mut x).submit_external(|mut external| {
            fill(&mut external, 1);
            external.complete(Ok(()));
        })?;
        assert_eq!(x.to_vec()?, [1; 2], "what overwrites it heals it");
    }
    Ok(())
}

#[test]
fn a_long_row_that_ends_where_it_begins_does_not_nest() -> Result<()> {
    let rt = Runtime::builder().cpu_workers(1).build()?;
    let mut x: Vector<'_, i64> = rt.zeros([1])?;
    let (sender, receiver) = mailbox();
    changing(&RECEIVE, &mut x).submit_external(send_to(&sender))?;
    let first = receiver.recv().expect("it begins");
    // As many as may be in flight, which become ready one after the other when the first ends, on a thread with a small
    // stack.
    for _ in 0..900 {
        changing(&CHANGE, &mut x).submit_external(|mut external| {
            elements(&mut external)[0] += 1;
            external.complete(Ok(()));
        })?;
    }
    let small = std::thread::Builder::new().stack_size(64 << 10);
    let complete = move || {
        let mut first = first;
        fill(&mut first, 100);
        first.complete(Ok(()));
    };
    small.spawn(complete).expect("a thread").join().expect("it ends");
    assert_eq!(x.to_vec()?, [1000]);
    Ok(())
}

#[test]
fn a_runtime_waits_for_what_is_done_outside() -> Result<()> {
    let rt = runtime();
    let mut x = rt.zeros([1])?;
    let (sender, receiver) = mailbox();
    changing(&RECEIVE, &mut x).submit_external(send_to(&sender))?;
    let external = receiver.recv().expect("it begins");
    let completes = std::thread::spawn(move || {
        let mut external = external;
        fill(&mut external, 3);
        external.complete(Ok(()));
    });
    rt.wait()?;
    assert!(x.state().quiescent_pointer().is_some(), "nothing is left to do");
    completes.join().expect("it ends");
    Ok(())
}

/// Keeps descriptions of submitted tasks.
#[derive(Default)]
struct Keeps(Mutex<Vec<TaskDesc>>);

impl Observer for Keeps {
    fn submitted(&self, task: &Submission<'_>) {
        self.0.lock().expect("nobody panics").push(task.desc().clone());
    }
}

#[test]
fn an_observer_sees_it_as_every_task() -> Result<()> {
    let seen = Arc::new(Keeps::default());
    let observer: Arc<dyn Observer> = seen.clone();
    let rt = Runtime::builder().cpu_workers(1).observer(observer).build()?;
    let mut x = rt.zeros([1])?;
    changing(&RECEIVE, &mut x).name("from 3").submit_external(|external| external.complete(Ok(())))?;
    changing(&ADD_ONE, &mut x).submit()?;
    assert_eq!(x.to_vec()?, [1]);
    let seen = seen.0.lock().expect("nobody panics");
    let names: Vec<_> = seen.iter().map(|task| (task.codelet().name, task.name())).collect();
    assert_eq!(names, [("receive", Some("from 3")), ("add_one", None)]);
    let arrays: Vec<_> = seen.iter().map(|task| task.access(0).array()).collect();
    assert_eq!(arrays, [Some(x.state().id()); 2]);
    Ok(())
}
