//! The two ends of a message between ranks: the external tasks that send and receive an array, a part, or a piece of an
//! array.

use std::borrow::Cow;
use std::panic::Location;
use std::sync::Arc;

use super::draft::Draft;
use super::external::External;
use crate::access::AccessMode;
use crate::codelet::{Codelet, Parameter};
use crate::description::{Action, Call, MessageEnds};
use crate::element::ElementType;
use crate::graph::{ArrayState, Callback, Party};
use crate::ranks::{Awaited, Destination, Missing, Payload, Ranks, Reason, Tag};
use crate::shape::Layout;
use crate::sync::atomic::{AtomicBool, Ordering};

const BYTES: ElementType = ElementType::of::<u8>();

static SEND: Codelet = Codelet::new("send", module_path!(), 1)
    .parameters(&[Parameter::new("x", AccessMode::R, BYTES)])
    .arguments(MessageEnds::ARGUMENTS);
static RECEIVE: Codelet = Codelet::new("receive", module_path!(), 2)
    .parameters(&[Parameter::new("out", AccessMode::W, BYTES)])
    .arguments(MessageEnds::ARGUMENTS);
/// The elements of other pieces stay.
static RECEIVE_PIECE: Codelet = Codelet::new("receive", module_path!(), 3)
    .parameters(&[Parameter::new("out", AccessMode::RW, BYTES)])
    .arguments(MessageEnds::ARGUMENTS);

/// The elements of a copy are no more.
static DROP_COPY: Codelet =
    Codelet::new("drop_copy", module_path!(), 4).parameters(&[Parameter::new("copy", AccessMode::W, BYTES)]);

/// Contiguous elements while they are sent. Their task ends when they are dropped.
struct Sent {
    external: Option<External>,
    region: Option<Layout>,
}

impl AsRef<[u8]> for Sent {
    fn as_ref(&self) -> &[u8] {
        let external = self.external.as_ref().expect("only dropping takes it");
        match external.bytes(0, self.region) {
            Ok(Cow::Borrowed(bytes)) => bytes,
            _ => unreachable!("they were in main memory, where this access keeps them, and contiguous"),
        }
    }
}

impl Drop for Sent {
    fn drop(&mut self) {
        if let Some(external) = self.external.take() {
            external.complete(Ok(()));
        }
    }
}

/// The elements that a task sends.
fn payload(external: External, region: Option<Layout>) -> Option<Payload> {
    let packed = match external.bytes(0, region) {
        Ok(Cow::Borrowed(_)) => None,
        Ok(Cow::Owned(packed)) => Some(Ok(packed)),
        Err(error) => Some(Err(error)),
    };
    match packed {
        None => Some(Box::new(Sent { external: Some(external), region })),
        Some(Ok(packed)) => {
            external.complete(Ok(()));
            Some(Box::new(packed))
        }
        Some(Err(error)) => {
            external.complete(Err(error));
            None
        }
    }
}

/// Elements that arrive: in place, if they are contiguous.
struct Received {
    external: External,
    region: Option<Layout>,
    bytes: usize,
    packed: Option<Vec<u8>>,
    awaited: (Arc<Awaited>, usize, Tag),
}

impl Destination for Received {
    fn memory(&mut self, len: usize) -> Result<&mut [u8], String> {
        if len != self.bytes {
            return Err(format!("a message of {len} bytes came for {}", self.bytes));
        }
        match self.external.bytes_mut(0, self.region)? {
            Some(bytes) => Ok(bytes),
            None => Ok(self.packed.insert(vec![0; len])),
        }
    }

    fn arrived(mut self: Box<Self>, result: Result<(), String>) {
        let (awaited, from, tag) = &self.awaited;
        awaited.remove(*from, *tag);
        let unpacked = result.and_then(|()| match &self.packed {
            Some(packed) => self.external.write(0, self.region, packed),
            None => Ok(()),
        });
        self.external.complete(unpacked);
    }
}

/// Elements that nobody wants any more: their task was cancelled. The other rank has sent them, and waits until they have come.
#[derive(Default)]
struct Discarded(Vec<u8>);

impl Destination for Discarded {
    fn memory(&mut self, len: usize) -> Result<&mut [u8], String> {
        self.0.resize(len, 0);
        Ok(&mut self.0)
    }

    fn arrived(self: Box<Self>, _: Result<(), String>) {}
}

/// Posts this rank's end of a message to rank `to`, if it has one.
pub(super) fn post(
    ranks: &Ranks,
    array: &ArrayState,
    Missing { from, tag, region }: Missing,
    to: usize,
    location: &'static Location<'static>,
) {
    let transport = Arc::clone(ranks.transport());
    let Tag::Value { array: number, version } = tag else { unreachable!("the table names values") };
    let ends = MessageEnds { from, to, array: number, version };
    let bytes = region.map_or(array.bytes(), |region| region.len() * array.element_bytes());
    if ranks.rank() == from {
        ranks.sent().add(bytes);
        let failing = Arc::clone(&transport);
        let failed = Callback::new(move |failure| {
            if let Some(failure) = failure {
                failing.send(to, tag, Err(failure.to_string()));
            }
        });
        submit(array, (&SEND, Some(ends)), AccessMode::R, location, Some(failed), move |external| {
            let there_ns = external.fetched_ns(0);
            if let Some(payload) = payload(external, region) {
                transport.send_at(to, tag, Ok(payload), there_ns);
            }
        });
    } else if ranks.rank() == to {
        let (codelet, mode) =
            if region.is_some() { (&RECEIVE_PIECE, AccessMode::RW) } else { (&RECEIVE, AccessMode::W) };
        let awaited = Arc::clone(ranks.awaited());
        let has_begun = Arc::new(AtomicBool::new(false));
        let (begins, discarding) = (Arc::clone(&has_begun), Arc::clone(&transport));
        let cancelled = Callback::new(move |failure| {
            if failure.is_some() && !has_begun.load(Ordering::Acquire) {
                discarding.receive(from, tag, Box::<Discarded>::default());
            }
        });
        submit(array, (codelet, Some(ends)), mode, location, Some(cancelled), move |external| {
            begins.store(true, Ordering::Release);
            awaited.add(from, tag, Reason::Value(location));
            let awaited = (awaited, from, tag);
            transport.receive(
                from,
                tag,
                Box::new(Received { external, region, bytes, packed: None, awaited }),
            );
        });
    }
}

/// Drops this rank's copy of an array, and gives its memory back, when the tasks before have ended. `bytes` of it were gathered.
pub(crate) fn drop_copy(
    ranks: &Ranks,
    array: &ArrayState,
    bytes: usize,
    location: &'static Location<'static>,
) {
    let (gathered, progress) = (Arc::clone(ranks.gathered()), Arc::clone(array.host().progress()));
    let ended = Callback::new(move |_| {
        gathered.remove(bytes);
        progress.notify();
    });
    submit(array, (&DROP_COPY, None), AccessMode::W, location, Some(ended), |mut external| {
        external.forget(0);
        external.complete(Ok(()));
    });
}

fn submit(
    array: &ArrayState,
    (codelet, ends): (&'static Codelet, Option<MessageEnds>),
    mode: AccessMode,
    location: &'static Location<'static>,
    callback: Option<Callback>,
    begin: impl FnOnce(External) + Send + 'static,
) {
    array.flush_pending(mode);
    let engine = &**array.engine();
    let mut draft = Draft::new(engine, Action::External(Call::new(codelet, None)), location);
    draft.push(array, mode, |layout| layout.set_contiguous(&[array.bytes()]));
    if let Some(ends) = ends {
        ends.push_to(draft.desc_mut());
    }
    draft.set_party(Party::External(External::telling(begin)));
    if let Some(callback) = callback {
        draft.set_callback(callback);
    }
    let sequence = engine.host().next_sequence();
    draft.desc_mut().set_sequence(sequence);
    draft.submit();
    engine.serve_if_stopped();
}
