//! Fused tasks on simulated machines: where they may run, and how long they take.

use std::collections::VecDeque;
use std::sync::Mutex;

use dahl::ops::{add_init, exp_init, relu_init};
use dahl::prelude::*;
use dahl::{Machine, ReadyTask, Scheduler, WorkerUse, Workers};

/// A worker of the CPU, and maybe a device, which gets every task that it can run.
#[derive(Default)]
struct DeviceFirst {
    workers: usize,
    tasks: [Mutex<VecDeque<ReadyTask>>; 2],
}

impl Scheduler for DeviceFirst {
    fn name(&self) -> &'static str {
        "device-first"
    }

    fn start(&mut self, workers: &Workers) {
        self.workers = workers.as_slice().len();
    }

    fn push(&self, task: ReadyTask, _: Option<usize>) {
        let is_for_device = self.workers > 1 && task.can_run_on(1);
        self.tasks[usize::from(is_for_device)].lock().unwrap().push_back(task);
    }

    fn pop(&self, worker: Option<usize>) -> Option<ReadyTask> {
        self.tasks[worker?].lock().unwrap().pop_front()
    }
}

/// `relu(exp(x))`, which is one task if maps are fused.
#[program]
fn chain<'s, T: Real>(scope: &'s Recording<'_>, x: &Vector<'_, T>) -> dahl::Result<Vector<'s, T>> {
    relu_init(scope, &exp_init(scope, x)?)
}

/// `exp(x) + relu(x)`.
#[program]
fn sum<'s, T: Real>(scope: &'s Recording<'_>, x: &Vector<'_, T>) -> dahl::Result<Vector<'s, T>> {
    add_init(scope, &exp_init(scope, x)?, &relu_init(scope, x)?)
}

/// A program on a runtime: the first element that it computes of an array.
type Replay<'rt> = Box<dyn FnMut(&Vector<'_, f32>) -> dahl::Result<f32> + 'rt>;

/// What a replay of [`chain`] adds to the tasks and the busy microseconds of each worker.
fn replay(machine: &str, passes: Passes) -> dahl::Result<Vec<(u64, f64)>> {
    replay_of(machine, |rt| {
        let mut program = Chain::new(rt).passes(passes);
        Box::new(move |x| Ok(program.call(x)?.to_vec()?[0]))
    })
}

fn replay_of(machine: &str, program: impl FnOnce(&Runtime) -> Replay<'_>) -> dahl::Result<Vec<(u64, f64)>> {
    let machine = Machine::from_toml(machine)?;
    let rt = Runtime::builder()
        .virtual_machine(machine)
        .cpu_workers(1)
        .custom_scheduler(DeviceFirst::default())
        .build()?;
    let x = rt.from_vec([1000], (0..1000).map(|i| i as f32 / 1000.0).collect())?;
    let mut program = program(&rt);
    let mut replay = || -> dahl::Result<Vec<WorkerUse>> {
        assert_eq!(program(&x)?, 1.0);
        rt.wait()?;
        Ok(rt.worker_uses())
    };
    let before = replay()?;
    let after = replay()?;
    let added = after.iter().zip(&before).map(|(after, before)| {
        (after.tasks - before.tasks, ((after.busy_us - before.busy_us) * 1e3).round() / 1e3)
    });
    Ok(added.collect())
}

const FUSED: Passes = Passes::none().fusion(true);

/// A worker on which a task costs 1 us, and a byte 1 ns.
fn cpu(codelets: &str) -> String {
    format!("[cpu.speed]\ngflops = 1e9\ngbytes_per_s = 1\noverhead_us = 1\n{codelets}\n")
}

/// The overhead of one task. What `exp` passes on is neither written nor read.
#[test]
fn fused_maps_exchange_less_with_memory() -> dahl::Result<()> {
    assert_eq!(replay(&cpu(""), Passes::none())?, [(2, 18.0)]);
    assert_eq!(replay(&cpu(""), FUSED)?, [(1, 9.0)]);
    // What two parts read counts once.
    let of_sum = replay_of(&cpu(""), |rt| {
        let mut program = Sum::new(rt).passes(FUSED);
        Box::new(move |x| Ok(program.call(x)?.to_vec()?[0]))
    })?;
    assert_eq!(of_sum, [(1, 9.0)]);
    // A rate of one of the codelets holds for its part.
    assert_eq!(replay(&cpu("codelets.relu = { gbytes_per_s = 0.5 }"), FUSED)?, [(1, 13.0)]);
    Ok(())
}

#[test]
fn a_part_takes_the_time_that_the_machine_has_of_it() -> dahl::Result<()> {
    let given = "codelets.exp = { us = 100 }\ncodelets.relu = { us = 50 }";
    assert_eq!(replay(&cpu(given), Passes::none())?, [(2, 150.0)]);
    assert_eq!(replay(&cpu(given), FUSED)?, [(1, 149.0)]);
    let measured = "[[cpu.speed.codelets.exp.measured]]\nfootprint = [[1000], [1000]]\nbytes = 8000\nus = 30";
    assert_eq!(replay(&cpu(measured), FUSED)?, [(1, 35.0)]);
    // A machine may name the fused task itself.
    assert_eq!(replay(&cpu("codelets.\"exp+relu\" = { us = 7 }"), FUSED)?, [(1, 7.0)]);
    Ok(())
}

/// A device without one of the kernels has none of the fused task.
#[test]
fn a_fused_task_runs_where_all_of_its_parts_can() -> dahl::Result<()> {
    let device = |codelets: &str| {
        format!(
            "{}[[device]]\nname = \"gpu\"\nmemory_mb = 1\nlatency_us = 1\nlink_gbytes_per_s = 10\n\
             [device.speed]\ngflops = 1e9\ngbytes_per_s = 100\noverhead_us = 1\n{codelets}\n",
            cpu("")
        )
    };
    let tasks = |codelets: &str| -> dahl::Result<Vec<u64>> {
        let uses = replay(&device(codelets), FUSED)?;
        Ok(uses.into_iter().map(|(tasks, _)| tasks).collect())
    };
    assert_eq!(tasks("")?, [0, 1]);
    assert_eq!(tasks("codelets.relu = { absent = true }")?, [1, 0]);
    // Figures of the whole decide, where there are some.
    let whole = "codelets.relu = { absent = true }\ncodelets.\"exp+relu\"";
    assert_eq!(tasks(&format!("{whole} = {{ us = 7 }}"))?, [0, 1]);
    assert_eq!(tasks(&format!("{whole} = {{ variation = 0.1 }}"))?, [1, 0]);
    assert_eq!(tasks("codelets.\"exp+relu\" = { absent = true }")?, [1, 0]);
    Ok(())
}

/// What plans and simulations of files take for it: they have the name and the size of the whole.
#[test]
fn a_speed_knows_the_parts_of_a_fused_name() -> dahl::Result<()> {
    let us = |codelets: &str| -> dahl::Result<Option<f64>> {
        let speed = Machine::from_toml(&cpu(codelets))?.cpu.speed;
        Ok(speed.us("exp+relu", &[[1000], [1000]], None, 8000.0))
    };
    assert_eq!(us("")?, Some(9.0));
    assert_eq!(us("codelets.exp = { us = 100 }\ncodelets.relu = { us = 50 }")?, Some(149.0));
    assert_eq!(us("codelets.exp = { us = 100 }")?, Some(108.0));
    assert_eq!(us("codelets.exp = { absent = true }")?, None);
    assert_eq!(us("codelets.exp = { absent = true }\ncodelets.\"exp+relu\" = { us = 7 }")?, Some(7.0));
    Ok(())
}
