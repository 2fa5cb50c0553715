//! What is refused, and the extremes of what is not.

use dahl_plan::memory::{Buffer, Error, Options, allocate};

use super::checker::check;

fn buffer(id: u64, lower: i64, upper: i64, size: u64) -> Buffer {
    Buffer { id, lower, upper, size }
}

#[test]
fn lifetimes_without_a_time() {
    for (lower, upper) in [(3, 3), (4, 3)] {
        let refused = allocate(&[buffer(0, 0, 1, 1), buffer(7, lower, upper, 1)], &Options::default());
        assert_eq!(refused, Err(Error::Lifetime { id: 7, lower, upper }));
    }
}

#[test]
fn sizes_beyond_the_numbers() {
    let options = Options::default();
    assert_eq!(allocate(&[buffer(0, 0, 1, u64::MAX)], &options), Err(Error::TooLarge));
    let halves = [buffer(0, 0, 1, 1 << 61), buffer(1, 4, 5, 1 << 61)];
    assert_eq!(allocate(&halves, &options), Err(Error::TooLarge));
    let aligned = Options { alignment: 1 << 63, ..options };
    assert_eq!(allocate(&[buffer(0, 0, 1, 1)], &aligned), Err(Error::TooLarge));
    assert_eq!(allocate(&halves, &Options { alignment: 0, ..options }), Err(Error::Alignment));
}

#[test]
fn nothing_and_the_largest() {
    let options = Options { capacity: Some(0), ..Options::default() };
    let plan = allocate(&[], &options).expect("nothing fits everywhere");
    assert_eq!((plan.peak, plan.optimal), (0, true));
    let plan = allocate(&[buffer(0, 0, 9, 0)], &options).expect("so does a buffer of no size");
    assert_eq!((plan.peak, plan.offsets), (0, vec![0]));
    let buffers = [buffer(0, i64::MIN, i64::MAX, 1 << 60), buffer(1, i64::MIN, 0, 1 << 60)];
    let plan = allocate(&buffers, &Options::default()).expect("they are not too large");
    check(&buffers, &plan, 1);
    assert_eq!((plan.peak, plan.optimal), (1 << 61, true));
}
