//! The submission of a replay: a task of the runtime, which accesses what the call is given.

use std::panic::Location;
use std::ptr::NonNull;
use std::sync::Arc;

use super::Instance;
use crate::access::AccessMode;
use crate::codelet::in_kernel;
use crate::description::{Action, Call};
use crate::error::{Error, ErrorKind, Result};
use crate::graph::{ArrayState, Begin, Engine as _, Party};
use crate::program::bindings::Bindings;
use crate::program::over_ranks::hash_of_call;
use crate::task::{Draft, drop_copy, runs_here};

impl Instance {
    /// Submits a replay on these arguments, which writes `outputs`. Returns immediately. Over ranks it is one task, which one of them
    /// runs.
    ///
    /// # Errors
    /// If an array is there twice, or of another runtime; if a tape must know a change of an argument; or inside of a
    /// kernel.
    pub fn submit(
        self: &Arc<Self>,
        arguments: &Bindings<'_>,
        outputs: &Bindings<'_>,
        location: &'static Location<'static>,
    ) -> Result<()> {
        let executor = self.engine.executor();
        let program = self.name.name;
        let fail = |kind| Err(Error::at(kind, location));
        if in_kernel() {
            return fail(ErrorKind::InsideKernel { call: program });
        }
        if executor.is_stopped() {
            return fail(ErrorKind::RuntimeDropped { subject: program });
        }
        if executor.is_forked() {
            return fail(ErrorKind::Forked { subject: program });
        }
        arguments.require_usable(&self.engine, program, location)?;
        for (state, writes) in arguments.states() {
            if state.saves().forbids(if writes { AccessMode::RW } else { AccessMode::R }) {
                return fail(ErrorKind::ChangesTape { codelet: program, parameter: "an argument" });
            }
        }
        let states = || arguments.states().chain(outputs.states());
        let kinds = || arguments.kinds().chain(outputs.kinds());
        let fits = kinds().count() == self.bound.len()
            && arguments.numbers.bytes.len() >= self.numbers
            && kinds().zip(&self.bound).all(|(kind, bound)| bound.fits(kind));
        if !fits {
            let fact = "its arguments or its results are not those that it was recorded with".to_owned();
            return fail(ErrorKind::Program { program, fact });
        }
        let mut draft = Draft::new(executor, Action::External(Call::new(self.name, None)), location);
        let push = |draft: &mut Draft<'_, _>, state: &ArrayState, writes| {
            let mode = if writes { AccessMode::RW } else { AccessMode::R };
            draft.push(state, mode, |layout| layout.set_contiguous(&[]));
            draft.desc_mut().add_tag();
        };
        for (state, writes) in states() {
            if writes {
                state.saves().note_write(location);
            }
            push(&mut draft, state, writes);
        }
        let mut passing = Vec::new();
        if let Some(ranks) = executor.ranks() {
            match runs_here(&draft, ranks, None, hash_of_call(arguments))? {
                Some(of_ranks) => passing = of_ranks,
                None => return Ok(()), // another rank replays it
            }
        }
        executor.take_time_before(draft.desc(), states().map(|(state, _)| state.bytes()));
        for (state, writes) in states() {
            state.flush_pending(if writes { AccessMode::RW } else { AccessMode::R });
        }
        let share = self.share.as_ref().expect("a body is not submitted by itself");
        push(&mut draft, share.turn().state(), true);
        let mut call = self.pending.take();
        call.bound.extend(states().map(|(state, _)| NonNull::from(state)));
        if self.varies() {
            call.numbers.copy_from(&arguments.numbers);
        }
        draft.set_party(Party::External(Begin::of(call.of(Arc::clone(self)))));
        draft.desc_mut().set_sequence(executor.host().next_sequence());
        draft.submit();
        if let Some(ranks) = executor.ranks() {
            for passing in passing {
                let (state, _) =
                    states().nth(passing.access).expect("an access to an argument or to a result");
                drop_copy(ranks, state, passing.bytes, location);
            }
        }
        executor.take_time_after(program);
        executor.serve_if_stopped();
        Ok(())
    }
}
