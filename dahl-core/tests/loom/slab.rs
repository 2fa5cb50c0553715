//! The slab's list of free records: a record has one holder at a time.

#[allow(dead_code, unsafe_code, reason = "the models use a part of it; the room opens unsafe code")]
#[path = "../../src/memory/slab.rs"]
mod list;

use list::Slab;
use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::thread;

use crate::explore;

/// A record that its holder writes.
struct Record {
    index: u32,
    uses: UnsafeCell<usize>,
}

// SAFETY: a record belongs to its holder alone, which the models verify.
#[allow(unsafe_code, reason = "a model of a record")]
unsafe impl Sync for Record {}

fn slab(records: u32) -> Arc<Slab<Record>> {
    let slab = Slab::new(|index| Record { index, uses: UnsafeCell::new(0) });
    slab.grow(records);
    Arc::new(slab)
}

/// Takes a record, if there is one, and uses it.
#[allow(unsafe_code, reason = "loom's cell reports a race")]
fn take(slab: &Slab<Record>) -> Option<u32> {
    let record = slab.take()?;
    // SAFETY: loom checks that no other thread accesses it.
    record.uses.with_mut(|uses| unsafe { *uses += 1 });
    Some(record.index)
}

#[test]
fn a_record_that_left_and_came_back_is_noticed() {
    explore(3, || {
        let slab = slab(2);
        let other = Arc::clone(&slab);
        let other = thread::spawn(move || {
            let (first, second) = (take(&other), take(&other));
            if let Some(first) = first {
                other.give_back(first);
            }
            second
        });
        let own = take(&slab);
        let kept = other.join().unwrap();
        assert!(own.is_none() || own != kept, "two hold {own:?}");
        let rest: Vec<u32> = std::iter::from_fn(|| take(&slab)).collect();
        assert_eq!(rest.len() + own.iter().count() + kept.iter().count(), 2);
    });
}

#[test]
fn runs_come_back_while_others_are_taken() {
    explore(3, || {
        let slab = slab(3);
        let (first, second) = (take(&slab).unwrap(), take(&slab).unwrap());
        let other = Arc::clone(&slab);
        let other = thread::spawn(move || {
            other.lead(first, second);
            other.give_back_run(first, second);
        });
        let own = take(&slab);
        other.join().unwrap();
        let mut all: Vec<u32> = own.into_iter().chain(std::iter::from_fn(|| take(&slab))).collect();
        all.sort_unstable();
        assert_eq!(all, [0, 1, 2]);
    });
}

#[test]
fn two_threads_let_it_grow_once() {
    explore(2, || {
        let slab = slab(0);
        let other = Arc::clone(&slab);
        let take_one = |slab: &Slab<Record>| {
            slab.grow(2);
            take(slab)
        };
        let other = thread::spawn(move || take_one(&other));
        let own = take_one(&slab);
        let others = other.join().unwrap();
        assert!(own.is_some() && others.is_some() && own != others);
    });
}
