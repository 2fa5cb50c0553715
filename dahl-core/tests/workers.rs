//! The memory of a runtime for its workers, which is linear in their number, and the error if there are too many.

use std::alloc::{GlobalAlloc, Layout, System};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

use dahl_core::Runtime;

struct Counting;

/// The number of bytes that are allocated at present.
static BYTES: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call goes to the system's allocator, with what the caller gave.
#[allow(unsafe_code, reason = "counts bytes")]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        BYTES.fetch_add(layout.size(), Ordering::Relaxed);
        // SAFETY: guaranteed by the caller.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        BYTES.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: guaranteed by the caller.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Tells a process which runtime to build: the scheduler, and the number of workers.
const CHILD: &str = "WORKERS_TEST_CHILD";
/// The text before the number of bytes that it prints.
const BEGIN: &str = "bytes of the runtime: ";

/// The bytes that a runtime with so many workers has allocated after its start, before it runs anything. Measured in a
/// process of its own, since queues of an earlier runtime may be freed late.
fn bytes(scheduler: &str, workers: usize) -> usize {
    let program = std::env::current_exe().expect("this program");
    let mut child = Command::new(program);
    child.args(["--exact", "the_work_of_a_child", "--nocapture"]);
    let output = child.env(CHILD, format!("{scheduler} {workers}")).output().expect("it can be started");
    let printed = String::from_utf8_lossy(&output.stdout);
    let bytes = printed.lines().find_map(|line| line.split_once(BEGIN)?.1.trim().parse().ok());
    bytes.unwrap_or_else(|| panic!("{scheduler} with {workers} workers: {output:?}"))
}

/// Does nothing except in a process that another test has started.
#[test]
fn the_work_of_a_child() {
    let Ok(told) = std::env::var(CHILD) else { return };
    let (scheduler, workers) = told.split_once(' ').expect("two words");
    let workers = workers.parse().expect("a number");
    let before = BYTES.load(Ordering::Relaxed);
    let rt = Runtime::builder().cpu_workers(workers).scheduler(scheduler).build().expect("it is possible");
    rt.wait().expect("nothing has failed");
    println!("{BEGIN}{}", BYTES.load(Ordering::Relaxed) - before);
}

#[test]
fn memory_is_linear_in_the_workers() {
    for scheduler in Runtime::schedulers() {
        let [few, some, many] = [2, 32, 256].map(|workers| bytes(scheduler, workers));
        println!("{scheduler}: {few} bytes with 2 workers, {some} with 32, {many} with 256");
        // The memory of a worker does not depend on their number; growing buffers are rounded up, at most twofold.
        let of_some = some.saturating_sub(few).max(30 * 4096) / 30;
        let of_many = many.saturating_sub(some) / 224;
        assert!(
            of_many <= 2 * of_some,
            "{scheduler}: {of_some} bytes a worker up to 32, {of_many} up to 256"
        );
        assert!(of_many <= 200_000, "{scheduler}: {of_many} bytes a worker");
    }
}

#[test]
fn more_workers_than_any_machine_has_threads_are_an_error() {
    for workers in [4097, 1 << 20, usize::MAX] {
        let error = Runtime::builder().cpu_workers(workers).build().expect_err("too many").to_string();
        assert!(
            error.contains(&format!("cpu_workers = `{workers}`: expected a whole number from 1 to 4096")),
            "{error}"
        );
    }
}
