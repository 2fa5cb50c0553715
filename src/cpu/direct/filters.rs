//! [`Filters`]: filters in the order in which [`convolve`](super::convolve()) reads them.

use dahl_core::Real;

/// The most filters whose sums are in registers at a time.
pub(super) const MOST: usize = 6;

/// The order in which a convolution reads filters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Order {
    /// As stored: `[out_channels, in_channels, taps]`.
    Forward,
    /// For the gradient by the input: `[in_channels, out_channels, taps]`, the taps from the last to the first.
    Reversed,
}

/// Filters in blocks of a few: for each channel and tap, those of a block lie side by side.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Filters {
    pub(crate) out_channels: usize,
    pub(crate) in_channels: usize,
    pub(crate) taps: usize,
}

/// Divides `count` filters or channels into blocks of nearly the same size, at most `most`: where each begins, and its
/// size.
pub(super) fn blocks(count: usize, most: usize) -> impl Iterator<Item = (usize, usize)> + Clone {
    let blocks = count.div_ceil(most);
    (0..blocks).map(move |block| {
        let (begin, end) = (block * count / blocks, (block + 1) * count / blocks);
        (begin, end - begin)
    })
}

/// The same, with blocks of whole `units` except for the last one: of nearly the same size, and at least one unit.
pub(super) fn blocks_of_units(
    count: usize,
    most: usize,
    unit: usize,
) -> impl Iterator<Item = (usize, usize)> + Clone {
    blocks(count.div_ceil(unit), (most / unit).max(1)).map(move |(begin, size)| {
        let (begin, end) = (begin * unit, count.min((begin + size) * unit));
        (begin, end - begin)
    })
}

/// `$then`, where the constant `$F` is the size of a block: from 1 to [`MOST`], or to the constant `$most`.
macro_rules! of_size {
    ($size:expr, $F:ident => $then:expr) => {
        of_size!($size, at most $crate::cpu::direct::filters::MOST, $F => $then)
    };
    ($size:expr, at most $most:expr, $F:ident => $then:expr) => {
        of_size!(@ [1, 2, 3, 4, 5, 6] $size, $most, $F => $then)
    };
    (@ [$($count:expr),*] $size:expr, $most:expr, $F:ident => $then:expr) => {
        match $size {
            // `const`, so that code for larger blocks is not compiled.
            $(size if const { $count <= $most } && size == $count => {
                const $F: usize = $count;
                $then
            })*
            _ => unreachable!("a block has at most so many filters, and at least one"),
        }
    };
}
pub(super) use of_size;
const _: () = assert!(MOST == 6, "`of_size` has all sizes");

impl Filters {
    pub(crate) fn len(&self) -> usize {
        self.out_channels * self.in_channels * self.taps
    }

    /// Writes filters to `packed`, in blocks. `out_channels` and `in_channels` are those of the convolution that uses
    /// them: with [`Order::Reversed`] the filters are stored the other way round.
    pub(crate) fn pack<T: Real>(&self, filters: &[T], order: Order, packed: &mut [T::Compute]) {
        assert!(filters.len() == self.len() && packed.len() == self.len());
        self.pack_channels(self.in_channels, packed, |filter, channel, tap| {
            filters[self.place(order, filter, channel, tap)].widen()
        });
    }

    /// The same for `channels`, with the elements that `element` returns for a filter, a channel and a tap.
    pub(super) fn pack_channels<E>(
        &self,
        channels: usize,
        packed: &mut [E],
        element: impl Fn(usize, usize, usize) -> E,
    ) {
        let mut packed = packed.iter_mut();
        for (begin, size) in blocks(self.out_channels, MOST) {
            for channel in 0..channels {
                for tap in 0..self.taps {
                    for filter in begin..begin + size {
                        *packed.next().expect("as many as there are") = element(filter, channel, tap);
                    }
                }
            }
        }
    }

    /// The index of the element of a filter, a channel and a tap.
    pub(super) fn place(&self, order: Order, filter: usize, channel: usize, tap: usize) -> usize {
        let Self { out_channels, in_channels, taps } = *self;
        match order {
            Order::Forward => (filter * in_channels + channel) * taps + tap,
            Order::Reversed => (channel * out_channels + filter) * taps + taps - 1 - tap,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_of_nearly_one_size() {
        let sizes = |count| blocks(count, 6).map(|(_, size)| size).collect::<Vec<_>>();
        assert_eq!(sizes(4), [4]);
        assert_eq!(sizes(7), [3, 4]);
        assert_eq!(sizes(13), [4, 4, 5]);
        assert_eq!(sizes(64).iter().sum::<usize>(), 64);
        assert!(sizes(64).iter().all(|&size| size == 5 || size == 6));
        assert!(sizes(0).is_empty());
    }

    #[test]
    fn filters_of_a_block_lie_side_by_side() {
        let filters: Vec<f32> = (0..12).map(|value| value as f32).collect();
        let mut packed = [0.0; 12];
        Filters { out_channels: 3, in_channels: 2, taps: 2 }.pack(&filters, Order::Forward, &mut packed);
        assert_eq!(packed, [0.0, 4.0, 8.0, 1.0, 5.0, 9.0, 2.0, 6.0, 10.0, 3.0, 7.0, 11.0]);
        Filters { out_channels: 2, in_channels: 3, taps: 2 }.pack(&filters, Order::Reversed, &mut packed);
        assert_eq!(packed, [1.0, 3.0, 0.0, 2.0, 5.0, 7.0, 4.0, 6.0, 9.0, 11.0, 8.0, 10.0]);
    }
}
