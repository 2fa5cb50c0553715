//! Tasks over several ranks: which rank runs a task, and the external tasks that send and receive what it needs.
//! `ranks/README.md` says why all ranks post the two ends of each message.
use std::fmt::Write as _;
use std::panic::Location;
use std::sync::Arc;

use super::draft::Draft;
use super::external::External;
use crate::access::AccessMode;
use crate::codelet::{Codelet, Parameter};
use crate::description::{Action, Call};
use crate::element::ElementType;
use crate::error::{Error, ErrorKind, Result};
use crate::graph::{ArrayState, Callback, Engine, Host, Party};
use crate::ranks::{Destination, Missing, Ranks};

const BYTES: ElementType = ElementType::of::<u8>();

static SEND: Codelet =
    Codelet::new("send", module_path!(), 1).parameters(&[Parameter::new("x", AccessMode::R, BYTES)]);
static RECEIVE: Codelet =
    Codelet::new("receive", module_path!(), 2).parameters(&[Parameter::new("out", AccessMode::W, BYTES)]);

/// Decides where the task runs, and posts the messages that it needs. Returns whether it runs on this rank.
///
/// # Errors
/// If it uses a part of an array.
pub(crate) fn runs_here<E: Engine + ?Sized>(
    draft: &Draft<'_, E>,
    ranks: &Ranks,
    on_rank: Option<usize>,
) -> Result<bool> {
    let (desc, location) = (draft.desc(), draft.desc().location());
    let arrays =
        || desc.accesses().zip(draft.arrays()).filter_map(|(access, array)| Some((access.mode, array?)));
    let codelet = desc.codelet().name;
    if arrays().any(|(_, array)| array.whole().is_some()) {
        let fact = format!(
            "{codelet}: a task on a part of an array cannot run over ranks; use an array for each part"
        );
        return Err(Error::at(ErrorKind::Ranks { fact }, location));
    }
    let mut table = ranks.table();
    let mut line = format!("{codelet}, submitted at {location}, on");
    for (access, array) in desc.accesses().zip(draft.arrays()) {
        let number = array.map_or(u64::MAX, |array| table.number(array.id()));
        let _ = write!(line, " array {number} {:?} {}", access.layout.extents(), access.mode.name());
    }
    let _ = write!(line, ", arguments {:?}, rank {on_rank:?}", desc.arguments());
    ranks.note(line);
    let is_redux = |mode: AccessMode| matches!(mode, AccessMode::REDUX(_));
    let target =
        arrays().find(|(mode, _)| is_redux(*mode)).or_else(|| arrays().find(|(mode, _)| mode.writes()));
    let target = target.map(|(_, array)| array.id());
    let rank = on_rank.unwrap_or_else(|| target.map_or(0, |array| table.owner(array)));
    let mut messages = Vec::new();
    for (_, array) in arrays().filter(|(mode, _)| *mode != AccessMode::W) {
        messages.extend(table.copy_to(array.id(), rank).map(|missing| (array, missing)));
    }
    for (_, array) in arrays().filter(|(mode, _)| mode.writes()) {
        table.written_on(array.id(), rank);
    }
    // Posting may run tasks, whose callbacks may drop arrays, which lock the table.
    drop(table);
    messages.iter().for_each(|(array, missing)| post(ranks, array, *missing, rank, location));
    Ok(rank == ranks.rank())
}

/// Gives every rank the value, before the host reads or writes it.
///
/// # Errors
/// If the array is a part, or the programs of the ranks differ.
pub(super) fn meet_for_access(
    host: &Host,
    array: &ArrayState,
    mode: AccessMode,
    call: &'static str,
    location: &'static Location<'static>,
) -> Result<()> {
    let Some(ranks) = host.ranks() else { return Ok(()) };
    let refuse = |fact| Error::at(ErrorKind::Ranks { fact }, location);
    if array.whole().is_some() {
        return Err(refuse(format!("{call}: a part of an array cannot be used over ranks")));
    }
    let number = ranks.table().number(array.id());
    ranks.meet(format!("{call} of array {number} at {location}")).map_err(refuse)?;
    let mut table = ranks.table();
    let missing = |rank| Some((rank, table.copy_to(array.id(), rank)?));
    let messages: Vec<_> = (0..ranks.len()).filter_map(missing).collect();
    if mode.writes() {
        table.written_everywhere(array.id());
    }
    drop(table);
    messages.iter().for_each(|(to, missing)| post(ranks, array, *missing, *to, location));
    Ok(())
}

/// The elements of an array while they are sent. Its task ends when they are dropped.
struct Sent(Option<External>);

impl AsRef<[u8]> for Sent {
    fn as_ref(&self) -> &[u8] {
        let external = self.0.as_ref().expect("only dropping takes it");
        external.bytes(0).expect("they were in main memory, where this access keeps them")
    }
}

impl Drop for Sent {
    fn drop(&mut self) {
        if let Some(external) = self.0.take() {
            external.complete(Ok(()));
        }
    }
}

/// An array whose value arrives.
struct Received(External);

impl Destination for Received {
    fn memory(&mut self, len: usize) -> std::result::Result<&mut [u8], String> {
        let bytes = self.0.bytes_mut(0)?;
        if bytes.len() == len {
            Ok(bytes)
        } else {
            Err(format!("a message of {len} bytes came for an array of {}", bytes.len()))
        }
    }

    fn arrived(self: Box<Self>, result: std::result::Result<(), String>) {
        self.0.complete(result);
    }
}

/// Posts this rank's end of a message, if it has one.
fn post(
    ranks: &Ranks,
    array: &ArrayState,
    Missing { from, tag }: Missing,
    to: usize,
    location: &'static Location<'static>,
) {
    let transport = Arc::clone(ranks.transport());
    if ranks.rank() == from {
        let failing = Arc::clone(&transport);
        let failed = Callback::new(move |failure| {
            if let Some(failure) = failure {
                failing.send(to, tag, Err(failure.to_string()));
            }
        });
        submit(array, &SEND, AccessMode::R, location, Some(failed), move |external| {
            match external.bytes(0).map(drop) {
                Ok(()) => transport.send(to, tag, Ok(Box::new(Sent(Some(external))))),
                Err(error) => external.complete(Err(error)),
            }
        });
    } else if ranks.rank() == to {
        submit(array, &RECEIVE, AccessMode::W, location, None, move |external| {
            transport.receive(from, tag, Box::new(Received(external)));
        });
    }
}

fn submit(
    array: &ArrayState,
    codelet: &'static Codelet,
    mode: AccessMode,
    location: &'static Location<'static>,
    callback: Option<Callback>,
    begin: impl FnOnce(External) + Send + 'static,
) {
    array.flush_pending(mode);
    let engine = &**array.engine();
    let mut draft = Draft::new(engine, Action::External(Call::new(codelet, None)), location);
    draft.push(array, mode, |layout| layout.set_contiguous(&[array.bytes()]));
    draft.set_party(Party::External(External::telling(begin)));
    if let Some(callback) = callback {
        draft.set_callback(callback);
    }
    let sequence = engine.host().next_sequence();
    draft.desc_mut().set_sequence(sequence);
    draft.submit();
    engine.serve_if_stopped();
}
