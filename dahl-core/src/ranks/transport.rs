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
    /// The hashes of a meeting.
    Meeting(u64),
    /// The line that differs at a meeting.
    Line(u64),
}

/// Called with a message's bytes, or with why there are none.
pub type Arrival = Box<dyn FnOnce(Result<Vec<u8>, String>) + Send>;

/// Carries messages between ranks. No call waits for another rank, and messages may arrive in any order.
pub trait Transport: Send + Sync {
    /// This rank, from 0.
    fn rank(&self) -> usize;

    /// The number of ranks.
    fn ranks(&self) -> usize;

    /// Sends bytes, or the reason why there is no value. A tag is used once for each pair of ranks and direction.
    fn send(&self, to: usize, tag: Tag, message: Result<Vec<u8>, String>);

    /// Calls `arrival` once, when the message with this tag is there, or with the cause when a rank has failed. It is
    /// called on a thread of the transport, and must not wait.
    fn receive(&self, from: usize, tag: Tag, arrival: Arrival);
}
