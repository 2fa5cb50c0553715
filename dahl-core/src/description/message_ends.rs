//! [`MessageEnds`]: which message an external task sends or receives.

use super::TaskDesc;

/// A message between ranks: the value of an array after some writes, from one rank to another. The tasks that send and
/// receive it have these numbers as their arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MessageEnds {
    pub(crate) from: usize,
    pub(crate) to: usize,
    /// The number of the array, which is the same on all ranks.
    pub(crate) array: u64,
    /// How often it had been written.
    pub(crate) version: u64,
}

impl MessageEnds {
    /// The names of the arguments, by which such a codelet is known.
    pub(crate) const ARGUMENTS: &[&str] = &["from", "to", "array", "version"];

    /// Adds the arguments.
    pub(crate) fn push_to(self, desc: &mut TaskDesc) {
        for number in [self.from as u64, self.to as u64, self.array, self.version] {
            desc.push_argument(8).copy_from_slice(&number.to_le_bytes());
        }
    }

    /// The message of a task, if it sends or receives one.
    pub(crate) fn of(desc: &TaskDesc) -> Option<Self> {
        let is_message = !desc.is_kernel() && desc.codelet_if_any()?.arguments == Self::ARGUMENTS;
        let mut numbers = desc.arguments().chunks_exact(8).filter(|_| is_message).map(|bytes| {
            let mut number = [0; 8];
            number.copy_from_slice(bytes);
            u64::from_le_bytes(number)
        });
        let (from, to) = (numbers.next()? as usize, numbers.next()? as usize);
        Some(Self { from, to, array: numbers.next()?, version: numbers.next()? })
    }
}

#[cfg(test)]
mod tests {
    use std::panic::Location;

    use super::MessageEnds;
    use crate::codelet::Codelet;
    use crate::description::{Action, Call, TaskDesc};

    static SEND: Codelet = Codelet::new("send", module_path!(), 1).arguments(MessageEnds::ARGUMENTS);
    static OTHER: Codelet = Codelet::new("other", module_path!(), 2).arguments(&["from"]);

    #[test]
    fn a_task_says_what_it_sends() {
        let ends = MessageEnds { from: 3, to: 1, array: 1 << 40, version: 7 };
        let mut desc = TaskDesc::new();
        desc.begin(Action::External(Call::new(&SEND, None)), Location::caller());
        ends.push_to(&mut desc);
        assert_eq!(MessageEnds::of(&desc), Some(ends));
        desc.begin(Action::External(Call::new(&OTHER, None)), Location::caller());
        ends.push_to(&mut desc);
        assert_eq!(MessageEnds::of(&desc), None, "another codelet");
    }
}
