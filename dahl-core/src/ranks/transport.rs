//! [`Transport`]: what carries messages between ranks.

/// What a message is matched by, together with its sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Tag {
    /// The value of an array.
    Value {
        /// The number of the array, in the order of first use.
        array: u64,
        /// The number of writes before.
        version: u64,
    },
    /// The hash of a round: of what a rank has submitted since the one before.
    Meeting(u64),
    /// The hashes of the submissions of a round that differs.
    Hashes(u64),
    /// The line that differs in a round.
    Line(u64),
    /// A question for the time, for traces.
    ClockQuestion(u64),
    /// Its answer.
    ClockAnswer(u64),
}

/// The bytes of a message. Dropping them says that they have been sent: before, the sender keeps them as they are.
pub type Payload = Box<dyn AsRef<[u8]> + Send>;

/// A message: bytes, or the reason why there is no value.
pub type Message = Result<Payload, String>;

/// Where a message goes.
pub trait Destination: Send {
    /// The memory for a message of `len` bytes, which stays where it is until [`arrived`](Self::arrived) is called. The
    /// transport asks for it at most once.
    ///
    /// # Errors
    /// If a message of this length is not what is expected. The transport passes the error to `arrived`.
    fn memory(&mut self, len: usize) -> Result<&mut [u8], String>;

    /// The message is in the memory, or there is none for this reason. It is called on a thread of the transport, and does
    /// not wait.
    fn arrived(self: Box<Self>, result: Result<(), String>);
}

/// Carries messages between ranks. No call waits for another rank, and messages may arrive in any order.
pub trait Transport: Send + Sync {
    /// This rank, from 0.
    fn rank(&self) -> usize;

    /// The number of ranks.
    fn ranks(&self) -> usize;

    /// Sends a message. A tag is used once for each pair of ranks and direction.
    fn send(&self, to: usize, tag: Tag, message: Message);

    /// As [`send`](Self::send), if the bytes are in main memory at `there_ns`, in virtual time: the message does not leave before.
    fn send_at(&self, to: usize, tag: Tag, message: Message, there_ns: u64) {
        let _ = there_ns;
        self.send(to, tag, message);
    }

    /// Puts the message with this tag into `destination`, which hears once that it is there, or the cause when a rank has
    /// failed.
    fn receive(&self, from: usize, tag: Tag, destination: Box<dyn Destination>);

    /// In which order events happen on all ranks, if they are simulated machines.
    fn turns(&self) -> Option<&dyn Turns> {
        None
    }
}

/// The order of the events on simulated ranks: by their virtual time, on all ranks together.
pub trait Turns: Send + Sync {
    /// Says what happens next on this rank, whose clock is at `now_ns` and whose own next event is at `own_ns`, if there is one.
    /// Waits until no other rank has an earlier event.
    fn next(&self, now_ns: u64, own_ns: Option<u64>) -> Turn;
}

/// What happens next on a simulated rank.
pub enum Turn {
    /// Its own event.
    Own,
    /// What the network does at this time: a message has arrived, or has left.
    Network {
        /// The time, which is not before the rank's.
        time_ns: u64,
        /// What it does on this rank.
        event: Box<dyn FnOnce() + Send>,
    },
    /// Nothing, on any rank.
    Nothing,
}

/// Puts bytes into a destination, for transports that have them in memory.
pub fn deliver(message: Result<&[u8], String>, mut destination: Box<dyn Destination>) {
    let result = message.and_then(|bytes| {
        destination.memory(bytes.len())?.copy_from_slice(bytes);
        Ok(())
    });
    destination.arrived(result);
}
