//! The rounds of a loop allocate nothing.

use std::alloc::{GlobalAlloc, Layout, System};
use std::panic::Location;
use std::sync::atomic::{AtomicU64, Ordering};

use dahl_core::__program::Bindings;
use dahl_core::{Codelet, ControlFlow, Result, Runtime};
use dahl_program::{Arguments, Body, Program};

#[allow(dead_code, reason = "other tests use more of it")]
mod numbers;

use numbers::{COUNT_DOWN, Number, change, set};

struct Counting;

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

// SAFETY: every call is forwarded to the system's allocator, with the caller's arguments.
#[allow(unsafe_code, reason = "counts allocations")]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract of `dealloc`.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

static BODY: Body =
    Body { codelet: Codelet::new("rounds", module_path!(), 1), parameters: &["x", "inner"], draws: false };

struct Numbers<'a>(&'a mut Number<'static>, &'a mut Number<'static>);

impl Arguments for Numbers<'_> {
    fn bind<'b>(&'b mut self, bindings: &mut Bindings<'b>) {
        bindings.write(self.0);
        bindings.write(self.1);
    }

    fn name(&self, parameters: &[&str], names: &mut Vec<String>) {
        names.extend(parameters.iter().map(|&name| name.to_owned()));
    }
}

/// For a call: the task as which the runtime knows the replay, and pools that grow to what is in flight.
const OF_A_CALL: u64 = 32;

#[test]
fn more_rounds_do_not_allocate_more() -> Result<()> {
    let rt = Runtime::builder().cpu_workers(2).cuda_devices(0).check(false).build()?;
    let mut program = Program::new(&rt, &BODY);
    let (mut x, mut inner): (Number<'_>, Number<'_>) = (rt.zeros([])?, rt.zeros([])?);
    let mut allocations = Vec::new();
    for rounds in [1_000, 1_000, 20_000] {
        x.write()?[()] = rounds;
        let before = ALLOCATIONS.load(Ordering::Relaxed);
        let mut arguments = Numbers(&mut x, &mut inner);
        program.call::<_, ()>(&mut arguments, Location::caller(), |Numbers(x, inner), scope, _| {
            scope.repeat_while(x, |scope, x| {
                set(inner, 2)?;
                scope.repeat_while(inner, |scope, inner| {
                    scope.branch(
                        &*x,
                        |_, holds| if holds { change(&COUNT_DOWN, inner) } else { set(inner, 0) },
                    )
                })?;
                change(&COUNT_DOWN, x)
            })
        })?;
        rt.wait()?;
        allocations.push(ALLOCATIONS.load(Ordering::Relaxed) - before);
        assert_eq!(x.to_vec()?, [0]);
    }
    assert!(allocations[2] <= allocations[1] + OF_A_CALL, "{allocations:?}");
    Ok(())
}
