//! [`TiledFilters`] and [`TiledGradient`]: convolution and gradient in AMX tile registers, which are multiplied as
//! matrices.
//!
//! * A convolution multiplies packed filters of pairs of channels with planes of pairs as they are: the distance from
//!   the plane of one pair to that of the next is the same for every tap and position.
//! * A gradient multiplies planes as they are, channels of neighbouring positions, with the transposed gradient by the
//!   sums, whose pairs of positions are side by side for all filters.

use half::bf16;

use crate::cpu::bf16_dot::Pair;
use crate::cpu::direct::filters::Filters;
use crate::cpu::direct::plane::Plane;
use crate::cpu::tiles::{BLOCK, Initial, Left, Right, SIDE, Step, Sums, Tiles, are_there};

/// Tiles sum even and odd products separately, vectors alternately. While only convolutions of many filters would use
/// tiles, the last bits of a filter's sums would depend on the number of filters. So convolutions do not use tiles
/// until both sum in one order.
const ADD_AS_VECTORS_DO: bool = false;

/// Whether tiles are faster than vectors: if few of their elements would be zeros.
pub(in crate::cpu::direct) fn are_worthwhile(shape: &Filters) -> bool {
    ADD_AS_VECTORS_DO && are_there() && shape.in_channels >= SIDE / 2 && shape.out_channels >= SIDE / 2
}

/// Rows of a block when so many are left.
fn rows_of(left: usize) -> usize {
    if left <= SIDE { SIDE } else { BLOCK }
}

const fn bytes(pairs: usize) -> usize {
    pairs * size_of::<Pair>()
}

/// Filters of a convolution: `[out_channels / BLOCK, pairs / SIDE, taps, BLOCK, SIDE]`, padded with zeros after the
/// last filter and the last pair.
pub(in crate::cpu::direct) struct TiledFilters<'a> {
    filters: &'a mut [Pair],
    /// The initial sums of each filter: `[out_channels, BLOCK]`.
    initial: &'a mut [f32],
    /// From one tile of a filter, and of the planes, to the next.
    steps: &'a mut [Step],
}

impl<'a> TiledFilters<'a> {
    /// The planes of pairs that are needed.
    pub(super) fn planes(shape: &Filters) -> usize {
        shape.in_channels.div_ceil(2).next_multiple_of(SIDE)
    }

    /// The lengths of the filters and of the initial sums.
    pub(super) fn lengths(shape: &Filters) -> [usize; 2] {
        let filters = shape.out_channels.next_multiple_of(BLOCK);
        [filters * Self::planes(shape) * shape.taps, filters * BLOCK]
    }

    /// The number of steps.
    pub(in crate::cpu::direct) fn steps(shape: &Filters) -> usize {
        Self::planes(shape) / SIDE * shape.taps
    }

    /// Packs the pairs that `element` returns for a filter, a pair of channels and a tap.
    pub(super) fn pack(
        shape: &Filters,
        plane: &Plane,
        bias: Option<&[f32]>,
        (filters, initial): (&'a mut [Pair], &'a mut [f32]),
        steps: &'a mut [Step],
        element: impl Fn(usize, usize, usize) -> Pair,
    ) -> Self {
        filters.fill([bf16::ZERO; 2]);
        let (groups, taps) = (Self::planes(shape) / SIDE, shape.taps);
        for filter in 0..shape.out_channels {
            for pair in 0..shape.in_channels.div_ceil(2) {
                for tap in 0..taps {
                    let step = (filter / BLOCK * groups + pair / SIDE) * taps + tap;
                    filters[(step * BLOCK + filter % BLOCK) * SIDE + pair % SIDE] =
                        element(filter, pair, tap);
                }
            }
        }
        for (filter, initial) in initial.chunks_exact_mut(BLOCK).enumerate() {
            initial.fill(bias.and_then(|bias| bias.get(filter)).copied().unwrap_or(0.0));
        }
        for (index, step) in steps.iter_mut().enumerate() {
            let (group, tap) = (index / taps, index % taps);
            *step = Step {
                left: bytes(index * BLOCK * SIDE),
                right: bytes(group * SIDE * plane.len() + plane.offset(tap)),
            };
        }
        Self { filters, initial, steps }
    }

    /// Computes the sums of up to [`BLOCK`] filters from number `begin` on, at all positions. Each filter's part of
    /// `sums` is `sums_len` long.
    #[allow(unsafe_code, reason = "tiles are loaded through pointers")]
    pub(super) fn add_up(
        &self,
        (begin, size): (usize, usize),
        plane: &Plane,
        planes: &[Pair],
        sums: &mut [f32],
        sums_len: usize,
    ) {
        let rows = rows_of(size);
        let block = self.steps.len() * BLOCK * SIDE;
        let filters = &self.filters[begin / BLOCK * block..][..block];
        let initial = &self.initial[begin * BLOCK..][..rows * BLOCK];
        let positions = plane.positions().next_multiple_of(BLOCK);
        let last = self.steps.last().map_or(0, |step| step.right / size_of::<Pair>());
        assert!(begin % BLOCK == 0 && sums_len >= positions && sums.len() >= rows * sums_len);
        assert!(planes.len() >= last + (SIDE - 1) * plane.len() + positions);
        let left = Left { first: filters.as_ptr(), row_bytes: bytes(SIDE), rows };
        let initial = Initial { first: initial.as_ptr(), row_bytes: BLOCK * size_of::<f32>() };
        Tiles::with(|tiles| {
            for position in (0..positions).step_by(BLOCK) {
                let right =
                    Right { first: planes.as_ptr().wrapping_add(position), row_bytes: bytes(plane.len()) };
                let sums = Sums {
                    first: sums.as_mut_ptr().wrapping_add(position),
                    row_bytes: sums_len * size_of::<f32>(),
                };
                // SAFETY:
                // - a block of filters has a tile, or two, for each step.
                // - the last row of the last step's planes begins at `last + (SIDE - 1) * len`, and has the positions up
                //   to `positions` behind it, as asserted; no step goes further than the last.
                // - `sums` has `rows` parts, each with as many elements as positions, as asserted; it is borrowed mutably.
                unsafe { tiles.add_products(left, right, self.steps, initial, sums) };
            }
        });
    }
}

/// The gradient by the filters, summed over all images: `[taps, in_channels, filters]`, and its working memory.
pub(in crate::cpu::direct) struct TiledGradient<'a> {
    shape: Filters,
    /// The gradient by the sums: all filters of each pair of positions, padded with zeros.
    parts: &'a mut [Pair],
    sums: &'a mut [f32],
    /// From one tile of positions to the next.
    steps: &'a mut [Step],
}

impl<'a> TiledGradient<'a> {
    /// The planes that are needed.
    pub(in crate::cpu::direct) fn planes(shape: &Filters) -> usize {
        shape.in_channels.next_multiple_of(SIDE)
    }

    /// The lengths of parts and of sums, for so many filters at a time, and the number of steps.
    pub(in crate::cpu::direct) fn lengths(shape: &Filters, filters: usize, positions: usize) -> [usize; 3] {
        let (filters, steps) = (filters.next_multiple_of(BLOCK), positions.div_ceil(BLOCK));
        [filters * steps * SIDE, shape.taps * Self::planes(shape) * filters, steps]
    }

    pub(in crate::cpu::direct) fn new(
        shape: Filters,
        parts: &'a mut [Pair],
        sums: &'a mut [f32],
        steps: &'a mut [Step],
    ) -> Self {
        Self { shape, parts, sums, steps }
    }

    /// Filters, padding included.
    fn filters(&self) -> usize {
        self.sums.len() / (self.shape.taps * Self::planes(&self.shape))
    }

    /// Starts the sums of other filters.
    pub(in crate::cpu::direct) fn begin(&mut self) {
        let filters = self.filters();
        self.sums.fill(0.0);
        for (index, step) in self.steps.iter_mut().enumerate() {
            *step = Step { left: index * 2 * SIDE * size_of::<bf16>(), right: bytes(index * SIDE * filters) };
        }
    }

    /// Adds the products of one image to the sums of all channels and filters. Parts are `part_len` long, one for each
    /// filter.
    #[allow(unsafe_code, reason = "tiles are loaded through pointers")]
    pub(super) fn add_image(&mut self, plane: &Plane, planes: &[bf16], parts: &[bf16], part_len: usize) {
        let (channels, filters) = (Self::planes(&self.shape), self.filters());
        let positions = self.steps.len() * 2 * SIDE;
        assert!(part_len >= positions && parts.len() <= filters * part_len);
        assert_eq!(self.parts.len(), positions / 2 * filters);
        let last = (channels - 1) * plane.len() + plane.offset(self.shape.taps - 1);
        assert!(planes.len() >= last + positions);
        Tiles::with(|tiles| {
            self.exchange(tiles, parts, part_len);
            for tap in 0..self.shape.taps {
                for channel in (0..channels).step_by(BLOCK) {
                    let rows = rows_of(channels - channel);
                    for filter in (0..filters).step_by(BLOCK) {
                        let first = planes.as_ptr().wrapping_add(channel * plane.len() + plane.offset(tap));
                        let left =
                            Left { first: first.cast(), row_bytes: plane.len() * size_of::<bf16>(), rows };
                        let right = Right {
                            first: self.parts.as_ptr().wrapping_add(filter),
                            row_bytes: bytes(filters),
                        };
                        let sums = &mut self.sums[(tap * channels + channel) * filters + filter..]
                            [..(rows - 1) * filters + BLOCK];
                        let sums = Sums { first: sums.as_mut_ptr(), row_bytes: filters * size_of::<f32>() };
                        // SAFETY:
                        // - the last of `rows` planes has `positions` elements from any tap on, as asserted.
                        // - `parts` has `BLOCK` filters from `filter` on, for as many pairs of positions as steps have.
                        // - `sums` has `rows` rows of them; it is borrowed mutably.
                        unsafe { tiles.add_products(left, right, self.steps, sums.as_initial(), sums) };
                    }
                }
            }
        });
    }

    /// Copies the positions of parts so that filters lie side by side.
    fn exchange(&mut self, tiles: &Tiles, parts: &[bf16], part_len: usize) {
        let filters = self.filters();
        let parts: &[Pair] = parts.as_chunks().0;
        for filter in (0..filters).step_by(SIDE) {
            for pair in (0..self.steps.len() * SIDE).step_by(SIDE) {
                let mut tile = [[[bf16::ZERO; 2]; SIDE]; SIDE];
                for (part, tile) in parts.chunks_exact(part_len / 2).skip(filter).zip(&mut tile) {
                    tile.copy_from_slice(&part[pair..][..SIDE]);
                }
                tiles.transpose(&mut tile);
                for (row, tile) in tile.iter().enumerate() {
                    self.parts[(pair + row) * filters + filter..][..SIDE].copy_from_slice(tile);
                }
            }
        }
    }

    /// Adds the sums to the gradient of `filters` filters, `[filters, in_channels, taps]`.
    pub(in crate::cpu::direct) fn add_to(&self, filters_gradient: &mut [f32]) {
        let Filters { in_channels, taps, .. } = self.shape;
        let (channels, filters) = (Self::planes(&self.shape), self.filters());
        for (filter, gradient) in filters_gradient.chunks_exact_mut(in_channels * taps).enumerate() {
            for (place, gradient) in gradient.iter_mut().enumerate() {
                let (channel, tap) = (place / taps, place % taps);
                *gradient += self.sums[(tap * channels + channel) * filters + filter];
            }
        }
    }
}
