//! [`Blocks`]: which positions of a plane have their sums computed together.

use super::Plane;

/// How the positions of a plane are cut in blocks, whose sums are made together: those of each row, or all as one row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Blocks {
    pub(super) rows: usize,
    pub(super) columns: usize,
    /// How far the sums of a row of the output are from those of the next: side by side, unless all are one row.
    pub(super) row_len: usize,
    /// How many sums there are, with those between rows if all are one.
    pub(super) sums: usize,
    /// How many of each size a row has, one size after the other. The last ones may begin before those before them end.
    pub(super) counts: [usize; 3],
}

impl Blocks {
    /// Those with the fewest sums that are not used, of these sizes, in descending order.
    pub(super) fn of(plane: &Plane, sizes: [usize; 3]) -> Self {
        let ([rows, columns], all) = (plane.output(), plane.positions());
        let as_one_row = Self {
            rows: 1,
            columns: all.max(sizes[0]),
            row_len: plane.width(),
            sums: all,
            counts: [all.div_ceil(sizes[0]), 0, 0],
        };
        // More small ones are not needed: so many of them are as long as some of the largest, or as all of a row.
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
