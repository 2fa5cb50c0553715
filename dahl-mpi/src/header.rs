//! [`Header`]: what stands before the bytes of a message.

use dahl_core::ranks::Tag;

/// What a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A message of a program.
    Program(Tag),
    /// The reason why there is no value.
    NoValue(Tag),
    /// The rank answers.
    Answers,
    /// The program of the rank has failed; the text is the cause.
    Failed,
    /// Another rank does not answer; the text says which.
    Silent,
    /// The program of the rank has ended.
    Ended,
    /// The rank needs no messages any more.
    Leaves,
}

/// The kinds of tags.
const TAGS: u64 = 6;

/// The first bytes of each message, which are all unless the message is large.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) kind: Kind,
    /// The number of the run.
    pub(crate) run: u64,
    /// The length of the message.
    pub(crate) len: u64,
    /// If it is large: how many large messages there were before it.
    pub(crate) large: u64,
}

impl Header {
    pub(crate) const LEN: usize = 48;

    pub(crate) fn to_bytes(self) -> [u8; Self::LEN] {
        let of_tag = |tag| match tag {
            Tag::Value { array, version } => (0, array, version),
            Tag::Meeting(number) => (1, number, 0),
            Tag::Line(number) => (2, number, 0),
            Tag::ClockQuestion(number) => (3, number, 0),
            Tag::ClockAnswer(number) => (4, number, 0),
            Tag::Hashes(number) => (5, number, 0),
        };
        let (kind, first, second) = match self.kind {
            Kind::Program(tag) => of_tag(tag),
            Kind::NoValue(tag) => {
                let (kind, first, second) = of_tag(tag);
                (kind + TAGS, first, second)
            }
            Kind::Answers => (2 * TAGS, 0, 0),
            Kind::Failed => (2 * TAGS + 1, 0, 0),
            Kind::Silent => (2 * TAGS + 2, 0, 0),
            Kind::Ended => (2 * TAGS + 3, 0, 0),
            Kind::Leaves => (2 * TAGS + 4, 0, 0),
        };
        let mut bytes = [0; Self::LEN];
        let words = [kind, first, second, self.run, self.len, self.large];
        for (bytes, word) in bytes.chunks_exact_mut(8).zip(words) {
            bytes.copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }

    /// None if the bytes are no header.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let word = |word: usize| {
            let bytes = bytes.get(8 * word..8 * word + 8)?;
            Some(u64::from_le_bytes(bytes.try_into().ok()?))
        };
        let (kind, first, second) = (word(0)?, word(1)?, word(2)?);
        let tag = match kind % TAGS {
            0 => Tag::Value { array: first, version: second },
            1 => Tag::Meeting(first),
            2 => Tag::Line(first),
            3 => Tag::ClockQuestion(first),
            4 => Tag::ClockAnswer(first),
            _ => Tag::Hashes(first),
        };
        let kind = match (kind / TAGS, kind % TAGS) {
            (0, _) => Kind::Program(tag),
            (1, _) => Kind::NoValue(tag),
            (2, 0) => Kind::Answers,
            (2, 1) => Kind::Failed,
            (2, 2) => Kind::Silent,
            (2, 3) => Kind::Ended,
            (2, 4) => Kind::Leaves,
            _ => return None,
        };
        Some(Self { kind, run: word(3)?, len: word(4)?, large: word(5)? })
    }
}

#[cfg(test)]
mod tests {
    use dahl_core::ranks::Tag;

    use super::{Header, Kind};

    #[test]
    fn what_is_read_is_what_was_written() {
        let value = Tag::Value { array: 3, version: u64::MAX };
        let tags = [
            value,
            Tag::Meeting(4),
            Tag::Line(5),
            Tag::ClockQuestion(6),
            Tag::ClockAnswer(7),
            Tag::Hashes(8),
        ];
        let messages = tags.into_iter().flat_map(|tag| [Kind::Program(tag), Kind::NoValue(tag)]);
        let others = [Kind::Answers, Kind::Failed, Kind::Silent, Kind::Ended, Kind::Leaves];
        for kind in messages.chain(others) {
            let header = Header { kind, run: 7, len: 1 << 40, large: 9 };
            assert_eq!(Header::from_bytes(&header.to_bytes()), Some(header));
        }
        assert_eq!(Header::from_bytes(&[0; 40]), None, "it is too short");
    }
}
