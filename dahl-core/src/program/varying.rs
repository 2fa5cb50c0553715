//! [`Varying`]: plain arguments of tasks that differ from call to call of a program, without another recording.
//!
//! A call has *numbers*: bytes in slots, which an argument of the program adds when it is bound. While the function is
//! recorded, the tasks submitted [`with_slot`] take their plain arguments from a slot: the first one its first bytes, and so
//! on. Random numbers are drawn from [`Draws`], by a placeholder of 64 random bits in place of the seed, which is
//! looked for in the arguments of all tasks when the recording ends. So the seed may reach a task on any way, through a tape
//! too. A placeholder in no task means that a seed was computed from it: such a recording is refused.
//! That other bytes are equal to a placeholder has a probability of 2^-64.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::ops::Range;

use crate::argument::Argument;
use crate::graph::SlotCursor;
use crate::sync::Mutex;

/// Plain arguments of a task that each call sets.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Varying {
    /// All of them are these of the call's numbers.
    Arguments {
        /// The slot.
        slot: usize,
        /// The bytes, of the numbers of all slots.
        bytes: Range<usize>,
    },
    /// The seed of random numbers and how many of them come before: two `u64`.
    Random {
        /// The first byte, of the arguments.
        at: usize,
        /// How many random numbers of the call come before.
        drawn: u64,
    },
}

/// The numbers of a call.
#[derive(Clone, Debug, Default)]
pub(super) struct CallNumbers {
    pub(super) bytes: Vec<u8>,
    /// The last byte of each slot, plus one.
    pub(super) ends: Vec<usize>,
    /// The seed of the call, and how many of its random numbers come before.
    pub(super) random: (u64, u64),
}

/// The plain arguments that the tasks of one slot get in a call, one after the other.
#[derive(Debug)]
pub struct Numbers<'n>(&'n mut Vec<u8>);

impl Numbers<'_> {
    /// Adds the next argument.
    pub fn push<A: Argument>(&mut self, argument: A) {
        let start = self.0.len();
        self.0.resize(start + A::SIZE_BYTES, 0);
        argument.encode(&mut self.0[start..]);
    }
}

impl CallNumbers {
    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }

    /// Takes over the numbers of another call for a replay, which does not need the slots.
    pub(super) fn copy_from(&mut self, other: &Self) {
        self.bytes.clone_from(&other.bytes);
        self.random = other.random;
    }

    /// Adds a slot: its number; none if it is empty.
    pub(super) fn slot(&mut self, write: impl FnOnce(&mut Numbers<'_>)) -> Option<usize> {
        let start = self.bytes.len();
        write(&mut Numbers(&mut self.bytes));
        (self.bytes.len() > start).then(|| {
            self.ends.push(self.bytes.len());
            self.ends.len() - 1
        })
    }

    /// The bytes of a slot, if there is one of this number.
    pub(super) fn range(&self, slot: usize) -> Option<Range<usize>> {
        let start = match slot.checked_sub(1) {
            Some(before) => *self.ends.get(before)?,
            None => 0,
        };
        Some(start..*self.ends.get(slot)?)
    }
}

impl Varying {
    /// Sets the arguments of a task for a call.
    pub(super) fn set(&self, arguments: &mut [u8], numbers: &CallNumbers) {
        match self {
            Self::Arguments { bytes, .. } => arguments.copy_from_slice(&numbers.bytes[bytes.clone()]),
            Self::Random { at, drawn } => {
                let (seed, before) = numbers.random;
                seed.encode(&mut arguments[*at..at + 8]);
                before.wrapping_add(*drawn).encode(&mut arguments[at + 8..at + 16]);
            }
        }
    }

    /// Whether a task with so many bytes of arguments has such arguments.
    pub(super) fn fits(&self, arguments: usize) -> bool {
        match self {
            Self::Arguments { bytes, .. } => bytes.len() == arguments,
            Self::Random { at, .. } => at.checked_add(16).is_some_and(|end| end <= arguments),
        }
    }

    /// The bytes that it sets, of so many bytes of arguments.
    pub(super) fn patched(&self, arguments: usize) -> Range<usize> {
        match self {
            Self::Arguments { .. } => 0..arguments,
            Self::Random { at, .. } => *at..at.saturating_add(16),
        }
    }

    /// How many bytes of numbers a call needs for it.
    pub(super) fn needs(&self) -> usize {
        match self {
            Self::Arguments { bytes, .. } => bytes.end,
            Self::Random { .. } => 0,
        }
    }
}

/// Calls `submit`, whose tasks take their plain arguments from a slot of the call's numbers if a program is being recorded.
pub fn with_slot<R>(slot: usize, submit: impl FnOnce() -> R) -> R {
    if crate::array::is_recording() { SlotCursor::at(slot).during(submit) } else { submit() }
}

/// The random numbers that a recording draws.
#[derive(Debug, Default)]
pub struct Draws(Mutex<Drawn>);

#[derive(Debug, Default)]
struct Drawn {
    placeholders: Vec<u64>,
    count: u64,
}

impl Draws {
    /// Draws `count` numbers: a placeholder for the seed, and how many were drawn before.
    pub fn draw(&self, count: u64) -> (u64, u64) {
        let mut drawn = self.0.lock().unwrap_or_else(|poison| poison.into_inner());
        let mut hasher = RandomState::new().build_hasher();
        hasher.write_usize(drawn.placeholders.len());
        let placeholder = hasher.finish();
        drawn.placeholders.push(placeholder);
        let before = drawn.count;
        drawn.count = before.wrapping_add(count);
        (placeholder, before)
    }

    /// How many numbers were drawn.
    pub(super) fn count(&self) -> u64 {
        self.0.lock().unwrap_or_else(|poison| poison.into_inner()).count
    }

    /// Finds the placeholders in the arguments of tasks, and takes them out. None if one is in no task.
    pub(super) fn find<'a>(
        &self,
        tasks: impl Iterator<Item = (&'a mut [u8], &'a mut Vec<Varying>)>,
    ) -> Option<()> {
        let drawn = self.0.lock().unwrap_or_else(|poison| poison.into_inner());
        if drawn.placeholders.is_empty() {
            return Some(());
        }
        let mut found = vec![false; drawn.placeholders.len()];
        for (arguments, varying) in tasks {
            let mut at = 0;
            while at + 16 <= arguments.len() {
                let seed = u64::decode(&arguments[at..at + 8]);
                let Some(draw) = drawn.placeholders.iter().position(|placeholder| *placeholder == seed)
                else {
                    at += 1;
                    continue;
                };
                found[draw] = true;
                varying.push(Varying::Random { at, drawn: u64::decode(&arguments[at + 8..at + 16]) });
                arguments[at..at + 8].fill(0);
                at += 16;
            }
        }
        found.iter().all(|found| *found).then_some(())
    }
}
