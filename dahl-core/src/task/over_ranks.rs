//! Tasks over several ranks: which rank runs a task, and which messages it needs. `ranks/README.md` says why all ranks
//! post the two ends of each message.

use std::hash::Hash as _;
use std::panic::Location;

use super::draft::Draft;
use super::message::{drop_copy, post};
use crate::access::AccessMode;
use crate::error::{Error, ErrorKind, Result};
use crate::graph::{ArrayState, Engine, Host, Partition, PartitionKey};
use crate::ranks::{Note, Ranks, Waiting};
use crate::shape::Layout;

/// An access of a task to a sharded array of another rank. The rank that runs the task drops its copy after it.
pub(crate) struct Passing {
    /// The index of the access.
    pub(crate) access: usize,
    /// The bytes that the rank receives for it; 0 if it had the copy.
    pub(crate) bytes: usize,
}

/// Decides where the task runs, and posts the messages that it needs. `details` is a hash of what must be the same on all ranks beside
/// arrays and plain arguments. Returns nothing if the task runs on another rank, else which copies are dropped after it. Waits for
/// earlier tasks while this rank has too much of sharded arrays, and for ranks that are far behind.
///
/// # Errors
/// If the programs of the ranks differ.
pub(crate) fn runs_here<E: Engine + ?Sized>(
    draft: &Draft<'_, E>,
    ranks: &Ranks,
    on_rank: Option<usize>,
    details: u64,
) -> Result<Option<Vec<Passing>>> {
    let until = |holds: &dyn Fn() -> bool| draft.engine().wait_until(holds);
    let waiting = Waiting { until: &until, progress: draft.host().progress() };
    ranks
        .compare_if_due(&waiting)
        .map_err(|fact| Error::at(ErrorKind::Ranks { fact }, draft.desc().location()))?;
    let on_rank = on_rank.or_else(|| ranks.placement());
    let (desc, location) = (draft.desc(), draft.desc().location());
    let arrays =
        || desc.accesses().zip(draft.arrays()).filter_map(|(access, array)| Some((access.mode, array?)));
    let codelet = desc.codelet().name;
    // On all ranks, since the table then says that their wholes are in pieces.
    arrays().for_each(|(mode, array)| array.partitions().rejoin(array, mode));
    let mut table = ranks.table();
    ranks.note(Note::task(codelet, location, |hasher| {
        for (access, array) in desc.accesses().zip(draft.arrays()) {
            let number = array.map_or(u64::MAX, |array| table.number(array.id()));
            (number, access.layout.extents(), access.mode.name()).hash(hasher);
        }
        (desc.arguments(), details, on_rank).hash(hasher);
    }));
    let is_redux = |mode: AccessMode| matches!(mode, AccessMode::REDUX(_));
    let target =
        arrays().find(|(mode, _)| is_redux(*mode)).or_else(|| arrays().find(|(mode, _)| mode.writes()));
    let target = target.map(|(_, array)| array.id());
    let rank = on_rank.unwrap_or_else(|| target.map_or(0, |array| table.owner(array)));
    let mut messages = Vec::new();
    for (_, array) in arrays().filter(|(mode, _)| *mode != AccessMode::W) {
        messages.extend(table.copy_to(array.id(), rank).into_iter().map(|missing| (array, missing)));
    }
    let mut stale = Vec::new();
    for (_, array) in arrays().filter(|(mode, _)| mode.writes()) {
        stale.extend(table.loses(array.id(), ranks.rank(), rank).then_some(array));
        table.written_on(array.id(), rank);
    }
    let mut passing = Vec::new();
    for (access, array) in draft.arrays().enumerate() {
        if let Some(array) = array.filter(|array| table.drop_on(array.id(), rank)) {
            let is_received = messages.iter().any(|(received, _)| received.id() == array.id());
            passing.push(Passing { access, bytes: if is_received { array.bytes() } else { 0 } });
        }
    }
    // Posting may run tasks, whose callbacks may drop arrays, which lock the table.
    drop(table);
    let bytes = passing.iter().map(|passing| passing.bytes).sum::<usize>();
    if rank == ranks.rank() && bytes > 0 {
        let gathered = ranks.gathered();
        if !gathered.has_room(bytes) {
            draft.engine().wait_until(&|| gathered.has_room(bytes));
        }
        gathered.add(bytes);
    }
    messages.iter().for_each(|(array, missing)| post(ranks, array, *missing, rank, location));
    stale.iter().for_each(|array| drop_copy(ranks, array, 0, location));
    Ok((rank == ranks.rank()).then_some(passing))
}

/// Sets whether an array is sharded: then its owner alone keeps it, and its copies are dropped. The caller has the only borrow of the
/// array, so the host has no view of it. A part stays as it is.
pub(crate) fn set_sharded(
    ranks: &Ranks,
    array: &ArrayState,
    is_sharded: bool,
    location: &'static Location<'static>,
) {
    if array.whole().is_some() {
        return;
    }
    let mut table = ranks.table();
    let (number, owner) = (table.number(array.id()), table.owner(array.id()));
    drop(table);
    if is_sharded {
        send_to(ranks, array, owner, "shard", location);
    }
    ranks.note(Note::call(format!("array {number} is sharded: {is_sharded} at {location}")));
    let mut table = ranks.table();
    table.set_sharded(array.id(), is_sharded);
    let are_dropped: Vec<bool> = (0..ranks.len()).map(|rank| table.drop_on(array.id(), rank)).collect();
    drop(table);
    if are_dropped[ranks.rank()] {
        drop_copy(ranks, array, 0, location);
    }
}

/// Gives every rank the value, before the host reads or writes it.
///
/// # Errors
/// If the programs of the ranks differ.
pub(super) fn meet_for_access(
    host: &Host,
    array: &ArrayState,
    mode: AccessMode,
    call: &'static str,
    location: &'static Location<'static>,
) -> Result<()> {
    let Some(ranks) = host.ranks() else { return Ok(()) };
    let refuse = |fact| Error::at(ErrorKind::Ranks { fact }, location);
    array.partitions().rejoin(array, mode);
    let number = ranks.table().number(array.id());
    let until = |holds: &dyn Fn() -> bool| array.engine().wait_until(holds);
    let waiting = Waiting { until: &until, progress: host.progress() };
    ranks.meet(format!("{call} of array {number} at {location}"), &waiting).map_err(refuse)?;
    let mut table = ranks.table();
    let missing = |rank| table.copy_to(array.id(), rank).into_iter().map(move |missing| (rank, missing));
    let messages: Vec<_> = (0..ranks.len()).flat_map(missing).collect();
    if mode.writes() {
        table.written_everywhere(array.id());
    } else {
        table.viewed(array.id());
    }
    drop(table);
    messages.iter().for_each(|(to, missing)| post(ranks, array, *missing, *to, location));
    Ok(())
}

/// Gives rank `to` the value, for a call of the host that waits for nothing.
pub(crate) fn send_to(
    ranks: &Ranks,
    array: &ArrayState,
    to: usize,
    line: &str,
    location: &'static Location<'static>,
) {
    array.partitions().rejoin(array, AccessMode::R);
    let mut table = ranks.table();
    let line = format!("{line} of array {} to rank {to} at {location}", table.number(array.id()));
    ranks.note(Note::call(line));
    let messages = table.copy_to(array.id(), to);
    drop(table);
    messages.iter().for_each(|missing| post(ranks, array, *missing, to, location));
}

/// Sends what a partition needs before it begins.
pub(super) fn before_split(
    ranks: &Ranks,
    whole: &ArrayState,
    key: PartitionKey<'_>,
    layout: &Layout,
    location: &'static Location<'static>,
) {
    let mut table = ranks.table();
    let parts: Vec<_> = key.lengths.ranges().map(|(begin, len)| layout.part(key.axis, begin, len)).collect();
    let (number, axis) = (table.number(whole.id()), key.axis);
    let lengths: Vec<_> = key.lengths.ranges().map(|(_, length)| length).collect();
    let kind = if key.shared { "shared partition" } else { "partition" };
    let line = format!("{kind} of array {number} along axis {axis} into parts of {lengths:?} at {location}");
    ranks.note(Note::call(line));
    let messages = table.before_split(whole.id(), &parts, key.shared);
    drop(table);
    messages.iter().for_each(|(to, missing)| post(ranks, whole, *missing, *to, location));
}

/// A partition has begun.
pub(super) fn after_split(ranks: &Ranks, whole: &ArrayState, partition: &Partition) {
    ranks.table().split(whole.id(), partition.part_layouts(), partition.shared);
}

/// A partition has ended.
pub(super) fn after_join(ranks: &Ranks, whole: &ArrayState, partition: &Partition) {
    ranks.table().join(whole.id(), partition.part_layouts(), partition.shared);
}
