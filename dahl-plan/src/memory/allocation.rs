//! [`allocate`] and its result.

use super::buffer::Buffer;
use super::error::Error;
use super::instance::Scaled;
use super::options::Options;
use super::plan::Plan;

/// Offsets for all buffers, and what is proven of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Allocation {
    /// The offset of each buffer in bytes, in the order of the buffers.
    pub offsets: Vec<u64>,
    /// The bytes of the block: the largest sum of an offset and an aligned size.
    pub peak: u64,
    /// Bytes that every allocation needs. This is proven.
    pub lower_bound: u64,
    /// Whether no allocation has a lower peak: whether `peak` is `lower_bound`.
    pub optimal: bool,
}

/// Gives each buffer an offset such that no two that live at the same time share a byte.
///
/// With a capacity the result is some allocation that fits, or an error that says whether there is none. Without one it is
/// the allocation with the least peak, if the steps suffice to find it and to prove that there is no better one. The
/// result depends on the buffers, their order and the options only.
///
/// ```
/// use dahl_plan::memory::{Buffer, Options, allocate};
///
/// let buffer = |id, lower, upper, size| Buffer { id, lower, upper, size };
/// // The first and the last never live at the same time.
/// let buffers = [buffer(0, 0, 2, 64), buffer(1, 1, 3, 32), buffer(2, 2, 4, 64)];
/// let plan = allocate(&buffers, &Options::default())?;
/// assert_eq!(plan.peak, 96);
/// assert!(plan.optimal);
/// # Ok::<(), dahl_plan::memory::Error>(())
/// ```
///
/// # Errors
/// If a buffer lives at no time, the alignment is 0, or sizes add up to 2^62 bytes. With a capacity also if the buffers do not
/// fit into it, or if the steps did not suffice to find out.
pub fn allocate(buffers: &[Buffer], options: &Options) -> Result<Allocation, Error> {
    allocate_until(buffers, options, &mut || false)
}

/// As [`allocate`], and ends early, as if the steps were used up, once `stop` returns true. It is asked every few thousand
/// steps or more rarely.
///
/// # Errors
/// As [`allocate`].
pub fn allocate_until(
    buffers: &[Buffer],
    options: &Options,
    stop: &mut dyn FnMut() -> bool,
) -> Result<Allocation, Error> {
    let scaled = Scaled::new(buffers, options.alignment)?;
    let Scaled { instance, unit, position } = &scaled;
    let in_bytes = |offsets: &[u64], lower_bound: u64| {
        let mut all = vec![0; buffers.len()];
        position.iter().zip(offsets).for_each(|(&index, offset)| all[index] = offset * unit);
        let (peak, lower_bound) = (instance.peak(offsets) * unit, lower_bound * unit);
        Allocation { offsets: all, peak, lower_bound, optimal: peak == lower_bound }
    };
    let load = instance.lower_bound();
    let Some(capacity) = options.capacity else {
        let (offsets, lower_bound) = Plan::new(instance).minimise(load, options.steps, stop);
        return Ok(in_bytes(&offsets, lower_bound));
    };
    if load * unit > capacity {
        return Err(Error::DoesNotFit { capacity, lower_bound: load * unit, is_load: true });
    }
    let units = capacity / unit;
    let mut plan = Plan::new(instance);
    match plan.search(units, options.steps, stop) {
        Some(true) => Ok(in_bytes(&plan.offsets(), load)),
        Some(false) => Err(Error::DoesNotFit { capacity, lower_bound: (units + 1) * unit, is_load: false }),
        None => Err(Error::Undecided { capacity, best: Box::new(in_bytes(&plan.offsets(), load)) }),
    }
}
