//! [`Executor`]: the engine of a runtime.

use std::any::Any;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use crate::codelet::kernel_memory;
use crate::config::Config;
use crate::cuda::HostFetch;
use crate::description::TaskDesc;
use crate::device::Devices;
use crate::engine::Shared;
use crate::float_control::FloatControl;
use crate::graph::{Dispatch, Engine, Host, Submitted, Waiter};
use crate::perf::work;
use crate::simulation::{Simulation, WorkerUse};
use crate::sleep::Interest;
use crate::sync::{Mutex, thread};
use crate::task::ReadyTask;
use crate::trace::Recorder;
use crate::worker::{self, WorkerContext};

/// Runs the tasks of a runtime. Its arrays keep it alive.
pub(crate) struct Executor {
    shared: Arc<Shared>,
    /// The context in which the host runs tasks, one thread at a time.
    host_context: Mutex<WorkerContext>,
    /// For a simulated machine.
    simulation: Option<Simulation>,
}

impl fmt::Debug for Executor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Executor").field("workers", &self.workers()).finish_non_exhaustive()
    }
}

/// An executor extends the state that its workers share.
impl Deref for Executor {
    type Target = Shared;

    fn deref(&self) -> &Shared {
        &self.shared
    }
}

impl Executor {
    pub(crate) fn new(config: Config) -> Arc<Self> {
        let shared = Arc::new(Shared::new(config));
        let simulated = shared.devices().filter(|_| shared.is_simulated());
        let simulation =
            simulated.map(|devices| Simulation::new(shared.cpu_workers(), shared.memory(), devices));
        let host_context =
            Mutex::new(WorkerContext::new(None, shared.workers(), "the host".to_owned(), shared.memory()));
        Arc::new(Self { shared, host_context, simulation })
    }

    /// The executor behind an array's engine.
    #[inline]
    pub(crate) fn of(engine: &dyn Engine) -> &Self {
        let engine: &dyn Any = engine;
        engine.downcast_ref().expect("every engine is an executor")
    }

    /// The state that its workers share.
    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    /// The parts of a simulation.
    pub(super) fn simulated(&self) -> Option<(&Simulation, &Devices)> {
        self.simulation.as_ref().zip(self.devices())
    }

    /// The activity of each worker of a simulation.
    pub(crate) fn worker_uses(&self) -> Vec<WorkerUse> {
        self.simulated().map(|(simulation, devices)| simulation.uses(self, devices)).unwrap_or_default()
    }

    /// Advances virtual time by what the host does before it submits a task, while workers run tasks.
    pub(crate) fn take_time_before(&self, task: &TaskDesc, arrays: impl Iterator<Item = usize>) {
        let Some((simulation, devices)) = self.simulated().filter(|_| self.log().is_none()) else { return };
        let machine = devices.machine();
        let Some(codelet) = task.codelet_if_any().filter(|_| !machine.cpu.submissions.is_empty()) else {
            return;
        };
        let after = simulation.note_submission(codelet.name);
        let bytes = if task.operand_count() == 0 { arrays.sum::<usize>() as f64 } else { work(task).1 };
        if let Some(host_ns) = machine.host_ns(codelet.name, after, bytes) {
            self.host_works(simulation, devices, host_ns);
        }
    }

    /// Advances virtual time by what a submission takes the host if nothing is known of the codelet, while workers run tasks.
    pub(crate) fn take_time_after(&self, codelet: &str) {
        let Some((simulation, devices)) = self.simulated().filter(|_| self.log().is_none()) else { return };
        let machine = devices.machine();
        if machine.submit_ns() > 0 && machine.cpu.submissions.iter().all(|own| own.codelet != codelet) {
            self.host_works(simulation, devices, machine.submit_ns());
        }
    }

    fn host_works(&self, simulation: &Simulation, devices: &Devices, own_ns: u64) {
        if own_ns == 0 {
            return;
        }
        let begin_ns = self.clock().now_ns();
        {
            let _standard = FloatControl::standard_meanwhile();
            let _away = self.recorder().map(Recorder::away);
            let _memory = kernel_memory::serve(self.memory());
            simulation.work(self, devices, own_ns);
            self.show_transfers();
        }
        if let Some(recorder) = self.recorder() {
            recorder.worked(self.clock().now_ns() - begin_ns);
        }
    }

    /// Waits until all tasks have completed.
    pub(crate) fn drain(&self) {
        self.wait_until(&|| self.is_drained());
    }
}

impl Dispatch for Executor {
    #[inline]
    fn host(&self) -> &Host {
        self.shared.host()
    }

    fn schedule(&self, task: &Submitted, worker: Option<usize>) {
        self.shared.schedule(task, worker);
    }

    fn hand_over(&self, task: &Submitted, fetches: Vec<Arc<HostFetch>>) {
        self.shared.hand_over(task, fetches);
    }
}

impl Engine for Executor {
    fn help(&self) -> bool {
        let _standard = FloatControl::standard_meanwhile();
        let _away = self.recorder().map(Recorder::away);
        if let Some((simulation, devices)) = self.simulated() {
            let _memory = kernel_memory::serve(self.memory());
            let stepped = simulation.step(self, devices);
            self.show_transfers();
            if let Some(trace) = self.trace() {
                trace.step();
            }
            return stepped;
        }
        let Ok(mut context) = self.host_context.try_lock() else { return false };
        let _memory = kernel_memory::serve(self.memory());
        let Some(task) = self.next_task_of_host() else { return false };
        worker::execute(self, &mut context, task);
        context.recycler.flush(self.host());
        drop(context);
        self.progress().notify();
        if self.is_stopped() && self.is_drained() {
            self.sleep().wake_all(); // the workers may go
        }
        true
    }

    fn wait_with(&self, interest: Interest, holds: &dyn Fn() -> bool) {
        self.wait_as(interest, holds);
    }

    fn wait_for_word(&self, waiter: &Waiter) {
        self.wait_to_be_told(waiter);
    }

    fn arrive(&self, time_ns: u64) {
        if let Some((simulation, devices)) = self.simulated() {
            let _standard = FloatControl::standard_meanwhile();
            let _away = self.recorder().map(Recorder::away);
            let _memory = kernel_memory::serve(self.memory());
            simulation.advance(self, devices, time_ns);
            self.show_transfers();
        }
    }

    #[cold]
    fn take_home(&self, task: &Submitted) {
        let task = ReadyTask::new(task, self.host());
        let target = task.forced_worker().unwrap_or(0);
        self.send_to(target, task);
        self.serve_if_stopped();
    }

    #[cold]
    fn serve(&self) {
        while !self.is_drained() {
            if !self.help() {
                thread::yield_now(); // another thread runs the last tasks
            }
        }
    }
}
