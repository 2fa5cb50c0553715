//! The guarantees of the runtime, for declared codelets: errors at the call, failures that affect only dependent tasks,
//! several runtimes, waiting, dropping and forgetting.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use dahl::observer::{Observer, Submission};
use dahl::prelude::*;
use dahl::{ErrorKind, ReadyTask, Result, Scheduler};

/// `x = x + 1`, or a panic at 13.
#[codelet(RW, cpu_only)]
fn bump(x: &mut [i64]) {
    for x in x {
        assert!(*x != 13, "unlucky");
        *x += 1;
    }
}

/// `out = a + b`.
#[codelet(R, R, W)]
fn plus<T: Real>(a: T, b: T) -> T {
    a + b
}

/// `out = value`.
#[codelet(W, shape(out = [len]))]
fn constant(out: &mut [i64], value: i64, len: usize) {
    let _ = len;
    out.fill(value);
}

static HELD: OnceLock<Array<'static, i64, 1>> = OnceLock::new();
static FOUND: Mutex<Option<String>> = Mutex::new(None);

/// Reads an array without the runtime's knowledge.
#[codelet(W)]
fn peeks(out: &mut [i64]) {
    out.fill(0);
    let error = HELD.get().map(|held| held.read().err().map(|error| error.to_string()));
    *FOUND.lock().unwrap() = error.flatten();
}

fn runtime(workers: usize) -> Runtime {
    Runtime::builder().cpu_workers(workers).build().expect("a runtime")
}

#[test]
fn waiting_inside_a_kernel_is_an_error() -> Result<()> {
    let rt = runtime(1);
    let held = HELD.get_or_init(|| rt.zeros([1]).unwrap());
    assert_eq!(held.len(), 1);
    let mut out = rt.zeros([1])?;
    peeks(&mut out)?;
    rt.wait()?;
    let found = FOUND.lock().unwrap().take().expect("an error");
    assert!(found.contains("D0007") && found.contains("read"), "{found}");
    Ok(())
}

#[test]
fn arrays_of_two_runtimes_do_not_mix() -> Result<()> {
    let (one, two) = (runtime(1), runtime(1));
    let (a, b) = (one.zeros([2])?, two.zeros([2])?);
    let mut out = one.zeros::<f32, 1>([2])?;
    let error = plus(&a, &b, &mut out).unwrap_err();
    assert_eq!(error.code(), "D0004");
    assert!(error.to_string().contains("plus") && error.to_string().contains(file!()));
    plus(&a, &a, &mut out)?;
    assert_eq!(out.to_vec()?, [0.0; 2]);
    Ok(())
}

#[test]
fn there_may_be_more_workers_than_cores_and_several_runtimes() -> Result<()> {
    let runtimes = [runtime(7), runtime(1), runtime(5)];
    let mut arrays =
        runtimes.iter().map(|rt| rt.from_vec([3], vec![100_i64; 3])).collect::<Result<Vec<_>>>()?;
    for _ in 0..2_000 {
        for x in &mut arrays {
            bump(x)?;
        }
    }
    for x in &arrays {
        assert_eq!(x.to_vec()?, [2_100; 3]);
    }
    Ok(())
}

#[test]
fn a_failure_stays_with_what_depends_on_it() -> Result<()> {
    let rt = runtime(2);
    let mut bad = rt.from_vec([1], vec![12_i64])?;
    let mut good = rt.from_vec([1], vec![0_i64])?;
    for _ in 0..5 {
        bump(&mut bad)?; // the second one fails, the others are cancelled
        bump(&mut good)?;
    }
    let error = rt.wait().unwrap_err();
    let ErrorKind::Task(failure) = error.kind() else { panic!("{error}") };
    assert_eq!((failure.codelet, failure.location.file()), ("bump", file!()));
    assert!(failure.message.contains("unlucky"), "{failure}");
    assert_eq!(good.to_vec()?, [5]);
    assert!(bad.read().is_err() && bad.write().is_err());
    rt.wait()?; // it has been seen
    constant(&mut bad, 7, 1)?;
    assert_eq!(bad.to_vec()?, [7]);
    Ok(())
}

#[test]
fn dropping_the_runtime_finishes_its_tasks_and_keeps_its_arrays() -> Result<()> {
    let rt = runtime(2);
    let mut x = rt.zeros([4])?;
    for _ in 0..1_000 {
        bump(&mut x).or_else(|error| if error.code() == "D0005" { Ok(()) } else { Err(error) })?;
    }
    constant(&mut x, 3, 4)?;
    drop(rt);
    assert_eq!(x.to_vec()?, [3; 4]);
    assert_eq!(bump(&mut x).unwrap_err().code(), "D0008");
    Ok(())
}

#[test]
fn forgetting_is_harmless() -> Result<()> {
    let rt = runtime(1);
    let mut x = rt.from_vec([2], vec![20_i64; 2])?;
    for _ in 0..10 {
        // Guards hold nothing but a borrow: there is nothing to forget.
        assert_eq!(x.read()?.len(), x.write()?.len());
        std::mem::forget(Bump::task(&mut x));
        bump(&mut x)?;
    }
    assert_eq!(x.to_vec()?, [30; 2]);
    let arena = rt.arena();
    std::mem::forget(constant_init(&arena, 1, 1000)?);
    std::mem::forget(arena);
    let mut whole = rt.from_vec([4], vec![20_i64; 4])?;
    std::mem::forget(whole.partition(dahl::ndarray::Axis(0), 1)?);
    std::mem::forget(whole.partition_mut(dahl::ndarray::Axis(0), 3)?);
    bump(&mut whole)?;
    assert_eq!(whole.to_vec()?, [21; 4]);
    rt.wait()
}

#[test]
fn a_panic_of_the_submitting_thread_does_not_hang() {
    let result = std::panic::catch_unwind(|| {
        let rt = runtime(1);
        let mut x = rt.from_vec([1], vec![20_i64]).unwrap();
        for _ in 0..100 {
            bump(&mut x).unwrap();
        }
        panic!("on purpose");
    });
    assert!(result.is_err());
}

#[test]
fn unfinished_tasks_are_bounded_and_the_submitter_helps() -> Result<()> {
    let rt = Runtime::builder().cpu_workers(1).tasks_in_flight(3).build()?;
    let mut x = rt.from_vec([1], vec![20_i64])?;
    for _ in 0..10_000 {
        bump(&mut x)?;
    }
    assert_eq!(x.to_vec()?, [10_020]);
    // Task builders that are not submitted hold records; more of them than the bound do not block.
    let y = rt.zeros::<f32, 1>([1])?;
    let mut outputs = (0..10).map(|_| rt.zeros([1])).collect::<Result<Vec<_>>>()?;
    let held: Vec<_> = outputs.iter_mut().map(|out| Plus::task(&y, &y, out)).collect();
    for task in held {
        task.submit()?;
    }
    rt.wait()
}

#[test]
fn a_task_can_be_sent_to_a_worker() -> Result<()> {
    let rt = runtime(3);
    let mut x = rt.from_vec([1], vec![20_i64])?;
    for i in 0..300 {
        Bump::task(&mut x).on(i % 3).priority(1).name("sent").submit()?;
    }
    assert_eq!(x.to_vec()?, [320]);
    assert_eq!(Bump::task(&mut x).on(3).submit().unwrap_err().code(), "D0013");
    Ok(())
}

#[test]
fn settings_that_cannot_be_are_refused_with_the_choices() {
    let text = Runtime::builder().scheduler("heftt").build().unwrap_err().to_string();
    assert!(text.contains("heftt") && text.contains("ws") && text.contains("eager"), "{text}");
    let text = Runtime::builder().cpu_workers(0).build().unwrap_err().to_string();
    assert!(text.contains("cpu_workers") && text.contains("from 1"), "{text}");
}

/// A scheduler that is last in, first out, and counts.
#[derive(Default)]
struct Stack {
    tasks: Mutex<Vec<ReadyTask>>,
    pushed: Arc<AtomicUsize>,
}

impl Scheduler for Stack {
    fn name(&self) -> &'static str {
        "stack"
    }

    fn push(&self, task: ReadyTask, _: Option<usize>) {
        self.pushed.fetch_add(1, Ordering::Relaxed);
        self.tasks.lock().unwrap().push(task);
    }

    fn pop(&self, _: Option<usize>) -> Option<ReadyTask> {
        self.tasks.lock().unwrap().pop()
    }
}

#[test]
fn a_scheduler_can_be_the_users() -> Result<()> {
    let stack = Stack::default();
    let pushed = Arc::clone(&stack.pushed);
    let rt = Runtime::builder().cpu_workers(2).custom_scheduler(stack).build()?;
    let mut arrays = (0..10).map(|_| rt.from_vec([1], vec![20_i64])).collect::<Result<Vec<_>>>()?;
    for x in &mut arrays {
        bump(x)?;
        bump(x)?;
    }
    for x in &arrays {
        assert_eq!(x.to_vec()?, [22]);
    }
    assert_eq!(pushed.load(Ordering::Relaxed), 20);
    Ok(())
}

#[derive(Default)]
struct Log(Mutex<Vec<String>>);

impl Observer for Log {
    fn submitted(&self, task: &Submission<'_>) {
        let accesses: Vec<_> = task.accesses().map(|a| format!("{:?} {:?}", a.mode(), a.extents())).collect();
        let arguments = task.arguments().len();
        self.0.lock().unwrap().push(format!("{task:?} {} +{arguments}", accesses.join(" ")));
    }
}

#[test]
fn an_observer_sees_tasks_as_data() -> Result<()> {
    let log = Arc::new(Log::default());
    let rt = Runtime::builder().cpu_workers(1).observer(Arc::clone(&log) as Arc<dyn Observer>).build()?;
    let arena = rt.arena();
    let x = constant_init(&arena, 5, 2)?;
    let y = arena.filled([2, 3], 1.0_f32)?;
    let mut z = plus_init(&arena, &y, &y)?;
    plus_self(&mut z, &y)?;
    assert_eq!(x.to_vec()?, [5, 5]);
    assert_eq!(z.to_vec()?, [3.0; 6]);
    let expected = [
        "constant#0[W #1 [2]] W [2] +16",
        "plus#1[R #2 [2, 3], R #2 [2, 3], W #3 [2, 3]] R [2, 3] R [2, 3] W [2, 3] +0",
        "plus#2[RW #3 [2, 3], R #2 [2, 3]] RW [2, 3] R [2, 3] +0",
    ];
    assert_eq!(*log.0.lock().unwrap(), expected);
    Ok(())
}

#[test]
fn several_threads_read_and_submit_at_once() -> Result<()> {
    let rt = runtime(2);
    let mut shared = rt.zeros::<f64, 1>([100])?;
    let one = rt.from_vec([100], vec![1.0; 100])?;
    for round in 0..50 {
        plus_self(&mut shared, &one)?;
        let shared = &shared;
        std::thread::scope(|scope| {
            let submitters: Vec<_> = (0..4)
                .map(|_| {
                    let one = &one;
                    let rt = &rt;
                    scope.spawn(move || -> Result<()> {
                        let mut own = rt.zeros([100])?;
                        plus(shared, one, &mut own)?;
                        assert_eq!(own.to_vec()?, [round as f64 + 2.0; 100]);
                        assert_eq!(shared.read()?[0], round as f64 + 1.0);
                        Ok(())
                    })
                })
                .collect();
            submitters.into_iter().try_for_each(|thread| thread.join().expect("no panic"))
        })?;
    }
    Ok(())
}

/// `out = a - b`, where an extent of 1 stretches.
#[codelet(R, R, W, broadcast)]
fn minus<T: Real>(a: T, b: T) -> T {
    a - b
}

#[test]
fn wrong_shapes_are_reported_at_the_callers_line_in_every_variant() -> Result<()> {
    let rt = runtime(1);
    let arena = rt.arena();
    let (a, b) = (arena.filled([2, 3], 1.0_f32)?, arena.filled([2, 2], 1.0_f32)?);
    let mut out = arena.zeros([2, 3])?;
    let errors = [
        plus(&a, &b, &mut out).unwrap_err(),
        plus_self(&mut out, &b).unwrap_err(),
        plus_init(&arena, &a, &b).unwrap_err(),
        minus(&a, &b, &mut out).unwrap_err(),
        minus_self(&mut out, &b).unwrap_err(),
        minus_init(&arena, &a, &b).unwrap_err(),
    ];
    for error in errors {
        let text = error.to_string();
        assert!(text.contains("[2, 3]") && text.contains("[2, 2]") && text.contains(file!()), "{text}");
    }
    let text = rt.zeros::<f64, 2>([usize::MAX, 2]).unwrap_err().to_string();
    assert!(text.contains("D0009") && text.contains(file!()), "{text}");
    let text = arena.zeros::<u8, 1>([1 << 60]).unwrap_err().to_string();
    assert!(text.contains("D0006") && text.contains(file!()), "{text}");
    let text = Runtime::builder().scheduler("none").build().unwrap_err().to_string();
    assert!(text.contains(file!()), "{text}");
    Ok(())
}

/// The tasks of [`failures_that_nobody_saw_are_printed_up_to_a_bound_and_counted_beyond`], in a process of its own.
const FAILING_TASKS: usize = 1_000;

/// Not a test of its own: fails many tasks and drops the runtime, if another test starts it.
#[test]
fn fails_many_tasks() -> Result<()> {
    if std::env::var_os("DAHL_TEST_FAILS_MANY_TASKS").is_none() {
        return Ok(());
    }
    let rt = runtime(2);
    for _ in 0..FAILING_TASKS {
        bump(&mut rt.from_vec([1], vec![13])?)?;
    }
    drop(rt);
    Ok(())
}

#[test]
fn failures_that_nobody_saw_are_printed_up_to_a_bound_and_counted_beyond() {
    let output = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "runtime::fails_many_tasks", "--nocapture"])
        .env("DAHL_TEST_FAILS_MANY_TASKS", "1")
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(text.lines().filter(|line| line.starts_with("dahl: D0005: bump:")).count(), 64, "{text}");
    let rest = text.lines().find(|line| line.contains("more failed tasks")).expect("the rest is counted");
    assert!(rest.starts_with(&format!("dahl: and {} more", FAILING_TASKS - 64)), "{rest}");
    assert!(rest.contains("first bump") && rest.contains(file!()), "{rest}");
}

#[test]
fn what_is_learned_of_shapes_that_vary_is_bounded() -> Result<()> {
    const SHAPES: usize = 20_000;
    const MOST_ROWS: usize = 8192;
    let rt = runtime(2);
    let arena = rt.arena();
    let often = arena.filled([7, 1], 1.0_f32)?;
    let mut learned = 0;
    for extent in 1..=SHAPES {
        let x = rt.from_vec([extent, 0], Vec::<f32>::new())?;
        plus_init(&arena, &x, &x)?;
        plus_init(&arena, &often, &often)?;
        if extent % 1000 == 0 {
            learned = learned.max(rt.memory()[0].learned_bytes);
        }
    }
    rt.wait()?;
    let histories = rt.performance_models();
    assert!(histories.len() <= MOST_ROWS, "{} rows", histories.len());
    // A row takes less than 2 kB in the models, and as much in the call logs.
    assert!((1..MOST_ROWS * 4096).contains(&learned), "{learned} bytes");
    // What is used all the time stays, and all tasks count.
    let often = histories.iter().find(|history| history.footprint[0] == [7, 1]).expect("a row that is used");
    assert_eq!(often.count, SHAPES as u64);
    let statistics = rt.statistics();
    let plus = statistics.codelets.iter().find(|codelet| codelet.codelet == "plus").expect("it ran");
    assert_eq!(plus.count, 2 * SHAPES as u64);
    Ok(())
}

#[test]
fn memory_that_could_not_be_had_is_no_peak() -> Result<()> {
    let rt = runtime(1);
    let arena = rt.arena();
    let before = rt.memory()[0].peak_bytes;
    arena.zeros::<u8, 1>([1 << 50]).map(drop).expect_err("no machine has a petabyte");
    assert_eq!(rt.memory()[0].peak_bytes, before);
    let x: Vector<u8> = rt.zeros([1 << 20])?;
    assert!((1 << 20..1 << 50).contains(&rt.memory()[0].peak_bytes));
    drop(x);
    Ok(())
}

#[test]
fn what_kernels_take_for_themselves_counts_is_limited_and_is_given_back() -> Result<()> {
    const MIB: usize = 1 << 20;
    let rt = Runtime::builder().cpu_workers(1).memory_limit_mb(48).build()?;
    // The sums of a mean, in single precision: 32 MiB, beside 32 MiB of arrays.
    let wide = rt.zeros::<dahl::f16, 2>([1, 8 * MIB])?;
    let mut means = rt.zeros([1, 8 * MIB])?;
    dahl::ops::mean_axis(&wide, &mut means, 0)?;
    let text = means.read().map(drop).expect_err("there is no room for the sums").to_string();
    assert!(text.contains("D0005") && text.contains("out of memory: 33554432 bytes"), "{text}");
    drop((wide, means));
    assert!(rt.memory()[0].reserved_bytes < MIB, "{:?}", rt.memory()[0]);

    // Without a limit a thread keeps some megabytes.
    let rt = runtime(1);
    let narrow = rt.zeros::<dahl::f16, 2>([1, MIB])?;
    let mut means = rt.zeros([1, MIB])?;
    dahl::ops::mean_axis(&narrow, &mut means, 0)?;
    rt.wait()?;
    let memory = &rt.memory()[0];
    let scratch = memory.holders.iter().find(|holder| holder.what == "scratch").expect("it counts");
    // The sums, and those of groups of rows.
    assert!(
        (4 * MIB..=16 * MIB).contains(&scratch.bytes) && scratch.location.file() == file!(),
        "{scratch:?}"
    );
    assert_eq!(memory.current_bytes, 4 * MIB, "it is of no array");
    Ok(())
}
