//! Memory: accounting, the limit, arenas of a given capacity, and allocations that fail.

use std::panic::Location;
use std::sync::atomic::{AtomicBool, Ordering};

use dahl_core::__private::{Kernel, Parameter, Views};
use dahl_core::{
    AccessMode, Arena, Array, Codelet, Element, ElementType, ErrorKind, MemoryUse, Result, Runtime, Task,
    Vector,
};
use proptest::prelude::*;

const MB: usize = 1 << 20;
/// The number of `f32`s in a megabyte.
const MB_LEN: usize = MB / 4;

fn increment_kernel(views: &mut Views<'_>) {
    for x in views.slice_mut::<f32>() {
        *x += 1.0;
    }
}

static INCREMENT: Codelet = Codelet::new("increment", module_path!(), 1)
    .parameters(const { &[Parameter::new("x", AccessMode::RW, ElementType::of::<f32>())] })
    .kernels(const { &[Some(Kernel::new("rust", increment_kernel))] });

#[track_caller]
fn increment(x: &mut Vector<'_, f32>) -> Result<()> {
    let mut task = Task::new(&INCREMENT);
    task.write(x);
    task.submit()
}

static GATE: AtomicBool = AtomicBool::new(false);

fn gate_kernel(_: &mut Views<'_>) {
    while !GATE.load(Ordering::Acquire) {
        std::thread::yield_now();
    }
}

static WAIT_AT_GATE: Codelet = Codelet::new("wait_at_gate", module_path!(), 2)
    .parameters(const { &[Parameter::new("x", AccessMode::RW, ElementType::of::<f32>())] })
    .kernels(const { &[Some(Kernel::new("rust", gate_kernel))] });

fn scratch_kernel(views: &mut Views<'_>) {
    let (out, temporary) = (views.slice_mut::<f32>(), views.slice_mut::<f32>());
    temporary.fill(2.0);
    out.fill(temporary[0]);
}

static WITH_SCRATCH: Codelet = Codelet::new("with_scratch", module_path!(), 3)
    .parameters(
        const {
            &[
                Parameter::new("out", AccessMode::W, ElementType::of::<f32>()),
                Parameter::new("temporary", AccessMode::SCRATCH, ElementType::of::<f32>()),
            ]
        },
    )
    .kernels(const { &[Some(Kernel::new("rust", scratch_kernel))] });

#[track_caller]
fn with_scratch(out: &mut Vector<'_, f32>, len: usize) -> Result<()> {
    let mut task = Task::new(&WITH_SCRATCH);
    task.write(out);
    task.scratch::<f32, 1>([len]);
    task.submit()
}

fn runtime(workers: usize, limit_mb: usize) -> Runtime {
    Runtime::builder().cpu_workers(workers).memory_limit_mb(limit_mb).build().unwrap()
}

fn usage(rt: &Runtime) -> MemoryUse {
    let mut nodes = rt.memory();
    assert_eq!(nodes.len(), 1);
    nodes.pop().unwrap()
}

/// The requested size and the text of an error that must be out of memory.
#[track_caller]
fn shortage<T>(result: Result<T>) -> (usize, String) {
    let Err(error) = result else { panic!("must not be had, {}", Location::caller()) };
    assert_eq!(error.code(), "D0006");
    let ErrorKind::OutOfMemory(shortage) = error.kind() else { panic!("{error}") };
    (shortage.bytes, error.to_string())
}

#[test]
fn figures_add_up_and_return_to_zero() {
    let rt = Runtime::builder().cpu_workers(2).build().unwrap();
    let line = line!() + 1;
    let mut arena = rt.arena();
    let mut carved: Vector<f32> = arena.zeros([1000]).unwrap();
    let alone = rt.zeros::<f64, 2>([10, 10]).unwrap();
    let moved = rt.from_vec([500], vec![1.0_f32; 500]).unwrap();
    for _ in 0..100 {
        increment(&mut carved).unwrap();
    }
    assert_eq!(arena.current_bytes(), 4032); // whole lines
    let now = usage(&rt);
    assert_eq!(now.name, "host");
    assert_eq!(now.limit_bytes, None);
    assert_eq!(now.current_bytes, 4032 + 832 + 2000);
    assert_eq!(now.reserved_bytes, arena.reserved_bytes() + 832 + 2000);
    assert_eq!(now.reserved_bytes, now.holders.iter().map(|holder| holder.bytes).sum::<usize>());
    let of_arena = now.holders[0];
    assert_eq!((of_arena.what, of_arena.location.line()), ("arena", line));
    assert_eq!(of_arena.location.file(), file!());
    assert!(now.holders[1..].iter().all(|holder| holder.what == "array"));
    drop((carved, alone, moved));
    rt.wait().unwrap();
    arena.reset();
    assert_eq!(arena.current_bytes(), 0);
    let after = usage(&rt);
    assert_eq!((after.current_bytes, after.reserved_bytes), (0, arena.reserved_bytes()));
    assert_eq!(after.peak_bytes, now.peak_bytes);
    drop(arena);
    let end = usage(&rt);
    assert_eq!((end.current_bytes, end.reserved_bytes, end.holders.len()), (0, 0, 0));
    assert_eq!(end.peak_bytes, now.peak_bytes);
}

#[test]
fn memory_of_tasks_in_flight_counts_until_they_end() {
    let rt = Runtime::builder().cpu_workers(2).build().unwrap();
    let mut arena = rt.arena();
    for _ in 0..200 {
        let mut x: Vector<f32> = arena.zeros([4096]).unwrap();
        for _ in 0..5 {
            increment(&mut x).unwrap();
        }
        arena.reset();
        assert!(arena.current_bytes() <= arena.reserved_bytes());
    }
    rt.wait().unwrap();
    assert_eq!(arena.current_bytes(), 0);
    drop(arena);
    assert_eq!(usage(&rt).reserved_bytes, 0);
}

#[test]
fn arrays_begin_at_lines() {
    fn check<T: Element, const N: usize>(array: &Array<'_, T, N>)
    where
        dahl_core::ndarray::Dim<[usize; N]>: dahl_core::ndarray::Dimension,
    {
        assert_eq!(array.read().unwrap().as_ptr().align_offset(64), 0, "{array:?}");
    }
    let rt = Runtime::builder().cpu_workers(1).build().unwrap();
    let (arena, fixed) = (rt.arena(), rt.arena_with_capacity(10_000).unwrap());
    for arena in [&arena, &fixed] {
        for len in [1, 3, 16, 17, 100] {
            check::<f32, 1>(&arena.zeros([len]).unwrap());
            check(&arena.filled([len, 2], 1_u8).unwrap());
            check(&arena.from_vec([len], vec![1.0_f64; len]).unwrap());
        }
    }
    let mut whole = rt.zeros::<f32, 2>([9, 3]).unwrap();
    check(&whole);
    drop(whole.partition_mut(dahl_core::ndarray::Axis(0), 2).unwrap());
    check(&whole);
    check(&whole.zeros_like().unwrap());
}

#[test]
fn submission_waits_for_tasks_in_flight_that_free_enough() {
    for workers in [1, 3] {
        let rt = runtime(workers, 4);
        for _ in 0..50 {
            let mut x = rt.zeros::<f32, 1>([MB_LEN]).unwrap();
            increment(&mut x).unwrap();
        }
        let mut arena = rt.arena();
        for _ in 0..50 {
            let mut x = arena.zeros::<f32, 1>([MB_LEN]).unwrap();
            increment(&mut x).unwrap();
            drop(x);
            arena.reset();
        }
        rt.wait().unwrap();
        assert!(usage(&rt).peak_bytes <= 4 * MB);
        assert_eq!(usage(&rt).limit_bytes, Some(4 * MB));
    }
}

#[test]
fn what_no_task_can_free_is_an_error_at_once() {
    let rt = runtime(1, 4);
    let mut held = rt.zeros::<f32, 1>([3 * MB_LEN]).unwrap();
    // A task is in flight for as long as this test needs; the memory that it will free is not enough.
    let mut task = Task::new(&WAIT_AT_GATE);
    task.write(&mut held);
    task.submit().unwrap();
    let (bytes, text) = shortage(rt.zeros::<f32, 1>([2 * MB_LEN]));
    assert_eq!(bytes, 2 * MB);
    let facts = format!(
        "D0006: out of memory: {} bytes cannot be had: {} of {} bytes are reserved; the largest holders: \
         array of {}:",
        2 * MB,
        3 * MB,
        4 * MB,
        file!()
    );
    assert!(text.starts_with(&facts), "{text}");
    assert!(text.contains("DAHL_LIMIT_MB, at ") && text.contains(&format!(" with {}", 3 * MB)), "{text}");
    let (_, text) = shortage(rt.arena().zeros::<f32, 1>([2 * MB_LEN]));
    assert!(text.contains("cannot be had"), "{text}");
    shortage(held.zeros_like());
    // A vector exists already.
    let beyond = rt.from_vec([2 * MB_LEN], vec![0.0_f32; 2 * MB_LEN]).unwrap();
    assert_eq!(usage(&rt).reserved_bytes, 5 * MB);
    GATE.store(true, Ordering::Release);
    drop((held, beyond));
    rt.zeros::<f32, 1>([2 * MB_LEN]).unwrap();
}

#[test]
fn what_arenas_keep_is_given_to_others() {
    let rt = runtime(1, 4);
    let mut arena = rt.arena();
    for _ in 0..10 {
        let mut x = arena.zeros::<f32, 1>([MB_LEN]).unwrap();
        increment(&mut x).unwrap();
        drop(x);
        arena.reset();
    }
    rt.wait().unwrap();
    // All of its regions except the one that it allocates from.
    let free = 4 * MB - arena.reserved_bytes().min(MB);
    drop(rt.zeros::<u8, 1>([free]).unwrap());
    drop(arena);
    rt.zeros::<u8, 1>([4 * MB]).unwrap();
}

#[test]
fn a_reset_within_bytes_waits_for_the_tasks_that_hold_more() {
    let rt = Runtime::builder().cpu_workers(1).build().unwrap();
    let mut arena = rt.arena();
    for _ in 0..100 {
        let mut x = arena.zeros::<f32, 1>([MB_LEN]).unwrap();
        for _ in 0..10 {
            increment(&mut x).unwrap(); // each takes longer than to submit it
        }
        drop(x);
        arena.reset_within(3 * MB);
    }
    assert!(arena.peak_bytes() <= 4 * MB, "{} bytes", arena.peak_bytes());
    rt.wait().unwrap();
    std::mem::forget(arena.zeros::<f32, 1>([MB_LEN]).unwrap());
    arena.reset_within(0); // nothing is in flight that could let go of it
}

#[test]
fn a_reset_beyond_bytes_bounds_what_tasks_hold_and_waits_for_nobody_who_does_not_come() {
    let rt = Runtime::builder().cpu_workers(1).build().unwrap();
    let mut arena = rt.arena();
    for _ in 0..100 {
        let mut x = arena.zeros::<f32, 1>([MB_LEN]).unwrap();
        for _ in 0..10 {
            increment(&mut x).unwrap();
        }
        drop(x);
        arena.reset_beyond(8 * MB, 3 * MB);
        assert!(arena.current_bytes() <= 8 * MB, "{} bytes", arena.current_bytes());
    }
    assert!(arena.peak_bytes() <= 9 * MB, "{} bytes", arena.peak_bytes());
    rt.wait().unwrap();
    // In one round, more than may be kept; and forgotten.
    std::mem::forget(arena.zeros::<f32, 1>([4 * MB_LEN]).unwrap());
    arena.reset_beyond(8 * MB, 3 * MB);
    std::mem::forget(arena.zeros::<f32, 1>([6 * MB_LEN]).unwrap());
    arena.reset_beyond(8 * MB, 3 * MB);
}

#[test]
fn forgotten_arrays_are_an_error_and_not_a_hang() {
    let rt = runtime(2, 2);
    std::mem::forget(rt.zeros::<f32, 1>([MB_LEN]).unwrap());
    shortage(rt.zeros::<f32, 1>([MB_LEN + 1]));
    let mut arena = rt.arena();
    std::mem::forget(arena.zeros::<f32, 1>([MB_LEN / 2]).unwrap());
    arena.reset();
    // The region appears to be held by tasks in flight.
    shortage(arena.zeros::<f32, 1>([MB_LEN]));
    let mut x = arena.zeros::<f32, 1>([MB_LEN / 4]).unwrap();
    for _ in 0..10 {
        increment(&mut x).unwrap();
    }
    shortage(rt.zeros::<f32, 1>([MB_LEN]));
    assert_eq!(x.read().unwrap()[0], 10.0);
}

#[test]
fn a_capacity_is_reserved_at_once_and_never_exceeded() {
    let rt = Runtime::builder().cpu_workers(2).build().unwrap();
    let mut arena = rt.arena_with_capacity(MB).unwrap();
    assert_eq!((arena.reserved_bytes(), arena.current_bytes()), (MB, 0));
    for step in 0..100 {
        let mut x = arena.zeros::<f32, 1>([MB_LEN / 2]).unwrap();
        let y = arena.filled::<f32, 1>([MB_LEN / 4], 1.0).unwrap();
        increment(&mut x).unwrap();
        let (bytes, text) = shortage(arena.zeros::<f32, 1>([MB_LEN / 2]));
        assert_eq!(bytes, MB / 2);
        let facts = format!("the arena's capacity is {MB}, and {} are in use", MB / 4 * 3);
        assert!(text.contains(&facts), "{text}");
        // A smaller one still fits.
        let z = arena.zeros::<f32, 1>([MB_LEN / 4]).unwrap();
        if step % 10 == 0 {
            assert_eq!((x.read().unwrap()[5], y.read().unwrap()[5], z.read().unwrap()[5]), (1.0, 1.0, 0.0));
        }
        arena.reset();
        assert_eq!(arena.reserved_bytes(), MB);
    }
    assert_eq!(arena.peak_bytes(), MB);
    shortage(arena.zeros::<f32, 1>([MB_LEN + 1]));
    std::mem::forget(arena.zeros::<f32, 1>([1]).unwrap());
    arena.reset();
    shortage(arena.zeros::<f32, 1>([1]));
    shortage(runtime(1, 1).arena_with_capacity(MB + 1));
}

#[test]
fn memory_that_a_worker_cannot_have_fails_the_task_alone() {
    for rt in [Runtime::builder().cpu_workers(1).build().unwrap(), runtime(1, 4)] {
        let mut out = rt.zeros::<f32, 1>([10]).unwrap();
        with_scratch(&mut out, 1 << 50).unwrap();
        let error = out.read().unwrap_err().to_string();
        assert!(error.contains("with_scratch") && error.contains("out of memory"), "{error}");
        assert!(error.contains(&format!("{} bytes cannot be had", 1_usize << 52)), "{error}");
        let error = with_scratch(&mut out, usize::MAX / 2).unwrap_err();
        assert_eq!(error.code(), "D0009");
        with_scratch(&mut out, 1000).unwrap();
        assert_eq!(out.read().unwrap()[9], 2.0);
        let now = usage(&rt);
        assert!(now.holders.iter().any(|holder| holder.what == "scratch" && holder.bytes == 4032));
        assert_eq!(now.current_bytes, 64);
    }
}

#[test]
fn a_strided_part_that_cannot_be_packed_fails_the_task_alone() {
    let rt = runtime(1, 2);
    let mut whole = rt.zeros::<f32, 2>([MB_LEN / 1024, 1024]).unwrap();
    let held = rt.zeros::<u8, 1>([MB - 64]).unwrap();
    let error = {
        let mut parts = whole.partition_mut(dahl_core::ndarray::Axis(1), 512).unwrap();
        let mut task = Task::new(&INCREMENT);
        task.write(&mut parts[0]);
        task.submit().unwrap();
        parts[0].read().unwrap_err().to_string()
    };
    assert!(error.contains("increment") && error.contains("out of memory"), "{error}");
    drop(held);
    let mut x = rt.zeros::<f32, 1>([4]).unwrap();
    increment(&mut x).unwrap();
    assert_eq!(x.read().unwrap()[0], 1.0);
}

#[derive(Clone, Debug)]
enum Act {
    Alone(usize),
    Drop(usize),
    Carve { arena: usize, kilobytes: usize },
    Increment(usize),
    Reset(usize),
    Forget(usize),
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        4 => (1..700_usize).prop_map(Act::Alone),
        3 => (0..8_usize).prop_map(Act::Drop),
        4 => (0..2_usize, 1..400_usize).prop_map(|(arena, kilobytes)| Act::Carve { arena, kilobytes }),
        6 => (0..8_usize).prop_map(Act::Increment),
        2 => (0..2_usize).prop_map(Act::Reset),
        1 => (0..8_usize).prop_map(Act::Forget),
    ]
}

/// Allocates from an arena, works on the memory, and releases it.
fn carve(arena: &Arena, kilobytes: usize) -> Result<()> {
    let mut x = arena.zeros::<f32, 1>([kilobytes * 256])?;
    increment(&mut x)?;
    increment(&mut x)
}

#[test]
fn rows_are_zeros_until_they_are_filled_and_each_is_filled_once() -> Result<()> {
    let rt = runtime(1, 64);
    let mut arena = rt.arena();
    for _ in 0..3 {
        let x = arena.from_rows([3, 2, 2], |row, elements: &mut [f32]| {
            assert_eq!(elements, [0.0; 4]);
            elements[row] = row as f32 + 1.0;
        })?;
        assert_eq!(x.to_vec()?, [1.0, 0.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 0.0, 3.0, 0.0]);
        let scalar = arena.from_rows([], |row, elements: &mut [i64]| elements[0] = 7 + row as i64)?;
        assert_eq!(scalar.to_vec()?, [7]);
        for shape in [[0, 2, 2], [2, 0, 2], [0, usize::MAX, 2]] {
            let none = arena.from_rows(shape, |_, _: &mut [f32]| unreachable!("there is no element"))?;
            assert_eq!(none.len(), 0);
        }
        drop((x, scalar));
        arena.reset(); // the next arrays lie where these did
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// With a limit that is too small for its tasks in flight, any program still makes progress. What the arrays alone
    /// need either fits, or is an error, and it is an error only if the live arrays do not leave enough memory.
    #[test]
    fn any_program_under_a_tiny_limit_ends(acts in prop::collection::vec(act(), 1..60), workers in 1..3_usize) {
        const LIMIT: usize = 2 * MB;
        let rt = runtime(workers, 2);
        let mut arenas = [rt.arena(), rt.arena()];
        let mut alive: Vec<(Vector<'static, f32>, f32)> = Vec::new();
        let mut forgotten = 0;
        for act in acts {
            match act {
                Act::Alone(kilobytes) => {
                    let bytes = kilobytes << 10;
                    let held: usize = alive.iter().map(|(x, _)| 4 * x.len()).sum();
                    let of_arenas: usize = arenas.iter().map(Arena::reserved_bytes).sum();
                    match rt.zeros([bytes / 4]) {
                        Ok(x) => alive.push((x, 0.0)),
                        Err(_) => prop_assert!(held + forgotten + of_arenas + bytes > LIMIT),
                    }
                }
                Act::Carve { arena, kilobytes } => {
                    if let Err(error) = carve(&arenas[arena], kilobytes) {
                        prop_assert_eq!(error.code(), "D0006");
                    }
                }
                Act::Increment(index) if index < alive.len() => {
                    increment(&mut alive[index].0).unwrap();
                    alive[index].1 += 1.0;
                }
                Act::Drop(index) if index < alive.len() => drop(alive.swap_remove(index)),
                Act::Forget(index) if index < alive.len() => {
                    let (x, _) = alive.swap_remove(index);
                    forgotten += 4 * x.len();
                    std::mem::forget(x);
                }
                Act::Reset(arena) => arenas[arena].reset(),
                Act::Drop(_) | Act::Increment(_) | Act::Forget(_) => {}
            }
            prop_assert!(usage(&rt).reserved_bytes <= LIMIT);
        }
        for (x, expected) in &alive {
            prop_assert!(x.read().unwrap().iter().all(|x| x == expected));
        }
        rt.wait().unwrap();
        let held: usize = alive.iter().map(|(x, _)| 4 * x.len()).sum();
        for arena in &mut arenas {
            arena.reset();
        }
        prop_assert_eq!(usage(&rt).current_bytes, held + forgotten);
        drop((alive, arenas));
        prop_assert_eq!(usage(&rt).reserved_bytes, forgotten);
    }
}
