//! What threads and processes have of their own: the state of floating-point arithmetic, and the workers.
#![allow(unsafe_code, reason = "forks, and changes a control register")]

use dahl_core::__private::{Kernel, Parameter};
use dahl_core::{AccessMode, Array, Codelet, ElementType, Result, Runtime, Task};

const F32: ElementType = ElementType::of::<f32>();

/// `x = x / 4`.
static QUARTER: Codelet = Codelet::new("quarter", module_path!(), 1)
    .parameters(&[Parameter::new("x", AccessMode::RW, F32)])
    .kernels(&[Some(Kernel::new("rust", |views| {
        for x in views.slice_mut::<f32>() {
            *x = std::hint::black_box(*x) / 4.0;
        }
    }))]);

/// The same, and from then on the thread takes subnormal numbers to be zeros.
static FLUSHES: Codelet = Codelet::new("flushes", module_path!(), 2)
    .parameters(&[Parameter::new("x", AccessMode::RW, F32)])
    .kernels(&[Some(Kernel::new("flushing", |views| {
        views.slice_mut::<f32>()[0] /= 4.0;
        flush_subnormal_numbers();
    }))]);

#[cfg(target_arch = "x86_64")]
fn flush_subnormal_numbers() {
    let mut word = 0_u32;
    // SAFETY: it stores to and loads from `word`.
    unsafe { std::arch::asm!("stmxcsr [{}]", in(reg) &raw mut word) };
    word |= 0x8040;
    // SAFETY: as above; the bits are those of flush-to-zero and denormals-are-zero.
    unsafe { std::arch::asm!("ldmxcsr [{}]", in(reg) &raw const word) };
}

fn submit(codelet: &'static Codelet, x: &mut Array<'_, f32, 1>) -> Result<()> {
    let mut task = Task::new(codelet);
    task.write(x);
    task.submit()
}

#[cfg(target_arch = "x86_64")]
#[test]
fn the_hosts_floating_point_state_reaches_no_task() -> Result<()> {
    // In a thread of its own, whose state nobody else has.
    std::thread::spawn(|| -> Result<()> {
        flush_subnormal_numbers();
        // Workers begin with the state of this thread, which also runs tasks itself while it waits.
        let rt = Runtime::builder().cpu_workers(1).build()?;
        let mut arrays: Vec<_> =
            (0..100).map(|_| rt.from_vec([1], vec![2e-38_f32])).collect::<Result<_>>()?;
        for x in &mut arrays {
            submit(&QUARTER, x)?;
        }
        for x in &arrays {
            assert_eq!(x.read()?[0].to_bits(), 0x0036_71f7, "a subnormal number");
        }
        assert_eq!(std::hint::black_box(2e-38_f32) / 4.0, 0.0, "the host's state is as it was");
        Ok(())
    })
    .join()
    .unwrap()
}

#[cfg(target_arch = "x86_64")]
#[test]
fn checked_mode_names_the_kernel_that_changed_the_floating_point_state() -> Result<()> {
    let rt = Runtime::builder().cpu_workers(1).check(true).build()?;
    let (mut x, mut y) = (rt.from_vec([1], vec![1.0_f32])?, rt.from_vec([1], vec![2e-38_f32])?);
    submit(&FLUSHES, &mut x)?;
    let text = x.read().map(drop).expect_err("it changed the state").to_string();
    assert!(text.contains("`flushing`") && text.contains("subnormal numbers are zeros"), "{text}");
    submit(&QUARTER, &mut y)?;
    assert!(y.read()?[0] > 0.0, "the tasks after it are not affected");
    Ok(())
}

/// Tells a process that it is to fork.
#[cfg(unix)]
const FORKS: &str = "FORKS_TEST_CHILD";

#[cfg(unix)]
#[test]
fn a_forked_process_is_told_so_and_can_make_a_runtime_of_its_own() {
    // In a process of its own: another test may hold a lock of the system's at the fork, which nobody would release. In several of
    // them: the workers may be anywhere at the fork, also where they begin.
    for _ in 0..20 {
        let mut command = std::process::Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "threads_and_processes::forks", "--nocapture"]).env(FORKS, "1");
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
}

/// Does nothing except in a process that the test above has started.
#[cfg(unix)]
#[test]
fn forks() -> Result<()> {
    if std::env::var_os(FORKS).is_none() {
        return Ok(());
    }
    let rt = Runtime::builder().cpu_workers(2).build()?;
    let mut x = rt.from_vec([1], vec![1.0_f32])?;
    // SAFETY: the child uses only what is its own, and ends by `_exit`.
    let child = unsafe { libc::fork() };
    if child == 0 {
        // Should it hang, it ends by a signal, which the parent notices.
        // SAFETY: it has no preconditions.
        unsafe { libc::alarm(60) };
        let is_told = |result: Result<()>| {
            result.err().is_some_and(|error| error.code() == "D0015" && error.to_string().contains("forked"))
        };
        let told = is_told(submit(&QUARTER, &mut x)) && is_told(rt.wait()) && is_told(x.read().map(drop));
        let own = || -> Result<f32> {
            let rt = Runtime::builder().cpu_workers(1).build()?;
            let mut y = rt.from_vec([1], vec![4.0_f32])?;
            submit(&QUARTER, &mut y)?;
            let quarter = y.read()?[0];
            Ok(quarter)
        };
        let works = own().is_ok_and(|quarter| quarter == 1.0);
        drop(x);
        drop(rt);
        // SAFETY: nothing of the parent is run, such as the harness's handlers.
        unsafe { libc::_exit(if told && works { 0 } else { 1 }) };
    }
    let mut status = 0;
    // SAFETY: it writes the status.
    assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
    assert!(libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0, "the child ended with {status:#x}");
    submit(&QUARTER, &mut x)?;
    assert_eq!(x.read()?[0], 0.25, "the parent goes on");
    Ok(())
}
