//! Vectorisation: [`dispatch`] compiles a loop once per level of the instruction set and runs the best at run time.
//!
//! Kernels are plain loops over slices. The compiler turns such a loop into vector instructions of the widest kind it
//! may assume, which for a portable binary is SSE2. A loop inside [`Vectorised::run`] is instead compiled several
//! times, for each [`Level`], and [`dispatch`] picks the instance at run time, without `-C target-cpu`.
//!
//! The result does not depend on the level: the loops, the elementary functions ([`Real`](crate::element::Real)) and
//! the reductions of this room ([`sum`], [`dot`], [`max`], [`min`]) use no operation whose rounding differs between
//! levels, and no level changes the order of additions.
//!
//! Not here: what is computed (kernels are declared elsewhere) and how work is divided among cores (`worker`).

pub(crate) mod conversion;
pub(crate) mod level;
pub(crate) mod map;
pub(crate) mod math;
mod past_caches;
mod reduction;
mod rows;
mod stream;
mod vendor;

pub(crate) use conversion::{narrow_slice, widen_slice};
use level::At;
pub use level::{Level, Vectorised, dispatch, level};
pub use past_caches::{PastCaches, past_caches};
pub use reduction::{BLOCK, dot, max, min, sum};
pub use vendor::{Vendor, vendor};
