//! [`Blocks`]: which positions of a plane have their sums computed together.

use super::Plane;

/// How the positions of a plane are divided into blocks, whose sums are computed together: each row apart, or all rows
/// as one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Blocks {
    pub(super) rows: usize,
    pub(super) columns: usize,
    /// The distance of the rows of the output's sums: without gaps, unless all rows are one.
    pub(super) row_len: usize,
    /// The number of sums, including those between rows if all rows are one.
    pub(super) sums: usize,
    /// The number of blocks of each size in a row, one size after the other. The last blocks may overlap those before
    /// them.
    pub(super) counts: [usize; 3],
}

impl Blocks {
    /// The blocks of these sizes, in descending order, that compute the fewest unused sums.
    pub(super) fn of(plane: &Plane, sizes: [usize; 3]) -> Self {
        let ([rows, columns], all) = (plane.output(), plane.positions());
        let as_one_row = Self {
            rows: 1,
            columns: all.max(sizes[0]),
            row_len: plane.width(),
            sums: all,
            counts: [all.div_ceil(sizes[0]), 0, 0],
        };
        // More small blocks are not needed: so many of them are as long as some of the largest, or as a whole row.
        let most = sizes[0].min(columns.div_ceil(sizes[2]));
        let counts = (0..3).flat_map(|middle| (0..=most).map(move |small| [middle, small]));
        let of_rows = counts.filter_map(|[middle, small]| {
            let rest = columns.saturating_sub(middle * sizes[1] + small * sizes[2]);
            let counts = [rest.div_ceil(sizes[0]), middle, small];
            let fit = counts.iter().zip(sizes).all(|(&count, size)| count == 0 || size <= columns);
            fit.then_some(Self { rows, columns, row_len: columns, sums: rows * columns, counts })
        });
        // The filters are loaded for each block, which takes about as long as the products of one position.
        let cost = |blocks: &Self| {
            let of_row = blocks.counts.iter().zip(sizes).map(|(count, size)| count * (size + 1));
            blocks.rows * of_row.sum::<usize>()
        };
        of_rows.chain([as_one_row]).min_by_key(cost).expect("there is one")
    }
}
