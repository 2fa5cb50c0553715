//! A kernel that slides over an image, position by position.

/// How it moves.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moves {
    pub(crate) stride: [usize; 2],
    pub(crate) padding: [usize; 2],
}

impl Moves {
    /// The pixel under kernel element `tap` at `position`; none in the padding.
    pub(crate) fn pixel(
        self,
        image: [usize; 2],
        position: [usize; 2],
        tap: [usize; 2],
    ) -> Option<[usize; 2]> {
        let along = |axis: usize| {
            let place = position[axis] * self.stride[axis] + tap[axis];
            place.checked_sub(self.padding[axis]).filter(|&place| place < image[axis])
        };
        Some([along(0)?, along(1)?])
    }
}

/// All pairs of a row below `rows` and a column below `cols`.
pub(crate) fn pairs([rows, cols]: [usize; 2]) -> impl Iterator<Item = [usize; 2]> {
    (0..rows).flat_map(move |row| (0..cols).map(move |col| [row, col]))
}
