//! The options of a submission: methods of [`Task`].

use super::builder::{Task, no_kernel};
use super::tag::Tag;
use crate::access::AccessMode;
use crate::array::{Array, is_recording, is_recording_over_ranks};
use crate::description::{Call, Placement};
use crate::error::{Error, ErrorKind, Failure};
use crate::graph::{Callback, Host};
use crate::ranks::{Ranks, refusal_of_rank};

impl<'a> Task<'a> {
    /// Changes the call, if there is a draft: with an earlier error there is none.
    fn set(&mut self, change: impl FnOnce(&mut Call)) {
        if let Some(call) = self.draft.as_mut().and_then(|draft| draft.desc_mut().call_mut()) {
            change(call);
        }
    }

    /// The runtime, if known.
    fn host(&self) -> Option<&'a Host> {
        self.draft.as_ref().map(|draft| draft.host())
    }

    /// Sets the priority: schedulers with priorities take larger ones first among ready tasks.
    pub fn priority(mut self, priority: i32) -> Self {
        self.set(|call| call.options.priority = priority);
        self
    }

    /// Sets a name for traces and errors, in addition to the codelet's.
    pub fn name(mut self, name: &'static str) -> Self {
        self.set(|call| call.options.name = Some(name));
        self
    }

    /// Chooses the codelet's kernel with this name instead of its first one: `"rust"` is the declared body, `"dot_c"`
    /// the kernel of `cpu = [kernels::DOT_C]`, and a kernel in Rust has the last name of its path. On CUDA devices
    /// `"cuda"` is the kernel in CUDA, and one of `cuda_call = [..]` also has the last name of its path.
    ///
    /// The submission fails if the codelet has no such kernel for these element types, or if no worker is of its kind.
    pub fn kernel(mut self, name: &str) -> Self {
        let is_able = |host: &Host, kernel| {
            let able = |worker| host.has_kernel(worker, self.codelet) && host.is_for(worker, kernel);
            (0..host.workers()).any(able)
        };
        match (self.codelet.named(name), self.host()) {
            (Some(kernel), Some(host)) if kernel.is_on_cuda() && !is_able(host, kernel) => {
                self.fail_for_workers(host, format!("worker with the kernel `{name}`"));
            }
            (Some(kernel), _) => self.set(|call| call.kernel = Some(kernel)),
            (None, _) => self.fail(Error::at(no_kernel(self.codelet, Some(name)), self.location)),
        }
        self
    }

    /// Runs a kernel that is not the codelet's. Its views and arguments must be those of the codelet.
    pub(crate) fn foreign_kernel(mut self, kernel: &'static crate::codelet::Kernel) -> Self {
        self.set(|call| call.kernel = Some(kernel));
        self
    }

    /// Runs the task on this worker, with any scheduler. If all contributions to a reduction are sent to the same
    /// worker or [kind of worker](Self::on_kind), so are the tasks that combine them, unless it cannot run those.
    ///
    /// The submission fails if there is no such worker, or if it cannot run the codelet.
    pub fn on(mut self, worker: usize) -> Self {
        let able = |host: &Host| worker < host.workers() && host.has_kernel(worker, self.codelet);
        match self.host() {
            Some(host) if !able(host) => self.fail_for_workers(host, format!("worker {worker}")),
            _ => self.set(|call| call.options.place = Placement::Worker(worker)),
        }
        self
    }

    /// Runs the task on this rank, whatever it writes. Without ranks, the only one is 0.
    ///
    /// The submission fails if there is no such rank.
    pub fn on_rank(mut self, rank: usize) -> Self {
        let ranks = self.host().and_then(Host::ranks).map_or(1, Ranks::len);
        let is_inside = is_recording_over_ranks() || (is_recording() && rank > 0);
        match refusal_of_rank(self.codelet.name, rank, ranks, is_inside) {
            Some(fact) => self.fail(Error::at(ErrorKind::Ranks { fact }, self.location)),
            None => self.rank = Some(rank),
        }
        self
    }

    /// Restricts the task to workers of this kind: `cpu`, or the name of a device.
    ///
    /// The submission fails if there is no such worker, or none that can run the codelet.
    pub fn on_kind(mut self, kind: &str) -> Self {
        let Some(host) = self.host() else { return self };
        let able =
            |&worker: &usize| host.worker(worker).kind == kind && host.has_kernel(worker, self.codelet);
        match (0..host.workers()).find(able) {
            Some(worker) => self.set(|call| call.options.place = Placement::KindOf(worker)),
            None => self.fail_for_workers(host, format!("worker of the kind `{kind}`")),
        }
        self
    }

    fn fail_for_workers(&mut self, host: &Host, wanted: String) {
        let can = |worker| if host.has_kernel(worker, self.codelet) { "" } else { ", which cannot run it" };
        let workers = (0..host.workers())
            .map(|worker| format!("{worker} (`{}`{})", host.worker(worker).name, can(worker)))
            .collect::<Vec<_>>()
            .join(", ");
        let kind = ErrorKind::NoWorker { codelet: self.codelet.name, wanted, workers };
        self.fail(Error::at(kind, self.location));
    }

    /// Copies the inputs to the memory of worker `worker` as soon as the task is ready, if memory is free there.
    ///
    /// The submission fails if there is no such worker.
    pub fn prefetch(mut self, worker: usize) -> Self {
        match self.host() {
            Some(host) if worker >= host.workers() => {
                self.fail_for_workers(host, format!("worker {worker}"));
            }
            _ => self.set(|call| call.options.prefetch = Some(worker)),
        }
        self
    }

    /// Calls `callback` when the task has ended, with its failure, if any, on the thread that ran it. Like a kernel it
    /// must not wait or submit; its panic is a failure that [`Runtime::wait`](crate::Runtime::wait) reports.
    pub fn callback(mut self, callback: impl FnOnce(Option<&Failure>) + Send + 'static) -> Self {
        if let Some(draft) = &mut self.draft {
            draft.set_callback(Callback::new(callback));
        }
        self
    }

    /// Makes [`submit`](Self::submit) wait until the task has ended, and return its failure.
    pub fn synchronous(mut self) -> Self {
        self.synchronous = true;
        self
    }

    /// Gives the task a tag, for other tasks that run [`after`](Self::after) it.
    pub fn tag(self, tag: &'a mut Tag) -> Self {
        self.push_tag(tag, AccessMode::W)
    }

    /// Makes the task run after the one that has the tag now, whether that succeeds or not.
    pub fn after(self, tag: &'a Tag) -> Self {
        self.push_tag(tag, AccessMode::R)
    }

    fn push_tag(mut self, tag: &'a Tag, mode: AccessMode) -> Self {
        let array: &'a Array<'_, u8, 1> = tag.array();
        // Without a draft there is an error already, or this call makes one: for another runtime.
        if let Some(draft) = self.draft_for(array.state().engine()) {
            draft.push(array.state(), mode, |layout| array.set_layout(layout));
            draft.desc_mut().add_tag();
        }
        self
    }
}
