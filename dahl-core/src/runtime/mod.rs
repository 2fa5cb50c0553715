//! [`Runtime`]: the workers and what they share, as programs hold them; and its statistics.

mod account;
mod energy;
mod handle;
mod ranks;
mod seeds;

pub use handle::Runtime;
pub(crate) use seeds::Seeds;
