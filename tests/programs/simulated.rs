//! Fused tasks on simulated machines: where they may run, and how long they take.

use std::collections::VecDeque;
use std::sync::Mutex;

use dahl::ops::{exp_init, relu_init};
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

/// What a replay adds to the tasks and the busy microseconds of each worker.
fn replay(machine: &str, passes: Passes) -> dahl::Result<Vec<(u64, f64)>> {
    let machine = Machine::from_toml(machine)?;
    let rt = Runtime::builder()
        .virtual_machine(machine)
        .cpu_workers(1)
        .custom_scheduler(DeviceFirst::default())
        .build()?;
    let x = rt.from_vec([1000], (0..1000).map(|i| i as f32 / 1000.0).collect())?;
    let mut program = Chain::new(&rt).passes(passes);
    let replay = |program: &mut Chain<f32>| -> dahl::Result<Vec<WorkerUse>> {
        assert_eq!(program.call(&x)?.to_vec()?[0], 1.0);
        rt.wait()?;
        Ok(rt.worker_uses())
    };
    let before = replay(&mut program)?;
    let after = replay(&mut program)?;
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
    Ok(())
}
