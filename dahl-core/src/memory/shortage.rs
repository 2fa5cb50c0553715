//! [`Shortage`]: memory that cannot be allocated, and why.
//!
//! Not here: what a submitting thread does before it reports a shortage (`engine::allocation`).

use std::fmt;

use super::holder::HOST;
use super::{MemoryHolder, MemoryNode};

/// The number of holders in the text.
const NAMED: usize = 3;

/// Memory that cannot be allocated.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Shortage {
    /// The memory node: `host`, or the device's name.
    pub memory: String,
    /// The requested bytes.
    pub bytes: usize,
    /// Bytes that are reserved in the memory node.
    pub reserved_bytes: usize,
    /// The limit of reserved bytes, if there is one.
    pub limit_bytes: Option<usize>,
    /// The arena's capacity and its used bytes, if that is the limit that was reached.
    pub capacity: Option<(usize, usize)>,
    /// The holders of the memory node's bytes, the largest first.
    pub holders: Vec<MemoryHolder>,
}

impl Shortage {
    /// The shortage of `bytes` bytes in `node`.
    pub(crate) fn new(node: &MemoryNode, bytes: usize) -> Self {
        Self {
            memory: node.name().to_owned(),
            bytes,
            reserved_bytes: node.reserved_bytes(),
            limit_bytes: node.limit_bytes(),
            capacity: None,
            holders: node.holders(),
        }
    }
}

impl fmt::Display for Shortage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { bytes, reserved_bytes, .. } = self;
        write!(f, "{bytes} bytes cannot be had: ")?;
        if let Some((capacity_bytes, used_bytes)) = self.capacity {
            return write!(
                f,
                "the arena's capacity is {capacity_bytes}, and {used_bytes} are in use; reset it earlier, or make it \
                 with a larger capacity"
            );
        }
        if self.memory != HOST {
            write!(f, "in the memory of `{}`, ", self.memory)?;
        }
        match self.limit_bytes {
            Some(limit_bytes) => write!(f, "{reserved_bytes} of {limit_bytes} bytes are reserved")?,
            None => write!(f, "the system has no more, and {reserved_bytes} are reserved")?,
        }
        for (index, holder) in self.holders.iter().take(NAMED).enumerate() {
            write!(f, "{}{holder}", if index == 0 { "; the largest holders: " } else { ", " })?;
        }
        match self.limit_bytes {
            Some(_) if self.memory != HOST => {
                write!(f, "; make the task smaller, or leave the choice of the worker to the scheduler")
            }
            Some(_) => write!(f, "; drop arrays, reset arenas, or raise DAHL_LIMIT_MB"),
            None => Ok(()),
        }
    }
}
