//! Branches and loops: the same results as when each call is submitted, and as the sequential oracle has.

use std::panic::Location;

use dahl_core::__program::Bindings;
use dahl_core::{Codelet, ControlFlow, Result, Runtime};
use dahl_program::{Arguments, Body, Passes, Program};
use proptest::prelude::*;

use crate::machines::machine;
use crate::numbers::{COUNT_DOWN, Number, change, set};
use crate::oracle::Oracle;
use crate::program::{Action, COLUMNS, ROWS, TOTALS, actions};
use crate::random::{is_recordable, passes};
use crate::world::{World, assert_all_held, config, run, schedulers, with_scheduler};

static BODY: Body =
    Body { codelet: Codelet::new("flow", module_path!(), 1), parameters: &["world"], draws: false };

/// What a program does.
#[derive(Clone, Debug)]
enum Step {
    Do(Action),
    /// Depends on the flag of this number.
    Branch(usize, Vec<Step>, Vec<Step>),
    /// So many rounds.
    Repeat(i64, Vec<Step>),
}

const FLAGS: usize = 3;
/// The most loops inside of each other.
const DEPTH: usize = 2;

/// Numbers that decide what runs.
struct Numbers {
    flags: [Number<'static>; FLAGS],
    counters: [Number<'static>; DEPTH],
}

struct State<'w, 'r> {
    world: &'w mut World<'r>,
    numbers: &'w mut Numbers,
}

impl Arguments for State<'_, '_> {
    fn bind<'b>(&'b mut self, bindings: &mut Bindings<'b>) {
        let World { arrays, totals, .. } = &mut *self.world;
        arrays.iter_mut().for_each(|array| bindings.write(array));
        totals.iter_mut().for_each(|total| bindings.write(total));
        self.numbers.flags.iter().for_each(|flag| bindings.read(flag));
        self.numbers.counters.iter_mut().for_each(|counter| bindings.write(counter));
    }

    fn name(&self, _: &[&str], names: &mut Vec<String>) {
        let groups =
            [("array", self.world.arrays.len()), ("total", TOTALS), ("flag", FLAGS), ("counter", DEPTH)];
        names.extend(groups.iter().flat_map(|(name, count)| (0..*count).map(move |i| format!("{name} {i}"))));
    }
}

/// Reductions end where a body begins and ends.
fn finalized() -> impl Iterator<Item = Action> {
    (0..TOTALS).map(Action::FinalizeTotal)
}

fn execute<S: ControlFlow>(
    scope: &S,
    steps: &[Step],
    world: &mut World<'_>,
    flags: &[Number<'_>],
    counters: &mut [Number<'static>],
) -> Result<()> {
    let mut unused = Oracle::new();
    for step in steps {
        match step {
            Step::Do(action) => run(action, world, &mut unused)?,
            Step::Branch(flag, then, otherwise) => {
                finalized().try_for_each(|action| run(&action, world, &mut unused))?;
                scope.branch(&flags[*flag], |scope, holds| {
                    execute(scope, if holds { then } else { otherwise }, world, flags, counters)?;
                    finalized().try_for_each(|action| run(&action, world, &mut Oracle::new()))
                })?;
            }
            Step::Repeat(rounds, body) => {
                let (counter, inner) = counters.split_first_mut().expect("there are as many as loops");
                set(counter, *rounds)?;
                finalized().try_for_each(|action| run(&action, world, &mut unused))?;
                scope.repeat_while(counter, |scope, counter| {
                    execute(scope, body, world, flags, inner)?;
                    change(&COUNT_DOWN, counter)?;
                    finalized().try_for_each(|action| run(&action, world, &mut Oracle::new()))
                })?;
            }
        }
    }
    Ok(())
}

fn predict(steps: &[Step], oracle: &mut Oracle, flags: &[bool]) {
    for step in steps {
        let bodies: Vec<&[Step]> = match step {
            Step::Do(action) => {
                oracle.predict(action);
                continue;
            }
            Step::Branch(flag, then, otherwise) => vec![if flags[*flag] { then } else { otherwise }],
            Step::Repeat(rounds, body) => vec![&body[..]; *rounds as usize],
        };
        finalized().for_each(|action| oracle.predict(&action));
        for body in bodies {
            predict(body, oracle, flags);
            finalized().for_each(|action| oracle.predict(&action));
        }
    }
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let actions = || {
        let recordable = |actions: Vec<Action>| {
            actions.into_iter().filter(is_recordable).take(4).map(Step::Do).collect::<Vec<_>>()
        };
        actions().prop_map(recordable)
    };
    let leaf = actions();
    leaf.prop_recursive(DEPTH as u32, 12, 2, move |inner| {
        let sequence = prop::collection::vec(inner.clone(), 1..3).prop_map(|steps| steps.concat());
        let branch = (0..FLAGS, sequence.clone(), inner.clone())
            .prop_map(|(flag, then, otherwise)| vec![Step::Branch(flag, then, otherwise)]);
        let repeat = (0..4_i64, inner).prop_map(|(rounds, body)| vec![Step::Repeat(rounds, body)]);
        let flow = prop_oneof![2 => branch, 1 => repeat];
        (actions(), flow, sequence).prop_map(|(before, flow, after)| [before, flow, after].concat())
    })
}

/// Runs the steps `calls` times, with these flags in each call: replayed on one world, submitted on another.
fn check(steps: &[Step], calls: &[[bool; FLAGS]], rt: &Runtime, passes: Passes, tight: bool) -> Result<()> {
    let new_world = || -> Result<World<'_>> {
        let (new, new_total) = (|| rt.zeros([ROWS, COLUMNS]), || rt.zeros([ROWS, COLUMNS]));
        let arrays = [new()?, new()?, new()?, new()?];
        Ok(World { rt, arrays, totals: [new_total()?, new_total()?], may_lose: false })
    };
    let number = || rt.zeros([]);
    let new_numbers = || -> Result<Numbers> {
        Ok(Numbers { flags: [number()?, number()?, number()?], counters: [number()?, number()?] })
    };
    let (mut replayed, mut submitted) = (new_world()?, new_world()?);
    let (mut numbers, mut own_numbers) = (new_numbers()?, new_numbers()?);
    let mut oracle = Oracle::new();
    let mut program = Program::new(rt, &BODY);
    program.set_passes(passes);
    program.set_tight(tight);
    for flags in calls {
        for (number, &flag) in
            numbers.flags.iter_mut().chain(&mut own_numbers.flags).zip(flags.iter().cycle())
        {
            number.write()?[()] = i64::from(flag) * 7;
        }
        finalized().for_each(|action| oracle.predict(&action));
        predict(steps, &mut oracle, flags);
        finalized().for_each(|action| oracle.predict(&action));
        let mut state = State { world: &mut replayed, numbers: &mut numbers };
        program.call::<_, ()>(&mut state, Location::caller(), |state, scope, _| {
            let Numbers { flags, counters } = &mut *state.numbers;
            execute(scope, steps, state.world, flags, counters)
        })?;
        let mut unused = Oracle::new();
        let arena = rt.arena();
        finalized().try_for_each(|action| run(&action, &mut submitted, &mut unused))?;
        execute(&arena, steps, &mut submitted, &own_numbers.flags, &mut own_numbers.counters)?;
        finalized().try_for_each(|action| run(&action, &mut submitted, &mut unused))?;
    }
    assert_eq!((program.recordings(), program.replays()), (1, calls.len() as u64 - 1));
    let listing = program.graph().listing();
    let read = crate::listing::read(listing.to_json()).expect("it was saved");
    assert_eq!(read, listing);
    assert!(listing.difference(&read).is_empty());
    assert_all_held(&replayed, &mut oracle);
    assert_all_held(&submitted, &mut oracle);
    while rt.wait().is_err() {} // somebody has seen the failures
    Ok(())
}

proptest! {
    #![proptest_config(config(40))]

    #[test]
    fn branches_and_loops_give_the_sequential_result(
        steps in steps(),
        calls in prop::collection::vec(any::<[bool; FLAGS]>(), 1..4),
        workers in 1..4_usize,
        scheduler in prop::sample::select(vec!["ws", "eager", "lifo"]),
        passes in passes(),
        tight in any::<bool>(),
    ) {
        let rt = with_scheduler(Runtime::builder().cpu_workers(workers).cuda_devices(0), scheduler).build();
        check(&steps, &calls, &rt.expect("it can be had"), passes, tight).expect("every call is right");
    }

    #[test]
    fn branches_and_loops_give_the_sequential_result_on_devices(
        steps in steps(),
        calls in prop::collection::vec(any::<[bool; FLAGS]>(), 1..3),
        workers in 1..3_usize,
        machine in machine(),
        scheduler in prop::sample::select(schedulers()),
        passes in passes(),
    ) {
        let mut machine = machine;
        // The host reads conditions when each call is submitted, and cannot go on without one that is lost.
        machine.devices.iter_mut().for_each(|device| device.lost_after = None);
        let builder = with_scheduler(Runtime::builder().virtual_machine(machine), scheduler);
        let rt = builder.cpu_workers(workers).build().expect("it can be had");
        check(&steps, &calls, &rt, passes, false).expect("every call is right");
    }
}
