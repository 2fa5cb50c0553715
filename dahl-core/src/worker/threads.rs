//! [`Threads`]: the threads of the workers.

use std::sync::Arc;

use super::run;
use crate::engine::Shared;
#[cfg(not(dahl_fuzz))]
use crate::engine::detached;
use crate::sync::thread::{Builder, JoinHandle};
#[cfg(not(dahl_fuzz))]
use crate::topology::bind_this_thread;

/// The threads of a runtime, one for each worker.
///
/// They are the threads of a rayon pool, and kernels that use rayon stay in it: one thread per core. (Under the fuzzer
/// they are its threads, and there is no pool.)
pub(crate) struct Threads {
    #[cfg(not(dahl_fuzz))]
    pool: Option<rayon::ThreadPool>,
    handles: Vec<JoinHandle<()>>,
}

impl Threads {
    /// No threads: workers are simulated.
    pub(crate) fn none() -> Self {
        Self {
            #[cfg(not(dahl_fuzz))]
            pool: None,
            handles: Vec::new(),
        }
    }

    #[cfg(not(dahl_fuzz))]
    pub(crate) fn start(shared: &Arc<Shared>) -> Result<Self, String> {
        let mut handles = Vec::with_capacity(shared.workers());
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(shared.cpu_workers())
            .panic_handler(detached)
            .spawn_handler(|thread| {
                let name = format!("dahl cpu {}", thread.index());
                let processor = shared.worker(thread.index()).processor;
                let run = move || {
                    if let Some(processor) = processor {
                        bind_this_thread(processor);
                    }
                    thread.run();
                };
                handles.push(Builder::new().name(name).spawn(run)?);
                Ok(())
            })
            .build()
            .map_err(|error| error.to_string())?;
        first_job_of_process(&pool);
        let of_workers = Arc::clone(shared);
        pool.spawn_broadcast(move |thread| run(&of_workers, thread.index()));
        #[cfg(feature = "cuda")]
        handles.extend(super::cuda::start(shared).map_err(|error| error.to_string())?);
        Ok(Self { pool: Some(pool), handles })
    }

    #[cfg(dahl_fuzz)]
    pub(crate) fn start(shared: &Arc<Shared>) -> Result<Self, String> {
        let start = |worker| {
            let shared = Arc::clone(shared);
            Builder::new().name(format!("dahl cpu {worker}")).spawn(move || run(&shared, worker))
        };
        let handles = (0..shared.workers()).map(start).collect::<Result<_, _>>();
        Ok(Self { handles: handles.map_err(|error| error.to_string())? })
    }

    /// Lets the threads end once the workers have ended.
    pub(crate) fn let_go(&mut self) {
        #[cfg(not(dahl_fuzz))]
        drop(self.pool.take());
    }

    /// Forgets the threads, which this process has not.
    pub(crate) fn abandon(&mut self) {
        #[cfg(not(dahl_fuzz))]
        std::mem::forget(self.pool.take());
        std::mem::forget(std::mem::take(&mut self.handles));
    }

    /// Waits for the threads to end.
    pub(crate) fn join(&mut self) {
        for thread in self.handles.drain(..) {
            // A worker does not panic: panics of kernels are caught. If it did, the others would still end.
            let _ = thread.join();
        }
    }
}

/// Waits, with the first pool of this process, for a thread of it to run a job: then the state that the queues of all pools share is
/// made. A process that forks while a thread makes it would leave a child that waits for that thread, which it does not have.
#[cfg(not(dahl_fuzz))]
fn first_job_of_process(pool: &rayon::ThreadPool) {
    static FIRST: std::sync::Once = std::sync::Once::new();
    FIRST.call_once(|| {
        let (ran, has_run) = std::sync::mpsc::channel::<()>();
        pool.spawn(move || drop(ran));
        // The sender is gone: the job has run.
        let _ = has_run.recv();
    });
}
