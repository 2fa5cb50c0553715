//! Against the optimum of all orders.

use dahl_plan::memory::{Allocation, Buffer, Error, Options, allocate, allocate_until};
use proptest::prelude::*;

use super::brute_force::least_peak;
use super::checker::{check, load};
use super::instances::{above_the_load, any, tight};

fn plan(buffers: &[Buffer], options: &Options) -> Allocation {
    let plan = allocate(buffers, options).expect("there is an allocation");
    check(buffers, &plan, options.alignment);
    plan
}

/// Requires of the exact search that it finds the optimum and proves it, and that it proves that nothing less will do.
fn is_solved(buffers: &[Buffer]) {
    let optimum = least_peak(buffers);
    let found = plan(buffers, &Options::default());
    assert_eq!((found.peak, found.lower_bound, found.optimal), (optimum, optimum, true));
    let at = |capacity| Options { capacity: Some(capacity), ..Options::default() };
    assert!(plan(buffers, &at(optimum)).peak <= optimum);
    let Some(less) = optimum.checked_sub(1) else { return };
    let refused = allocate(buffers, &at(less)).expect_err("it does not fit");
    let Error::DoesNotFit { capacity, lower_bound, is_load } = refused else { panic!("{refused}") };
    assert_eq!((capacity, is_load), (less, load(buffers) > less));
    assert!(less < lower_bound && lower_bound <= optimum, "{less}, {lower_bound}, {optimum}");
}

#[test]
fn more_bytes_than_live_at_any_time() {
    for (buffers, optimum) in above_the_load() {
        assert!(optimum > load(&buffers));
        is_solved(&buffers);
    }
}

/// Ten small instances beside each other in time, and one large buffer that lives as long as all of them.
#[test]
fn parts_of_time_are_solved_apart() {
    let mut all = Vec::new();
    for round in 0..10 {
        for (buffers, _) in above_the_load() {
            let later = 100 * all.len() as i64 + round;
            all.extend(buffers.iter().map(|buffer| Buffer {
                lower: buffer.lower + later,
                upper: buffer.upper + later,
                ..*buffer
            }));
        }
    }
    assert_eq!(plan(&all, &Options::default()).peak, 8);
    let upper = all.iter().map(|buffer| buffer.upper).max().expect("there are some");
    all.push(Buffer { id: 1000, lower: 0, upper, size: 100 });
    let found = plan(&all, &Options::default());
    assert_eq!((found.peak, found.optimal), (108, true));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn of_any_buffers(buffers in any(7)) {
        is_solved(&buffers);
    }

    #[test]
    fn of_tight_buffers(buffers in tight(9)) {
        is_solved(&buffers);
    }

    /// The optimum for aligned buffers is that for buffers of the aligned sizes.
    #[test]
    fn with_an_alignment(buffers in any(7), alignment in 1_u64..6) {
        let aligned = |buffer: &Buffer| Buffer { size: buffer.size.next_multiple_of(alignment), ..*buffer };
        let rounded: Vec<_> = buffers.iter().map(aligned).collect();
        let found = plan(&buffers, &Options { alignment, ..Options::default() });
        prop_assert_eq!(found.peak, least_peak(&rounded));
        prop_assert!(found.optimal);
    }

    /// However early the search ends, the result is an allocation, and the bound is one.
    #[test]
    fn with_few_steps(buffers in tight(9), steps in 0_u64..4000) {
        let optimum = least_peak(&buffers);
        let found = plan(&buffers, &Options { steps, ..Options::default() });
        prop_assert!(found.lower_bound <= optimum && optimum <= found.peak);
        let capacity = Some(optimum);
        match allocate(&buffers, &Options { steps, capacity, ..Options::default() }) {
            Ok(found) => check(&buffers, &found, 1),
            Err(Error::Undecided { best, .. }) => {
                check(&buffers, &best, 1);
                prop_assert!(best.lower_bound <= optimum && optimum < best.peak);
            }
            Err(other) => panic!("{other}"),
        }
    }

    /// The order in time can be reversed, and the unit of size be any.
    #[test]
    fn of_the_same_problem_in_other_words(buffers in tight(12)) {
        let other = |buffer: &Buffer| Buffer {
            lower: -buffer.upper,
            upper: -buffer.lower,
            size: 1000 * buffer.size,
            ..*buffer
        };
        let others: Vec<_> = buffers.iter().map(other).collect();
        let (one, two) = (plan(&buffers, &Options::default()), plan(&others, &Options::default()));
        prop_assert!(one.optimal && two.optimal);
        prop_assert_eq!(1000 * one.peak, two.peak);
    }
}

#[test]
fn it_stops_when_it_is_told_to() {
    let (buffers, optimum) = &above_the_load()[0];
    let found = allocate_until(buffers, &Options::default(), &mut || true).expect("the heuristics find one");
    check(buffers, &found, 1);
    assert!(found.lower_bound < *optimum && !found.optimal);
}
