//! [`threads`]: runs a program on several ranks, which are threads of this process.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use dahl_core::ranks::Transport;
use dahl_core::{Result, Runtime, RuntimeBuilder};

use crate::network::Network;

/// The first rank that failed, and why.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("rank {rank} failed: {cause}")]
pub struct RankFailed {
    /// The rank.
    pub rank: usize,
    /// Its error, or the message of its panic.
    pub cause: String,
}

/// The message of a panic, which is the cause that other ranks hear.
pub fn panic_message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "it panicked".to_owned())
}

/// Runs `program` as the rank that `transport` is, and waits for its tasks: what the launcher of a network does on each
/// rank. If the program returns an error or panics, or its tasks fail, `failed` hears the cause, and there is no result.
///
/// `failed` makes the transport tell the other ranks. It is called before the runtime waits for tasks that are left, of
/// which some may wait for other ranks.
pub fn as_rank<R>(
    transport: Arc<dyn Transport>,
    builder: impl FnOnce() -> RuntimeBuilder,
    program: impl FnOnce(&Runtime) -> Result<R>,
    failed: impl FnOnce(&str),
) -> Option<R> {
    let mut runtime = None;
    let result = catch_unwind(AssertUnwindSafe(|| {
        let rt = runtime.insert(builder().ranks(transport).build()?);
        let result = program(rt)?;
        rt.wait()?;
        Ok(result)
    }));
    let cause = match result {
        Ok(Ok(result)) => return Some(result),
        Ok(Err::<_, dahl_core::Error>(error)) => error.to_string(),
        Err(panic) => panic_message(&*panic),
    };
    failed(&cause);
    None
}

/// Runs `program` on `ranks` ranks, each a thread with a runtime that `builder` configures, and returns what each of them
/// returns. At the end each rank waits for all of its tasks. `seed` decides the order in which messages arrive.
///
/// ```
/// # fn main() -> Result<(), dahl_ranks::RankFailed> {
/// let builder = || dahl_core::Runtime::builder().cpu_workers(1);
/// let sums = dahl_ranks::threads(3, 0, builder, |rt| {
///     let x = rt.from_vec([2], vec![1.0_f32, 2.0])?;
///     Ok(x.read()?.sum())
/// })?;
/// assert_eq!(sums, [3.0; 3]);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// The first rank whose program returned an error or panicked, or whose tasks failed. The others end with its cause.
///
/// # Panics
/// If there are no ranks.
pub fn threads<R: Send>(
    ranks: usize,
    seed: u64,
    builder: impl Fn() -> RuntimeBuilder + Sync,
    program: impl Fn(&Runtime) -> Result<R> + Sync,
) -> std::result::Result<Vec<R>, RankFailed> {
    assert!(ranks > 0, "a program runs on at least one rank");
    let (networks, inboxes): (Vec<_>, Vec<_>) = Network::new(ranks).into_iter().unzip();
    let first: Mutex<Option<RankFailed>> = Mutex::new(None);
    let run = |network: &Arc<Network>| {
        as_rank(Arc::clone(network) as Arc<dyn Transport>, &builder, &program, |cause| {
            let failed = RankFailed { rank: network.rank(), cause: cause.to_owned() };
            // Before the others hear of it, and fail too.
            first.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(failed);
            network.fail(cause);
        })
    };
    let results = thread::scope(|scope| {
        for (rank, inbox) in inboxes.into_iter().enumerate() {
            let random = fastrand::Rng::with_seed(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ rank as u64);
            scope.spawn(move || inbox.serve(random));
        }
        let started: Vec<_> = networks.iter().map(|network| scope.spawn(|| run(network))).collect();
        // `run` returns in any case.
        let results: Vec<Option<R>> = started.into_iter().map(|rank| rank.join().ok().flatten()).collect();
        networks.iter().for_each(|network| network.stop());
        results
    });
    let first = first.into_inner().unwrap_or_else(PoisonError::into_inner);
    match first {
        Some(failed) => Err(failed),
        None => Ok(results.into_iter().flatten().collect()),
    }
}
