//! The random programs of the runtime, recorded and replayed: their results are those of the sequential oracle, as they are
//! when each call is submitted (`dahl-core/tests/random_programs`).

use std::panic::Location;

use dahl_core::__program::Bindings;
use dahl_core::{Codelet, Machine, Result, Runtime, Speed, VirtualDevice};
use dahl_program::{Arguments, Body, Passes, Program};
use proptest::prelude::*;

use crate::machines::machine;
use crate::oracle::Oracle;
use crate::program::{Action, COLUMNS, ROWS, TOTALS, actions};
use crate::world::{World, assert_all_held, config, run, schedulers, with_scheduler};

pub(crate) static BODY: Body =
    Body { codelet: Codelet::new("segment", module_path!(), 1), parameters: &["world"], draws: false };

/// How often a program runs: the first time it is recorded.
const ROUNDS: usize = 3;

/// The arrays of a world, as the arguments of a program, and the number of the segment that it runs.
pub(crate) struct Arrays<'w, 'r>(pub(crate) &'w mut World<'r>, pub(crate) usize);

impl Arguments for Arrays<'_, '_> {
    fn bind<'b>(&'b mut self, bindings: &mut Bindings<'b>) {
        let World { arrays, totals, .. } = &mut *self.0;
        arrays.iter_mut().for_each(|array| bindings.write(array));
        totals.iter_mut().for_each(|total| bindings.write(total));
        bindings.count(self.1);
    }

    fn name(&self, _: &[&str], names: &mut Vec<String>) {
        names.extend((0..self.0.arrays.len()).map(|index| format!("array {index}")));
        names.extend((0..self.0.totals.len()).map(|index| format!("total {index}")));
    }
}

/// Whether an action only submits: the host reads and writes nothing, makes no array of the runtime's, and drops none.
pub(crate) fn is_recordable(action: &Action) -> bool {
    use Action::*;
    match action {
        Mix(..) | Map(..) | MixSelf(..) | MapSelf(..) | Scale(..) | Fill(..) | AddUp(..) | AddAny(..)
        | ScaleParts(..) | ScaleNested(..) | FillParts(..) | MixParts(..) | MapParts(..) | AddUpParts(..)
        | Reduce(..) | ReduceParts(..) | ReducePartsAnew(..) | FillTotal(..) | FinalizeTotal(..)
        | InvalidateTotal(..) | Invalidate(..) => true,
        LeakParts(..) | ReduceAnew(..) | ReadTotal(..) | WriteTotal(..) | SetLeafLen(..) | InArena(..)
        | Unwind(..) | Read(..) | Write(..) | Replace(..) | Forget(..) | Wait => false,
    }
}

/// Runs a program several times. What can be recorded is, in segments between what cannot. The segments are recordings of one
/// program, which share its memory.
fn check(actions: &[Action], rt: &Runtime, passes: Passes, tight: bool, may_lose: bool) -> Result<()> {
    let (new, new_total) = (|| rt.zeros([ROWS, COLUMNS]), || rt.zeros([ROWS, COLUMNS]));
    let arrays = [new()?, new()?, new()?, new()?];
    let mut world = World { rt, arrays, totals: [new_total()?, new_total()?], may_lose };
    let mut oracle = Oracle::new();
    let segments: Vec<&[Action]> = actions.chunk_by(|a, b| is_recordable(a) && is_recordable(b)).collect();
    let mut program = Program::new(rt, &BODY);
    program.set_passes(passes);
    program.set_tight(tight);
    // A total whose leaves have another length is recorded again.
    program.set_kept(ROUNDS * segments.len());
    for _ in 0..ROUNDS {
        for (number, segment) in segments.iter().enumerate() {
            if !is_recordable(&segment[0]) {
                oracle.predict(&segment[0]);
                run(&segment[0], &mut world, &mut oracle)?;
                continue;
            }
            // A program is an access to its arguments: what is pending before it, and at its end, is completed.
            let finalized = || (0..TOTALS).map(Action::FinalizeTotal);
            for action in finalized().chain(segment.iter().cloned()).chain(finalized()) {
                oracle.predict(&action);
            }
            let mut unused = Oracle::new();
            program.call::<_, ()>(&mut Arrays(&mut world, number), Location::caller(), |arrays, _, _| {
                segment.iter().try_for_each(|action| run(action, arrays.0, &mut unused))
            })?;
        }
    }
    let recordable = segments.iter().filter(|segment| is_recordable(&segment[0])).count();
    assert_eq!(program.recordings() + program.replays(), (ROUNDS * recordable) as u64);
    assert_all_held(&world, &mut oracle);
    while rt.wait().is_err() {} // somebody has seen the failures
    Ok(())
}

pub(crate) fn passes() -> impl Strategy<Value = Passes> {
    any::<[bool; 7]>().prop_map(|[constants, dead, common, fusion, in_place, reductions, epilogues]| {
        Passes::none()
            .constants(constants)
            .dead_tasks(dead)
            .common_subexpressions(common)
            .fusion(fusion)
            .in_place(in_place)
            .reductions(reductions)
            .epilogues(epilogues)
    })
}

proptest! {
    #![proptest_config(config(4))]

    #[test]
    fn replays_give_the_sequential_result(
        program in actions(),
        workers in 1..4_usize,
        scheduler in prop::sample::select(vec!["ws", "eager", "lifo"]),
        passes in passes(),
        tight in any::<bool>(),
    ) {
        let rt = with_scheduler(Runtime::builder().cpu_workers(workers).cuda_devices(0), scheduler).build();
        check(&program, &rt.expect("it can be had"), passes, tight, false).expect("every call is right");
    }

    #[test]
    fn replays_give_the_sequential_result_on_devices(
        program in actions(),
        machine in machine(),
        workers in 1..4_usize,
        scheduler in prop::sample::select(schedulers()),
        passes in passes(),
        check_mode in prop::bool::weighted(0.2),
    ) {
        let may_lose = machine.devices.iter().any(|device| device.lost_after.is_some());
        let builder = with_scheduler(Runtime::builder().virtual_machine(machine), scheduler);
        let rt = builder.cpu_workers(workers).check(check_mode).build().expect("it can be had");
        check(&program, &rt, passes, false, may_lose).expect("every call is right");
    }
}

/// Of two devices of one kind, on which a program is tried, one has no room for any array.
#[test]
fn tasks_that_have_no_room_where_their_program_is_tried_run_elsewhere() {
    let device = |speed, memory_mb, latency_us, link_gbytes_per_s| VirtualDevice {
        speed,
        memory_mb,
        latency_us,
        link_gbytes_per_s,
        ..VirtualDevice::new("gpu")
    };
    let fast = Speed { gflops: 552.0, gbytes_per_s: 110.0, overhead_us: 0.09, ..Speed::default() };
    let devices = vec![
        device(fast, None, 1.0, 0.01),
        device(Speed::default(), Some(64.0 / f64::from(1 << 20)), 0.0, 2.8),
    ];
    let machine = Machine { devices, ..Machine::default() };
    let actions = [
        Action::InArena(0, 1, false),
        Action::Mix(1, 1, 0),
        Action::Read(0),
        Action::AddUp(0, 1),
        Action::Mix(0, 1, 2),
        Action::Map(2, 1, 3),
    ];
    for scheduler in ["dm", "dmda", "dmdas"] {
        let builder = with_scheduler(Runtime::builder().virtual_machine(machine.clone()), scheduler);
        let rt = builder.cpu_workers(1).build().expect("it can be had");
        check(&actions, &rt, Passes::none(), false, false).expect("every call is right");
    }
}
