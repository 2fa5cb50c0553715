//! Tests of [`Slab`].

use super::slab::{Slab, block_of};
use crate::sync::atomic::{AtomicU32, Ordering};

#[test]
fn blocks_hold_consecutive_indices() {
    let ends: Vec<_> = [0, 63, 64, 191, 192].into_iter().map(block_of).collect();
    assert_eq!(ends, [(0, 0), (0, 63), (1, 0), (1, 127), (2, 0)]);
}

#[test]
fn a_limit_is_kept_and_each_record_has_one_holder() {
    let slab = Slab::new(|index| index);
    let mut taken = Vec::new();
    loop {
        slab.grow(100);
        let Some(&record) = slab.take() else { break };
        taken.push(record);
    }
    taken.sort_unstable();
    assert_eq!(taken, (0..100).collect::<Vec<_>>());
    slab.lead(7, 9);
    slab.give_back_run(7, 9);
    assert_eq!([slab.take(), slab.take(), slab.take()], [Some(&7), Some(&9), None]);
}

#[test]
fn threads_never_hold_the_same_record() {
    let slab = Slab::new(|_| AtomicU32::new(0));
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..20_000 {
                    slab.grow(3);
                    let Some(holders) = slab.take() else { continue };
                    assert_eq!(holders.fetch_add(1, Ordering::Relaxed), 0);
                    holders.fetch_sub(1, Ordering::Relaxed);
                    let index = (0..3).find(|&index| std::ptr::eq(&slab.slot(index).record, holders));
                    slab.give_back(index.expect("a record of this slab"));
                }
            });
        }
    });
}
