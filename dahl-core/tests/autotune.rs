//! The choice of kernels: which ones run, how often, the content of the table, and tables in files.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use dahl_core::__private::{Kernel, Parameter, Views};
use dahl_core::rayon::prelude::*;
use dahl_core::{
    AccessMode, Array, Codelet, ElementType, Result, Ruling, Runtime, RuntimeBuilder, Task, TeamPolicy,
    VirtualDevice,
};

const F32: ElementType = ElementType::of::<f32>();
const WRITE: &[Parameter] = &[Parameter::new("x", AccessMode::RW, F32)];
/// The number of runs of a candidate that are measured: its first call, and five more.
const RUNS: usize = 6;

/// Keeps this core busy, so that one kernel is much slower than another.
fn slow() {
    let begin = Instant::now();
    while begin.elapsed() < Duration::from_millis(2) {
        std::hint::spin_loop();
    }
}

fn is_large(views: &mut Views<'_>) -> bool {
    views.slice_mut::<f32>().len() > 1
}

/// A codelet whose kernels count their calls: `first` is slow, `fast` and `also` are not, and `fast` promises the bits
/// of `first`.
macro_rules! counted {
    ($name:ident, $calls:ident) => {
        static $calls: [AtomicUsize; 3] = [const { AtomicUsize::new(0) }; 3];
        static $name: Codelet =
            Codelet::new(stringify!($name), module_path!(), 1).parameters(WRITE).kernels(&[
                Some(Kernel::new("first", |_| {
                    $calls[0].fetch_add(1, Ordering::SeqCst);
                    slow();
                })),
                Some(
                    Kernel::new("fast", |_| {
                        $calls[1].fetch_add(1, Ordering::SeqCst);
                    })
                    .equal(),
                ),
                Some(Kernel::new("also", |_| {
                    $calls[2].fetch_add(1, Ordering::SeqCst);
                })),
            ]);
    };
}

fn counts(calls: &[AtomicUsize; 3]) -> [usize; 3] {
    [0, 1, 2].map(|kernel| calls[kernel].load(Ordering::SeqCst))
}

fn change<const N: usize>(codelet: &'static Codelet, x: &mut Array<'_, f32, N>) -> Result<()> {
    let mut task = Task::new(codelet);
    task.write(x);
    task.submit()
}

fn change_by(codelet: &'static Codelet, x: &mut Array<'_, f32, 1>, kernel: &str) -> Result<()> {
    let mut task = Task::new(codelet);
    task.write(x);
    task.kernel(kernel).submit()
}

fn runtime() -> RuntimeBuilder {
    Runtime::builder().cpu_workers(2)
}

/// A file for this process.
fn file(name: &str, text: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("dahl-{}-{name}.toml", std::process::id()));
    std::fs::write(&path, text).expect("the folder for temporary files can be written");
    path
}

#[test]
fn by_default_what_could_change_bits_is_not_chosen() -> Result<()> {
    counted!(DEFAULT, CALLS);
    let rt = runtime().kernels("equal").build()?;
    let mut x = rt.zeros([1])?;
    for _ in 0..40 {
        change(&DEFAULT, &mut x)?;
    }
    rt.wait()?;
    // The first one is much slower: its first call and one measurement.
    assert_eq!(counts(&CALLS), [2, 38, 0]);
    let choices = rt.kernel_choices();
    let [row] = &choices.rows[..] else { panic!("{choices}") };
    assert_eq!((row.codelet, row.kernel, &row.ruling), ("DEFAULT", Some("fast"), &Ruling::Measured));
    assert_eq!(row.trials.iter().map(|trial| trial.calls_us.len()).collect::<Vec<_>>(), [1, RUNS - 1]);
    assert!(row.trials[0].is_out && !row.trials[1].is_out);
    let text = choices.to_string();
    assert!(text.contains("DEFAULT (f32) [[1]] on cpu: fast") && text.contains("out"), "{text}");
    Ok(())
}

#[test]
fn the_policies_say_which_kernels_are_candidates() -> Result<()> {
    counted!(FIRST, FIRST_CALLS);
    let rt = runtime().kernels("first").build()?;
    let mut x = rt.zeros([1])?;
    (0..20).try_for_each(|_| change(&FIRST, &mut x))?;
    rt.wait()?;
    assert_eq!(counts(&FIRST_CALLS), [20, 0, 0]);

    counted!(MEASURED, CALLS);
    let rt = runtime().kernels("measured").build()?;
    let mut x = rt.zeros([1])?;
    (0..100).try_for_each(|_| change(&MEASURED, &mut x))?;
    rt.wait()?;
    let [first, fast, also] = counts(&CALLS);
    assert_eq!((first, fast + also), (2, 98));
    assert!(
        fast >= 2 && also >= 2 && fast.min(also) <= RUNS,
        "{fast}, {also}: one of them is chosen for good"
    );
    let chosen = rt.kernel_choices().rows[0].kernel.expect("decided");
    assert_eq!(chosen, if fast > also { "fast" } else { "also" });
    Ok(())
}

#[test]
fn exploration_ends_for_many_workers_and_tasks_in_flight() -> Result<()> {
    counted!(MANY, CALLS);
    let rt = Runtime::builder().cpu_workers(4).kernels("measured").build()?;
    let mut xs = (0..50).map(|_| rt.zeros([1])).collect::<Result<Vec<_>>>()?;
    for _ in 0..10 {
        xs.iter_mut().try_for_each(|x| change(&MANY, x))?;
    }
    rt.wait()?;
    let [first, fast, also] = counts(&CALLS);
    assert_eq!(first + fast + also, 500);
    assert!(first <= RUNS, "{first} calls of the slow one");
    Ok(())
}

#[test]
fn the_choice_is_by_footprint() -> Result<()> {
    static BY_SIZE: Codelet = Codelet::new("by_size", module_path!(), 1).parameters(WRITE).kernels(&[
        Some(Kernel::new("for_small", |views| {
            if is_large(views) {
                slow()
            }
        })),
        Some(
            Kernel::new("for_large", |views| {
                if !is_large(views) {
                    slow()
                }
            })
            .equal(),
        ),
    ]);
    let rt = runtime().build()?;
    let (mut small, mut large) = (rt.zeros([1])?, rt.zeros([2])?);
    for _ in 0..20 {
        change(&BY_SIZE, &mut small)?;
        change(&BY_SIZE, &mut large)?;
    }
    rt.wait()?;
    let choices = rt.kernel_choices();
    let chosen =
        |len: usize| choices.rows.iter().find(|row| row.footprint == [[len]]).and_then(|row| row.kernel);
    assert_eq!((chosen(1), chosen(2)), (Some("for_small"), Some("for_large")), "{choices}");
    Ok(())
}

#[test]
fn the_submitters_word_counts() -> Result<()> {
    counted!(NAMED, CALLS);
    let pinned = file("named", "version = 1\n[[kernel]]\ncodelet = \"NAMED\"\nkernel = \"fast\"\n");
    for policy in ["first", "equal", "measured", pinned.to_str().expect("UTF-8")] {
        let before = counts(&CALLS);
        let rt = runtime().kernels(policy).build()?;
        let mut x = rt.zeros([1])?;
        (0..9).try_for_each(|_| change_by(&NAMED, &mut x, "also"))?;
        rt.wait()?;
        assert_eq!(counts(&CALLS), [before[0], before[1], before[2] + 9], "{policy}");
    }
    Ok(())
}

#[test]
fn a_table_is_saved_and_pinned() -> Result<()> {
    counted!(PINNED, CALLS);
    let rt = runtime().kernels("measured").build()?;
    let (mut x, mut pair) = (rt.zeros([1])?, rt.zeros([2])?);
    (0..40).try_for_each(|_| change(&PINNED, &mut x))?;
    rt.wait()?;
    let chosen = rt.kernel_choices().rows[0].kernel.expect("decided");
    let path = file("saved", "");
    rt.kernel_choices().save(&path).expect("the file can be written");
    change(&PINNED, &mut pair)?; // not in the table: its first kernel, in the next run
    drop(rt);

    let before = counts(&CALLS);
    let rt = runtime().kernels(path.to_str().expect("UTF-8")).build()?;
    let (mut x, mut pair) = (rt.zeros([1])?, rt.zeros([2])?);
    (0..40).try_for_each(|_| change(&PINNED, &mut x))?;
    change(&PINNED, &mut pair)?;
    rt.wait()?;
    let ran = [0, 1, 2].map(|kernel| counts(&CALLS)[kernel] - before[kernel]);
    assert_eq!(ran, if chosen == "fast" { [1, 40, 0] } else { [1, 0, 40] });
    let choices = rt.kernel_choices();
    let place = format!("{}:", path.display());
    let row = choices.rows.iter().find(|row| row.footprint == [[1]]).expect("it has run");
    assert!(matches!(&row.ruling, Ruling::Pinned(at) if at.starts_with(&place)), "{choices}");
    assert_eq!(choices.warnings, [""; 0]);
    Ok(())
}

#[test]
fn a_kernel_that_there_is_not_is_a_warning_and_the_run_goes_on() -> Result<()> {
    counted!(UNKNOWN, CALLS);
    let text = "version = 1\notherwise = \"first\"\n\n[[kernel]]\ncodelet = \"autotune::UNKNOWN\"\nkernel = \"quick\"\n";
    let path = file("unknown", text);
    let rt = runtime().kernels(path.to_str().expect("UTF-8")).build()?;
    let mut x = rt.zeros([1])?;
    (0..3).try_for_each(|_| change(&UNKNOWN, &mut x))?;
    rt.wait()?;
    assert_eq!(counts(&CALLS), [3, 0, 0]);
    let place = format!("{}:6: ", path.display());
    let expected = "UNKNOWN has no kernel `quick`; it has: first, fast, also. The row is left aside";
    assert_eq!(rt.kernel_choices().warnings, [place + expected]);
    Ok(())
}

#[test]
fn wrong_files_and_policies_are_errors_that_name_the_place() {
    let error = |setting: &str| runtime().kernels(setting).build().expect_err(setting).to_string();
    let text = error("fastest");
    assert!(text.contains("`fastest`") && text.contains("equal, first, measured"), "{text}");
    let text = error("/no/such/table.toml");
    assert!(text.contains("/no/such/table.toml") && text.contains("No such file"), "{text}");
    for (name, table, facts) in [
        ("torn", "version = 1\n[[kernel]]\ncodelet = \"a\"\nkernel = \"b", ["line 4", "string"]),
        ("without", "otherwise = \"first\"\n", ["missing field", "version"]),
        ("version", "\nversion = 9\n", ["line 2", "version 9"]),
        (
            "field",
            "version = 1\n[[kernel]]\ncodelet = \"a\"\nkernel = \"b\"\nshape = []\n",
            ["line 5", "shape"],
        ),
        ("policy", "version = 1\notherwise = \"best\"\n", ["line 2", "equal, first, measured"]),
        ("type", "version = 1\n[[kernel]]\ncodelet = \"a\"\nkernel = 5\n", ["line 4", "string"]),
    ] {
        let path = file(name, table);
        let text = error(path.to_str().expect("UTF-8"));
        assert!(text.contains(&path.display().to_string()), "{text}");
        facts.iter().for_each(|fact| assert!(text.contains(fact), "{name}: no `{fact}` in: {text}"));
    }
}

#[test]
fn a_kernel_that_fails_does_not_stop_the_exploration() -> Result<()> {
    static FAILS: Codelet = Codelet::new("fails", module_path!(), 1).parameters(WRITE).kernels(&[
        Some(Kernel::new("first", |views| views.slice_mut::<f32>()[0] += 1.0)),
        Some(Kernel::new("fails", |_| panic!("always")).equal()),
    ]);
    let rt = runtime().build()?;
    let mut failures = 0;
    for _ in 0..100 {
        let mut x = rt.zeros([1])?;
        change(&FAILS, &mut x)?;
        failures += usize::from(x.to_vec().is_err());
    }
    assert_eq!(failures, RUNS);
    assert_eq!(rt.kernel_choices().rows[0].kernel, Some("first"));
    Ok(())
}

#[test]
fn in_virtual_time_equals_are_the_first_declared() -> Result<()> {
    counted!(VIRTUAL, CALLS);
    let run = || {
        let rt = runtime().kernels("measured").virtual_device(VirtualDevice::new("gpu")).build()?;
        let before = counts(&CALLS);
        let mut x = rt.zeros::<f32, 1>([1])?;
        for _ in 0..60 {
            let mut task = Task::new(&VIRTUAL);
            task.write(&mut x);
            task.on(0).submit()?;
        }
        rt.wait()?;
        assert_eq!(rt.kernel_choices().rows[0].kernel, Some("first"));
        Ok([0, 1, 2].map(|kernel| counts(&CALLS)[kernel] - before[kernel]))
    };
    let ran: Result<[usize; 3]> = run();
    assert_eq!(ran?, [60 - 2 * RUNS, RUNS, RUNS]);
    Ok(())
}

/// Runs tasks of a parallel codelet one at a time, so that the other worker is idle, until its choice is made.
fn run_until_decided(rt: &Runtime, codelet: &'static Codelet, len: usize) -> Result<Option<bool>> {
    let mut x = rt.zeros([len])?;
    for _ in 0..100_000 {
        change(codelet, &mut x)?;
        rt.wait()?;
        let choices = rt.kernel_choices();
        if let Some(team) = choices.rows.iter().find(|row| row.footprint == [[len]]).and_then(|row| row.team)
        {
            return Ok(Some(team));
        }
    }
    Ok(None)
}

#[test]
fn a_team_is_chosen_where_it_is_faster() -> Result<()> {
    /// Two jobs that each take long, of a small array; many that take nothing, of a large one.
    static TEAMED: Codelet = Codelet::new("teamed", module_path!(), 1).parameters(WRITE).kernels(&[Some(
        Kernel::new("rust", |_| ()).parallel_entry(|views| {
            if is_large(views) {
                slow();
            }
        }),
    )]);
    static SHARED: Codelet = Codelet::new("shared", module_path!(), 1).parameters(WRITE).kernels(&[Some(
        Kernel::new("rust", |_| (0..4).for_each(|_| slow()))
            .parallel_entry(|_| (0..4).into_par_iter().for_each(|_| ())),
    )]);
    let rt = runtime().build()?;
    assert_eq!(
        run_until_decided(&rt, &TEAMED, 2)?,
        Some(false),
        "the parallel entry is slower: {}",
        rt.kernel_choices()
    );
    assert_eq!(run_until_decided(&rt, &SHARED, 1)?, Some(true), "it is faster: {}", rt.kernel_choices());
    let calls = |codelet: &str| {
        let choices = rt.kernel_choices();
        let row = choices.rows.into_iter().find(|row| row.codelet == codelet).expect("a row");
        let trials = row.trials.iter().filter(|trial| !trial.late);
        trials.map(|trial| (trial.team, trial.calls_us.len())).collect::<Vec<_>>()
    };
    assert_eq!(calls("teamed"), [(false, 5), (true, 1)]);
    assert_eq!(calls("shared"), [(false, 5), (true, 5)]);
    Ok(())
}

#[test]
fn a_worker_that_becomes_idle_helps_a_kernel_that_has_begun() -> Result<()> {
    static OTHER_IS_BUSY: AtomicBool = AtomicBool::new(false);
    static HAS_BEGUN: AtomicBool = AtomicBool::new(false);
    static KEEP: Codelet = Codelet::new("keep", module_path!(), 1).parameters(WRITE).kernels(&[Some(
        Kernel::new("rust", |_| {
            OTHER_IS_BUSY.store(true, Ordering::SeqCst);
            while !HAS_BEGUN.load(Ordering::SeqCst) {
                thread::yield_now();
            }
        }),
    )]);
    static MET: AtomicUsize = AtomicUsize::new(0);
    /// Two jobs that wait for each other: a single thread would never end.
    static MEET: Codelet = Codelet::new("meet", module_path!(), 1).parameters(WRITE).kernels(&[Some(
        Kernel::new("rust", |_| ()).parallel_entry(|_| {
            HAS_BEGUN.store(true, Ordering::SeqCst);
            let meet = || {
                MET.fetch_add(1, Ordering::SeqCst);
                while MET.load(Ordering::SeqCst) < 2 {
                    thread::yield_now();
                }
            };
            dahl_core::rayon::join(meet, meet);
        }),
    )]);
    let rt = runtime().build()?;
    let (mut kept, mut x) = (rt.zeros([1])?, rt.zeros([1])?);
    change(&KEEP, &mut kept)?;
    while !OTHER_IS_BUSY.load(Ordering::SeqCst) {
        thread::yield_now();
    }
    // Alone, and then with whoever becomes idle.
    (0..2).try_for_each(|_| change(&MEET, &mut x))?;
    rt.wait()?;
    let choices = rt.kernel_choices();
    let row = choices.rows.iter().find(|row| row.codelet == "meet").expect("a row");
    let has_run = row.trials.iter().map(|trial| (trial.team, trial.late, trial.first_us.is_some()));
    let expected = [(false, false, true), (true, false, false), (true, true, true)];
    assert_eq!(has_run.collect::<Vec<_>>(), expected, "{choices}");
    Ok(())
}

#[test]
fn the_policy_of_teams_is_the_users() -> Result<()> {
    static TEAMS: AtomicUsize = AtomicUsize::new(0);
    static COUNTED: Codelet = Codelet::new("counted", module_path!(), 1).parameters(WRITE).kernels(&[Some(
        Kernel::new("rust", |_| ()).parallel_entry(|_| {
            TEAMS.fetch_add(1, Ordering::SeqCst);
        }),
    )]);
    for (teams, expected) in [(TeamPolicy::Always, 30), (TeamPolicy::Never, 0)] {
        TEAMS.store(0, Ordering::SeqCst);
        let rt = runtime().teams(teams).build()?;
        let mut x = rt.zeros([1])?;
        (0..30).try_for_each(|_| change(&COUNTED, &mut x))?;
        rt.wait()?;
        assert_eq!(TEAMS.load(Ordering::SeqCst), expected);
    }
    Ok(())
}

#[test]
fn an_explanation_sorts_calls_by_what_was_so() -> Result<()> {
    static STEP: Codelet = Codelet::new("step", module_path!(), 1)
        .parameters(WRITE)
        .kernels(&[Some(Kernel::new("rust", |views| views.slice_mut::<f32>()[0] += 1.0))]);
    let rt = runtime().build()?;
    let mut xs = [rt.zeros::<f32, 1>([1])?, rt.zeros([1])?];
    for step in 0..100 {
        let mut task = Task::new(&STEP);
        task.write(&mut xs[step % 2]);
        task.on(step % 2).submit()?;
    }
    rt.wait()?;
    let explanation = rt.explain("step");
    let [kernel] = &explanation.kernels[..] else { panic!("{explanation}") };
    assert_eq!((kernel.kernel, kernel.count, kernel.footprint.as_slice()), ("rust", 100, &[vec![1]][..]));
    let mut workers: Vec<_> = kernel.by_worker.iter().map(|under| under.circumstance.as_str()).collect();
    workers.sort();
    assert_eq!(workers, ["cpu 0", "cpu 1"]);
    assert!(kernel.by_worker.iter().all(|under| under.spread.count == 49), "50 calls, the first one apart");
    assert_eq!(kernel.first_calls_us.len(), 2);
    assert_eq!(kernel.by_load.iter().map(|under| under.spread.count).sum::<usize>(), 98);
    assert_eq!(kernel.by_transfer.len(), 1, "nothing is copied on one memory node");
    let text = explanation.to_string();
    assert!(text.contains("first call") && text.contains("largest factor: "), "{text}");

    let unknown = rt.explain("stride").to_string();
    assert!(unknown.contains("stride: no task has run") && unknown.contains("::step"), "{unknown}");
    Ok(())
}

#[test]
fn an_explanation_tells_calls_whose_data_were_copied() -> Result<()> {
    static STEP: Codelet = Codelet::new("step", module_path!(), 1)
        .parameters(WRITE)
        .kernels(&[Some(Kernel::new("rust", |views| views.slice_mut::<f32>()[0] += 1.0))]);
    let rt = Runtime::builder().cpu_workers(1).virtual_device(VirtualDevice::new("gpu")).build()?;
    let mut x = rt.zeros::<f32, 1>([1])?;
    // Twice there, once here: on each side one of the calls finds its data in memory.
    for worker in [0, 1, 1, 1, 0, 0, 1, 1, 0] {
        let mut task = Task::new(&STEP);
        task.write(&mut x);
        task.on(worker).submit()?;
    }
    rt.wait()?;
    let explanation = rt.explain("step");
    let of = |kind: &str| {
        let kernel = explanation.kernels.iter().find(|kernel| kernel.worker_kind == kind).expect(kind);
        assert!(kernel.by_load.is_empty(), "the load of a simulated machine is not known");
        let counts = kernel.by_transfer.iter().map(|under| (under.circumstance.as_str(), under.spread.count));
        counts.collect::<Vec<_>>()
    };
    assert_eq!(of("gpu"), [("data there", 3), ("data copied", 1)]);
    assert_eq!(of("cpu"), [("data there", 1), ("data copied", 2)]);
    Ok(())
}
