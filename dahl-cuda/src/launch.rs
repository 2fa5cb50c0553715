//! How the kernel of a map is launched.

/// The threads of a block of every map.
pub const THREADS: u32 = 256;

/// The elements per block, until the number of blocks is limited: then each thread does more.
pub const ELEMENTS_PER_BLOCK: u64 = 1024;
