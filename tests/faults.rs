//! Dropping, forgetting and panicking at any moment: nothing hangs, and arrays of others are not affected.
#![allow(
    clippy::forget_non_drop,
    reason = "guards hold nothing but a borrow, which is what the test is about"
)]

use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind, panic_any};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;

use dahl::Result;
use dahl::ndarray::Axis;
use dahl::prelude::*;

/// The gates that [`pass`] waits for. Each is used once.
static GATES: [AtomicBool; 256] = [const { AtomicBool::new(false) }; 256];

/// A closed gate that was not used yet.
fn new_gate() -> u32 {
    static USED: AtomicU32 = AtomicU32::new(0);
    USED.fetch_add(1, Ordering::Relaxed)
}

fn open(gate: u32) {
    GATES[gate as usize].store(true, Ordering::Release);
}

/// `x = x + 1`, when the gate is open.
#[codelet(RW, cpu_only)]
fn pass(x: &mut [i64], gate: u32) {
    while !GATES[gate as usize].load(Ordering::Acquire) {
        thread::yield_now();
    }
    for x in x {
        *x += 1;
    }
}

/// `x = x + 1`, or a panic at -1.
#[codelet(RW, cpu_only)]
fn bump(x: &mut [i64]) {
    for x in x {
        assert!(*x != -1, "unlucky");
        *x += 1;
    }
}

/// `out = value`.
#[codelet(W)]
fn set(out: &mut [i64], value: i64) {
    out.fill(value);
}

/// Adds `x` to `out`.
#[codelet(R, REDUX)]
fn add(x: &[i64], out: &mut [i64]) {
    for (out, x) in out.iter_mut().zip(x) {
        *out += x;
    }
}

fn runtime() -> Runtime {
    Runtime::builder().cpu_workers(2).build().expect("a runtime")
}

/// When something happens to the arrays that tasks use.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Moment {
    /// No task is submitted yet.
    Before,
    /// The first task waits at its gate, and the others wait for it.
    During,
    /// All tasks have ended.
    After,
}

/// Drops or forgets `value`.
fn lose<T>(value: T, forgotten: bool) {
    if forgotten { mem::forget(value) } else { drop(value) }
}

const MOMENTS: [Moment; 3] = [Moment::Before, Moment::During, Moment::After];

/// Submits a few tasks on `x` and brings them to that moment; the gate stays closed for `During` only.
fn submit(rt: &Runtime, moment: Moment, x: &mut Array<'_, i64, 1>) -> Result<u32> {
    let gate = new_gate();
    if moment != Moment::During {
        open(gate);
    }
    if moment != Moment::Before {
        pass(x, gate)?;
        let mut total = rt.zeros(x.shape())?;
        add(x, &mut total)?;
        bump(x)?;
    }
    if moment == Moment::After {
        rt.wait()?;
    }
    Ok(gate)
}

/// Checks that the runtime still runs tasks.
fn works(rt: &Runtime) -> Result<()> {
    let mut x = rt.zeros([8])?;
    for _ in 0..10 {
        bump(&mut x)?;
        for part in x.partition_mut(Axis(0), 3)?.iter_mut() {
            bump(part)?;
        }
    }
    assert_eq!(x.to_vec()?, [20; 8]);
    rt.wait()
}

#[test]
fn arrays_go_at_any_moment() -> Result<()> {
    let rt = runtime();
    for moment in MOMENTS {
        for forgotten in [false, true] {
            let mut x = rt.zeros([8])?;
            let gate = submit(&rt, moment, &mut x)?;
            lose(x, forgotten);
            open(gate);
            works(&rt)?;
        }
    }
    Ok(())
}

#[test]
fn arenas_go_at_any_moment() -> Result<()> {
    let rt = runtime();
    for moment in MOMENTS {
        for go in [drop::<Arena>, mem::forget, |mut arena: Arena| arena.reset()] {
            let arena = rt.arena();
            let mut x = arena.zeros([8])?;
            let gate = submit(&rt, moment, &mut x)?;
            mem::forget(x);
            let mut y = arena.zeros([8])?;
            bump(&mut y)?;
            go(arena);
            // Memory that tasks in flight use is not given to others.
            let arena = rt.arena();
            let mut z: Vector<'_, i64> = arena.zeros([8])?;
            bump(&mut z)?;
            open(gate);
            assert_eq!(z.to_vec()?, [1; 8]);
            works(&rt)?;
        }
    }
    Ok(())
}

#[test]
fn the_runtime_goes_at_any_moment() -> Result<()> {
    for moment in MOMENTS {
        for forgotten in [false, true] {
            let rt = runtime();
            let mut x = rt.zeros([8])?;
            let gate = submit(&rt, moment, &mut x)?;
            thread::scope(|scope| {
                // Dropping the runtime waits for its tasks.
                scope.spawn(|| open(gate));
                lose(rt, forgotten);
            });
            let bumped = if moment == Moment::Before { 0 } else { 2 };
            assert_eq!(x.to_vec()?, [bumped; 8], "{moment:?}");
        }
    }
    Ok(())
}

#[test]
fn the_runtime_goes_before_the_parts() -> Result<()> {
    for moment in MOMENTS {
        for forgotten in [false, true] {
            let rt = runtime();
            let mut x = rt.zeros([8])?;
            let mut parts = x.partition_mut(Axis(0), 4)?;
            let gate = submit(&rt, moment, &mut parts[0])?;
            thread::scope(|scope| {
                scope.spawn(|| open(gate));
                drop(rt);
            });
            let error = bump(&mut parts[1]).unwrap_err().to_string();
            assert!(error.contains("bump"), "{error}");
            lose(parts, forgotten);
            let bumped = if moment == Moment::Before { 0 } else { 2 };
            assert_eq!(x.to_vec()?, [bumped, bumped, bumped, bumped, 0, 0, 0, 0]);
        }
    }
    Ok(())
}

#[test]
fn parts_go_at_any_moment() -> Result<()> {
    let rt = runtime();
    let mut x = rt.zeros([8])?;
    let mut expected = 0;
    for moment in MOMENTS {
        for forgotten in [false, true] {
            let mut parts = x.partition_mut(Axis(0), 3)?;
            let gate = submit(&rt, moment, &mut parts[2])?;
            lose(parts, forgotten);
            // Tasks on the whole come after those on its parts, whatever became of these.
            bump(&mut x)?;
            open(gate);
            expected += if moment == Moment::Before { 1 } else { 3 };
            assert_eq!(x.to_vec()?[6..], [expected; 2]);
        }
        for forgotten in [false, true] {
            let mut out = rt.zeros([3])?;
            let parts = x.partition(Axis(0), 3)?;
            let gate = submit(&rt, moment, &mut out)?;
            add(&parts[0], &mut out)?;
            lose(parts, forgotten);
            bump(&mut x)?;
            expected += 1;
            open(gate);
            assert_eq!(x.to_vec()?[6..], [expected; 2]);
        }
    }
    works(&rt)
}

#[test]
fn a_part_swapped_out_keeps_its_order_with_the_whole() -> Result<()> {
    let rt = runtime();
    for moment in MOMENTS {
        let mut x = rt.zeros([8])?;
        let mut y = rt.zeros([8])?;
        let mut kept = y.partition_mut(Axis(0), 4)?;
        {
            let mut parts = x.partition_mut(Axis(0), 4)?;
            mem::swap(&mut parts[0], &mut kept[1]);
        }
        // A part of `x`, whose other parts were dropped.
        let gate = submit(&rt, moment, &mut kept[1])?;
        drop(kept);
        bump(&mut x)?;
        open(gate);
        let first = if moment == Moment::Before { 1 } else { 3 };
        assert_eq!(x.to_vec()?, [first, first, first, first, 1, 1, 1, 1]);
        assert_eq!(y.to_vec()?, [0; 8]);
    }
    works(&rt)
}

#[test]
fn tasks_in_the_making_go_at_any_moment() -> Result<()> {
    let rt = runtime();
    for moment in MOMENTS {
        for forgotten in [false, true] {
            let mut x = rt.zeros([8])?;
            let gate = submit(&rt, moment, &mut x)?;
            lose(Bump::task(&mut x), forgotten);
            bump(&mut x)?;
            open(gate);
            let bumped = if moment == Moment::Before { 1 } else { 3 };
            assert_eq!(x.to_vec()?, [bumped; 8]);
            works(&rt)?;
        }
    }
    Ok(())
}

#[test]
fn guards_are_forgotten() -> Result<()> {
    let rt = runtime();
    let mut x = rt.zeros([8])?;
    lose(x.read()?, true);
    bump(&mut x)?;
    let mut guard = x.write()?;
    guard[0] = 10;
    lose(guard, true);
    bump(&mut x)?;
    let mut parts = x.partition_mut(Axis(0), 2)?;
    lose(parts[0].write()?, true);
    bump(&mut parts[0])?;
    lose(parts[0].read()?, true);
    assert_eq!(x.to_vec()?, [12, 3, 2, 2, 2, 2, 2, 2]);
    works(&rt)
}

#[test]
fn overwriting_heals_parts_and_wholes() -> Result<()> {
    let rt = runtime();
    let mut x = rt.from_vec([6], vec![0, 0, -1, 0, -1, 0])?;
    let mut parts = x.partition_mut(Axis(0), 2)?;
    for part in parts.iter_mut() {
        bump(part)?;
    }
    assert!(parts[1].read().unwrap_err().to_string().contains("unlucky"));
    set(&mut parts[1], 5)?;
    assert_eq!(parts[1].to_vec()?, [5, 5]);
    assert_eq!(parts[0].to_vec()?, [1, 1], "others are not touched");
    // One part has no value, so the whole has none.
    assert!(x.read().unwrap_err().to_string().contains("unlucky"));
    bump(&mut x)?;
    assert!(x.read().is_err());
    set(&mut x, 7)?;
    assert_eq!(x.to_vec()?, [7; 6]);
    set(&mut x, -1)?;
    bump(&mut x)?;
    // The parts of a whole without a value have none. When all are overwritten, the whole has a value again.
    for part in x.partition_mut(Axis(0), 4)?.iter_mut() {
        assert!(part.read().is_err());
        set(part, 2)?;
    }
    assert_eq!(x.to_vec()?, [2; 6]);
    works(&rt)
}

#[test]
fn the_submitting_thread_panics_with_parts_and_guards_alive() -> Result<()> {
    let rt = runtime();
    let mut x = rt.zeros([8])?;
    let mut y = rt.zeros([8])?;
    let gate = new_gate();
    let panic = catch_unwind(AssertUnwindSafe(|| {
        let mut parts = x.partition_mut(Axis(0), 4)?;
        let _guard = y.write()?;
        let _other = parts[1].write()?;
        let _task = Bump::task(&mut parts[0]);
        let arena = rt.arena();
        let mut z = arena.zeros([8])?;
        pass(&mut z, gate)?;
        open(gate);
        panic!("of the submitter");
        #[allow(unreachable_code)]
        Ok::<(), dahl::Error>(())
    }));
    assert!(panic.is_err());
    bump(&mut x)?;
    bump(&mut y)?;
    assert_eq!((x.to_vec()?, y.to_vec()?), (vec![1; 8], vec![1; 8]));
    works(&rt)
}

/// Panics again when it is dropped.
struct Bomb(u32);

impl Drop for Bomb {
    fn drop(&mut self) {
        if self.0 > 0 {
            panic_any(Bomb(self.0 - 1));
        }
    }
}

/// Panics with a payload that panics when it is dropped, whose payload does too.
#[codelet(RW, cpu_only)]
fn explode(x: &mut [i64]) {
    x.fill(1);
    panic_any(Bomb(2));
}

#[test]
fn a_panics_payload_panics_too() -> Result<()> {
    let rt = runtime();
    for _ in 0..10 {
        let mut x = rt.zeros([8])?;
        explode(&mut x)?;
        let error = x.read().unwrap_err().to_string();
        assert!(error.contains("explode") && error.contains("not text"), "{error}");
    }
    // Both workers are still there.
    let (a, b) = (new_gate(), new_gate());
    let (mut x, mut y) = (rt.zeros([8])?, rt.zeros([8])?);
    pass(&mut x, a)?;
    pass(&mut y, b)?;
    open(a);
    open(b);
    assert_eq!((x.to_vec()?, y.to_vec()?), (vec![1; 8], vec![1; 8]));
    works(&rt)
}
