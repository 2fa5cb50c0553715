//! Branches and loops one by one: rounds, conditions, failures, refusals, and how they are shown.

use std::panic::Location;

use dahl_core::__program::Bindings;
use dahl_core::{Codelet, ControlFlow, Element, Recording, Result, Runtime, Scalar, bf16, f16};
use dahl_program::{Arguments, Body, Change, Passes, Program};

use crate::numbers::{COUNT_DOWN, FAIL_AT_3, Number, add, change, set};

static BODY: Body =
    Body { codelet: Codelet::new("loops", module_path!(), 1), parameters: &["x", "out"], draws: false };

/// A condition and a result.
struct Both<'a, T: Element>(&'a mut Scalar<'static, T>, &'a mut Number<'static>);

impl<T: Element> Arguments for Both<'_, T> {
    fn bind<'b>(&'b mut self, bindings: &mut Bindings<'b>) {
        bindings.write(self.0);
        bindings.write(self.1);
    }

    fn name(&self, parameters: &[&str], names: &mut Vec<String>) {
        names.extend(parameters.iter().map(|&name| name.to_owned()));
    }
}

fn runtime() -> Result<Runtime> {
    Runtime::builder().cpu_workers(2).cuda_devices(0).build()
}

#[track_caller]
fn call<T: Element>(
    program: &mut Program,
    x: &mut Scalar<'static, T>,
    out: &mut Number<'static>,
    body: impl Fn(&Recording<'_>, &mut Scalar<'static, T>, &mut Number<'static>) -> Result<()>,
) -> Result<()> {
    let location = Location::caller();
    program.call::<_, ()>(&mut Both(x, out), location, |Both(x, out), scope, _| body(scope, x, out))
}

/// `out` is the sum of `x`, `x - 1`, .., 1, and `x` becomes 0.
fn triangle(scope: &impl ControlFlow, x: &mut Number<'static>, out: &mut Number<'static>) -> Result<()> {
    set(out, 0)?;
    scope.repeat_while(x, |_, x| {
        add(x, out)?;
        change(&COUNT_DOWN, x)
    })
}

#[test]
fn the_rounds_are_those_of_the_condition_in_each_call() -> Result<()> {
    let rt = runtime()?;
    let mut program = Program::new(&rt, &BODY);
    let (mut x, mut out): (Number<'_>, Number<'_>) = (rt.zeros([])?, rt.zeros([])?);
    for rounds in [0, 1, 2, 100_000, 5] {
        x.write()?[()] = rounds;
        call(&mut program, &mut x, &mut out, |scope, x, out| triangle(scope, x, out))?;
        assert_eq!((x.to_vec()?, out.to_vec()?), (vec![0], vec![rounds * (rounds + 1) / 2]));
        x.write()?[()] = rounds.min(100);
        triangle(&rt.arena(), &mut x, &mut out)?;
        assert_eq!(x.to_vec()?, [0]);
    }
    assert_eq!((program.recordings(), program.replays()), (1, 4));
    Ok(())
}

#[test]
fn rounds_without_tasks_of_workers_do_not_nest() -> Result<()> {
    let rt = runtime()?;
    let mut program = Program::new(&rt, &BODY);
    program.set_passes(Passes::none());
    let (mut x, mut out): (Number<'_>, Number<'_>) = (rt.zeros([])?, rt.zeros([])?);
    // Branches in a row, each of which waits for the one before and ends where it begins; then a loop around such ones.
    let body = |scope: &Recording<'_>, x: &mut Number<'static>, out: &mut Number<'static>| {
        for _ in 0..5_000 {
            scope.branch(&*x, |_, holds| if holds { out.invalidate() } else { Ok(()) })?;
        }
        scope.repeat_while(x, |scope, x| {
            scope.branch(&*x, |_, _| out.invalidate())?;
            change(&COUNT_DOWN, x)
        })
    };
    for rounds in [20_000, 0, 1] {
        x.write()?[()] = rounds;
        out.write()?[()] = 7;
        call(&mut program, &mut x, &mut out, body)?;
        let expected = if rounds > 0 { 0 } else { 7 };
        assert_eq!((x.to_vec()?, out.to_vec()?), (vec![0], vec![expected]));
    }
    Ok(())
}

/// Whether each value is true as a condition.
fn check_condition<T: Element>(values: &[(T, bool)]) -> Result<()> {
    let rt = runtime()?;
    let mut program = Program::new(&rt, &BODY);
    let (mut x, mut out) = (rt.zeros::<T, 0>([])?, rt.zeros([])?);
    for &(value, holds) in values {
        x.write()?[()] = value;
        call(&mut program, &mut x, &mut out, |scope, x, out| {
            scope.branch(&*x, |_, holds| set(out, if holds { 1 } else { 2 }))
        })?;
        let mut seen = None;
        rt.arena().branch(&x, |_, holds| {
            seen = Some(holds);
            Ok(())
        })?;
        assert_eq!((out.to_vec()?[0] == 1, seen), (holds, Some(holds)), "{value}");
    }
    Ok(())
}

#[test]
fn what_is_not_zero_is_true() -> Result<()> {
    check_condition(&[(0_u8, false), (255, true)])?;
    check_condition(&[(0_u32, false), (1 << 31, true)])?;
    check_condition(&[(0_i32, false), (-1, true)])?;
    check_condition(&[(0_i64, false), (1 << 40, true)])?;
    check_condition(&[(0.0_f32, false), (-0.0, false), (f32::NAN, true), (f32::MIN_POSITIVE / 2.0, true)])?;
    check_condition(&[(0.0_f64, false), (-0.0, false), (1e-310, true), (f64::NEG_INFINITY, true)])?;
    check_condition(&[(f16::ZERO, false), (-f16::ZERO, false), (f16::ONE, true)])?;
    check_condition(&[(bf16::ZERO, false), (-bf16::ZERO, false), (bf16::NAN, true)])
}

#[test]
fn a_condition_that_fails_ends_the_loop_and_poisons_what_it_would_write() -> Result<()> {
    let rt = runtime()?;
    let mut program = Program::new(&rt, &BODY);
    let (mut x, mut out): (Number<'_>, Number<'_>) = (rt.zeros([])?, rt.zeros([])?);
    let body = |scope: &Recording<'_>, x: &mut Number<'static>, out: &mut Number<'static>| {
        set(out, 0)?;
        scope.repeat_while(x, |_, x| {
            add(x, out)?;
            change(&FAIL_AT_3, x)
        })
    };
    x.write()?[()] = 5;
    call(&mut program, &mut x, &mut out, body)?;
    assert!(rt.wait().is_err());
    let errors = [x.to_vec(), out.to_vec()].map(|result| result.expect_err("it has failed").to_string());
    errors.iter().for_each(|error| assert!(error.contains("fail_at_3"), "{error}"));

    // A condition that failed before the branch, in another call: no body runs.
    let mut branches = Program::new(&rt, &BODY);
    let branch = |scope: &Recording<'_>, x: &mut Number<'static>, out: &mut Number<'static>| {
        scope.branch(&*x, |_, holds| set(out, i64::from(holds)))
    };
    out = rt.from_vec([], vec![9])?;
    call(&mut branches, &mut x, &mut out, branch)?;
    let error = out.to_vec().expect_err("nobody knows what to write").to_string();
    assert!(error.contains("fail_at_3"), "{error}");
    let error = rt.arena().branch(&x, |_, _| Ok(())).expect_err("it cannot be read").to_string();
    assert!(error.contains("fail_at_3"), "{error}");

    // The next replays begin afresh.
    (x, out) = (rt.from_vec([], vec![2])?, rt.zeros([])?);
    call(&mut program, &mut x, &mut out, body)?;
    assert_eq!((x.to_vec()?, out.to_vec()?), (vec![0], vec![3]));
    x.write()?[()] = 1;
    call(&mut branches, &mut x, &mut out, branch)?;
    assert_eq!(out.to_vec()?, [1]);
    assert_eq!((program.recordings(), branches.recordings()), (1, 1));
    Ok(())
}

#[test]
fn a_task_that_fails_in_a_body_does_not_end_the_loop() -> Result<()> {
    let rt = runtime()?;
    let mut program = Program::new(&rt, &BODY);
    let (mut x, mut out): (Number<'_>, Number<'_>) = (rt.zeros([])?, rt.zeros([])?);
    x.write()?[()] = 4;
    out.write()?[()] = 4;
    call(&mut program, &mut x, &mut out, |scope, x, out| {
        scope.repeat_while(x, |_, x| {
            change(&FAIL_AT_3, out)?;
            change(&COUNT_DOWN, x)
        })
    })?;
    assert!(rt.wait().is_err());
    assert_eq!(x.to_vec()?, [0]);
    let error = out.to_vec().expect_err("it has failed").to_string();
    assert!(error.contains("fail_at_3"), "{error}");
    Ok(())
}

/// The text of the refusal of a recording, which names a line of this file.
#[track_caller]
fn refusal(
    body: impl Fn(&Recording<'_>, &mut Number<'static>, &mut Number<'static>) -> Result<()>,
) -> Result<String> {
    let rt = runtime()?;
    let mut program = Program::new(&rt, &BODY);
    let (mut x, mut out): (Number<'_>, Number<'_>) = (rt.from_vec([], vec![1])?, rt.from_vec([], vec![5])?);
    let error = call(&mut program, &mut x, &mut out, body).expect_err("it is refused").to_string();
    assert!(error.contains("loops.rs:"), "{error}");
    assert_eq!((x.to_vec()?, out.to_vec()?), (vec![1], vec![5]), "nothing ran");
    Ok(error)
}

#[test]
fn what_a_body_cannot_do_is_an_error_with_the_line() -> Result<()> {
    let error = refusal(|outer, x, out| {
        let mut kept = None;
        outer.branch(&*x, |_, _| {
            let mut made = outer.arena().zeros([])?;
            set(&mut made, 3)?;
            kept = Some(made);
            Ok(())
        })?;
        add(&kept.expect("it was made"), out)
    })?;
    assert!(error.contains("that the body of a branch or of a loop has made is used outside"), "{error}");

    let error = refusal(|scope, x, out| {
        scope.branch(&*x, |scope, _| {
            let (seed, before) = scope.draws().draw(1);
            let mut task = dahl_core::Task::new(&crate::numbers::SEEDED);
            task.write(out);
            task.argument(seed);
            task.argument(before);
            task.submit()
        })
    })?;
    assert!(error.contains("draws random numbers of the call"), "{error}");

    let error = refusal(|scope, x, out| {
        scope.repeat_while(x, |_, x| {
            add(x, out)?;
            Err(set(out, 1).map_or_else(
                |error| error,
                |()| dahl_core::__program::refusal("a", "b".into(), Location::caller()),
            ))
        })
    })?;
    assert!(error.starts_with("D0027: a: b"), "{error}");
    Ok(())
}

#[test]
fn bodies_are_shown_compared_and_loaded() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let rt = runtime()?;
    let (mut x, mut out): (Number<'_>, Number<'_>) = (rt.from_vec([], vec![2])?, rt.zeros([])?);
    let body = |value: i64| {
        move |scope: &Recording<'_>, x: &mut Number<'static>, out: &mut Number<'static>| {
            scope.repeat_while(x, |scope, x| {
                scope.branch(&*x, |scope, holds| {
                    let mut made = scope.arena().zeros([])?;
                    set(&mut made, if holds { value } else { 1 })?;
                    add(&made, out)
                })?;
                change(&COUNT_DOWN, x)
            })
        }
    };
    let mut program = Program::new(&rt, &BODY);
    // What `set` writes is a constant otherwise.
    program.set_passes(Passes::all().constants(false));
    call(&mut program, &mut x, &mut out, body(5))?;
    assert_eq!(out.to_vec()?, [10]);
    let listing = program.graph().listing();
    let refused = listing.listed_tasks().expect_err("it has a loop");
    assert_eq!(
        refused,
        "step 0: which tasks run in a branch or a loop depends on values: trace a run instead"
    );
    let text = listing.to_string();
    let lines: Vec<&str> =
        text.lines().map(|line| line.split("  dahl-program/").next().unwrap().trim_end()).collect();
    assert_eq!(
        lines,
        [
            "loops(x: &mut i64[], out: &mut i64[])",
            "    repeat_while(&mut x, &mut out)",
            "        body(x: &mut i64[], out: &mut i64[])",
            "            branch(x, &mut out)",
            "                then(x: i64[], out: &mut i64[])",
            "                    %2: i64[] = set()",
            "                    add(%2, &mut out)",
            "                otherwise(x: i64[], out: &mut i64[])",
            "                    %2: i64[] = set()",
            "                    add(%2, &mut out)",
            "            count_down(&mut x)",
        ],
        "{text}"
    );
    assert_eq!((listing.tasks(), program.graph().tasks()), (5, 5));
    assert_eq!(program.memory_plan().all_bytes(), 128, "each branch has a number");
    assert_eq!(listing.memory_plan().all_bytes(), 128);
    let dot = listing.dot();
    assert!(dot.contains("subgraph cluster_t0_body_0_then_ {"), "{dot}");
    assert_eq!(dot.matches('{').count(), dot.matches('}').count());
    assert_eq!(listing.rows()[0].inside.len(), 9);

    let read = crate::listing::read(listing.to_json())?;
    assert_eq!(read, listing);
    let mut held = Program::new(&rt, &BODY);
    held.set_passes(Passes::all().constants(false));
    held.add_listing(read.clone());
    x.write()?[()] = 1;
    call(&mut held, &mut x, &mut out, body(5))?;
    held.forget();
    let error = call(&mut held, &mut x, &mut out, body(6)).expect_err("it is another program").to_string();
    assert!(error.contains("body, 0 branch(x, &mut out), then, 0 %2: i64[] = set(), arguments"), "{error}");

    let mut other = Program::new(&rt, &BODY);
    other.set_passes(Passes::all().constants(false));
    call(&mut other, &mut x, &mut out, body(6))?;
    let difference = read.difference(&other.graph().listing());
    assert!(
        matches!(&difference.changes[..], [Change::Changed { fields, .. }] if fields.len() == 1),
        "{difference}"
    );

    let broken = crate::listing::sealed(
        &crate::listing::rest(&listing.to_json()).replace("\"name\":\"otherwise\"", "\"name\":\"then\""),
    );
    let error = crate::listing::read(broken).expect_err("no branch has such bodies").to_string();
    assert!(error.contains("bodies"), "{error}");
    Ok(())
}
