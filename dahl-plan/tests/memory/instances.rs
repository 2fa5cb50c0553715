//! Instances: small ones whose optimum is above the load, and strategies of random ones.

use dahl_plan::memory::Buffer;
use proptest::prelude::*;

/// Lower and upper time and size of each buffer.
fn buffers(of: &[(i64, i64, u64)]) -> Vec<Buffer> {
    let numbered = of.iter().zip(0..);
    numbered.map(|(&(lower, upper, size), id)| Buffer { id, lower, upper, size }).collect()
}

/// Instances in which more bytes are needed than live at any time, with their optimum. Each was found by a search in random
/// instances, and shrunk.
pub(crate) fn above_the_load() -> [(Vec<Buffer>, u64); 4] {
    [
        (buffers(&[(5, 7, 2), (4, 6, 2), (3, 5, 3), (6, 8, 3), (4, 7, 2), (7, 8, 3), (2, 4, 3)]), 8),
        (buffers(&[(0, 4, 3), (3, 5, 1), (5, 8, 3), (1, 3, 2), (4, 7, 1), (3, 7, 1), (7, 9, 2)]), 6),
        (buffers(&[(8, 11, 3), (10, 11, 3), (4, 7, 3), (6, 8, 2), (2, 6, 3), (6, 10, 1), (7, 9, 2)]), 7),
        (
            buffers(&[
                (2, 5, 1),
                (4, 6, 2),
                (2, 6, 1),
                (0, 2, 3),
                (0, 3, 2),
                (1, 5, 1),
                (3, 4, 3),
                (5, 6, 3),
            ]),
            7,
        ),
    ]
}

/// Any buffers, some of size 0.
pub(crate) fn any(most: usize) -> impl Strategy<Value = Vec<Buffer>> {
    let buffer = (-4_i64..6, 1_i64..6, 0_u64..7);
    proptest::collection::vec(buffer, 0..=most).prop_map(|of| {
        let all: Vec<_> = of.iter().map(|&(lower, length, size)| (lower, lower + length, size)).collect();
        buffers(&all)
    })
}

/// Buffers that fill a block of `full` bytes at all times, if offsets did not matter. The optimum of many of these is above
/// the load.
pub(crate) fn tight(most: usize) -> impl Strategy<Value = Vec<Buffer>> {
    let choices = proptest::collection::vec((0_usize..8, 1_usize..6, 1_u64..4), 1..=most);
    (4_usize..=8, 3_u64..=8, choices).prop_map(|(times, full, choices)| {
        let mut room = vec![full; times];
        let mut all = Vec::new();
        for (start, length, size) in choices {
            let Some(lower) = (0..times).map(|i| (start + i) % times).find(|&time| room[time] > 0) else {
                break;
            };
            let size = size.min(room[lower]);
            let end = (lower + length).min(times);
            let upper = (lower..end).find(|&time| room[time] < size).unwrap_or(end);
            room[lower..upper].iter_mut().for_each(|room| *room -= size);
            all.push((lower as i64, upper as i64, size));
        }
        buffers(&all)
    })
}
